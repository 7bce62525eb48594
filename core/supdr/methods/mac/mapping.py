"""MAC's mapping F(x) = W phi(x): features, ridge regression on them, and centres.

Features are Gaussians exp(-gamma |x - c_m|^2) around M centres, or, for the linear mapping, the centred columns.  The
training features (n, M) are kept if they fit into half of scikit-learn's ``working_memory``; else they are computed
again, block by block, whenever they are needed: memory stays bounded, time grows.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular

from supdr.engine.interruption import abandonable, checkpoint
from supdr.solvers.gaussians import BLOCK_FLOPS, Mapping, rows_in_memory

Array = NDArray[np.float64]

# Up to this many features an eigendecomposition serves every ridge; beyond, a Cholesky factor per ridge is cheaper.
EIGEN_SIZE = 1000

# Ridges below this share of the trace of Phi'Phi are lost in rounding.
SMALLEST_RIDGE = 1e-13

KMEANS_ROWS = 20_000
KMEANS_PASSES = 10


class Features:
    """Features of the training rows, their products, and ridge regression on them.

    `X` (n, D): training rows.
    """

    def __init__(self, X: Array, mapping: Mapping) -> None:
        self.X, self.mapping = X, mapping
        self.matrix = mapping.features(X) if len(X) <= rows_in_memory(mapping.n_features) else None
        # All points as centres: Phi itself is symmetric, and its eigenvalues are not squared.
        everywhere = mapping.kind == "rbf" and mapping.centers.shape == X.shape
        self.symmetric = everywhere and self.matrix is not None and np.array_equal(mapping.centers, X)
        self._gram: Array | None = None
        self._eigen: tuple[Array, Array] | None = None
        self._factor: tuple[float, Array] | None = None
        self._squares: Array | None = None

    @property
    def n_features(self) -> int:
        """Return their number."""
        return self.mapping.n_features if self.matrix is None else self.matrix.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows with their features."""
        n, M = len(self.X), self.mapping.n_features
        step = max(64, min(BLOCK_FLOPS // max(M * M, 1), 1 << 14, rows_in_memory(M)))
        for start in range(0, n, step):
            checkpoint()
            rows = slice(start, min(start + step, n))
            yield rows, self.mapping.features(self.X[rows]) if self.matrix is None else self.matrix[rows]

    def image(self, weights: Array) -> Array:
        """Return F = Phi W' (n, L) for W' (M, L)."""
        return self.mapping.apply(self.X, weights) if self.matrix is None else self.matrix @ weights

    def pull_back(self, values: Array) -> Array:
        """Return Phi' values (M, q) for values (n, q)."""
        if self.matrix is not None:
            return self.matrix.T @ values
        total = np.zeros((self.mapping.n_features, values.shape[1]))
        for rows, block in self.blocks():
            total += block.T @ values[rows]
        return total

    def gram(self) -> Array:
        """Return Phi'Phi (M, M)."""
        if self._gram is None:
            self._gram = abandonable(self._summed_gram)
        return self._gram

    def _summed_gram(self) -> Array:
        if self.matrix is not None:
            return self.matrix.T @ self.matrix
        gram = np.zeros((self.mapping.n_features,) * 2)
        step = rows_in_memory(self.mapping.n_features)
        for start in range(0, len(self.X), step):
            block = self.mapping.features(self.X[start : start + step])
            gram += block.T @ block
        return gram

    def use_gram(self, gram: Array | None) -> None:
        """Take Phi'Phi (M, M) instead of computing it, unless it is None."""
        if self._gram is None:
            self._gram = gram

    def gram_to_keep(self) -> Array | None:
        """Return Phi'Phi where a state keeps it: rows in memory compute it again."""
        return None

    @property
    def part(self) -> Any:
        """Features of a part of the rows: in memory there is one."""
        return self

    def smallest_ridge(self) -> float:
        """Return the ridge below which `solve` is not accurate."""
        if self.symmetric:
            return SMALLEST_RIDGE * len(self.X)
        return SMALLEST_RIDGE * float(np.trace(self.gram()))

    def solve(self, values: Array, pulled: Array, ridge: float) -> Array:
        """Return W' (M, L), the minimiser of |values - Phi W'|^2 + ridge |W|^2.

        `values` (n, L): targets; `pulled` (M, L): phi' values; `ridge`: > 0.
        """
        if self.symmetric:
            s, Q = self._eigenvectors()
            return Q @ ((s / (s**2 + ridge))[:, None] * (Q.T @ values))
        if self.mapping.n_features <= EIGEN_SIZE:
            s, Q = self._eigenvectors()
            return Q @ ((Q.T @ pulled) / (np.maximum(s, 0.0) + ridge)[:, None])
        return cho_solve((self._shifted(ridge), True), pulled, check_finite=False)

    def compressed(self, size: int) -> Features:
        """Return features along the `size` main directions of these only, or these where no directions are at hand."""
        known = self.symmetric or self.mapping.n_features <= EIGEN_SIZE
        if self.matrix is None or not known or self.mapping.n_features <= size:
            return self
        small = copy.copy(self)
        small.matrix = self.matrix @ self._eigenvectors()[1][:, -size:]
        small.symmetric, small._gram, small._eigen, small._factor, small._squares = False, None, None, None, None
        return small

    def leverages(self, rows: NDArray[np.intp], ridge: float) -> Array:
        """Return entries of the diagonal of Phi (Phi'Phi + ridge)^-1 Phi'.

        O(p M) for p rows after the first call, which takes O(p M^2); with a factor per ridge O(p M^2) each.

        `rows` (p,): the same in every call; `ridge`: > 0.
        """
        by_eigenvectors = self.symmetric or self.mapping.n_features <= EIGEN_SIZE
        if not by_eigenvectors:
            Phi = self._rows(rows)
            half = solve_triangular(self._shifted(ridge), Phi.T, lower=True, check_finite=False)
            return np.einsum("ij,ij->j", half, half)
        s, Q = self._eigenvectors()
        if self._squares is None:
            self._squares = (Q[rows] if self.symmetric else self._rows(rows) @ Q) ** 2
        e = np.maximum(s, 0.0)
        return self._squares @ (s**2 / (s**2 + ridge) if self.symmetric else 1.0 / (e + ridge))

    def _rows(self, rows: NDArray[np.intp]) -> Array:
        return self.mapping.features(self.X[rows]) if self.matrix is None else self.matrix[rows]

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


def _shifted_factor(gram: Array, ridge: float) -> NDArray:
    """Return the lower Cholesky factor of gram + ridge I."""
    shifted = gram.copy()
    shifted.ravel()[:: len(gram) + 1] += ridge
    return np.linalg.cholesky(shifted)


def choose_centers(X: Array, count: int, how: str, rng: np.random.Generator) -> Array:
    """Return `count` centres (M, D) by k-means or as random rows; `X` itself if it has no more rows.

    `X` (n, D): rows; `count`: M, 1 to n; `how` (one of "kmeans", "random"): k-means runs a few passes on at most
    `KMEANS_ROWS` random rows; `rng`: source of random numbers.
    """
    if count >= len(X):
        return X
    if how == "random":
        return X[np.sort(rng.choice(len(X), count, replace=False))]
    most = max(KMEANS_ROWS, 2 * count)
    rows = X if len(X) <= most else X[rng.choice(len(X), most, replace=False)]
    centers = rows[rng.choice(len(rows), count, replace=False)]
    for _ in range(KMEANS_PASSES):
        nearest = _nearest(rows, centers)
        sizes = np.bincount(nearest, minlength=count)
        sums = np.column_stack([np.bincount(nearest, weights=column, minlength=count) for column in rows.T])
        moved = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centers)
        if np.array_equal(moved, centers):
            break
        centers = moved
    return np.ascontiguousarray(centers)


def _nearest(rows: Array, centers: Array) -> NDArray[np.intp]:
    """Return the index of the nearest centre of every row (n,)."""
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    nearest = np.empty(len(rows), dtype=np.intp)
    step = max(16, BLOCK_FLOPS // max(centers.size, 1))
    for start in range(0, len(rows), step):
        checkpoint()
        nearest[start : start + step] = np.argmax(rows[start : start + step] @ centers.T - half, axis=1)
    return nearest
