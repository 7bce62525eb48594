"""SDR-GLM's comparison methods: certificates, parity with scikit-learn, conventions."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from supdr.baselines import SVDM, SVMUDR, ElasticNet, LogisticPCA, LogisticUDR
from supdr.datasets import make_latent_glm
from tests.core.conventions import check_conventions
from tests.core.inside import problem_of

ITERATIVE = (LogisticUDR, SVMUDR, SVDM)


@check_conventions(
    others=[ElasticNet(random_state=0), *(cls(random_state=0, max_iter=20) for cls in ITERATIVE)],
)
def test_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ITERATIVE)
def test_objective_never_rises_and_runs_resume(cls):
    X, y = load_wine(return_X_y=True)
    y = y.astype(float)
    y[::5] = np.nan
    whole = list(cls(max_iter=20, tol=-1.0).iterate(X, y))
    values = np.array([snapshot.objective for snapshot in whole])
    assert (np.diff(values) / (1.0 + np.abs(values[:-1]))).max() < 1e-9
    half = list(cls(max_iter=10, tol=-1.0).iterate(X, y))[-1]
    *_, rest = cls(max_iter=10, tol=-1.0).iterate(X, y, start=half)
    assert dict(rest.losses) == dict(whole[-1].losses)
    np.testing.assert_array_equal(rest.state.latent, whole[-1].state.latent)


@pytest.mark.parametrize("cls", ITERATIVE)
def test_they_predict(cls):
    X, y = load_wine(return_X_y=True)
    model = cls().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.85
    assert model.embedding_.shape == (89, 2)
    assert model.reconstruction_.shape == (89, 13)
    assert model.label_pull_.shape == (89,)
    assert 0.0 <= model.label_pull_.min() <= model.label_pull_.max() <= 1.0
    probability = model.predict_proba(X[1::2])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X[1::2]))
    assert model.transduction_.shape == (89,)


# --- unsupervised reduction -------------------------------------------------------------------------------------------


def test_gaussian_reduction_spans_the_principal_components():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticUDR(3, max_iter=500, tol=1e-10, reg_u=1e-4, reg_v=1e-4).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    principal = PCA(3).fit(Z).components_
    own = np.linalg.qr(model.components_.T)[0]
    assert np.linalg.svd(principal @ own, compute_uv=False).min() > 0.999


def test_labels_do_not_move_the_reduction():
    X, y = load_iris(return_X_y=True)
    other = np.random.default_rng(0).permutation(y)
    for cls in (LogisticUDR, SVMUDR):
        first, second = (cls(max_iter=10).fit(X, labels).transform(X) for labels in (y, other))
        np.testing.assert_array_equal(first, second)


def test_heads_are_those_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    logistic, svm = LogisticUDR(3).fit(X, y), SVMUDR(3).fit(X, y)
    latent = logistic.transform(X)
    scaled = latent / latent.std(axis=0)
    peer = LogisticRegression(tol=1e-10, max_iter=1000).fit(scaled, y)
    np.testing.assert_allclose(logistic.predict_proba(X), peer.predict_proba(scaled), atol=1e-4)
    peer = SVC(kernel="linear", tol=1e-8).fit(scaled, y)
    np.testing.assert_allclose(svm.decision_function(X), peer.decision_function(scaled), atol=1e-3)
    np.testing.assert_allclose(svm.coef_ * latent.std(axis=0), peer.coef_, atol=1e-3)


def test_logistic_pca_takes_bits_only():
    data = make_latent_glm(120, 60, 6.0, random_state=0)
    model = LogisticPCA().fit(data.X[:80], data.y[:80])
    assert model.score(data.X[80:], data.y[80:]) > 0.95
    assert ((model.reconstruction_ >= 0.0) & (model.reconstruction_ <= 1.0)).all()
    with pytest.raises(ValueError, match="a bernoulli column holds 0 and 1 only"):
        LogisticPCA().fit(data.X[:80] + 0.5, data.y[:80])


def test_logistic_pca_likelihood_beats_linear_pca_as_a_model_of_bits():
    data = make_latent_glm(200, 40, 8.0, random_state=1)
    model = LogisticPCA(max_iter=300).fit(data.X, data.y)
    p = np.clip(model.reconstruction_, 1e-9, 1 - 1e-9)
    pca = PCA(2).fit(data.X)
    q = np.clip(pca.inverse_transform(pca.transform(data.X)), 1e-2, 1 - 1e-2)
    likelihoods = [(data.X * np.log(r) + (1 - data.X) * np.log(1 - r)).sum() for r in (p, q)]
    assert likelihoods[0] > likelihoods[1]


# --- SVDM -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_svdm_rows_are_minima(n_classes):
    """No small change of any latent row lowers F after the U-step."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 8)), rng.integers(0, n_classes, 60)
    model = SVDM(3, recon_weight=0.05, reg_scaling="none", max_iter=3, tol=-1.0)
    *_, last = model.iterate(X, y)
    problem = problem_of(model)
    latent = problem._latent(last.state)
    best = problem.losses(last.state._replace(latent=latent))["objective"]
    for row, size in itertools.product(range(0, 60, 7), (1e-3, 1e-1)):
        for _ in range(10):
            moved = latent.copy()
            moved[row] += size * rng.standard_normal(3)
            assert problem.losses(last.state._replace(latent=moved))["objective"] >= best - 1e-8


def test_svdm_leaves_unlabelled_rows_to_the_reconstruction():
    X, y = load_iris(return_X_y=True)
    y = y.astype(float)
    y[::3] = np.nan
    model = SVDM(max_iter=4, tol=-1.0)
    *_, last = model.iterate(X, y)
    problem = problem_of(model)
    latent = problem._latent(last.state)
    model.at(last)
    fitted = model.at(last)
    np.testing.assert_allclose(latent[::3], fitted.transform(X)[::3], atol=1e-10)
    assert np.abs(latent[1::3] - fitted.transform(X)[1::3]).max() > 1e-3
    assert not fitted.label_pull_[::3].any()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVDM(recon_weight=0), "recon_weight must be 'auto' or a number > 0; got 0"),
        (SVDM(recon_weight="big"), "recon_weight must be 'auto' or a number > 0; got 'big'"),
        (SVDM(reg_w=0), "reg_w must be a number > 0; got 0"),
        (SVDM(9), "n_components=9 exceeds n_samples = 150 or n_features = 4"),
        (SVDM(reg_scaling="both"), "reg_scaling must be one of lam, none"),
        (SVMUDR(C=-1.0), "C must be a number > 0; got -1.0"),
        (LogisticUDR(reg_u=0), "reg_u must be a number > 0; got 0"),
        (ElasticNet(alpha=0), "alpha must be 'cv' or a number > 0; got 0"),
        (ElasticNet(l1_ratio=0), r"l1_ratio must be a number in \(0, 1\]; got 0"),
    ],
)
def test_bad_parameters_are_named(model, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


# --- Elastic Net ------------------------------------------------------------------------------------------------------


def test_elastic_net_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = SklearnElasticNet(alpha=0.1).fit(Z, (y - y.mean()) / y.std())
    model = ElasticNet(alpha=0.1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(Z) * y.std() + y.mean(), rtol=1e-8)
    np.testing.assert_allclose(model.transform(X)[:, 0], model.predict(X))
    assert ElasticNet().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.35
    assert model.history_["active_columns"][0] == np.count_nonzero(peer.coef_)
