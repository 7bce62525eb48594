"""Kernels of `supdr.solvers.linear_svm`: Newton steps on the proximal problem.

Rows are stored across: A is (D, n) with A[l, i] = y_i z_il and, last, A[D-1, i] = y_i for the bias; every loop runs
over i.  Sums may be reordered (fastmath "reassoc"): vector instructions need that, and without them sums are the
whole cost.  Vectors are copied by loops: to compile ``a[:] = b`` takes four seconds, most of them for its errors.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.solvers.positive_definite import solve_in_place

Array = NDArray[np.float64]

_SUMS = {"reassoc", "nsz", "contract"}

# The line search ends when the slope has fallen to this share.
LINE_TOL = 0.05

MAX_LINE_TRIALS = 60


@njit(cache=True, nogil=True, fastmath=_SUMS)
def hinge_arguments(A: Array, theta: Array, linear: Array, t: Array) -> None:
    """Write t = linear - theta'A in place.  A (D, n), theta (D,), linear (n,), t (n,)."""
    D, n = A.shape
    for i in range(n):
        t[i] = linear[i]
    for j in range(D):
        value = theta[j]
        row = A[j]
        for i in range(n):
            t[i] -= value * row[i]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def weighted_sum(A: Array, weight: Array, share: Array, total: Array) -> None:
    """Write total = sum_i weight_i share_i A[:, i] in place.  A (D, n), weight and share (n,), total (D,)."""
    D, n = A.shape
    for j in range(D):
        row = A[j]
        sum_ = 0.0
        for i in range(n):
            sum_ += weight[i] * share[i] * row[i]
        total[j] = sum_


@njit(cache=True, nogil=True, fastmath=_SUMS)
def inner(a: Array, b: Array) -> float:
    """Return sum a b of vectors (n,); for some 10,000 numbers BLAS wakes its threads, which costs more than the sum."""
    sum_ = 0.0
    for i in range(a.shape[0]):
        sum_ += a[i] * b[i]
    return sum_


@njit(cache=True, nogil=True, fastmath=_SUMS)
def shares(t: Array, centre: Array, tau: float, beta: Array) -> None:
    """Write beta = clip(centre + t / tau, 0, 1) in place.  All (n,)."""
    inverse = 1.0 / tau
    for i in range(t.shape[0]):
        beta[i] = min(max(centre[i] + t[i] * inverse, 0.0), 1.0)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _slope(s: float, t: Array, d: Array, weight: Array, centre: Array, tau: float) -> tuple[float, float]:
    """Return sum weight beta(t - s d) d and its curvature part sum_free weight d^2 / tau."""
    inverse = 1.0 / tau
    slope, curvature = 0.0, 0.0
    for i in range(t.shape[0]):
        raw = centre[i] + (t[i] - s * d[i]) * inverse
        beta = min(max(raw, 0.0), 1.0)
        pulled = weight[i] * d[i]
        slope += pulled * beta
        curvature += pulled * d[i] if beta == raw else 0.0
    return slope, curvature * inverse


@njit(cache=True, nogil=True)
def _step_length(
    linear: float, quadratic: float, t: Array, d: Array, weight: Array, centre: Array, tau: float
) -> float:
    """Return s with slope linear + s quadratic - sum weight beta(t - s d) d nearly 0; the slope rises with s."""
    low, high, s = 0.0, np.inf, 1.0
    pulled, _ = _slope(0.0, t, d, weight, centre, tau)
    enough = LINE_TOL * abs(linear - pulled)
    for _ in range(MAX_LINE_TRIALS):
        pulled, curvature = _slope(s, t, d, weight, centre, tau)
        slope = linear + s * quadratic - pulled
        if abs(slope) <= enough:
            return s
        if slope < 0.0:
            low = s
        else:
            high = s
        curvature += quadratic
        s = s - slope / curvature if curvature > 0.0 else np.inf
        if not low < s < high:
            s = 2.0 * low if high == np.inf else between(low, high)
    return low if low > 0.0 else s  # the value falls all the way to low; beyond it may have risen by any amount


