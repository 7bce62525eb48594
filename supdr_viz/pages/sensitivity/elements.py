"""The charts of a sweep as HoloViews elements: heatmap, marginal curves, importance, maps of the cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.core.properties import value as constant
from bokeh.models import AllIndices, AllLabels, CustomJS, FixedTicker, Grid, HoverTool, TapTool
from bokeh.models.renderers import GlyphRenderer
from bokeh.palettes import PuOr11
from numpy.typing import NDArray

from supdr.sensitivity import Cell, Importance, Result, importance
from supdr.sensitivity.importance import coarse_part
from supdr.sensitivity.scoring import GREATER_IS_BETTER
from supdr_viz.export.picture import round_ticks
from supdr_viz.export.plots_holoviews import dressed
from supdr_viz.pages.sensitivity.numbers import (
    difference_text,
    place_of,
    score_text,
    tick_texts,
    ticks,
    value_text,
)
from supdr_viz.ui.markup import escape
from supdr_viz.ui.panel_workarounds import name_figure
from supdr_viz.ui.theme import Palette, palette

# How fits ended, in words.
STOPPED = {
    "converged": "converged",
    "max_iter": "reached the iteration limit",
    "no_improvement": "stopped early",
    "diverged": "diverged",
    "interrupted": "were interrupted",
}

# Colour of the worst line, counted from the end that fades into the background.
WEAKEST = 70

# What bars show.
BAR_WORDS = (
    "Bars: share of the variance of the fits. Thin lines: ± standard deviation over the folds "
    "(none for the folds themselves)."
)

# Cells in a row whose values have room in them.
MOST_SAID = 12

# Of what is written into charts, as of their axes.
FONT = constant("Roboto")

# Heights in pixels of the heatmap, of the row of cells of one parameter, and of a curve beside or below them.
HEIGHT, STRIP_HEIGHT = 500, 150
CURVE_HEIGHT, WIDE_HEIGHT = 249, 360
BAR_HEIGHT, BARS_MARGIN = 30, 50

# Ticks of the scores beside the curves, and steps of the shares below the bars.
MOST_TICKS, MOST_SHARES = 6, 4

OPEN_RUN = """
const [number] = source.selected.indices
if (number !== undefined) {
  const unpacked = (link, before) => {
    const [count, ...changes] = link.split(" ")
    const pieces = before.slice(0, count)
    for (const change of changes) pieces[parseInt(change)] = change.slice(change.indexOf(":") + 1)
    return pieces
  }
  const links = source.data.link
  source.selected.indices = []
  if (!/^[0-9]/.test(links[number])) return
  const first = unpacked(links.find((link) => link.includes(":")), [])
  window.open(unpacked(links[number], first).join(""), "_blank")
}
"""

TOOLTIP = """
<div style="font-size:12px;color:#17212B;background:#fff;max-width:260px;margin:-4px;padding:4px">@text{safe}</div>
"""
CELL_TOOLTIP = TOOLTIP.replace("</div>", "<br>click: run it in Explore, on one split</div>")


@dataclass(frozen=True, eq=False)
class View:
    """What the charts show.

    `result`: the grid, whose first parameter goes across, and its finished cells; `metric`: what the colours mean,
    `measured`: in words; `percent`: whether scores are shown in per cent; `titles`: of the parameters;
    `links`: to the explorer, by the number of the cell; `n_cells`: of the sweep, or of the grid if it is 0;
    `options`: current values of parameters; `narrow`: there is little room, as on a phone; `dark`: the theme; `maps`:
    of the cells, if they are shown, and `walk`: which of them is the large one; `example`: name of the prepared sweep
    of which nothing else than its own cells is shown; `name`: of the method; `role`: before names of figures, empty for
    the sweep itself; `rival`: another method on the same grid; `places`: lines of HTML that say where a cell is, by its
    number, if the axes do not; `ends`: of the colours, if they are those of other cells, too.
    """

    result: Result = field(default_factory=lambda: Result({"": [0]}, ["error"]))
    metric: str = "error"
    measured: str = ""
    percent: bool = False
    titles: Sequence[str] = ("",)
    links: Mapping[int, str] = field(default_factory=dict)
    n_cells: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    narrow: bool = False
    dark: bool = False
    maps: Any = None
    walk: Any = None
    example: str = ""
    name: str = ""
    role: str = ""
    rival: View | None = None
    places: Mapping[int, str] = field(default_factory=dict)
    ends: tuple[float, float] | None = None

    @property
    def values(self) -> list[list[Any]]:
        """Values of every parameter."""
        return list(self.result.grid.values())

    @property
    def colours(self) -> Palette:
        """Colours of the theme."""
        return palette(self.dark)

    @property
    def factor(self) -> float:
        """What the library's scores are multiplied with to be shown."""
        return 100.0 if self.percent else 1.0

    @cached_property
    def means(self) -> NDArray:
        """Mean score of every cell as it is shown, in the shape of the grid."""
        return self.factor * self.result.means(self.metric)

    @property
    def deviations(self) -> NDArray:
        """Deviation of the scores of every cell as it is shown, in the shape of the grid."""
        return self.factor * self.result.deviations(self.metric)

    def said(self, value: float) -> str:
        """Write a mean score."""
        return value_text(value, percent=self.percent)

    def score_of(self, cell: Cell) -> str:
        """Write the mean score of a cell and its deviation."""
        mean, deviation = (self.factor * each(self.metric) for each in (cell.mean, cell.deviation))
        return score_text(mean, deviation, percent=self.percent)

    @property
    def plane(self) -> NDArray:
        """Mean scores (across, up); with one parameter there is one row of them."""
        return self.means.reshape(self.means.shape[0], -1)

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the colours."""
        if self.ends is not None:
            return self.ends
        scored = self.means[np.isfinite(self.means)]
        low, high = (float(scored.min()), float(scored.max())) if scored.size else (0.0, 1.0)
        return low, high if high > low else low + max(abs(low), 1.0) * 1e-6

    @property
    def brightens(self) -> bool:
        """Whether higher scores are brighter: the better ones are the farther from the background of the theme."""
        return self.dark == (self.metric in GREATER_IS_BETTER)

    @property
    def shades(self) -> list[str]:
        """Colours from the lowest score to the highest."""
        return list(self.colours.regions[:: 1 if self.brightens else -1])

    @property
    def contrasting(self) -> list[str]:
        """Those of `shades` that lines can have: none that fades into the background."""
        return self.shades[WEAKEST:] if self.dark == self.brightens else self.shades[:-WEAKEST]

    @cached_property
    def importance(self) -> Importance | None:
        """Shares of the parameters among the cells that are weighed; None: there are too few."""
        weighed = self.weighed
        if weighed is None or np.isfinite(weighed.means(self.metric)).sum() < 2:
            return None
        return importance(weighed, self.metric)

    @cached_property
    def weighed(self) -> Result | None:
        """The cells of which the importance is known: all of them or, of a grid, its finished coarse part."""
        n_cells = self.n_cells or self.means.size
        if len(self.result.cells) < n_cells:
            return coarse_part(self.result) if n_cells == self.means.size else None
        return self.result


# --- heatmap ----------------------------------------------------------------------------------------------------------


def heatmap(view: View) -> hv.Overlay:
    """Return the cells with their colours and what is written into them."""
    return (heatmap_cells(view) * current_setting(view) * words(view, values=_has_room(view))).opts(
        hv.opts.Overlay(**heatmap_look(view, "Heatmap"))
    )


def heatmap_cells(view: View) -> hv.HeatMap:
    """Return the cells with their colours."""
    texts = [cell_text(view, number) for number in range(view.plane.size)]
    return _cells(view, view.plane, texts, view.shades, view.limits).opts(
        hooks=[opening_runs(f"{view.role}sweep cells"), _ends(view)]
    )


def _ends(view: View) -> Callable[[Any, Any], None]:
    """Return a hook that says where the scale of colours ends."""

    def hook(plot: Any, _element: Any) -> None:
        bar = plot.handles.get("colorbar")
        if bar is None:
            return
        low, high = view.limits
        room = 0.04 * (high - low)  # a number closer to an end would cover that one's
        within = [tick for tick in round_ticks(low, high, MOST_TICKS) if low + room < tick < high - room]
        if not isinstance(bar.ticker, FixedTicker):
            bar.ticker = FixedTicker()
        bar.ticker.ticks = [low, *within, high]  # the browser keeps the ticker with which it has drawn the bar first
        bar.major_label_overrides = {low: view.said(low), high: view.said(high)} if view.result.cells else {}

    return hook


def _cells(
    view: View, plane: NDArray, texts: Sequence[str], shades: Sequence[str], limits: tuple[float, float]
) -> hv.HeatMap:
    """Return a plane of values as cells. `texts`: what the pointer shows of each; `shades`: from low to high."""
    across, up = plane.shape
    labels = np.array(texts, dtype=object).reshape(plane.shape)
    packed = packed_links([view.links.get(number, "") for number in range(plane.size)])
    links = np.array(packed, dtype=object).reshape(plane.shape)
    return hv.HeatMap(
        (np.arange(float(across)), np.arange(float(up)), plane.T, labels.T, links.T),
        ["x", "y"],
        [hv.Dimension("value", range=limits), "text", "link"],
    ).opts(
        optimize_gridded=False,
        cmap=list(shades),
        clim=limits,
        clipping_colors={"NaN": view.colours.page},
        line_color=view.colours.card,
        line_width=2,
        nonselection_alpha=1.0,
        colorbar=True,
        colorbar_opts={"width": 12, "label_standoff": 6, "padding": 4, "background_fill_alpha": 0},
        cformatter=per_cent_ticks(view),
        tools=[HoverTool(tooltips=CELL_TOOLTIP), TapTool()],
        clabel="",
        fill_alpha=1.0,
        hooks=[opening_runs(f"{view.role}sweep cells")],
    )


_PIECES = re.compile("(?=[&%])")


def packed_links(links: Sequence[str]) -> list[str]:
    """Write links as what differs from the first one: "39 5:&method.C=2 37:%2C" has 39 pieces, which "&" or "%" begins.

    Links hardly differ, and would be most of what the page sends.  An empty link stays empty.
    """
    first = next(filter(None, links), "")
    return [_packed(link, [] if link is first else _PIECES.split(first)) for link in links]


def _packed(link: str, before: Sequence[str]) -> str:
    pieces = _PIECES.split(link)
    changes = [f"{k}:{piece}" for k, piece in enumerate(pieces) if list(before[k : k + 1]) != [piece]]
    return " ".join([str(len(pieces)), *changes]) if link else ""


def difference(view: View) -> hv.Overlay:
    """Return the mean scores less those of the other sweep, cell by cell."""
    assert view.rival is not None
    plane = view.plane - view.rival.plane
    largest = float(np.nanmax(np.abs(plane), initial=0.0)) or 1e-6
    names, points = f"{view.name} − {view.rival.name}", " points" if view.percent else ""
    texts = [
        f"{first}<br>{escape(names)}: <b>{difference_text(value, percent=view.percent)}</b>{points}"
        for first, value in zip((cell_text(view, number) for number in range(plane.size)), plane.ravel())
    ]
    shown = replace(view, role="difference ")
    cells = _cells(shown, plane, texts, PuOr11, (-largest, largest))
    x, y = (axis.ravel().astype(float) for axis in np.indices(plane.shape))
    labels = [difference_text(value, percent=view.percent) if _has_room(view) else "" for value in plane.ravel()]
    inks = ["#FFFFFF" if abs(value) > 0.7 * largest else "#17212B" for value in plane.ravel()]
    words = hv.Labels((x, y, np.array(labels, dtype=object), np.array(inks, dtype=object)), ["x", "y"], ["said", "ink"])
    return (cells * words.opts(text_color="ink", text_font_size="11px", text_font=FONT)).opts(
        hv.opts.Overlay(**heatmap_look(shown, f"Difference {names}"))
    )


def heatmap_look(view: View, kind: str) -> dict[str, Any]:
    """Return options of the heatmap. `kind`: what it is, for screen readers."""
    across, up = view.plane.shape
    titles, several = [*view.titles, ""], len(view.values) > 1
    return {
        "xlim": (-0.5, across - 0.5),
        "ylim": (-0.5, up - 0.5),
        "xticks": ticks(view.values[0], "narrow" if view.narrow else "heatmap" if several else "strip"),
        "yticks": ticks(view.values[1]) if several else [(0, "")],
        "xlabel": titles[0],
        "ylabel": titles[1],
        "height": HEIGHT if several else STRIP_HEIGHT,
        **look(view, f"{view.role}heatmap", f"{kind}: {view.measured} by {' and '.join(filter(None, view.titles))}"),
    }


def opening_runs(name: str) -> Callable[[Any, Any], None]:
    """Return a hook that has a click on a cell open its run; `name`: of the data of the cells."""

    def hook(plot: Any, _element: Any) -> None:
        """Name the data of a plot that is drawn for the first time, and open runs from there."""
        source = plot.handles["source"]
        if source.name is None:
            source.name = name
            plot.state.select_one(TapTool).callback = CustomJS(args={"source": source}, code=OPEN_RUN)

    return hook


def words(view: View, *, values: bool) -> hv.Labels:
    """Return what is written into the cells: a star at the best, a cross where all fits failed.

    `values`: whether each cell says its value.
    """
    plane, colours, result = view.plane, view.colours, view.result
    aside = 0.0 if values or view.maps is None else 0.37  # a map stands in the middle of each cell
    x, y = (axis.ravel() + shift for axis, shift in zip(np.indices(plane.shape), (-aside, aside)))
    labels = [view.said(value) for value in plane.ravel()] if values else [""] * plane.size
    best = result.best(view.metric)
    if best is not None:
        labels[best.number] = f"★ {labels[best.number]}".strip()
    for number, cell in result.cells.items():
        if math.isnan(cell.mean(view.metric)):
            labels[number] = "✕"
    middle = sum(view.limits) / 2
    bright = plane.ravel() > middle if view.brightens else plane.ravel() < middle
    inks = [
        colours.text if math.isnan(value) or aside else "#17212B" if light else "#FFFFFF"
        for value, light in zip(plane.ravel(), bright)
    ]
    columns = x, y, np.array(labels, dtype=object), np.array(inks, dtype=object)
    return hv.Labels(columns, ["x", "y"], ["said", "ink"]).opts(
        text_color="ink", text_font_size="11px", text_font=FONT, hooks=[_named(f"{view.role}sweep words")]
    )


def current_setting(view: View) -> hv.Rectangles:
    """Return a frame around the cell of the current setting, or between cells; none if it is outside of the grid."""
    current = current_place(view)
    boxes = [] if current is None else [(x - 0.48, y - 0.47, x + 0.48, y + 0.47) for x, y in (current,)]
    return hv.Rectangles(boxes).opts(fill_alpha=0.0, line_color=view.colours.error, line_width=2.5)


def _has_room(view: View) -> bool:
    return max(view.plane.shape) <= (MOST_SAID // 2 if view.narrow else MOST_SAID)


def current_place(view: View) -> tuple[float, float] | None:
    """Return where in the grid the current setting lies; None: outside."""
    places = [place_of(values, view.options.get(name)) for name, values in view.result.grid.items()]
    inside = [place for place in places if place is not None]
    return (inside[0], inside[1] if len(inside) > 1 else 0.0) if len(inside) == len(places) else None


def cell_text(view: View, number: int) -> str:
    """Write what the pointer shows of a cell, as HTML."""
    cell = view.result.cells.get(number)
    lines = ["not computed yet"] if cell is None else _cell_lines(view, cell)
    return "<br>".join([cell_place(view, number), *lines])


def cell_place(view: View, number: int) -> str:
    """Write where a cell is, as HTML: a line for each parameter."""
    if number in view.places:
        return view.places[number]
    grid = view.result.grid
    places = [int(place) for place in np.unravel_index(number, view.result.shape)]
    axes = zip(places, grid.items(), (*view.titles, *grid)[: len(grid)])
    return "<br>".join(
        f"{escape(title or name)} = {escape(tick_texts(values)[k])}" for k, (name, values), title in axes
    )


def _cell_lines(view: View, cell: Cell) -> list[str]:
    lines = []
    if not math.isnan(cell.mean(view.metric)):
        lines.append(f"<b>{escape(view.measured)} {view.score_of(cell)}</b>")
    fits = sum(cell.stops.values())
    lines += [f"{count} of {fits} fits {STOPPED.get(stop, stop)}" for stop, count in cell.stops.items()]
    lines += [f"failed: {escape(cell.errors[0][:160])}"] if cell.errors else []
    lines += ["warm start"] if cell.warm else []
    return [*lines, f"{cell.seconds:.2g} s for {len(cell.outcomes)} fits"]


# --- curves and bars --------------------------------------------------------------------------------------------------


def curve(view: View, axis: int) -> hv.Overlay:
    """Return what `curve_words` says along one parameter."""
    colours = view.colours
    axis = min(axis, len(view.values) - 1)
    line = _marginal(view, axis)
    x, mean, width, best, texts = line
    limits = _room(*(each for other in range(len(view.values)) for each in _reach(*_marginal(view, other)[1:4])))
    heights = round_ticks(*limits, MOST_TICKS)
    if len(heights) > 1 and heights[0] > limits[0]:  # the lowest label stands below the lowest value
        heights.insert(0, heights[0] - (heights[1] - heights[0]))
        limits = heights[0], limits[1]
    band = hv.Spread((x, mean, width), "x", ["score", "width"])
    lines = hv.Curve((x, mean), "x", "score"), hv.Curve((x, best), "x", "score")
    dots = hv.Scatter((x, mean, best, texts), "x", ["score", "best", "text"])
    return hv.Overlay(
        [
            band.opts(color=colours.primary, fill_alpha=0.18, line_alpha=0.0),
            lines[0].opts(color=colours.primary, line_width=2),
            lines[1].opts(
                color=colours.secondary, line_width=1.5, line_dash="dashed", alpha=float(view.means.ndim > 1)
            ),
            dots.opts(
                color=colours.primary,
                size=6,
                tools=[HoverTool(tooltips=TOOLTIP)],
                hooks=[_named(f"sweep curve {axis}")],
                framewise=True,  # the limits of the chart follow its cells
            ),
        ]
    ).opts(
        hv.opts.Overlay(
            xlim=(-0.5, len(view.values[axis]) - 0.5),
            ylim=limits,
            xticks=ticks(view.values[axis], "curve" if view.means.ndim > 1 else "narrow" if view.narrow else "heatmap"),
            yticks=heights,
            xlabel=view.titles[axis],
            ylabel=view.measured,
            yformatter=per_cent_ticks(view),
            height=CURVE_HEIGHT if view.means.ndim > 1 else WIDE_HEIGHT,
            show_grid=True,
            gridstyle={"xgrid_line_color": None, "grid_line_color": view.colours.grid},
            **look(view, f"curve {axis}", f"Curve: {view.measured} over {view.titles[axis]}"),
        )
    )


def curve_words(view: View) -> str:
    """Say what curves show: of the cells at a value of a parameter; with one parameter, of its folds."""
    others = len(view.values) - 1
    if not others:
        return "Mean ± standard deviation over folds"
    return f"Over the other {'axis' if others == 1 else 'axes'}: mean ± SD; dashed: best value"


def _marginal(view: View, axis: int) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """Return places, means, deviations, best values and texts along one parameter, where it has finished cells."""
    rows = np.moveaxis(view.means, axis, 0).reshape(view.means.shape[axis], -1)
    scored = np.isfinite(rows).any(axis=1)
    places, rows = np.flatnonzero(scored), rows[scored]
    if not len(places):
        return (*np.empty((4, 0)), np.empty(0, dtype=object))
    greater = view.metric in GREATER_IS_BETTER
    mean, best = np.nanmean(rows, axis=1), (np.nanmax if greater else np.nanmin)(rows, axis=1)
    several = view.means.ndim > 1
    width = np.nanstd(rows, axis=1) if several else view.deviations[scored]
    name, values = list(view.result.grid)[axis], view.values[axis]
    counts, said = np.isfinite(rows).sum(axis=1), tick_texts(values)
    texts = [
        f"{escape(view.titles[axis] or name)} = {escape(said[place])}"
        f"<br>mean {score_text(mean[k], width[k], percent=view.percent)}"
        + (f"<br>best of {counts[k]} cells {view.said(best[k])}" if several else "")
        for k, place in enumerate(places)
    ]
    return places.astype(float), mean, width, best, np.array(texts, dtype=object)


def _room(*curves: NDArray) -> tuple[float, float]:
    """Return limits of an axis that hold all curves with a little room."""
    finite = np.concatenate([each[np.isfinite(each)] for each in curves])
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    margin = 0.08 * (high - low) or max(abs(low), 1.0) * 0.05
    return float(low - margin), float(high + margin)


def _reach(mean: NDArray, width: NDArray, best: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return what a curve, its band and its best values reach: all curves have one scale."""
    return mean - width, mean + width, best


