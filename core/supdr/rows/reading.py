"""Rows that come in partitions: Dask arrays and data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.optional import require
from supdr.engine.targets import missing_values


def in_partitions(X: Any) -> bool:
    """Tell whether X is a collection of Dask; nothing is imported for that."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed")


def row_partitions(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """Return the partitions of rows and of their labels.

    Parameters
    ----------
    X : dask.array.Array of shape (N, D) or dask.dataframe.DataFrame
        Rows.
    y : dask.array.Array of shape (N,) or dask.dataframe.Series
        Labels, in partitions of the same sizes; NaN or None where unlabelled.

    Returns
    -------
    rows, labels : lists of Delayed

    Raises
    ------
    supdr.engine.optional.PackageMissing
        If ``distributed`` is not installed.
    ValueError
        If rows and labels are not partitioned alike.
    """
    require("Rows in partitions", "distributed", extra="dask")
    if not in_partitions(y):
        raise ValueError(
            f"y must be a Dask array or series in the partitions of X; got {type(y).__name__} with X in partitions"
        )
    if getattr(X, "ndim", 2) != 2 or y.ndim != 1:
        raise ValueError(f"X must have two dimensions and y one; got {X.ndim} and {y.ndim}")
    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1})
    rows, labels = (np.asarray(each.to_delayed(), dtype=object).ravel().tolist() for each in (X, y))
    if len(rows) != len(labels):
        raise ValueError(f"X and y must be partitioned alike; got {len(rows)} and {len(labels)} partitions")
    return rows, labels


def finite_rows(block: Any) -> NDArray[np.float64]:
    """Return a partition's rows as numbers.

    Raises
    ------
    ValueError
        If one is missing or infinite.
    """
    rows = np.ascontiguousarray(block, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("X contains NaN or infinity in one of its partitions.")
    return rows


def looked_at(rows: NDArray, labels: NDArray, chosen: NDArray) -> tuple[NDArray, NDArray, NDArray, bool]:
    """Return the labels that occur in a partition, some of its rows with theirs, and whether any label is missing."""
    known = ~missing_values(labels, np.nan)
    return np.unique(labels[known]), rows[chosen], labels[chosen], not known.all()


def class_numbers(labels: NDArray, classes: NDArray) -> NDArray[np.float64]:
    """Return the place of each label (n,) among the sorted classes; NaN without a label."""
    known = ~missing_values(labels, np.nan)
    numbers = np.full(len(labels), np.nan)
    numbers[known] = np.searchsorted(classes, labels[known].astype(classes.dtype))
    return numbers
