"""Rows with many columns in coordinates of their own span: distances stay, columns become fewer than rows.

    C = X - mean,   CC' = U diag(w) U'        x -> [(x - mean)'C'U diag(w)^-1/2, distance of x from the span]

The rows themselves lie in their span.  For a new row the last coordinate keeps its distances to them exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import abandonable, checkpoint
from supdr.solvers.gaussians import BLOCK_FLOPS

Array = NDArray[np.float64]

# Columns for each row beyond which rows are better off in their span.
MUCH_WIDER = 2

# Beyond, the decomposition costs more than it saves.
MOST_ROWS = 2000

# Eigenvalues below this share of the largest are rounding.
NEGLIGIBLE = 1e-12


class Span(NamedTuple):
    """x -> coordinates (r + 1,) by the mean (D,) of the rows and orthonormal `directions` (D, r)."""

    shift: Array
    directions: Array

    def apply(self, X: Array) -> Array:
        """Return coordinates (n, r + 1) of rows (n, D)."""
        r = self.directions.shape[1]
        coordinates = np.empty((len(X), r + 1))
        step = max(16, BLOCK_FLOPS // max(X.shape[1] * max(r, 1), 1))
        for start in range(0, len(X), step):
            checkpoint()
            part = slice(start, start + step)
            centred = X[part] - self.shift
            np.matmul(centred, self.directions, out=coordinates[part, :r])
            beyond = np.einsum("ij,ij->i", centred, centred) - (coordinates[part, :r] ** 2).sum(axis=1)
            coordinates[part, r] = np.sqrt(np.maximum(beyond, 0.0))
        return coordinates


def span_of(X: Array) -> tuple[Span, Array] | None:
    """Return the span of rows X (n, D) and their coordinates (n, r + 1); None where that would save nothing.

    O(n^2 D + n^3).
    """
    n, D = X.shape
    if n > MOST_ROWS or n * MUCH_WIDER >= D:
        return None
    shift = X.mean(axis=0)
    centred = X - shift
    w, U = abandonable(lambda: np.linalg.eigh(centred @ centred.T))
    significant = w > NEGLIGIBLE * max(float(w[-1]), np.finfo(float).tiny)
    lengths = np.sqrt(w[significant])
    own = np.zeros((n, int(significant.sum()) + 1))
    own[:, :-1] = U[:, significant] * lengths
    return Span(shift, np.ascontiguousarray(centred.T @ (U[:, significant] / lengths))), own
