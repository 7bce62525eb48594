"""Neighbour affinities of rows, and how well a picture keeps them.

    E(Z) = sum_ij P_ij log(P_ij / Q_ij),   Q_ij = u_ij / U,   u_ij = 1 / (1 + |z_i - z_j|^2),   U = sum_{i != j} u_ij
    dE/dz_i = 4 sum_j P_ij u_ij (z_i - z_j) - (4 / U) sum_j u_ij^2 (z_i - z_j)

P is symmetric and sums to 1; p_{j|i} is proportional to s_ij exp(-beta_i |x_i - x_j|^2), where s_ij says how probable
it is that two rows share a class, and beta_i gives every row the same entropy, that of `perplexity` neighbours.

Source of E: L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", 2008.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from supdr.engine.interruption import checkpoint
from supdr.solvers.gaussians import LARGEST_EXPONENT, Mapping
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step

Array = NDArray[np.float64]

_SUMS = {"reassoc", "nsz", "contract"}

OTHER_CLASS = 1e-3
"""epsilon: s of two rows that certainly differ in class; 1 makes P blind to classes."""

NEGLIGIBLE = 1e-3
"""Entries of P below this share of the mean entry are dropped."""

CHUNK = 256
"""Rows of all-pairs sums per thread and between two looks at the stop flag."""

EMBED_STEPS, EMBED_TOLERANCE = 150, 1e-5


class Affinities(NamedTuple):
    """P, its upper triangle by rows.

    Attributes
    ----------
    starts : int array of shape (n + 1,)
        Where each row begins among `partners` and `values`.
    partners : int array of shape (m,)
        j > i.
    values : array of shape (m,)
        2 P_ij; they sum to 1.
    constant : float
        sum_ij P_ij log P_ij.
    """

    starts: NDArray
    partners: NDArray
    values: Array
    constant: float


def squared_distances(X: Array, centers: Array) -> Array:
    """Return |x - c|^2, (n, M); of many centres with many columns in single precision."""
    reach = float(((centers - centers.mean(axis=0)) ** 2).sum(axis=1).max())
    gamma = LARGEST_EXPONENT / reach if reach > 0.0 else 1.0
    return Mapping("rbf", centers, gamma).exponents(X) / -gamma


def affinities(squares: Array, proba: Array | None, perplexity: float) -> Affinities:
    """Return P.  O(n^2) a step of Newton's method, of which some seven are needed.

    Parameters
    ----------
    squares : array of shape (n, n)
        Squared distances.
    proba : array of shape (n, K) or None
        Class probabilities; None: all s are 1.
    perplexity : float
        Lowered to (n - 1) / 3.
    """
    n = len(squares)
    entropy = math.log(max(1.0, min(perplexity, (n - 1) / 3.0)))
    conditional = np.empty((n, n))
    for start in range(0, n, CHUNK):
        checkpoint()
        rows = slice(start, start + CHUNK)
        if proba is None:
            share = np.zeros((len(squares[rows]), n))
        else:
            share = np.log(OTHER_CLASS + (1.0 - OTHER_CLASS) * np.minimum(proba[rows] @ proba.T, 1.0))
        _conditional(squares[rows], share, entropy, start, conditional[rows])
    joint = conditional + conditional.T
    joint /= 2.0 * n
    joint[joint < NEGLIGIBLE / n**2] = 0.0
    upper = sparse.csr_array(np.triu(joint, 1))
    values = upper.data / upper.data.sum()
    constant = float((values * np.log(values / 2.0)).sum())
    return Affinities(upper.indptr.astype(np.int64), upper.indices.astype(np.int64), values, constant)


@njit(cache=True, nogil=True, error_model="numpy")
def _conditional(squares: Array, share: Array, entropy: float, first: int, out: Array) -> None:
    """Write p_{j|i} of the rows first, first + 1, ... into out (c, n).  squares and share = log s, both (c, n)."""
    count, n = squares.shape
    for r in range(count):
        own = first + r
        least, mean = np.inf, 0.0
        for j in range(n):
            if j != own:
                least = min(least, squares[r, j])
                mean += squares[r, j] / (n - 1)
        low, high = 0.0, np.inf
        beta = 1.0 / max(mean - least, 1e-300)
        for _ in range(100):
            total, distance, logs, square, product = 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(n):
                if j == own:
                    out[r, j] = 0.0
                    continue
                d = squares[r, j] - least
                weight = math.exp(share[r, j] - beta * d)
                out[r, j] = weight
                total += weight
                distance += weight * d
                logs += weight * share[r, j]
                square += weight * d * d
                product += weight * d * share[r, j]
            distance, logs, square, product = distance / total, logs / total, square / total, product / total
            excess = math.log(total) + beta * distance - logs - entropy
            for j in range(n):
                out[r, j] /= total
            if abs(excess) < 1e-7:
                break
            if excess > 0.0:
                low = beta
            else:
                high = beta
            # of the entropy by log beta
            slope = -beta * beta * (square - distance * distance) + beta * (product - distance * logs)
            following = beta * math.exp(min(max(-excess / slope, -2.0), 2.0)) if slope < 0.0 else np.nan
            if not low < following < high:
                following = 2.0 * beta if high == np.inf else 0.5 * (low + high)
            if not following < 1e300 or following == beta:
                break
            beta = following


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _repulsion(columns: Array, first: int, last: int, totals: Array, forces: Array) -> None:
    """Write sum_j u_ij and sum_j u_ij^2 (z_i - z_j) of the rows first to last in place.

    columns (d, n) holds Z across, totals (n,), forces (n, d).
    """
    d, n = columns.shape
    u = np.empty(n)
    for i in range(first, last):
        u[:] = 1.0
        for k in range(d):
            own, column = columns[k, i], columns[k]
            for j in range(n):
                u[j] += (own - column[j]) ** 2
        total = 0.0
        for j in range(n):
            u[j] = 1.0 / u[j]
        u[i] = 0.0
        for j in range(n):
            total += u[j]
        totals[i] = total
        for j in range(n):
            u[j] *= u[j]
        for k in range(d):
            own, column = columns[k, i], columns[k]
            force = 0.0
            for j in range(n):
                force += u[j] * (own - column[j])
            forces[i, k] = force


@njit(cache=True, nogil=True)
def _attraction(starts: NDArray, partners: NDArray, values: Array, Z: Array, forces: Array) -> float:
    """Add 2 sum_j P_ij u_ij (z_i - z_j) to forces (n, d) in place; return sum_ij P_ij log(1 + |z_i - z_j|^2)."""
    n, d = Z.shape
    total = 0.0
    for i in range(n):
        for place in range(starts[i], starts[i + 1]):
            j, square = partners[place], 1.0
            for k in range(d):
                square += (Z[i, k] - Z[j, k]) ** 2
            total += values[place] * math.log(square)
            weight = values[place] / square
            for k in range(d):
                pull = weight * (Z[i, k] - Z[j, k])
                forces[i, k] += pull
                forces[j, k] -= pull
    return total


def neighbour_loss(P: Affinities, Z: Array, n_jobs: int | None = None) -> tuple[float, Array]:
    """Return E and its gradient (n, d) at a picture Z (n, d).  O(n^2 d); threads change no number."""
    n, d = Z.shape
    columns, totals, away = np.ascontiguousarray(Z.T), np.empty(n), np.empty((n, d))
    spans = [(first, min(first + CHUNK, n)) for first in range(0, n, CHUNK)]
    threads = min(effective_n_jobs(n_jobs), len(spans))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda span: _repulsion(columns, span[0], span[1], totals, away), spans))
    else:
        for first, last in spans:
            _repulsion(columns, first, last, totals, away)
    U = float(totals.sum())
    gradient = np.zeros((n, d))
    logs = _attraction(P.starts, P.partners, P.values, Z, gradient)
    gradient *= 2.0
    gradient -= (4.0 / U) * away
    return P.constant + logs + math.log(U), gradient


def embedded(squares: Array, perplexity: float, start: Array) -> Array:
    """Return a neighbour embedding (n, d) without labels, from a picture `start` (n, d): `EMBED_STEPS` of L-BFGS."""
    P = affinities(squares, None, perplexity)

    def evaluate(flat: Array) -> tuple[float, Array, None]:
        """Value and gradient of E."""
        value, gradient = neighbour_loss(P, flat.reshape(start.shape))
        return value, gradient.ravel(), None

    state = lbfgs_start(start.ravel(), evaluate)
    for _ in range(EMBED_STEPS):
        before, state = state.value, lbfgs_step(state, evaluate)
        if before - state.value <= EMBED_TOLERANCE * abs(state.value):
            break
    return state.point.reshape(start.shape)
