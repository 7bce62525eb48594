"""Several views of the same rows as groups of columns of one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# One array (n, D_m) per local model; local models on the same view share it.
Views = tuple[NDArray, ...]


def stack_views(arrays: Sequence[ArrayLike], *more: ArrayLike) -> tuple[NDArray, tuple[int, ...]]:
    """Put several views of the same rows side by side.

    Parameters
    ----------
    arrays : sequence of array-likes of shape (n_samples, D_m)
        One table per view.
    *more : array-like
        Not accepted: pass the tables as one list.

    Returns
    -------
    X : array of shape (n_samples, sum of D_m)
    sizes : tuple of int
        D_m; what `supdr.SLDR` takes as `views`.

    Raises
    ------
    ValueError
        If the tables are no list, if there is no view, if views differ in their numbers of rows, or if one is no table
        of numbers.

    Examples
    --------
    >>> X, sizes = stack_views([np.zeros((5, 2)), np.ones((5, 3))])
    >>> X.shape, sizes
    ((5, 5), (2, 3))
    """
    entries = as_list(arrays)
    if entries is None or more:
        actual = f"{1 + len(more)} arguments" if more else repr(arrays)
        raise ValueError(f"arrays must be one list of tables, as in stack_views([A, B]); got {actual}")
    if not entries:
        raise ValueError("arrays must hold at least one view; got none")
    tables = [_table(number, entry) for number, entry in enumerate(entries)]
    for number, table in enumerate(tables):
        if len(table) != len(tables[0]):
            raise ValueError(
                f"view {number} has {len(table)} rows, view 0 has {len(tables[0])}: views share their rows"
            )
    return np.ascontiguousarray(np.hstack(tables)), tuple(table.shape[1] for table in tables)


def _table(number: int, entry: Any) -> NDArray:
    """Return a view as an array of numbers with two axes."""
    try:
        table = np.asarray(entry, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"view {number} must be a table of numbers: {error}") from error
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"view {number} must have shape (n_samples, n_columns); got {table.shape}")
    return table


def as_list(values: Any) -> list | None:
    """Return the entries of an ordered iterable other than text; None for anything else."""
    if isinstance(values, (str, bytes, Mapping, Set)) or not np.iterable(values):
        return None
    return list(values)


def column_groups(views: Any, n_features: int) -> tuple[NDArray[np.intp], ...]:
    """Return the columns of every view.

    `views` is None (one view), the sizes of consecutive views, or lists of column indices.  Raises ValueError for
    anything else.
    """
    if views is None:
        return (np.arange(n_features),)
    entries = as_list(views)
    if entries is None:
        raise ValueError(
            f"views must be None, a list of sizes that add up to the {n_features} columns of X, or a list of lists of "
            f"column indices; got {views!r}"
        )
    if not entries:
        raise ValueError("views must name at least one view; got none")
    if all(isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) for entry in entries):
        if min(entries) < 1 or sum(entries) != n_features:
            raise ValueError(f"views must be sizes >= 1 that add up to the {n_features} columns of X; got {views!r}")
        return tuple(np.split(np.arange(n_features), np.cumsum(entries)[:-1]))
    return tuple(column_indices(f"views[{number}]", entry, n_features) for number, entry in enumerate(entries))


def column_indices(name: str, columns: Any, n_features: int) -> NDArray[np.intp]:
    """Return `columns` as indices; raise ValueError unless they are distinct, from 0 to n_features - 1, one or more."""
    try:
        indices = np.asarray(columns)
    except ValueError:  # lists of different lengths
        indices = np.empty(0)
    if indices.ndim != 1 or not len(indices) or indices.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a non-empty list of column indices; got {columns!r}")
    if indices.min() < 0 or indices.max() >= n_features or len(np.unique(indices)) < len(indices):
        raise ValueError(f"{name} must hold distinct column indices from 0 to {n_features - 1}; got {columns!r}")
    return indices.astype(np.intp)
