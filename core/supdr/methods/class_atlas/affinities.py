"""Neighbour affinities of rows: P is symmetric and sums to 1.

    P_ij = (p_{j|i} + p_{i|j}) / 2 n,   p_{j|i} proportional to s_ij exp(-beta_i |x_i - x_j|^2)

where s_ij says how probable it is that two rows share a class, and beta_i gives every row the same entropy, that of
`perplexity` neighbours.  Up to `EXACT_ROWS` rows all pairs are looked at; beyond, of every row the nearest ones of its
own class and the nearest ones of the others.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from supdr.engine.interruption import abandonable, checkpoint
from supdr.solvers.distances import SMALLEST
from supdr.solvers.gaussians import LARGEST_EXPONENT, Mapping
from supdr.solvers.pair_sums import CHUNK, EXACT_ROWS

Array = NDArray[np.float64]

# Least epsilon.  epsilon is s of two rows that certainly differ in class; 1 makes P blind to classes.
OTHER_CLASS = 1e-3

# beta times the mean distance at which distances make no difference: where a class has fewer rows than a row should
# have neighbours no beta gives the entropy.
FLAT = 1e-9

# Entries of P below this share of the mean entry are dropped.
NEGLIGIBLE = 1e-3

# Rows of its class, and of others, that a row looks at beyond `EXACT_ROWS`: this many times the perplexity.
CANDIDATES = 3.0

# log s of a place in a list of candidates that no row fills.
NEVER = -1e4


class Affinities(NamedTuple):
    """P, its upper triangle by rows.

    starts (n + 1,): where each row begins among `partners` and `values`.
    partners (m,): j > i.
    values (m,): 2 P_ij; they sum to 1.
    constant: sum_ij P_ij log P_ij.
    """

    starts: NDArray
    partners: NDArray
    values: Array
    constant: float


def squared_distances(X: Array, centers: Array) -> Array:
    """Return |x - c|^2, (n, M); of many centres with many columns in single precision."""
    reach = float(((centers - centers.mean(axis=0)) ** 2).sum(axis=1).max())
    gamma = LARGEST_EXPONENT / reach if reach > SMALLEST**2 else 1.0
    squares = Mapping("rbf", centers, gamma).exponents(X)
    squares /= -gamma
    return squares


def affinities(X: Array, proba: Array | None, perplexity: float, other_class: float = OTHER_CLASS) -> Affinities:
    """Return P of rows X (n, D), whose s follow from class probabilities (n, K).  O(n^2) a step of Newton's method."""
    n = len(X)
    perplexity = max(1.0, min(perplexity, (n - 1) / 3.0))
    if n <= EXACT_ROWS:
        dense = _among_all(squared_distances(X, X), proba, math.log(perplexity), other_class)
        dense = np.triu(dense + dense.T, 1)
        dense[dense < 2.0 * NEGLIGIBLE / n] = 0.0
        upper = sparse.csr_array(dense)
    else:
        conditional = _among_candidates(X, proba, perplexity, other_class)
        upper = sparse.triu(conditional + conditional.T, 1, format="csr")
        upper.data[upper.data < 2.0 * NEGLIGIBLE / n] = 0.0
        upper.eliminate_zeros()
    values = upper.data / upper.data.sum()
    constant = float((values * np.log(values / 2.0)).sum())
    return Affinities(upper.indptr.astype(np.int64), upper.indices.astype(np.int64), values, constant)


def _among_all(squares: Array, proba: Array | None, entropy: float, other_class: float) -> Array:
    """Return p_{j|i} (n, n) from all squared distances (n, n)."""
    n = len(squares)
    conditional = np.empty((n, n))
    for start in range(0, n, CHUNK):
        checkpoint()
        rows = slice(start, start + CHUNK)
        share = np.zeros(squares[rows].shape) if proba is None else _log_share(proba[rows] @ proba.T, other_class)
        _conditional(squares[rows], share, entropy, start, conditional[rows])
    return conditional


