"""What MAC sends and receives on a hundred workers: what the cost model says, however many rows there are."""

import dask.array as da
import numpy as np
import pytest

from supdr import MAC
from supdr.methods.mac import distributed
from supdr.rows import partitions
from supdr.rows.partitioned import PartitionedRows
from supdr.rows.partitions import PIECES, at_home, from_list, gather, persist, persist_in_background
from supdr.solvers.gaussians import Mapping
from tests.core.simulated_cluster import SimulatedCluster, numbers_in

WORKERS, CENTRES, CLASSIFIERS, LATENT = 100, 30, 3, 2
CELLS, NEAR = 1_024, -(-4_096 // WORKERS)


def bounds(visits):
    """Return the numbers of docs/howto_dask.md that a partition sends and receives in a pass."""
    L, P = LATENT, CLASSIFIERS
    sent = CENTRES * L + 2 * L + 1 + visits * P * (CELLS * (L + 1) + NEAR * (L + 2.5))
    return sent, CENTRES * L + visits * P * (L + 1) + P * (1.5 * NEAR + CELLS)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [4_000, 8_000])
def test_a_pass_of_mac_on_a_hundred_workers_moves_what_the_cost_model_says(n_rows, monkeypatch):
    cluster = SimulatedCluster(WORKERS).install(monkeypatch)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, n_rows)
    rows = 1.5 * np.random.default_rng(5).normal(size=(3, 4))[label] + rng.normal(size=(n_rows, 4))
    size = n_rows // WORKERS
    model = MAC(n_centers=CENTRES, max_iter=3, random_state=0, early_stopping=False, calibrate=False, tol=-1.0)
    stream = model.iterate(da.from_array(rows, (size, 4)), da.from_array(label.astype(float), size))
    next(stream)
    for _ in range(3):
        cluster.forget()
        next(stream)
        sent, received = bounds(cluster.rounds["query_results"])
        # The estimator takes over the rows of its sample, here all: images, targets, two multipliers of half a number.
        sent, received = sent + size * (2 * LATENT + CLASSIFIERS), received + size
        # Some workers add up what others send: half of them do no more than their own share.
        assert 0.5 * sent < np.median(list(cluster.sent.values())) <= sent + 50
        assert 0.9 * received < np.median(list(cluster.received.values())) <= received + 50


SIZES = []
"""Rows of the pieces of `shifted`."""


def shifted(rows, shift):
    SIZES.append(len(rows))
    return rows + shift


def test_what_is_done_between_rounds_comes_in_pieces_after_all_else_and_is_the_same(monkeypatch):
    cluster = SimulatedCluster(2).install(monkeypatch)
    blocks = [np.arange(2.0 * size).reshape(size, 2) for size in (100, 37, 5)]  # the last has fewer rows than pieces
    rows = persist(np.asarray, from_list(blocks))
    SIZES.clear()
    cluster.forget()
    found = persist_in_background(shifted, rows, 0.5, n_rows=PIECES * partitions.LEAST_ROWS)
    assert set(cluster.priorities) == {-1}
    assert cluster.rounds["shifted"] == 1  # the dashboard names them after what they do
    for values, block in zip(gather(np.asarray, found), blocks, strict=True):
        np.testing.assert_array_equal(values, block + 0.5)
    assert len(SIZES) == PIECES // 3 * 3
    assert max(SIZES) == -(-100 // (PIECES // 3))
    assert cluster.priorities[-1] is None


def test_where_features_do_not_fit_in_memory_a_worker_is_sent_the_centres_once_an_image(monkeypatch):
    cluster = SimulatedCluster(2).install(monkeypatch)
    monkeypatch.setattr(partitions, "LEAST_ROWS", 1)
    monkeypatch.setattr(distributed, "fits_in_memory", lambda n_rows, n_numbers: False)
    rng = np.random.default_rng(0)
    X, weights, mapping = (
        rng.normal(size=(400, 6)),
        rng.normal(size=(50, 2)),
        Mapping("rbf", rng.normal(size=(50, 6)), 0.1),
    )
    blocks = at_home(list(da.from_array(X, (200, 6)).to_delayed().ravel()))
    rows = PartitionedRows(persist(np.asarray, blocks), (200, 200), np.arange(0), ())
    labelled = distributed.LabelledRows(
        **vars(rows), codes=None, judged=None, judged_X=X[:5], all_sizes=(), places=None
    )
    features = distributed.DistributedFeatures(labelled, mapping)
    images = features.image(weights)
    assert max(cluster.received.values()) <= 1.01 * numbers_in((mapping, weights))
    np.testing.assert_allclose(np.concatenate(gather(np.asarray, images)), mapping.apply(X, weights))
