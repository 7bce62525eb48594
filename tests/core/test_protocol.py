"""What every method promises through the core protocol, for every method and solver."""

import itertools
import pickle
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from threadpoolctl import threadpool_limits

import supdr
from supdr import Stop
from supdr.baselines.one_shot import OneShot
from supdr.engine.checks import check_unchanged
from supdr.engine.reuse import fingerprint
from tests.core.polls import longest_gap

SOLVERS = {
    "LSDR": [{"solver": "bcd"}, {"solver": "sgd"}, {"solver": "lbfgs"}, {"task": "regression"}, {"row_bias": True}],
    "NSDR": [{"solver": "bcd"}, {"solver": "sgd"}, {"solver": "lbfgs"}, {"kernel": "poly", "row_bias": True}],
    "MAC": [
        {"solver": "mac"},
        {"solver": "admm"},
        {"solver": "lbfgs"},
        {"solver": "fixed_point"},
        {"scheme": "ovo"},
        {"mapping": "linear"},
        {"n_layers": 2},
    ],
    "SDRGLM": [
        {"solver": "fast"},
        {"solver": "literal"},
        {"task": "regression"},
        {"family_y": "bernoulli", "inner": 2},
    ],
    "SLDR": [
        {"solver": "alternating"},
        {"solver": "lbfgs"},
        {"solver": "joint"},
        {"kernel": "rbf"},
        {"kernel": "poly", "solver": "joint"},
        {"n_init": 1},
    ],
    "SNF": [
        {"solver": "lbfgs"},
        {"solver": "sgd"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "solver": "sgd"},
        {"task": "regression"},
        {"task": "regression", "solver": "sgd"},
        {"n_init": 3},
    ],
    "ClassAtlas": [{"charts": "pca+embed"}, {"charts": "pca"}, {"charts": "embed"}, {"n_landmarks": 15}],
}
"""Constructor parameters of the variants of every method."""

ALWAYS = {
    "SNF": {"task": "classification", "n_components": 2},
    "SLDR": {"n_components": 1, "n_models": 2},
    "MAC": {"n_components": 2, "early_stopping": False},
}
"""What a method needs to classify with two latent coordinates, if that is not its default."""

PARAMETRIC = {"MAC", "SLDR", "ClassAtlas"}
"""Methods whose states hold no latent rows, only parameters: rows may change within a run."""

TWO_CLASSES = {"fixed_point"}
"""Solvers for two classes only."""

EXACT = [{"n_layers": 2}]
"""Variants whose few rows are all used: neither the seed nor a live parameter has a part in them."""

LIVE = {
    "LSDR": {"beta": 0.3, "reg_u": 0.5},
    "NSDR": {"beta": 0.3, "reg_u": 0.5, "C": 0.7},
    "MAC": {"C": 0.3, "reg_w": 0.1},
    "SDRGLM": {"recon_ratio": 1.0, "reg_u": 0.02, "gaussian_c": 0.5},
    "SLDR": {"C": 3.0, "svm_tol": 1e-4},
    "SNF": {"target_weight": 3.0, "reg_z": 0.5, "degree": 3},
    "ClassAtlas": {"lam": 3.0, "perplexity": 12.0},
}
"""Hyper-parameters that may change within a run."""

DIVERGING = {
    "LSDR": {"lr_reconstruction": 5.0, "beta": 0.9, "init": "random", "init_scale": 1.0},
    "NSDR": {"lr_reconstruction": 5.0, "beta": 0.9, "init": "random", "init_scale": 1.0},
    "SNF": {"lr_reconstruction": 5.0, "reg_v": 1e-3, "reg_z": 1e-2, "init": "random", "init_scale": 1.0},
}
"""Settings at which solver "sgd" diverges."""

RESTART = {
    "n_components": 3,
    "preprocessing": "none",
    "row_bias": True,
    "family_x": "gaussian",
    "family_y": "softmax",
    "init": "random",
    "init_scale": 0.7,
    "n_init": 4,
    "n_gating": 1,
    "n_models": 3,
    "charts": "pca",
    "n_pcs": 1,
    "n_neighbors": 3,
    "n_landmarks": 40,
    "scheme": "ovo",
    "init_noise": 0.5,
    "n_layers": 2,
    "head": "ridge",
    "views": (2, 3),
    "gating_columns": (0, 1),
    "kernel": "linear",
    "degree": 3,
    "gamma": 0.123,
    "task": "regression",
    "random_state": 99,
    "missing_label": -7,
}
"""A different value for every restart parameter that some method has."""