@njit(cache=True, nogil=True)
def between(low: float, high: float) -> float:
    """Return the middle, that in order of magnitude where the ends are far apart, as on a slope that is nearly flat."""
    return np.sqrt(low) * np.sqrt(high) if high > 4.0 * low > 0.0 else 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _hessian(A: Array, weight: Array, beta: Array, tau: float, unit: float, fit_bias: bool) -> Array:
    """Return I + A_free W A_free' / tau (D, D), a little above it for the bias; free is 0 < beta < 1."""
    D = A.shape[0]
    free = np.empty(beta.shape[0], np.int64)
    count = 0
    for i in range(beta.shape[0]):
        if 0.0 < beta[i] < 1.0:
            free[count] = i
            count += 1
    gathered = np.empty((D, count))
    for j in range(D):
        row = A[j]
        for i in range(count):
            gathered[j, i] = row[free[i]] * np.sqrt(weight[free[i]] / tau)
    H = np.dot(gathered, gathered.T)
    last = D - 1
    trace = 0.0
    for j in range(last):
        H[j, j] += 1.0
        trace += H[j, j]
    H[last, last] += 1e-10 * (unit + H[last, last])
    if count == 0:
        H[last, last] += 1e-3 * unit * trace / max(last, 1)
    if not fit_bias:
        for j in range(last):
            H[last, j] = 0.0
            H[j, last] = 0.0
        H[last, last] = 1.0
    return H


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _gradient(A: Array, weight: Array, constant: Array, beta: Array, fit_bias: bool, theta: Array, g: Array) -> None:
    """Write g = (w, 0) - constant - sum weight beta A in place; 0 for a bias that is kept."""
    last = theta.shape[0] - 1
    weighted_sum(A, weight, beta, g)
    for j in range(last):
        g[j] = theta[j] - constant[j] - g[j]
    g[last] = -constant[last] - g[last] if fit_bias else 0.0


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _fall(g: Array, direction: Array) -> float:
    """Return the slope against `direction`."""
    slope = 0.0
    for j in range(g.shape[0]):
        slope -= g[j] * direction[j]
    return slope


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _predict(
    A: Array, weight: Array, constant: Array, centre: Array, tau: float, unit: float, fit_bias: bool, theta: Array,
    t: Array, beta: Array, direction: Array,
) -> None:  # fmt: skip
    """Write the Newton direction with the free rows of the round before, those with 0 < centre < 1, in place.

    A smaller tau throws most of them out at once, though in the end most stay: so they are kept for one step.
    """
    kept = beta.copy()
    for i in range(t.shape[0]):
        if 0.0 < centre[i] < 1.0:
            kept[i] = centre[i] + t[i] / tau
    _gradient(A, weight, constant, kept, fit_bias, theta, direction)
    solve_in_place(_hessian(A, weight, centre, tau, unit, fit_bias), direction, theta.shape[0])


@njit(cache=True, nogil=True, fastmath=_SUMS)
def newton_steps(
    A: Array,
    weight: Array,
    constant: Array,
    centre: Array,
    tau: float,
    unit: float,
    fit_bias: bool,
    max_steps: int,
    accuracy: float,
    begins: bool,
    theta: Array,
    t: Array,
    beta: Array,
) -> tuple[int, bool]:
    """Write theta (D,), t (n,) and beta (n,) in place: minimise |w|^2 / 2 + sum weight psi(t).

    psi(t) = max over 0 <= beta <= 1 of beta t - tau / 2 (beta - centre)^2.  `constant` (D,) is the part of
    sum weight beta A that belongs to rows held at beta = 1 elsewhere; `begins` tells the first call at a centre;
    `unit` is the size of sum weight, at most 1: what is far below it counts as 0.
    Returns (steps, whether the gradient vanished, up to the relative `accuracy`).
    """
    D = A.shape[0]
    last = D - 1
    g = np.empty(D)
    direction = np.empty(D)
    d = np.empty_like(t)
    zeros = np.zeros_like(t)
    for step in range(max_steps + 1):
        shares(t, centre, tau, beta)
        _gradient(A, weight, constant, beta, fit_bias, theta, g)
        total, size, worst = 0.0, 0.0, 0.0
        for i in range(t.shape[0]):
            total += weight[i] * beta[i]
        for j in range(last):
            size = max(size, abs(theta[j]))
            worst = max(worst, abs(g[j]))
        if worst <= accuracy * max(1e-3 * unit, size) and abs(g[last]) <= 0.1 * accuracy * (1e-3 * unit + total):
            return step, True
        if step == max_steps:
            break
        slope = 0.0
        if begins and step == 0:
            _predict(A, weight, constant, centre, tau, unit, fit_bias, theta, t, beta, direction)
            slope = _fall(g, direction)
        if not slope < 0.0:
            for j in range(D):
                direction[j] = g[j]  # of ascent, as t falls by s A'(-direction)
            solve_in_place(_hessian(A, weight, beta, tau, unit, fit_bias), direction, D)
            slope = _fall(g, direction)
        if not -np.inf < slope < 0.0:
            return step, True  # rounding is all that is left, or numbers too large to go on with
        hinge_arguments(A, direction, zeros, d)
        linear, quadratic = constant[last] * direction[last], 0.0
        for j in range(last):
            linear += (constant[j] - theta[j]) * direction[j]
            quadratic += direction[j] ** 2
        s = _step_length(linear, quadratic, t, d, weight, centre, tau)
        if not s < np.inf:
            return step, True
        for j in range(D):
            theta[j] -= s * direction[j]
        for i in range(t.shape[0]):
            t[i] -= s * d[i]
    return max_steps, False
