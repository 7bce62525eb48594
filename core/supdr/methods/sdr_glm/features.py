"""The feature side of SDR-GLM, in three forms that take the same steps.

`WeightedFeatures`: any families, missing cells; every row and every column has a system of its own.
`SharedFeatures`: complete Gaussian data with more rows than columns; one system for all rows, one for all columns.
    Sparse rows have this form, or the first one, for which a few rows at a time are made dense.
`GramFeatures`: complete Gaussian data with no more rows than columns.  There Vt = B X, and only K = X X' is needed:
X Vt' = K B', Vt Vt' = B K B'.  The loadings are kept as B (L + 1, N), and no step depends on the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.sparse_rows import SparseRows, dense
from supdr.functions.families import LIMITED, expand, log_likelihood, log_likelihoods
from supdr.solvers.low_rank import augmented, blocks_of, packed_products, padded, padded_width, row_blocks
from supdr.solvers.positive_definite import solve_positive


def times(columns: NDArray, weights: NDArray | None) -> NDArray:
    """Return columns (n, D) times their weights (D,), or the same array where there are none."""
    return columns if weights is None else columns * weights


class GaussianFeatures:
    """What `SharedFeatures` and `GramFeatures` have in common: everything follows from X Vt' and Vt Vt'.

    These products, and |X|^2, are sums over columns times their weights.  A column's weight stands before its
    likelihood and before the ridge of its loadings: the loadings that are best for U do not depend on it.

    `X` (N, D): complete. `c`: weight of a cell's squared error. `weights` (D,): what columns, and the ridges of their
    loadings, are multiplied by, >= 0; None: 1.
    """

    def __init__(self, X: NDArray, c: float, weights: NDArray | None = None) -> None:
        self.X, self.c, self.weights = X, c, weights
        self._latest: tuple[Any, ...] = (None,)

    def inner(self, loadings: NDArray) -> tuple[NDArray, NDArray]:
        """Return X Vt' (N, L + 1) and Vt Vt' (L + 1, L + 1), weighted; those of the latest loadings are kept."""
        latest = self._latest  # read once: another thread may look at another snapshot
        if latest[0] is not loadings:
            latest = self._latest = (loadings, *self._inner(loadings))
        return latest[1], latest[2]

    def value(self, latent: NDArray, loadings: NDArray) -> float:
        """Return L_X: no N x D residual is formed."""
        (cross, gram), wide = self.inner(loadings), augmented(latent)
        explained = 2.0 * np.vdot(wide, cross) - np.vdot(wide.T @ wide, gram)
        return -self.c * float(self.total - explained)

    def gram(self, loadings: NDArray) -> NDArray:
        """Return Vt Vt', (L + 1, L + 1)."""
        raise NotImplementedError

    def loading_sums(self, latent: NDArray) -> tuple[NDArray, NDArray]:
        """Return Ua'Ua and Ua'X, the latter in this form's terms: sums over rows that loadings are made of."""
        raise NotImplementedError

    def solve_loadings(self, sums: tuple[NDArray, NDArray], weight: float, reg_v: float) -> NDArray:
        """Return the loadings that maximise J: (2 c lam Ua'Ua + reg_v I)^-1 2 c lam Ua' X, in this form's terms."""
        square, pulled = sums
        strength = 2.0 * self.c * weight
        system = strength * square + reg_v * np.eye(len(square))
        return np.ascontiguousarray(solve_positive(system, strength * pulled))

    @property
    def total(self) -> float:
        """|X|^2."""
        raise NotImplementedError

    def _inner(self, loadings: NDArray) -> tuple[NDArray, NDArray]:
        raise NotImplementedError


