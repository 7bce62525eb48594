"""Kernels of the softmax likelihood: one pass over the parameters, without intermediate arrays."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def softmax_pulls(Y, theta, observed, intercept, half) -> None:  # noqa: ANN001
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
def softmax_values(Y, theta, observed, values) -> None:  # noqa: ANN001
    """Write the log-likelihood of every row, (n,); 0 without a label."""
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
