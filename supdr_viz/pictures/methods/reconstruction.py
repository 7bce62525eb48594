"""Rows of the input plane where the method rebuilds them, each joined to where it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Picture
from supdr_viz.pictures.types import Scene

JOINED = "lines lead to the originals"
EXACT = "every row lies in its original place: error ≈ 0"

# Shortest line that can be seen, as a share of the width.
SEEN = 0.01


def reconstruction(*, fitted: Any, scene: Scene) -> Picture:
    """Draw the training rows as reconstructed, in the plane of the data, with a thin line to every original.

    `fitted`: with ``reconstruction_``.
    """
    left, right = scene.plane.extent[:2]
    rows = scene.plane.project(fitted.reconstruction_)
    is_exact = np.abs(rows - scene.position[: len(rows)]).max(initial=0.0) < SEEN * (right - left)
    return Picture(
        extent=scene.plane.extent,
        roles=("muted",),
        rows=scene.padded(rows),
        tips=scene.position,
        tip_mark="origin",
        keys=() if is_exact else (Key("original", "muted"), Key("error of reconstruction", "muted", "line")),
        caption=EXACT if is_exact else "",
    )


RECONSTRUCTION = Mode("reconstruction", "reconstruct", "Reconstruction", JOINED, reconstruction)
