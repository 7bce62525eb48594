"""Shepard's diagram: how far pairs of rows are drawn apart, over how far apart they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.quality.distances import rank_correlation
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Number, Picture, Stroke
from supdr_viz.pictures.types import Scene

# Both axes end here; their unit is the median, so that they stand still while the map grows.
REACH = 2.6

CELLS, SHADES = 52, 12
# Fewest pairs of a column whose median is drawn.
LEAST = 12

ROLES = ("card", "curve 1", "curve 2", "text")
SAME, OTHER = 1, 2
DIAGONAL = np.array([[0.0, 0.0], [REACH, REACH]], dtype=float)


def shepard(*, scene: Scene, places: NDArray, input_rows: InputRows) -> Picture:
    """Draw how many pairs have which two distances: those of one class, and those of different ones.

    Pairs on the diagonal keep their distance, in units of the median.  Below it rows are drawn together, above it torn.

    `places` (n, 2): where the rows stand on the plane.
    """
    (first, second), apart = input_rows.pairs, input_rows.apart
    away = np.linalg.norm(places[first] - places[second], axis=1)
    across, up = _in_medians(apart), _in_medians(away)
    same = scene.code[first] == scene.code[second]
    groups = (~same, same) if scene.task == "classification" else (np.ones(len(first), dtype=bool),)
    keys = (Key("different classes", ROLES[OTHER]), Key("same class", ROLES[SAME]))
    return Picture(
        extent=(0.0, REACH, 0.0, REACH),
        roles=ROLES,
        image=_image(across, up, groups),
        shades=SHADES,
        image_alpha=1.0,
        strokes=(
            Stroke(DIAGONAL, 3, 1.0, "dashed", 0.5),
            Stroke(_medians(across, up), 3, 1.8),
        ),
        axis_labels=("distance in the input", "distance on the map"),
        ticks=(0.0, 1.0, 2.0),
        keys=(*(keys if len(groups) > 1 else ()), Key("median", ROLES[3], "line")),
        numbers=_numbers(rank_correlation(apart, away)),
    )


SHEPARD = Mode("shepard", "distances", "Distances", "drawn against true", shepard)


def _numbers(correlation: float) -> tuple[Number, ...]:
    """Say how far the order of the distances is kept; nothing of a map of one point."""
    finite = np.isfinite(correlation)
    return (Number("rank correlation", correlation, help="1: far rows are drawn far"),) if finite else ()


def _in_medians(distance: NDArray) -> NDArray:
    middle = float(np.median(distance))
    return distance / middle if middle > 0.0 else distance


def _image(across: NDArray, up: NDArray, groups: tuple[NDArray, ...]) -> NDArray:
    """Return a cell for every small range of both distances, in the colour of the group that it is typical of.

    The more pairs of the group, the fuller the colour; the card's where there are none.
    """
    ends, role = [[0.0, REACH], [0.0, REACH]], (OTHER, SAME)
    counts = np.array([np.histogram2d(up[each], across[each], CELLS, ends)[0] for each in groups])
    shares = np.sqrt(counts / np.maximum(counts.max(axis=(1, 2), keepdims=True), 1.0))
    winner = shares.argmax(axis=0)
    level = np.ceil(shares.max(axis=0) * (SHADES - 1)).astype(int)
    return np.where(level > 0, np.array(role)[winner] * SHADES + level, 0).astype(np.uint8)


def _medians(across: NDArray, up: NDArray) -> NDArray:
    """Return the median distance on the map over the distance in the input."""
    column = np.minimum((across / REACH * CELLS).astype(int), CELLS)
    points = [
        [(k + 0.5) * REACH / CELLS, np.median(up[column == k])]
        for k in range(CELLS)
        if np.count_nonzero(column == k) >= LEAST
    ]
    return np.array(points or [[np.nan, np.nan]], dtype=float)
