"""Where rows stand, in two bytes for each number: what a browser draws them by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A place that is not shown.
HIDDEN = -32768

# Places are whole numbers from minus this to this, from one end of their extent to the other.
LEVELS = 32767

Places = dict[str, Any]


def packed_places(points: NDArray) -> Places:
    """Write places (n, 2) as 16-bit numbers within the square or strip that they fill.

    `points` (n, 2): a row with a value that is not finite is hidden. Returns ``"levels"``, int16 array of shape (n, 2),
    and ``"extent"``, (x_low, x_high, y_low, y_high).
    """
    # Column by column: numpy is slow along an axis of two.
    columns: Any = np.array(points.T, dtype=float, order="C")
    levels = np.empty(points.shape, dtype=np.int16)
    shown: Any = slice(None)
    ends = _ends(columns)
    if not all(map(math.isfinite, ends)):
        shown = np.isfinite(columns).all(axis=0)
        columns, levels[...] = columns[:, shown], HIDDEN
        ends = _ends(columns)
        if not shown.any():
            return {"levels": levels, "extent": [0.0, 1.0, 0.0, 1.0]}
    extent: list[float] = []
    for axis, values in enumerate(columns):
        low = ends[2 * axis]
        span = ends[2 * axis + 1] - low or 1.0
        extent += [low, low + span]
        values -= low
        values *= 2.0 * LEVELS / span
        values -= LEVELS
        levels[shown, axis] = np.rint(values, out=values)
    return {"levels": levels, "extent": extent}


def _ends(columns: NDArray) -> list[float]:
    """Return the least and the greatest of every column; NaN where there is none."""
    if not columns.size:
        return [math.nan] * 2 * len(columns)
    return [float(end) for values in columns for end in (values.min(), values.max())]


def unpacked_places(places: Mapping[str, Any]) -> NDArray:
    """Read what `packed_places` has written.

    Returns (n, 2): NaN where a row is hidden.
    """
    levels, extent = places["levels"].astype(float), places["extent"]
    low, span = np.array(extent[::2]), np.array([extent[1] - extent[0], extent[3] - extent[2]])
    points = low + (levels / LEVELS + 1.0) / 2.0 * span
    points[places["levels"][:, 0] == HIDDEN] = np.nan
    return points
