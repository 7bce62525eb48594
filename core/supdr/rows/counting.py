"""Rows counted by cells of a plane: the counts of partitions add up, whatever the partitions.

This works beside the rows, in processes that need to know this library only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Extent = tuple[float, float, float, float]


class Grid(NamedTuple):
    """A plane cut into cells.

    mean (d,).
    axes (d, 2): a row x stands at ``(x - mean) @ axes``.
    extent: (x_low, x_high, y_low, y_high); rows outside do not count.
    cells: per axis.
    strip: height over which rows are spread where a second coordinate is wanting, else 0.
    n_layers: classes, or ranges of values, and one more for rows without a target.
    ends: of the scale of values, where targets are numbers; None: they are classes.
    """

    mean: NDArray
    axes: NDArray
    extent: Extent
    cells: int
    strip: float
    n_layers: int
    ends: tuple[float, float] | None = None

    def layer(self, targets: NDArray) -> NDArray[np.int64]:
        """Return the layer of rows with these targets (n,); those without one have the last."""
        if self.ends is not None:
            return value_layer(targets, *self.ends, self.n_layers - 1)
        return np.where(np.isnan(targets), self.n_layers - 1, targets).astype(np.int64)

    def loss(self, predicted: NDArray, targets: NDArray) -> float:
        """Return how many of some rows are predicted wrongly, or the sum of their squared errors."""
        if self.ends is None:
            return float((predicted != targets).sum())
        return float(((predicted - targets) ** 2).sum())

    def place(self, rows: NDArray) -> NDArray:
        """Return where rows (n, d) stand, (n, 2)."""
        points = (rows - self.mean) @ self.axes
        if self.strip:
            points[:, 1] = self.strip * ((np.arange(len(points)) * 0.6180339887498949) % 1.0 - 0.5)
        return points


def cell_counts(points: NDArray, layer: NDArray, n_layers: int, extent: Extent, cells: int) -> NDArray[np.int64]:
    """Count points by layer and cell.

    `points` (n, 2): those outside the extent, and those that are not finite, do not count; `layer` (n,); `extent`:
    (x_low, x_high, y_low, y_high); `cells`: per axis. Returns (n_layers, cells, cells): first row lowest.
    """
    x_low, x_high, y_low, y_high = extent
    across = (points[:, 0] - x_low) * (cells / (x_high - x_low))
    up = (points[:, 1] - y_low) * (cells / (y_high - y_low))
    inside = (across >= 0) & (across < cells) & (up >= 0) & (up < cells)
    column, line = across[inside].astype(np.int64), up[inside].astype(np.int64)
    cell = (layer[inside] * cells + line) * cells + column
    return np.bincount(cell, minlength=n_layers * cells * cells).reshape(n_layers, cells, cells)


def value_layer(values: NDArray, low: float, high: float, count: int) -> NDArray[np.int64]:
    """Return the layer of values (n,), by about how large they are: 0 to `count` - 1, and `count` for NaN.

    `values` (n,). `low`, `high`: ends of the scale; what lies beyond them counts as they do. Returns (n,).
    """
    share = np.nan_to_num((values - low) / (high - low))
    layer = np.clip((share * count).astype(np.int64), 0, count - 1)
    return np.where(np.isnan(values), count, layer)


def counted(rows: NDArray, targets: NDArray, grid: Grid) -> NDArray[np.int64]:
    """Count the rows (n, d) of a partition by layer and cell; targets (n,), NaN where there is none."""
    return cell_counts(grid.place(rows), grid.layer(targets), grid.n_layers, grid.extent, grid.cells)


def counted_new(fitted: Any, rows: NDArray, targets: NDArray, grid: Grid) -> NDArray[np.float64]:
    """Count new rows where a fitted model puts them.

    `fitted`: it predicts what the targets are: class numbers, or values; `rows` (n, D); `targets` (n,): NaN where there
    is none. Returns (n_layers * cells * cells + 2,): the counts and, last, how many rows have a target, and the
    `Grid.loss` of these.
    """
    counts = counted(fitted.transform(rows), targets, grid)
    known = ~np.isnan(targets)
    return np.concatenate([counts.ravel(), [known.sum(), grid.loss(fitted.predict(rows)[known], targets[known])]])


def counted_unlabelled(fitted: Any, rows: NDArray, targets: NDArray, truth: NDArray, grid: Grid) -> NDArray[np.float64]:
    """Count the rows of a partition that have no target where a fitted model puts new rows.

    `fitted`: it predicts what the targets are: class numbers, or values. `rows` (n, D). `targets` (n,): NaN where there
    is none. `truth` (n,): targets before some were hidden; NaN where unknown. Returns (n_layers * cells * cells +
    3,): the counts and, last, how many rows have a target, of how many others it is known, and the `Grid.loss` of
    those.
    """
    gaps = np.isnan(targets)
    rows, hidden = rows[gaps], truth[gaps]
    known = ~np.isnan(hidden)
    if not len(rows):
        return np.append(np.zeros(grid.n_layers * grid.cells**2), [len(targets), 0.0, 0.0])
    counts = counted(fitted.transform(rows), targets[gaps], grid)
    loss = grid.loss(fitted.predict(rows[known]), hidden[known]) if known.any() else 0.0
    return np.concatenate([counts.ravel(), [len(targets) - len(rows), known.sum(), loss]])


def moments(values: NDArray, centre: float) -> NDArray[np.float64]:
    """Return how many values (n,) are known, and the sums of their differences to a centre and of their squares."""
    differences = values[~np.isnan(values)] - centre
    return np.array([len(differences), differences.sum(), (differences**2).sum()])


def hidden_moments(targets: NDArray, truth: NDArray, centre: float) -> NDArray[np.float64]:
    """Return the `moments` of the truth (n,) of rows whose targets are hidden."""
    return moments(truth[np.isnan(targets)], centre)


def enclosed(points: NDArray, corners: NDArray) -> NDArray[np.bool_]:
    """Tell which points lie in a polygon, by the number of its sides on a ray.

    `points` (n, 2); `corners` (k, 2): of the polygon, in order. Returns (n,).
    """
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    x, y = points[near].T
    inside = np.zeros(len(near), dtype=bool)
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, 1, axis=0)):
        if y1 != y2:
            inside ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    result = np.zeros(len(points), dtype=bool)
    result[near] = inside
    return result


def count_enclosed(rows: NDArray, grid: Grid, corners: NDArray) -> int:
    """Count the rows (n, d) of a partition that stand within a polygon of a plane."""
    return int(enclosed(grid.place(rows), corners).sum())


def count_enclosed_new(
    fitted: Any, rows: NDArray, targets: NDArray, grid: Grid, corners: NDArray, only_unlabelled: bool
) -> int:
    """Count the new rows (n, D) of a partition that a fitted model puts within a polygon of its plane."""
    rows = rows[np.isnan(targets)] if only_unlabelled else rows
    return count_enclosed(fitted.transform(rows), grid, corners) if len(rows) else 0
