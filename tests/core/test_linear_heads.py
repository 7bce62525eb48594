"""Linear heads against scikit-learn, stationarity and brute force."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.svm import SVC

from supdr.functions.losses import HINGE, LOGISTIC, LOSSES, SMOOTH_HINGE, SQUARED, loss_gradient, total_loss
from supdr.solvers.linear_heads import RIDGE_WEIGHTS, column_spread, loo_ridge
from tests.core.inside import fit_heads


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((80, 3)) * [1.0, 5.0, 0.2]
    targets = np.where(features[:, :2] + rng.standard_normal((80, 2)) > 0.3, 1.0, -1.0)
    return features, targets, 0.5 * rng.standard_normal(80)


def objective(data, code, coef, intercept, weight, reg):
    features, targets, offset = data
    scores = features @ coef + intercept + offset[:, None]
    return weight * total_loss(code, targets, scores) + reg * (coef**2).sum()


def fit(data, code, weight, reg, start=0.0, **options):
    features, targets, offset = data
    coef, intercept = np.full((3, 2), start), np.full(2, start)
    return fit_heads(features, targets, code, coef, intercept, weight=weight, reg=reg, offset=offset, **options)


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("code", [SQUARED, LOGISTIC, SMOOTH_HINGE])
def test_smooth_heads_are_stationary(data, code, weight):
    features, targets, offset = data
    coef, intercept = fit(data, code, weight, 0.3, max_steps=100)
    _, first = loss_gradient(code, targets, features @ coef + intercept + offset[:, None])
    by_coef = weight * features.T @ first + 0.6 * coef
    scale = weight * (np.abs(features).T @ np.abs(first)).max() + 1.0
    assert abs(by_coef).max() <= 1e-5 * scale
    assert abs(weight * first.sum(axis=0)).max() <= 1e-5 * scale


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e3])
def test_hinge_heads_beat_a_direct_search(data, weight):
    coef, intercept = fit(data, HINGE, weight, 0.5)
    reached = objective(data, HINGE, coef, intercept, weight, 0.5)
    rng = np.random.default_rng(1)
    for _ in range(300):
        size = 10.0 ** rng.uniform(-6, 0)
        moved = coef + size * rng.standard_normal(coef.shape), intercept + size * rng.standard_normal(2)
        assert reached <= objective(data, HINGE, *moved, weight, 0.5) * (1 + 1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_hinge_head_is_a_linear_svm(data, C):
    features, targets, _ = data
    y = targets[:, :1]
    coef, intercept = fit_heads(features, y, HINGE, np.zeros((3, 1)), np.zeros(1), weight=C, reg=0.5)
    svm = SVC(kernel="linear", C=C, tol=1e-8).fit(features, y[:, 0])
    np.testing.assert_allclose(coef[:, 0], svm.coef_[0], rtol=1e-2, atol=1e-5)
    without_offset = features, y, np.zeros(80)
    peer = objective(without_offset, HINGE, svm.coef_.T, svm.intercept_, C, 0.5)
    assert objective(without_offset, HINGE, coef, intercept, C, 0.5) <= peer * (1 + 1e-9)


def test_logistic_head_is_logistic_regression(data):
    features, targets, _ = data
    y = targets[:, :1]
    coef, intercept = fit_heads(features, y, LOGISTIC, np.zeros((3, 1)), np.zeros(1), weight=1.0, reg=0.5, max_steps=50)
    model = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(features, y[:, 0])
    np.testing.assert_allclose(coef[:, 0], model.coef_[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(intercept, model.intercept_, rtol=1e-4)


@pytest.mark.parametrize("code", range(len(LOSSES)))
@pytest.mark.parametrize("start", [0.0, 1.0, 1e3])
def test_never_worse_than_the_start(data, code, start):
    """From far away every smooth-hinge curvature is 0; few steps must still descend."""
    before = objective(data, code, np.full((3, 2), start), np.full(2, start), 1.0, 1e-3)
    values = [before] + [
        objective(data, code, *fit(data, code, 1.0, 1e-3, start, max_steps=steps), 1.0, 1e-3) for steps in (1, 3, 10)
    ]
    assert all(after <= value * (1 + 1e-12) for value, after in itertools.pairwise(values))
    assert values[1] < before


@pytest.mark.parametrize("name", ["hinge", "smooth_hinge", "logistic", "squared"])
def test_agrees_with_a_general_optimiser(data, name):
    code = LOSSES.index(name)
    coef, intercept = fit(data, code, 0.7, 0.2, max_steps=100)

    def total(theta):
        return objective(data, code, theta[:6].reshape(3, 2), theta[6:], 0.7, 0.2)

    start = np.concatenate([coef.ravel(), intercept])
    found = minimize(total, start, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-10, "fatol": 1e-12})
    assert total(start) <= found.fun * (1 + 1e-9)


def test_without_weight_only_the_ridge_is_left(data):
    coef, intercept = fit(data, LOGISTIC, 0.0, 0.5, start=2.0)
    np.testing.assert_array_equal(coef, 0.0)
    np.testing.assert_array_equal(intercept, 2.0)


def test_leave_one_out_ridge_is_ridge_cv(data):
    features, _, _ = data
    rng = np.random.default_rng(2)
    targets = features @ rng.standard_normal((3, 2)) + rng.standard_normal((80, 2)) * [0.1, 30.0] + 5.0
    coef, intercept = loo_ridge(features, targets)
    largest = np.linalg.svd(features - features.mean(axis=0), compute_uv=False)[0]
    peer = RidgeCV(alphas=RIDGE_WEIGHTS * largest**2 / len(features), alpha_per_target=True).fit(features, targets)
    np.testing.assert_allclose(coef.T, peer.coef_, rtol=1e-6)
    np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-6)


def test_leave_one_out_ridge_of_constant_features():
    coef, intercept = loo_ridge(np.ones((6, 2)), np.arange(6.0)[:, None])
    np.testing.assert_allclose(coef, 0.0, atol=1e-12)
    np.testing.assert_allclose(intercept, 2.5)


def test_columns_get_unit_deviation_and_constant_ones_stay():
    features = np.random.default_rng(0).standard_normal((30, 3)) * (1e-3, 7.0, 1e-12)
    scaled = features / column_spread(features)
    np.testing.assert_allclose(scaled[:, :2].std(axis=0), 1.0)
    np.testing.assert_array_equal(scaled[:, 2], features[:, 2])
