"""Linear discriminants, those of every row also as if it had not been in the fit, and without a refit.

    d_k(x) = log n_k - (x - m_k)' M^-1 (x - m_k) / 2,   M = (1 - s) W + s t I,   W = sum_i c_i c_i' / (n - K)

m_k mean of class k   c_i = x_i - m_k of the own class   t mean of the diagonal of W   s shrinkage

Without row i of class k its distance to m_k grows by the factor r = n_k / (n_k - 1), and M loses u c_i c_i', where
u = r (1 - s) / (n - K): the inverse follows by Sherman and Morrison's formula.  (n - K and t stay.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import abandonable, checkpoint
from supdr.solvers.gaussians import rows_in_memory

Array = NDArray[np.float64]

# s.
SHRINKAGES = (1e-3, 0.1, 0.5)

# Fewer rows say little of how columns vary together.
ROWS_A_COLUMN = 3


class Discriminants(NamedTuple):
    """x -> d(x), but for a number that all classes share.

    coef (D, K).
    offset (K,).
    shrinkage: s.
    left_out (n, K): d of the rows of the fit, each without itself; -inf of the own class of its only row.
    """

    coef: Array
    offset: Array
    shrinkage: float
    left_out: Array


def fit_discriminants(X: Array, codes: NDArray, n_classes: int, unit: float) -> list[Discriminants]:
    """Fit discriminants for every shrinkage to rows X (n, D); none where rows are too few.  O(n D^2 + n D K)."""
    n, D = X.shape
    if n < ROWS_A_COLUMN * D or n <= n_classes:
        return []
    counts = np.bincount(codes, minlength=n_classes)
    middle = X.mean(axis=0)
    means = np.stack([(X[codes == k].mean(axis=0) - middle) / unit for k in range(n_classes)])
    within = np.zeros((D, D))
    for part in _blocks(n, D):
        own = (X[part] - middle) / unit - means[codes[part]]
        within += own.T @ own
    spread, axes = abandonable(lambda: np.linalg.eigh(within / (n - n_classes)))
    spread = np.maximum(spread, 0.0)
    if not spread.mean() > np.finfo(float).tiny:  # classes that are points
        return []
    centres, fitted = means @ axes, []
    for shrinkage in SHRINKAGES:
        inverse = 1.0 / ((1.0 - shrinkage) * spread + shrinkage * spread.mean())
        among = (centres * inverse) @ centres.T
        left_out = np.empty((n, n_classes))
        for part in _blocks(n, D):
            rows = ((X[part] - middle) / unit) @ axes
            own, count = codes[part], counts[codes[part]]
            each = np.arange(len(rows))
            to_centres = (rows * inverse) @ centres.T
            lengths = (rows**2) @ inverse
            squares = lengths[:, None] - 2.0 * to_centres + among.diagonal()
            products = (lengths - to_centres[each, own])[:, None] - to_centres + among[own]
            with np.errstate(divide="ignore"):
                farther = count / (count - 1.0)  # inf of an only row
                logs = np.log(counts - (own[:, None] == np.arange(n_classes)))
            alone = count == 1
            farther[alone] = 1.0
            lost = farther * (1.0 - shrinkage) / (n - n_classes)
            squares += (lost / (1.0 - lost * squares[each, own]))[:, None] * products**2
            squares[each, own] *= farther**2
            left_out[part] = logs - 0.5 * squares
        coef = axes @ (inverse[:, None] * centres.T) / unit
        offset = np.log(counts) - 0.5 * among.diagonal() - middle @ coef
        fitted.append(Discriminants(coef, offset, shrinkage, left_out))
    return fitted


def _blocks(n: int, n_columns: int) -> Iterator[slice]:
    """Yield rows that fit into the working memory."""
    step = rows_in_memory(n_columns)
    for start in range(0, n, step):
        checkpoint()
        yield slice(start, start + step)
