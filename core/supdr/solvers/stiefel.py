"""Matrices with orthonormal columns: nearest one, gradients through it, and the gauge of a product.

    polar(A) = U Q'  for the thin SVD  A = U diag(s) Q',  the orthonormal matrix nearest to A

To minimise a function of W with W'W = 1, minimise it over A with W = polar(A): that problem has no constraint, and at
an orthonormal A its gradient is the one projected on the tangent space.

Source: P.-A. Absil, R. Mahony, R. Sepulchre, "Optimization Algorithms on Matrix Manifolds", section 4.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_integer


def polar(A: NDArray) -> NDArray:
    """Return the matrix with orthonormal columns that is nearest to `A`.

    `A` (D, R), D >= R, of full column rank, or the result is one of several. Returns (D, R).
    """
    left, _, right = np.linalg.svd(A, full_matrices=False)
    return np.ascontiguousarray(left @ right)


def polar_gradient(A: NDArray, gradient: NDArray) -> NDArray:
    """Return df/dA of ``f(polar(A))`` from df/dW at W = polar(A).

    With A = W S, S = Q diag(s) Q', a change of A changes W by W Omega + (1 - WW') dA S^-1, where Omega is
    skew-symmetric and solves Omega S + S Omega = W'dA - dA'W.  This is the adjoint of that map.

    `A` (D, R): of full column rank; `gradient` (D, R): df/dW. Returns (D, R).
    """
    left, singular, right = np.linalg.svd(A, full_matrices=False)
    W = left @ right
    inner = W.T @ gradient
    skew = right @ (inner - inner.T) @ right.T / (singular[:, None] + singular)
    return W @ (right.T @ skew @ right) + ((gradient - W @ inner) @ right.T / singular) @ right


def orthonormal_gauge(T: NDArray, V: NDArray) -> tuple[NDArray, NDArray]:
    """Return (T', V') with T' orthonormal and the same product T' V'' = T V'.

    `T` (D, R), D >= R; `V` (P, R). Returns `T'` (D, R), the Q factor of T, and `V'` (P, R).  The diagonal of the R
    factor is made >= 0, so that an orthonormal T comes back as it was.
    """
    Q, R = np.linalg.qr(T)
    signs = np.where(np.diag(R) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(Q * signs), np.ascontiguousarray(V @ (R * signs[:, None]).T)


def random_orthonormal(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray:
    """Return a uniformly distributed matrix with orthonormal columns.

    Returns (n_rows, n_columns), n_rows >= n_columns >= 1. Raises ValueError if there are more columns than rows.
    """
    check_integer("n_columns", n_columns)
    if n_columns > n_rows:
        raise ValueError(f"n_columns must be at most n_rows={n_rows}; got {n_columns!r}")
    return polar(rng.standard_normal((n_rows, n_columns)))
