"""MAC's mapping F(x) = W phi(x): features, ridge regression on them, and centres.

Features are Gaussians exp(-gamma |x - c_m|^2) around M centres, or, for the linear mapping, the centred columns.  The
training features (n, M) are kept if they fit into half of scikit-learn's ``working_memory``; else they are computed
again, block by block, whenever they are needed: memory stays bounded, time grows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from supdr.engine.interruption import abandonable, checkpoint
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.gaussians import BLOCK_FLOPS, Mapping, rows_in_memory
from supdr.solvers.leave_one_out import feature_blocks

Array = NDArray[np.float64]

# Up to this many features an eigendecomposition serves every ridge; beyond, a Cholesky factor per ridge is cheaper.
EIGEN_SIZE = 1000

# Ridges below this share of the trace of Phi'Phi are lost in rounding.
SMALLEST_RIDGE = 1e-13

KMEANS_ROWS = 20_000
KMEANS_PASSES = 10

# Multiply-adds after which k-means makes no further pass. Where that is after the first, each centre has few rows, and
# further passes do not change errors.
KMEANS_FLOPS = 2e10


class FeatureRows(NamedTuple):
    """Features of rows in memory or of a partition: a matrix (n, M), or formed of rows X (n, D) block by block."""

    matrix: Array | None
    X: Any = None
    mapping: Any = None

    @property
    def n_features(self) -> int:
        """M."""
        return self.mapping.n_features if self.matrix is None else self.matrix.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows with their features."""
        if self.matrix is not None:
            return iter([(slice(None), self.matrix)])
        return feature_blocks(self.X, self.mapping, brief=False)

    def image(self, weights: Array) -> Array:
        """Return F = Phi W' (n, L) for W' (M, L)."""
        return self.mapping.apply(self.X, weights) if self.matrix is None else self.matrix @ weights

    def pull_back(self, values: Array) -> Array:
        """Return Phi' values (M, q) for values (n, q)."""
        pulled = np.zeros((self.n_features, values.shape[1]))
        return sum((block.T @ values[part] for part, block in self.blocks()), pulled)

    def gram(self) -> Array:
        """Return Phi'Phi (M, M)."""
        gram = np.zeros((self.n_features,) * 2)
        for _, block in self.blocks():
            gram += abandonable(partial(_square, block))
        return gram


def _square(block: Array) -> Array:
    return block.T @ block


class Features:
    """Features of labelled rows, their products, and ridge regression on them.

    `rows`: in memory or in partitions, see `supdr.rows.in_memory`; `mapping`: of the rows to their features. A subclass
    defines `part`, the `FeatureRows` or their partitions.
    """

    part: Any
    symmetric = False  # whether all rows are centres: Phi is symmetric, and its eigenvalues are not squared

    def __init__(self, rows: Any, mapping: Mapping) -> None:
        self.rows, self.mapping = rows, mapping
        self._gram: Array | None = None
        self._eigen: tuple[Array, Array] | None = None
        self._factor: tuple[float, Array] | None = None
        self._squares: Array | None = None
        self._leverages: dict[float, Array] = {}

    @property
    def n_features(self) -> int:
        """Return their number."""
        return self.mapping.n_features

    @property
    def matrix(self) -> Array | None:
        """Phi (n, M) where it is in this process."""
        return None

    def image(self, weights: Array) -> Any:
        """Return F = Phi W' (n, L) for W' (M, L)."""
        return self.rows.each(FeatureRows.image, self.part, weights)

    def pull_back(self, values: Any) -> Array:
        """Return Phi' values (M, q) for values (n, q)."""
        return self.rows.total(FeatureRows.pull_back, self.part, values)

    def gram(self) -> Array:
        """Return Phi'Phi (M, M)."""
        if self._gram is None:
            self._gram = self.rows.total(FeatureRows.gram, self.part)
        return self._gram

    def use_gram(self, gram: Array | None) -> None:
        """Take Phi'Phi (M, M) instead of computing it, unless it is None."""
        if self._gram is None:
            self._gram = gram

    def gram_to_keep(self) -> Array | None:
        """Return Phi'Phi where a state keeps it: rows in memory compute it again."""
        return None

    def smallest_ridge(self) -> float:
        """Return the ridge below which `solve` is not accurate."""
        if self.symmetric:
            return SMALLEST_RIDGE * self.rows.n_rows
        return SMALLEST_RIDGE * float(np.trace(self.gram()))

    def solve(self, values: Array, pulled: Array, ridge: float) -> Array:
        """Return W' (M, L), the minimiser of |values - Phi W'|^2 + ridge |W|^2; `pulled` (M, L) is Phi' values."""
        if self.symmetric:
            s, Q = self._eigenvectors()
            return Q @ ((s / (s**2 + ridge))[:, None] * (Q.T @ values))
        if self.mapping.n_features <= EIGEN_SIZE:
            s, Q = self._eigenvectors()
            return Q @ ((Q.T @ pulled) / (np.maximum(s, 0.0) + ridge)[:, None])
        return cho_solve((self._shifted(ridge), True), pulled, check_finite=False)

    def leverages(self, rows: NDArray[np.intp], ridge: float) -> Array:
        """Return entries (p,) of the diagonal of Phi (Phi'Phi + ridge)^-1 Phi', of the same rows in every call.

        O(p M) after the first call, which takes O(p M^2); with a factor per ridge O(p M^2) each.
        """
        by_eigenvectors = self.symmetric or self.mapping.n_features <= EIGEN_SIZE
        if not by_eigenvectors:
            if ridge not in self._leverages:
                Phi = self.of_rows(rows)
                half = solve_triangular(self._shifted(ridge), Phi.T, lower=True, check_finite=False)
                self._leverages[ridge] = np.einsum("ij,ij->j", half, half)
            return self._leverages[ridge]
        s, Q = self._eigenvectors()
        if self._squares is None:
            self._squares = (Q[rows] if self.symmetric else self.of_rows(rows) @ Q) ** 2
        e = np.maximum(s, 0.0)
        return self._squares @ (s**2 / (s**2 + ridge) if self.symmetric else 1.0 / (e + ridge))

    def left_out(self, rows: NDArray[np.intp], ridge: float, images: Array, targets: Array) -> Array:
        """Return the images (p, L) of some rows by the mapping without each of them, from those with them."""
        q = np.minimum(self.leverages(rows, ridge), 1.0 - 1e-10)[:, None]
        return (images - q * targets) / (1.0 - q)

    def of_rows(self, rows: NDArray[np.intp]) -> Array:
        """Return the features (p, M) of the rows that are left out in turn."""
        raise NotImplementedError

    def _shifted(self, ridge: float) -> Array:
        """Return the lower Cholesky factor of Phi'Phi + ridge I, the last one if it is asked for again."""
        if self._factor is None or self._factor[0] != ridge:
            self._factor = (ridge, abandonable(lambda: _shifted_factor(self.gram(), ridge)))
        return self._factor[1]

    def _eigenvectors(self) -> tuple[Array, Array]:
        if self._eigen is None:
            matrix = self.matrix if self.symmetric and self.matrix is not None else self.gram()
            s, Q = abandonable(lambda: np.linalg.eigh(matrix))
            self._eigen = s, Q
        return self._eigen


