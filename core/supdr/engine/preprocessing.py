"""Affine preprocessing, fitted inside the estimators and undone by `inverse_transform`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PREPROCESSING = ("none", "zscore", "minmax", "whiten")

SMALLEST_DEVIATION = 1e-12
"""Columns that vary less than this, relative to their size, are constant: they are centred and not scaled."""

SMALLEST_SINGULAR_VALUE = 1e-2
"""Whitening drops directions whose singular value is below this share of the largest: they would be inflated noise."""


@dataclass(frozen=True)
class Preprocessing:
    """The map ``x -> (x - offset) * scale`` or, when whitening, ``x -> (x - offset) @ matrix`` (scale included).

    Attributes
    ----------
    kind : str
        One of ``"none"``, ``"zscore"``, ``"minmax"``, ``"whiten"``: what was applied.
    offset : array of shape (m,)
    scale : array of shape (m,)
        Used when `matrix` is None.
    matrix : array of shape (m, r) or None
    inverse : array of shape (r, m) or None
    """

    kind: str
    offset: NDArray
    scale: NDArray
    matrix: NDArray | None = None
    inverse: NDArray | None = None

    def transform(self, X: NDArray) -> NDArray:
        """Return a new C-contiguous array of shape (n, r); NaN cells stay NaN.

        Raises
        ------
        ValueError
            If a cell is missing and the rows are whitened, which mixes all columns.
        """
        if self.matrix is not None and np.isnan(X).any():
            row = int(np.flatnonzero(np.isnan(X).any(axis=1))[0])
            raise ValueError(
                f"X has a missing cell in row {row}, but the rows of the fit were complete and were whitened, which "
                "mixes all columns; fit with preprocessing='zscore' to accept missing cells in new rows"
            )
        centred = X - self.offset
        return centred * self.scale if self.matrix is None else centred @ self.matrix

    def inverse_transform(self, X: NDArray) -> NDArray:
        """Map (n, r) back to the (n, m) input space."""
        return (X / self.scale if self.inverse is None else X @ self.inverse) + self.offset


def fit_preprocessing(X: NDArray, kind: str) -> Preprocessing:
    """Fit the preprocessing of the rows of `X`.

    Parameters
    ----------
    X : array of shape (n, m)
        NaN marks a missing cell; statistics are over the observed ones.
    kind : {"none", "zscore", "minmax", "whiten"}
        ``"zscore"``: mean 0 and standard deviation 1; ``"minmax"``: range [-1, 1]; ``"whiten"``: principal components
        of the z-scored columns with unit variance, in the order of their variance.  Whitening falls back to
        ``"zscore"`` when there are no more rows than columns or when cells are missing.

    Returns
    -------
    Preprocessing

    Raises
    ------
    ValueError
        If `kind` is unknown or a column has no observed cell.
    """
    if kind not in PREPROCESSING:
        raise ValueError(f"preprocessing must be one of {', '.join(PREPROCESSING)}; got {kind!r}")
    n_samples, n_features = X.shape
    missing = np.isnan(X)
    empty = missing.all(axis=0)
    if empty.any():
        raise ValueError(f"X has no observed cell in column {int(np.flatnonzero(empty)[0])}")
    if kind == "none":
        return Preprocessing(kind, np.zeros(n_features), np.ones(n_features))
    if kind == "minmax":
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        return Preprocessing(kind, (low + high) / 2, 2 / _nonzero(high - low, np.maximum(abs(low), abs(high))))
    mean = np.nanmean(X, axis=0)
    scale = 1 / _nonzero(np.nanstd(X, axis=0), abs(mean))
    if kind == "zscore" or n_samples <= n_features or missing.any():
        return Preprocessing("zscore", mean, scale)
    scaled = (X - mean) * scale
    varies = scaled.std(axis=0) > 0.5  # what is left of a constant column is rounding
    if not varies.any():
        return Preprocessing("zscore", mean, scale)
    # Scaled first: what counts as a small singular value must not depend on the columns' units.
    _, singular, rows = np.linalg.svd(scaled * varies, full_matrices=False)
    kept = singular >= SMALLEST_SINGULAR_VALUE * singular[0]
    deviation = singular[kept] / np.sqrt(n_samples)
    # The sign of a singular vector is arbitrary: fixed so that equal data give equal pictures.
    directions = rows[kept]
    peak = np.take_along_axis(directions, np.argmax(abs(directions), axis=1)[:, None], axis=1)
    directions = directions * np.sign(peak)
    return Preprocessing(
        kind,
        mean,
        np.ones(n_features),
        matrix=np.ascontiguousarray(scale[:, None] * directions.T / deviation),
        inverse=np.ascontiguousarray(directions * deviation[:, None] / scale),
    )


def _nonzero(deviation: NDArray, size: NDArray) -> NDArray:
    return np.where(deviation <= SMALLEST_DEVIATION * (1.0 + size), 1.0, deviation)
