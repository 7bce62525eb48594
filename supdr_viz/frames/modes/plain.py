"""The two modes that `Frame` carries in fields of their own, as pictures: for reports, where nothing else is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr_viz.frames.modes.mode import MARGINS, RECONSTRUCTION
from supdr_viz.frames.picture import Key, Picture, Stroke
from supdr_viz.frames.scene import Extent
from supdr_viz.frames.types import Frame, Scene

PULL_RANGE = (-0.08, 1.08)
ROLES = ("muted",)


def plain_picture(frame: Frame, scene: Scene) -> Picture | None:
    """Return what a frame shows of its method.

    Parameters
    ----------
    frame : Frame
    scene : Scene

    Returns
    -------
    Picture or None
        None: the method shows nothing of itself.
    """
    if frame.picture is not None:
        return frame.picture
    if frame.reconstruction is not None:
        return _reconstruction(frame.reconstruction, scene)
    if frame.margin is not None and frame.dual is not None:
        return _margins(frame.margin, frame.dual)
    return None


def _reconstruction(rows: NDArray, scene: Scene) -> Picture:
    gap = np.full_like(rows, np.nan)
    threads = np.stack([scene.position, rows, gap], axis=1).reshape(-1, 2)[np.repeat(np.isfinite(rows[:, 0]), 3)]
    return Picture(
        RECONSTRUCTION.name,
        scene.plane.extent,
        roles=ROLES,
        rows=rows,
        strokes=(Stroke(threads.astype(np.float32), 0, 0.8, alpha=0.5),),
        keys=(Key("from the original", "muted", "line"),),
    )


def _margins(margin: NDArray, pull: NDArray) -> Picture:
    known = margin[np.isfinite(margin)]
    low, high = (min(known.min(), -0.2), max(known.max(), 1.2)) if known.size else (-1.0, 2.0)
    room = 0.08 * (high - low)
    extent: Extent = (float(low - room), float(high + room), *PULL_RANGE)
    gap = [np.nan, np.nan]
    upright = [line for x in (0.0, 1.0) for line in ([x, PULL_RANGE[0]], [x, PULL_RANGE[1]], gap)]
    level = [line for y in (0.0, 1.0) for line in ([extent[0], y], [extent[1], y], gap)]
    guides = np.array([*upright, *level], dtype=np.float32)
    return Picture(
        MARGINS.name,
        extent,
        roles=ROLES,
        rows=np.column_stack([margin, pull]),
        strokes=(Stroke(guides, 0, 1.0, "dashed", 0.7),),
        axis_labels=("margin y·f(x)", "pull of the label"),
        keys=(Key("margin 0 and 1", "muted", "line", "dashed"),),
    )
