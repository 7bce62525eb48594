"""Data set and split → `Scene`: where rows stand in the input plane, and what hovering shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from supdr.datasets import Dataset
from supdr_viz.data.split import Split
from supdr_viz.pictures.axis_columns import NUMBERED, AxisColumns
from supdr_viz.pictures.density import COSTLY, sampled
from supdr_viz.pictures.row_colours import scene_density
from supdr_viz.pictures.row_columns import RowColumns
from supdr_viz.pictures.types import Plane, Scene

# Empty border around the points, as a share of the plane's width.
MARGIN = 0.08

MAX_PICTURES = 3000

# Axes zoom in only when the points fill less than this share of them: steady axes show motion.
SHRINK = 0.55

# Fewer points all decide how far the axes reach.
FEWEST_FRAMED = 50

# Axes zoom out when a point comes nearer to the border than this share of them: marks are not cut off.
ROOM = 0.025

# Rows or columns, whichever are fewer, that are decomposed whole: of more it takes seconds, in which a page waits.
MOST_DECOMPOSED = 300

Extent = tuple[float, float, float, float]


def build_scene(dataset: Dataset, split: Split, axes: tuple[int, int] | None = None) -> Scene:
    """Describe what stays while a run goes on.

    `dataset`: names, pictures, description. `split`: training and test rows. `axes`: two features to show; by default
    the two there are, or the plane of the first two principal components.
    """
    X = np.concatenate([split.X_train, split.X_test])
    targets = np.concatenate([split.truth_train, split.y_test])
    plane = input_plane(X, split.X_train, dataset.feature_names, axes)
    classification = dataset.task == "classification"
    is_test = np.arange(len(X)) >= len(split.X_train)
    is_labelled = np.concatenate([~np.isnan(split.y_train), np.zeros(len(split.X_test), dtype=bool)])
    position = plane.project(filled(X, split.X_train))
    names = tuple(dataset.feature_names) if dataset.image_shape is None else ()
    scene = Scene(
        title=dataset.name,
        description=dataset.description,
        task=dataset.task,
        class_names=tuple(dataset.target_names) if classification else (),
        position=position,
        code=np.nan_to_num(targets).astype(np.uint8) if classification else np.zeros(len(X), dtype=np.uint8),
        target=targets,
        is_test=is_test,
        is_labelled=is_labelled,
        row=np.concatenate([split.train, split.test]),
        plane=plane,
        n_features=X.shape[1],
        image_shape=dataset.image_shape,
        images=_pictures(X, dataset.image_shape),
        image_range=_image_range(X, dataset.image_shape),
        notes=() if split.whole is not None else _notes(X, is_labelled, is_test),
        view_names=view_names(dataset),
        drawn=sampled(len(X)) if split.whole is None else np.arange(len(X)),
        n_rows=len(X) if split.whole is None else split.whole.n_rows,
        feature_names=names,
        axis_words=_axis_words(plane, AxisColumns((X,), names), position),
        columns=_row_columns(dataset, split),
        sample=sampled(len(X), COSTLY) if split.whole is None else None,
    )
    if split.whole is not None:  # counted by partition, with the first surface
        return scene
    return replace(scene, density=scene_density(scene, scene.position, plane.extent))


def thinned(scene: Scene) -> Scene:
    """Return a scene for files, which are to be small: of many rows a sample is drawn over the density of all."""
    if scene.drawn is not None or scene.sample is None:
        return scene
    thin = replace(scene, drawn=scene.sample)
    return replace(thin, density=scene_density(thin, thin.position, thin.plane.extent))


def _row_columns(dataset: Dataset, split: Split) -> RowColumns:
    rows = np.concatenate([split.train, split.test])
    metadata = {} if split.whole is not None else {name: each[rows] for name, each in dataset.metadata.items()}
    return RowColumns((split.X_train, split.X_test), dataset.feature_names, metadata)


def _axis_words(plane: Plane, columns: AxisColumns, position: NDArray) -> tuple[str, str]:
    """Name the axes of a plane; components by the columns that they go with, or else by their numbers."""
    if plane.kind != "components":
        return named_axes(plane)
    words = columns.words(position)
    return words if any(words) else (plane.axis_names[0], plane.axis_names[1])


def named_axes(plane: Plane) -> tuple[str, str]:
    """Return the names of the two columns that a plane shows; names like x1 only where there are other columns."""
    across, upward = ("" if plane.exact and NUMBERED.fullmatch(label) else label for label in plane.axis_names)
    return across, upward


def view_names(dataset: Dataset) -> tuple[str, ...]:
    """Name the views of a data set: by what stands before the colon in the names of their columns, else by numbers.

    Returns empty for data of one view.
    """
    names, start = [], 0
    for number, size in enumerate(dataset.views or (), 1):
        first = {name.partition(":")[0] for name in dataset.feature_names[start : start + size] if ":" in name}
        names.append(first.pop() if len(first) == 1 else f"view {number}")
        start += size
    return tuple(names) if len(set(names)) == len(names) else tuple(f"view {k}" for k in range(1, len(names) + 1))


def input_plane(X: NDArray, X_train: NDArray, names: Sequence[str], axes: tuple[int, int] | None = None) -> Plane:
    """Choose the plane in which rows are shown.

    `X` (n, m): all rows, which the extent must hold. `X_train` (n_train, m): rows that define the principal components;
    NaN cells count as the column's mean. `names`: feature names. `axes`: two features; else the only two, or principal
    components of the standardised training rows.
    """
    n_features = X.shape[1]
    mean = np.nanmean(X_train, axis=0)
    train = filled(X_train, X_train)
    if axes is None and n_features <= 2:
        axes = (0, n_features - 1)
    if axes is not None:
        directions = np.zeros((n_features, 2))
        directions[axes[0], 0] = 1.0
        if axes[1] != axes[0]:
            directions[axes[1], 1] = 1.0
        origin, lifting, kind = mean.copy(), directions.T.copy(), "features"
        origin[list(axes)] = 0.0
        labels = (names[axes[0]], names[axes[1]] if axes[1] != axes[0] else "")
        variance = train.var(axis=0)
        share = float(variance[list(set(axes))].sum() / max(variance.sum(), np.finfo(float).tiny))
    else:
        deviation = train.std(axis=0)
        deviation[deviation == 0] = 1.0
        standardised = (train - mean) / deviation
        lengths, rows = _leading(standardised)
        rows = rows * np.sign(rows[:, np.argmax(abs(rows), axis=1)].diagonal())[:, None]
        directions, lifting, origin, kind = (rows / deviation).T, rows * deviation, mean, "components"
        share = float((lengths**2).sum() / max((standardised**2).sum(), np.finfo(float).tiny))
        labels = ("component 1", "component 2")
    points = (filled(X, X_train) - origin) @ directions
    return Plane(kind, labels, origin, directions, lifting, n_features <= 2, share, square_extent(points))


def _leading(rows: NDArray) -> tuple[NDArray, NDArray]:
    """Return the two largest singular values of rows (n, m), descending, and their right vectors (2, m)."""
    if min(rows.shape) <= MOST_DECOMPOSED:
        _, lengths, directions = np.linalg.svd(rows, full_matrices=False)
        return lengths[:2], directions[:2]
    start = np.random.default_rng(0).standard_normal(min(rows.shape))
    _, lengths, directions = svds(rows, k=2, v0=start)
    return lengths[::-1], directions[::-1]


def square_extent(points: NDArray) -> tuple[float, float, float, float]:
    """Return (x_low, x_high, y_low, y_high) of the smallest square, with a border, that holds the points."""
    return _square(*_ends(points))


def _ends(points: NDArray) -> tuple[NDArray, NDArray]:
    """Return the least and the greatest of both columns, which numpy finds slowly where they alternate."""
    columns = np.ascontiguousarray(points.T)
    return columns.min(axis=1), columns.max(axis=1)


def _square(low: NDArray, high: NDArray) -> Extent:
    centre, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-9) * (1 + 2 * MARGIN)
    return (
        float(centre[0] - half),
        float(centre[0] + half),
        float(centre[1] - half),
        float(centre[1] + half),
    )


def steady_extent(points: NDArray, previous: Extent | None, least: float = SHRINK) -> Extent:
    """Return `previous` while it holds the points, with room for their marks, and they fill the share `least` of it.

    Else return `square_extent`.
    """
    low, high = _ends(points)
    square = _square(low, high)
    if previous is None:
        return square
    x_low, x_high, y_low, y_high = previous
    room = ROOM * (x_high - x_low)
    (left, bottom), (right, top) = low - room, high + room
    holds = x_low <= left and right <= x_high and y_low <= bottom and top <= y_high
    filled = (square[1] - square[0]) / (x_high - x_low)
    return previous if holds and filled > least else square


def without_outliers(points: NDArray) -> NDArray:
    """Return the points (n, 2) but for few that lie so far away that the others would be seen in a corner.

    Those are, of more than `FEWEST_FRAMED`, at most two in a hundred, beyond the range of the others by more than its
    length.
    """
    if len(points) < FEWEST_FRAMED:
        return points
    low, high = np.nanquantile(points, (0.01, 0.99), axis=0)
    span = high - low
    near = ((points >= low - span) & (points <= high + span)).all(axis=1)
    return points[near] if near.mean() >= 0.96 else points


def spread_strip(points: NDArray) -> NDArray:
    """Spread points (n, 2) of a one-dimensional latent space over a strip, the same way every time."""
    spread = (np.arange(len(points)) * 0.6180339887498949) % 1.0 - 0.5
    placed = points[np.isfinite(points[:, 0]), 0]  # of very many rows only some are placed
    height = max(float(np.ptp(placed)) if len(placed) else 0.0, 1e-9) * 0.5
    return np.stack([points[:, 0], spread * height], axis=1)


def filled(X: NDArray, X_train: NDArray) -> NDArray:
    """Return rows with the mean of a training column in place of each missing cell."""
    missing = np.isnan(X)
    return np.where(missing, np.nanmean(X_train, axis=0), X) if missing.any() else X


def _pictures(X: NDArray, shape: tuple[int, int] | None) -> NDArray | None:
    if shape is None or len(X) > MAX_PICTURES:
        return None
    return grey_levels(X[:, : shape[0] * shape[1]], _image_range(X, shape)).reshape(len(X), *shape)


def _image_range(X: NDArray, shape: tuple[int, int] | None) -> tuple[float, float]:
    if shape is None:
        return 0.0, 1.0
    cells = np.nan_to_num(X[:, : shape[0] * shape[1]])
    return float(cells.min()), float(cells.max())


def grey_levels(cells: NDArray, ends: tuple[float, float]) -> NDArray:
    """Return the grey levels, uint8, of cells of pictures: 0 and 255 at the ends and beyond; 0 for missing cells."""
    low, high = ends
    levels = np.round(255 * (np.nan_to_num(cells) - low) / max(high - low, np.finfo(float).tiny))
    return np.clip(levels, 0, 255).astype(np.uint8)


def _notes(X: NDArray, is_labelled: NDArray, is_test: NDArray) -> tuple[str, ...]:
    notes = []
    missing = int(np.isnan(X).sum())
    if missing:
        notes.append(f"{missing:,} cells are missing." if missing > 1 else "1 cell is missing.")
    hidden = int((~is_labelled & ~is_test).sum())
    if hidden:
        notes.append(f"{hidden:,} of {int((~is_test).sum()):,} training rows have no label.")
    if (drawn := sampled(len(X))) is not None:
        notes.append(
            f"{len(drawn):,} of {len(X):,} rows are drawn as points, which can be pointed at and selected; "
            "shading shows the density of all."
        )
    return tuple(notes)