BASELINES = {
    "TSNE": [{"perplexity": 5.0}],
    "TwoStep": [{}],
    "MKL": [{"views": (2, 3)}],
    "LMKL": [{}],
    "SVDM": [{}],
    "LogisticUDR": [{"solver": "fast"}, {"solver": "literal"}],
    "SVMUDR": [{}],
    "LLR": [{"task": "classification"}, {"task": "regression"}],
}
"""Constructor parameters of the variants of every baseline that iterates."""

REGRESSION = [
    *(("LSDR", {"task": "regression", "solver": solver}) for solver in ("bcd", "sgd", "lbfgs")),
    *(("SDRGLM", {"task": "regression", "solver": solver}) for solver in ("fast", "literal")),
]
"""More variants of regression: its solvers, of which only one stands above."""

VARIANTS = [(name, settings) for name, variants in SOLVERS.items() for settings in variants]
every_variant = pytest.mark.parametrize(
    ("name", "settings"), VARIANTS, ids=[f"{name}-{'-'.join(map(str, s.values()))}" for name, s in VARIANTS]
)
every_method = pytest.mark.parametrize("name", list(SOLVERS))


def data(settings=None, n_rows=60):
    """Overlapping classes, every sixth row unlabelled; or, for regression, a linear target."""
    rng = np.random.default_rng(0)
    n_classes = 2 if (settings or {}).get("solver") in TWO_CLASSES else 3
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.standard_normal((n_rows, 5)) + 2.0 * np.eye(n_classes, 5)[codes]
    y = X @ rng.standard_normal(5) if (settings or {}).get("task") == "regression" else codes.astype(float)
    y[::6] = np.nan
    return X, y


def make(name, settings=None, **more):
    defaults = {"random_state": 0, "tol": -1.0, "max_iter": 20, **ALWAYS.get(name, {})}
    return {**supdr.METHODS, **supdr.BASELINES}[name](**{**defaults, **(settings or {}), **more})


