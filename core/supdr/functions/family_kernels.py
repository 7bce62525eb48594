"""Compiled kernels of the families in `families.py`: pure functions on float64 arrays.

Shapes: codes (D,) int64, the family of every column; cells s, natural parameters t, e = exp(-|t|), curvature a and
linear part g (n, D).  A cell that is NaN is not observed.
"""

from __future__ import annotations

import math

from numba import njit
from numpy.typing import NDArray

BERNOULLI, GAUSSIAN, POISSON, GAMMA, NEGATIVE_BINOMIAL = range(5)

# kappa: (e^x - 1 - x) / x^2 rises with x, so a parabola of curvature kappa e^t0 lies below l wherever t <= t0 + 1. Of a
# gamma cell, whose curvature is s e^-t, wherever t >= t0 - 1.
POISSON_FACTOR = 2.0 * (math.e - 2.0)

# Below this |t| the ratio T is its series, 1/2 - t^2 / 24.
SMALL = 1e-4

LARGEST_PRODUCT = 1e200

# Beyond it not every whole number is a floating-point number.
LARGEST_COUNT = 2.0**53


@njit(cache=True, nogil=True, error_model="numpy")
def first_impossible(codes, values) -> tuple[int, int]:  # noqa: ANN001
    """Return row and column of the first cell (n, D) that its family cannot produce, or (-1, -1)."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            s = values[i, j]
            if codes[j] == GAUSSIAN or s != s:
                continue
            if codes[j] == GAMMA:
                if s <= 0.0:
                    return i, j
            elif s < 0.0 or s != math.floor(s) or s > (1.0 if codes[j] == BERNOULLI else LARGEST_COUNT):
                return i, j
    return -1, -1


@njit(cache=True, nogil=True, error_model="numpy")
def expand_bits(s, t, e, a, g) -> None:  # noqa: ANN001
    """Write a and g (n, D) of Bernoulli cells, given e = exp(-|t|); no branches, for the vector units."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, small, size = s[i, j], e[i, j], abs(t[i, j])
            ratio = (1.0 - small) / ((1.0 + small) * size) if size >= SMALL else 0.5 - size * size / 24.0
            a[i, j] = 0.5 * ratio if cell == cell else 0.0
            g[i, j] = cell - 0.5 if cell == cell else 0.0  # a t + s - sigma(t) = s - 1/2


@njit(cache=True, nogil=True, error_model="numpy")
def expand_cells(codes, s, t, e, c, size, fixed, a, g) -> None:  # noqa: ANN001
    """Write a and g (n, D), given e = exp(-|t|)."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, theta, small = s[i, j], t[i, j], e[i, j]
            if cell != cell:
                a[i, j] = 0.0
                g[i, j] = 0.0
            elif codes[j] == BERNOULLI or codes[j] == NEGATIVE_BINOMIAL:
                far, trials = abs(theta), 1.0 if codes[j] == BERNOULLI else cell + size
                if fixed:
                    a[i, j] = 0.25 * trials
                    g[i, j] = 0.25 * trials * theta + cell - trials * (1.0 if theta >= 0.0 else small) / (1.0 + small)
                else:
                    ratio = (1.0 - small) / ((1.0 + small) * far) if far >= SMALL else 0.5 - far * far / 24.0
                    a[i, j] = 0.5 * trials * ratio
                    g[i, j] = cell - 0.5 * trials
            elif codes[j] == GAUSSIAN:
                a[i, j] = 2.0 * c
                g[i, j] = 2.0 * c * cell
            elif codes[j] == GAMMA:
                share = cell * (small if theta > 0.0 else 1.0 / small)
                a[i, j] = POISSON_FACTOR * share
                g[i, j] = POISSON_FACTOR * share * theta + share - 1.0
            else:
                mean = small if theta < 0.0 else 1.0 / small
                a[i, j] = POISSON_FACTOR * mean
                g[i, j] = POISSON_FACTOR * mean * theta + cell - mean


@njit(cache=True, nogil=True, error_model="numpy")
def sum_log_likelihood(codes, s, t, e, c, size) -> float:  # noqa: ANN001
    """Return the log-likelihood of the cells (n, D), given e = exp(-|t|)."""
    total, product = 0.0, 1.0
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, theta, small = s[i, j], t[i, j], e[i, j]
            if cell != cell:
                continue
            if codes[j] == BERNOULLI:
                # log(1 + e^t) = max(t, 0) + log(1 + e^-|t|); one logarithm for many factors
                total += cell * theta - max(theta, 0.0)
                product *= 1.0 + small
                if product > LARGEST_PRODUCT:
                    total -= math.log(product)
                    product = 1.0
            elif codes[j] == GAUSSIAN:
                total -= c * (cell - theta) * (cell - theta)
            elif codes[j] == NEGATIVE_BINOMIAL:
                total += cell * theta - (cell + size) * (max(theta, 0.0) + math.log1p(small))
            elif codes[j] == GAMMA:
                total -= theta + cell * (small if theta > 0.0 else 1.0 / small)
            else:
                total += cell * theta - (small if theta < 0.0 else 1.0 / small)
    return total - math.log(product)


@njit(cache=True, nogil=True)
def sum_cells(s, weights, count, total) -> None:  # noqa: ANN001
    """Write each column's weighted number of observed cells into count and their sum into total, both (D,)."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            if s[i, j] == s[i, j]:
                count[j] += weights[i]
                total[j] += weights[i] * s[i, j]


