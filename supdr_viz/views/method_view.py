"""The method's own view: its reconstruction, its margins, or a picture in the modes that it declares."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, Line, LinearAxis, Scatter, Segment
from bokeh.models.annotations import Label

from supdr_viz.frames.modes import MARGINS, RECONSTRUCTION, Mode
from supdr_viz.frames.picture import Number, Picture
from supdr_viz.frames.types import Frame, Scene, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import (
    FADED,
    Extent,
    LegendEntry,
    SteadyRanges,
    add_plain,
    add_points,
    add_threads,
    css,
    refresh_tooltip,
    square_figure,
    tool_switch,
)
from supdr_viz.views.picture_layer import PictureLayer
from supdr_viz.views.sources import Points

BUILT_IN = {mode.name: mode for mode in (RECONSTRUCTION, MARGINS)}
SMALL_POINT = 5.0
"""Size in pixels of points that have arrows or share the picture's panels."""

AXES = ("margin y·f(x)", "pull of the label")
DUAL_RANGE = (-0.08, 1.08)
SHRINK = 0.5
"""The margin axis shrinks only when the margins fill less than this share of it: a steady axis shows motion."""

FAR = 1e3
"""Half length of the guide lines: beyond every margin."""


class MethodView:
    """One square figure with several modes.

    ``"reconstruction"``: rows of the input plane, faint, joined to their reconstruction.  ``"margins"``: margin y·f(x)
    across, dual variable (or the label's pull) up, as a share of its largest value: for the hinge loss, rows without
    pull lie beyond margin 1, support vectors on it, and rows at the upper bound C before it.  Every other mode draws
    the `Picture` of the frame, see `supdr_viz.frames.modes`.

    Parameters
    ----------
    points : Points
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.

    Attributes
    ----------
    figure : figure
    mode : str or None
        Name of the mode shown; None when the method has none.
    modes : tuple of Mode or None
        The modes the method has; None before `set_method`: then they are read off the frames.
    """

    def __init__(self, points: Points, *, touch: bool = False) -> None:
        self.points = points
        self.touch = touch
        self.mode: str | None = None
        self.modes: tuple[Mode, ...] | None = None
        self.picture: Picture | None = None
        self.method_name = "This method"
        self.ranges = SteadyRanges()
        self.figure = square_figure(self.ranges, touch=touch)
        self._margin_extent: Extent = (-1.0, 2.0, *DUAL_RANGE)
        self._layer = PictureLayer(self.figure, points.dark)
        self._row_style = (False, "", False)
        guides = Line(x="x", y="y", line_dash=[5, 4], line_alpha=0.7)
        self._guides = add_plain(self.figure, ColumnDataSource(_guides()), guides, visible=False)
        colour: Any = {"field": "k", "transform": points.mapper}
        faint = Scatter(x="ox", y="oy", size=3.5, fill_color=colour, line_color=None, fill_alpha=0.35)
        self._originals: list[Any] = [
            add_threads(self.figure, points.method, "x", "y", "ox", "oy", visible=False),
            self.figure.add_glyph(points.method, faint, selection_glyph=faint, visible=False),
        ]
        arrow = Segment(x0="x", y0="y", x1="tx", y1="ty", line_color=colour, line_width=1.4, line_alpha=0.8)
        head = Scatter(x="tx", y="ty", angle="angle", marker="triangle", size=5.5, fill_color=colour, line_color=None)
        shaft = self.figure.add_glyph(
            points.method,
            arrow,
            selection_glyph=arrow,
            nonselection_glyph=arrow.clone(line_alpha=FADED),
            visible=False,
        )
        self._points = add_points(self.figure, points, points.method)
        self._points.visible = False
        self._arrows: list[Any] = [
            shaft,
            self.figure.add_glyph(
                points.method,
                head,
                selection_glyph=head,
                nonselection_glyph=head.clone(fill_alpha=FADED),
                visible=False,
            ),
        ]
        self._layer.add_marks()
        self._empty = Label(x=0.5, y=0.5, text="", text_align="center", text_baseline="middle", text_font_size="13px")
        self.figure.add_layout(self._empty)
        self._axes: list[LinearAxis] = [*self.figure.xaxis, *self.figure.yaxis]
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = AXES
        for axis in self._axes:
            axis.update(major_tick_line_color=None, minor_tick_line_color=None, axis_line_color=None)
        self.figure.yaxis.ticker = [0.0, 0.5, 1.0]
        self.set_theme(points.dark)
        self._arrange()

    @property
    def title(self) -> str:
        """Title of the card."""
        mode = self._current
        return mode.title if mode is not None else "Method"

    @property
    def _current(self) -> Mode | None:
        known = {mode.name: mode for mode in self.modes} if self.modes is not None else BUILT_IN
        return known.get(self.mode or "")

    def set_method(self, name: str, modes: tuple[Mode, ...]) -> None:
        """Name the method and what it has to show.

        Parameters
        ----------
        name : str
            For the sentence that stands in an empty view.
        modes : tuple of Mode
        """
        self.method_name, self.modes = name, modes
        self.set_mode(self.mode if self._current is not None else None)

    def set_mode(self, mode: str | None) -> None:
        """Show a mode; None: the first one the method has.

        Raises
        ------
        ValueError
            If there is no such mode.
        """
        known = [each.name for each in self.modes] if self.modes is not None else list(BUILT_IN)
        if mode is not None and mode not in known:
            raise ValueError(f"mode must be one of {', '.join(known)}, or None; got {mode!r}")
        first = self.modes[0].name if self.modes else None
        self.mode = mode if mode is not None else first
        self._arrange()

    def show_scene(self, scene: Scene) -> None:
        """Take the plane of the scene and its tooltip."""
        self._margin_extent = (-1.0, 2.0, *DUAL_RANGE)
        self.picture = None
        refresh_tooltip(self.figure, self.points)
        self._arrange()

    def show_frame(self, frame: Frame) -> None:
        """Follow the margins; the points themselves move by `Points.show_frame`."""
        if self.modes is None:
            found = {"reconstruction": frame.reconstruction, "margins": frame.dual}
            has = [mode for mode, values in found.items() if values is not None]
            if has and self.mode not in has:
                self.set_mode(has[0])
        if self.mode == "margins" and frame.margin is not None:
            self._margin_extent = _steady(frame.margin, self._margin_extent)
            self.ranges.hold(self._margin_extent)
        if frame.picture is not None and frame.picture.mode == self.mode:
            self._show_picture(frame.picture)

    def show_surface(self, surface: Surface) -> None:
        """Nothing here depends on the decision surface."""

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme; no data is sent again."""
        colours = palette(dark)
        self._guides.glyph.line_color = colours.muted
        self._originals[0].glyph.line_color = colours.muted
        self._layer.set_theme(dark)
        self._empty.text_color = colours.secondary

    def tool_switch(self) -> tuple[list[str], dict[str, Any], str]:
        """Labels, arguments and JavaScript code of a switch between the drag tools: see `figures.tool_switch`."""
        return tool_switch(self.figure, touch=self.touch)

    @property
    def empty_text(self) -> str:
        """The sentence that stands in an empty view."""
        return f"{self.method_name} has no reconstruction\nand no margins."

    @property
    def legend(self) -> list[LegendEntry]:
        """What marks and lines mean in this mode."""
        if self.mode == "reconstruction":
            return [
                LegendEntry("original", css("muted"), kind="point"),
                LegendEntry("error of reconstruction", css("muted")),
            ]
        if self.mode == "margins":
            return [LegendEntry("margin 0 and 1", css("muted"), dash="dashed")]
        keys = self.picture.keys if self.picture is not None else ()
        return [LegendEntry(key.name, css(key.role), key.dash, key.kind) for key in keys]

    @property
    def has_axes(self) -> bool:
        """Whether axes with labels are drawn."""
        return any(axis.visible for axis in self._axes)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """What the picture says in numbers."""
        return self.picture.numbers if self.picture is not None else ()

    def caption(self, frame: Frame | None = None) -> str:
        """Return a few words for the card's head, plain text."""
        mode = self._current
        said = self.picture.caption if self.picture is not None else ""
        return said or (mode.caption if mode is not None else "")

    def _show_picture(self, picture: Picture) -> None:
        """Draw a picture of the mode shown."""
        first = self.picture is None
        self.picture = picture
        self._layer.show(picture)
        self.ranges.hold(picture.extent, force=first)
        if first:
            self._arrange()

    def _arrange(self) -> None:
        """Show what belongs to the mode, hide the rest."""
        mode, scene = self.mode, self.points.scene
        if self.picture is not None and self.picture.mode != mode:
            self.picture = None
        if self.picture is None:
            self._layer.show(None)
        picture = self.picture
        self._style_rows(picture)
        self.points.show_mode(mode)
        visible: dict[Any, bool] = {
            self._points: mode in BUILT_IN or (picture is not None and picture.rows is not None),
            self._guides: mode == "margins",
            self._empty: mode is None,
        }
        visible |= dict.fromkeys(self._originals, mode == "reconstruction")
        visible |= dict.fromkeys(self._arrows, picture is not None and picture.tips is not None)
        visible |= dict.fromkeys(self._axes, mode == "margins" or (picture is not None and bool(picture.axis_labels)))
        for part, wanted in visible.items():
            if part.visible != wanted:
                part.visible = wanted
        text = self.empty_text if mode is None and (self.modes is not None or self.points.frame is not None) else ""
        if self._empty.text != text:
            self._empty.text = text
        extent: Extent = (0.0, 1.0, 0.0, 1.0)
        if mode == "reconstruction" and scene is not None:
            extent = scene.plane.extent
        elif mode == "margins":
            extent = self._margin_extent
        elif picture is not None:
            extent = picture.extent
        self._name_axes(picture)
        self.ranges.hold(extent, force=True)

    def _style_rows(self, picture: Picture | None) -> None:
        """Colour rows and arrows by their roles in the picture, or by classes; points with arrows are small."""
        by_role = picture is not None and picture.row_role is not None
        tips = picture.tip_mark if picture is not None and picture.tips is not None else ""
        small = bool(tips) or (picture is not None and bool(picture.panels))
        style = (by_role, tips, small)
        if style == self._row_style:
            return
        self._row_style = style
        colour: Any = {"field": "k", "transform": self.points.mapper}
        if by_role:
            colour = {"field": "c", "transform": self._layer.mapper}
        points: Any = self._points
        size: Any = {"value": SMALL_POINT} if small else {"field": "size"}
        for glyph in (points.glyph, points.nonselection_glyph):
            glyph.update(fill_color=colour, line_color=colour, size=size)
        ring = tips == "ring"
        for renderer in self._arrows:
            for glyph, opacity in ((renderer.glyph, 1.0), (renderer.nonselection_glyph, FADED)):
                if isinstance(glyph, Segment):
                    glyph.update(line_color=colour, line_width=0.8 if ring else 1.4)
                    continue
                marker: Any = {"field": "m"} if ring else {"value": "triangle"}
                outline = {"line_color": colour if ring else None, "line_alpha": opacity}
                filling = {"fill_color": colour, "fill_alpha": 0.0 if ring else opacity}
                angle: Any = {"value": 0.0} if ring else {"field": "angle"}
                glyph.update(marker=marker, angle=angle, size=7.0 if ring else 5.5, **outline, **filling)

    def _name_axes(self, picture: Picture | None) -> None:
        labels = AXES
        if picture is not None and picture.axis_labels:
            labels = picture.axis_labels
        x, y = cast(tuple[Any, Any], tuple(self._axes))
        for axis, label in ((x, labels[0]), (y, labels[1])):
            if axis.axis_label != label:
                axis.axis_label = label
        interval = 1.0 if picture is not None and picture.counts else 0.0
        if x.ticker.min_interval != interval:
            x.ticker.min_interval = interval
        fixed = labels is AXES
        if fixed != isinstance(y.ticker, FixedTicker):
            y.ticker = FixedTicker(ticks=[0.0, 0.5, 1.0]) if fixed else BasicTicker()


def _guides() -> dict[str, Any]:
    """Margin 0 and 1, pull 0 and 1, as one line with gaps."""
    gap = float("nan")
    x = [0, 0, gap, 1, 1, gap, -FAR, FAR, gap, -FAR, FAR]
    y = [-FAR, FAR, gap, -FAR, FAR, gap, 0, 0, gap, 1, 1]
    return {"x": np.array(x, dtype=np.float32), "y": np.array(y, dtype=np.float32)}


def _steady(margin: Any, previous: Extent) -> Extent:
    """Return an extent that holds the margins and keeps still while it can."""
    finite = margin[np.isfinite(margin)]
    if not finite.size:
        return previous
    low, high = min(float(finite.min()), -0.2), max(float(finite.max()), 1.2)
    if previous[0] <= low and high <= previous[1] and high - low > SHRINK * (previous[1] - previous[0]):
        return previous
    room = 0.15 * (high - low)
    return (low - room, high + room, *DUAL_RANGE)
