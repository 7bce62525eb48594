"""The scikit-learn baselines: same predictions as scikit-learn, same shell as the methods."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from supdr import baselines
from supdr.baselines import (
    BASELINES,
    KNN,
    LDA,
    LMKL,
    MKL,
    PCASVM,
    RBFSVM,
    AllViewsSVM,
    BestViewSVM,
    LinearSVM,
    LogisticPCA,
    PCAProjection,
    PolySVM,
)
from tests.core.conventions import check_conventions

PEERS = [
    (LinearSVM(), SVC(kernel="linear")),
    (PolySVM(degree=3), SVC(kernel="poly", degree=3, gamma=1.0, coef0=1.0)),
    (RBFSVM(), SVC(kernel="rbf", gamma="scale")),
    (LDA(), LinearDiscriminantAnalysis()),
    (KNN(), KNeighborsClassifier()),
]


CLASSIFIERS = [LinearSVM, PolySVM, RBFSVM, PCASVM, LDA, KNN]  # the others have tests of their own


@check_conventions(LinearSVM(), others=[LDA(), PolySVM(), RBFSVM(), PCASVM(), KNN()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("ours", "peer"), PEERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_predictions_are_those_of_scikit_learn(ours, peer, load):
    X, y = load(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    agreement = np.mean(ours.fit(X, y).predict(X) == peer.fit(scaled, y).predict(scaled))
    assert agreement >= 0.99  # vote ties of three-class SVMs are broken by the decision values here


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_latent_scores_agree_with_the_scores_of_the_rows(cls):
    X, y = load_iris(return_X_y=True)
    model = cls().fit(X, y)
    np.testing.assert_allclose(model.latent_decision_function(model.transform(X)), model.decision_function(X))
    np.testing.assert_allclose(model.embedding_, model.transform(X))
    np.testing.assert_array_equal(model.transduction_, model.predict(X))


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_unlabelled_rows_do_not_train(cls):
    X, y = load_iris(return_X_y=True)
    y = y.astype(float)
    y[::2] = np.nan
    model = cls(preprocessing="none").fit(X, y)
    alone = cls(preprocessing="none").fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert model.embedding_.shape[0] == len(X)


PEERS = {"UMAP": baselines.umap, "PaCMAP": baselines.pacmap}
"""Those that need a package of their own -> their modules."""


def test_the_menu_holds_what_the_package_exports():
    missing = {name for name in PEERS if not PEERS[name].INSTALLED}
    named = [name for name in baselines.__all__ if name not in {"BASELINES", "NEEDS", "LogisticPCA", *missing}]
    assert sorted(BASELINES) == sorted(named)
    for name, cls in BASELINES.items():
        assert cls is getattr(baselines, name)


@pytest.mark.parametrize("family", ["bits", "numbers"])
def test_logistic_pca_is_logistic_udr_on_bits(family):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 8)).astype(float)
    y = X[:, 0] + X[:, 1] > rng.random(60)
    if family == "bits":
        models = [cls(random_state=0).fit(X, y) for cls in (LogisticPCA, BASELINES["LogisticUDR"])]
        np.testing.assert_allclose(models[0].transform(X), models[1].transform(X), atol=1e-8)
    else:
        with pytest.raises(ValueError, match="bernoulli"):
            LogisticPCA().fit(X + 0.5, y)


def test_one_snapshot_says_that_it_is_the_end():
    X, y = load_iris(return_X_y=True)
    model = RBFSVM()
    (snapshot,) = model.iterate(X, y)
    assert snapshot.stop == "converged"
    np.testing.assert_array_equal(model.at(snapshot).predict(X), RBFSVM().fit(X, y).predict(X))
    assert set(model.at(snapshot).support_) <= set(range(len(X)))


class Endless(KNeighborsClassifier):
    """Fitted once it is let go."""

    begun, end = threading.Event(), threading.Event()

    def fit(self, X, y):
        self.begun.set()
        self.end.wait(60)
        return super().fit(X, y)


class SlowKNN(KNN):
    """Its fit ends once it is let go."""

    def _model(self):
        return Endless()


def test_a_fit_that_nobody_waits_for_any_more_is_left_and_never_shown():
    try:
        assert list(SlowKNN().iterate(*load_iris(return_X_y=True), interrupted=Endless.begun.is_set)) == []
        assert not Endless.end.is_set()
    finally:
        Endless.end.set()
    (snapshot,) = SlowKNN().iterate(*load_iris(return_X_y=True), interrupted=lambda: False)
    assert snapshot.losses["training_error"] < 0.1


def test_pca_svm_clips_the_dimension():
    X, y = load_iris(return_X_y=True)
    assert PCASVM(n_components=50).fit(X, y).transform(X).shape == (150, 4)


def test_pca_svm_takes_a_share_of_the_variance():
    X, y = load_iris(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    explained = PCA().fit(Z).explained_variance_ratio_.cumsum()
    for share, count in ((0.5, 1), (0.9, 2), (0.99, 3)):
        model = PCASVM(share).fit(X, y)
        assert model.transform(X).shape == (150, count)
        assert explained[count - 1] > share >= (explained[count - 2] if count > 1 else 0.0)
        np.testing.assert_array_equal(model.predict(X), PCASVM(count).fit(X, y).predict(X))
    with pytest.raises(ValueError, match=r"share of the variance in \(0, 1\); got 1\.5"):
        PCASVM(1.5).fit(X, y)


COUNTS = ((cls, name) for cls in BASELINES.values() for name in ("n_components", "n_neighbors", "n_steps", "n_targets"))
WEIGHTS = ((cls, name) for cls in BASELINES.values() for name in ("C", "gamma", "reg", "push"))
BAD = [
    (cls, name, bad)
    for pairs, values in ((COUNTS, (0, 2.5, True, "2")), (WEIGHTS, (0.0, -1.0, True, "a", np.nan, np.inf)))
    for cls, name in pairs
    for bad in values
    if name in cls().get_params()
]


@pytest.mark.parametrize(("cls", "name", "bad"), BAD)
def test_bad_parameters_are_named(cls, name, bad):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"^{name} must be .*got {bad!r}$"):
        next(cls(**{name: bad}).iterate(X, y))


@pytest.mark.parametrize(
    "model",
    [
        LinearSVM(),
        PolySVM(),
        RBFSVM(),
        PCASVM(),
        PCAProjection(head="svm"),
        AllViewsSVM(),
        BestViewSVM(),
        MKL(),
        LMKL(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_support_vectors_are_counted_in_every_class(model):
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(len(y)) % 3 > 0, y, np.nan)
    model.fit(X, y)
    np.testing.assert_array_equal(model.n_support_, [np.sum(y[model.support_] == k) for k in range(3)])
    assert model.support_fraction_ == pytest.approx(model.n_support_.sum() / 100)


@pytest.mark.parametrize("cls", [LinearSVM, PolySVM, RBFSVM, PCASVM])
def test_only_rows_on_or_within_the_margin_are_pulled(cls):
    X, y = load_breast_cancer(return_X_y=True)
    model = cls(C=0.5).fit(X, y)
    margin = np.where(y == 1, 1.0, -1.0) * model.training_decision_
    assert model.label_pull_.max() <= 1.0 + 1e-12
    np.testing.assert_array_equal(model.label_pull_[margin > 1.01], 0.0)
    np.testing.assert_allclose(model.label_pull_[margin < 0.98], 1.0)


def test_all_components_reconstruct_exactly():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(PCASVM(n_components=4).fit(X, y).reconstruction_, X)
    assert np.abs(PCASVM(n_components=1).fit(X, y).reconstruction_ - X).max() > 0.1