def bars(view: View) -> hv.Overlay:
    """Return the importance of each parameter, of interactions and of the folds, with its spread over the folds."""
    shares = dict(reversed(_shares(view).items()))  # the first one stands at the top
    names = [f"{name}\u2002{100.0 * share:.0f}\u00a0%" for name, (share, _spread) in shares.items()] or [""]
    heights = [share for share, _spread in shares.values()] or [0.0]
    spreads = [spread for _share, spread in shares.values()] or [0.0]
    colours, places = view.colours, np.arange(float(len(names)))
    steps = _share_ticks(max(map(sum, zip(heights, spreads))))
    return (
        hv.Bars((places, heights), "effect", "share").opts(
            color=colours.primary,
            fill_alpha=0.55,
            line_color=None,
            bar_width=0.6,
            invert_axes=True,
            framewise=True,  # the limits of the chart follow its bars
        )
        * hv.ErrorBars((places, heights, spreads), "effect", ["share", "spread"]).opts(
            line_color=colours.text, upper_head=None, lower_head=None, invert_axes=True, hooks=[_on_top]
        )
    ).opts(
        hv.opts.Overlay(
            xlim=(-0.5, len(names) - 0.5),
            ylim=(0.0, 1.05 * steps[-1]),
            xlabel="",
            ylabel="",
            xticks=[(tick, f"{100.0 * tick:.0f} %" if tick else "0") for tick in steps],
            yticks=list(zip(places, names)),
            height=BARS_MARGIN + BAR_HEIGHT * len(names),
            **look(view, "importance", f"Bars: importance of {' and '.join(view.titles)}"),
        )
    )


