"""Kernels of `supdr.solvers.margin_working_set`: how far rows lie from their margin, and sums by group."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Of the space of the rows.
CELLS = 256

# Rows of either sign, on either side of the margin, by cell.
GROUPS = 4 * CELLS

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


@njit(cache=True, nogil=True)
def cells(Z: Array, middle: Array, unit: Array) -> NDArray[np.int16]:
    """Return the number of the cell in which each row (n, d) lies: three units to either side of the middle are cut up.

    As many coordinates are cut, the first ones, and in as many pieces of equal length, as there are cells for.
    """
    n, d = Z.shape
    pieces = max(2, int(np.floor(CELLS ** (1.0 / d) + 1e-9)))
    cut = min(d, int(np.floor(np.log(CELLS) / np.log(pieces) + 1e-9)))
    numbers = np.zeros(n, dtype=np.int16)
    for i in range(n):
        place = 0
        for j in range(cut):
            share = (Z[i, j] - middle[j]) / (6.0 * unit[j]) + 0.5
            place = place * pieces + min(max(int(share * pieces), 0), pieces - 1)
        numbers[i] = place
    return numbers


@njit(cache=True, nogil=True, fastmath=_SUMS)
def grouped(
    Z: Array, signs: NDArray[np.int8], weight: Array, t: Array, cell: NDArray[np.int16], apart: NDArray[np.bool_]
) -> tuple[Array, float]:
    """Return weighted sums (GROUPS, d + 1) of each group's rows but those `apart`, and the hinge of all rows."""
    n, d = Z.shape
    sums, hinge = np.zeros((GROUPS, d + 1)), 0.0
    for i in range(n):
        if signs[i] == 0:
            continue
        hinge += weight[i] * max(t[i], 0.0)
        if apart[i]:
            continue
        group = (2 * (signs[i] > 0) + (t[i] > 0.0)) * CELLS + cell[i]
        for j in range(d):
            sums[group, j] += weight[i] * Z[i, j]
        sums[group, d] += weight[i]
    return sums, hinge


@njit(cache=True, nogil=True)
def shared_out(signs: NDArray[np.int8], t: Array, cell: NDArray[np.int16], shares: Array) -> Array:
    """Return the share (n,) of every row's group, of shares (GROUPS,)."""
    row_shares = np.zeros(len(t))
    for i in range(len(t)):
        if signs[i] != 0:
            row_shares[i] = shares[(2 * (signs[i] > 0) + (t[i] > 0.0)) * CELLS + cell[i]]
    return row_shares


@njit(cache=True, nogil=True, fastmath=_SUMS)
def hinges_along(
    Z: Array, signs: NDArray[np.int8], weight: Array, theta: Array, direction: Array, lengths: Array
) -> Array:
    """Return the hinge of all rows at theta + s direction for each length s, (S,)."""
    n, d = Z.shape
    hinges = np.zeros(len(lengths))
    for i in range(n):
        if signs[i] == 0:
            continue
        score, change = theta[d], direction[d]
        for j in range(d):
            score += theta[j] * Z[i, j]
            change += direction[j] * Z[i, j]
        t, step = 1.0 - signs[i] * score, -signs[i] * change
        for k in range(len(lengths)):
            hinges[k] += weight[i] * max(t + lengths[k] * step, 0.0)
    return hinges


def compile_all() -> None:
    """Call every kernel once, on next to nothing: only rows in partitions need them."""
    Z, signs, ones = np.zeros((2, 1)), np.array([1, -1], dtype=np.int8), np.ones(2)
    t, cell = margins(Z, signs, ones), cells(Z, np.zeros(1), np.ones(1))
    grouped(Z, signs, ones, t, cell, np.zeros(2, dtype=bool))
    shared_out(signs, t, cell, np.zeros(GROUPS))
    hinges_along(Z, signs, ones, ones, ones, ones)
