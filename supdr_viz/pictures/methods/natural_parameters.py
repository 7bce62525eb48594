"""Data, means and natural parameters of a generalised linear model as images, one beside the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.split import Split
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Number, Picture, Tag
from supdr_viz.pictures.types import Scene

LEVELS = 64
# Gaps, the colours of values from low to high, and the words.
ROLES = ("card", *(f"region {4 * level + 2}" for level in range(LEVELS)), "secondary")

PANELS = ("data", "mean", "natural parameter")
# Rows and columns of a table that are shown, evenly spaced.
MAX_ROWS, MAX_COLUMNS = 90, 36

MAX_PICTURES = 5
# Columns that are no bits are shown in standard deviations, up to this many.
DEVIATIONS = 2.5

GAP = 2


def parameters(*, fitted: Any, scene: Scene, split: Split) -> Picture:
    """Draw cells of X, what the model expects of them, and the natural parameters U V + b behind that.

    Rows that are pictures come as pictures; else rows stand below each other, sorted by class or target.
    """
    rows = _chosen_rows(scene)
    panels = _panels(fitted, split.X_train[rows], rows)
    levels, limit = _levels(fitted, panels, split.X_train)
    if scene.image_shape is not None and levels[0].shape[1] >= scene.image_shape[0] * scene.image_shape[1]:
        image, tags = _as_pictures(levels, scene.image_shape)
    else:
        image, tags = _as_table(levels)
    return Picture(
        extent=(0.0, 1.0, 0.0, 1.0),
        roles=ROLES,
        image=image[::-1],
        image_alpha=1.0,
        tags=tags,
        numbers=(Number("parameters within ±", limit, help="the scale of the natural parameters, dark to bright"),),
    )


PARAMETERS = Mode("parameters", "parameters", "Parameters", "and what they mean", parameters)


def _chosen_rows(scene: Scene) -> NDArray:
    """Training rows, evenly spaced along classes or targets; of pictures only a few, of all classes in turn."""
    train = scene.target[: scene.n_train]
    order = np.argsort(train, kind="stable")
    count = MAX_PICTURES if scene.image_shape is not None else MAX_ROWS
    return order[np.unique(np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int))]


def _panels(fitted: Any, X: NDArray, rows: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Cells, means (both in input units) and natural parameters of the chosen rows."""
    latent = fitted.embedding_[rows]
    return X, fitted.inverse_transform(latent), latent @ fitted.components_ + fitted.intercept_x_


def _levels(fitted: Any, panels: tuple[NDArray, ...], X: NDArray) -> tuple[list[NDArray], float]:
    """Scale cells and means alike, parameters around 0; return levels 1 to `LEVELS`, 0 where missing, and the scale."""
    data, mean, theta = panels
    bits = (
        (fitted.family_x_ == "bernoulli") if len(fitted.family_x_) == X.shape[1] else np.zeros(X.shape[1], dtype=bool)
    )
    observed = np.ma.masked_invalid(X)
    centre, spread = observed.mean(axis=0).filled(0.0), observed.std(axis=0).filled(0.0)
    half = np.where(bits, 0.5, np.where(spread > 0, DEVIATIONS * spread, 1.0))
    low = np.where(bits, 0.0, centre - half)
    limit = float(max(np.quantile(np.abs(theta), 0.99), 1e-9))
    shares = [(data - low) / (2.0 * half), (mean - low) / (2.0 * half), 0.5 + 0.5 * theta / limit]
    levels = []
    for share in shares:
        level = 1.0 + np.floor(np.clip(share, 0.0, 1.0 - 1e-9) * LEVELS)
        levels.append(np.nan_to_num(level, nan=0.0).astype(np.uint8))
    return levels, limit


def _as_table(levels: list[NDArray]) -> tuple[NDArray, tuple[Tag, ...]]:
    """Put three tables side by side, with room for their names above and for numbers below."""
    tables = []
    for table in levels:
        columns = np.unique(np.linspace(0, table.shape[1] - 1, min(MAX_COLUMNS, table.shape[1])).round().astype(int))
        tables.append(np.repeat(table[:, columns], max(1, MAX_COLUMNS // len(columns)), axis=1))
    height, width = max(len(table) for table in tables), max(table.shape[1] for table in tables)
    stretch = max(1, round(3 * width / height))
    tables = [np.repeat(table, stretch, axis=0) for table in tables]
    height *= stretch
    above, below = int(0.12 * height) + 1, int(0.12 * height) + 1
    image = np.zeros((above + height + below, 3 * width + 2 * GAP), dtype=np.uint8)
    tags = []
    for number, (table, name) in enumerate(zip(tables, PANELS)):
        start = number * (width + GAP)
        image[above : above + len(table), start : start + table.shape[1]] = table
        x = (start + table.shape[1] / 2) / image.shape[1]
        tags.append(Tag(x, 1.0 - 0.6 * above / len(image), name, len(ROLES) - 1, "center"))
    return image, tuple(tags)


def _as_pictures(levels: list[NDArray], shape: tuple[int, int]) -> tuple[NDArray, tuple[Tag, ...]]:
    """Put pictures side by side in three lines, each under its name."""
    height, width = shape
    count = len(levels[0])
    title = max(2, height // 4)
    side = max(count * (width + 1) - 1, 3 * (height + title) + title)
    image = np.zeros((side, side), dtype=np.uint8)
    left, tags = (side - count * (width + 1) + 1) // 2, []
    top = (side - 3 * (height + title)) // 2
    for panel, name in zip(levels, PANELS):
        tags.append(Tag(0.5, 1.0 - (top + 0.55 * title) / side, name, len(ROLES) - 1, "center"))
        top += title
        for number, pixels in enumerate(panel[:, : height * width].reshape(count, height, width)):
            start = left + number * (width + 1)
            image[top : top + height, start : start + width] = pixels
        top += height
    return image, tuple(tags)
