"""Matrix factorisation with optional row biases, X ~ U V + bu 1' + 1 bv': the part that LSDR and NSDR share.

    R = beta sum_ij e_ij^2 + reg_u |U|^2 + reg_v |V|^2,    e = X - U V - bu 1' - 1 bv'    (sum over observed cells)

Internally a latent row is Z_i = U_i, or [U_i, bu_i] with a row bias: the bias is a last coordinate whose loading is 1
in every column and which is not regularised.  Throughout

- ``X`` (N, m): preprocessed data; unobserved cells hold any finite number (see `split_missing`);
- ``observed`` (N, m): 1.0 where a cell is observed, else 0.0; None when all cells are;
- ``latent`` (N, d) or (N, d + 1); ``components`` (d, m) = V; ``intercept_x`` (m,) = bv.

Source: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 5-12.
Errata: beta stands once (eq. 5 prints it inside a term that eq. 1 weighs again); the biases move once per cell, not
once per latent coordinate (algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.sparse_rows import SparseRows, has_missing
from supdr.solvers.positive_definite import solve_positive


def split_missing(X: NDArray) -> tuple[NDArray, NDArray | None]:
    """Return X (N, m) with column means for NaN, and the mask of observed cells; X itself and None without NaN."""
    if not has_missing(X):
        return X, None
    missing, (total, count) = np.isnan(X), observed_sums(X)
    return np.where(missing, total / np.maximum(count, 1.0), X), np.where(missing, 0.0, 1.0)


def observed_sums(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sum of the observed cells of every column of X (N, m), and their number, (m,) each."""
    missing = np.isnan(X)
    return np.where(missing, 0.0, X).sum(axis=0), np.where(missing, 0.0, 1.0).sum(axis=0)


def reconstruct(latent: NDArray, components: NDArray, intercept_x: NDArray) -> NDArray:
    """Return U V + bv, plus the row bias where `latent` has one more column than `components` has rows; (N, m)."""
    d = len(components)
    fitted = latent[:, :d] @ components
    fitted += intercept_x
    if latent.shape[1] > d:
        fitted += latent[:, d:]
    return fitted


def reconstruction_error(
    X: NDArray,
    latent: NDArray,
    components: NDArray,
    intercept_x: NDArray,
    *,
    observed: NDArray | None = None,
) -> float:
    """Return the sum of squared residuals over observed cells, without beta; latent (N, d + 1) has a row bias."""
    if isinstance(X, SparseRows):
        return X.distance(*with_biases(latent, components, intercept_x))
    residual = reconstruct(latent, components, intercept_x)
    residual -= X
    if observed is not None:
        residual *= observed
    return float(np.vdot(residual, residual))


def with_biases(latent: NDArray, components: NDArray, intercept_x: NDArray) -> tuple[NDArray, NDArray]:
    """Return [Z, 1] and the loadings that belong to it: V, ones if Z has a row bias, and bv."""
    ones = np.ones((latent.shape[1] - len(components), components.shape[1]))
    return np.column_stack([latent, np.ones(len(latent))]), np.concatenate([components, ones, intercept_x[None]])


@dataclass(frozen=True, eq=False)
class SparseResidual:
    """X - Z V (N, m) of sparse rows X, for products and sums; Z (N, d), V (d, m)."""

    X: SparseRows
    latent: NDArray
    loadings: NDArray

    __array_ufunc__ = None

    def __matmul__(self, right: NDArray) -> NDArray:
        return self.X @ right - self.latent @ (self.loadings @ right)

    def __rmatmul__(self, left: NDArray) -> NDArray:
        return left @ self.X - (left @ self.latent) @ self.loadings

    def sum(self, axis: int) -> NDArray:
        """Return the sums of the columns (axis 0) or of the rows (axis 1)."""
        if axis == 1:
            return self @ np.ones(self.X.shape[1])
        return self.X.total - self.latent.sum(axis=0) @ self.loadings