@njit(cache=True, nogil=True)
def null_bits(codes, count, centre, loss) -> None:  # noqa: ANN001
    """Write the null loss of Bernoulli columns into loss (D,): their counts and means are all it needs."""
    for j in range(len(codes)):
        m = centre[j]
        if codes[j] == BERNOULLI and 0.0 < m < 1.0:
            loss[j] = -count[j] * (m * math.log(m) + (1.0 - m) * math.log(1.0 - m))


@njit(cache=True, nogil=True)
def null_numbers(codes, s, c, size, weights, centre, loss) -> None:  # noqa: ANN001
    """Add the null losses of all columns but bits about their means to loss (D,)."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell = s[i, j]
            if cell != cell:
                continue
            if codes[j] == GAUSSIAN:
                loss[j] += weights[i] * c * (cell - centre[j]) * (cell - centre[j])
            elif codes[j] == GAMMA:
                loss[j] += weights[i] * (math.log(centre[j] / cell) + cell / centre[j] - 1.0)
            elif codes[j] != BERNOULLI and cell > 0.0:
                loss[j] += weights[i] * cell * math.log(cell / centre[j])
            if codes[j] == NEGATIVE_BINOMIAL:
                loss[j] -= weights[i] * (cell + size) * math.log((size + cell) / (size + centre[j]))


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_pulls(Y: NDArray, theta: NDArray, observed: NDArray, intercept: NDArray, half: float) -> None:
    """Overwrite theta (n, K) with Y - p + half (f - mean f), f = theta - intercept; 0 in rows without a label."""
    for i in range(theta.shape[0]):
        if not observed[i]:
            for k in range(theta.shape[1]):
                theta[i, k] = 0.0
            continue
        peak, mean = theta[i, 0], 0.0
        for k in range(theta.shape[1]):
            if theta[i, k] > peak or math.isnan(theta[i, k]):
                peak = theta[i, k]
            mean += theta[i, k] - intercept[k]
        mean /= theta.shape[1]
        total = 0.0
        for k in range(theta.shape[1]):
            total += math.exp(theta[i, k] - peak)
        for k in range(theta.shape[1]):
            free = theta[i, k] - intercept[k] - mean
            theta[i, k] = Y[i, k] - math.exp(theta[i, k] - peak) / total + half * free


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_values(Y: NDArray, theta: NDArray, observed: NDArray, values: NDArray) -> None:
    """Write into values (n,) the log-likelihood of every row; 0 of a row without a label."""
    for i in range(theta.shape[0]):
        values[i] = 0.0
        if observed[i]:
            peak, chosen = theta[i, 0], 0.0
            for k in range(theta.shape[1]):
                if theta[i, k] > peak or math.isnan(theta[i, k]):
                    peak = theta[i, k]
                chosen += Y[i, k] * theta[i, k]
            total = 0.0
            for k in range(theta.shape[1]):
                total += math.exp(theta[i, k] - peak)
            values[i] = chosen - peak - math.log(total)
