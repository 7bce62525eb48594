"""The methods that MAC's paper compares with: projections with a classifier, KLDA, NCA, LMNN, two alternating steps."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from supdr.baselines import (
    KLDA,
    LDA,
    LMNN,
    NCA,
    PLS,
    KernelPCAProjection,
    LDAProjection,
    PCAProjection,
    PLSProjection,
    TwoStep,
    lmnn,
)
from supdr.baselines.klda import KernelDiscriminants
from supdr.baselines.lmnn import LargeMarginMap, _target_neighbours, triplet_loss
from supdr.datasets import make_noisy_plane, make_spirals
from tests.core.conventions import check_conventions
from tests.core.inside import problem_of

PROJECTIONS = [PCAProjection, KernelPCAProjection, LDAProjection, KLDA, NCA, LMNN]


@pytest.mark.filterwarnings("ignore:1 of 3 classifiers")  # a check with a class of one row
@check_conventions(
    others=[cls(random_state=0) for cls in PROJECTIONS] + [TwoStep(max_iter=3, random_state=0)],
    rest=[LDAProjection(head="rbf"), KLDA(head="svm"), LMNN(head="svm", random_state=0), KLDA(head="rbf")],
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", PROJECTIONS)
@pytest.mark.parametrize("head", ["knn", "svm", "rbf"])
@pytest.mark.parametrize("load", [pytest.param(load_iris, marks=pytest.mark.slow), load_wine])
def test_three_classes_are_told_apart(cls, head, load):
    X, y = load(return_X_y=True)
    model = cls(head=head, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) >= 0.85
    assert model.transform(X).shape == (len(X), 2)
    np.testing.assert_allclose(model.latent_decision_function(model.transform(X)), model.decision_function(X))
    np.testing.assert_allclose(model.embedding_, model.transform(X[::2]))
    assert hasattr(model, "support_") == (head != "knn")


@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (PCAProjection(), make_pipeline(PCA(2, random_state=0), KNeighborsClassifier())),
        (PCAProjection(head="svm"), make_pipeline(PCA(2, random_state=0), SVC(kernel="linear", break_ties=True))),
        (LDAProjection(), make_pipeline(LinearDiscriminantAnalysis(), KNeighborsClassifier())),
        (
            KernelPCAProjection(gamma=0.1),
            make_pipeline(KernelPCA(2, kernel="rbf", gamma=0.1, random_state=0), KNeighborsClassifier()),
        ),
        (
            LDAProjection(head="rbf", C=3.0),
            make_pipeline(LinearDiscriminantAnalysis(), SVC(C=3.0, kernel="rbf", break_ties=True)),
        ),
        (
            KernelPCAProjection(gamma=0.1, head="rbf", head_gamma=2.0),
            make_pipeline(KernelPCA(2, kernel="rbf", gamma=0.1, random_state=0), SVC(gamma=2.0, break_ties=True)),
        ),
        (
            KLDA(gamma=0.1, reg=0.01, head="rbf", head_gamma=5.0),
            make_pipeline(KernelDiscriminants(2, 0.1, 0.01), SVC(gamma=5.0, break_ties=True)),
        ),
    ],
    ids=["pca-knn", "pca-svm", "lda-knn", "kernel-pca-knn", "lda-rbf", "kernel-pca-rbf", "klda-rbf"],
)
def test_predictions_are_those_of_scikit_learn(ours, peer):
    X, y = load_iris(return_X_y=True)
    ours.set_params(random_state=0).fit(X, y)
    peer = make_pipeline(StandardScaler(), peer).fit(X, y)
    assert np.mean(ours.predict(X) == peer.predict(X)) >= 0.99


@pytest.mark.parametrize(("C", "head_gamma"), [(1.0, "scale"), (0.1, 0.3), (50.0, 20.0)])
def test_a_gaussian_machine_on_discriminants_has_the_parameters_it_is_given(C, head_gamma):
    X, y = load_wine(return_X_y=True)
    model = LDAProjection(head="rbf", C=C, head_gamma=head_gamma, preprocessing="none").fit(X, y)
    latent = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    peer = SVC(C=C, kernel="rbf", gamma=head_gamma, break_ties=True).fit(latent, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(latent), atol=1e-6)
    np.testing.assert_array_equal(model.support_, peer.support_)


def test_a_gaussian_machine_separates_a_disc_from_its_ring_where_a_line_cannot():
    X, y = make_noisy_plane("disc", 200, noise=0.0, n_noise_features=0, random_state=0).to_xy()
    assert PCAProjection(head="rbf").fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.95
    assert PCAProjection(head="svm").fit(X[:100], y[:100]).score(X[100:], y[100:]) < 0.75


# --- kernel discriminant analysis -------------------------------------------------------------------------------------


def test_directions_solve_the_generalised_eigenproblem():
    """In coordinates of the feature space, by the textbook: S_b w = lambda (S_w + reg I) w."""
    from scipy.linalg import eigh

    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = rng.standard_normal((45, 2)) + 1.5 * np.eye(3, 2)[y]
    model = KernelDiscriminants(2, 0.4, 1e-2).fit(X, y)
    latent = model.transform(X)
    K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))
    centre = np.eye(45) - 1.0 / 45
    e, Q = eigh(centre @ K @ centre)
    kept = e > 1e-9
    basis = Q[:, kept] * np.sqrt(e[kept])
    means = np.array([basis[y == k].mean(axis=0) for k in range(3)])
    within = (basis - means[y]).T @ (basis - means[y]) / 45 + 1e-2 * np.eye(kept.sum())
    between = means.T @ means / 3
    ratios, W = eigh(between, within)
    expected = basis @ W[:, ::-1][:, :2]
    signs = np.sign((expected * latent).sum(axis=0))
    np.testing.assert_allclose(latent, expected * signs, atol=1e-5)
    assert ratios[-3] < 1e-8  # K - 1 directions


def test_linear_limit_of_klda_is_lda():
    """A very wide Gaussian is an affine kernel."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    kernel = KernelDiscriminants(2, 1e-5, 1e-8).fit(X, y).transform(X)
    linear = LinearDiscriminantAnalysis().fit_transform(X, y)
    for k in range(2):
        assert abs(np.corrcoef(kernel[:, k], linear[:, k])[0, 1]) > 0.98


