"""Widths, ridges and scalings by exact leave-one-out, and what they are for: MAC's defaults on data that mislead."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from supdr import MAC
from supdr.methods.mac.classes import simplex_codes
from supdr.methods.mac.solvers import LeftOut
from supdr.solvers.distances import median_distance
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    CLEAR,
    RIDGES,
    SQUARE_WEIGHT,
    best_ridge,
    best_scaling,
    best_width,
    enough_labels,
    judged,
    leave_one_out,
    weight_spectrum,
)
from tests.core.inside import problem_of, targets_of


def clouds(n_rows=30, spread=0.6, seed=0):
    rng = np.random.default_rng(seed)
    classes = np.arange(n_rows) % 3
    return simplex_codes(3)[classes] + spread * rng.standard_normal((n_rows, 2)), classes


def misleading(n_rows=120, seed=0):
    """Two classes, one of 80 %, that say little about many columns in very different units."""
    return make_classification(
        n_rows, 30, n_informative=2, n_redundant=0, weights=[0.8], flip_y=0.15, class_sep=0.6, random_state=seed
    )


@pytest.mark.parametrize("n_centers", [12, 30])
def test_left_out_codes_are_those_of_fits_without_the_row(n_centers):
    X, classes = clouds()
    codes, centers = simplex_codes(3)[classes], X[:n_centers]
    Phi = Mapping("rbf", centers, 0.7).features(X)
    e, back = weight_spectrum(Phi, symmetric=n_centers == 30)
    basis = Phi @ back
    np.testing.assert_allclose(basis.T @ basis, np.diag(e), atol=1e-9 * e.max())
    (fit,), (left_out,) = leave_one_out(basis, basis.T @ codes, e, np.array([0.05]), codes)
    for i in range(30):
        rest = np.arange(30) != i
        system = Phi[rest].T @ Phi[rest] + 0.05 * np.eye(n_centers)
        np.testing.assert_allclose(left_out[i], Phi[i] @ np.linalg.solve(system, Phi[rest].T @ codes[rest]), atol=1e-8)
    system = Phi.T @ Phi + 0.05 * np.eye(n_centers)
    np.testing.assert_allclose(fit, Phi @ np.linalg.solve(system, Phi.T @ codes), atol=1e-8)


def test_a_code_near_nothing_counts_as_wrong():
    corners, classes = simplex_codes(3), np.array([0, 1, 2])
    assert judged(0.1 * corners, classes, corners)[0] == 0.0
    assert judged(0.1 * CLEAR * corners, classes, corners) == (1.0, pytest.approx(1.0, abs=1e-3))


def test_the_choice_is_the_best_of_the_grid():
    X, classes = clouds()
    corners = simplex_codes(3)
    unit = median_distance(X, np.random.default_rng(0))
    found = best_width(X, classes, corners, X, unit)
    assert found.score == pytest.approx(found.error + SQUARE_WEIGHT * found.square)
    for width in (0.3, 1.0):
        Phi = Mapping("rbf", X, 0.5 / (width * unit) ** 2).features(X)
        assert found.score <= best_ridge(Phi, classes, corners, RIDGES, symmetric=True).score + 1e-9
    assert best_width(10 * X, classes, corners, 10 * X, 10 * unit).gamma == pytest.approx(found.gamma / 100)


def test_scaling_follows_the_labels():
    rng = np.random.default_rng(0)
    X, classes = clouds(200, 0.2)
    noise = rng.standard_normal((200, 20))
    corners, everything = simplex_codes(3), np.ones(200, dtype=bool)
    # The columns that tell are far larger than the noise, or far smaller.
    assert best_scaling(np.hstack([50 * X, noise]), everything, classes, corners) == "none"
    assert best_scaling(np.hstack([X, 50 * noise[:, :2]]), everything, classes, corners) != "none"
    assert best_scaling(np.hstack([50 * X, noise])[:5], everything[:5], classes[:5], corners) == "zscore"


def test_scalings_that_differ_by_a_unit_are_one():
    """Columns of one spread: nothing is compared, the first is as good as the other."""
    X, classes = clouds(60, 0.2)
    X = 7.0 * (X - X.mean(axis=0)) / X.std(axis=0)
    everything = np.ones(60, dtype=bool)
    for kinds in (("zscore", "none"), ("none", "zscore")):
        assert best_scaling(X, everything, classes, np.full((3, 2), np.nan), kinds) == kinds[0]


@pytest.mark.parametrize("seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 2))])
def test_names_and_order_of_classes_do_not_matter(seed):
    X, y = misleading(seed=seed)
    plain = MAC(random_state=0).fit(X, y)
    turned = MAC(random_state=0).fit(X, np.where(y == 1, "a", "b"))
    assert (turned.gamma_, turned.reg_w_, turned.scaling_) == (plain.gamma_, plain.reg_w_, plain.scaling_)
    X, y = clouds(60)
    names = np.array(["u", "v", "w"])
    chosen = {
        (m.gamma_, m.reg_w_, m.scaling_) for m in (MAC(random_state=0).fit(X, names[(y + k) % 3]) for k in range(3))
    }
    assert len(chosen) == 1


def test_no_worse_than_the_majority_where_little_can_be_known():
    """The old rule took widths at which all left-out codes are near 0, and fitted the noise."""
    scores, majority = [], []
    for seed in range(6):
        X, y = misleading(400, seed)
        model = MAC(random_state=0).fit(X[:120], y[:120])
        scores.append(model.score(X[120:], y[120:]))
        majority.append(max(np.mean(y[120:]), np.mean(1 - y[120:])))
    assert np.mean(scores) >= np.mean(majority) - 0.02
    assert min(np.subtract(scores, majority)) >= -0.06


def test_images_of_new_rows_are_as_long_as_left_out_ones_foretell():
    X, y = misleading(400)
    model = MAC(random_state=0).fit(X[:120], y[:120])
    inside, outside = (np.abs(model.transform(part)).mean() for part in (X[:120], X[120:]))
    assert outside > 0.3 * inside


@pytest.mark.slow
def test_pixels_are_not_z_scored():
    X, y = load_digits(return_X_y=True)
    model = MAC(random_state=0).fit(X[:200], y[:200])
    assert model.scaling_ != "zscore"
    z = MAC(preprocessing="zscore", random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > z.score(X[200:], y[200:])


def test_one_label_a_class_gives_the_median_width():
    X, y = clouds(90, 0.3)
    few = np.full(90, np.nan)
    few[:3] = y[:3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MAC(random_state=0).fit(X, few)
        wanted = MAC(gamma="median", reg_w=1e-3, preprocessing="zscore", random_state=0).fit(X, few)
    assert (model.gamma_, model.reg_w_, model.scaling_) == (wanted.gamma_, 1e-3, "zscore")
    assert model.score(X, y) > 0.8
    assert not enough_labels(y[:3])
    with pytest.raises(ValueError, match=r"needs 3 labelled rows a class; y has 3 for 3 classes"):
        MAC(n_layers=2).fit(X, few)


@pytest.mark.parametrize("n_centers", [25, 60])
@pytest.mark.parametrize("solver", ["mac", "admm"])
def test_the_watched_error_is_that_of_mappings_without_the_row(solver, n_centers):
    X, y = clouds(60)
    model = MAC(
        n_centers=n_centers, solver=solver, gamma=1.0, reg_w=0.01, max_iter=4, early_stopping=False, random_state=0
    )
    state = list(model.iterate(X, y))[-1].state
    problem = problem_of(model)
    Phi, ridge = problem.features(state.mapping).matrix, 2 * state.reg_w / state.mu
    fitted_to = problem.fitted_targets(state)
    wrong = []
    for i in range(60):
        rest = np.arange(60) != i
        system = Phi[rest].T @ Phi[rest] + ridge * np.eye(Phi.shape[1])
        image = Phi[i] @ np.linalg.solve(system, Phi[rest].T @ fitted_to[rest])
        wrong.append((image @ state.heads.coef.T + state.heads.intercept).argmax() != y[i])
    assert problem.left_out_error(state) == pytest.approx(np.mean(wrong))


def test_many_features_are_judged_by_a_factor(monkeypatch):
    X, y = clouds(60)
    model = MAC(n_centers=40, gamma=1.0, reg_w=0.01, max_iter=2, early_stopping=False, random_state=0)
    state = list(model.iterate(X, y))[-1].state
    by_eigenvectors = problem_of(model).left_out_error(state)
    monkeypatch.setattr("supdr.methods.mac.mapping.EIGEN_SIZE", 10)
    assert problem_of(model).left_out_error(state) == by_eigenvectors


def test_a_pass_is_better_only_by_a_standard_error():
    class GivenErrors:
        judged_codes = np.zeros(100)

        def __init__(self, errors):
            self.errors = iter(errors)

        def left_out_error(self, state):
            return next(self.errors)

    watch = LeftOut(GivenErrors([0.20, 0.19, 0.15, 0.16, 0.30]))
    assert [watch(None)[0] for _ in range(5)] == [0.20, 0.20, 0.15, 0.16, 0.30]


def test_passes_end_when_left_out_rows_gain_nothing():
    X, y = misleading()
    model = MAC(random_state=0).fit(X, y)
    assert model.stop_ == "no_improvement"
    assert model.n_iter_ < MAC().max_iter
    hidden = MAC(early_stopping=True, random_state=0)
    next(hidden.iterate(X, y))
    assert targets_of(hidden).labelled.sum() < len(y)
    next(model.iterate(X, y))
    assert targets_of(model).labelled.all()  # "loo" hides no label


def test_a_resumed_run_keeps_its_scaling_and_choices():
    X, y = clouds(90, 0.3)
    y = y.astype(float)
    model = MAC(max_iter=3, early_stopping=False, random_state=0)
    first = list(model.iterate(X * [1.0, 100.0], y))[-1]
    y[::2] = np.nan
    after = next(iter(model.iterate(X * [1.0, 100.0], y, start=first)))
    assert after.state.mapping is first.state.mapping
    assert (after.state.reg_w, after.state.scaling) == (first.state.reg_w, first.state.scaling)


# --- the head on left-out images --------------------------------------------------------------------------------------


def scales():
    """Weights times distances on two arms: a thin class, balance, lies between two large ones."""
    X = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
    return X, 1 + np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3])


@pytest.mark.slow
def test_a_thin_class_between_two_others_is_found():
    """Codes of the class in between lie nearer to other corners; where they lie shows on rows that are left out."""
    X, y = scales()
    train, test = next(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    fitted = MAC(random_state=0).fit(X[train], y[train])
    by_passes = clone(fitted).set_params(calibrate=False).fit(X[train], y[train])
    balanced = test[y[test] == 1]
    assert np.mean(by_passes.predict(X[balanced]) == 1) < 0.3
    assert np.mean(fitted.predict(X[balanced]) == 1) > 0.6
    assert fitted.score(X[test], y[test]) > 0.94


def test_the_head_sees_left_out_images_of_every_class():
    """Of many rows some are left out; a class of one row is among them."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(2600) == 1, 2, np.arange(2600) % 4 // 2)
    X = rng.standard_normal((2600, 3)) + 3.0 * np.eye(3)[y]
    fitted = MAC(n_centers=30, random_state=0).fit(X, y)
    assert fitted.decision_function(X).shape == (2600, 3)
    assert fitted.predict_proba(X).shape == (2600, 3)
    assert fitted.score(X, y) > 0.95


@pytest.mark.parametrize("settings", [{"solver": "lbfgs"}, {"n_layers": 2}], ids=str)
def test_without_left_out_images_the_classifiers_decide(settings):
    X, classes = clouds()
    fitted = MAC(random_state=0, max_iter=5, **settings).fit(X, classes)
    scores = fitted.transform(X) @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.decision_function(X), scores)
    few = MAC(random_state=0).fit(X[:6], classes[:6])  # two labels a class
    np.testing.assert_allclose(few.decision_function(X), few.transform(X) @ few.coef_.T + few.intercept_)
