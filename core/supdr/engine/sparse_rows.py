"""Sparse rows, shifted and scaled without being made dense: what linear methods need of their data.

A centred sparse matrix has no zeros left.  `SparseRows` keeps the stored cells A and stands for

    X = A diag(scale) - 1 shift',    or    X = A M - 1 shift'    where a matrix M mixes the columns

so that X V = A (diag(scale) V) - 1 (shift'V), and X'U likewise.  It has the arithmetic and the statistics of a NumPy
array of two dimensions that linear methods use; a number of operations is that of the stored cells, not of all.

Columns in which no training row is 0 are subtracted from cell by cell, see `SparseRows.minus`: beside a mean that is
large for its deviation, the two terms of the products would cancel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Cells of a block of rows or columns that is made dense for a moment: 16 MB.
BLOCK_CELLS = 1 << 21


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows (n, m) of stored cells.

    source: the cells as they were given, csr.
    cells: A, csr.
    scale (columns of A,).
    shift (m,).
    matrix (columns of A, m): M; then `scale` is not used.
    """

    source: Any
    cells: Any
    scale: NDArray
    shift: NDArray
    matrix: NDArray | None = None

    __array_ufunc__ = None  # NumPy's arrays leave `@` to these rows
    ndim = 2
    dtype = np.dtype(np.float64)

    @classmethod
    def of(cls, given: Any) -> SparseRows:
        """Return the rows of a sparse matrix or array of floats (n, m), which is not written to."""
        rows = canonical(given)
        return cls(rows, rows, np.ones(rows.shape[1]), np.zeros(rows.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.cells.shape[0], len(self.shift)

    @property
    def size(self) -> int:
        """Number of cells, those that are not stored included."""
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    def __getitem__(self, key: Any) -> SparseRows:
        """Return some rows (a slice, a mask or numbers), or by ``[:, key]`` some columns."""
        if not isinstance(key, tuple):
            same = self.source is self.cells
            cells = self.cells[key]
            return replace(self, cells=cells, source=cells if same else self.source[key])
        columns = key[1]
        cells = self.cells[:, columns]
        return SparseRows(cells, cells, self.scale[columns], self.shift[columns])

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def __sub__(self, row: NDArray) -> SparseRows:
        """Return the rows minus one row (m,) or (1, m)."""
        return replace(self, shift=self.shift + np.reshape(row, -1))

    def __mul__(self, factors: NDArray) -> SparseRows:
        """Return the columns times their factors (m,)."""
        if self.matrix is not None:
            return replace(self, matrix=self.matrix * factors, shift=self.shift * factors)
        return replace(self, scale=self.scale * factors, shift=self.shift * factors)

    def __truediv__(self, units: NDArray) -> SparseRows:
        """Return the columns over their units (m,)."""
        return self * (1.0 / units)

    def __matmul__(self, right: Any) -> NDArray:
        """Return X V, (n, d) or (n,), of V (m, d), (m,) or the transpose of these rows."""
        if right.__class__ is Transposed:
            return self.row_gram() if right.rows is self else NotImplemented
        inner = self.matrix @ right if self.matrix is not None else (right.T * self.scale).T
        return self.cells @ inner - self.shift @ right

    def __rmatmul__(self, left: NDArray) -> NDArray:
        """Return U X, (d, m), of U (d, n)."""
        return (self.T @ np.asarray(left).T).T

    @property
    def T(self) -> Transposed:
        """The transpose, for products."""
        return Transposed(self)

    def minus(self, row: NDArray, low: NDArray, high: NDArray) -> SparseRows:
        """Return the given rows minus one row (m,), cell by cell in columns whose range, `low` to `high`, has no 0."""
        filled = (low > 0.0) | (high < 0.0)
        if not filled.any():
            return self - row
        cells = _with_all_cells(self.cells, filled)
        inside = filled[cells.indices]
        data = np.where(inside, cells.data - row[cells.indices], cells.data)
        cells = sparse.csr_array((data, cells.indices, cells.indptr), shape=cells.shape)
        return replace(self, cells=cells, shift=self.shift + np.where(filled, 0.0, row))

    def mixed(self, matrix: NDArray) -> SparseRows:
        """Return X M as rows, for M (m, r)."""
        return replace(self, matrix=self.scale[:, None] * matrix, shift=self.shift @ matrix)

    def clipped(self, low: NDArray, high: NDArray) -> SparseRows:
        """Return the rows as they were given with cells moved into the range [low, high] of their column, (m,) each."""
        cells = _with_all_cells(self.cells, (low > 0.0) | (high < 0.0))
        data = np.clip(cells.data, low[cells.indices], high[cells.indices])
        return SparseRows.of(sparse.csr_array((data, cells.indices, cells.indptr), shape=cells.shape))

    def differences(self, other: SparseRows) -> tuple[NDArray, NDArray]:
        """Return rows and columns of the cells that differ from those of other rows as they were given, in order."""
        rows, columns = (self.cells - other.cells).nonzero()
        order = np.lexsort((columns, rows))
        return rows[order], columns[order]

    def translated(self) -> Any:
        """Return X + 1 shift' as a csr array: for models to which a translation of the rows means nothing."""
        data = self.cells.data * self.scale[self.cells.indices]
        return sparse.csr_array((data, self.cells.indices, self.cells.indptr), shape=self.cells.shape)

    def toarray(self) -> NDArray:
        """Return the rows as an array (n, m)."""
        dense = self.cells.toarray()
        dense = dense * self.scale if self.matrix is None else dense @ self.matrix
        return dense - self.shift

    # --- sums -----------------------------------------------------------------------------------------------------

    def sum(self, axis: int) -> NDArray:
        """Return the sums of the columns, (m,); `axis` is 0."""
        stored = np.bincount(self.cells.indices, weights=self.cells.data, minlength=self.cells.shape[1])
        mixed = stored * self.scale if self.matrix is None else stored @ self.matrix
        return mixed - len(self) * self.shift

    def mean(self, axis: int, keepdims: bool = False) -> NDArray:
        """Return the means of the columns, (m,) or (1, m); `axis` is 0."""
        mean = self.sum(0) / len(self)
        return mean[None] if keepdims else mean

    def squares(self) -> NDArray:
        """Return the sums of the squares of the columns, (m,)."""
        if self.matrix is not None:
            return np.sum([(block**2).sum(axis=0) for block in self.blocks()], axis=0)
        size, indices = self.cells.shape[1], self.cells.indices
        values = self.cells.data * self.scale[indices] - self.shift[indices]
        squares = np.bincount(indices, weights=values**2, minlength=size)
        return squares + (len(self) - np.bincount(indices, minlength=size)) * self.shift**2

    @cached_property
    def square(self) -> float:
        """|X|^2."""
        return float(self.squares().sum())

    @cached_property
    def total(self) -> NDArray:
        """The sums of the columns, (m,)."""
        return self.sum(0)

    def std(self, axis: int) -> NDArray:
        """Return the standard deviations of the columns, (m,); `axis` is 0."""
        return np.sqrt((self - self.mean(0)).squares() / len(self))

    def row_squares(self) -> NDArray:
        """Return the sum of the squares of every row, (n,)."""
        if self.matrix is not None:
            return np.concatenate([(block**2).sum(axis=1) for block in self.blocks()])
        B = self.translated()
        return B.power(2).sum(axis=1) - 2.0 * (B @ self.shift) + self.shift @ self.shift

    def min(self, axis: int) -> NDArray:
        """Return the smallest value of every column, (m,); `axis` is 0."""
        return self._extreme(np.minimum)

    def max(self, axis: int) -> NDArray:
        """Return the largest value of every column, (m,); `axis` is 0."""
        return self._extreme(np.maximum)

    def largest(self) -> float:
        """Return the largest absolute value of a cell; where columns are mixed, of what a cell is made of."""
        unmixed = replace(self, matrix=None, shift=np.zeros(self.cells.shape[1])) if self.matrix is not None else self
        return float(max(np.abs(unmixed.min(0)).max(), np.abs(unmixed.max(0)).max()))

    def row_gram(self) -> NDArray:
        """Return X X', (n, n)."""
        if self.matrix is not None:
            dense = self.toarray()
            return dense @ dense.T
        B = self.translated()
        cross = B @ self.shift
        return (B @ B.T).toarray() - cross - cross[:, None] + self.shift @ self.shift

    def row_gram_times(self, values: NDArray) -> NDArray:
        """Return X X'V, (n, d), of V (n, d): in half the time of the two products."""
        if self.matrix is not None:
            return self @ (self.T @ values)
        B, cross = self._for_gram
        total = values.sum(axis=0)
        return B @ (B.T @ values) - np.multiply.outer(cross, total) - (cross @ values - self.shift @ self.shift * total)

    @cached_property
    def _for_gram(self) -> tuple[Any, NDArray]:
        """B = X + 1 shift' and B shift."""
        B = self.translated()
        return B, B @ self.shift

    def column_gram(self) -> NDArray:
        """Return X'X, (m, m)."""
        if self.matrix is not None:
            return np.sum([block.T @ block for block in self.blocks()], axis=0)
        B = self.translated()
        pulled = np.outer(B.sum(axis=0), self.shift)
        return (B.T @ B).toarray() - pulled - pulled.T + len(self) * np.outer(self.shift, self.shift)

    def distance(self, latent: NDArray, loadings: NDArray) -> float:
        """Return |X - Z V|^2 for Z (n, d) and V (d, m)."""
        explained = 2.0 * np.vdot(latent, self @ loadings.T) - np.vdot(latent.T @ latent, loadings @ loadings.T)
        return float(self.square - explained)

    def decomposition(self) -> tuple[NDArray, NDArray]:
        """Return all singular values (r,) and right singular vectors (r, m), r = min(n, m)."""
        n, m = self.shape
        triangle = np.zeros((0, min(n, m)))
        for block in self.blocks() if n >= m else self._column_blocks():
            triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, block]), mode="r"))
        _, singular, rows = np.linalg.svd(triangle, full_matrices=False)
        if n >= m:
            return singular, rows
        length = np.where(singular > 0.0, singular, 1.0)  # X' = Q R, R = left S rows: X' rows' / S = Q left
        return singular, (self.T @ rows.T / length).T

    # --- parts ----------------------------------------------------------------------------------------------------

    def _extreme(self, choose: Any) -> NDArray:
        size, indices = self.cells.shape[1], self.cells.indices
        counts = np.bincount(indices, minlength=size)
        bound = -np.inf if choose is np.maximum else np.inf
        extreme = np.where(counts < len(self), 0.0, bound)
        choose.at(extreme, indices, self.cells.data)
        if (self.scale < 0.0).any():
            raise ValueError("the extremes of columns with negative factors are not defined")
        return extreme * self.scale - self.shift

    def blocks(self) -> Iterator[NDArray]:
        """Yield the rows as arrays of a few rows."""
        step = max(1, BLOCK_CELLS // max(self.cells.shape[1], 1))
        for start in range(0, len(self), step):
            yield self[start : start + step].toarray()

    def _column_blocks(self) -> Iterator[NDArray]:
        """Yield the transposes of blocks of columns."""
        columns = replace(self, cells=self.cells.tocsc())
        step = max(1, BLOCK_CELLS // max(len(self), 1))
        for start in range(0, self.shape[1], step):
            yield columns[:, start : start + step].toarray().T


@dataclass(frozen=True, eq=False)
class Transposed:
    """X' of some rows X (n, m), for products."""

    rows: SparseRows

    __array_ufunc__ = None

    @property
    def T(self) -> SparseRows:
        """X."""
        return self.rows

    def __matmul__(self, right: Any) -> NDArray:
        """Return X'U, (m, d) or (m,), of U (n, d), (n,) or X itself."""
        rows = self.rows
        if right is rows:
            return rows.column_gram()
        stored = rows.cells.T @ right
        mixed = (stored.T * rows.scale).T if rows.matrix is None else rows.matrix.T @ stored
        return mixed - np.multiply.outer(rows.shift, right.sum(axis=0))


def dense(X: Any) -> NDArray:
    """Return a few rows as an array: arrays as they are."""
    return X.toarray() if isinstance(X, SparseRows) else X


def has_missing(X: Any) -> bool:
    """Whether some cell is NaN; sparse rows have none."""
    return not isinstance(X, SparseRows) and bool(np.isnan(X).any())


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array, or a data frame of sparse columns."""
    return sparse.issparse(X) or (getattr(X, "ndim", 0) == 2 and hasattr(X, "dtypes") and hasattr(X, "sparse"))


def canonical(given: Any) -> Any:
    """Return what `is_sparse` as a csr array: every cell once, in order, with short indices where they suffice."""
    rows = sparse.csr_array(given if sparse.issparse(given) else given.sparse.to_coo())
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.indices.dtype != np.int32 and max(rows.nnz, *rows.shape) < np.iinfo(np.int32).max:
        indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)
    return rows


def _with_all_cells(cells: Any, columns: NDArray) -> Any:
    """Return a csr array (n, m) in which all cells of the columns of a mask (m,) are stored."""
    chosen = np.flatnonzero(columns)
    inside = columns[cells.indices]
    if inside.sum() == cells.shape[0] * len(chosen):
        return cells
    row = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    rows = np.concatenate([row[~inside], np.repeat(np.arange(cells.shape[0]), len(chosen))])
    numbers = np.concatenate([cells.indices[~inside], np.tile(chosen, cells.shape[0])])
    data = np.concatenate([cells.data[~inside], cells[:, chosen].toarray().ravel()])
    full = sparse.csr_array((data, (rows, numbers)), shape=cells.shape)
    full.sort_indices()
    return full
