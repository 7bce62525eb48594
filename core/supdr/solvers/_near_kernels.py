"""Kernels of `supdr.solvers.near_rows`: how far rows lie from their margin, and sums by group."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

BINS = 32
"""Groups of either sign on either side of the margin: each reaches farther by a factor of sqrt(2)."""

NEAREST_BIN = -20
"""Of |t|, in half powers of two: where the second bin begins."""

GROUPS = 4 * BINS

_SUMS = {"reassoc", "nsz", "contract"}


@njit(cache=True, nogil=True)
def margins(Z: Array, signs: NDArray[np.int8], theta: Array) -> Array:
    """Return t = 1 - y (theta'(z, 1)), (n,), of rows Z (n, d); infinite where the sign is 0."""
    n, d = Z.shape
    t = np.empty(n)
    for i in range(n):
        score = theta[d]
        for j in range(d):
            score += theta[j] * Z[i, j]
        t[i] = np.inf if signs[i] == 0 else 1.0 - signs[i] * score
    return t


@njit(cache=True, nogil=True, inline="always")
def _group(sign: int, t: float) -> int:
    """Return the number of the group of a row, by its sign, its side of the margin, and how far from it it lies."""
    size = abs(t)
    half_powers = NEAREST_BIN if size == 0.0 else int(np.floor(2.0 * np.log2(size)))
    place = min(max(half_powers - NEAREST_BIN, 0), BINS - 1)
    return (2 * (sign > 0) + (t > 0.0)) * BINS + place


@njit(cache=True, nogil=True, fastmath=_SUMS)
def grouped(
    Z: Array, signs: NDArray[np.int8], weight: Array, t: Array, apart: NDArray[np.bool_]
) -> tuple[Array, float]:
    """Return weighted sums of the rows of each group, those `apart` left out, and the hinge of all rows.

    The sums are (GROUPS, d + 1), their last column the weights.
    """
    n, d = Z.shape
    sums, hinge = np.zeros((GROUPS, d + 1)), 0.0
    for i in range(n):
        if signs[i] == 0:
            continue
        hinge += weight[i] * max(t[i], 0.0)
        if apart[i]:
            continue
        group = _group(signs[i], t[i])
        for j in range(d):
            sums[group, j] += weight[i] * Z[i, j]
        sums[group, d] += weight[i]
    return sums, hinge


@njit(cache=True, nogil=True)
def shared_out(signs: NDArray[np.int8], t: Array, shares: Array) -> Array:
    """Return the share (n,) of every row's group, of shares (GROUPS,)."""
    found = np.zeros(len(t))
    for i in range(len(t)):
        if signs[i] != 0:
            found[i] = shares[_group(signs[i], t[i])]
    return found
