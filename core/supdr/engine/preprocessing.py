"""Affine preprocessing, fitted inside the estimators and undone by `inverse_transform`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_choice
from supdr.engine.sparse_rows import SparseRows, has_missing

PREPROCESSING = ("none", "zscore", "minmax", "whiten")

# New rows are clipped this share of a column's range beyond the smallest and the largest value of the training rows.
MARGIN = 0.25

# A cell that lies further beyond them than this share of the range is worth a warning: of many columns some cell of
# most rows lies a little outside.
FAR = 1.0

# With no more rows a column than this a covariance is too uncertain to whiten by, even if it is shrunk: measured on six
# sets, z-scored rows gave the smaller error of linear methods.
FEW_ROWS = 3

# Entries of the matrix that whitens sparse rows beyond which they are z-scored: it is dense, and as large as the rows
# would be if they were dense and no more than their columns.
MOST_ENTRIES = 1 << 22

# Columns that vary by less than this share of their largest entry are constant: they are centred and not scaled.
SMALLEST_DEVIATION = 1e-12


@dataclass(frozen=True)
class Preprocessing:
    """The map ``x -> (x - offset) * scale`` or, when whitening, ``x -> (x - offset) @ matrix`` (scale included).

    kind: one of ``"none"``, ``"zscore"``, ``"minmax"``, ``"whiten"``, as applied.
    offset (m,).
    scale (m,): used when `matrix` is None.
    matrix (m, r).
    inverse (r, m).
    low, high (m,): smallest and largest value of every column of the training rows, in the units of X.
    """

    kind: str
    offset: NDArray
    scale: NDArray
    low: NDArray
    high: NDArray
    matrix: NDArray | None = None
    inverse: NDArray | None = None

    def transform(self, X: Any) -> NDArray:
        """Return a new C-contiguous array of shape (n, r), or such sparse rows; NaN cells stay NaN.

        Raises ValueError if a cell is missing and the rows are whitened, which mixes all columns.
        """
        if isinstance(X, SparseRows):
            rows: Any = X.minus(self.offset, self.low, self.high)
            return rows * self.scale if self.matrix is None else rows.mixed(self.matrix)
        if self.matrix is not None and np.isnan(X).any():
            row = int(np.flatnonzero(np.isnan(X).any(axis=1))[0])
            raise ValueError(
                f"X has a missing cell in row {row}, but the rows of the fit were complete and were whitened, which "
                "mixes all columns; fit with preprocessing='zscore' to accept missing cells in new rows"
            )
        centred = X - self.offset
        return centred * self.scale if self.matrix is None else centred @ self.matrix

    def clipped(self, X: Any, margin: float = MARGIN) -> NDArray:
        """Return rows (n, m) with every cell in the training rows' range, widened by a share on either side."""
        beyond = margin * self.high - margin * self.low  # the difference of the two may be beyond all floats
        low, high = self.low - beyond, self.high + beyond
        rows: Any = X.clipped(low, high) if isinstance(X, SparseRows) else np.clip(X, low, high)
        return rows

    def inverse_transform(self, X: NDArray) -> NDArray:
        """Map (n, r) back to the (n, m) input space."""
        return (X / self.scale if self.inverse is None else X @ self.inverse) + self.offset

    def pull_back(self, derivative: NDArray) -> NDArray:
        """Return derivatives (n, d, m) in the columns of X of derivatives (n, d, r) in preprocessed columns."""
        return derivative * self.scale if self.matrix is None else derivative @ self.matrix.T


