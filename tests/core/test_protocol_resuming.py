"""What every method promises of runs that go on, and of how they end."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import supdr
from supdr import Stop
from supdr.engine.checks import check_unchanged
from tests.core.inside import problem_of, targets_of
from tests.core.polls import longest_gap
from tests.core.variants import (
    DIVERGING,
    EXACT,
    LIVE,
    PARAMETRIC,
    RESTART,
    arrays_of,
    assert_same_state,
    data,
    every_method,
    every_variant,
    make,
)

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
    unit = problem_of(run).tolerance_scale(objective[-2])
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
        ("ClassAtlas", {"n_landmarks": 500}),
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
        assert longest_gap(run, 0.1) < 0.1


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
    held = ~targets_of(estimator).labelled & (y >= 0)
    assert 0 < held.sum() < 30
    for snapshot in snapshots:
        wrong = estimator.at(snapshot).transduction_[held] != y[held]
        assert snapshot.diagnostics["validation_error"] == pytest.approx(wrong.mean())
    plain = next(make(name, max_iter=1).iterate(X, y))
    assert "validation_error" not in plain.diagnostics
