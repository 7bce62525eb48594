"""Kernel of `supdr.solvers.distributed_svm`: what the rows of a partition add to the sums of a head's Newton step.

Most rows lie far on the right side of their margin: one product is all that they cost.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SUMS = {"reassoc", "nsz", "contract"}


@njit(cache=True, nogil=True, fastmath=_SUMS)
def head_sums(
    Z: Array, signs: NDArray[np.int8], weight: Array, centre: Array, theta: Array, tau: float, predicts: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """Return (totals (7,), pulls (2, D), square (D, D), predicted pull (D,), predicted square (D, D)).

    Z (n, d), signs (n,), weight (n,), centre (n,), theta (D,) with D = d + 1, its last entry the bias.  At theta, with
    t = 1 - y (theta'a), a = (z, 1), beta = clip(centre + t / tau, 0, 1):
    totals are the sums of weight beta where y > 0 and where y < 0, of weight beta t, of weight max(t, 0), of
    weight psi(t), and the numbers of free rows, 0 < beta < 1, now and at `centre`;
    pulls are the sums of weight beta y a over either sign, square that of weight a a' over free rows (its lower half is
    filled in).  The predicted ones, if `predicts`, take for free the rows with 0 < centre < 1, beta unclipped.
    """
    n, d = Z.shape
    D = d + 1
    totals, pulls, square = np.zeros(7), np.zeros((2, D)), np.zeros((D, D))
    predicted, predicted_square = np.zeros(D), np.zeros((D, D))
    inverse = 1.0 / tau
    for i in range(n):
        y = float(signs[i])
        if y == 0.0:
            continue
        z = Z[i]
        score = theta[d]
        for j in range(d):
            score += theta[j] * z[j]
        t = 1.0 - y * score
        raw = centre[i] + t * inverse
        inside = predicts and 0.0 < centre[i] < 1.0
        if raw <= 0.0 and t <= 0.0 and not inside:
            totals[4] -= weight[i] * 0.5 * tau * centre[i] ** 2
            continue
        beta = min(max(raw, 0.0), 1.0)
        side = 0 if y > 0.0 else 1
        pull = weight[i] * beta
        totals[side] += pull
        totals[2] += pull * t
        totals[3] += weight[i] * max(t, 0.0)
        totals[4] += pull * t - weight[i] * 0.5 * tau * (beta - centre[i]) ** 2
        _add(pulls[side], pull * y, z)
        if 0.0 < beta < 1.0:
            totals[5] += 1.0
            _add_square(square, weight[i], z)
        if predicts:
            _add(predicted, weight[i] * y * (raw if inside else beta), z)
            if inside:
                totals[6] += 1.0
                _add_square(predicted_square, weight[i], z)
    for j in range(D):
        for k in range(j):
            square[j, k] = square[k, j]
            predicted_square[j, k] = predicted_square[k, j]
    return totals, pulls, square, predicted, predicted_square


@njit(cache=True, nogil=True, inline="always")
def _add(total: Array, coefficient: float, z: Array) -> None:
    """Add coefficient (z, 1) to total (D,) in place."""
    d = z.shape[0]
    for j in range(d):
        total[j] += coefficient * z[j]
    total[d] += coefficient


@njit(cache=True, nogil=True, inline="always")
def _add_square(square: Array, coefficient: float, z: Array) -> None:
    """Add coefficient (z, 1) (z, 1)' to the upper half of square (D, D) in place."""
    d = z.shape[0]
    for j in range(d):
        value = coefficient * z[j]
        for k in range(j, d):
            square[j, k] += value * z[k]
        square[j, d] += value
    square[d, d] += coefficient


@njit(cache=True, nogil=True, fastmath=_SUMS)
def moved_centre(Z: Array, signs: NDArray[np.int8], centre: Array, theta: Array, tau: float) -> Array:
    """Return clip(centre + t / tau, 0, 1), (n,): see `head_sums`."""
    n, d = Z.shape
    moved = np.empty(n)
    inverse = 1.0 / tau
    for i in range(n):
        score = theta[d]
        for j in range(d):
            score += theta[j] * Z[i, j]
        moved[i] = min(max(centre[i] + (1.0 - signs[i] * score) * inverse, 0.0), 1.0)
    return moved


@njit(cache=True, nogil=True, fastmath=_SUMS)
def pulls_along(
    Z: Array,
    signs: NDArray[np.int8],
    weight: Array,
    centre: Array,
    theta: Array,
    tau: float,
    direction: Array,
    lengths: Array,
) -> Array:
    """Return the sums of weight beta y direction'a at theta - s direction for every length s in [0, 1], (S,)."""
    n, d = Z.shape
    sums = np.zeros(len(lengths))
    inverse = 1.0 / tau
    for i in range(n):
        y = float(signs[i])
        score, change = theta[d], direction[d]
        for j in range(d):
            score += theta[j] * Z[i, j]
            change += direction[j] * Z[i, j]
        change *= y
        raw = centre[i] + (1.0 - y * score) * inverse
        if y == 0.0 or max(raw, raw + change * inverse) <= 0.0:
            continue
        for k in range(len(lengths)):
            sums[k] += weight[i] * change * min(max(raw + lengths[k] * change * inverse, 0.0), 1.0)
    return sums