class InMemoryFeatures(Features):
    """Features of training rows X (n, D) in memory."""

    def __init__(self, X: Array, mapping: Mapping) -> None:
        matrix = mapping.features(X) if len(X) <= rows_in_memory(mapping.n_features) else None
        super().__init__(InMemoryRows(len(X)), mapping)
        self.part = FeatureRows(matrix, X, mapping)
        everywhere = mapping.kind == "rbf" and mapping.centers.shape == X.shape
        self.symmetric = everywhere and matrix is not None and np.array_equal(mapping.centers, X)

    @property
    def n_features(self) -> int:
        """Return their number."""
        return self.part.n_features

    @property
    def matrix(self) -> Array | None:
        """Phi (n, M) where it fits into memory."""
        return self.part.matrix

    def compressed(self, size: int) -> InMemoryFeatures:
        """Return features along the `size` main directions of these only, or these where no directions are at hand."""
        has_directions = self.symmetric or self.mapping.n_features <= EIGEN_SIZE
        if self.matrix is None or not has_directions or self.mapping.n_features <= size:
            return self
        small = copy.copy(self)
        small.part = FeatureRows(self.matrix @ self._eigenvectors()[1][:, -size:])
        small.symmetric, small._gram, small._eigen, small._factor, small._squares = False, None, None, None, None
        small._leverages = {}
        return small

    def of_rows(self, rows: NDArray[np.intp]) -> Array:
        """Return the features (p, M) of some rows."""
        return self.mapping.features(self.part.X[rows]) if self.matrix is None else self.matrix[rows]


def _shifted_factor(gram: Array, ridge: float) -> NDArray:
    """Return the lower Cholesky factor of gram + ridge I."""
    shifted = gram.copy()
    shifted.ravel()[:: len(gram) + 1] += ridge
    return np.linalg.cholesky(shifted)


def choose_centers(X: Array, count: int, how: str, rng: np.random.Generator) -> Array:
    """Return `count` centres (M, D) by k-means or as random rows; `X` itself if it has no more rows.

    k-means runs a few passes on at most `KMEANS_ROWS` rows, in single precision where `KMEANS_FLOPS` allows no more.
    """
    if count >= len(X):
        return X
    if how == "random":
        return X[np.sort(rng.choice(len(X), count, replace=False))]
    most = max(KMEANS_ROWS, 2 * count)
    rows = X if len(X) <= most else X[rng.choice(len(X), most, replace=False)]
    shift = np.zeros(X.shape[1])
    passes = int(np.clip(KMEANS_FLOPS // (rows.size * count), 1, KMEANS_PASSES))
    if passes < KMEANS_PASSES:  # centres need not be exact: half the time
        shift = rows.mean(axis=0)
        rows = (rows - shift).astype(np.float32)
    centers = rows[rng.choice(len(rows), count, replace=False)]
    for _ in range(passes):
        moved = _moved_centers(rows, centers)
        if np.array_equal(moved, centers):
            break
        centers = moved
    return np.ascontiguousarray(centers + shift)


def _moved_centers(rows: NDArray, centers: NDArray) -> NDArray:
    """Return the means (M, D) of the rows nearest to each centre; a centre without rows stays."""
    nearest = _nearest(rows, centers)
    sizes = np.bincount(nearest, minlength=len(centers))
    with_rows = sizes > 0
    first = np.concatenate([[0], np.cumsum(sizes[with_rows])[:-1]])
    sums = np.add.reduceat(rows[np.argsort(nearest, kind="stable")], first, axis=0)
    moved = centers.copy()
    moved[with_rows] = sums / sizes[with_rows, None].astype(rows.dtype)
    return moved


def _nearest(rows: NDArray, centers: NDArray) -> NDArray[np.intp]:
    """Return the index of the nearest centre of every row (n,)."""
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    nearest = np.empty(len(rows), dtype=np.intp)
    step = max(16, BLOCK_FLOPS // max(centers.size, 1))
    for start in range(0, len(rows), step):
        checkpoint()
        nearest[start : start + step] = np.argmax(rows[start : start + step] @ centers.T - half, axis=1)
    return nearest
