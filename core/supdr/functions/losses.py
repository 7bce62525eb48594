"""Losses of a score z against a target y: value, derivative, curvature and proximal map.

With t = y z (y = -1 or +1; the squared loss takes any y):

    squared        (y - z)^2
    logistic       log(1 + e^-t)
    hinge          max(0, 1 - t)
    smooth_hinge   1/2 - t  (t < 0),   (1 - t)^2 / 2  (0 <= t < 1),   0  (t >= 1)

All are convex in z.  Kernels take the loss as an integer, `loss_code(name)`: a kernel that takes a function is compiled
anew in every process.

Source: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 13-25.
Errata: eq. 15 prints 1 - t for the smooth hinge at t < 0, which jumps by 1/2 at 0; eq. 20-22 print the logistic
derivative twice too large; eq. 23-25 print the smooth hinge's derivative as -t and -(1 - t), right are -y and
-y (1 - t).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.checks import check_choice

LOSSES = ("squared", "logistic", "hinge", "smooth_hinge")
SQUARED, LOGISTIC, HINGE, SMOOTH_HINGE = range(4)

# The maximum of the second derivative in z, by code: a parabola this curved lies above the loss.
LARGEST_CURVATURE = (2.0, 0.25, math.inf, 1.0)

# Cap of the logistic proximal map's safeguarded Newton; it needs about five.
PROX_STEPS = 100


def loss_code(name: str) -> int:
    """Return the integer that stands for a loss in kernels; raise ValueError if the name is not one of `LOSSES`."""
    check_choice("loss", name, LOSSES)
    return LOSSES.index(name)


@njit(cache=True, nogil=True)
def sigmoid(t: float) -> float:
    """Return 1 / (1 + e^-t), without overflow."""
    if t >= 0.0:
        return 1.0 / (1.0 + math.exp(-t))
    e = math.exp(t)
    return e / (1.0 + e)


@njit(cache=True, nogil=True)
def loss_value(code: int, y: float, z: float) -> float:
    """Return the loss of score z."""
    if code == SQUARED:
        return (y - z) * (y - z)
    t = y * z
    if code == LOGISTIC:
        return math.log1p(math.exp(-t)) if t > 0.0 else math.log1p(math.exp(t)) - t
    if code == HINGE or t < 0.0:
        return max(0.0, 1.0 - t) if code == HINGE else 0.5 - t
    return 0.5 * (1.0 - t) * (1.0 - t) if t < 1.0 else 0.0


@njit(cache=True, nogil=True)
def loss_derivative(code: int, y: float, z: float) -> float:
    """Return the derivative in z; at the hinge's kink the right-hand one, 0."""
    if code == SQUARED:
        return -2.0 * (y - z)
    t = y * z
    if code == LOGISTIC:
        return -y * sigmoid(-t)
    if t >= 1.0:
        return 0.0
    return -y if code == HINGE or t < 0.0 else -y * (1.0 - t)


@njit(cache=True, nogil=True)
def loss_curvature(code: int, y: float, z: float) -> float:
    """Return the second derivative in z (y = -1 or +1), where it exists; 0 for the hinge."""
    if code == SQUARED:
        return 2.0
    if code == LOGISTIC:
        s = sigmoid(z)
        return s * (1.0 - s)
    t = y * z
    return 1.0 if code == SMOOTH_HINGE and 0.0 <= t < 1.0 else 0.0


@njit(cache=True, nogil=True)
def loss_prox(code: int, y: float, free: float, q: float, guess: float = 0.0) -> float:
    """Return the z that minimises (z - free)^2 / 2 + q loss(z), q >= 0: it solves z = free - q loss'(z).

    In closed form, but for the logistic loss, where a good `guess` of z saves Newton steps.
    """
    if code == SQUARED:
        return (free + 2.0 * q * y) / (1.0 + 2.0 * q)
    t = y * free
    if code == HINGE:
        return y * (t if t >= 1.0 else min(t + q, 1.0))
    if code == SMOOTH_HINGE:
        if t >= 1.0:
            return free
        return y * (t + q if t < -q else (t + q) / (1.0 + q))
    return y * _logistic_prox(t, q, y * guess)


@njit(cache=True, nogil=True)
def _logistic_prox(t0: float, q: float, guess: float) -> float:
    """Return the t = t0 + q sigmoid(-t): Newton kept inside the bracket [t0, t0 + q], bisecting where it leaves it."""
    low, high = t0, t0 + q
    t = min(max(guess, low), high)
    for _ in range(PROX_STEPS):
        s = sigmoid(-t)
        excess = t - t0 - q * s
        if excess > 0.0:
            high = t
        else:
            low = t
        step = excess / (1.0 + q * s * (1.0 - s))
        t -= step
        if not low <= t <= high:
            t = 0.5 * (low + high)
        if abs(step) <= 1e-9 * (1.0 + abs(t)) or high - low <= 0.0:  # the error is the step's square by now
            break
    return t


@njit(cache=True, nogil=True)
def _total(code, y, z, weights):  # noqa: ANN001
    """Return the sum of the losses of z against y, both (n, K), with weights (n,)."""
    total = 0.0
    for i in range(z.shape[0]):
        for k in range(z.shape[1]):
            total += weights[i] * loss_value(code, y[i, k], z[i, k])
    return total


@njit(cache=True, nogil=True)
def _derivatives(code, y, z, weights, first, second):  # noqa: ANN001
    """Write the weighted derivatives into first and second, and return the weighted sum of the losses; all (n,)."""
    total = 0.0
    for i in range(len(z)):
        total += weights[i] * loss_value(code, y[i], z[i])
        first[i] = weights[i] * loss_derivative(code, y[i], z[i])
        second[i] = weights[i] * loss_curvature(code, y[i], z[i])
    return total


@njit(cache=True, nogil=True)
def _gradient(code, y, z, weights, first):  # noqa: ANN001
    """Write the weighted derivatives into first and return the weighted sum of the losses; (n, K), weights (n,)."""
    total = 0.0
    for i in range(z.shape[0]):
        for k in range(z.shape[1]):
            total += weights[i] * loss_value(code, y[i, k], z[i, k])
            first[i, k] = weights[i] * loss_derivative(code, y[i, k], z[i, k])
    return total


def total_loss(code: int, targets: NDArray, scores: NDArray, weights: NDArray | None = None) -> float:
    """Return the sum of the losses of scores (n, K), weighted by row; see `loss_code`."""
    return _total(code, targets, scores, _row_weights(weights, scores))


def loss_gradient(
    code: int, targets: NDArray, scores: NDArray, weights: NDArray | None = None
) -> tuple[float, NDArray]:
    """Return the sum of the losses and its gradient by the scores, (n, K); weighted by row, see `loss_code`."""
    first = np.empty_like(scores)
    return _gradient(code, targets, scores, _row_weights(weights, scores), first), first


def loss_expansion(
    code: int, targets: NDArray, scores: NDArray, weights: NDArray | None = None
) -> tuple[float, NDArray, NDArray]:
    """Return the sum of the losses of one head, and first and second derivatives by each score, (n,)."""
    first, second = np.empty_like(scores), np.empty_like(scores)
    return _derivatives(code, targets, scores, _row_weights(weights, scores), first, second), first, second


def _row_weights(weights: NDArray | None, scores: NDArray) -> NDArray:
    return np.ones(len(scores)) if weights is None else weights
