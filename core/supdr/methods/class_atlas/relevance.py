"""Which columns a kernel machine's codes depend on: those along which they are steep.

    h(x) = sum_j k(x, c_j) a_j      dh_k / dx_d ~ -sum_j (x_d - c_jd) s(x, c_j) a_jk
    scale_d^2 = floor + (1 - floor) m_d / mean(m),      m_d = mean over rows of sum_k (dh_k / dx_d)^2

s is k of a Gaussian, k / |x - c| of an exponential.  Multiplied by `scale`, columns that say nothing hardly count in
distances.  m is the diagonal of the average outer product of gradients, whose leading eigenvectors span what h depends
on: K. Fukumizu, C. Leng, "Gradient-based kernel dimension reduction for regression", 2014.  A metric made of it:
A. Radhakrishnan et al., "Mechanism for feature learning in neural networks and backpropagation-free machine learning
models", 2024.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.solvers.gaussians import Mapping

Array = NDArray[np.float64]

# Of a column's share in squared distances, that of the mean column being 1: one that seems to say nothing stays.
FLOOR = 0.05


def relevance(X: Array, mapping: Mapping, coef: Array) -> Array | None:
    """Return the scale (D,) of the columns at rows X (n, D); None where codes are the same everywhere.  O(n M D K)."""
    steep, middle = mapping.slopes(X), mapping.centers.mean(axis=0)
    rows, centers = X - middle, mapping.centers - middle
    squares = np.zeros(X.shape[1])
    for column in coef.T:
        checkpoint()
        slopes = (steep @ column)[:, None] * rows - steep @ (column[:, None] * centers)
        squares += np.einsum("ij,ij->j", slopes, slopes)
    mean = squares.mean()
    if not mean > np.finfo(float).tiny:
        return None
    return np.sqrt(FLOOR + (1.0 - FLOOR) * squares / mean)