def _share_ticks(longest: float) -> list[float]:
    """Return round shares from 0 to the first that a bar and its spread do not exceed, at most 1."""
    longest = min(max(longest, 0.1), 1.0)
    step = next(step for step in (0.1, 0.2, 0.25) if MOST_SHARES * step >= longest)
    return [step * k for k in range(math.ceil(longest / step - 1e-9) + 1)]


def _on_top(plot: Any, _element: Any) -> None:
    """Draw spreads over bars, where the half of them lies."""
    plot.handles["glyph"].level = "overlay"


def _shares(view: View) -> dict[str, tuple[float, float]]:
    """Return what the bars show: title -> share of the variance and its spread over the folds."""
    importance = view.importance
    if importance is None:
        return {}
    titles, spread = dict(zip(view.result.grid, view.titles)), importance.spread
    shares = {titles[name]: (importance.effects[name,], spread.get((name,), 0.0)) for name in titles}
    if len(titles) == 2:
        shares["Interaction"] = importance.together, spread.get(tuple(titles), 0.0)
    elif len(titles) > 2:
        shares["Interactions"] = importance.together, 0.0
    return {**shares, "Folds": (importance.folds, 0.0)}


# --- what all charts have in common -----------------------------------------------------------------------------------


def per_cent_ticks(view: View) -> str | None:
    """Return the format of scores beside an axis; None: that of numbers."""
    return "%.3g %%" if view.percent else None


