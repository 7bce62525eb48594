"""Gaussian or exponential features around centres, or centred columns: what kernel maps with explicit weights are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from supdr.engine.interruption import checkpoint
from supdr.engine.sparse_rows import SparseRows

Array = NDArray[np.float64]

# Multiply-adds between two checks of the stop flag: some 30 ms.
BLOCK_FLOPS = 1 << 30

# Centres times columns beyond which distances are formed in single precision, where they are small enough for it.
WIDE = 1 << 19

# Single precision is for gamma times squared distances from the middle of all centres up to this: exponents are
# differences of such numbers, and the error of a feature stays below about 1e-5.
LARGEST_EXPONENT = 10.0


@dataclass(frozen=True, eq=False)
class Mapping:
    """Features of rows.

    kind (one of "rbf", "exponential", "linear"): exp(-|x - c|^2 / (2 sigma^2)), exp(-|x - c| / sigma), or the columns.
    centers (M, D): c; for "linear" one row, the mean.
    gamma: 1 / (2 sigma^2), 1 / sigma, or 0.
    scale (D,): what columns are multiplied by before distances are taken.
    """

    kind: str
    centers: Array
    gamma: float
    scale: Array | None = None

    @property
    def n_features(self) -> int:
        """Return M."""
        return self.centers.shape[1] if self.kind == "linear" else len(self.centers)

    @property
    def n_columns(self) -> int:
        """Return D."""
        return self.centers.shape[1]

    def features(self, X: Array) -> Array:
        """Return Phi (n, M) of rows (n, D)."""
        if isinstance(X, SparseRows):
            return (X - self.centers[0]).toarray()
        Phi = np.empty((len(X), self.n_features))
        step = self._block_rows(X.shape[1])
        for start in range(0, len(X), step):
            checkpoint()
            self._fill(X[start : start + step], Phi[start : start + step])
        return Phi

    def apply(self, X: Array, weights: Array) -> Array:
        """Return Phi W' (n, L) of rows (n, D), W' (M, L), in blocks."""
        if isinstance(X, SparseRows):
            return (X - self.centers[0]) @ weights
        images = np.empty((len(X), weights.shape[1]))
        step = min(self._block_rows(X.shape[1]), rows_in_memory(self.n_features))
        for start in range(0, len(X), step):
            checkpoint()
            rows = X[start : start + step]
            block = np.empty((len(rows), self.n_features))
            self._fill(rows, block)
            np.matmul(block, weights, out=images[start : start + step])
        return images

    def exponents(self, X: Array) -> Array:
        """Return the logarithms of the features, -gamma |x - c|^2 or -gamma |x - c|: at 1 they serve every width."""
        values = np.empty((len(X), self.n_features))
        step = self._block_rows(X.shape[1])
        for start in range(0, len(X), step):
            checkpoint()
            values[start : start + step] = self._exponents(X[start : start + step])
        return values

    def slopes(self, X: Array) -> Array:
        """Return s (n, M) at rows (n, D): the gradient of the feature of c is a constant times s (c - x)."""
        slopes = self.features(X)
        if self.kind == "exponential":
            apart = -self.exponents(X)  # at its centre it has a peak, which points nowhere
            np.divide(slopes, apart, out=slopes, where=apart > 0.0)
            slopes[apart == 0.0] = 0.0
        return slopes

    def derivative(self, X: Array, weights: Array) -> Array:
        """Return dF / dx (n, L, D) of F = Phi W' at rows (n, D), W' (M, L).

            dF_l / dx_d = a s_d^2 sum_m (c_md - x_d) slope_m(x) w_ml,   a = 2 gamma, exponential: gamma^2

        s: the scale, or 1; slope: see `slopes`.
        """
        if self.kind == "linear":
            return np.tile(weights.T, (len(X), 1, 1))
        pull = self.slopes(X)[:, None, :] * weights.T  # (n, L, M)
        shift = self.centers.mean(axis=0)
        towards = pull @ (self.centers - shift) - pull.sum(axis=2)[:, :, None] * (X - shift)[:, None, :]
        towards *= 2.0 * self.gamma if self.kind == "rbf" else self.gamma**2
        return towards if self.scale is None else towards * self.scale**2

    def _fill(self, rows: Array, out: Array) -> None:
        """Write the features of a few rows (p, D) into out (p, M)."""
        if self.kind == "linear":
            np.subtract(rows, self.centers[0], out=out)
            return
        np.exp(self._exponents(rows, out), out=out)

    def _exponents(self, rows: Array, out: Array | None = None) -> Array:
        """Return the exponents of a few rows, in `out` if the precision is that of `out`."""
        shift, factor = self._factor
        part = np.empty((len(rows), factor.shape[1]), dtype=factor.dtype)
        np.subtract(rows, shift, out=part[:, :-2], casting="same_kind")
        if self.scale is not None:
            part[:, :-2] *= self.scale
        part[:, -2] = 1.0
        np.einsum("ij,ij->i", part[:, :-2], part[:, :-2], out=part[:, -1])
        exponent = np.matmul(part, factor.T, out=out if factor.dtype == np.float64 else None)
        np.minimum(exponent, 0.0, out=exponent)
        if self.kind == "exponential":
            np.sqrt(-exponent, out=exponent)
            np.negative(exponent, out=exponent)
        return exponent

    @cached_property
    def _factor(self) -> tuple[Array, NDArray]:
        """A shift (D,) and rows (M, D + 2); inner products with [x - shift, 1, |x - shift|^2] are the exponents."""
        shift = self.centers.mean(axis=0)  # distances do not change, cancellation shrinks
        centers = self.centers - shift
        if self.scale is not None:
            centers *= self.scale
        squares = np.einsum("ij,ij->i", centers, centers)
        factor = np.column_stack([2.0 * centers, -squares, -np.ones(len(centers))])
        if self.kind == "exponential":  # in double precision: a root makes much of what little a square is wrong by
            return shift, self.gamma**2 * factor
        single = centers.size >= WIDE and self.gamma * squares.max() <= LARGEST_EXPONENT
        dtype = np.float32 if single else np.float64
        return shift, (self.gamma * factor).astype(dtype, copy=False)

    def _block_rows(self, n_columns: int) -> int:
        return max(16, BLOCK_FLOPS // max(self.n_features * n_columns, 1))


def rows_in_memory(n_features: int) -> int:
    """Return how many rows of features half of the working memory holds, >= 1."""
    return max(1, int(get_config()["working_memory"] * 2**19 / (8 * n_features)))