class SharedFeatures(GaussianFeatures):
    """Complete Gaussian data, more rows than columns; loadings (L + 1, D)."""

    in_rows = False

    @cached_property
    def total(self) -> float:
        """|X|^2."""
        if isinstance(self.X, SparseRows):
            return float(times(self.X.squares(), self.weights).sum())
        return float(np.vdot(self.X, times(self.X, self.weights)))

    def _inner(self, loadings: NDArray) -> tuple[NDArray, NDArray]:
        return self.cross(loadings), self.gram(loadings)

    def cross(self, loadings: NDArray) -> NDArray:
        """Return X Vt', (N, L + 1)."""
        if isinstance(self.X, SparseRows):
            return self.X @ times(loadings, self.weights).T
        turned = padded(times(loadings, self.weights).T)
        cross = np.empty((len(self.X), turned.shape[1]))
        for rows in row_blocks(self.X.shape):
            np.matmul(self.X[rows], turned, out=cross[rows])
        return cross[:, : len(loadings)]

    def gram(self, loadings: NDArray) -> NDArray:
        """Return Vt Vt', columns weighted, (L + 1, L + 1)."""
        return times(loadings, self.weights) @ loadings.T

    def loading_sums(self, latent: NDArray) -> tuple[NDArray, NDArray]:
        """Return Ua'Ua and Ua'X."""
        width = latent.shape[1] + 1
        square, pulled = np.zeros((width, width)), np.zeros((self.X.shape[1], padded_width(width)))
        for rows in blocks_of(self.X):
            wide = augmented(latent[rows])
            square += wide.T @ wide
            pulled += self.X[rows].T @ padded(wide)
        return square, pulled.T[:width]


class GramFeatures(GaussianFeatures):
    """Complete Gaussian data, no more rows than columns; loadings B (L + 1, N) with Vt = B X."""

    in_rows = True

    @cached_property
    def K(self) -> NDArray:
        """X X', over blocks of columns."""
        gram = np.zeros((len(self.X), len(self.X)))
        for columns in row_blocks((self.X.shape[1], self.X.shape[0])):
            part = self.X[:, columns]
            gram += times(part, None if self.weights is None else self.weights[columns]) @ part.T
        return gram

    @property
    def total(self) -> float:
        """|X|^2."""
        return float(np.trace(self.K))

    def _inner(self, loadings: NDArray) -> tuple[NDArray, NDArray]:
        cross = self.K @ loadings.T
        return cross, loadings @ cross

    def gram(self, loadings: NDArray) -> NDArray:
        """Return Vt Vt' = B K B', (L + 1, L + 1)."""
        return self.inner(loadings)[1]

    def loading_sums(self, latent: NDArray) -> tuple[NDArray, NDArray]:
        """Return Ua'Ua and Ua': the loadings are coordinates in the rows of X."""
        wide = augmented(latent)
        return wide.T @ wide, wide.T


