"""Algebra of low-rank generalised linear models: many small systems at once, leading rows, and the choice of gauge.

A symmetric d x d matrix is packed into its P = d (d + 1) / 2 products of coordinates l <= k, row by row, so that the
weighted Grams of all rows or columns are one matrix product: curvatures times the packed products of the factors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, svds

from supdr.engine.interruption import abandonable, checkpoint
from supdr.engine.sparse_rows import SparseRows
from supdr.rows.in_memory import InMemoryRows

# Cells of one block of rows: it stays in the cache, and takes well below 20 ms.
BLOCK = 2**17

# Very wide data come in blocks of this many rows nevertheless, up to 32 times `BLOCK` cells.
LEAST_ROWS = 64

# Small systems solved between two checks of the stop flag.
SYSTEMS = 4096

# Up to this many rows or columns of sparse rows all singular vectors are found, however few are needed.
ALL_VECTORS = 300

# Stored cells times products with vectors after which the search for exact singular vectors ends: some ten seconds.
VISITED_CELLS = 1_000_000_000

# Up to this many rows or columns the starting point is exact.
SMALL_SIDE = 1000

LARGEST_CONDITION = 1e12
OVERSAMPLING, POWER_STEPS = 10, 6


def row_blocks(shape: tuple[int, int], cells: int | None = None) -> Iterator[slice]:
    """Yield slices of rows of `cells` cells, `BLOCK` by default, with a check of the stop flag before each."""
    n_rows, n_columns = shape
    width, cells = max(n_columns, 1), BLOCK if cells is None else cells
    size = max(cells // width, min(LEAST_ROWS, 32 * cells // width), 1)
    for begin in range(0, n_rows, size):
        checkpoint()
        yield slice(begin, min(begin + size, n_rows))


def blocks_of(X: Any) -> Iterator[slice]:
    """Yield slices of rows of X (N, D) as `row_blocks` does; of sparse rows one, whose products are small."""
    if isinstance(X, SparseRows):
        checkpoint()
        yield slice(None)
    else:
        yield from row_blocks(X.shape)


def leading_triplets(X: SparseRows, count: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return the largest singular values of sparse rows (N, D) with their vectors: (N, r), (r,) and (r, D).

    Exact but where `VISITED_CELLS` are too few for it; then they are as near as subspace iteration comes.
    """
    smaller = min(X.shape)
    if smaller <= max(ALL_VECTORS, 3 * count):
        return _beside(X, abandonable(X.decomposition)[1][:count])
    operator = LinearOperator(
        X.shape, X.__matmul__, X.T.__matmul__, matmat=X.__matmul__, rmatmat=X.T.__matmul__, dtype=np.float64
    )
    rng = np.random.default_rng(0)
    restarts = max(1, VISITED_CELLS // max(X.cells.nnz, 1) // max(count, 18))  # of as many products, by default
    try:
        left, singular, right = abandonable(
            lambda: svds(operator, count, v0=rng.normal(size=smaller), maxiter=restarts)
        )
    except ArpackNoConvergence:
        return _beside(X, _subspace(X, np.zeros(X.shape[1]), count, rng, InMemoryRows(len(X))).T)
    return left[:, ::-1], singular[::-1], right[::-1]


def _beside(X: SparseRows, right: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return left singular vectors and singular values beside right singular vectors (r, D)."""
    image = X @ right.T
    singular = np.linalg.norm(image, axis=0)
    return image / np.where(singular > 0.0, singular, 1.0), singular, right


def leading_singular_values(X: NDArray, count: int) -> NDArray:
    """Return the `count` largest singular values of X (N, D) minus its means, at which NaN counts; zeros follow."""
    if isinstance(X, SparseRows):
        singular = leading_triplets(X - X.mean(0), min(count, *X.shape))[1]
        return np.pad(singular, (0, count - len(singular)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column may have no observed cell
        mean = np.nan_to_num(np.nanmean(X, axis=0))
    tall = X.shape[0] > X.shape[1]
    gram: NDArray = np.zeros((min(X.shape), min(X.shape)))
    for part in row_blocks(X.shape if tall else X.shape[::-1]):
        block = np.nan_to_num(X[part] - mean) if tall else np.nan_to_num(X[:, part] - mean[part]).T
        gram += block.T @ block
    values = np.linalg.eigvalsh(gram)[::-1][:count]
    singular = np.zeros(count)
    singular[: len(values)] = np.sqrt(np.maximum(values, 0.0))
    return singular


def augmented(latent: NDArray) -> NDArray:
    """Return [U, 1], (n, d + 1)."""
    wide = np.ones((latent.shape[0], latent.shape[1] + 1))
    wide[:, :-1] = latent
    return wide


def padded_width(width: int) -> int:
    """Return the next multiple of 4: matrix products with few columns are up to half as fast again that way."""
    return -(-width // 4) * 4


def padded(matrix: NDArray) -> NDArray:
    """Return a copy of `matrix` (n, d) with columns of zeros up to `padded_width`."""
    wide = np.zeros((matrix.shape[0], padded_width(matrix.shape[1])))
    wide[:, : matrix.shape[1]] = matrix
    return wide


@njit(cache=True, nogil=True, error_model="numpy")
def _products(Z, packed):  # noqa: ANN001
    """Write the products of the coordinates of Z (n, d) into the first columns of packed."""
    for i in range(Z.shape[0]):
        p = 0
        for left in range(Z.shape[1]):
            for right in range(left, Z.shape[1]):
                packed[i, p] = Z[i, left] * Z[i, right]
                p += 1


def packed_products(Z: NDArray) -> NDArray:
    """Return the packed z z' of every row of `Z` (n, d), with columns of zeros up to `padded_width`."""
    n_products = Z.shape[1] * (Z.shape[1] + 1) // 2
    packed = np.empty((Z.shape[0], padded_width(n_products)))
    packed[:, n_products:] = 0.0
    _products(np.ascontiguousarray(Z), packed)
    return packed


def pack(matrix: NDArray) -> NDArray:
    """Return the upper triangle of a symmetric (d, d) matrix, row by row, padded like `packed_products`."""
    return padded(matrix[np.triu_indices(len(matrix))][None])[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(packed, ridge, right, work):  # noqa: ANN001
    """Overwrite right (n, d) with the solutions of (packed_i + ridge I) z = right_i, by Cholesky; work is (d, d)."""
    d = right.shape[1]
    for i in range(right.shape[0]):
        p = 0
        for left in range(d):
            for below in range(left, d):
                work[below, left] = packed[i, p]
                p += 1
            work[left, left] += ridge
        for column in range(d):
            for below in range(column, d):
                total = work[below, column]
                for k in range(column):
                    total -= work[below, k] * work[column, k]
                work[below, column] = math.sqrt(total) if below == column else total / work[column, column]
            total = right[i, column]
            for k in range(column):
                total -= work[column, k] * right[i, k]
            right[i, column] = total / work[column, column]
        for column in range(d - 1, -1, -1):
            total = right[i, column]
            for k in range(column + 1, d):
                total -= work[k, column] * right[i, k]
            right[i, column] = total / work[column, column]


def solve_systems(packed: NDArray, ridge: float, right: NDArray) -> NDArray:
    """Solve one small system, packed (n, P) with a ridge on its diagonal, and right-hand side (n, d) per row."""
    solution = right.copy()
    work = np.empty((right.shape[1], right.shape[1]))
    for begin in range(0, len(right), SYSTEMS):
        checkpoint()
        rows = slice(begin, begin + SYSTEMS)
        _solve(packed[rows], ridge, solution[rows], work)
    return solution


# --- the starting point -----------------------------------------------------------------------------------------------


def leading_rows(X: Any, centre: NDArray, n_components: int, rng: np.random.Generator, rows: Any = None) -> Any:
    """Return the leading left singular vectors (N, L) of X - centre, NaN as centre, times sqrt(N), signs fixed."""
    rows = InMemoryRows(len(X)) if rows is None else rows
    n_rows, n_columns = rows.n_rows, len(centre)
    if n_rows <= min(n_columns, SMALL_SIDE):
        vectors = np.linalg.eigh(_row_gram(X, centre))[1][:, ::-1][:, :n_components]
    else:
        if n_columns <= SMALL_SIDE:
            gram = rows.total(_column_gram, X, centre)
            directions = np.linalg.eigh(gram)[1][:, ::-1][:, :n_components]
        else:
            directions = _subspace(X, centre, n_components, rng, rows)
        vectors, squares = rows.both(_projected, X, centre, directions)
        length = np.sqrt(squares)
        empty = length <= 1e-7 * max(float(length.max()), np.finfo(float).tiny)
        if empty.any():
            vectors, squares = rows.both(_filled, vectors, empty, rows.normal(rng, int(empty.sum())))
        vectors = rows.each(np.divide, vectors, np.sqrt(squares))
    peak = rows.total(_peaks, vectors, add=_peaks_of)
    return rows.each(_contiguous_product, vectors, np.sign(peak) * math.sqrt(n_rows))


def _row_gram(X: NDArray, centre: NDArray) -> NDArray:
    if isinstance(X, SparseRows):
        return (X - centre).row_gram()
    gram = np.zeros((len(X), len(X)))
    for columns in row_blocks(X.shape[::-1]):
        part = _centred(X[:, columns], centre[columns])
        gram += part @ part.T
    return gram


def _column_gram(X: NDArray, centre: NDArray) -> NDArray:
    if isinstance(X, SparseRows):
        return (X - centre).column_gram()
    gram = np.zeros((len(centre), len(centre)))
    for rows in row_blocks(X.shape):
        part = _centred(X[rows], centre)
        gram += part.T @ part
    return gram


def _projected(X: NDArray, centre: NDArray, directions: NDArray) -> tuple[NDArray, NDArray]:
    """Return the rows along the directions, and the sums of their squares."""
    vectors = np.concatenate([_centred(X[rows], centre) @ directions for rows in blocks_of(X)])
    return vectors, (vectors**2).sum(axis=0)


def _filled(vectors: NDArray, empty: NDArray, noise: NDArray) -> tuple[NDArray, NDArray]:
    """Return vectors with noise (n, e) in the e empty columns, and the sums of their squares."""
    filled = vectors.copy()
    filled[:, empty] = noise
    return filled, (filled**2).sum(axis=0)


def _peaks(vectors: NDArray) -> NDArray:
    return vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]


def _peaks_of(parts: list[NDArray]) -> NDArray:
    return _peaks(np.array(parts))


def _contiguous_product(vectors: NDArray, factors: NDArray) -> NDArray:
    return np.ascontiguousarray(vectors * factors)


def _centred(part: Any, centre: NDArray) -> Any:
    part = part - centre
    if not isinstance(part, SparseRows):
        part[np.isnan(part)] = 0.0
    return part


def _subspace(X: Any, centre: NDArray, n_components: int, rng: np.random.Generator, rows: Any) -> NDArray:
    """Return approximate leading right singular vectors (D, L) by subspace iteration."""
    n_columns = len(centre)
    basis = rng.standard_normal((n_columns, min(n_components + OVERSAMPLING, rows.n_rows, n_columns)))
    for _ in range(POWER_STEPS):
        basis = np.linalg.qr(basis)[0]
        previous, basis = basis, rows.total(_power_step, X, centre, basis)
    small = previous.T @ basis  # V' X'X V
    _, vectors = np.linalg.eigh(0.5 * (small + small.T))
    return previous @ vectors[:, ::-1][:, :n_components]


def _power_step(X: NDArray, centre: NDArray, basis: NDArray) -> NDArray:
    image = np.zeros_like(basis)
    for rows in blocks_of(X):
        part = _centred(X[rows], centre)
        image += part.T @ (part @ basis)
    return image


# --- the gauge --------------------------------------------------------------------------------------------------------


def gauge_shift(
    n_rows: int, total: NDArray, grams: tuple[NDArray, NDArray], ridges: tuple[float, float, float]
) -> NDArray:
    """Return t (L,) with which U + 1 t', b_x - V't, b_y - W't have the smallest ridges; theta is unchanged."""
    reg_u, reg_v, reg_w = ridges
    both = reg_v * grams[0] + reg_w * grams[1]
    system = both[:-1, :-1] + reg_u * n_rows * np.eye(len(total))
    return np.linalg.solve(system, both[:-1, -1] - reg_u * total)


def gauge_turn(
    square: NDArray, grams: tuple[NDArray, NDArray], ridges: tuple[float, float, float]
) -> tuple[NDArray, NDArray] | None:
    """Return A and its inverse with which U A, A^-1 V, A^-1 W have the smallest ridges; None if that gains nothing.

    A = Z^(1/2) with Z P Z = S, P = reg_u U'U, S = reg_v V V' + reg_w W W'; None also where a component is dead.
    """
    reg_u, reg_v, reg_w = ridges
    P = reg_u * square
    S = reg_v * grams[0][:-1, :-1] + reg_w * grams[1][:-1, :-1]
    values, vectors = np.linalg.eigh(P)
    if not values[0] * LARGEST_CONDITION > values[-1]:
        return None
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse_root = (vectors / np.sqrt(values)) @ vectors.T
    middle_values, middle_vectors = np.linalg.eigh(root @ S @ root)
    middle = (middle_vectors * np.sqrt(np.maximum(middle_values, 0.0))) @ middle_vectors.T
    Z = inverse_root @ middle @ inverse_root
    values, vectors = np.linalg.eigh(0.5 * (Z + Z.T))
    if not values[0] * LARGEST_CONDITION > values[-1]:
        return None
    turn, back = (vectors * np.sqrt(values)) @ vectors.T, (vectors / np.sqrt(values)) @ vectors.T
    # A component that is nearly dead makes Z inexact; a turn that does not pay is not taken.
    pays = np.trace(turn.T @ P @ turn) + np.trace(back @ S @ back.T) <= np.trace(P) + np.trace(S)
    return (turn, back) if pays else None


def product_singular_values(square: NDArray, gram: NDArray) -> NDArray:
    """Return the singular values of U V, largest first, from U'U and V V', both (L, L)."""
    values, vectors = np.linalg.eigh(square)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.sqrt(np.maximum(np.linalg.eigvalsh(root.T @ gram @ root), 0.0))[::-1]
