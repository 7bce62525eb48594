"""Compiled loops of LSDR: pulling latent rows by their labels, one row at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

from supdr.functions.losses import loss_derivative, loss_prox, loss_value

PULL_TOLERANCE = 1e-10


@njit(cache=True, nogil=True)
def label_epoch(code, Y, rows, order, latent, coef, intercept, rate, weights, shrink) -> None:  # noqa: ANN001
    """Write one epoch of stochastic gradient steps on the labels into latent (N, D), coef (K, d), intercept (K,).

    For each labelled row r of order, with i = rows[r] and g_k = weights_r loss'(Y_rk, z_k): u -= rate sum_k g_k w_k,
    w_k -= rate (g_k u + 2 shrink w_k), bu -= rate sum_k g_k, w0_k -= rate g_k.  Errata: 1 - beta, a factor of the
    weights, is missing in eq. 17-25, which also take reg_u a second time; the biases move once per row, not once per
    coordinate (algorithm 1).
    """
    n_heads, d = coef.shape
    row_bias = latent.shape[1] > d
    g = np.empty(n_heads)
    for r in order:
        i = rows[r]
        total = 0.0
        for k in range(n_heads):
            z = intercept[k]
            for j in range(d):
                z += coef[k, j] * latent[i, j]
            if row_bias:
                z += latent[i, d]
            g[k] = weights[r] * loss_derivative(code, Y[r, k], z)
            total += g[k]
        for j in range(d):
            u, moved = latent[i, j], 0.0
            for k in range(n_heads):
                w = coef[k, j]
                moved += g[k] * w
                coef[k, j] = w - rate * (g[k] * u + 2.0 * shrink * w)
            latent[i, j] = u - rate * moved
        for k in range(n_heads):
            intercept[k] -= rate * g[k]
        if row_bias:
            latent[i, d] -= rate * total


@njit(cache=True, nogil=True)
def pull_rows(code, Y, free, grams, q, pull, max_sweeps) -> None:  # noqa: ANN001
    """Write into pull (n, K) the g with g_k = loss'(Y_k, z_k) at the scores z = free - q_i G g, row by row.

    Coordinate ascent on g from the values it holds; with one head a single proximal map, which is exact.
    Y, free (n, K); q (n,); grams (1, K, K), shared by all rows, or (n, K, K).  O(n K^2) per sweep.
    """
    n, n_heads = Y.shape
    z = np.empty(n_heads)
    for i in range(n):
        G = grams[i if len(grams) > 1 else 0]
        for k in range(n_heads):
            z[k] = free[i, k]
            for other in range(n_heads):
                z[k] -= q[i] * G[k, other] * pull[i, other]
        for _ in range(max_sweeps):
            largest = 0.0
            for k in range(n_heads):
                reach = q[i] * G[k, k]
                if reach <= 0.0:  # this head has no weights yet, or beta = 1: it pulls at nothing
                    continue
                base = z[k] + reach * pull[i, k]
                change = (base - loss_prox(code, Y[i, k], base, reach, z[k])) / reach - pull[i, k]
                pull[i, k] += change
                for other in range(n_heads):
                    z[other] -= q[i] * G[other, k] * change
                largest = max(largest, abs(change) / (1.0 + abs(pull[i, k])))
            if n_heads == 1 or largest <= PULL_TOLERANCE:
                break


@njit(cache=True, nogil=True)
def score_gradients(code, Y, scores, gradients) -> None:  # noqa: ANN001
    """Write loss'(Y, scores) into gradients; all (n, K)."""
    for i in range(Y.shape[0]):
        for k in range(Y.shape[1]):
            gradients[i, k] = loss_derivative(code, Y[i, k], scores[i, k])


@njit(cache=True, nogil=True)
def row_losses(code, Y, scores, total) -> None:  # noqa: ANN001
    """Write each row's sum of losses into total (n,); Y, scores (n, K)."""
    for i in range(Y.shape[0]):
        total[i] = 0.0
        for k in range(Y.shape[1]):
            total[i] += loss_value(code, Y[i, k], scores[i, k])
