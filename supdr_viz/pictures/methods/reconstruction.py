"""Rows of the input plane where the method rebuilds them, each joined to where it was."""

from __future__ import annotations

from typing import Any

from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Picture
from supdr_viz.pictures.types import Scene


def reconstruction(*, fitted: Any, scene: Scene) -> Picture:
    """Draw the training rows as reconstructed, in the plane of the data, with a thin line to every original.

    `fitted`: with ``reconstruction_``.
    """
    return Picture(
        extent=scene.plane.extent,
        roles=("muted",),
        rows=scene.padded(scene.plane.project(fitted.reconstruction_)),
        tips=scene.position,
        tip_mark="origin",
        keys=(Key("original", "muted"), Key("error of reconstruction", "muted", "line")),
    )


RECONSTRUCTION = Mode("reconstruction", "reconstruct", "Reconstruction", "faint: original", reconstruction)
