"""The input space: points on their decision regions, errors ringed, and points that the user draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.frames.types import Frame, Scene, Surface
from supdr_viz.views.drawing import Drawing
from supdr_viz.views.figures import tool_switch
from supdr_viz.views.plane import PlaneView
from supdr_viz.views.sources import Points


class InputPlane(PlaneView):
    """Points where the data put them: a plane of two features, or of the first two principal components.

    Parameters
    ----------
    points : Points
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.
    """

    title = "Input space"

    def __init__(self, points: Points, *, touch: bool = False) -> None:
        super().__init__(points, points.input, "input", touch=touch)
        PlaneView.set_theme(self, points.dark)

    def show_scene(self, scene: Scene) -> None:
        """Set the ranges; forget the surface."""
        super().show_scene(scene)
        self.ranges.hold(scene.plane.extent, force=True)

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface."""
        self._show_sheet(surface.input)

    def caption(self, frame: Frame | None = None) -> str:
        """Say which plane this is and what is ringed."""
        scene = self.points.scene
        if scene is None:
            return ""
        plane = scene.plane
        if plane.kind == "components":
            what = f"principal components, {100 * plane.share:.0f} % of variance"
        else:
            what = "" if plane.exact else " × ".join(name for name in plane.axis_names if name)
        slice_of = self.sheet.caption if self.sheet is not None else ""
        if self.points.surface is not None and self.points.surface.input is None:
            slice_of = "no regions between bits or counts"
        marks = "errors" if self.points.ringed("input") == "error" else "labelled rows"
        ringed = "" if what or (scene.task == "regression" and marks == "errors") else f"{marks} ringed"
        return " · ".join(part for part in (what, slice_of, ringed) if part)


class InputSpace(InputPlane):
    """The input plane into which the user may draw points.

    Parameters
    ----------
    points : Points
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.

    Attributes
    ----------
    drawing : Drawing
        Points that the user adds; ``drawing.code`` is the class of the next one.
    """

    def __init__(self, points: Points, *, touch: bool = False) -> None:
        super().__init__(points, touch=touch)
        self.drawing = Drawing(self.figure, points)
        self.set_theme(points.dark)

    def show_scene(self, scene: Scene) -> None:
        """Set the ranges; forget the surface and the drawn points."""
        super().show_scene(scene)
        self.drawing.show_scene(scene)

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme."""
        super().set_theme(dark)
        self.drawing.set_theme(dark)

    def on_drawn(self, callback: Callable[..., None]) -> None:
        """Call ``callback(positions, codes)`` whenever the user adds, moves or deletes a point: see `Drawing`."""
        self.drawing.on_drawn(callback)

    def tool_switch(self) -> tuple[list[str], dict[str, Any], str]:
        """Labels, arguments and JavaScript code of a switch between select, pan and draw."""
        return tool_switch(self.figure, self.drawing.tool, touch=self.touch)