def look(view: View, name: str, described: str) -> dict[str, Any]:
    """Return options of every chart. `name`: of its figure; `described`: to screen readers."""

    def hook(plot: Any, _element: Any) -> None:
        """Name a figure."""
        figure = plot.state
        if figure.name != name:
            figure.name = name
            _lighten(figure)
        name_figure(figure, described)
        figure.outline_line_color = None

    return {
        "responsive": True,
        "toolbar": None,
        "default_tools": [],
        "show_legend": False,
        "shared_axes": False,
        "fontsize": {"labels": "12px", "ticks": "12px"},
        "hooks": [dressed(view.colours), hook],
    }


def _lighten(figure: Any) -> None:
    """Take from a figure what is never seen: tools without a toolbar, grids, and glyphs of rows that are selected."""
    figure.toolbar.tools = [tool for tool in figure.toolbar.tools if isinstance(tool, (HoverTool, TapTool))]
    grids = [part for part in figure.center if isinstance(part, Grid)]
    if all(grid.grid_line_color is None for grid in grids):
        figure.center = [part for part in figure.center if part not in grids]
    all_rows = AllIndices()
    for renderer in figure.select(GlyphRenderer):
        renderer.update(selection_glyph=None, nonselection_glyph=None, muted_glyph=None)
        renderer.view.filter = all_rows
    policy = AllLabels()
    for axis in figure.axis:
        axis.major_label_policy = policy


def _named(name: str) -> Callable[[Any, Any], None]:
    """Return a hook that names the data of an element."""

    def hook(plot: Any, _element: Any) -> None:
        plot.handles["source"].name = name

    return hook
