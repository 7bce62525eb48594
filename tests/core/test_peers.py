"""Partial least squares and t-SNE: what scikit-learn computes, and what happens to rows that t-SNE has not seen."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_iris, make_blobs
from sklearn.manifold import TSNE as PEER
from sklearn.manifold import _t_sne as peer_parts
from sklearn.manifold import trustworthiness
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from supdr.baselines import PLS, TSNE, PLSProjection
from supdr.baselines.tsne import TSNEProblem, neighbour_probabilities
from supdr.solvers import pair_sums
from tests.core.conventions import check_conventions


@check_conventions(others=[PLSProjection(random_state=0), PLS(random_state=0), TSNE(random_state=0, max_iter=120)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clouds():
    X, y = make_blobs(150, 6, centers=4, cluster_std=1.0, random_state=3)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def exact(clouds):
    """A map of few rows, whose forces are summed over all pairs."""
    return TSNE(preprocessing="none", random_state=0, max_iter=500).fit(*clouds)


def test_pls_regression_is_that_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = PLS(3, preprocessing="none").fit(X, y)
    peer = PLSRegression(3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), peer.transform(X))
    np.testing.assert_allclose(model.latent_decision_function(model.transform(X)), model.predict(X))


def test_pls_of_classes_uses_their_indicators():
    X, y = load_iris(return_X_y=True)
    model = PLSProjection(2, preprocessing="none").fit(X, y)
    np.testing.assert_allclose(model.transform(X), PLSRegression(2).fit(X, np.eye(3)[y]).transform(X))
    assert model.score(X, y) > 0.9


def test_every_row_has_the_same_perplexity(clouds):
    X, _ = clouds
    P = neighbour_probabilities(X, 15.0)
    assert P.nnz <= 2 * len(X) * (3 * 15 + 1)  # memory grows with the rows, not with their pairs
    np.testing.assert_allclose(P.toarray(), P.toarray().T)
    assert P.sum() == pytest.approx(1.0)
    assert not P.diagonal().any()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_tsne_descends_what_scikit_learn_descends(clouds, d):
    X, _ = clouds
    problem = TSNEProblem(X, d, 15.0, 0)
    start = problem.start(0)
    latent = np.random.default_rng(0).standard_normal((len(X), d))
    state = problem._at(latent, start.velocity, start.gains, 0, 0)
    squared = kneighbors_graph(X, 46, mode="distance")
    squared.data **= 2
    theirs = peer_parts._joint_probabilities_nn(squared, 15.0, 0).toarray()
    np.testing.assert_allclose(problem.P.toarray(), theirs, rtol=2e-3, atol=1e-9)  # theirs are in single precision
    divergence, gradient = peer_parts._kl_divergence(latent.ravel(), squareform(problem.P.toarray()), 1, len(X), d)
    assert problem.losses(state)["objective"] == pytest.approx(divergence, rel=1e-9)
    np.testing.assert_allclose(problem.gradient(state).ravel(), gradient, rtol=1e-9, atol=1e-12)


def test_tsne_resumes_bit_for_bit(clouds):
    X, y = clouds
    settings = {"n_exaggerated": 6, "max_iter": 14, "random_state": 0}
    whole = list(TSNE(**settings).iterate(X, y))
    rest = list(TSNE(**{**settings, "max_iter": 9}).iterate(X, y, start=whole[5]))
    assert rest[-1].objective == whole[-1].objective
    np.testing.assert_array_equal(rest[-1].state.latent, whole[-1].state.latent)


@pytest.mark.parametrize(("d", "most"), [(2, 100_000), (3, 20_000)])
def test_tsne_of_too_many_rows_says_how_many_it_takes(d, most):
    X = np.zeros((most + 1, 3))
    with pytest.raises(
        ValueError, match=rf"X has {most + 1} rows; .*n_components={d} takes at most {most}.*or take UMAP"
    ):
        TSNE(d, preprocessing="none").fit(X, np.arange(most + 1) % 2)


@pytest.mark.slow
def test_tsne_of_many_rows_goes_the_way_of_all_pairs(monkeypatch, clouds, exact):
    """By the grid it ends as low, and keeps neighbours as well."""
    X, y = clouds
    monkeypatch.setattr(pair_sums, "EXACT_ROWS", 10)
    near = clone(exact).fit(X, y)
    assert near.history_["divergence"][-1] < 1.02 * exact.history_["divergence"][-1]
    ours, theirs = (trustworthiness(X, each.embedding_, n_neighbors=10) for each in (near, exact))
    assert ours > theirs - 0.01


def test_tsne_is_as_good_as_that_of_scikit_learn(clouds, exact):
    X, _ = clouds
    peer = PEER(method="exact", init="pca", random_state=0, max_iter=500).fit(X)
    assert exact.history_["divergence"][-1] < 1.05 * peer.kl_divergence_
    ours, theirs = (trustworthiness(X, each, n_neighbors=10) for each in (exact.embedding_, peer.embedding_))
    assert ours > theirs - 0.02


def test_tsne_sees_no_labels_and_repeats_itself(clouds):
    X, y = clouds
    first = TSNE(random_state=1, max_iter=40).fit(X, y)
    other = TSNE(random_state=1, max_iter=40).fit(X, y[::-1])
    np.testing.assert_array_equal(first.embedding_, other.embedding_)


def test_training_rows_keep_their_places_and_new_rows_go_between_their_neighbours(clouds):
    X, y = clouds
    model = TSNE(random_state=0, max_iter=500).fit(X[::2], y[::2])
    np.testing.assert_allclose(model.transform(X[::2]), model.embedding_)
    new = model.transform(X[1::2])
    low, high = model.embedding_.min(axis=0), model.embedding_.max(axis=0)
    assert (new >= low).all()
    assert (new <= high).all()
    assert model.score(X[1::2], y[1::2]) > 0.8


@pytest.mark.parametrize("head", ["knn", "svm", "rbf"])
def test_scores_of_latent_rows_are_those_of_the_rows(clouds, head):
    X, y = clouds
    model = TSNE(head=head, random_state=0, max_iter=30).fit(X, y)
    np.testing.assert_allclose(model.latent_decision_function(model.embedding_), model.training_decision_)
    assert hasattr(model, "support_") == (head != "knn")


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"perplexity": 0.5}, "perplexity"), ({"head": "tree"}, "head"), ({"n_components": 0}, "n_components")],
)
def test_bad_parameters_are_named(clouds, changes, said):
    with pytest.raises(ValueError, match=said):
        TSNE(**changes).fit(*clouds)