def reconstruction_terms(
    X: NDArray,
    latent: NDArray,
    components: NDArray,
    intercept_x: NDArray,
    *,
    beta: float,
    reg_u: float,
    reg_v: float,
    observed: NDArray | None = None,
) -> dict[str, float]:
    """Return R as the terms ``"reconstruction"`` (weighted by beta) and ``"regularisation"``."""
    error = reconstruction_error(X, latent, components, intercept_x, observed=observed)
    visible = latent[:, : len(components)]
    ridge = reg_u * float(np.vdot(visible, visible)) + reg_v * float(np.vdot(components, components))
    return {"reconstruction": beta * error, "regularisation": ridge}


def fit_loadings(
    X: NDArray,
    latent: NDArray,
    reg_v: float,
    beta: float,
    *,
    row_offset: NDArray | None = None,
    observed: NDArray | None = None,
) -> tuple[NDArray, NDArray]:
    """Return V (d, m) and bv (m,) that minimise R: a ridge regression of X on [U, 1] in which U alone is regularised.

    Only ``reg_v / beta`` matters; `row_offset` (N,): bu.  Every column needs an `observed` cell.
    """
    return solve_loadings(loading_sums(X, latent, row_offset, observed), reg_v / beta)


def loading_sums(
    X: NDArray, latent: NDArray, row_offset: NDArray | None, observed: NDArray | None
) -> tuple[NDArray, NDArray]:
    """Return [U, 1]'[U, 1] (d + 1, d + 1), or a stack (m, ...) with missing cells, and [U, 1]'X (d + 1, m)."""
    n_rows, d = latent.shape
    design = np.empty((n_rows, d + 1))  # [U, 1]
    design[:, :d] = latent
    design[:, d] = 1.0
    if isinstance(X, SparseRows):
        right = design.T @ X
        return design.T @ design, right if row_offset is None else right - (design.T @ row_offset)[:, None]
    target = X if row_offset is None else X - row_offset[:, None]
    if observed is None:
        return design.T @ design, design.T @ target
    return _masked_grams(design, observed.T), ((observed * target).T @ design).T


def solve_loadings(sums: tuple[NDArray, NDArray], reg: float) -> tuple[NDArray, NDArray]:
    """Return V (d, m) and bv (m,) from `loading_sums`; only V is regularised, by reg = reg_v / beta."""
    grams, right = sums
    d = len(right) - 1
    ridge = np.full(d + 1, reg)
    ridge[d] = 0.0
    systems = _plus_diagonal(grams.copy(), ridge)
    if grams.ndim == 2:
        solution = solve_positive(systems, right)  # (d+1, m)
    else:
        solution = solve_positive(systems, np.ascontiguousarray(right.T)[:, :, None])[:, :, 0].T
    return np.ascontiguousarray(solution[:d]), np.ascontiguousarray(solution[d])