@dataclass(frozen=True)
class WeightedFeatures:
    """Any families, missing cells.

    X (N, D): NaN where not observed.
    codes (D,): family of every column.
    c: weight of Gaussian cells.
    bound (one of "jj", "bohning"): curvature of Bernoulli cells.
    weights (D,): what columns, and the ridges of their loadings, are multiplied by, >= 0; None: 1.
    size: r of negative binomial cells.
    """

    X: NDArray
    codes: NDArray
    c: float
    bound: str
    weights: NDArray | None = None
    size: float = 1.0

    in_rows = False

    @cached_property
    def limited(self) -> NDArray:
        """Indices of the columns whose minorant holds near its point of contact only."""
        return np.flatnonzero(np.isin(self.codes, list(LIMITED)))

    @cached_property
    def signs(self) -> NDArray:
        """Whether parameters of these columns may rise (1) or fall (-1) by at most 1."""
        return np.array([LIMITED[code] for code in self.codes[self.limited].tolist()])

    def value(self, latent: NDArray, loadings: NDArray) -> float:
        """Return L_X."""
        total = 0.0
        for rows in row_blocks(self.X.shape):
            total += self._block_value(dense(self.X[rows]), self._theta(latent[rows], loadings))
        return total

    def _block_value(self, X: NDArray, theta: NDArray) -> float:
        if self.weights is None:
            return log_likelihood(self.codes, X, theta, self.c, self.size)
        return float(log_likelihoods(self.codes, X, theta, self.c, self.size).sum(axis=0) @ self.weights)

    def gram(self, loadings: NDArray) -> NDArray:
        """Return Vt Vt', columns weighted, (L + 1, L + 1)."""
        return times(loadings, self.weights) @ loadings.T

    def expand(self, rows: slice | NDArray, latent: NDArray, loadings: NDArray) -> tuple[NDArray, NDArray]:
        """Return a and g of these rows, (n, D) each, touching at their latent rows (n, L)."""
        return expand(self.codes, dense(self.X[rows]), self._theta(latent, loadings), self.c, self.bound, self.size)

    def _theta(self, latent: NDArray, loadings: NDArray) -> NDArray:
        return augmented(latent) @ loadings

    def row_factors(self, loadings: NDArray, weight: float) -> tuple[NDArray, NDArray]:
        """Return what turns a and g into the rows' systems, from `loadings` (L + 1, D) = [V; b_x].

        `quadratic` (D, P + L): lam b_x V', then lam times the packed products of V's columns; `straight` (D, L): lam
        V'; all times the columns' weights.
        """
        strength = weight if self.weights is None else (weight * self.weights)[:, None]
        straight = padded(strength * loadings[:-1].T)
        products = packed_products(loadings[:-1].T)
        products *= strength
        return np.concatenate([loadings[-1][:, None] * straight, products], axis=1), straight

    def row_systems(
        self, curvature: NDArray, linear: NDArray, factors: tuple[NDArray, NDArray], n_components: int
    ) -> tuple[NDArray, NDArray]:
        """Return packed systems (n, P) and right-hand sides (n, L) of rows whose minorant is given."""
        quadratic, straight = factors
        width = straight.shape[1]
        both = curvature @ quadratic
        right = linear @ straight
        right -= both[:, :width]
        return np.ascontiguousarray(both[:, width:]), np.ascontiguousarray(right[:, :n_components])

    def row_shares(self, rows: slice | NDArray, change: NDArray, loadings: NDArray) -> NDArray:
        """Return by how much the parameters of each row would move where they may by at most 1, (n,)."""
        if not len(self.limited):
            return np.zeros(len(change))
        rise = (change @ loadings[:-1, self.limited]) * self.signs
        return np.where(np.isnan(dense(self.X[rows])[:, self.limited]), 0.0, rise).max(axis=1)

    def column_systems(self, latent: NDArray, loadings: NDArray) -> ColumnSums:
        """Return the columns' systems, touching at these latent rows and loadings."""
        sums = ColumnSums(self.X.shape[1], latent.shape[1] + 1)
        for rows in row_blocks(self.X.shape):
            sums.add(*self.expand(rows, latent[rows], loadings), latent[rows])
        return sums

    def column_rise(self, latent: NDArray, change: NDArray) -> NDArray:
        """Return by how much parameters of each limited column would move if its loadings changed so."""
        rise = np.zeros(len(self.limited))
        for rows in row_blocks(self.X.shape):
            moved = (augmented(latent[rows]) @ change) * self.signs
            part = np.where(np.isnan(dense(self.X[rows])[:, self.limited]), 0.0, moved)
            rise = np.maximum(rise, part.max(axis=0))
        return rise


class ColumnSums:
    """Sums over rows that make up the columns' systems: packed Grams (D, P) and right-hand sides (D, L + 1), padded."""

    def __init__(self, n_columns: int, width: int) -> None:
        self.grams = np.zeros((n_columns, padded_width(width * (width + 1) // 2)))
        self.rights = np.zeros((n_columns, padded_width(width)))

    def __add__(self, other: ColumnSums) -> ColumnSums:
        both = ColumnSums(0, 0)
        both.grams, both.rights = self.grams + other.grams, self.rights + other.rights
        return both

    def add(self, curvature: NDArray, linear: NDArray, latent: NDArray) -> None:
        """Add rows with a and g (n, D) and latent rows (n, L).  Writes to the sums."""
        wide = augmented(latent)
        self.grams += curvature.T @ packed_products(wide)
        self.rights += linear.T @ padded(wide)
