"""Ridge regression on monomials of latent rows in partitions: the sums that `Primal` needs.

A partition returns the number of its rows, their means, and their products about these means: parts are joined
without the cancellation of sums of squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.solvers.kernel_ridge import Fit, Primal

# Rows of which features are formed at a time.
BLOCK_ROWS = 8192


class Moments(NamedTuple):
    """Number, mean (F + Q,) and products (F, F + Q) about it of rows [psi, T], F features and Q columns."""

    n_rows: int
    mean: NDArray
    products: NDArray

    def fit(self, form: Primal) -> Fit:
        """Return the regression of T on psi, whose loss is not computed yet; LinAlgError if it cannot be solved."""
        size = len(self.products)
        return form.solved(self.mean[:size], self.mean[size:], self.products[:, :size], self.products[:, size:])


def moments(form: Primal, Z: NDArray, T: NDArray) -> Moments:
    """Return the moments of a partition's latent rows (n, D) and columns (n, Q)."""
    size = len(form.features.weight)
    parts = [Moments(0, np.zeros(size + T.shape[1]), np.zeros((size, size + T.shape[1])))]
    for rows in _blocks(len(Z)):
        both = np.hstack([form.features.features(Z[rows]), T[rows]])
        mean = both.mean(axis=0)
        both -= mean
        parts.append(Moments(len(both), mean, both[:, :size].T @ both))
    return joined(parts)


def joined(parts: list[Moments]) -> Moments:
    """Return the moments of the rows of all parts."""
    whole = parts[0]
    for part in parts[1:]:
        count = whole.n_rows + part.n_rows
        if part.n_rows == 0:
            continue
        apart = part.mean - whole.mean
        share = part.n_rows / count
        products = whole.products + part.products
        products += np.outer(whole.n_rows * share * apart[: len(products)], apart)
        whole = Moments(count, whole.mean + share * apart, products)
    return whole


def pull(form: Primal, fit: Fit, mean: NDArray, Z: NDArray, T: NDArray) -> tuple[NDArray, float]:
    """Return dP/dZ (n, D) of a partition's rows, and the sum of their squared residuals, about the mean (F + Q,)."""
    size = len(fit.coef)
    gradient, loss = np.empty_like(Z), 0.0
    for rows in _blocks(len(Z)):
        residual = T[rows] - mean[size:] - (form.features.features(Z[rows]) - mean[:size]) @ fit.coef
        loss += float(np.vdot(residual, residual))
        gradient[rows] = form.gradient(Z[rows], fit, residual)
    return gradient, loss


def _blocks(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS))
