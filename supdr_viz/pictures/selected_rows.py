"""What selected rows have in common: the distribution of each column among them and among the others, and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.row_columns import Column, robust_range

# Parts that a range of numbers is divided into.
BINS = 12


@dataclass(frozen=True, eq=False)
class Distributions:
    """How the values of a column are distributed among selected rows and among the others.

    selected, rest (k,): shares of the rows in each bin or category; all 0 where there are no such rows.
    ends: of the bins together; rows beyond them count in the first or in the last one. None: these are categories.
    labels: names of the categories; empty for numbers.
    means: of the selected rows and of the others, of numbers; NaN where there are none.
    """

    selected: NDArray
    rest: NDArray
    ends: tuple[float, float] | None
    labels: tuple[str, ...]
    means: tuple[float, float]

    @property
    def difference(self) -> float:
        """Half the sum of the differences of all shares: 0 where they are alike, 1 where they share nothing."""
        return float(np.abs(self.selected - self.rest).sum()) / 2.0 if self.rest.any() and self.selected.any() else 0.0


def distributions(column: Column, selected: NDArray) -> Distributions:
    """Count the values of a column among selected rows (mask, (n,)) and among the others."""
    column = column.grouped
    observed = np.isfinite(column.values)
    if column.categories:
        place, count, ends = np.where(observed, column.values, 0).astype(int), len(column.categories), None
    else:
        ends, count = robust_range(column.values), BINS
        share = np.where(observed, (column.values - ends[0]) / (ends[1] - ends[0]), 0.0)
        place = np.clip(np.floor(share * BINS), 0, BINS - 1).astype(int)
    shares, means = [], []
    for rows in (selected & observed, ~selected & observed):
        counts = np.bincount(place[rows], minlength=count)
        shares.append(counts / max(counts.sum(), 1))
        means.append(float(column.values[rows].mean()) if rows.any() and not column.categories else np.nan)
    return Distributions(shares[0], shares[1], ends, column.categories, (means[0], means[1]))


def confusion(true: NDArray, predicted: NDArray, n_classes: int) -> NDArray:
    """Count rows by true and predicted class, (K, K); rows that lack one of them do not count.

    `true`, `predicted` (n,): class codes, or NaN.
    """
    observed = np.isfinite(true) & np.isfinite(predicted) & (true < n_classes) & (predicted < n_classes)
    cell = n_classes * true[observed].astype(int) + predicted[observed].astype(int)
    return np.bincount(cell, minlength=n_classes**2).reshape(n_classes, n_classes)


def nearest_rows(rows: NDArray, row: int, count: int) -> tuple[NDArray, NDArray]:
    """Return the rows nearest to a row (n, d), the nearest first, without itself, and their distances."""
    apart = np.sqrt(np.maximum(((rows - rows[row]) ** 2).sum(axis=1), 0.0))
    apart[row] = np.inf
    count = min(count, len(rows) - 1)
    some = np.argpartition(apart, count)[:count] if count < len(rows) - 1 else np.flatnonzero(np.isfinite(apart))
    order = some[np.argsort(apart[some], kind="stable")]
    order = order[np.isfinite(apart[order])]
    return order, apart[order]
