"""MAC's mapping F(x) = W phi(x): features, ridge regression on them, and the width of the Gaussians.

Features are Gaussians exp(-gamma |x - c_m|^2) around M centres, or, for the linear mapping, the centred columns.  The
training features (n, M) are kept if they fit into half of scikit-learn's ``working_memory``; else they are computed
again, block by block, whenever they are needed: memory stays bounded, time grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from sklearn import get_config

from supdr.engine.interruption import abandonable, checkpoint
from supdr.solvers.distances import median_distance

Array = NDArray[np.float64]

BLOCK_FLOPS = 1 << 30
"""Multiply-adds between two looks at the stop flag: some 30 ms."""

WIDE = 1 << 19
"""Centres times columns beyond which distances are formed in single precision (error of a feature: about 1e-6)."""

EIGEN_SIZE = 1000
"""Up to this many features an eigendecomposition serves every ridge; beyond, a Cholesky factor per ridge is cheaper."""

SMALLEST_RIDGE = 1e-13
"""Ridges below this share of the trace of Phi'Phi are lost in rounding."""

WIDTHS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
"""Multiples of the median distance among which ``gamma="loo"`` chooses."""

LOO_ROWS = 4000
"""Rows up to which the choice looks at all of them, and at all centres."""

LOO_WORK = 6.5e8
"""Rows times squared centres of the random subset that it looks at beyond, with as many rows per centre: with few rows
per centre the fit interpolates noise, and its error says little about the full fit."""

KMEANS_ROWS = 20_000
KMEANS_PASSES = 10


