"""Gating regions: the plane coloured by the gate that wins.

The figures to compare with are 1 and 3 of M. Gönen, E. Alpaydın, "Supervised and Localized Dimensionality Reduction
from Multiple Feature Representations or Kernels".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.gate_parts import (
    LINES,
    as_points,
    distinct,
    margin_strokes,
    model_keys,
    numbers_of,
    roles_of,
    winners,
    with_test,
)
from supdr_viz.pictures.picture import Picture, Stroke
from supdr_viz.pictures.scene import Extent, spread_strip, steady_extent
from supdr_viz.pictures.surface import contours, grid
from supdr_viz.pictures.types import Scene

# Cells of the regions' image per axis.
PIXELS = 140

SHADES = 8

# Points of a straight line, which ends where another gate wins.
SAMPLES = 120

# What is linear in a plane is known from these.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def regions(*, fitted: Any, scene: Scene, snapshot: Snapshot, previous: Picture | None, split: Split) -> Picture:
    """Colour the plane by the gate that wins, the more opaque the more it wins; planar data also show their lines."""
    if scene.plane.exact:
        return _input_regions(fitted, scene, snapshot)
    return _gating_regions(fitted, scene, snapshot, previous, split)


def _input_regions(fitted: Any, scene: Scene, snapshot: Snapshot) -> Picture:
    """Show regions in the plane of the data, each with its own line and margins."""
    roles, first = roles_of(fitted, scene)
    extent = scene.plane.extent
    rows = scene.position
    start, *ends = fitted.gating_transform(scene.plane.lift(CORNERS))
    role = None
    if not distinct(fitted, scene):
        role = (first + fitted.gate(scene.plane.lift(rows)).argmax(axis=1)).astype(np.uint8)
    return Picture(
        extent=extent,
        roles=roles,
        rows=rows,
        row_role=role,
        strokes=_local_lines(fitted, scene, roles),
        image=_regions_image(fitted, extent, start, (ends - start).T, first),
        shades=SHADES,
        keys=model_keys(fitted, scene, roles, first),
        numbers=numbers_of(snapshot),
        caption="input space",
    )


def _local_lines(fitted: Any, scene: Scene, roles: tuple[str, ...]) -> tuple[Stroke, ...]:
    """Zero and margins of every local model, inside its region; two classes only."""
    if len(scene.class_names) != 2:
        return ()
    lines: dict[float, list[NDArray]] = {0.0: [], -1.0: [], 1.0: []}
    trace = _straight_lines if fitted.kernel == "linear" else _curved_lines
    for m, level, line in trace(fitted, scene, tuple(lines)):
        foreign = fitted.gate(scene.plane.lift(line)).argmax(axis=1) != m
        if not foreign.all():
            lines[level].append(np.where(foreign[:, None], np.nan, line))
    return margin_strokes(lines, roles)


def _straight_lines(fitted: Any, scene: Scene, levels: tuple[float, ...]) -> Iterator[tuple[int, float, NDArray]]:
    """Yield model, level and densely sampled line of every linear local score, across the plane."""
    share = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    for m, Z in enumerate(fitted.local_transform(scene.plane.lift(CORNERS))):
        start, *ends = fitted.local_decision_function(Z, m)
        for level in levels:
            line = shapes.line_across(ends - start, float(start) - level, scene.plane.extent)
            if line is not None:
                yield m, level, line[0] + share * (line[1] - line[0])


def _curved_lines(fitted: Any, scene: Scene, levels: tuple[float, ...]) -> Iterator[tuple[int, float, NDArray]]:
    """Yield model, level and contour of every local score of another kernel."""
    points, x, y = grid(scene.plane.extent, LINES)
    for m, Z in enumerate(fitted.local_transform(scene.plane.lift(points))):
        scores = fitted.local_decision_function(Z, m).reshape(LINES, LINES)
        for level in levels:
            for line in as_points(contours(x, y, scores, level)):
                yield m, level, line


def _gating_regions(fitted: Any, scene: Scene, snapshot: Snapshot, previous: Picture | None, split: Split) -> Picture:
    """Show regions in the space that the gate sees, or the plane of it that matters most to the gate."""
    roles, first = roles_of(fitted, scene)
    mean, axes = gating_plane(fitted.gating_embedding_, fitted.gate_weights_)
    Z = with_test(fitted.gating_embedding_, fitted.gating_transform, split)
    points = (Z - mean) @ axes
    axes = axes @ _turn(points, previous)
    points = (Z - mean) @ axes
    strip = Z.shape[1] == 1
    if strip:
        points = spread_strip(points)
    extent = steady_extent(points, previous.extent if previous else None)
    role = None
    if not distinct(fitted, scene):
        role = (first + winners(fitted, split)).astype(np.uint8)
    exact = strip or Z.shape[1] == 2
    where = "gating space" if exact else f"plane of {Z.shape[1]} dimensions"
    return Picture(
        extent=extent,
        roles=roles,
        rows=points,
        row_role=role,
        image=_regions_image(fitted, extent, mean, axes, first),
        shades=SHADES,
        keys=model_keys(fitted, scene, roles, first),
        numbers=numbers_of(snapshot),
        caption=where,
    )


def gating_plane(Z: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    """Choose the plane of the gating space in which the gates of the rows differ most.

    `Z` (n, R_G): rows of the gating space; `weights` (P, R_G): V. Returns `mean` (R_G,); `axes` (R_G, 2): orthonormal;
    the second one is zero for R_G = 1.  With up to three local models the plane holds everything that the gate sees.
    """
    mean, size = Z.mean(axis=0), Z.shape[1]
    if size == 1:
        return mean, np.array([[1.0, 0.0]])
    if size == 2:
        return mean, np.eye(2)
    centred, differences = Z - mean, weights - weights.mean(axis=0)
    directions = np.linalg.svd(centred @ differences.T, full_matrices=False)[2][:2]
    matter = differences.T @ directions.T
    # Two local models differ along one direction; the rows' main one fills up the plane.
    spread = np.linalg.svd(centred, full_matrices=False)[2][:2].T
    candidates = np.column_stack([matter, spread])
    kept: list[NDArray] = []
    for candidate in candidates.T:
        rest = candidate - sum((direction * (direction @ candidate) for direction in kept), np.zeros(size))
        length = float(np.linalg.norm(rest))
        if length > 1e-6 * max(float(np.linalg.norm(candidate)), 1e-12):
            kept.append(rest / length)
        if len(kept) == 2:
            break
    return mean, np.column_stack(kept)


def _turn(points: NDArray, previous: Picture | None) -> NDArray:
    """Return the rotation or reflection that keeps rows closest to where they were: the axes have no meaning."""
    if previous is None or previous.rows is None or not points[:, 1].any():
        return np.eye(2)
    before = previous.rows[: len(points)]
    left, _, right = np.linalg.svd(points.T @ (before - before.mean(axis=0)))
    return left @ right


def _regions_image(fitted: Any, extent: Extent, origin: NDArray, axes: NDArray, first: int) -> NDArray:
    """Image of the winning gates over a plane of the gating space: role and shade by weight.

    `extent`: what the image shows of the plane; `origin`, `axes` (R_G,) and (R_G, 2): the point p of the plane stands
    for ``origin + axes @ p``; `first`: role of the first gate. Returns (r, r): an even gate is faint, one that takes
    all is full.
    """
    slopes = fitted.gate_weights_ @ axes
    logits = slopes @ grid(extent, PIXELS)[0].T + (fitted.gate_weights_ @ origin + fitted.gate_offset_)[:, None]
    winner, n_models = logits.argmax(axis=0), len(logits)
    weight = 1.0 / np.exp(logits - logits.max(axis=0)).sum(axis=0)
    lead = (n_models * weight - 1.0) / max(n_models - 1, 1)
    level = np.clip((lead * SHADES).astype(int), 0, SHADES - 1)
    return ((first + winner) * SHADES + level).astype(np.uint8).reshape(PIXELS, PIXELS)
