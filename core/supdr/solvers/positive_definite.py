"""Symmetric positive definite systems: by LAPACK, and within compiled loops."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv


def solve_positive(system: NDArray, right: NDArray) -> NDArray:
    """Solve positive (semi-)definite systems: one, by Cholesky, or a stack; least norm where singular."""
    if system.ndim == 2:
        _, solution, failed = dposv(system, right)
        return solution if not failed else np.linalg.pinv(system, hermitian=True) @ right
    try:
        return np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(system, hermitian=True) @ right


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def solve_in_place(H: NDArray, g: NDArray, size: int) -> None:
    """Replace the leading part of g (size,) by the solution of H x = g in place; H is overwritten by its factor.

    H is symmetric, positive definite up to rounding.  Compiling LAPACK's solver instead takes eight seconds.
    """
    for i in range(size):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= H[i, k] * H[j, k]
            if i == j:
                H[i, i] = np.sqrt(max(total, 1e-300))
            else:
                H[i, j] = total / H[j, j]
    for i in range(size):
        for k in range(i):
            g[i] -= H[i, k] * g[k]
        g[i] /= H[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            g[i] -= H[k, i] * g[k]
        g[i] /= H[i, i]