@dataclass(frozen=True, eq=False)
class Mapping:
    """The features of MAC's mapping.

    Attributes
    ----------
    kind : {"rbf", "linear"}
    centers : array of shape (M, D)
        Centres of the Gaussians; for "linear" one row, the mean.
    gamma : float
        1 / (2 sigma^2); 0 for "linear".
    """

    kind: str
    centers: Array
    gamma: float

    @property
    def n_features(self) -> int:
        """Return M."""
        return self.centers.shape[1] if self.kind == "linear" else len(self.centers)

    def features(self, X: Array) -> Array:
        """Return Phi (n, M) of rows (n, D)."""
        Phi = np.empty((len(X), self.n_features))
        step = self._block_rows(X.shape[1])
        for start in range(0, len(X), step):
            checkpoint()
            self._fill(X[start : start + step], Phi[start : start + step])
        return Phi

    def apply(self, X: Array, weights: Array) -> Array:
        """Return Phi W' (n, L) of rows (n, D), W' (M, L), in blocks."""
        images = np.empty((len(X), weights.shape[1]))
        step = min(self._block_rows(X.shape[1]), rows_in_memory(self.n_features))
        for start in range(0, len(X), step):
            checkpoint()
            rows = X[start : start + step]
            block = np.empty((len(rows), self.n_features))
            self._fill(rows, block)
            np.matmul(block, weights, out=images[start : start + step])
        return images

    def _fill(self, rows: Array, out: Array) -> None:
        """Write the features of a few rows (p, D) into out (p, M)."""
        if self.kind == "linear":
            np.subtract(rows, self.centers[0], out=out)
            return
        shift, factor = self._factor
        part = np.empty((len(rows), factor.shape[1]), dtype=factor.dtype)
        np.subtract(rows, shift, out=part[:, :-2], casting="same_kind")
        part[:, -2] = 1.0
        np.einsum("ij,ij->i", part[:, :-2], part[:, :-2], out=part[:, -1])
        exponent = np.matmul(part, factor.T, out=out if factor.dtype == out.dtype else None)
        np.minimum(exponent, 0.0, out=exponent)
        np.exp(exponent, out=out)

    @cached_property
    def _factor(self) -> tuple[Array, NDArray]:
        """A shift (D,) and rows (M, D + 2); inner products with [x - shift, 1, |x - shift|^2] are the exponents."""
        dtype = np.float32 if self.centers.size >= WIDE else np.float64
        shift = self.centers.mean(axis=0)  # distances do not change, cancellation shrinks
        centers = self.centers - shift
        squares = np.einsum("ij,ij->i", centers, centers)
        factor = np.column_stack([2.0 * centers, -squares, -np.ones(len(centers))])
        return shift, (self.gamma * factor).astype(dtype, copy=False)

    def _block_rows(self, n_columns: int) -> int:
        return max(16, BLOCK_FLOPS // max(self.n_features * n_columns, 1))


def rows_in_memory(n_features: int) -> int:
    """Return how many rows of features half of the working memory holds, >= 1."""
    return max(1, int(get_config()["working_memory"] * 2**19 / (8 * n_features)))


class Features:
    """Features of the training rows, their products, and ridge regression on them.

    Parameters
    ----------
    X : array of shape (n, D)
        Training rows.
    mapping : Mapping
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

    def smallest_ridge(self) -> float:
        """Return the ridge below which `solve` is not accurate."""
        if self.symmetric:
            return SMALLEST_RIDGE * len(self.X)
        return SMALLEST_RIDGE * float(np.trace(self.gram()))

    def solve(self, values: Array, pulled: Array, ridge: float) -> Array:
        """Return W' (M, L), the minimiser of |values - Phi W'|^2 + ridge |W|^2.

        Parameters
        ----------
        values : array of shape (n, L)
            Targets.
        pulled : array of shape (M, L)
            Phi' values.
        ridge : float
            > 0.
        """
        if self.symmetric:
            s, Q = self._eigenvectors()
            return Q @ ((s / (s**2 + ridge))[:, None] * (Q.T @ values))
        if self.mapping.n_features <= EIGEN_SIZE:
            s, Q = self._eigenvectors()
            return Q @ ((Q.T @ pulled) / (np.maximum(s, 0.0) + ridge)[:, None])
        if self._factor is None or self._factor[0] != ridge:
            self._factor = (ridge, abandonable(lambda: _shifted_factor(self.gram(), ridge)))
        return cho_solve((self._factor[1], True), pulled, check_finite=False)

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

    Parameters
    ----------
    X : array of shape (n, D)
        Rows.
    count : int
        M, 1 to n.
    how : {"kmeans", "random"}
        k-means runs a few passes on at most `KMEANS_ROWS` random rows.
    rng : Generator
        Source of random numbers.
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


def choose_gamma(X: Array, codes: Array, centers: Array, ridge: float, rng: np.random.Generator) -> float:
    """Choose the width of the Gaussians by the leave-one-out error of a ridge regression on the class codes.

    With H = Phi (Phi'Phi + ridge)^-1 Phi' and q its diagonal, the prediction of a row by the others is
    (H T - q T) / (1 - q).  The score is the share of rows nearest to a wrong code, ties broken by the squared error.

    Parameters
    ----------
    X : array of shape (n, D)
        Labelled rows.
    codes : array of shape (n, K - 1)
        T: each row's class code; codes have equal norms.
    centers : array of shape (M, D)
        Centres; they stay when a row is left out.
    ridge : float
        > 0.
    rng : Generator
        Chooses the subset of rows and centres when all would be too many, see `LOO_ROWS`.

    Returns
    -------
    float
        gamma.
    """
    alphabet = np.unique(codes, axis=0)
    unit = median_distance(X, rng)
    share = (LOO_WORK / (len(X) * len(centers) ** 2)) ** (1.0 / 3.0)
    if share < 1.0 and len(X) > LOO_ROWS:
        same = centers is X
        rows = rng.choice(len(X), max(int(share * len(X)), 2), replace=False)
        X, codes = X[rows], codes[rows]
        centers = X if same else centers[rng.choice(len(centers), max(int(share * len(centers)), 1), replace=False)]
        ridge *= share
    best, gamma = np.inf, 0.0
    for width in WIDTHS:
        candidate = 0.5 / (width * unit) ** 2
        Phi = Mapping("rbf", centers, candidate).features(X)
        score = _leave_one_out_score(Phi, codes, alphabet, ridge)
        if score < best:
            best, gamma = score, candidate
    return gamma


def _leave_one_out_score(Phi: Array, codes: Array, alphabet: Array, ridge: float) -> float:
    gram = Phi.T @ Phi
    ridge = max(ridge, SMALLEST_RIDGE * float(np.trace(gram)))
    factor = _shifted_factor(gram, ridge)
    checkpoint()
    half = solve_triangular(factor, Phi.T, lower=True, check_finite=False)  # (M, n)
    checkpoint()
    q = np.minimum(np.einsum("ij,ij->j", half, half), 1.0 - 1e-12)[:, None]
    left_out = (half.T @ (half @ codes) - q * codes) / (1.0 - q)
    guess = alphabet[np.argmax(left_out @ alphabet.T, axis=1)]
    return float(np.mean((guess != codes).any(axis=1)) + 1e-3 * np.mean((left_out - codes) ** 2))
