"""The method's own view: the picture of a frame, in one of the modes that the method has."""

from __future__ import annotations

from typing import Any, cast

from bokeh.models import BasicTicker, FixedTicker, LinearAxis, Scatter, Segment
from bokeh.models.annotations import Label

from supdr_viz.frames.modes import Mode
from supdr_viz.frames.picture import Number, Picture
from supdr_viz.frames.types import Frame, Scene, Surface
from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import (
    FADED,
    LegendEntry,
    SteadyRanges,
    add_points,
    add_threads,
    css,
    refresh_tooltip,
    square_figure,
    tool_switch,
)
from supdr_viz.views.picture_layer import PictureLayer
from supdr_viz.views.sources import Points

SMALL_POINT = 5.0
"""Size in pixels of points that have arrows or share the picture's panels."""


class MethodView:
    """One square figure with several modes: it draws the `Picture` of the frame, see `supdr_viz.frames.modes`.

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
        The modes the method has; None before `set_method`.
    picture : Picture or None
        What is shown, once there is a frame in this mode.
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
        self._layer = PictureLayer(self.figure, points.dark)
        self._row_style = (False, False, False)
        colour: Any = {"field": "k", "transform": points.mapper}
        faint = Scatter(x="tx", y="ty", size=3.5, fill_color=colour, line_color=None, fill_alpha=0.35)
        self._origins: list[Any] = [
            add_threads(self.figure, points.method, "x", "y", "tx", "ty", visible=False),
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
        for axis in self._axes:
            axis.update(major_tick_line_color=None, minor_tick_line_color=None, axis_line_color=None)
        self.set_theme(points.dark)
        self._arrange()

    @property
    def title(self) -> str:
        """Title of the card."""
        mode = self._current
        return mode.title if mode is not None else "Method"

    @property
    def _current(self) -> Mode | None:
        return next((mode for mode in self.modes or () if mode.name == self.mode), None)

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
        known = [each.name for each in self.modes or ()]
        if mode is not None and mode not in known:
            raise ValueError(f"mode must be one of {', '.join(known)}, or None; got {mode!r}")
        self.mode = mode if mode is not None else next(iter(known), None)
        self._arrange()

    def show_scene(self, scene: Scene) -> None:
        """Forget the picture; take the scene's tooltip."""
        self.picture = None
        refresh_tooltip(self.figure, self.points)
        self._arrange()

    def show_frame(self, frame: Frame) -> None:
        """Draw the frame's picture; the points themselves move by `Points.show_frame`."""
        if frame.picture is not None and frame.picture.mode == self.mode:
            self._show_picture(frame.picture)

    def show_surface(self, surface: Surface) -> None:
        """Nothing here depends on the decision surface."""

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme; no data is sent again."""
        colours = palette(dark)
        self._origins[0].glyph.line_color = colours.muted
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
        mode = self.mode
        if self.picture is not None and self.picture.mode != mode:
            self.picture = None
        if self.picture is None:
            self._layer.show(None)
        picture = self.picture
        self._style_rows(picture)
        self.points.show_mode(mode)
        visible: dict[Any, bool] = {
            self._points: picture is not None and picture.rows is not None,
            self._empty: mode is None,
        }
        tips = picture.tip_mark if picture is not None and picture.tips is not None else ""
        visible |= dict.fromkeys(self._origins, tips == "origin")
        visible |= dict.fromkeys(self._arrows, tips in ("arrow", "ring"))
        visible |= dict.fromkeys(self._axes, picture is not None and bool(picture.axis_labels))
        for part, wanted in visible.items():
            if part.visible != wanted:
                part.visible = wanted
        text = self.empty_text if mode is None and self.modes is not None else ""
        if self._empty.text != text:
            self._empty.text = text
        if picture is not None and picture.axis_labels is not None:
            self._name_axes(picture, picture.axis_labels)
        self.ranges.hold((0.0, 1.0, 0.0, 1.0) if picture is None else picture.extent, force=True)

    def _style_rows(self, picture: Picture | None) -> None:
        """Colour rows and arrows by their roles in the picture, or by classes; points with arrows are small."""
        by_role = picture is not None and picture.row_role is not None
        ring = picture is not None and picture.tip_mark == "ring"
        small = picture is not None and picture.has_small_rows
        style = (by_role, ring, small)
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

    def _name_axes(self, picture: Picture, labels: tuple[str, str]) -> None:
        x, y = cast(tuple[Any, Any], tuple(self._axes))
        for axis, label in zip((x, y), labels):
            if axis.axis_label != label:
                axis.axis_label = label
        interval = 1.0 if picture.counts else 0.0
        if x.ticker.min_interval != interval:
            x.ticker.min_interval = interval
        ticks = list(picture.ticks)
        if ticks != (y.ticker.ticks if isinstance(y.ticker, FixedTicker) else []):
            y.ticker = FixedTicker(ticks=ticks) if ticks else BasicTicker()
