"""Cells of a picture: what the plane says of the classes of its rows, and how the classes lie.

    s_k(z) = softmax_k(-b |z - c_k|^2)      D = lambda / n sum_i KL(p_i || s(z_i))

With R = lambda / n (s - p), whose rows sum to 0:

    dD/dz_i = -2 b sum_k R_ik (z_i - c_k)    dD/dc_k = 2 b sum_i R_ik (z_i - c_k)
    dD/dlog b = -b sum_ik R_ik |z_i - c_k|^2
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


def cell_logs(Z: Array, centres: Array, b: float) -> tuple[Array, Array]:
    """Return log s_k(z) (n, K), and |z - c_k|^2 (n, K)."""
    middle = centres.mean(axis=0)  # distances do not change, cancellation shrinks
    z, c = Z - middle, centres - middle
    squares = (z**2).sum(axis=1)[:, None] + (c**2).sum(axis=1) - 2.0 * (z @ c.T)
    np.maximum(squares, 0.0, out=squares)
    logs = -b * squares
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs, squares


def disagreement_with_gate(
    Z: Array, centres: Array, b: float, proba: Array, negative_entropy: float, lam: float
) -> tuple[float, Array, Array, float]:
    """Return D, by how much the plane (n, d) disagrees with the gate's p (n, K), and its slopes.  O(n K d)."""
    share, in_latent, in_centres = lam / len(Z), np.zeros(Z.shape), np.zeros(centres.shape)
    logs, slope = _disagreement(Z, centres, b, proba, in_latent, in_centres)
    in_latent *= -2.0 * b * share
    in_centres *= 2.0 * b * share
    return share * (negative_entropy - logs), in_latent, in_centres, -b * share * slope


@njit(cache=True, nogil=True, error_model="numpy")
def _disagreement(
    Z: Array, centres: Array, b: float, proba: Array, in_latent: Array, in_centres: Array
) -> tuple[float, float]:
    """Add sum_k (s - p) (z - c_k) to in_latent (n, d), the sums over rows to in_centres (K, d).

    Returns sum p log s and sum (s - p) |z - c|^2.
    """
    (n, d), n_classes = Z.shape, len(centres)
    beyond, share = np.empty(n_classes), np.empty(n_classes)
    logs, slope = 0.0, 0.0
    for i in range(n):
        least = np.inf
        for k in range(n_classes):
            square = 0.0
            for c in range(d):
                square += (Z[i, c] - centres[k, c]) ** 2
            beyond[k] = square
            least = min(least, square)
        total = 0.0
        for k in range(n_classes):
            beyond[k] -= least  # R sums to 0: what all classes have in common is none of its business
            share[k] = math.exp(-b * beyond[k])
            total += share[k]
        log_total = math.log(total)
        for k in range(n_classes):
            logs -= proba[i, k] * (b * beyond[k] + log_total)
            rest = share[k] / total - proba[i, k]
            slope += rest * beyond[k]
            for c in range(d):
                pull = rest * (Z[i, c] - centres[k, c])
                in_latent[i, c] += pull
                in_centres[k, c] += pull
    return logs, slope


def radii_around(places: Array, members: NDArray, centres: Array) -> Array:
    """Return the radius (K,) around each of the `centres` (K, d) within which .9 of its class's places (n, d) lie."""
    distances = np.linalg.norm(places - centres[members], axis=1)
    return np.array([np.quantile(distances[members == k], 0.9) for k in range(len(centres))])


def overlap(radii: Array, centres: Array) -> float:
    """Return the largest (r_k + r_l) / |c_k - c_l|; 0 for one class."""
    if len(radii) < 2:
        return 0.0
    first, second = np.triu_indices(len(radii), 1)
    distance = np.linalg.norm(centres[first] - centres[second], axis=1)
    return float(((radii[first] + radii[second]) / np.maximum(distance, np.finfo(float).tiny)).max())
