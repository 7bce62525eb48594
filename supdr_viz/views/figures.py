"""What figures have in common: square frames, tools, steady ranges, lines in few columns, legends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import (
    CustomJS,
    HoverTool,
    LassoSelectTool,
    PanTool,
    Range1d,
    Scatter,
    Segment,
    TapTool,
    WheelZoomTool,
)
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure

from supdr_viz.frames.scene import Extent
from supdr_viz.frames.types import Lines
from supdr_viz.kit.theme import palette
from supdr_viz.views.colours import SHADES
from supdr_viz.views.sources import Points

SQUARE = 300
"""Design size of a square figure in pixels; it scales with the width it is given."""

FADED = 0.12
"""Opacity of points outside the selection."""

THREAD_ALPHA = 0.55


@dataclass(frozen=True)
class LegendEntry:
    """One entry of a legend, drawn in HTML by the card.

    Attributes
    ----------
    name : str
        Plain text; escape it before it enters HTML.
    colour : str
        CSS: a variable of the page, which follows its theme, with the light theme's colour to fall back on; of scales a
        gradient.
    dash : {"solid", "dashed", "dotted", "dotdash"}
        Of lines.
    kind : {"line", "ring", "point", "scale"}
    width : float
        Of lines, in pixels.
    """

    name: str
    colour: str
    dash: str = "solid"
    kind: str = "line"
    width: float = 1.5


def css(role: str) -> str:
    """Write a colour of the palette for HTML.

    Parameters
    ----------
    role : str
        ``"class 0"``, ``"curve 0"``, … ``"region 0"`` to ``"region 255"``, or the name of a colour.

    Returns
    -------
    str
        The colour itself if both themes agree on it, else a CSS variable of the page, which follows its theme, with
        the light theme's colour to fall back on.
    """
    light, dark = (colour_of(role, dark) for dark in (False, True))
    kind, _, number = role.partition(" ")
    several = {"class": ("c", palette(False).classes), "curve": ("k", palette(False).curves)}
    letter, colours = several.get(kind, (kind, ()))
    variable = f"{letter}-{int(number) % len(colours)}" if number else kind
    return light if light == dark else f"var(--supdr-{variable}, {light})"


def colour_of(role: str, dark: bool) -> str:
    """Return the colour of a role in a theme: see `css`; ``"shade 0"`` to ``"shade 100"``, per cent of the scale."""
    colours = palette(dark)
    kind, _, number = role.partition(" ")
    if kind == "shade":
        return SHADES[round(int(number) / 100 * (len(SHADES) - 1))]
    if not number:
        return str(getattr(colours, kind))
    several = {"class": colours.classes, "curve": colours.curves, "region": colours.regions}[kind]
    return several[int(number) % len(several)]


def join_lines(lines: Lines) -> dict[str, Any]:
    """Join lines to one with NaN between them: two columns for any number of lines."""
    gap = np.full(1, np.nan, dtype=np.float32)
    joined: dict[str, Any] = {}
    for name, parts in (("x", lines.xs), ("y", lines.ys)):
        pieces = [piece for part in parts for piece in (np.asarray(part, dtype=np.float32), gap)]
        joined[name] = np.concatenate(pieces) if pieces else gap
    return joined


class SteadyRanges:
    """A figure's two ranges, moved only when what they must hold changes.

    A user who has zoomed keeps the zoom: then only the range that a double click returns to changes.
    """

    def __init__(self, extent: Extent = (-1.0, 1.0, -1.0, 1.0)) -> None:
        self.extent = extent
        x_low, x_high, y_low, y_high = extent
        self.x = Range1d(start=x_low, end=x_high, reset_start=x_low, reset_end=x_high)
        self.y = Range1d(start=y_low, end=y_high, reset_start=y_low, reset_end=y_high)

    def hold(self, extent: Extent, *, force: bool = False) -> None:
        """Show (x_low, x_high, y_low, y_high).

        Parameters
        ----------
        extent : tuple of float
        force : bool
            Overrule a zoom: for a new scene.
        """
        if extent == self.extent and not force:
            return
        zoomed = (self.x.start, self.x.end, self.y.start, self.y.end) != self.extent
        for axis, (start, end) in ((self.x, extent[:2]), (self.y, extent[2:])):
            wanted = {"reset_start": start, "reset_end": end}
            if force or not zoomed:
                wanted |= {"start": start, "end": end}
            axis.update(**{name: value for name, value in wanted.items() if getattr(axis, name) != value})
        self.extent = extent


def square_figure(ranges: SteadyRanges, *, touch: bool = False) -> figure:
    """Make a square figure that scales with its width and has no toolbar, axes or frame.

    Lasso and tap select; pan and wheel zoom wait for a tool switch; a double click resets the ranges.

    Parameters
    ----------
    ranges : SteadyRanges
    touch : bool
        Start without a drag tool, so that a finger on the figure scrolls the page.

    Returns
    -------
    figure
    """
    made = figure(
        width=SQUARE,
        height=SQUARE,
        sizing_mode="scale_width",
        x_range=ranges.x,
        y_range=ranges.y,
        toolbar_location=None,
        min_border=0,
        outline_line_color=None,
        tools=[],
    )
    made.axis.visible = False
    made.grid.visible = False
    lasso, tap = LassoSelectTool(continuous=False), TapTool()
    made.add_tools(lasso, tap, PanTool(), WheelZoomTool())
    made.toolbar.active_drag = None if touch else lasso
    made.toolbar.active_tap = tap
    made.toolbar.active_scroll = None
    made.js_on_event("doubletap", CustomJS(args={"plot": made}, code="plot.reset.emit()"))
    return made


def add_points(made: figure, points: Points, source: Any) -> GlyphRenderer:
    """Draw rows at ``x, y`` of a source of places, with tooltip and selection."""
    colour: Any = {"field": "k", "transform": points.mapper}
    glyph = Scatter(
        x="x",
        y="y",
        marker="m",
        size="size",
        fill_color=colour,
        line_color=colour,
        fill_alpha="fill_alpha",
        line_alpha="line_alpha",
    )
    faded = glyph.clone(fill_alpha=FADED, line_alpha=FADED)
    renderer = made.add_glyph(source, glyph, selection_glyph=glyph, nonselection_glyph=faded)
    for tool in made.toolbar.tools:
        if isinstance(tool, LassoSelectTool | TapTool):
            tool.renderers = [renderer]
    made.add_tools(
        HoverTool(
            renderers=[renderer],
            tooltips=points.tooltip,
            formatters={"$index": points.hover_formatter},
            limit=1,
            attachment="horizontal",
            show_arrow=False,
        )
    )
    return renderer


def refresh_tooltip(made: figure, points: Points) -> None:
    """Bring the tooltip's template up to date with the scene."""
    for tool in made.toolbar.tools:
        if isinstance(tool, HoverTool) and tool.tooltips != points.tooltip:
            tool.tooltips = points.tooltip