def arrays_of(value, path="state"):
    """Every array in a state, however deep."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from arrays_of(part, f"{path}.{getattr(value, '_fields', {number: number})[number]}")
    elif is_dataclass(value):
        for each in fields(value):
            yield from arrays_of(getattr(value, each.name), f"{path}.{each.name}")


def assert_same_state(left, right):
    for (path, first), (_, second) in zip(arrays_of(left), arrays_of(right), strict=True):
        np.testing.assert_array_equal(first, second, err_msg=path)


def test_every_method_is_covered():
    assert set(SOLVERS) == set(LIVE) == set(supdr.METHODS)
    assert set(BASELINES) == {name for name, each in supdr.BASELINES.items() if not issubclass(each, OneShot)}
    for method in supdr.METHODS.values():
        assert method.restart_parameters <= set(method().get_params())


# --- the stream -------------------------------------------------------------------------------------------------------


@every_variant
def test_snapshots(name, settings):
    X, y = data(settings)
    snapshots = list(make(name, settings, max_iter=6).iterate(X, y))
    assert [snapshot.iteration for snapshot in snapshots] == list(range(7))
    assert [snapshot.stop for snapshot in snapshots] == [None] * 6 + [Stop.max_iter]
    elapsed = [snapshot.elapsed for snapshot in snapshots]
    assert elapsed[0] == 0.0
    assert all(after > before for before, after in itertools.pairwise(elapsed))
    for snapshot in snapshots:
        terms = [value for key, value in snapshot.losses.items() if key != "objective"]
        assert snapshot.objective == pytest.approx(sum(terms), rel=1e-12)
        assert all(np.isfinite(value) for value in snapshot.diagnostics.values())


@every_variant
def test_same_seed_same_numbers(name, settings):
    X, y = data(settings)
    start = {"init": "random"} if "init" in supdr.METHODS[name]().get_params() else {}
    exact = settings in EXACT
    settings = {**settings, **start, "max_iter": 4}
    first, second = (list(make(name, settings).iterate(X, y))[-1] for _ in range(2))
    assert_same_state(first.state, second.state)
    other = list(make(name, settings, random_state=1).iterate(X, y))[-1]
    assert (other.losses == first.losses) == exact
    np.random.seed(0)  # noqa: NPY002 (the global generator must not matter)
    third = list(make(name, settings).iterate(X, y))[-1]
    assert_same_state(first.state, third.state)


# --- what is shown is what was computed -------------------------------------------------------------------------------


def matrix():
    """Yield every method, solver, number of classes (None: regression), with and without unlabelled rows."""
    for name, variants in {**SOLVERS, **BASELINES}.items():
        for settings in variants:
            regression = settings.get("task") == "regression"
            for n_classes in (None,) if regression else (2,) if settings.get("solver") in TWO_CLASSES else (2, 3):
                yield name, settings, n_classes
    for name, settings in REGRESSION:
        yield name, settings, None


CELLS = [(*cell, labels) for cell in matrix() for labels in ("all", "some")]


def few_rows(n_classes, labels):
    """Thirty rows, of two or three overlapping classes or with a linear target; arrays that nobody may write to."""
    rng = np.random.default_rng(1)
    codes = np.arange(30) % (n_classes or 2)
    X = rng.standard_normal((30, 5)) + np.eye(5)[codes]
    y = codes.astype(float) if n_classes else X @ rng.standard_normal(5)
    if labels == "some":
        y[4::5] = np.nan
    X.flags.writeable = y.flags.writeable = False
    return X, y


def frozen(state):
    """Set every array of a state read-only; return a digest of all that it holds."""
    for _, array in arrays_of(state):
        array.flags.writeable = False
    return fingerprint(plain(state))


def plain(value):
    """Return nested tuples of arrays and numbers: what a state holds, however deep."""
    if is_dataclass(value):
        return tuple(plain(getattr(value, each.name)) for each in fields(value))
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.filterwarnings("ignore:the objective still falls")
@pytest.mark.parametrize(
    ("name", "settings", "n_classes", "labels"),
    CELLS,
    ids=["-".join([name, *map(str, s.values()), str(k), labels]) for name, s, k, labels in CELLS],
)
def test_a_snapshot_never_changes_and_can_be_carried_on_from(name, settings, n_classes, labels):
    """Nothing writes to a state that was given out, nor to X and y; the way from it is the same, bit for bit."""
    X, y = few_rows(n_classes, labels)
    before = X.copy(), y.copy()
    snapshots, digests = [], []
    estimator = make(name, settings, max_iter=6)
    for snapshot in estimator.iterate(X, y):
        snapshots.append(snapshot)
        digests.append(frozen(snapshot.state))
    middle = snapshots[3]
    again = list(make(name, settings, max_iter=3).iterate(X, y, start=middle))
    for snapshot in snapshots[::2]:
        dict(snapshot.diagnostics)
        fitted = estimator.at(snapshot)
        fitted.predict(X)
        fitted.transform(X)
        assert len(fitted.embedding_) == len(X)
    assert [fingerprint(plain(snapshot.state)) for snapshot in snapshots] == digests
    assert [snapshot.iteration for snapshot in again] == [3, 4, 5, 6]
    assert [dict(snapshot.losses) for snapshot in again] == [dict(snapshot.losses) for snapshot in snapshots[3:]]
    assert [fingerprint(plain(snapshot.state)) for snapshot in again] == digests[3:]
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@every_variant
def test_fit_never_writes_to_what_it_is_given(name, settings):
    X, y = data(settings)
    weights = np.linspace(0.0, 2.0, len(X))
    before = X.copy(), y.copy(), weights.copy()
    X.flags.writeable = y.flags.writeable = weights.flags.writeable = False
    estimator = make(name, settings, max_iter=3, preprocessing="none")
    weighted = estimator.accepts_weights and settings.get("n_layers") != 2  # two layers refuse them
    estimator.fit(X, y, **({"sample_weight": weights} if weighted else {}))
    estimator.transform(X)
    estimator.predict(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(weights, before[2])


# --- resuming ---------------------------------------------------------------------------------------------------------


@every_variant
def test_other_hyper_parameters_carry_on(name, settings):
    X, y = data(settings)
    last = list(make(name, settings, max_iter=10).iterate(X, y))[-1]
    changed = make(name, settings, max_iter=10, **LIVE[name])
    resumed = list(changed.iterate(X, y, start=last))
    before, after = make(name, settings).at(last), changed.at(resumed[0])
    if name == "SLDR":  # local projections may follow from the multipliers, the gate does not
        for one, other in zip(resumed[0].state.candidates, last.state.candidates, strict=True):
            np.testing.assert_array_equal(one.gate, other.gate)
    else:
        np.testing.assert_array_equal(after.embedding_, before.embedding_)
    assert (resumed[0].objective == last.objective) == (settings in EXACT)
    if settings in EXACT:
        assert resumed[-1].objective <= resumed[0].objective
    elif settings.get("solver") != "sgd":
        assert resumed[-1].objective < resumed[0].objective


@every_method
def test_restart_parameters_are_refused_by_name(name):
    X, y = data()
    method = supdr.METHODS[name]
    last = list(make(name, max_iter=2).iterate(X, y))[-1]
    for parameter in sorted(method.restart_parameters):
        assert parameter in RESTART, f"give {parameter} a different value in this test"
        with pytest.raises(ValueError, match=rf"^{parameter} cannot change within a run"):
            make(name, **{parameter: RESTART[parameter]}).iterate(X, y, start=last)


@pytest.mark.parametrize("cls", [supdr.SLDR, supdr.baselines.MKL])
def test_a_clone_resumes_with_ragged_views(cls):
    X, y = data()
    estimator = cls(views=[[0, 1], [2, 3, 4]], max_iter=2, random_state=0)
    *_, last = estimator.iterate(X, y)
    resumed = next(clone(estimator).iterate(X, y, start=last))
    assert_same_state(resumed.state, last.state)
    with pytest.raises(ValueError, match=r"^views cannot change within a run.*\[2, 4\]"):
        clone(estimator).set_params(views=[[0, 1], [2, 4]]).iterate(X, y, start=last)


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ([[0, 1], [2]], [[0, 1], [2]], True),
        ([[0, 1], [2]], ((0, 1), np.array([2])), True),
        ([np.array([0, 1]), np.array([2])], [[0, 1], [2]], True),
        ([[0, 1], [2]], [[0, 1], [3]], False),
        ([[0, 1], [2]], [[0, 1], [2], [3]], False),
        ([[0, 1], [2]], None, False),
        ((2, 3), np.array([2, 3]), True),
        (1, 1.0, True),
        (np.nan, float("nan"), True),
        (np.nan, 0.0, False),
        (np.eye(2), np.eye(2).tolist(), True),
        (np.eye(2), np.eye(3), False),
        ("pca", np.eye(2), False),
    ],
)
def test_restart_parameters_are_compared_by_value(before, now, same):
    if same:
        check_unchanged({"name": before}, {"name": now})
    else:
        with pytest.raises(ValueError, match=r"^name cannot change"):
            check_unchanged({"name": before}, {"name": now})


@every_method
def test_other_shapes_are_refused(name):
    X, y = data()
    last = list(make(name, max_iter=2).iterate(X, y))[-1]
    if name in PARAMETRIC:
        assert next(make(name).iterate(X[:-5], y[:-5], start=last)).iteration == 2
    else:
        with pytest.raises(ValueError, match=r"start.*60, 2.*55, 2"):
            next(make(name).iterate(X[:-5], y[:-5], start=last))
    with pytest.raises(ValueError, match=r"start.*5.*4"):
        next(make(name).iterate(X[:, :4], y, start=last))


@every_method
def test_classes_may_come_and_go(name):
    """Labels can be edited while a run goes on: the latent rows stay, the heads are made anew."""
    X, y = data()
    last = list(make(name, max_iter=5).iterate(X, y))[-1]
    fewer = make(name, max_iter=5)
    resumed = list(fewer.iterate(X, np.where(y == 2, 1, y), start=last))
    if name not in PARAMETRIC:
        np.testing.assert_array_equal(resumed[0].state.latent, last.state.latent)
    if name != "MAC":  # its passes descend a surrogate, whose penalty grows
        assert resumed[-1].objective < resumed[0].objective
    assert list(fewer.at(resumed[-1]).classes_) == [0.0, 1.0]


# --- reasons for stopping ---------------------------------------------------------------------------------------------


@every_method
def test_converged(name):
    X, y = data()
    fitted = make(name, max_iter=2000, tol=1e-4).fit(X, y)
    assert fitted.stop_ is Stop.converged
    assert fitted.n_iter_ < 2000
    objective = fitted.history_["objective"]
    assert len(objective) == fitted.n_iter_
    run = fitted.snapshot_.run
    unit = run._problem(*run._training).yardstick(objective[-2])
    assert abs(objective[-1] - objective[-2]) <= 1e-4 * unit


@pytest.mark.parametrize("name", list(DIVERGING))
def test_divergence_keeps_the_last_finite_state(name):
    X, y = data()
    settings = {"solver": "sgd", **DIVERGING[name]}
    snapshots = list(make(name, settings, max_iter=100).iterate(X, y))
    assert snapshots[-1].stop is Stop.diverged
    for snapshot in snapshots:
        assert all(np.isfinite(value) for value in snapshot.losses.values())
        assert all(np.isfinite(array).all() for _, array in arrays_of(snapshot.state))
    with pytest.warns(ConvergenceWarning, match="diverged after iteration .*lr_reconstruction"):
        fitted = make(name, settings, max_iter=100).fit(X, y)
    assert fitted.stop_ is Stop.diverged
    assert np.isfinite(fitted.transform(X)).all()


@every_variant
def test_interruption_ends_at_the_last_complete_step(name, settings):
    """The flag is polled before every step, and by long solvers within; at the ninth time after the start it is up."""
    X, y = data(settings)
    asked, started = itertools.count(), []
    stream = make(name, settings).iterate(X, y, interrupted=lambda: bool(started) and next(asked) >= 8)
    started.append(next(stream))
    last = list(stream)[-1]
    assert last.stop is Stop.interrupted
    assert last.iteration <= 8
    whole = list(make(name, settings, max_iter=9).iterate(X, y))
    assert_same_state(last.state, whole[last.iteration].state)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("LSDR", {"solver": "bcd", "loss": "logistic"}),
        ("LSDR", {"solver": "bcd", "loss": "hinge"}),
        ("LSDR", {"solver": "sgd"}),
        ("LSDR", {"solver": "lbfgs"}),
        ("NSDR", {"solver": "bcd"}),
        ("NSDR", {"solver": "lbfgs"}),
        ("NSDR", {"solver": "sgd"}),
        ("SDRGLM", {"solver": "fast"}),
        ("SDRGLM", {"solver": "literal"}),
        ("SLDR", {"solver": "alternating"}),
        ("SLDR", {"solver": "lbfgs"}),
        ("SLDR", {"solver": "joint", "kernel": "rbf"}),
        ("SNF", {"solver": "lbfgs"}),
        ("SNF", {"solver": "lbfgs", "kernel": "rbf"}),
        ("SNF", {"solver": "sgd"}),
        ("ClassAtlas", {}),
    ],
)
def test_a_stop_is_honoured_within_100_ms(name, settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 20))
    y = rng.integers(0, 4, 1200)
    make(name, settings, max_iter=1).fit(X[:40], y[:40])  # compiled

    def run(polls):
        stream = make(name, settings, max_iter=100_000).iterate(X, y, interrupted=polls)
        next(stream)
        polls.begin()
        *_, last = stream
        assert last.stop is Stop.interrupted

    with threadpool_limits(limits=1):  # threads of BLAS that wait for one another use up time, and more so under load
        assert longest_gap(run, 0.2) < 0.1


@every_method
def test_early_stopping_of_an_estimator(name):
    X, y = data()
    fitted = make(name, max_iter=60, early_stopping=True, n_iter_no_change=5).fit(X, y)
    assert fitted.stop_ in (Stop.no_improvement, Stop.max_iter)
    assert fitted.embedding_.shape == (60, 2)
    assert fitted.transduction_.shape == (60,)
    again = make(name, max_iter=60, early_stopping=True, n_iter_no_change=5).fit(X, y)
    np.testing.assert_array_equal(fitted.embedding_, again.embedding_)


@every_method
def test_the_validation_error_is_that_of_the_rows_held_out(name):
    X, y = data()
    estimator = make(name, max_iter=4, early_stopping=True, n_iter_no_change=4)
    snapshots = list(estimator.iterate(X, y))
    held = ~estimator._training[1].labelled & (y >= 0)
    assert 0 < held.sum() < 30
    for snapshot in snapshots:
        wrong = estimator.at(snapshot).transduction_[held] != y[held]
        assert snapshot.diagnostics["validation_error"] == pytest.approx(wrong.mean())
    plain = next(make(name, max_iter=1).iterate(X, y))
    assert "validation_error" not in plain.diagnostics


# --- the shell --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the objective still falls")
@every_variant
def test_at_agrees_with_fit(name, settings):
    X, y = data(settings)
    settings = {**settings, "max_iter": 5}
    estimator = make(name, settings)
    snapshots = list(estimator.iterate(X, y))
    fitted = make(name, settings).fit(X, y)
    last = estimator.at(snapshots[-1])
    for attribute in ("embedding_", "transduction_"):
        np.testing.assert_array_equal(getattr(last, attribute), getattr(fitted, attribute))
    np.testing.assert_array_equal(last.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(last.predict(X), fitted.predict(X))
    first = estimator.at(snapshots[0])
    assert (first.embedding_ != last.embedding_).any()
    if name not in PARAMETRIC:
        assert np.shares_memory(last.embedding_, snapshots[-1].state.latent)  # not copied


@pytest.mark.filterwarnings("ignore:the objective still falls")
@every_variant
def test_fitted_estimators_can_be_saved_and_cloned(name, settings):
    X, y = data(settings)
    fitted = make(name, settings, max_iter=3).fit(X, y)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.predict(X), fitted.predict(X))
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


@every_method
def test_fit_transform_is_what_new_data_will_see(name):
    X, y = data()
    fitted = make(name, max_iter=5)
    np.testing.assert_array_equal(fitted.fit_transform(X, y), fitted.transform(X))


@every_method
def test_pandas_in_pandas_out(name):
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(60) + 100)
    estimator = make(name, max_iter=3).set_output(transform="pandas").fit(frame, pd.Series(y, index=frame.index))
    view = estimator.transform(frame)
    assert list(view.columns) == [f"{name.lower()}0", f"{name.lower()}1"]
    assert (view.index == frame.index).all()
    assert list(estimator.feature_names_in_) == list("abcde")


@every_method
def test_history(name):
    X, y = data()
    fitted = make(name, max_iter=7).fit(X, y)
    reconstruction = set() if name in PARAMETRIC else {"reconstruction"}
    assert {"objective", "label", "regularisation"} | reconstruction <= set(fitted.history_)
    assert all(len(values) == 7 for values in fitted.history_.values())
    assert fitted.n_iter_ == 7


# --- labels -----------------------------------------------------------------------------------------------------------


@every_method
def test_ways_to_say_unlabelled(name):
    X, y = data()
    expected = make(name, max_iter=3).fit(X, y).embedding_
    none = np.array([None if np.isnan(label) else label for label in y], dtype=object)
    minus = np.where(np.isnan(y), -1, y).astype(int)
    strings = np.array([None if np.isnan(label) else f"class {label:.0f}" for label in y], dtype=object)
    for labels, missing_label in ((none, np.nan), (minus, -1), (strings, np.nan)):
        found = make(name, max_iter=3, missing_label=missing_label).fit(X, labels)
        np.testing.assert_array_equal(found.embedding_, expected)
        assert len(found.classes_) == 3
    with pytest.warns(UserWarning, match="-1"):  # by default it is a class like any other
        kept = make(name, max_iter=3).fit(X, minus)
    assert list(kept.classes_) == [-1, 0, 1, 2]


@every_method
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(60, np.nan), "y has no labelled row"),
        (np.full(60, None), "y has no labelled row"),
        (np.ones(60), "at least two classes in y; got one class: .*1"),
        (np.where(np.arange(60) < 30, 1.0, np.nan), "at least two classes"),
        (np.where(np.arange(60) < 30, 1.0, np.inf), "infinity"),
        (np.linspace(0, 1, 60), "continuous"),
        (np.arange(59) % 2, "inconsistent numbers of samples"),
        (2.0 * np.eye(60), "1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels(name, labels, message):
    X, _ = data()
    with pytest.raises(ValueError, match=message):
        make(name).fit(X, labels)


@every_method
def test_few_labels(name):
    """One labelled row per class is enough to run."""
    X, y = data()
    few = np.full(60, np.nan)
    for label in range(3):
        few[np.flatnonzero(y == label)[0]] = label
    fitted = make(name, max_iter=3).fit(X, few)
    assert np.isfinite(fitted.transform(X)).all()
    assert set(fitted.transduction_) <= {0.0, 1.0, 2.0}


@every_method
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_cells_are_refused(name, bad):
    X, y = data()
    X[2, 1] = bad
    with pytest.raises(ValueError, match="infinity"):
        make(name).fit(X, y)


@every_method
@pytest.mark.parametrize(
    ("parameter", "bad"),
    [
        *(("max_iter", bad) for bad in (0, -1, 2.0, True, "a", None)),
        *(("tol", bad) for bad in (None, "a", True, np.nan, np.inf)),
        *(("n_jobs", bad) for bad in (0, 1.5, True, "a")),
    ],
)
def test_what_all_methods_share_is_checked(name, parameter, bad):
    X, y = data()
    with pytest.raises(ValueError, match=f"^{parameter} must be .*got {bad!r}$"):
        make(name, **{parameter: bad}).iterate(X, y)


@every_method
def test_threads_change_no_number(name):
    X, y = data()
    expected = make(name, max_iter=3).fit(X, y).embedding_
    for n_jobs in (2, -1, np.int64(-2)):
        np.testing.assert_array_equal(make(name, n_jobs=n_jobs, max_iter=3).fit(X, y).embedding_, expected)


@every_method
def test_a_smaller_tolerance_ends_a_run_later(name):
    X, y = data()
    loose, strict = (make(name, tol=tol, max_iter=2000).fit(X, y) for tol in (0.1, np.float64(0.01)))
    assert loose.stop_ is strict.stop_ is Stop.converged
    assert loose.n_iter_ <= strict.n_iter_
    assert make(name, tol=0, max_iter=2 * strict.n_iter_).fit(X, y).n_iter_ >= strict.n_iter_
    never = make(name, tol=-1.0, max_iter=2 * strict.n_iter_).fit(X, y)
    assert (never.stop_, never.n_iter_) == (Stop.max_iter, 2 * strict.n_iter_)


# --- observers --------------------------------------------------------------------------------------------------------


class Recorder:
    """A minimal callback that looks at the fitted estimator of every step and stops the fit when told to."""

    def __init__(self, stop_after=None):
        self.stop_after, self.embeddings, self.events = stop_after, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "step":
            self.embeddings.append(fitted_estimator.embedding_)
            return len(self.embeddings) == self.stop_after
        return False


@every_method
def test_callbacks_see_every_step(name):
    X, y = data()
    recorder = Recorder()
    fitted = make(name, max_iter=5).set_callbacks(recorder).fit(X, y)
    assert recorder.events == ["setup", "teardown"]
    assert len(recorder.embeddings) == 5
    np.testing.assert_array_equal(recorder.embeddings[-1], fitted.embedding_)
    again = make(name, max_iter=5)
    expected = list(again.iterate(X, y))
    for embedding, snapshot in zip(recorder.embeddings, expected[1:]):
        np.testing.assert_array_equal(embedding, again.at(snapshot).embedding_)


@every_method
def test_a_callback_can_stop_the_fit(name):
    X, y = data()
    recorder = Recorder(stop_after=3)
    fitted = make(name, max_iter=50).set_callbacks(recorder).fit(X, y)
    assert fitted.n_iter_ == 3
    assert fitted.stop_ is Stop.interrupted


@every_method
def test_verbose_shows_a_bar(name, capsys):
    X, y = data()
    quiet = make(name, max_iter=4).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = make(name, max_iter=4, verbose=1).fit(X, y)
    bar = capsys.readouterr().err
    assert name in bar
    assert "objective=" in bar
    np.testing.assert_array_equal(shown.embedding_, quiet.embedding_)
