"""A plane with points on decision regions: what the input and the latent view have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Image, Line

from supdr_viz.frames.types import Frame, Scene, Sheet, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.views.colours import ERROR_SHADES, SHADES, hidden_rows, largest_error
from supdr_viz.views.figures import (
    LegendEntry,
    SteadyRanges,
    add_plain,
    add_points,
    add_ring,
    css,
    join_lines,
    refresh_tooltip,
    square_figure,
    tool_switch,
)
from supdr_viz.views.sources import Points

REGION_ALPHA = 0.17
FIELD_ALPHA = 0.32
"""Opacity of a field of values: regression has no boundary that would carry the picture."""


class Ring(NamedTuple):
    """Look of the rings around some rows.

    Attributes
    ----------
    name : str
        For the legend.
    role : str
        Colour.
    width, alpha : float
    """

    name: str
    role: str
    width: float
    alpha: float


RINGS = {
    "error": Ring("errors", "error", 1.7, 1.0),
    "support": Ring("support vectors", "support", 1.1, 0.8),
    "labelled": Ring("labelled", "text", 1.5, 0.9),
}


class PlaneView:
    """Regions, boundary, margins, points and rings over one plane.

    Parameters
    ----------
    points : Points
        Shared by all views of a page.  It must see a scene, frame or surface before the views do.
    source : ColumnDataSource
        Where the points stand.
    plane : {"input", "latent"}
        Which one, see `Points.ringed`.
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.

    Attributes
    ----------
    figure : figure
    """

    title = ""

    def __init__(self, points: Points, source: ColumnDataSource, plane: str, *, touch: bool = False) -> None:
        self.points = points
        self.touch = touch
        self.plane = plane
        self.ranges = SteadyRanges()
        self.figure = square_figure(self.ranges, touch=touch)
        self.sheet: Sheet | None = None
        self._image = ColumnDataSource(_image_columns(None, self.ranges.extent))
        self._boundary = ColumnDataSource(_no_line())
        self._margin = ColumnDataSource(_no_line())
        image: Any = Image(
            image="image", x="x", y="y", dw="dw", dh="dh", color_mapper=points.surface_mapper, global_alpha=REGION_ALPHA
        )
        self._region = add_plain(self.figure, self._image, image, level="image")
        self._lines = [
            add_plain(self.figure, self._boundary, Line(x="x", y="y", line_width=1.4, line_alpha=0.75)),
            add_plain(self.figure, self._margin, Line(x="x", y="y", line_width=1.1, line_alpha=0.6, line_dash=[5, 4])),
        ]
        self._under_points(source)
        self._points = add_points(self.figure, points, source)
        self._ring = add_ring(self.figure, source, line_width=RINGS["error"].width)

    def _under_points(self, source: ColumnDataSource) -> None:
        """Add glyphs that belong between the lines and the points."""

    def show_scene(self, scene: Scene) -> None:
        """Forget the surface; take the scene's point size and tooltip."""
        self._image.data = _image_columns(None, self.ranges.extent)
        self._boundary.data, self._margin.data = _no_line(), _no_line()
        self.sheet = None
        self._region.glyph.global_alpha = FIELD_ALPHA if self.points.is_regression else REGION_ALPHA
        refresh_tooltip(self.figure, self.points)
        self._style_ring()

    def show_frame(self, frame: Frame) -> None:
        """Points move by themselves: see `Points.show_frame`."""

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface of this plane."""
        raise NotImplementedError

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme; no data is sent again."""
        colours = palette(dark)
        for line in self._lines:
            line.glyph.line_color = colours.boundary
        self._style_ring()

    def tool_switch(self) -> tuple[list[str], dict[str, Any], str]:
        """Labels, arguments and JavaScript code of a switch between the drag tools: see `figures.tool_switch`."""
        return tool_switch(self.figure, touch=self.touch)

    @property
    def legend(self) -> list[LegendEntry]:
        """What the marks mean; classes have their own legend, see `class_legend`."""
        ring = RINGS[self.points.ringed(self.plane)]
        return [LegendEntry(ring.name, css(ring.role), kind="ring")]

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        raise NotImplementedError

    def _style_ring(self) -> None:
        ring = RINGS[self.points.ringed(self.plane)]
        look = {"line_color": getattr(palette(self.points.dark), ring.role), "line_width": ring.width}
        renderer: Any = self._ring
        for glyph, alpha in ((renderer.glyph, ring.alpha), (renderer.nonselection_glyph, 0.0)):
            changed = {**look, "line_alpha": alpha}
            glyph.update(**{name: value for name, value in changed.items() if getattr(glyph, name) != value})

    def _show_sheet(self, sheet: Sheet | None) -> None:
        if sheet is self.sheet:
            return
        self.sheet = sheet
        if sheet is None:
            self._image.data = _image_columns(None, self.ranges.extent)
            self._boundary.data, self._margin.data = _no_line(), _no_line()
            return
        self._image.data = _image_columns(sheet, sheet.extent)
        for source, lines in ((self._boundary, sheet.boundary), (self._margin, sheet.margin)):
            if lines.xs or np.isfinite(source.data["x"][0]):
                source.data = join_lines(lines)


def _no_line() -> dict[str, Any]:
    return {"x": np.full(1, np.nan, dtype=np.float32), "y": np.full(1, np.nan, dtype=np.float32)}


def _image_columns(sheet: Sheet | None, extent: tuple[float, float, float, float]) -> dict[str, Any]:
    """One image; without a sheet an image of no size."""
    x_low, x_high, y_low, y_high = extent
    pixels = np.zeros((1, 1), dtype=np.uint8) if sheet is None else np.ascontiguousarray(sheet.image, dtype=np.uint8)
    width, height = (0.0, 0.0) if sheet is None else (x_high - x_low, y_high - y_low)
    return {"image": [pixels], "x": [x_low], "y": [y_low], "dw": [width], "dh": [height]}


def class_legend(scene: Scene, colour_by: str = "label") -> list[LegendEntry]:
    """Return the classes of a scene, or its scale of values, and what hollow, grey and ringed points are.

    Parameters
    ----------
    scene : Scene
    colour_by : {"label", "truth", "prediction", "error"}

    Returns
    -------
    list of LegendEntry
    """
    regression, few = scene.task == "regression", bool(hidden_rows(scene).any())
    if regression:
        entries = [_value_scale(scene, colour_by)]
    elif colour_by == "error":
        entries = [LegendEntry("wrong", css("error"), kind="point"), LegendEntry("right", css("muted"), kind="point")]
    else:
        n_colours = len(palette(False).classes)
        entries = [
            LegendEntry(name, css(f"class {code % n_colours}"), kind="point")
            for code, name in enumerate(scene.class_names)
        ]
    if scene.is_test.any():
        entries.append(LegendEntry("test", css("secondary"), kind="ring"))
    if few and regression:
        entries.append(LegendEntry(RINGS["labelled"].name, css(RINGS["labelled"].role), kind="ring"))
    if few and colour_by == "label":
        entries.append(LegendEntry("label hidden", css("muted"), kind="point"))
    return entries


def _value_scale(scene: Scene, colour_by: str) -> LegendEntry:
    shades, name = SHADES, "{:.3g} to {:.3g}".format(*scene.value_range)
    if colour_by == "error":
        shades, name = ERROR_SHADES, f"error 0 to {largest_error(scene):.3g} and more"
    stops = ", ".join(shades[:: len(shades) // 6])
    return LegendEntry(name, f"linear-gradient(90deg, {stops})", kind="scale")