def add_ring(made: figure, source: Any, **look: Any) -> GlyphRenderer:
    """Ring the rows that have a ``ring`` size; rings of unselected rows vanish."""
    ring = Scatter(x="x", y="y", size="ring", fill_color=None, **look)
    hidden = ring.clone(line_alpha=0.0)
    return made.add_glyph(source, ring, selection_glyph=ring, nonselection_glyph=hidden)


def add_threads(made: figure, source: Any, *ends: str, **options: Any) -> GlyphRenderer:
    """Join two places of every row, ``x0, y0, x1, y1``, by a thin line; those of unselected rows nearly vanish."""
    x0, y0, x1, y1 = ends
    threads = Segment(x0=x0, y0=y0, x1=x1, y1=y1, line_width=1, line_alpha=THREAD_ALPHA)
    hidden = threads.clone(line_alpha=0.1)
    return made.add_glyph(source, threads, selection_glyph=threads, nonselection_glyph=hidden, **options)


def add_plain(made: figure, source: Any, glyph: Glyph, **options: Any) -> GlyphRenderer:
    """Add a glyph whose source is never selected."""
    return made.add_glyph(source, glyph, selection_glyph=None, nonselection_glyph=None, **options)


def find_tool(made: figure, kind: type) -> Any:
    """Return the figure's tool of a kind."""
    return next(tool for tool in made.toolbar.tools if isinstance(tool, kind))


def tool_switch(made: figure, draw: Any = None, *, touch: bool = False) -> tuple[list[str], dict[str, Any], str]:
    """Describe a switch between the figure's drag tools, for a group of radio buttons.

    Parameters
    ----------
    made : figure
    draw : Tool, optional
        The tool that adds points.
    touch : bool
        Offer "scroll" first: no tool is active, and a finger on the figure scrolls the page.

    Returns
    -------
    labels : list of str
        The first one is active at the start.
    args : dict
        Arguments of the JavaScript code.
    code : str
        Runs with ``cb_obj.value`` set to a label.
    """
    args = {
        "lasso": find_tool(made, LassoSelectTool),
        "tap": find_tool(made, TapTool),
        "pan": find_tool(made, PanTool),
        "wheel": find_tool(made, WheelZoomTool),
    }
    lines = [
        "const mode = cb_obj.value",
        "lasso.active = tap.active = mode === 'select'",
        "pan.active = wheel.active = mode === 'pan'",
    ]
    labels = ["scroll", "select", "pan"] if touch else ["select", "pan"]
    if draw is not None:
        args["draw"] = draw
        lines.append("draw.active = mode === 'draw'")
        labels.append("draw")
    return labels, args, "\n".join(lines)
