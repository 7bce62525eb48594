"""The heatmap that fills cell by cell, and the marginal curves beside it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
    TapTool,
    Text,
)
from bokeh.models.annotations import ColorBar
from bokeh.plotting import figure

from supdr.sensitivity import Cell, Result
from supdr_viz.data.number_format import mean_text
from supdr_viz.pages.sensitivity.numbers import tick_text
from supdr_viz.ui import panel_workarounds
from supdr_viz.ui.markup import escape
from supdr_viz.ui.theme import palette

# Letters that have room below an axis.
# How fits ended, in words.
STOPPED = {
    "converged": "converged",
    "max_iter": "reached the iteration limit",
    "no_improvement": "stopped early",
    "diverged": "diverged",
    "interrupted": "were interrupted",
}

MOST_LETTERS = {"heatmap": 72, "narrow": 34, "curve": 40}

# Labels that have room beside an axis that goes up.
MOST_UP = 10

# Cells in a row whose values have room in them.
MOST_SAID = 12

# Letters between two labels.
BETWEEN = 2

OPEN_RUN = """
const [number] = source.selected.indices
if (number !== undefined) {
  const link = source.data.link[number]
  source.selected.indices = []
  if (link) window.open(link, "_blank")
}
"""

TOOLTIP = """<div style="font-size:12px;color:#17212B;max-width:260px">@text{safe}</div>"""


class SweepFigures:
    """A heatmap (or, for one parameter, a row of cells) and a curve per parameter.

    `narrow`: there is little room, as on a phone. `curves`: error over the first and the second parameter.
    """

    def __init__(self, *, narrow: bool = False) -> None:
        self._narrow = narrow
        self._below: list[tuple[Sequence[Any], str]] = []
        self.cells = ColumnDataSource(_no_cells(), name="sweep cells")
        self.mark = ColumnDataSource({"x": [], "y": []}, name="sweep current")
        self.mapper = LinearColorMapper(palette=palette(False).regions, low=0.0, high=1.0)
        self.heatmap = self._make_heatmap()
        self.lines = [ColumnDataSource(_no_line(), name=f"sweep curve {number}") for number in range(2)]
        self.marks = [ColumnDataSource({"x": [], "y": []}) for _ in range(2)]
        self.curves = [self._make_curve(number) for number in range(2)]

    def _make_heatmap(self) -> Any:
        made: Any = figure(
            name="heatmap",
            height=500,
            sizing_mode="stretch_width",
            toolbar_location=None,
            x_range=Range1d(start=-0.5, end=0.5),
            y_range=Range1d(start=-0.5, end=0.5),
            tools=[],
        )
        made.rect(
            "x",
            "y",
            width=0.96,
            height=0.96,
            source=self.cells,
            fill_color={"field": "value", "transform": self.mapper},
            line_color=None,
            nonselection_fill_alpha=1.0,
        )
        made.scatter("x", "y", size=11, marker="x", line_width=2, source=self.cells, alpha="failed")
        words = Text(x="x", y="y", text="said", text_align="center", text_baseline="middle", text_font_size="11px")
        words.update(text_color="ink", text_font_style="style")
        made.add_glyph(self.cells, words, name="values")
        made.scatter("x", "y", size=17, marker="square", fill_color=None, line_width=2.5, source=self.mark, name="mark")
        made.add_tools(
            HoverTool(tooltips=TOOLTIP, renderers=[made.renderers[0]]), tap := TapTool(renderers=[made.renderers[0]])
        )
        tap.callback = CustomJS(args={"source": self.cells}, code=OPEN_RUN)
        self.bar = ColorBar(color_mapper=self.mapper, width=12, label_standoff=6, padding=4, background_fill_alpha=0)
        made.add_layout(self.bar, "right")
        made.grid.visible = False
        return made

    def _make_curve(self, number: int) -> Any:
        made: Any = figure(
            name=f"curve {number}",
            height=249,
            sizing_mode="stretch_width",
            toolbar_location=None,
            x_range=Range1d(start=-0.5, end=0.5),
            tools=[],
        )
        source = self.lines[number]
        made.varea("x", "low", "high", source=source, fill_alpha=0.18, name="band")
        made.line("x", "mean", source=source, line_width=2, name="mean")
        dots = made.scatter("x", "mean", source=source, size=6, name="mean dots")
        made.line("x", "best", source=source, line_width=1.5, line_dash="dashed", name="best")
        made.scatter("x", "y", size=12, marker="square", fill_color=None, line_width=2, source=self.marks[number])
        made.add_tools(HoverTool(tooltips=TOOLTIP, renderers=[dots]))
        made.yaxis.ticker.desired_num_ticks = 4
        return made

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_grid(
        self, grid: Mapping[str, Sequence[Any]], titles: Sequence[str], links: Sequence[str], measured: str
    ) -> None:
        """Lay out an empty grid.

        `grid`: the first parameter goes across; `titles`: of the axes; `links`: to the explorer, for every cell;
        `measured`: what the curves will show.
        """
        values = list(grid.values())
        across, up = len(values[0]), len(values[1]) if len(values) > 1 else 1
        x, y = np.divmod(np.arange(across * up), up)
        empty = [math.nan] * len(x)
        waiting = [_text(grid, number, None, "") for number in range(len(x))]
        self.cells.data = {
            "x": x.tolist(),
            "y": y.tolist(),
            "value": empty,
            "failed": [0.0] * len(x),
            "text": waiting,
            "link": list(links),
            **_unsaid(len(x)),
        }
        self.mark.data = {"x": [], "y": []}
        _set_axis(self.heatmap.yaxis[0], self.heatmap.y_range, values[1] if up > 1 else [""], titles[1], "")
        for number, curve in enumerate(self.curves):
            self.lines[number].data = _no_line()
            self.marks[number].data = {"x": [], "y": []}
            curve.yaxis[0].axis_label = measured
            curve.visible = number < len(values)
        self._below = list(zip(values, titles, strict=False))
        self._name(measured)
        self.fit(self._narrow)

    def _name(self, measured: str) -> None:
        """Tell screen readers what the figures show; the values are in the CSV."""
        titles = [title for _values, title in self._below]
        panel_workarounds.name_figure(self.heatmap, f"Heatmap: {measured} by {' and '.join(titles)}")
        for curve, title in zip(self.curves, titles, strict=False):
            panel_workarounds.name_figure(curve, f"Curve: {measured} over {title}")

    def fit(self, narrow: bool) -> None:
        """Label what goes across as there is room for.

        `narrow`: there is little room, as on a phone.
        """
        self._narrow, across = narrow, "narrow" if narrow else "heatmap"
        if not self._below:
            return
        _set_axis(self.heatmap.xaxis[0], self.heatmap.x_range, *self._below[0], across)
        where = "curve" if len(self._below) > 1 else across
        for curve, below in zip(self.curves, self._below, strict=False):
            _set_axis(curve.xaxis[0], curve.x_range, *below, where)

    def show_cells(self, result: Result, cells: Sequence[Cell], metric: str) -> None:
        """Fill in finished cells and redraw the curves.

        `result`: all that are finished; `cells`: the new ones; `metric`: what the colours mean.
        """
        patches: dict[str, list[tuple[int, Any]]] = {"value": [], "failed": [], "text": []}
        for cell in cells:
            patches["value"].append((cell.number, cell.mean(metric)))
            patches["failed"].append((cell.number, 1.0 if math.isnan(cell.mean(metric)) else 0.0))
            patches["text"].append((cell.number, _text(result.grid, cell.number, cell, metric)))
        if cells:
            self.cells.patch(patches)
        means = result.means(metric)
        known = means[np.isfinite(means)]
        if known.size:
            low, high = float(known.min()), float(known.max())
            self.mapper.update(low=low, high=high if high > low else low + max(abs(low), 1.0) * 1e-6)
        self.bar.title = None
        self._say_values(result, metric)
        for number in range(means.ndim):
            self.lines[number].data = _line(result, means, result.deviations(metric), number)

    def _say_values(self, result: Result, metric: str) -> None:
        """Write the value into every cell that has room for it, the best in bold between stars."""
        values, best = np.array(self.cells.data["value"], dtype=float), result.best(metric)
        sizes = [len(each) for each in result.grid.values()]
        if max(sizes) > (MOST_SAID // 2 if self._narrow else MOST_SAID):
            return
        said, styles = [value_text(value) for value in values], ["normal"] * len(values)
        if best is not None:
            said[best.number], styles[best.number] = f"★ {said[best.number]}", "bold"
        dark = values < (np.nanmin(values) + np.nanmax(values)) / 2 if np.isfinite(values).any() else values > 0
        inks = np.where(dark, "#FFFFFF", "#17212B").tolist()
        self.cells.data = {**self.cells.data, "said": said, "ink": inks, "style": styles}

    def show_current(self, grid: Mapping[str, Sequence[Any]], options: Mapping[str, Any]) -> None:
        """Mark where the current setting lies, if it lies inside of the grid."""
        places = [place_of(values, options.get(name)) for name, values in grid.items()]
        inside = all(place is not None for place in places)
        self.mark.data = {
            "x": [places[0]] if inside else [],
            "y": [places[1] if len(places) > 1 else 0] if inside else [],
        }

    def set_theme(self, dark: bool) -> None:
        """Use the colours of a theme."""
        colours = palette(dark)
        self.mapper.palette = colours.regions
        for each in (self.heatmap, *self.curves):
            each.update(
                background_fill_color=colours.card,
                border_fill_color=colours.card,
                outline_line_color=colours.border,
            )
            for axis in (*each.xaxis, *each.yaxis):
                axis.update(
                    axis_label_text_color=colours.secondary,
                    major_label_text_color=colours.secondary,
                    axis_line_color=colours.border,
                    major_tick_line_color=colours.border,
                    minor_tick_line_color=None,
                    axis_label_text_font_style="normal",
                )
            for grid in each.grid:
                grid.grid_line_color = colours.grid
        self.bar.update(major_label_text_color=colours.secondary, title_text_color=colours.secondary)
        rects, failed, _values, mark = self.heatmap.renderers
        rects.glyph.fill_color = {"field": "value", "transform": self.mapper}
        self.mapper.nan_color = colours.page
        failed.glyph.line_color = colours.failed
        mark.glyph.line_color = colours.error
        for curve in self.curves:
            band, line, dots, best, here = curve.renderers
            band.glyph.fill_color = colours.primary
            line.glyph.line_color = dots.glyph.fill_color = dots.glyph.line_color = colours.primary
            best.glyph.line_color = colours.secondary
            here.glyph.line_color = colours.error


def place_of(values: Sequence[Any], value: Any) -> float | None:
    """Return where a value stands among the values of an axis, between two of them if need be; None: outside."""
    if value in values:
        return float(list(values).index(value))
    numbers = [each for each in values if isinstance(each, (int, float)) and not isinstance(each, bool)]
    if len(numbers) < len(values) or not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    order = np.argsort(numbers)
    known = np.array(numbers, dtype=float)[order]
    if not known[0] <= value <= known[-1]:
        return None
    scale = np.log if known[0] > 0 else np.asarray
    return float(np.interp(scale(float(value)), scale(known), order.astype(float)))


def _set_axis(axis: Any, span: Any, values: Sequence[Any], title: str, where: str) -> None:
    """Label as many values as have room `where` the axis lies; an empty text: it goes up."""
    span.update(start=-0.5, end=len(values) - 0.5, reset_start=-0.5, reset_end=len(values) - 0.5)
    texts = [tick_text(value) for value in values]
    stride = _stride([len(text) for text in texts], MOST_LETTERS[where]) if where else -(-len(values) // MOST_UP)
    shown = list(range(0, len(values), stride))
    axis.update(
        ticker=FixedTicker(ticks=shown),
        major_label_overrides={place: texts[place] for place in shown},
        axis_label=title,
    )


def _stride(lengths: Sequence[int], most: int) -> int:
    """Return the smallest stride at which labels of these lengths do not touch."""
    room = most / len(lengths)
    for stride in range(1, len(lengths)):
        shown = lengths[::stride]
        if all((left + right) / 2 + BETWEEN <= stride * room for left, right in itertools.pairwise(shown)):
            return stride
    return len(lengths)


def value_text(value: float) -> str:
    """Write the value of a cell in few letters; nothing where there is none."""
    if not math.isfinite(value):
        return ""
    return f"{value:.3f}" if abs(value) < 10.0 else f"{value:.4g}"


def _unsaid(count: int) -> dict[str, list[Any]]:
    return {"said": [""] * count, "ink": ["#FFFFFF"] * count, "style": ["normal"] * count}


def _no_cells() -> dict[str, list[Any]]:
    return {"x": [0], "y": [0], "value": [math.nan], "failed": [0.0], "text": [""], "link": [""], **_unsaid(1)}


def _no_line() -> dict[str, list[Any]]:
    return {"x": [], "mean": [], "low": [], "high": [], "best": [], "text": []}


def _line(result: Result, means: Any, deviations: Any, axis: int) -> dict[str, list[Any]]:
    """Return mean, spread and best along one parameter; with one parameter the spread is that of folds."""
    from supdr.sensitivity.scoring import GREATER_IS_BETTER

    greater = result.metrics[0] in GREATER_IS_BETTER
    name = list(result.grid)[axis]
    columns: dict[str, list[Any]] = _no_line()
    for place, value in enumerate(result.grid[name]):
        row, spread = np.take(means, place, axis=axis), np.take(deviations, place, axis=axis)
        known = np.atleast_1d(row)[np.isfinite(np.atleast_1d(row))]
        if not known.size:
            continue
        mean = float(known.mean())
        width = float(known.std()) if means.ndim > 1 else float(np.atleast_1d(spread)[0])
        best = float(known.max() if greater else known.min())
        words = f"{escape(name)} = {escape(tick_text(value))}<br>mean {mean_text(mean, width)}"
        more = f"<br>best {best:.4g}, {known.size} cells" if means.ndim > 1 else ""
        entries = (place, mean, mean - width, mean + width, best if means.ndim > 1 else mean, words + more)
        for key, entry in zip(("x", "mean", "low", "high", "best", "text"), entries):
            columns[key].append(entry)
    return columns


def _text(grid: Mapping[str, Sequence[Any]], number: int, cell: Cell | None, metric: str) -> str:
    sizes = [len(values) for values in grid.values()]
    places = [int(place) for place in np.unravel_index(number, sizes)]
    lines = [f"{escape(name)} = {escape(tick_text(values[k]))}" for k, (name, values) in zip(places, grid.items())]
    if cell is None:
        return "<br>".join([*lines, "not computed yet"])
    if not math.isnan(cell.mean(metric)):
        lines.append(f"<b>{escape(metric)} {mean_text(cell.mean(metric), cell.deviation(metric))}</b>")
    fits = sum(cell.stops.values())
    lines += [f"{count} of {fits} fits {STOPPED.get(stop, stop)}" for stop, count in cell.stops.items()]
    lines += [f"failed: {escape(cell.errors[0][:160])}"] if cell.errors else []
    lines += ["warm start"] if cell.warm else []
    lines += [f"{cell.seconds:.2g} s for {len(cell.outcomes)} fits", "click: run it in the explorer, on one split"]
    return "<br>".join(lines)
