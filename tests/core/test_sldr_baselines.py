"""What SLDR is compared with: MKL, LMKL, linear SVMs on all views and on the best one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from supdr import Stop
from supdr.baselines import LMKL, MKL, AllViewsSVM, BestViewSVM
from supdr.datasets import make_zigzag
from tests.core.conventions import check_conventions

EVERY = [MKL, LMKL, AllViewsSVM, BestViewSVM]
every_baseline = pytest.mark.parametrize("cls", EVERY)


def data(n=160, n_classes=2, seed=0):
    """Three views; the second says most about the class, the third nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    strength = (0.6, 1.5, 0.0)
    views = [rng.standard_normal((n, 4)) + s * np.eye(n_classes, 4)[codes] for s in strength]
    return np.hstack(views), codes, (4, 4, 4)


def scaled(X, sizes):
    """Each view z-scored and divided by the root of its number of columns."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return [view / np.sqrt(view.shape[1]) for view in np.split(Z, np.cumsum(sizes)[:-1], axis=1)]


@check_conventions(
    others=[AllViewsSVM(random_state=0), BestViewSVM(random_state=0)]
    + [cls(random_state=0, max_iter=10) for cls in (MKL, LMKL)],
)
def test_conventions(estimator, check):
    check(estimator)


@every_baseline
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_latent_space_is_that_of_decision_values(cls, n_classes):
    X, y, sizes = data(n_classes=n_classes)
    model = cls(views=sizes).fit(X, y)
    latent = model.transform(X)
    assert latent.shape == (160, 1 if n_classes == 2 else 3)
    np.testing.assert_allclose(model.latent_decision_function(latent), model.decision_function(X))
    np.testing.assert_allclose(model.embedding_, latent)
    np.testing.assert_array_equal(model.transduction_, model.predict(X))


@every_baseline
def test_unlabelled_rows_do_not_train(cls):
    X, y = load_iris(return_X_y=True)
    partly = np.where(np.arange(150) % 2, y, np.nan)
    model = cls(preprocessing="none").fit(X, partly)
    alone = cls(preprocessing="none").fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert len(model.embedding_) == 150
    assert (model.label_pull_[::2] == 0).all()
    assert 0 < model.label_pull_.max() <= 1 + 1e-12
    assert set(model.support_) <= set(range(1, 150, 2))


@every_baseline
@pytest.mark.parametrize(
    ("settings", "message"),
    [({"C": 0.0}, "C must"), ({"views": (4, 4)}, "views"), ({"preprocessing": "whiten"}, "preprocessing")],
)
def test_bad_parameters_are_named(cls, settings, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        cls(**settings).fit(X, y)


# --- one kernel for all rows ------------------------------------------------------------------------------------------


def test_all_views_side_by_side():
    X, y, sizes = data()
    Z = np.hstack(scaled(X, sizes))
    expected = SVC(C=2.0, kernel="linear").fit(Z, y)
    np.testing.assert_allclose(
        AllViewsSVM(2.0, views=sizes).fit(X, y).decision_function(X), expected.decision_function(Z)
    )


def test_the_best_view_is_found_and_used_alone():
    X, y, sizes = data()
    model = BestViewSVM(2.0, views=sizes).fit(X, y)
    assert model.best_view_ == 1
    assert model.view_scores_.shape == (3,)
    Z = scaled(X, sizes)[1]
    np.testing.assert_allclose(model.decision_function(X), SVC(C=2.0, kernel="linear").fit(Z, y).decision_function(Z))
    moved = X.copy()
    moved[:, [0, 11]] += 3.0
    np.testing.assert_array_equal(model.decision_function(moved), model.decision_function(X))
    with pytest.raises(ValueError, match="n_folds"):
        BestViewSVM(n_folds=1).fit(X, y)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_mkl_of_two_kernels_against_brute_force(C):
    X, y, _ = data()
    X, sizes = X[:, :8], (4, 4)
    first, second = (view @ view.T for view in scaled(X, sizes))
    signs = np.where(y == 1, 1.0, -1.0)

    def objective(weight):
        K = weight * first + (1 - weight) * second
        svm = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
        duals = np.zeros(len(y))
        duals[svm.support_] = svm.dual_coef_[0]
        return np.abs(duals).sum() - 0.5 * duals @ K @ duals, duals @ signs

    lowest = min(objective(weight)[0] for weight in np.linspace(0, 1, 201))
    model = MKL(C, views=sizes, tol=1e-6, svm_tol=1e-6, max_iter=5000).fit(X, y)
    assert model.stop_ is Stop.converged
    assert model.history_["objective"][-1] <= lowest * (1 + 1e-5)
    assert objective(model.view_weights_[0])[0] == pytest.approx(model.history_["objective"][-1], rel=1e-5)
    assert model.history_["gap"][-1] <= 1e-6 * lowest


def test_mkl_weights_are_a_convex_combination_that_improves():
    X, y, sizes = data(n_classes=3)
    model = MKL(views=sizes, tol=1e-4, max_iter=1000).fit(X, y)
    assert model.view_weights_.sum() == pytest.approx(1.0)
    assert model.view_weights_.argmax() == 1
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 1e-4 * objective[0]).all()
    K = sum(weight * view @ view.T for weight, view in zip(model.view_weights_, scaled(X, sizes)))
    for k in range(3):
        svm = SVC(kernel="precomputed", tol=1e-4).fit(K, y == k)
        np.testing.assert_allclose(model.decision_function(X)[:, k], svm.decision_function(K), atol=5e-3)


def test_mkl_of_one_view_is_a_support_vector_machine():
    X, y, _ = data()
    model = MKL(C=0.5, svm_tol=1e-5).fit(X, y)
    (Z,) = scaled(X, (12,))
    svm = SVC(C=0.5, kernel="linear", tol=1e-5).fit(Z, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(Z), atol=1e-3)
    np.testing.assert_array_equal(model.view_weights_, 1.0)


def test_mkl_resumes_where_it_was():
    X, y, sizes = data()
    whole = list(MKL(views=sizes, tol=-1.0, max_iter=8).iterate(X, y))
    half = list(MKL(views=sizes, tol=-1.0, max_iter=4).iterate(X, y))[-1]
    *_, last = MKL(views=sizes, tol=-1.0, max_iter=4).iterate(X, y, start=half)
    np.testing.assert_array_equal(last.state.weights, whole[-1].state.weights)
    other = list(MKL(0.3, views=sizes, tol=-1.0, max_iter=4).iterate(X, y, start=half))
    np.testing.assert_array_equal(other[0].state.weights, half.state.weights)
    assert other[-1].objective < other[0].objective


# --- a kernel per row -------------------------------------------------------------------------------------------------


def test_lmkl_of_one_view_and_one_model_is_a_support_vector_machine():
    X, y, _ = data()
    (Z,) = scaled(X, (12,))
    svm = SVC(C=0.5, kernel="linear", tol=1e-5).fit(Z, y)
    model = LMKL(0.5, n_models=1, svm_tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(Z), atol=1e-3)


def test_lmkl_takes_the_zigzag_apart():
    X, y = make_zigzag(600, random_state=0).to_xy()
    model = LMKL(10.0, n_init=5).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) >= 0.98
    assert model.gate_projection_ is None
    assert model.gate_weights_.shape == (3, 2)
    np.testing.assert_allclose(model.gate(X).sum(axis=1), 1.0)
    assert (np.diff(model.history_["objective"]) <= 0).all()
