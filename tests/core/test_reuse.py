"""Results that are kept are those of equal inputs, and what they would be anew."""

import numpy as np
import pytest
from scipy import sparse

from supdr.baselines import PFR, GraphLaplacian, HessianEnergy, LapRLS
from supdr.engine.context import run_context
from supdr.engine.reuse import MAX_BYTES_OF_FUNCTION, MAX_ROWS, ResultCache, cached, fingerprint, reused
from supdr.solvers import graphs


def test_results_are_kept_by_contents_and_let_go_of_when_memory_runs_out():
    calls, X = [], np.random.default_rng(0).normal(size=(40, 3))

    def compute(value):
        calls.append(value)
        return np.full(1000, float(value))

    with run_context(cache=ResultCache(max_bytes=20_000)):
        for value in (1, 2, 1, 3, 2):
            found = reused("f", lambda value=value: (value, X), lambda value=value: compute(value))
            assert found[0] == value
    assert calls == [1, 2, 3, 2]
    reused("f", lambda: (1, X), lambda: compute(1))
    assert calls[-1] == 1
    assert fingerprint((1, "a", X)) == fingerprint((1, "a", X.copy()))
    distinct = [(1,), (1.0,), ("1",), ((1,),), (X,), (X.T,), ({"a": 1},), ({"a": 2},), (None,), ([1, 2],), ([12],)]
    assert len({fingerprint(value) for value in distinct}) == len(distinct)


def counted():
    """Return a cached function, and the calls that were computed."""
    calls = []

    @cached
    def doubled(X, factor=2):
        calls.append(factor)
        return factor * X

    return doubled, calls


def test_equal_arguments_get_the_same_result():
    doubled, calls = counted()
    X = np.arange(12.0).reshape(6, 2)
    first = doubled(X, 3)
    assert doubled(np.asfortranarray(X), 3) is first
    assert doubled(sparse.csr_array(X), 3).nnz == 11
    assert doubled(sparse.csr_array(X), 3).nnz == 11
    np.testing.assert_array_equal(doubled(X.reshape(2, 6), 3), first.reshape(2, 6))
    np.testing.assert_array_equal(doubled(X.astype(np.float32), 3), first)
    X[0, 0] = 1.0
    assert doubled(X, 3)[0, 0] == 3.0
    assert len(calls) == 5


def test_little_is_kept_and_nothing_of_many_rows():
    doubled, calls = counted()
    X = np.ones((3, MAX_BYTES_OF_FUNCTION // (4 * 3 * 8)))  # memory for four results
    for factor in (0, 1, 2, 3, 4, 0, 4):  # the first one was dropped for the fifth
        doubled(X, factor)
    assert calls == [0, 1, 2, 3, 4, 0]
    for _ in range(2):
        doubled(np.ones((MAX_ROWS + 1, 1)))
    assert len(calls) == 8


def test_what_is_kept_cannot_be_spoilt():
    doubled, _ = counted()
    with pytest.raises(ValueError, match="read-only"):
        doubled(np.ones((3, 2)))[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        doubled(sparse.csr_array(np.eye(3))).data[0] = 5.0


@pytest.mark.parametrize(
    "model",
    [
        LapRLS(1e-2),
        GraphLaplacian(0.1, n_neighbors=8),
        HessianEnergy(0.1, dimension=2, n_neighbors=12),
        PFR(0.1, reg_parallel=1e-2, dimension=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_labels_are_predicted_from_the_same_graph_as_from_a_new_one(model, monkeypatch):
    X = np.random.default_rng(3).normal(size=(50, 4))
    known = np.where(np.arange(50) % 3 == 0, X[:, 0], np.nan)
    searched = []
    search = graphs.neighbours.__wrapped__
    monkeypatch.setattr("sklearn.neighbors.NearestNeighbors.kneighbors", _noting(searched))
    kept = [model.fit(X, each).transduction_ for each in (known, 2 * known, np.where(X[:, 1] > 0, known, np.nan))]
    assert len(searched) <= 1
    for name in ("neighbours", "tangents", "hessian_energy", "parallel_fields"):
        plain = getattr(graphs, name).__wrapped__
        for module in ("graphs", "hessian", "pfr"):
            place = f"supdr.solvers.graphs.{name}" if module == "graphs" else f"supdr.baselines.{module}.{name}"
            monkeypatch.setattr(place, plain, raising=False)
    assert search is graphs.neighbours
    np.testing.assert_array_equal(kept[0], model.fit(X, known).transduction_)
    np.testing.assert_array_equal(kept[1], model.fit(X, 2 * known).transduction_)


def _noting(searched):
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors.kneighbors
    return lambda self, *given, **options: searched.append(given) or search(self, *given, **options)
