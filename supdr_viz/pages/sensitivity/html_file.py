"""A sweep as one HTML file: its charts, with what the pointer shows, sliders and maps, and no server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urljoin

import holoviews as hv
from bokeh.layouts import column, row
from bokeh.models import CustomJS, CustomJSTickFormatter
from bokeh.models.widgets import Div, Slider

from supdr_viz.export.plot_files import page_of
from supdr_viz.pages.sensitivity.elements import BAR_WORDS, View, bars, curve, curve_words, difference, heatmap
from supdr_viz.pages.sensitivity.map_elements import Maps, MapWalk, large_map, maps_in_cells
from supdr_viz.pages.sensitivity.numbers import tick_texts
from supdr_viz.pages.sensitivity.parallel_axes import parallel
from supdr_viz.pages.sensitivity.ranking import MOST_IN_ROW, ranked
from supdr_viz.ui.markup import escape

WIDE: dict[str, Any] = {"sizing_mode": "stretch_width"}

SLIDE = """
const number = sliders.reduce((sum, slider, k) => sum * sizes[k] + slider.value, 0)
if (number !== place.data.number[0]) place.data = {number: [number]}
"""

FOLLOW = """
let rest = place.data.number[0]
words.text = cells.data.text[rest]
for (let k = sliders.length - 1; k >= 0; k--) {
  sliders[k].value = rest % sizes[k]
  rest = Math.floor(rest / sizes[k])
}
"""


def sweep_page(view: View, maps: Maps | None, address: str, sentences: str) -> str:
    """Return the page.

    `view`: what it shows, the other method on the same grid, too; `maps`: of its cells, if there are any; `address`: of
    the page of sweeps, to which the links of cells are relative; `sentences`: about the result, HTML.
    """
    view = _in_file(view, address)
    several = len(view.result.grid)
    beside = [_figure(curve(view, axis)) for axis in range(several) if view.result.cells]
    beside[:0] = [Div(text=curve_words(view), **WIDE)] if beside else []
    beside += [Div(text=BAR_WORDS, **WIDE), _figure(bars(view))] if view.importance is not None else []
    heat = _figure(heatmap(view) if several < 3 else parallel(view))
    charts = row(heat, column(*beside, **WIDE), **WIDE) if several > 1 else column(heat, *beside, **WIDE)
    title = f"{view.measured} by {' and '.join(view.titles)}"
    parts = [Div(text=f"<h1>{escape(title)}</h1>{sentences}", **WIDE), charts]
    if view.rival is not None and view.rival.result.cells and several < 3:
        rival = _in_file(view.rival, address)
        pair = replace(view, rival=rival)
        names = Div(text=f"<h2>{escape(rival.name)}, and {escape(view.name)} − {escape(rival.name)}</h2>", **WIDE)
        parts += [names, row(_figure(heatmap(rival)), _figure(difference(pair)), **WIDE)]
    if maps is not None and maps.positions:
        mapped = replace(view, maps=maps, walk=MapWalk())
        parts.append(_walk(mapped if several < 3 else ranked(mapped, MOST_IN_ROW)))
    return page_of(column(*parts, **WIDE), title, widgets=True)


def _in_file(view: View, address: str) -> View:
    """Return a view as a file shows it: bright, without the page's maps, its links complete."""
    links = {number: urljoin(address, link) for number, link in view.links.items()}
    return replace(view, dark=False, links=links, maps=None, walk=None)


def _figure(element: Any) -> Any:
    return hv.render(element, backend="bokeh")


def _walk(view: View) -> Any:
    """Return the maps of all cells, with a large one that follows the pointer and sliders."""
    view.walk.fill(view)
    best = view.result.best(view.metric)
    number = best.number if best is not None else min(view.maps.positions)
    view.walk.place.data = {"number": [number]}
    small, large = _figure(maps_in_cells(view)), _figure(large_map(view))
    sizes, sliders = list(view.result.shape), []
    for title, values in zip(view.titles, view.values):
        texts = tick_texts(values)
        shown = CustomJSTickFormatter(args={"texts": texts}, code="return texts[tick]")
        sliders.append(Slider(title=title, start=0, end=max(len(values) - 1, 1), value=0, step=1, format=shown, **WIDE))
        sliders[-1].visible = len(values) > 1
    words = Div(**WIDE)
    arguments = {"place": view.walk.place, "sliders": sliders, "sizes": sizes, "words": words}
    arguments["cells"] = small.select_one({"name": "sweep cells"})
    follow = CustomJS(args=arguments, code=FOLLOW)
    view.walk.place.js_on_change("data", follow)
    places = [number // sizes[1], number % sizes[1]] if len(sizes) > 1 else [number]
    for slider, place in zip(sliders, places):
        slider.value = place
        slider.js_on_change("value", CustomJS(args=arguments, code=SLIDE))
    return row(small, column(large, *sliders, words, **WIDE), **WIDE)
