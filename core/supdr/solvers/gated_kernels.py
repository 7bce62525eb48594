"""Gated kernels: sums of Gram matrices, each weighted by a gate of its rows and columns."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint

# A gate below this does not contribute to the kernel.
CLOSED_GATE = 1e-9

# Multiply-adds between two checks of the stop flag, some milliseconds.
SLICE = 4e6

# The same for matrix products, which are faster.
PRODUCT = 1e8

# Rows whose mirror image is written while they are in the processor's cache.
MIRRORED = 32


def gram(X: NDArray) -> NDArray:
    """Return X X' (n, n), in interruptible slices of rows up to the diagonal and their mirror images."""
    n, width = X.shape
    K = np.empty((n, n))
    step = max(1, int(PRODUCT / (n * width)))
    for start in range(0, n, step):
        checkpoint()
        stop = min(start + step, n)
        np.matmul(X[start:stop], X[:stop].T, out=K[start:stop, :stop])
        K[:start, start:stop] = K[start:stop, :start].T
    return K


def mixture(kernels: NDArray, which: NDArray, gate: NDArray) -> NDArray:
    """Return K_ij = sum_m eta_im eta_jm k_m(i, j), shape (n, n), in interruptible slices of rows."""
    n, n_models = gate.shape
    K, columns = np.empty((n, n)), np.ascontiguousarray(gate.T)
    step = max(1, int(SLICE / (n * n_models)))
    for start in range(0, n, step):
        checkpoint()
        _mix_rows(kernels, which, gate, columns, start, min(start + step, n), K)
    return K


@njit(cache=True, nogil=True)
def _mix_rows(kernels, which, gate, columns, start, stop, out):  # noqa: ANN001
    """Write rows start..stop of `out` (n, n) up to the diagonal, and their mirror images, of kernels (M, n, n)."""
    for top in range(start, stop, MIRRORED):
        bottom = min(top + MIRRORED, stop)
        for i in range(top, bottom):
            row = out[i, : i + 1]
            row[:] = 0.0
            for m in range(len(columns)):
                weight = gate[i, m]
                if weight < CLOSED_GATE:
                    continue
                kernel, column = kernels[which[m], i], columns[m]
                for j in range(i + 1):
                    row[j] += weight * column[j] * kernel[j]
        for j in range(bottom):
            for i in range(max(top, j + 1), bottom):
                out[j, i] = out[i, j]
