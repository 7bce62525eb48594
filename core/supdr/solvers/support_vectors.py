"""The support vectors of a solved machine: how many there are, and the fewest that do the same.

The multipliers of a kernel of low rank are not unique: `purify` moves them to a vertex of the optimal face, which
leaves w and b as they are.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint

# Multipliers within this share of C from a bound count as at the bound.
AT_BOUND = 1e-8

# Free multipliers moved at a time by `purify`, unless there are many features.
PORTION = 64

# Singular values below this share of the largest count as 0.
RANK = 1e-9


def support_share(alpha: NDArray, C: NDArray) -> float:
    """Return the share of rows of `alpha` (n, K), bounded by C (n,), with a multiplier above rounding in some head."""
    return float((alpha > AT_BOUND * C[:, None]).any(axis=1).mean())


def purify(beta: NDArray, C: NDArray | float, features: NDArray) -> NDArray:
    """Return signed multipliers (n,) at a vertex of the optimal face: the same w and b, fewest free support vectors.

    While there are more free multipliers than rank [features, 1] of their rows, they move along a vector v with
    [features, 1]'v = 0 until one hits a bound: neither sum beta_i features_i nor sum beta changes, and the objective
    stays.
    """
    C = np.full(len(beta), C, dtype=float)
    beta = np.where(np.abs(beta) <= AT_BOUND * C, 0.0, beta)
    beta = np.where(np.abs(beta) >= (1.0 - AT_BOUND) * C, np.sign(beta) * C, beta)
    free = np.flatnonzero((beta != 0.0) & (np.abs(beta) < C))
    signs, alpha = np.sign(beta), np.abs(beta)
    constraints = np.column_stack([features, np.ones(len(beta))])
    constraints /= np.maximum(np.abs(constraints).max(axis=0), np.finfo(float).tiny)
    # A few at a time: those left free and some more, until all have had their turn.
    portion = max(PORTION, 2 * constraints.shape[1])
    chosen, waiting = free[:0], free
    while len(waiting):
        checkpoint()
        room = portion - len(chosen)
        chosen, waiting = np.concatenate([chosen, waiting[:room]]), waiting[room:]
        left, singular, _ = np.linalg.svd(constraints[chosen])
        rank = int((singular > RANK * singular[0]).sum())
        moved = alpha[chosen]
        _walk_to_vertex(np.ascontiguousarray(left[:, rank:].T) * signs[chosen], C[chosen], moved)
        alpha[chosen] = moved
        chosen = chosen[(moved > 0.0) & (moved < C[chosen])]
    return alpha * signs


@njit(cache=True, nogil=True)
def _walk_to_vertex(moves, C, alpha):  # noqa: ANN001
    """Write `alpha` (f,), in [0, C], and `moves` (q, f): along each row of moves until a multiplier hits a bound.

    C (f,).  A row that was used is combined with the others so that none of them moves the multiplier that stopped.
    """
    for last in range(len(moves) - 1, -1, -1):
        move = moves[last]
        smallest = 1e-12 * np.abs(move).max()
        hit, room = -1, np.inf
        for i in range(len(alpha)):
            if abs(move[i]) <= smallest:
                continue
            way = ((C[i] if move[i] > 0.0 else 0.0) - alpha[i]) / move[i]
            if way < room:
                hit, room = i, way
        if hit < 0:
            continue
        for i in range(len(alpha)):
            alpha[i] += room * move[i]
        alpha[hit] = C[hit] if move[hit] > 0.0 else 0.0
        pivot = 0  # the row that moves it most replaces the one just used
        for row in range(last + 1):
            if abs(moves[row, hit]) > abs(moves[pivot, hit]):
                pivot = row
        chosen = moves[pivot] / moves[pivot, hit]
        for i in range(len(alpha)):
            moves[pivot, i] = moves[last, i]  # by a loop: a[:] = b takes four seconds to compile
        for row in range(last):
            share = moves[row, hit]
            for i in range(len(alpha)):
                moves[row, i] -= share * chosen[i]
            moves[row, hit] = 0.0
            length = np.sqrt((moves[row] ** 2).sum())
            if length > 0.0:
                for i in range(len(alpha)):
                    moves[row, i] /= length
    for i in range(len(alpha)):
        alpha[i] = min(max(alpha[i], 0.0), C[i])
