"""Small positive definite quadratics under bounds: coordinates in turn, each at its maximum."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint

# Systems solved between two checks of the stop flag.
SYSTEMS = 256

MOST_ROUNDS = 1000
# Largest move of a coordinate, as a share of the largest coordinate, at which a system is solved.
SETTLED = 1e-12


def solve_nonnegative(packed: NDArray, ridge: float, right: NDArray, start: NDArray, n_bounded: int) -> NDArray:
    """Maximise right'z - z'(packed + ridge I) z / 2 over z (n, d) with z_1, ..., z_b >= 0, one system per row.

    `packed` (n, P): see `supdr.solvers.low_rank.packed_products`.  The value is at least that of the `start` (n, d),
    within the bounds, even where rounds run out.
    """
    right, solution = np.ascontiguousarray(right), np.array(start, order="C")
    work = np.empty((right.shape[1], right.shape[1]))
    for begin in range(0, len(right), SYSTEMS):
        checkpoint()
        rows = slice(begin, begin + SYSTEMS)
        _solve(packed[rows], ridge, right[rows], n_bounded, solution[rows], work)
    return solution


@njit(cache=True, nogil=True)
def _solve(packed, ridge, right, n_bounded, z, work) -> None:  # noqa: ANN001
    """Overwrite z (n, d) with the maximisers; work is (d, d)."""
    d = right.shape[1]
    for i in range(right.shape[0]):
        p = 0
        for left in range(d):
            for below in range(left, d):
                work[below, left] = work[left, below] = packed[i, p]
                p += 1
            work[left, left] += ridge
        climb_bounded(work, right[i], n_bounded, z[i])


@njit(cache=True, nogil=True)
def climb_bounded(system, right, n_bounded, z) -> None:  # noqa: ANN001
    """Overwrite z (d,) with the maximiser of right'z - z' system z / 2, its first entries >= 0."""
    for _ in range(MOST_ROUNDS):
        moved, size = 0.0, 0.0
        for k in range(z.shape[0]):
            slope = right[k]
            for j in range(z.shape[0]):
                slope -= system[k, j] * z[j]
            best = z[k] + slope / system[k, k]
            if k < n_bounded:
                best = max(best, 0.0)
            moved = max(moved, abs(best - z[k]))
            size = max(size, abs(best))
            z[k] = best
        if moved <= SETTLED * size:
            break
