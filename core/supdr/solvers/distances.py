"""Median distance: the scale of a data set, in which widths of Gaussian kernels are measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.reuse import reused

# Rows at most whose distances make the median distance.
SAMPLE = 1000


# Distances: their squares can be divided by.
SMALLEST = 1e-150


def median_distance(X: NDArray, rng: np.random.Generator) -> float:
    """Return the median distance between distinct rows of `X` (n, D), a sample of them; 1 if all are equal."""
    if len(X) <= SAMPLE:
        return reused("median distance", lambda: X, lambda: _median_distance(X))
    return _median_distance(X[rng.choice(len(X), SAMPLE, replace=False)])


def _median_distance(rows: NDArray) -> float:
    centred = rows - rows.mean(axis=0)  # distances do not change, cancellation shrinks
    squares = np.einsum("ij,ij->i", centred, centred)
    squared = squares[:, None] + squares - 2.0 * centred @ centred.T
    return median_of_squares(squared, float(squares.max()))


def squares_among(X: NDArray) -> NDArray:
    """Return the squared distances (n, n) between all rows of `X` (n, D): three passes over them, however wide."""
    centred = X - X.mean(axis=0)  # distances do not change, cancellation shrinks
    products = centred @ centred.T
    squares = products.diagonal().copy()
    return np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)


def median_of_squares(squared: NDArray, size: float | None = None) -> float:
    """Return the median distance from squared ones, without those that are 0 beside `size`; 1 if all are."""
    size = float(squared.max()) if size is None else size
    positive = squared[squared > max(1e-12 * size, SMALLEST**2)]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0
