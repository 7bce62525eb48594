"""What every method promises as an estimator: its shell, labels of any kind, observers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from supdr import Stop
from tests.core.variants import (
    PARAMETRIC,
    data,
    every_method,
    every_variant,
    make,
)

OTHER_VALUES = {
    **{"n_components": 1, "beta": 0.9, "reg_u": 9.0, "reg_v": 9.0, "reg_w": 9.0, "reg_z": 9.0, "C": 0.01, "gamma": 7.0},
    **{"solver": "sgd", "loss": "hinge", "kernel": "linear", "degree": 4, "coef0": 3.0, "preprocessing": "none"},
    **{"row_bias": True, "scheme": "ovo", "mapping": "linear", "n_layers": 2, "head": "ridge", "family_x": "poisson"},
    **{"gaussian_c": 0.1, "recon_weight": 3.0, "reg_scaling": "none", "bound": "bohning", "n_models": 2, "n_gating": 1},
    **{"target_weight": 9.0, "early_stopping": True, "n_init": 1, "class_weight": "balanced", "random_state": 7},
}
"""Values of hyper-parameters that are no default; what a method makes of them does not matter here."""


def predictions(model, X):
    """All that a classifier says of rows, new and old."""
    asked = ["transform", "predict", "decision_function", "predict_proba"]
    found = {name: getattr(model, name)(X) for name in asked}
    found["inverse_transform"] = (
        model.inverse_transform(found["transform"]) if hasattr(model, "inverse_transform") else 0.0
    )
    learnt = ["embedding_", "transduction_", "training_decision_", "label_pull_"]
    return found | {name: getattr(model, name) for name in learnt if hasattr(type(model), name)}


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
        (np.ones(60), r"at least two classes in y; got one class: 1\.0$"),
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
@pytest.mark.parametrize("start", ["a word", "the fitted estimator", "of another method"])
def test_what_is_no_starting_point(name, start):
    X, y = data()
    fitted = make(name, max_iter=2).fit(X, y)
    other = make("SLDR" if name == "LSDR" else "LSDR", max_iter=2).fit(X, y).snapshot_
    given = {"a word": "x", "the fitted estimator": fitted, "of another method": other}[start]
    with pytest.raises(ValueError, match=rf"start must be a snapshot that {name}\.iterate has made; got "):
        fitted.fit(X, y, start=given)


@every_method
@pytest.mark.parametrize(
    ("column", "value"),
    [
        (pd.Categorical(["ash", "beech"] * 30), "'ash'"),
        (pd.date_range("2020-01-01", periods=60), r"datetime64\["),
        (np.array([1.0, "7 cm"] * 30, dtype=object), "'7 cm'"),
    ],
    ids=["categories", "dates", "objects"],
)
def test_a_column_that_holds_no_numbers_is_named(name, column, value):
    X, y = data()
    frame = pd.DataFrame(X).rename(columns=str).assign(tree=column)
    with pytest.raises(ValueError, match=rf"X must hold numbers; column 'tree' holds {value}"):
        make(name, max_iter=2).fit(frame, y)
    numbers = frame.assign(tree=pd.Categorical([1, 2] * 30))
    make(name, max_iter=2).fit(numbers, y)


@every_method
def test_what_is_set_after_a_fit_waits_for_the_next_one(name):
    """All predictions stay those of the fit, whichever hyper-parameter changes; calibrate chooses between them."""
    X, y = data()
    model = make(name, max_iter=2).fit(X, y)
    before, given = predictions(model, X), model.get_params()
    for parameter, value in OTHER_VALUES.items():
        if parameter in given:
            model.set_params(**{parameter: value})
            after = predictions(model, X)
            for what, expected in before.items():
                np.testing.assert_array_equal(after[what], expected, err_msg=f"{what} after {parameter}")
            model.set_params(**{parameter: given[parameter]})


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