def _among_candidates(X: Array, proba: Array | None, perplexity: float, other_class: float) -> sparse.csr_array:
    """Return p_{j|i} (n, n), 0 but for the candidates of each row."""
    n = len(X)
    members = np.zeros(n, dtype=int) if proba is None else proba.argmax(axis=1)
    index, squares = candidates(X, members, int(CANDIDATES * perplexity))
    conditional = np.empty(index.shape)
    for start in range(0, n, CHUNK):
        checkpoint()
        rows = slice(start, start + CHUNK)
        shared = 1.0 if proba is None else np.einsum("ik,ijk->ij", proba[rows], proba[index[rows]])
        empty = index[rows] == np.arange(n)[rows, None]
        share = np.where(empty, NEVER, _log_share(shared, other_class))
        _conditional(squares[rows], share, math.log(perplexity), -n, conditional[rows])
    owners = np.repeat(np.arange(n), index.shape[1])
    return sparse.csr_array((conditional.ravel(), (owners, index.ravel())), shape=(n, n))


def _log_share(shared: Array | float, other_class: float) -> Array:
    """Return log s from sum_k p_ik p_jk."""
    return np.log(other_class + (1.0 - other_class) * np.minimum(shared, 1.0))


def candidates(X: Array, members: NDArray, count: int) -> tuple[NDArray, Array]:
    """Return numbers (n, m) of the rows nearest to each row, and squared distances: half of its class, half of others.

    Where there are fewer, the row's own number fills the place, and NaN the distance.
    """
    n, classes = len(X), np.unique(members)
    index, squares = np.repeat(np.arange(n)[:, None], 2 * count, axis=1), np.full((n, 2 * count), np.nan)
    for each in classes:
        own, others = np.flatnonzero(members == each), np.flatnonzero(members != each)
        for first, pool, among_itself in ((0, own, True), (count, others, False)):
            most = min(count, len(pool) - among_itself)
            if most > 0:
                distance, nearest = abandonable(partial(_nearest, X, own, pool, most))
                index[own, first : first + most] = pool[nearest]
                squares[own, first : first + most] = distance**2
    if len(classes) == 1:
        index, squares = index[:, :count], squares[:, :count]
    return index, np.where(np.isnan(squares), np.nanmin(squares, axis=1, keepdims=True), squares)


def _nearest(X: Array, rows: NDArray, pool: NDArray, count: int) -> tuple[Array, NDArray]:
    """Return distances and numbers in `pool`, (p, count), of the nearest; `rows` (p,) are the pool itself or apart."""
    from sklearn.neighbors import NearestNeighbors  # not when the package is imported: 0.2 s

    search = NearestNeighbors(n_neighbors=count).fit(X[pool])
    return search.kneighbors(None if rows is pool else X[rows])


@njit(cache=True, nogil=True, error_model="numpy")
def _conditional(squares: Array, share: Array, entropy: float, first: int, out: Array) -> None:
    """Write p_{j|i} of the rows first, first + 1, ... into out (c, n).  squares and share = log s, both (c, n)."""
    count, n = squares.shape
    for r in range(count):
        own = first + r
        least, mean = np.inf, 0.0
        for j in range(n):
            if j != own:
                least = min(least, squares[r, j])
                mean += squares[r, j] / (n - 1)
        low, high = 0.0, np.inf
        spread = max(mean - least, 1e-300)
        beta = 1.0 / spread
        for _ in range(100):
            total, distance, logs, square, product = 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(n):
                if j == own:
                    out[r, j] = 0.0
                    continue
                d = squares[r, j] - least
                weight = math.exp(share[r, j] - beta * d)
                out[r, j] = weight
                total += weight
                distance += weight * d
                logs += weight * share[r, j]
                square += weight * d * d
                product += weight * d * share[r, j]
            distance, logs, square, product = distance / total, logs / total, square / total, product / total
            excess = math.log(total) + beta * distance - logs - entropy
            for j in range(n):
                out[r, j] /= total
            if abs(excess) < 1e-7 or (excess < 0.0 and beta * spread < FLAT):
                break
            if excess > 0.0:
                low = beta
            else:
                high = beta
            # of the entropy by log beta
            slope = -beta * beta * (square - distance * distance) + beta * (product - distance * logs)
            following = beta * math.exp(min(max(-excess / slope, -2.0), 2.0)) if slope < 0.0 else np.nan
            if not low < following < high:
                following = 2.0 * beta if high == np.inf else 0.5 * (low + high)
            if not following < 1e300 or following == beta:
                break
            beta = following
