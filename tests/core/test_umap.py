"""UMAP among the baselines: the package's own result, wherever it is computed; bad parameters are named."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from supdr.baselines import BASELINES, UMAP, umap


@pytest.fixture(scope="module")
def clouds():
    X, y = make_blobs(150, 6, centers=4, cluster_std=1.0, random_state=3)
    return StandardScaler().fit_transform(X), y


def test_it_is_in_the_menu_where_it_is_installed():
    assert ("UMAP" in BASELINES) == umap.INSTALLED


def test_umap_names_a_bad_parameter(clouds):
    for changes in ({"n_graph_neighbors": 1}, {"min_dist": 2.0}, {"head": "tree"}):
        with pytest.raises(ValueError, match=next(iter(changes))):
            UMAP(**changes).fit(*clouds)


@pytest.mark.slow
def test_umap_is_the_packages_own(clouds):
    X, y = clouds
    model = UMAP(supervised=False, preprocessing="none", random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of parts that are not installed
        from umap import UMAP as Peer
    peer = Peer(random_state=0, n_jobs=1).fit_transform(X)
    np.testing.assert_allclose(model.embedding_, peer, rtol=1e-6)
    assert model.score(X, y) > 0.95


@pytest.mark.slow
def test_umap_in_a_process_of_its_own_is_the_same(clouds):
    X, y = clouds
    here = UMAP(random_state=0).fit(X[::2], y[::2])
    there = UMAP(random_state=0)
    thread = threading.Thread(target=there.fit, args=(X[::2], y[::2]))
    thread.start()
    thread.join()
    np.testing.assert_allclose(there.embedding_, here.embedding_)
    assert there.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.slow
def test_umap_of_few_rows_and_partly_labelled_ones():
    X, y = load_iris(return_X_y=True)
    rows = np.array([0, 1, 50, 51])
    assert UMAP(3, random_state=0).fit(X[rows], y[rows]).transform(X).shape == (150, 3)
    partly = np.where(np.arange(150) % 2, np.nan, y)
    assert UMAP(random_state=0).fit(X, partly).score(X, y) > 0.85
