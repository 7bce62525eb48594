"""Reading of rows in partitions: Dask arrays and data frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.optional import require
from supdr.engine.targets import missing_values


def in_partitions(X: Any) -> bool:
    """Tell whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed")


def row_partitions(X: Any, y: Any, *, several: bool = False) -> tuple[list[Any], list[Any]]:
    """Return the partitions of rows (N, D) and of labels (N,), or (N, q) if `several`; ValueError if these differ."""
    require("Rows in partitions", "distributed", extra="dask")
    if not in_partitions(y):
        raise ValueError(
            f"y must be a Dask array or series in the partitions of X; got {type(y).__name__} with X in partitions"
        )
    if getattr(X, "ndim", 2) != 2 or y.ndim not in ((1, 2) if several else (1,)):
        raise ValueError(
            f"X must have two dimensions and y one{' or two' if several else ''}; got {X.ndim} and {y.ndim}"
        )
    X, y = (each.rechunk({1: -1}) if hasattr(each, "rechunk") and each.ndim == 2 else each for each in (X, y))
    rows, labels = (np.asarray(each.to_delayed(), dtype=object).ravel().tolist() for each in (X, y))
    if len(rows) != len(labels):
        raise ValueError(f"X and y must be partitioned alike; got {len(rows)} and {len(labels)} partitions")
    return rows, labels


def numbers(block: Any, may_miss: bool) -> NDArray[np.float64]:
    """Return a partition's rows (n, D) as floats; raise ValueError if a cell is infinite, or NaN unless `may_miss`."""
    rows = np.ascontiguousarray(block, dtype=np.float64)
    if may_miss and np.isinf(rows).any():
        raise ValueError("X contains infinity in one of its partitions.")
    if not may_miss and not np.isfinite(rows).all():
        raise ValueError("X contains NaN or infinity in one of its partitions.")
    return rows


class PartSummary(NamedTuple):
    """Labels and some rows of a partition.

    values (k,): distinct labels in rising order; of very many only the lowest ones and the highest.
    rows (s, D): some rows.
    labels (s,): the labels of these rows.
    has_gaps: whether any label of the partition is missing.
    """

    values: NDArray
    rows: NDArray
    labels: NDArray
    has_gaps: bool


def summarise(rows: NDArray, labels: NDArray, chosen: NDArray, most: int) -> PartSummary:
    """Return the rows with numbers `chosen` of a partition, and at most `most` + 1 distinct labels."""
    labelled = ~missing_values(labels, np.nan)
    values = np.unique(labels[labelled])
    if len(values) > most + 1:
        values = np.append(values[:most], values[-1:])
    return PartSummary(values, rows[chosen], labels[chosen], not labelled.all())


def class_numbers(labels: NDArray, classes: NDArray) -> NDArray[np.float64]:
    """Return the index of each label (n,) among the sorted classes; NaN for a missing label."""
    labelled = ~missing_values(labels, np.nan)
    numbers = np.full(len(labels), np.nan)
    numbers[labelled] = np.searchsorted(classes, labels[labelled].astype(classes.dtype))
    return numbers


def target_numbers(labels: NDArray) -> NDArray[np.float64]:
    """Return numeric labels (n,) as floats; NaN for a missing label."""
    labelled = ~missing_values(labels, np.nan)
    values = np.full(len(labels), np.nan)
    values[labelled] = labels[labelled].astype(float)
    return values
