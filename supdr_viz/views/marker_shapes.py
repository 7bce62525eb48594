"""Marks of rows by class: the outlines that the stage draws, for legends and images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from supdr_viz.views.stage.constants import DRAWN

Corners = list[tuple[float, float]]

# Different marks of classes; later classes start again.
SHAPES = len(DRAWN["shapes"])


# How far a corner of a shape may be from the middle, where a circle's edge is at 1.
FARTHEST = 1.15


@cache
def clip_path(shape: int) -> str:
    """Return what CSS cuts a square with, so that a shape is left, `FARTHEST` as wide as the circle of its size.

    `shape`: of the stage's `SHAPES`.
    """
    places = 50.0 * (1.0 + np.array(corners_of(shape, 1.0 / FARTHEST)) * [1.0, -1.0])
    return "polygon(" + ",".join(f"{x:.4g}% {y:.4g}%" for x, y in places) + ")"


def corners_of(shape: int, r: float) -> Corners:
    """Return the outline of a shape of the stage, `r` from its middle to its side.

    `shape`: circle, triangle, square, diamond, inverted triangle, hexagon, star, plus, and two with hollow sides.
    """
    low, arm = r / math.sqrt(3.0), 0.4 * r
    triangle: Corners = [(-r, -low), (r, -low), (0.0, 2.0 * low)]
    box: Corners = [(-r, -r), (r, -r), (r, r), (-r, r)]
    quarter: Corners = [(r, -arm), (r, arm), (arm, arm), (arm, r)]
    half: Corners = [(-arm, -r), (arm, -r), (arm, -arm), *quarter]
    return (
        _around(24, [r], 0.0),
        triangle,
        box,
        [(-0.8 * r, 0.0), (0.0, -1.15 * r), (0.8 * r, 0.0), (0.0, 1.15 * r)],
        [(x, -y) for x, y in triangle],
        _around(6, [r], 0.0),
        _around(10, [1.15 * r, 0.5 * r], math.pi / 2),
        [*half, (-arm, r), (-arm, arm), (-r, arm), (-r, -arm), (-arm, -arm)],
        _hollow(box),
        _hollow(triangle),
    )[shape]


def _around(count: int, reaches: Sequence[float], first: float) -> Corners:
    """Return points around the middle, at distances that take turns."""
    turns = [first + 2.0 * math.pi * k / count for k in range(count)]
    reach = [reaches[k % len(reaches)] for k in range(count)]
    return [(r * math.cos(turn), r * math.sin(turn)) for r, turn in zip(reach, turns)]


def _hollow(corners: Corners) -> Corners:
    """Bend the sides of a polygon inwards: curves of second order, pulled to a third of the way to the middle."""
    bent: Corners = []
    for (x, y), (to_x, to_y) in zip(corners, corners[1:] + corners[:1]):
        for t in np.linspace(0.0, 1.0, 8, endpoint=False):
            start, pull, end = (1 - t) ** 2, 2 * t * (1 - t) / 6, t**2
            bent.append((start * x + pull * (x + to_x) + end * to_x, start * y + pull * (y + to_y) + end * to_y))
    return bent