class Columns:
    """Statistics of the columns of rows in memory, from which preprocessing is fitted.

    Columns are divided by their largest entry (`unit`) before they are squared: squares of very small or large entries
    leave the range of floats.

    `X` (n, m): NaN marks a missing cell; statistics are over the observed ones.
    """

    def __init__(self, X: NDArray) -> None:
        self.X = X

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is missing: NumPy's functions for missing cells take twice as long."""
        return not has_missing(self.X)

    @property
    def may_be_whitened(self) -> bool:
        """Whether the matrix that whitens is of a size that its rows allow."""
        entries = min(self.shape) * self.shape[1]
        return not isinstance(self.X, SparseRows) or entries <= MOST_ENTRIES

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    def map_parts(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the values of a function of rows (n, m) for each part of the rows; in memory there is one part."""
        return [work(self.X, *arguments)]

    def select(self, mask: NDArray) -> Columns:
        """Return the columns of a mask (m,)."""
        return Columns(self.X[:, mask])

    def counts(self) -> NDArray:
        """Return the number of observed cells of every column, (m,)."""
        return np.full(self.shape[1], self.shape[0]) if self.complete else (~np.isnan(self.X)).sum(axis=0)

    def extremes(self) -> tuple[NDArray, NDArray]:
        """Return the smallest and the largest value of every column, (m,) each."""
        if self.complete:
            return self.X.min(axis=0), self.X.max(axis=0)
        return np.nanmin(self.X, axis=0), np.nanmax(self.X, axis=0)

    def moments(self, unit: NDArray) -> tuple[NDArray, NDArray]:
        """Return mean and standard deviation of every column over its unit, (m,) each."""
        relative = self.X / unit
        if self.complete:
            return relative.mean(axis=0), relative.std(axis=0)
        return np.nanmean(relative, axis=0), np.nanstd(relative, axis=0)

    def mean_minus(self, offset: NDArray) -> NDArray:
        """Return the mean of every column minus an offset, (m,)."""
        if isinstance(self.X, SparseRows):
            return self.X.minus(offset, *self.extremes()).mean(axis=0)
        deviations = self.X - offset
        return deviations.mean(axis=0) if self.complete else np.nanmean(deviations, axis=0)

    def directions(self, offset: NDArray, scale: NDArray, varies: NDArray) -> tuple[NDArray, NDArray, float]:
        """Return singular values (r,) and right singular vectors (r, m) of the scaled columns, and sum_n |x_n|^4."""
        if isinstance(self.X, SparseRows):
            rows = self.X.minus(offset, *self.extremes()) * (scale * varies)
            lengths = rows.row_squares()
            return *rows.decomposition(), float(lengths @ lengths)
        scaled = np.where(varies, (self.X - offset) * scale, 0.0)
        _, singular, rows = np.linalg.svd(scaled, full_matrices=False)
        lengths = (scaled**2).sum(axis=1)
        return singular, rows, float(lengths @ lengths)


def fit_preprocessing(X: NDArray | Columns, kind: str) -> Preprocessing:
    """Fit the preprocessing of the rows of `X` (n, m), over observed cells; NaN marks a missing one.

    Whitening takes the deviations of Ledoit and Wolf's estimate, so that directions of small variance are not
    amplified; with missing cells, constant columns or too many sparse columns it becomes "zscore".  Raises ValueError
    if `kind` is unknown or a column is empty.
    """
    check_choice("preprocessing", kind, PREPROCESSING)
    columns = X if isinstance(X, Columns) else Columns(X)
    n_samples, n_features = columns.shape
    counts = columns.counts()
    if not counts.all():
        raise ValueError(f"X has no observed cell in column {int(np.flatnonzero(counts == 0)[0])}")
    low, high = columns.extremes()
    if kind == "none":
        return Preprocessing(kind, np.zeros(n_features), np.ones(n_features), low, high)
    size = np.maximum(abs(low), abs(high))
    unit = np.where(size > 0.0, size, 1.0)
    if kind == "minmax":
        middle, half = 0.5 * (low / unit + high / unit), 0.5 * (high / unit - low / unit)
        return Preprocessing(kind, unit * middle, _scale(half, unit), low, high)
    mean, deviation = columns.moments(unit)
    offset, scale, varies = unit * mean, _scale(deviation, unit), deviation > SMALLEST_DEVIATION
    whitens = kind == "whiten" and not (counts < n_samples).any() and bool(varies.any())
    if whitens and not columns.may_be_whitened:
        warn_of_zscores(n_samples, n_features)
        whitens = False
    if not whitens:
        return Preprocessing("zscore", offset, scale, low, high)
    singular, rows, fourth = columns.directions(offset, scale, varies)
    significant = singular > singular[0] * max(columns.shape) * np.finfo(float).eps  # the others are rounding errors
    variance = singular[significant] ** 2 / n_samples
    shrinkage = ledoit_wolf_shrinkage(variance, fourth, n_samples, int(varies.sum()))
    deviation = np.sqrt((1.0 - shrinkage) * variance + shrinkage * variance.sum() / varies.sum())
    # The sign of a singular vector is arbitrary: the first of its largest entries (up to rounding) is made positive.
    directions = rows[significant]
    largest = abs(directions) > (1.0 - 1e-6) * abs(directions).max(axis=1, keepdims=True)
    directions = directions * np.sign(np.take_along_axis(directions, largest.argmax(axis=1)[:, None], axis=1))
    return Preprocessing(
        kind,
        offset,
        np.ones(n_features),
        low,
        high,
        matrix=np.ascontiguousarray(scale[:, None] * directions.T / deviation),
        inverse=np.ascontiguousarray(directions * deviation[:, None] / scale),
    )


def warn_of_zscores(n_rows: int, n_columns: int) -> None:
    """Warn that sparse rows are z-scored, though they were to be whitened."""
    warnings.warn(
        f"preprocessing='whiten' is replaced by 'zscore': to whiten {n_rows:,} sparse rows of {n_columns:,} columns "
        f"takes a matrix of {min(n_rows, n_columns) * n_columns:,} entries, and at most {MOST_ENTRIES:,} are made; "
        "preprocessing='zscore' says so without this warning, and fewer columns can be whitened",
        UserWarning,
        stacklevel=3,
    )


def scaling_of_rows(kind: str, n_rows: int, n_columns: int) -> str:
    """Return the kind of preprocessing that a linear method uses: few rows are z-scored in place of whitened."""
    return "zscore" if isinstance(kind, str) and kind == "whiten" and n_rows <= FEW_ROWS * n_columns else kind


def ledoit_wolf_shrinkage(variances: NDArray, fourth: float, n_rows: int, n_columns: int) -> float:
    """Return Ledoit and Wolf's weight of the identity in an estimate of a covariance matrix, in [0, 1].

    That of `sklearn.covariance.ledoit_wolf_shrinkage`, from the eigenvalues (r,) and the sum of fourth powers of the
    rows' lengths.
    """
    squares = float(variances @ variances)
    distance = squares - variances.sum() ** 2 / n_columns
    noise = (fourth / n_rows - squares) / n_rows
    return max(0.0, min(noise, distance)) / distance if distance > 0.0 else float(n_columns > 1)


def _scale(deviation: NDArray, unit: NDArray) -> NDArray:
    """Return the factors of the columns from their deviations relative to their largest entries; 1 if constant."""
    return 1.0 / np.where(deviation > SMALLEST_DEVIATION, unit * deviation, 1.0)
