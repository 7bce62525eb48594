"""Partial least squares and t-SNE: what scikit-learn computes, and what happens to rows that t-SNE has not seen."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_iris, make_blobs
from sklearn.manifold import TSNE as PEER
from sklearn.manifold import trustworthiness
from sklearn.preprocessing import StandardScaler

from supdr.baselines import PLS, TSNE, PLSProjection
from supdr.baselines.tsne import neighbour_probabilities
from tests.core.conventions import check_conventions


@check_conventions(others=[PLSProjection(random_state=0), PLS(random_state=0), TSNE(random_state=0, max_iter=400)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clouds():
    X, y = make_blobs(150, 6, centers=4, cluster_std=1.0, random_state=3)
    return StandardScaler().fit_transform(X), y


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
    np.testing.assert_allclose(P, P.T)
    assert P.sum() == pytest.approx(1.0)
    assert not P.diagonal().any()


def test_tsne_is_as_good_as_that_of_scikit_learn(clouds):
    X, y = clouds
    model = TSNE(preprocessing="none", random_state=0).fit(X, y)
    peer = PEER(method="exact", init="pca", random_state=0, max_iter=1000).fit(X)
    assert model.history_["divergence"][-1] < 1.05 * peer.kl_divergence_
    ours, theirs = (trustworthiness(X, each, n_neighbors=10) for each in (model.embedding_, peer.embedding_))
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


@pytest.mark.parametrize("head", ["knn", "svm"])
def test_scores_of_latent_rows_are_those_of_the_rows(clouds, head):
    X, y = clouds
    model = TSNE(head=head, random_state=0, max_iter=30).fit(X, y)
    np.testing.assert_allclose(model.latent_decision_function(model.embedding_), model.training_decision_)
    assert hasattr(model, "support_") == (head == "svm")


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"perplexity": 0.5}, "perplexity"), ({"head": "tree"}, "head"), ({"n_components": 0}, "n_components")],
)
def test_bad_parameters_are_named(clouds, changes, said):
    with pytest.raises(ValueError, match=said):
        TSNE(**changes).fit(*clouds)
