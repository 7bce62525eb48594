"""PaCMAP among the baselines: the package's own result, wherever it is computed; bad parameters are named."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from supdr.baselines import BASELINES, PaCMAP, pacmap


@pytest.fixture(scope="module")
def clouds():
    X, y = make_blobs(150, 6, centers=4, cluster_std=1.0, random_state=3)
    return StandardScaler().fit_transform(X), y


def test_it_is_in_the_menu_where_it_is_installed():
    assert ("PaCMAP" in BASELINES) == pacmap.INSTALLED


def test_pacmap_names_a_bad_parameter_and_too_few_rows(clouds):
    for changes in ({"n_graph_neighbors": 0}, {"mid_near": 0.0}, {"further": -1.0}, {"head": "tree"}):
        with pytest.raises(ValueError, match=next(iter(changes))):
            PaCMAP(**changes).fit(*clouds)
    with pytest.raises(ValueError, match="PaCMAP needs at least 4 labelled rows; got 3"):
        PaCMAP().fit(clouds[0][:3], [0, 1, 1])


@pytest.mark.slow
def test_pacmap_is_the_packages_own(clouds):
    X, y = clouds
    model = PaCMAP(preprocessing="none", random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pacmap import PaCMAP as Peer
    peer = Peer(random_state=0).fit_transform(X, init="pca")
    np.testing.assert_allclose(model.embedding_, peer, rtol=1e-5)
    assert model.score(X, y) > 0.95


@pytest.mark.slow
def test_pacmap_in_a_process_of_its_own_is_the_same(clouds):
    X, y = clouds
    here = PaCMAP(random_state=0).fit(X[::2], y[::2])
    there = PaCMAP(random_state=0)
    thread = threading.Thread(target=there.fit, args=(X[::2], y[::2]))
    thread.start()
    thread.join()
    np.testing.assert_allclose(there.embedding_, here.embedding_, rtol=1e-5)
    assert there.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.slow
def test_pacmap_of_few_rows_one_column_and_partly_labelled_ones():
    X, y = load_iris(return_X_y=True)
    rows = np.array([0, 1, 50, 51])
    assert PaCMAP(3, random_state=0).fit(X[rows], y[rows]).transform(X).shape == (150, 3)
    assert np.isfinite(PaCMAP(random_state=0).fit(X[:, 2:3], y).transform(X[:, 2:3])).all()
    assert np.isfinite(PaCMAP(further=0.01, random_state=0).fit(X, y).embedding_).all()  # still one pair a row
    partly = np.where(np.arange(150) % 2, np.nan, y)
    assert PaCMAP(random_state=0).fit(X, partly).score(X, y) > 0.85
