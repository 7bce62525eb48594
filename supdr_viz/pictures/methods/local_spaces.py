"""Local spaces: the rows in which each gate wins, in the projection of its local model, with its hyperplane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.gate_parts import (
    LINES,
    ROOM,
    as_points,
    margin_strokes,
    model_names,
    numbers_of,
    roles_of,
    winners,
)
from supdr_viz.pictures.picture import Key, Panel, Picture, Stroke, Tag
from supdr_viz.pictures.scene import Extent, spread_strip, steady_extent
from supdr_viz.pictures.surface import contours
from supdr_viz.pictures.types import Scene

GUTTER = 0.025
MAX_PANELS = 9


def spaces(*, fitted: Any, scene: Scene, snapshot: Snapshot, previous: Picture | None, split: Split) -> Picture:
    """Show the local space of every used model, in order of usage: the rows in which its gate wins, and its line."""
    roles, first = roles_of(fitted, scene)
    winner, usage, names = winners(fitted, split), fitted.usage_, model_names(fitted, scene)
    order = [int(m) for m in np.argsort(-usage, kind="stable") if usage[m] > 0][:MAX_PANELS]
    before = {panel.name: panel.extent for panel in previous.panels} if previous else {}
    boxes = _boxes(len(order))
    local = [fitted.local_embedding_]
    if len(split.X_test):
        local.append(fitted.local_transform(split.X_test))
    placed = np.full((len(winner), 2), np.nan)
    panels, strokes, tags = [], [], []
    for m, box in zip(order, boxes):
        rows = winner == m
        points, base, axes = _local_plane(fitted, m, np.concatenate([part[m] for part in local])[rows])
        square = steady_extent(points, _square(before[names[m]]) if names[m] in before else None)
        panel = Panel(names[m], _fitting(square, box), box)
        panels.append(panel)
        placed[rows] = panel.place(points)
        x_low, x_high, y_low, y_high = box
        corners = np.array([[x_low, y_low], [x_high, y_low], [x_high, y_high], [x_low, y_high]])
        strokes.append(Stroke(shapes.closed(corners), first + m, 1.6, alpha=0.8))
        if axes is not None:
            strokes += _panel_lines(fitted, m, panel, base, axes, roles)
        tags.append(Tag(x_low + 0.012, y_high - 0.026, f"{names[m]}  {100 * usage[m]:.0f} %", 0))
    more = len(usage) - len(order)
    return Picture(
        extent=(0.0, 1.0, 0.0, 1.0),
        roles=roles,
        rows=placed,
        strokes=tuple(strokes),
        tags=tuple(tags),
        panels=tuple(panels),
        keys=(Key("hyperplane", "text", "line"), Key("margins", "muted", "line", "dashed")),
        numbers=numbers_of(snapshot),
        caption=f"{len(order)} of {len(usage)} used" if more else "where it wins",
    )


def _local_plane(fitted: Any, m: int, own: NDArray) -> tuple[NDArray, NDArray, NDArray | None]:
    """Project the rows (k, R_m) of a local model to a plane: their places, and how points of the plane are lifted.

    Beyond two dimensions a binary linear model is seen along its hyperplane: one axis is its normal.  Others are seen
    in the plane of their rows' main directions, without lines.
    """
    size = own.shape[1]
    if size == 1:
        return spread_strip(np.column_stack([own, np.zeros(len(own))])), np.zeros(1), np.array([[1.0, 0.0]])
    if size == 2:
        return own, np.zeros(2), np.eye(2)
    base = own.mean(axis=0)
    directions = np.linalg.svd(own - base, full_matrices=False)[2][:2].T
    exact = fitted.kernel == "linear" and len(fitted.intercept_) == 1
    if exact:
        zero = fitted.local_decision_function(np.zeros((1, size)), m)
        normal = fitted.local_decision_function(np.eye(size), m) - zero
        directions = np.column_stack([normal, directions])
    axes = np.linalg.qr(np.column_stack([directions, np.eye(size)]))[0][:, :2]
    peak = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)[0]
    axes = axes * np.where(peak < 0, -1.0, 1.0)
    return (own - base) @ axes, base, axes if exact else None


def _panel_lines(
    fitted: Any, m: int, panel: Panel, base: NDArray, axes: NDArray, roles: tuple[str, ...]
) -> tuple[Stroke, ...]:
    """Hyperplane and margins of two classes; where the winning class changes, of more."""
    x_low, x_high, y_low, y_high = panel.extent
    half = np.array([x_high - x_low, y_high - y_low]) / LINES / 2
    x = np.linspace(x_low - half[0], x_high + half[0], LINES)
    y = np.linspace(y_low - half[1], y_high + half[1], LINES)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    scores = fitted.local_decision_function(points @ axes.T + base, m)
    if scores.ndim == 1:
        plane = scores.reshape(LINES, LINES)
        lines = {level: as_points(contours(x, y, plane, level)) for level in (0.0, -1.0, 1.0)}
    else:
        lines = {0.0: []}
        for k in np.unique(scores.argmax(axis=1)):
            lead = scores[:, k] - np.delete(scores, k, axis=1).max(axis=1)
            lines[0.0] += as_points(contours(x, y, lead.reshape(LINES, LINES), 0.0))
    lines = {
        level: [np.clip(panel.place(line), panel.box[::2], panel.box[1::2]) for line in level_lines]
        for level, level_lines in lines.items()
    }
    return margin_strokes(lines, roles)


def _boxes(count: int) -> list[Extent]:
    """Divide the picture into that many boxes of one shape, row by row from above."""
    columns = int(np.ceil(np.sqrt(count)))
    lines = int(np.ceil(count / max(columns, 1)))
    low, high = ROOM[1], 1.0 - ROOM[0]
    width, height = 1.0 / max(columns, 1), (high - low) / max(lines, 1)
    boxes = []
    for number in range(count):
        line, column = divmod(number, columns)
        x, y = column * width, high - (line + 1) * height
        boxes.append((x + GUTTER / 2, x + width - GUTTER / 2, y + GUTTER / 2, y + height - GUTTER / 2))
    return boxes


def _fitting(square: Extent, box: Extent) -> Extent:
    """Widen a square extent to the shape of a box, the same scale on both axes."""
    width, height = box[1] - box[0], box[3] - box[2]
    x, y = (square[0] + square[1]) / 2, (square[2] + square[3]) / 2
    half = (square[1] - square[0]) / 2
    across, up = half * max(1.0, width / height), half * max(1.0, height / width)
    return x - across, x + across, y - up, y + up


def _square(extent: Extent) -> Extent:
    """Return the largest square in the middle of an extent: what `_fitting` widened."""
    x, y = (extent[0] + extent[1]) / 2, (extent[2] + extent[3]) / 2
    half = min(extent[1] - extent[0], extent[3] - extent[2]) / 2
    return x - half, x + half, y - half, y + half
