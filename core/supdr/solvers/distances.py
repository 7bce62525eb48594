"""Median distance: the scale of a data set, in which widths of Gaussian kernels are measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE = 1000
"""Rows at most whose distances make the median distance."""


def median_distance(X: NDArray, rng: np.random.Generator) -> float:
    """Return the median distance between distinct rows of `X` (n, D), a sample of them; 1 if all are equal."""
    rows = X if len(X) <= SAMPLE else X[rng.choice(len(X), SAMPLE, replace=False)]
    squares = np.einsum("ij,ij->i", rows, rows)
    squared = squares[:, None] + squares - 2.0 * rows @ rows.T
    positive = squared[squared > 1e-12 * max(float(squares.max()), np.finfo(float).tiny)]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0
