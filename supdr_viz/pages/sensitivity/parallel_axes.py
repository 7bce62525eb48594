"""Cells of sweeps of three and more parameters as lines over parallel axes, as HoloViews elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import CustomJS, HoverTool, TapTool

from supdr_viz.pages.sensitivity.elements import (
    CELL_TOOLTIP,
    FONT,
    HEIGHT,
    View,
    cell_text,
    look,
    opening_runs,
    packed_links,
    per_cent_ticks,
)
from supdr_viz.pages.sensitivity.numbers import ticks
from supdr_viz.pages.sensitivity.ranking import ranks

# The best lines, which are drawn thick.
STRONGEST = 5

# The line under the pointer that was drawn last is the best of them.
POINT = """
const number = source.data.rank[cb_data.index.indices.at(-1)]
if (number !== undefined && number !== place.data.number[0]) place.data = {number: [number]}
"""


def parallel(view: View) -> hv.Overlay:
    """Return the finished cells as lines over parallel axes: one for each parameter, and the score at the right."""
    columns = ["value", "text", "link", "rank", "width", "alpha"]
    cells = hv.Contours(_lines(view), ["x", "y"], [hv.Dimension("value", range=view.limits), *columns[1:]]).opts(
        color="value",
        cmap=view.contrasting,
        clim=view.limits,
        colorbar=True,
        colorbar_opts={"width": 12, "label_standoff": 6, "padding": 4, "background_fill_alpha": 0},
        cformatter=per_cent_ticks(view),
        clabel="",
        line_width="width",
        line_alpha="alpha",
        nonselection_alpha=1.0,
        tools=[HoverTool(tooltips=CELL_TOOLTIP, line_policy="nearest"), TapTool()],
        hooks=[opening_runs("sweep cells"), _pointing(view)],
    )
    return (_axes(view) * cells * _values_at_axes(view)).opts(hv.opts.Overlay(**_frame(view)))


def empty_axes(view: View) -> hv.Overlay:
    """Return the axes of a sweep that has no score yet."""
    return (_axes(view) * _values_at_axes(view)).opts(hv.opts.Overlay(**_frame(view)))


def _frame(view: View) -> dict[str, Any]:
    count = len(view.values)
    return {
        "xlim": (-0.4, count + 0.4),
        "ylim": (-0.08, 1.08),
        "xticks": [*enumerate(view.titles), (count, view.measured)],
        "yticks": [(0, "")],
        "xlabel": "",
        "ylabel": "",
        "xrotation": 20 if view.narrow or count > 4 else 0,
        "height": HEIGHT,
        **look(view, "heatmap", f"Parallel axes: {view.measured} by {', '.join(view.titles)}"),
    }


def _axes(view: View) -> hv.Segments:
    """Return a vertical line for each axis."""
    lines = [(float(axis), 0.0, float(axis), 1.0) for axis in range(len(view.values) + 1)]
    return hv.Segments(lines).opts(color=view.colours.border, line_width=1.5)


def _lines(view: View) -> list[dict[str, Any]]:
    """Return a line for each cell that has a score, the best last: it lies above the others."""
    low, high = view.limits
    lines: list[dict[str, Any]] = []
    for number, rank in reversed([*ranks(view).items()]):
        score = view.factor * view.result.cells[number].mean(view.metric)
        places = np.unravel_index(number, view.result.shape)
        heights = [place / max(size - 1, 1) for place, size in zip(places, view.result.shape)]
        y = np.array([*heights, (score - low) / (high - low)])
        said = {"value": score, "text": cell_text(view, number), "link": view.links.get(number, ""), "rank": rank}
        said |= {"width": 3.0, "alpha": 1.0} if rank < STRONGEST else {"width": 1.0, "alpha": 0.45}
        lines.append({"x": np.arange(float(len(y))), "y": y, **said})
    for line, link in zip(lines, packed_links([line["link"] for line in lines])):
        line["link"] = link
    return lines


def _pointing(view: View) -> Callable[[Any, Any], None]:
    """Return a hook that has the large map follow the pointer over the lines."""

    def hook(plot: Any, _element: Any) -> None:
        hover = plot.state.select_one(HoverTool)
        if view.walk is not None and hover.callback is None:
            hover.callback = CustomJS(args={"place": view.walk.place, "source": plot.handles["source"]}, code=POINT)

    return hook


def _values_at_axes(view: View) -> hv.Labels:
    """Return the values along each axis."""
    rows = [
        (float(axis), place / max(len(values) - 1, 1), text)
        for axis, values in enumerate(view.values)
        for place, text in ticks(values)
    ]
    if np.isfinite(view.means).any():
        rows += [(float(len(view.values)), height, view.said(limit)) for height, limit in zip((0.0, 1.0), view.limits)]
    columns = [np.array(column, dtype=object if k > 1 else float) for k, column in enumerate(zip(*rows))]

    def before_the_lines(plot: Any, _element: Any) -> None:
        ground = {"background_fill_color": view.colours.card, "background_fill_alpha": 0.85}
        plot.handles["glyph"].update(x_offset=5, padding=2, **ground)

    return hv.Labels(tuple(columns), ["x", "y"], "said").opts(
        text_color=view.colours.text,
        text_font_size="11px",
        text_font=FONT,
        text_align="left",
        hooks=[before_the_lines],
    )
