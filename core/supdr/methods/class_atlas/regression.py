"""Kernel ridge regression on class codes: ridge and sharpness have the least log loss of exact left-out codes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_softmax

from supdr.engine.interruption import checkpoint
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import feature_blocks, kernel_spectrum, leave_one_out, mapped_spectrum

Array = NDArray[np.float64]

RIDGES = 10.0 ** np.arange(-6.0, 0.75, 0.5)
# Every second one is twice as large: its exponentials are squares.
SHARPNESS = 2.0 ** np.arange(-1.0, 7.75, 0.5)


class Choice(NamedTuple):
    """A fitted kernel ridge regression: coef (M, K) of the kernel values, left-out codes (n, K), and how they do."""

    loss: float
    ridge: float
    sharpness: float
    coef: Array
    left_out: Array

    def losses(self, codes: NDArray) -> Array:
        """Return -log softmax(kappa h) of the own class of every row, h left out; `loss` is their mean."""
        return -log_softmax(self.sharpness * self.left_out, axis=1)[np.arange(len(codes)), codes]


def fitted_exactly(kernel: Array, codes: NDArray, n_classes: int) -> Choice:
    """Return the kernel ridge regression, from the kernel (n, n), whose left-out codes have the least log loss."""
    targets = np.eye(n_classes)[codes] - 1.0 / n_classes
    e, back = kernel_spectrum(kernel)
    basis = back * e
    pulled = basis.T @ targets
    _, left_out = leave_one_out(basis, pulled, e, RIDGES, targets)
    return _chosen(left_out, codes, back, pulled, e)


def fitted_by_landmarks(X: Array, codes: NDArray, n_classes: int, mapping: Mapping) -> Choice:
    """Return the same by Nystroem's approximation, in blocks of rows."""
    targets = np.eye(n_classes)[codes] - 1.0 / n_classes
    e, back = mapped_spectrum(X, mapping, exact=False)
    by_centers = np.zeros((mapping.n_features, n_classes))
    for part, block in feature_blocks(X, mapping):
        by_centers += block.T @ targets[part]
    pulled = back.T @ by_centers
    left_out = np.empty((len(RIDGES), len(X), n_classes))
    for part, block in feature_blocks(X, mapping):
        _, left_out[:, part] = leave_one_out(block @ back, pulled, e, RIDGES, targets[part])
    return _chosen(left_out, codes, back, pulled, e)


def _chosen(left_out: Array, codes: NDArray, back: Array, pulled: Array, e: Array) -> Choice:
    """Return the best of all ridges and kappas, by left-out codes (R, n, K)."""
    losses = np.empty((len(RIDGES), len(SHARPNESS)))
    for number in range(len(RIDGES)):
        checkpoint()
        _log_losses(left_out[number], codes, SHARPNESS, losses[number])
    ridge, kappa = np.unravel_index(losses.argmin(), losses.shape)
    coef = back @ (pulled / (e + RIDGES[ridge])[:, None])
    return Choice(float(losses[ridge, kappa]), float(RIDGES[ridge]), float(SHARPNESS[kappa]), coef, left_out[ridge])


@njit(cache=True, nogil=True)
def _log_losses(left_out: Array, codes: NDArray, sharpness: Array, out: Array) -> None:
    """Write the mean of -log softmax(kappa h) of the own class for every kappa into out (S,).

    left (n, K) = h.  sharpness (S,) = kappa, each twice the last but one.
    """
    n, n_classes = left_out.shape
    powers = np.empty((2, n_classes))
    out[:] = 0.0
    for i in range(n):
        top = left_out[i].max()
        for s in range(len(sharpness)):
            power, total = powers[s % 2], 0.0
            for k in range(n_classes):
                power[k] = power[k] ** 2 if s > 1 else math.exp(sharpness[s] * (left_out[i, k] - top))
                total += power[k]
            out[s] += (math.log(total) - sharpness[s] * (left_out[i, codes[i]] - top)) / n
