"""Charts as HoloViews elements that Bokeh draws: to zoom into, to combine, to restyle."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models.annotations import ColorBar

from supdr_viz.export.charts import UNLABELLED, CurveChart, PlaneChart, PlaneFunction, SweepChart
from supdr_viz.ui.theme import Palette, palette

SIZE, HEIGHT = 340, 370
WIDE = 460
REGION_ALPHA = 0.25
DASHES = {"bound": "dashed", "surrogate": "dotted"}

hv.extension("bokeh", logo=False)


def draw(chart: PlaneChart | CurveChart | SweepChart, dark: bool) -> hv.Element:
    """Return a chart as an element."""
    return _element(chart, palette(dark))


@singledispatch
def _element(chart: Any, colours: Palette) -> hv.Element:
    raise TypeError(f"no chart: {type(chart).__name__}")


@_element.register
def _plane(chart: PlaneChart, colours: Palette) -> hv.Element:
    look = {"width": SIZE, "height": HEIGHT, "title": chart.title, "hooks": [dressed(colours)]}
    points = _points(chart, colours)
    if chart.surface is None:
        return points.opts(**look)
    overlay = _image(chart.surface, chart.axis_names, colours) * points
    return overlay.opts(hv.opts.Overlay(**look))


def _points(chart: PlaneChart, colours: Palette) -> hv.Points:
    names = list(chart.axis_names)
    look: dict[str, Any] = {"size": 6, "tools": ["hover"], "line_color": None}
    if chart.values is None:
        return hv.Points(chart.points, names).opts(color=colours.classes[0], **look)
    shades = chart.scale.colours(colours)
    if not chart.scale.names:
        points = hv.Points((*chart.points.T, chart.values), names, "y")
        look["clipping_colors"] = {"NaN": colours.muted}
        return points.opts(color="y", cmap=shades, clim=chart.scale.limits, colorbar=True, **look)
    labelled = ~np.isnan(chart.values)
    shown = np.array([chart.scale.names[int(code)] if ok else UNLABELLED for code, ok in zip(chart.values, labelled)])
    meaning = {**dict(zip(chart.scale.names, shades)), UNLABELLED: colours.muted}
    present = {name: colour for name, colour in meaning.items() if (shown == name).any()}
    return hv.Points((*chart.points.T, shown), names, "y").opts(
        color="y", cmap=present, show_legend=True, legend_position="top", **look
    )


def _image(surface: PlaneFunction, axis_names: tuple[str, str], colours: Palette) -> hv.Image:
    x_low, x_high, y_low, y_high = surface.extent
    image = hv.Image(surface.values[::-1], list(axis_names), surface.name, bounds=(x_low, y_low, x_high, y_high))
    scale = surface.scale
    limits = (-0.5, len(scale.names) - 0.5) if scale.names else scale.limits
    return image.opts(cmap=scale.colours(colours), clim=limits, alpha=REGION_ALPHA)


@_element.register
def _curves(chart: CurveChart, colours: Palette) -> hv.NdOverlay:
    curves = {
        name: hv.Curve((np.arange(1, len(values) + 1), values), "iteration", "loss").opts(
            color=colours.curves[number % len(colours.curves)],
            line_dash=DASHES.get(name, "solid"),
            line_width=2,
        )
        for number, (name, values) in enumerate(chart.curves.items())
    }
    return hv.NdOverlay(curves, "term").opts(
        hv.opts.NdOverlay(
            logy=chart.log,
            width=WIDE,
            height=HEIGHT,
            legend_position="right",
            title=chart.title,
            hooks=[dressed(colours)],
        )
    )


@_element.register
def _sweep(chart: SweepChart, colours: Palette) -> hv.Element:
    look = {"width": WIDE, "height": HEIGHT, "title": chart.title, "hooks": [dressed(colours)]}
    if len(chart.names) == 1:
        places = np.arange(len(chart.mean))
        curve = hv.Curve((places, chart.mean), chart.names[0], chart.metric)
        bars = hv.ErrorBars((places, chart.mean, chart.spread), chart.names[0], [chart.metric, "sd"])
        ticks = list(enumerate(chart.labels[0]))
        return (
            curve.opts(color=colours.curves[0], line_width=2, xticks=ticks) * bars.opts(line_color=colours.text)
        ).opts(hv.opts.Overlay(**look))
    cells = [
        (first, second, chart.mean[i, j], chart.spread[i, j])
        for i, first in enumerate(chart.labels[0])
        for j, second in enumerate(chart.labels[1])
    ]
    return hv.HeatMap(cells, list(chart.names), [chart.metric, "sd"]).opts(
        cmap=list(colours.regions), colorbar=True, tools=["hover"], xrotation=45, **look
    )


def dressed(colours: Palette) -> Callable[[Any, Any], None]:
    """Return a hook that gives ground and writing their colours."""

    def dress(plot: Any, _element: Any) -> None:
        """Colour a figure."""
        figure = plot.state
        figure.background_fill_color = figure.border_fill_color = colours.card
        figure.outline_line_color = colours.border
        figure.title.text_color = colours.text
        for axis in figure.axis:
            axis.axis_label_text_color = axis.major_label_text_color = colours.text
            axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = colours.secondary
        for legend in figure.legend:
            legend.background_fill_color = colours.card
            legend.label_text_color = legend.title_text_color = colours.text
        for bar in figure.select(ColorBar):
            bar.background_fill_color, bar.major_label_text_color = colours.card, colours.text

    return dress