def latent_system(
    components: NDArray, reg_u: float, beta: float, *, row_bias: bool = False, observed: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Return the matrix of the latent rows' normal equations, A = beta Vt Vt' + reg_u D, and Vt.

    A is (D, D), or (N, D, D) with missing cells; with a row bias D = d + 1, Vt has a last row of ones and D a last
    zero.
    """
    d, m = components.shape
    extended = components
    if row_bias:
        extended = np.empty((d + 1, m))
        extended[:d] = components
        extended[d] = 1.0
    ridge = np.full(len(extended), float(reg_u))
    ridge[d:] = 0.0
    gram = extended @ extended.T if observed is None else _masked_grams(np.ascontiguousarray(extended.T), observed)
    gram *= beta
    return _plus_diagonal(gram, ridge), extended


def fold_in(
    X: NDArray,
    components: NDArray,
    intercept_x: NDArray,
    reg_u: float,
    beta: float,
    *,
    row_bias: bool = False,
    observed: NDArray | None = None,
) -> NDArray:
    """Return the latent rows (N, d) that minimise R, labels unseen: z = A^-1 beta Vt (x - bv).

    Only ``reg_u / beta`` matters.  A row bias is an unregularised last coordinate with loading 1.  With missing cells
    each row is a system of its own, and with a row bias it needs an observed cell.
    """
    system, extended = latent_system(components, reg_u, beta, row_bias=row_bias, observed=observed)
    centred = X - intercept_x
    if observed is None:
        return centred @ solve_positive(system, beta * extended).T
    right = (observed * centred) @ (beta * extended.T)  # (N, D)
    return np.ascontiguousarray(solve_positive(system, right[:, :, None])[:, :, 0])


def fold_in_derivative(
    components: NDArray, reg_u: float, beta: float, *, row_bias: bool = False, observed: NDArray | None = None
) -> NDArray:
    """Return dz / dx = A^-1 beta Vt of `fold_in`, (D, m) at all rows, or (N, D, m) with 0 in missing cells."""
    system, extended = latent_system(components, reg_u, beta, row_bias=row_bias, observed=observed)
    if observed is None:
        return solve_positive(system, beta * extended)
    return solve_positive(system, beta * extended * observed[:, None, :])


def sgd_shrinkage(reg: float, shape: tuple[int, int], observed: NDArray | None, axis: int) -> NDArray:
    """Return each row's (``axis=1``) or column's (``axis=0``) ridge weight per observed cell, (N,) or (m,).

    One epoch visits every observed cell once; the shares of a row, or column, add up to `reg`.
    """
    counts = np.full(shape[1 - axis], float(shape[axis])) if observed is None else observed.sum(axis=axis)
    return reg / np.maximum(counts, 1.0)


def sgd_cells(shape: tuple[int, int], observed: NDArray | None) -> NDArray:
    """Return the flat indices of the observed cells, to be permuted afresh for every `reconstruction_epoch`."""
    return np.arange(shape[0] * shape[1]) if observed is None else np.flatnonzero(observed)


@njit(cache=True, nogil=True)
def reconstruction_epoch(X, latent, loadings, intercept_x, cells, rate, beta, shrink_u, shrink_v):  # noqa: ANN001, ANN201
    """Write one epoch of stochastic gradient steps into latent (N, D), loadings (m, d) and intercept_x (m,).

    For each cell (i, j) of cells (flat indices, in this order), with e from the old values,
    u += rate (2 beta e v - 2 shrink_u u) and v += rate (2 beta e u - 2 shrink_v v) from the old u and v, then both
    biases += rate 2 beta e, once.  X (N, m), shrink_u (N,), shrink_v (m,); D = d, or d + 1 with a row bias.
    """
    m, d = loadings.shape
    row_bias = latent.shape[1] > d
    for cell in cells:
        i, j = cell // m, cell % m
        e = X[i, j] - intercept_x[j]
        for k in range(d):
            e -= latent[i, k] * loadings[j, k]
        if row_bias:
            e -= latent[i, d]
        pull = 2.0 * rate * beta * e
        keep_u = 1.0 - 2.0 * rate * shrink_u[i]
        keep_v = 1.0 - 2.0 * rate * shrink_v[j]
        for k in range(d):
            u, v = latent[i, k], loadings[j, k]
            latent[i, k] = keep_u * u + pull * v
            loadings[j, k] = keep_v * v + pull * u
        intercept_x[j] += pull
        if row_bias:
            latent[i, d] += pull


def _plus_diagonal(system: NDArray, diagonal: NDArray) -> NDArray:
    """Add `diagonal` to the last two axes of `system`, in place, and return it."""
    index = np.arange(len(diagonal))
    system[..., index, index] += diagonal
    return system


def _masked_grams(rows: NDArray, mask: NDArray) -> NDArray:
    """Return sum_b mask_ab rows_b rows_b' for every a, (A, D, D), from rows (B, D) and mask (A, B), by one GEMM."""
    d = rows.shape[1]
    first, second = np.triu_indices(d)
    packed = mask @ (rows[:, first] * rows[:, second])  # (A, D(D+1)/2)
    grams = np.empty((len(mask), d, d))
    grams[:, first, second] = packed
    grams[:, second, first] = packed
    return grams
