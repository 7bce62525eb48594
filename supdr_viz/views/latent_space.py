"""The latent space: where the method puts the rows, its decision regions, and how far the labels pulled them."""

from __future__ import annotations

from bokeh.models import ColumnDataSource

from supdr_viz.frames.types import Frame, Scene, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import add_threads
from supdr_viz.views.plane import PlaneView
from supdr_viz.views.sources import Points


class LatentSpace(PlaneView):
    """Points in the displayed latent plane, support vectors ringed.

    Parameters
    ----------
    points : Points
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.
    """

    title = "Latent space"

    def __init__(self, points: Points, *, touch: bool = False) -> None:
        self._fresh = True
        super().__init__(points, points.latent, "latent", touch=touch)
        self.set_theme(points.dark)

    def _under_points(self, source: ColumnDataSource) -> None:
        self._threads = add_threads(self.figure, source, "x", "y", "px", "py", visible=False)

    def show_scene(self, scene: Scene) -> None:
        """Forget the surface; the next frame sets the ranges, zoomed or not."""
        super().show_scene(scene)
        self._fresh = True

    def show_frame(self, frame: Frame) -> None:
        """Follow the extent; the points themselves move by `Points.show_frame`."""
        self.ranges.hold(frame.latent_extent, force=self._fresh)
        self._fresh = False
        visible = self.points.pulled and frame.pulled is not None
        if self._threads.visible != visible:
            self._threads.visible = visible

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface."""
        self._show_sheet(surface.latent)

    def show_pulled(self, wanted: bool) -> None:
        """Join the embedding of training rows to where `transform`, which sees no labels, puts them."""
        self.points.show_pulled(wanted)
        if self.points.frame is not None:
            self.show_frame(self.points.frame)

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme."""
        super().set_theme(dark)
        self._threads.glyph.line_color = palette(dark).secondary

    def caption(self, frame: Frame | None = None) -> str:
        """Say what the plane is."""
        frame = frame or self.points.frame
        if frame is None:
            return ""
        slice_of = self.sheet.caption if self.sheet is not None else ""
        return " · ".join(part for part in (frame.latent_caption, slice_of) if part)
