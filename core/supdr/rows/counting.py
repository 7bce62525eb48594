"""Counts of rows by the cells of a plane; the counts of partitions add up to those of all rows.

The functions run on workers, which need this library only, not the app.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Extent = tuple[float, float, float, float]


class Grid(NamedTuple):
    """A plane cut into cells.

    mean (d,).
    axes (d, 2): the point of a row x is ``(x - mean) @ axes``.
    extent: (x_low, x_high, y_low, y_high); rows outside are not counted.
    cells: number of cells per axis.
    strip: height over which points are distributed if there is no second coordinate, else 0.
    n_layers: number of classes, or of ranges of values, plus one for rows without a target.
    ends: ends of the scale, if targets are numbers; None: targets are classes.
    """

    mean: NDArray
    axes: NDArray
    extent: Extent
    cells: int
    strip: float
    n_layers: int
    ends: tuple[float, float] | None = None

    def layer(self, targets: NDArray) -> NDArray[np.int64]:
        """Return the layer (n,) of rows with targets (n,); rows without a target get the last layer."""
        if self.ends is not None:
            return value_layer(targets, *self.ends, self.n_layers - 1)
        return np.where(np.isnan(targets), self.n_layers - 1, targets).astype(np.int64)

    def loss(self, predicted: NDArray, targets: NDArray) -> float:
        """Return the number of wrong predictions, or the sum of the squared errors."""
        if self.ends is None:
            return float((predicted != targets).sum())
        return float(((predicted - targets) ** 2).sum())

    def place(self, rows: NDArray) -> NDArray:
        """Return the points (n, 2) of rows (n, d)."""
        points = (rows - self.mean) @ self.axes
        if self.strip:
            points[:, 1] = self.strip * ((np.arange(len(points)) * 0.6180339887498949) % 1.0 - 0.5)
        return points


def cell_counts(points: NDArray, layer: NDArray, n_layers: int, extent: Extent, cells: int) -> NDArray[np.int64]:
    """Count points (n, 2) within the extent by layer and cell: (n_layers, cells, cells), the lowest row first."""
    x_low, x_high, y_low, y_high = extent
    across = (points[:, 0] - x_low) * (cells / (x_high - x_low))
    up = (points[:, 1] - y_low) * (cells / (y_high - y_low))
    inside = (across >= 0) & (across < cells) & (up >= 0) & (up < cells)
    column, line = across[inside].astype(np.int64), up[inside].astype(np.int64)
    cell = (layer[inside] * cells + line) * cells + column
    return np.bincount(cell, minlength=n_layers * cells * cells).reshape(n_layers, cells, cells)


def value_layer(values: NDArray, low: float, high: float, count: int) -> NDArray[np.int64]:
    """Return the layers (n,) of values (n,): `count` equal intervals from `low` to `high`, and `count` for NaN."""
    share = np.nan_to_num((values - low) / (high - low))
    layer = np.clip((share * count).astype(np.int64), 0, count - 1)
    return np.where(np.isnan(values), count, layer)


def count_rows(rows: NDArray, targets: NDArray, grid: Grid) -> NDArray[np.int64]:
    """Count the rows (n, d) of a partition by layer and cell; targets (n,), NaN where there is none."""
    return cell_counts(grid.place(rows), grid.layer(targets), grid.n_layers, grid.extent, grid.cells)


def count_new_rows(fitted: Any, rows: NDArray, targets: NDArray, grid: Grid) -> NDArray[np.float64]:
    """Return counts of new rows by cell under a fitted model, the number with a target, and their `Grid.loss`."""
    counts = count_rows(fitted.transform(rows), targets, grid)
    labelled = ~np.isnan(targets)
    loss = grid.loss(fitted.predict(rows)[labelled], targets[labelled])
    return np.concatenate([counts.ravel(), [labelled.sum(), loss]])


def count_unlabelled_rows(
    fitted: Any, rows: NDArray, targets: NDArray, truth: NDArray, grid: Grid
) -> NDArray[np.float64]:
    """Return counts of rows without a target by cell, numbers with and with a hidden target, and their loss."""
    gaps = np.isnan(targets)
    rows, hidden = rows[gaps], truth[gaps]
    has_truth = ~np.isnan(hidden)
    if not len(rows):
        return np.append(np.zeros(grid.n_layers * grid.cells**2), [len(targets), 0.0, 0.0])
    counts = count_rows(fitted.transform(rows), targets[gaps], grid)
    loss = grid.loss(fitted.predict(rows[has_truth]), hidden[has_truth]) if has_truth.any() else 0.0
    return np.concatenate([counts.ravel(), [len(targets) - len(rows), has_truth.sum(), loss]])


def moments(values: NDArray, centre: float) -> NDArray[np.float64]:
    """Return how many values (n,) are not NaN, and the sums of their differences to a centre and of the squares."""
    differences = values[~np.isnan(values)] - centre
    return np.array([len(differences), differences.sum(), (differences**2).sum()])


def hidden_moments(targets: NDArray, truth: NDArray, centre: float) -> NDArray[np.float64]:
    """Return the `moments` of the true targets (n,) of rows whose targets are NaN."""
    return moments(truth[np.isnan(targets)], centre)


def points_in_polygon(points: NDArray, corners: NDArray) -> NDArray[np.bool_]:
    """Return which points (n, 2) lie in a polygon with corners (k, 2) in order, by ray casting."""
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
    """Count the rows (n, d) of a partition whose points lie within a polygon."""
    return int(points_in_polygon(grid.place(rows), corners).sum())


def count_enclosed_new(
    fitted: Any, rows: NDArray, targets: NDArray, grid: Grid, corners: NDArray, only_unlabelled: bool
) -> int:
    """Count the rows (n, D) of a partition whose latent rows under a fitted model lie within a polygon of the plane."""
    rows = rows[np.isnan(targets)] if only_unlabelled else rows
    return count_enclosed(fitted.transform(rows), grid, corners) if len(rows) else 0
