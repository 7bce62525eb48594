"""MAC at the edges of its parameters, and where a run goes on under other rows or settings."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from supdr.datasets import make_spirals
from supdr.methods.mac.bounds import COMPANION_FEATURES
from supdr.methods.mac.estimator import MAC


def test_no_step_of_the_joint_solver_ends_with_the_noise_it_adds():
    X, y = make_spirals(2, 200, random_state=0).to_xy()
    model = MAC(
        2, n_centers=60, centers="random", gamma=0.5 / 0.15**2, reg_w=1e-3, solver="lbfgs", max_iter=60, tol=-1.0,
        preprocessing="none", random_state=0,
    )  # fmt: skip
    objective = np.array([snapshot.objective for snapshot in model.iterate(X, y)])
    assert objective[1:].max() <= objective[0]
    assert (objective[1:] / np.minimum.accumulate(objective)[:-1]).max() < 2.0


def test_a_row_more_leaves_the_mapping_of_a_run_as_it_is():
    X, y = make_spirals(2, 100, random_state=0).to_xy()
    model = MAC(2, max_iter=4, preprocessing="none", random_state=0)
    before = list(model.iterate(X[:-1], y[:-1]))[-1]
    after = next(iter(model.iterate(X, y, start=before)))
    assert after.state.mapping is before.state.mapping


def test_a_count_of_centres_that_is_not_used_changes_nothing():
    X, y = make_spirals(2, 100, random_state=0).to_xy()
    for settings in ({"centers": "all"}, {"mapping": "linear"}):
        before = list(MAC(2, max_iter=4, n_centers=20, **settings).iterate(X, y))[-1]
        after = next(iter(MAC(2, max_iter=4, n_centers=30, **settings).iterate(X, y, start=before)))
        assert after.state.mapping is before.state.mapping
        assert after.state.mu == before.state.mu


def test_many_centres_of_two_classes_have_a_cheap_companion():
    X, y = make_spirals(2, 300, random_state=0).to_xy()
    model = MAC(2, centers="all", gamma=20.0, max_iter=1, preprocessing="none", random_state=0)
    last = list(model.iterate(X, y))[-1]
    assert last.diagnostics["bound"] > 0.0
    assert last.state.bound_search.companion.weights.shape == (COMPANION_FEATURES, 1)  # not of 600 equations


@pytest.mark.parametrize("C", [1e-8, 1e-6, 1e12, 1e15])
def test_extreme_weights_give_finite_numbers(C):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        last = list(MAC(n_centers=50, C=C, max_iter=3, random_state=0).iterate(X, y))[-1]
    assert np.isfinite(last.objective)
    assert last.diagnostics["bound"] <= last.objective * (1 + 1e-9)
    assert np.isfinite(last.state.heads.coef).all()
    if C < 1:
        assert np.abs(last.state.heads.intercept).max() < 10


def test_a_trivial_classifier_among_several_is_told():
    X, y = make_spirals(4, 100, random_state=0).to_xy()
    model = MAC(
        3, init="random", gamma=30.0, n_centers=40, centers="random", reg_w=0.1, preprocessing="none", random_state=1
    )
    with pytest.warns(ConvergenceWarning, match="say the same of every point"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"init": np.zeros((120, 2)), "early_stopping": True}, "init must be .* with early_stopping"),
        ({"n_layers": 2, "centers": np.zeros((3, 2))}, "centers must be .* with n_layers=2"),
        ({"centers": np.zeros((3, 5)), "preprocessing": "whiten"}, "centers must have 2 columns"),
        ({"centers": np.zeros((3, 5)), "preprocessing": "none"}, "centers must have 2 columns"),
    ],
)
def test_arrays_that_do_not_fit_are_named(settings, message):
    X, y = make_spirals(2, 60, random_state=0).to_xy()
    with pytest.raises(ValueError, match=message):
        MAC(2, **settings).fit(X, y)


def test_features_that_are_all_zero_are_no_reason_to_fail():
    X, y = np.zeros((40, 3)), np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MAC(2, mapping="linear", preprocessing="none", max_iter=3).fit(X, y)
        far = MAC(2, centers=np.full((3, 3), 1e6), gamma=1.0, preprocessing="none", max_iter=3).fit(X, y)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(far.embedding_).all()


def test_the_fixed_point_is_reached_from_nothing():
    X, y = make_spirals(2, 100, random_state=0).to_xy()
    settings = {"n_centers": 40, "gamma": 20.0, "solver": "fixed_point", "preprocessing": "none", "random_state": 0}
    optimum = MAC(1, **settings).fit(X, y).history_["objective"][-1]
    found = MAC(1, init=np.zeros((len(X), 1)), **settings).fit(X, y).history_["objective"][-1]
    assert found == pytest.approx(optimum, rel=1e-3)


def test_a_run_that_goes_on_with_other_rows_forgets_what_was_proved_of_the_first():
    X, y = make_spirals(2, 100, random_state=0).to_xy()
    model = MAC(
        2, n_centers=40, gamma=20.0, reg_w=1e-3, max_iter=10, early_stopping=False, preprocessing="none", random_state=0
    )
    before = list(model.iterate(X, np.roll(y, 30)))[-1]
    for other in model.iterate(np.random.default_rng(0).permutation(X), y, start=before):
        proved = other.diagnostics["bound"]
    for after in model.iterate(X, y, start=other):
        assert after.diagnostics["bound"] <= after.objective
    assert after.objective < proved  # the rows before could not be fitted so well
