"""Whether a map keeps clusters: steadiness (no false ones) and cohesiveness (none is torn).

A cluster is drawn at random in one space, by a walk from a row to similar ones, and split into clusters of the other
space.  Of each pair of the parts i, j, of sizes n_i and n_j, it is seen how much farther apart they are there:

    1 - sum n_i n_j m_ij / sum n_i n_j,    m_ij = gap_ij / max    over pairs with gap_ij > 0

Steadiness: drawn on the map, split in the input, gap = input distance - map distance.  Cohesiveness: the other way
around.  The distance of two parts is 1 / (s + alpha), s the mean similarity of their rows; the similarity of two rows
counts the neighbours that they share by their ranks, k + 1, k, ..., 2, and is divided by its largest; max is the
largest gap of two rows.

Source: H. Jeon, H. Ko, J. Jo, Y. Kim, J. Seo, "Measuring and Explaining the Inter-Cluster Reliability of
Multidimensional Projections", IEEE TVCG 28 (2022).  Rows are sorted by their values before anything is drawn: the order
in which they come plays no part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import HDBSCAN
from sklearn.utils import check_random_state

from supdr.engine.checks import check_integer, check_number, check_seed
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import checkpoint
from supdr.quality.checking import check_map
from supdr.quality.near import batches

# Fewest rows of which HDBSCAN makes a cluster.
SMALLEST_CLUSTER = 5

# Walks from a row that get nowhere before another row is taken.
MOST_TRIES = 1000


@dataclass(frozen=True)
class ClusterReliability:
    """Whether clusters of a map are real, and real ones are kept.

    Attributes
    ----------
    steadiness : float
        1: what stands together on the map is together in the input; in [0, 1].
    cohesiveness : float
        1: what is together in the input stands together on the map; in [0, 1].
    steadiness_error, cohesiveness_error : float
        Their standard errors over the draws; NaN after a single one.
    n_draws, n_iterations : int
        Clusters that were drawn so far in each space, and when all are done.
    """

    steadiness: float
    cohesiveness: float
    steadiness_error: float
    cohesiveness_error: float
    n_draws: int
    n_iterations: int


def iterate_cluster_reliability(
    X: Any,
    Z: Any,
    *,
    n_iterations: int = 150,
    walk: float = 0.3,
    alpha: float = 0.1,
    n_neighbors: int | None = None,
    random_state: Any = 0,
) -> Iterator[ClusterReliability]:
    """Check the arguments at once and yield steadiness and cohesiveness by the clusters drawn so far, draw by draw.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells, in the unit in which they are near or far.
    Z : array-like of shape (n, d)
        Their places on the map.
    n_iterations : int, default=150
        Clusters that are drawn in each space, >= 1.
    walk : float, default=0.3
        Steps of the walk that draws a cluster, as a share of the rows, in (0, 1].
    alpha : float, default=0.1
        What similarities get before distances are made of them, > 0.
    n_neighbors : int, optional
        k of the similarities, from 1 to n - 1.  None: the root of the number of rows.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    iterator of ClusterReliability

    Raises
    ------
    ValueError
        If X and Z are not the same rows, or an argument is out of range.
    """
    X, Z = check_map(X, Z)
    check_integer("n_iterations", n_iterations)
    check_number("walk", walk, "> 0 and <= 1", lambda value: 0.0 < value <= 1.0)
    check_number("alpha", alpha, "> 0", lambda value: value > 0.0)
    check_seed("random_state", random_state)
    k = int(np.sqrt(len(X))) if n_neighbors is None else n_neighbors
    check_integer("n_neighbors", k)
    if k >= len(X):
        raise ValueError(f"n_neighbors must be less than the {len(X)} rows; got {k}")
    order = np.lexsort(np.hstack([Z, X]).T)
    return _reliabilities(X[order], Z[order], n_iterations, float(walk), float(alpha), k, random_state)


@with_entries_of(iterate_cluster_reliability)
def cluster_reliability(
    X: Any,
    Z: Any,
    *,
    n_iterations: int = 150,
    walk: float = 0.3,
    alpha: float = 0.1,
    n_neighbors: int | None = None,
    random_state: Any = 0,
) -> ClusterReliability:
    """Return steadiness and cohesiveness: whether clusters of the map are real, and real clusters are kept.

    Parameters
    ----------
    X, Z, n_iterations, walk, alpha, n_neighbors, random_state
        As in `iterate_cluster_reliability`.

    Returns
    -------
    ClusterReliability

    Raises
    ------
    ValueError
        As `iterate_cluster_reliability`.
    """
    options: dict[str, Any] = {"n_iterations": n_iterations, "walk": walk, "alpha": alpha, "n_neighbors": n_neighbors}
    *_, last = iterate_cluster_reliability(X, Z, **options, random_state=random_state)
    return last


class Similar(NamedTuple):
    """Similarities of one space: of all pairs (n, n), nearest rows (n, k), and the similarities of these."""

    all: sparse.csr_array
    nearest: NDArray
    of_nearest: NDArray


def _reliabilities(
    X: NDArray, Z: NDArray, n_iterations: int, walk: float, alpha: float, k: int, random_state: Any
) -> Iterator[ClusterReliability]:
    there, here = _similarities(X, Z, k)
    most_apart, most_near = _largest_gaps(there.all, here.all, alpha)
    rng = check_random_state(random_state)
    draws = np.empty((2, 2, n_iterations))  # space; distortion and weight
    for done in range(n_iterations):
        for number, (drawn, split, largest) in enumerate(((here, there, most_apart), (there, here, most_near))):
            checkpoint()
            parts = _parts(_walked(drawn, max(1, int(walk * len(X))), rng), split.all, alpha)
            draws[number, :, done] = _distortion(parts, drawn.all, split.all, alpha, largest)
        (steady, error), (cohesive, other) = (_kept(each[:, : done + 1]) for each in draws)
        yield ClusterReliability(steady, cohesive, error, other, done + 1, n_iterations)


def _similarities(X: NDArray, Z: NDArray, k: int) -> tuple[Similar, Similar]:
    """Return the similarities in the input and on the map."""
    nearest = np.empty((2, len(X), k), dtype=np.int64)
    for some, *both in batches(X, Z, np.arange(len(X)), k):
        checkpoint()
        for each, space in zip(nearest, both):
            each[some] = np.argsort(space.distance, axis=1, kind="stable")[:, :k]
    return _similar(nearest[0]), _similar(nearest[1])


def _similar(nearest: NDArray) -> Similar:
    n, k = nearest.shape
    row = np.repeat(np.arange(n), k)
    ranks = sparse.csr_array((np.tile(np.arange(k + 1.0, 1.0, -1.0), n), (row, nearest.ravel())), shape=(n, n))
    shared = (ranks @ ranks.T).tocsr()
    shared.setdiag(0.0)
    shared.eliminate_zeros()
    shared = shared / max(float(shared.max()), 1.0)
    return Similar(shared, nearest, np.asarray(shared[row, nearest.ravel()]).reshape(n, k))


def _largest_gaps(there: sparse.csr_array, here: sparse.csr_array, alpha: float) -> tuple[float, float]:
    """Return by how much the distance of two rows is larger in the input than on the map at most, and smaller."""
    row, other = (there + here).nonzero()
    first, second = (np.asarray(each[row, other]).ravel() for each in (there, here))
    gaps = 1.0 / (first + alpha) - 1.0 / (second + alpha)
    return float(np.max(gaps, initial=0.0)), float(np.max(-gaps, initial=0.0))


def _walked(space: Similar, steps: int, rng: np.random.RandomState) -> NDArray:
    """Return the rows of a walk: from each, nearest rows are visited with the probability of their similarity."""
    first = np.flatnonzero(space.of_nearest.any(axis=1))
    if not len(first):
        return np.array([rng.randint(len(space.nearest))])
    while True:
        seed = int(rng.choice(first))
        for _ in range(MOST_TRIES):
            checkpoint()
            members = _walk_from(seed, space, steps, rng)
            if len(members) > 1:
                return np.array(sorted(members))


def _walk_from(seed: int, space: Similar, steps: int, rng: np.random.RandomState) -> set[int]:
    """Return the rows that a walk visits; from a row that resembles its neighbours little it may not get away."""
    members, queue, visits = {seed}, deque([seed]), 0
    while queue and visits < steps:
        row = queue.popleft()
        visited = space.nearest[row][rng.random_sample(space.nearest.shape[1]) < space.of_nearest[row]].tolist()
        members.update(visited)
        queue.extend(visited)
        visits += len(visited)
    return members


def _parts(rows: NDArray, similarity: sparse.csr_array, alpha: float) -> list[NDArray]:
    """Return the clusters that rows fall into; rows of none are parts of their own."""
    if len(rows) < SMALLEST_CLUSTER:
        return list(rows[:, None])
    distance = 1.0 / (similarity[rows][:, rows].toarray() + alpha)
    np.fill_diagonal(distance, 0.0)
    # The density of a row is that of its fifth neighbour; scikit-learn counts the row itself as the first.
    near = min(SMALLEST_CLUSTER + 1, len(rows))
    clustering = HDBSCAN(SMALLEST_CLUSTER, min_samples=near, metric="precomputed", allow_single_cluster=True, copy=True)
    labels = clustering.fit(distance).labels_
    return [rows[labels == k] for k in range(labels.max() + 1)] + list(rows[labels < 0][:, None])


def _distortion(
    parts: list[NDArray], drawn: sparse.csr_array, split: sparse.csr_array, alpha: float, largest: float
) -> tuple[float, float]:
    """Return sum n_i n_j m_ij and sum n_i n_j over the pairs of parts that are farther apart where they were split."""
    if largest <= 0.0 or len(parts) < 2:
        return 0.0, 0.0
    sizes = np.array([len(part) for part in parts])
    rows = np.concatenate(parts)
    members = sparse.csr_array(
        (np.ones(len(rows)), (np.repeat(np.arange(len(parts)), sizes), rows)), shape=(len(parts), drawn.shape[0])
    )
    weight = np.outer(sizes, sizes).astype(float)
    near, far = (1.0 / ((members @ each @ members.T).toarray() / weight + alpha) for each in (drawn, split))
    gap = (far - near)[np.tril_indices(len(parts), -1)]
    weight = weight[np.tril_indices(len(parts), -1)]
    apart = gap > 0.0
    return float(weight[apart] @ gap[apart]) / largest, float(weight[apart].sum())


def _kept(draws: NDArray) -> tuple[float, float]:
    """Return 1 - the ratio of two sums over draws (2, m), and its standard error by the ratio's linearisation."""
    (distortion, weight), m = draws, draws.shape[1]
    if not weight.any():
        return 1.0, 0.0 if m > 1 else float("nan")
    ratio = distortion.sum() / weight.sum()
    error = float((distortion - ratio * weight).std(ddof=1) / (weight.mean() * np.sqrt(m))) if m > 1 else float("nan")
    return float(1.0 - ratio), error
