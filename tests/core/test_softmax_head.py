"""The calibrated head: a softmax whose ridge comes from approximate leave-one-out log loss."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import StandardScaler

from supdr import LSDR
from supdr.solvers.softmax_head import fitted_head, left_out_losses, loo_softmax


def two_classes(n=60, m=6, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    return rng.normal(size=(n, m)) + 0.8 * codes[:, None] * (np.arange(m) < 2), codes


@pytest.mark.parametrize("ridge", [0.1, 1.0, 30.0])
def test_two_classes_left_out_losses_are_close_to_those_of_refits(ridge):
    X, codes = two_classes()
    model = LogisticRegression(C=1 / ridge, tol=1e-8, max_iter=1000)
    share = cross_val_predict(model, X, codes, cv=LeaveOneOut(), method="predict_proba")
    model.fit(X, codes)
    losses = left_out_losses(X, codes, np.ones(60), model.coef_, model.intercept_, ridge)
    assert losses.mean() == pytest.approx(log_loss(codes, share), rel=0.02)
    np.testing.assert_allclose(losses, -np.log(share[np.arange(60), codes]), atol=0.3)


@pytest.mark.parametrize("ridge", [1.0, 10.0, 100.0])
def test_more_classes_are_close_enough_to_choose_by(ridge):
    X, codes = load_iris(return_X_y=True)
    X, codes = StandardScaler().fit_transform(X)[::2], codes[::2]
    model = LogisticRegression(C=1 / ridge, tol=1e-8, max_iter=1000)
    share = cross_val_predict(model, X, codes, cv=LeaveOneOut(), method="predict_proba")
    model.fit(X, codes)
    losses = left_out_losses(X, codes, np.ones(75), model.coef_, model.intercept_, ridge)
    assert losses.mean() == pytest.approx(log_loss(codes, share), rel=0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_head_is_a_minimiser(n_classes):
    """At its ridge, which is the one number that the gradient by the weights leaves open."""
    X, codes = load_wine(return_X_y=True)
    keep = codes < n_classes
    X, codes = StandardScaler().fit_transform(X[keep]), codes[keep]
    coef, intercept = loo_softmax(X, codes)
    scores = X @ coef + intercept
    if n_classes == 2:
        scores, coef = np.column_stack([0 * scores, scores]), np.column_stack([-coef, coef])
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    residual = (codes[:, None] == np.arange(n_classes)) - share
    pull = X.T @ residual
    ridge = np.vdot(pull, coef) / np.vdot(coef, coef)
    assert ridge > 0
    np.testing.assert_allclose(pull, ridge * coef, atol=1e-3)
    np.testing.assert_allclose(residual.sum(axis=0), 0.0, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_ridge_gives_what_logistic_regression_gives(n_classes):
    X, codes = load_wine(return_X_y=True)
    keep = codes < n_classes
    X, codes = StandardScaler().fit_transform(X[keep]), codes[keep]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(codes))
    start = np.zeros((X.shape[1] + 1, 1 if n_classes == 2 else n_classes))
    head = fitted_head(X, codes, weights, start, 3.0, 1e-9)
    model = LogisticRegression(C=1 / 3.0, tol=1e-9, max_iter=10_000).fit(X, codes, sample_weight=weights)
    np.testing.assert_allclose(head[:-1], model.coef_.T, atol=1e-5)
    np.testing.assert_allclose(head[-1], model.intercept_, atol=1e-5)
    assert not start.any()


def test_noise_asks_for_a_strong_ridge():
    X, codes = two_classes(m=40)
    X_new, codes_new = two_classes(n=2000, m=40, seed=1)

    def loss(coef, intercept):
        scores = (X_new @ coef + intercept)[:, 0]
        return np.logaddexp(0, np.where(codes_new == 1, -scores, scores)).mean()

    plain = LogisticRegression(C=1.0, max_iter=1000).fit(X, codes)
    assert loss(*loo_softmax(X, codes)) < 0.7 * loss(plain.coef_.T, plain.intercept_)


def test_rows_weigh():
    X, codes = two_classes()
    weights = np.where(np.arange(60) < 30, 1.0, 1e-9)
    np.testing.assert_allclose(loo_softmax(X, codes, weights)[0], loo_softmax(X[:30], codes[:30])[0], atol=1e-3)


def test_a_class_between_two_others_is_found_on_a_line():
    """One head against the rest cannot; the classes' scores together can."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 4))
    X[:, 0] += 6 * y
    assert LSDR(1).fit(X, y).score(X, y) > 0.95