@pytest.mark.parametrize(
    ("limit", "before"),
    [({"reg": 1e12}, {"reg": 1e6}), ({"gamma": 1e-12, "reg": 10.0}, {"gamma": 1e-6, "reg": 10.0})],
    ids=["large reg", "small gamma"],
)
def test_however_small_its_ratios_are_klda_has_all_directions(limit, before):
    """In both limits the covariance between classes alone decides: nothing but the scale changes any more."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    latent, expected = (KLDA(random_state=0, **settings).fit(X, y).transform(X) for settings in (limit, before))
    assert latent.shape == (400, 9)
    for k in range(9):
        assert abs(np.corrcoef(latent[:, k], expected[:, k])[0, 1]) > 0.999


@pytest.mark.parametrize(("X", "gamma"), [(np.eye(6), 1e-20), (np.ones((6, 2)), "median")], ids=["gamma", "rows"])
def test_where_all_rows_are_alike_klda_says_so(X, gamma):
    with pytest.raises(ValueError, match="KLDA finds no direction: with gamma="):
        KLDA(gamma=gamma).fit(X, [0, 0, 0, 1, 1, 1])


def test_klda_unwinds_spirals_where_lda_cannot():
    X, y = make_spirals(3, 100, random_state=0).to_xy()
    assert KLDA(gamma=20.0, head="svm", random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95
    assert LDAProjection(head="svm").fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.8


@pytest.mark.parametrize("alike", [np.ones((30, 4)), np.eye(4)[np.repeat([0, 1, 2], 10)]], ids=["all", "of a class"])
def test_discriminants_need_rows_that_differ_within_their_classes(alike):
    with pytest.raises(ValueError, match="rows that differ within their classes"):
        LDAProjection().fit(alike, np.repeat([0, 1, 2], 10))


# --- large margin nearest neighbours ----------------------------------------------------------------------------------


def triplets(components, X, y, neighbours, known, push):
    """The objective by its definition, one triple at a time."""
    total = 0.0
    for i, j in itertools.product(range(len(X)), range(neighbours.shape[1])):
        if not known[i, j]:
            continue
        own = ((components @ (X[i] - X[neighbours[i, j]])) ** 2).sum()
        total += (1 - push) * own
        for other in np.flatnonzero(y != y[i]):
            total += push * max(0.0, 1.0 + own - ((components @ (X[i] - X[other])) ** 2).sum())
    return total / len(X)


@pytest.mark.parametrize("block", [lmnn.BLOCK, 100], ids=["all rows", "four rows"])
def test_triplet_loss_is_its_definition_and_its_gradient_is_right(block):
    rng = np.random.default_rng(0)
    y = np.array([0] * 12 + [1] * 9 + [2] * 2)
    X = rng.standard_normal((23, 4))
    components = 0.5 * rng.standard_normal((2, 4))
    neighbours, known = _target_neighbours(X, y, 3)
    assert known[:21].all()
    assert known[21:].sum() == 2  # two rows of a class: one neighbour each
    assert (y[neighbours[known]] == np.repeat(y, 3).reshape(23, 3)[known]).all()
    value, _ = triplet_loss(components, X, y, neighbours, known, 0.3, block)
    assert value == pytest.approx(triplets(components, X, y, neighbours, known, 0.3))
    error = check_grad(
        lambda p: triplet_loss(p.reshape(2, 4), X, y, neighbours, known, 0.3, block)[0],
        lambda p: triplet_loss(p.reshape(2, 4), X, y, neighbours, known, 0.3, block)[1].ravel(),
        components.ravel(),
    )
    assert error < 1e-4


def test_triplets_of_many_rows_take_little_memory():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 4)), np.arange(2000) % 3
    neighbours, known = _target_neighbours(X, y, 3)
    tracemalloc.start()
    triplet_loss(np.eye(2, 4), X, y, neighbours, known, 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * 2000**2  # bytes of all distances


def test_large_margin_map_descends_and_helps_neighbours():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = np.column_stack([np.eye(3, 2)[y] + 0.3 * rng.standard_normal((150, 2)), 3.0 * rng.standard_normal((150, 6))])
    learnt = LargeMarginMap(2, 3, 0.5, 100).fit(X, y)
    assert all(after <= before for before, after in itertools.pairwise(learnt.values_))
    assert learnt.values_[-1] < 0.5 * learnt.values_[0]
    plain = KNeighborsClassifier().fit(PCA(2).fit_transform(X), y).score(PCA(2).fit_transform(X), y)
    assert KNeighborsClassifier().fit(learnt.transform(X), y).score(learnt.transform(X), y) > plain + 0.2


# --- two alternating steps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scheme", ["ova", "ovo"])
def test_two_steps_never_raise_the_objective(n_classes, scheme):
    X, y = make_spirals(n_classes, 60, turns=1.0, random_state=0).to_xy()
    model = TwoStep(
        gamma=30.0, n_centers=40, reg_w=0.1, scheme=scheme, preprocessing="none", max_iter=8, random_state=0
    )
    run = list(model.iterate(X, y))
    for before, after in itertools.pairwise(run):
        assert after.objective <= before.objective * (1 + 1e-6)
        assert after.diagnostics["bound"] <= after.objective
    assert run[-1].objective < run[0].objective


def test_mapping_step_is_optimal_for_its_classifier():
    """No other mapping does better: neither along nor across the classifier."""
    X, y = make_spirals(2, 50, turns=1.0, random_state=0).to_xy()
    model = TwoStep(2, gamma=30.0, n_centers=30, reg_w=0.1, preprocessing="none", max_iter=1, random_state=0)
    list(model.iterate(X, y))
    problem = problem_of(model)
    state = problem.start(0)
    best = problem._mapping_step(state)
    value = problem._value(best, state.heads, state)
    rng = np.random.default_rng(0)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            other = best + scale * np.abs(best).max() * rng.standard_normal(best.shape)
            assert problem._value(other, state.heads, state) >= value * (1 - 1e-6)
    assert problem._value(problem._descended(state), state.heads, state) == pytest.approx(value, rel=0.05)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PCAProjection(0), "n_components must be an integer"),
        (KLDA(n_components=0), "n_components must be an integer"),
        (PCAProjection(head="tree"), "head must be one of knn, svm, rbf"),
        (PCAProjection(n_neighbors=0), "n_neighbors must be an integer"),
        (PCAProjection(C=0.0), "C must be a number > 0"),
        (LDAProjection(head_gamma=0.0), "head_gamma must be 'scale' or a number > 0; got 0.0"),
        (KLDA(head="rbf", head_gamma="median"), "head_gamma must be 'scale' or a number > 0; got 'median'"),
        (KLDA(gamma="scale"), "gamma must be 'median' or a number > 0; got 'scale'"),
        (KLDA(gamma=-1.0), "gamma must be 'median' or a number > 0; got -1.0"),
        (KLDA(reg=0.0), "reg must be a number > 0"),
        (LMNN(push=1.0), r"push must be a number in \(0, 1\)"),
        (LMNN(n_targets=0), "n_targets must be an integer"),
        (LMNN(n_steps=0), "n_steps must be an integer"),
        (NCA(n_steps=0), "n_steps must be an integer"),
        (TwoStep(reg_w=0.0), "reg_w must be 'loo' or a number > 0"),
    ],
)
def test_bad_parameters_are_named(model, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("method", [LDA, PLS, PLSProjection])
def test_directions_need_rows_that_differ(method):
    with pytest.raises(ValueError, match="needs rows that differ; all 30 labelled rows are equal"):
        method().fit(np.ones((30, 3)), np.arange(30) % 2)
