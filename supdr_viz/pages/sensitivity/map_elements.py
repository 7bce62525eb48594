"""Maps of the cells of a sweep as HoloViews elements: small ones in the grid, and a large one that morphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, HoverTool
from numpy.typing import ArrayLike, NDArray

from supdr.sensitivity import Result, aligned_maps
from supdr.sensitivity.maps import map_rows
from supdr_viz.export.charts import Scale, read_labels
from supdr_viz.pages.sensitivity.elements import View, current_setting, heatmap_cells, heatmap_look, look, words

# Most points of all small maps together, and the fewest of one.
MOST_POINTS, FEWEST_POINTS = 12_000, 20

# Part of a cell that its map takes, from its middle.
HALF = 0.44

# Farthest that a map shows, in root mean squared radii.
FARTHEST = 3.5

MAP_HEIGHT = 340

# Opacity of a cell's colour below its map.
BELOW_MAP = 0.3

POINT = """
const [number] = cb_data.index.indices
if (number !== undefined && number !== place.data.number[0]) place.data = {number: [number]}
"""

FRAME = """
const number = place.data.number[0]
frame.data = {x: [Math.floor(number / up)], y: [number % up]}
"""

WALK = """
const number = place.data.number[0], rows = shown.data.x.length
if (!maps.data.there[0][number]) return
const from = {x: Float64Array.from(shown.data.x), y: Float64Array.from(shown.data.y)}
const began = performance.now(), turn = (place.turn ?? 0) + 1
place.turn = turn
const still = matchMedia("(prefers-reduced-motion: reduce)").matches
function paint(now) {
  if (place.turn !== turn) return
  const part = still ? 1 : Math.min(1, Math.max(0, (now - began) / 350)), share = part * part * (3 - 2 * part)
  for (const axis of ["x", "y"]) {
    const moved = new Float64Array(rows)
    for (let row = 0; row < rows; row++) {
      const to = maps.data[axis][0][number * rows + row], start = from[axis][row]
      moved[row] = Number.isNaN(start) ? to : start + share * (to - start)
    }
    shown.data[axis] = moved
  }
  shown.change.emit()
  if (part < 1) requestAnimationFrame(paint)
}
requestAnimationFrame(paint)
"""


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of a sweep's cells.

    `positions`: number of a cell -> (n_rows, 2), turned to its neighbours; `codes` (n_rows,): number of the class of
    each row, or its value; NaN: unlabelled; `scale`: what they mean.
    """

    positions: dict[int, NDArray]
    codes: NDArray
    scale: Scale

    @property
    def reach(self) -> float:
        """Largest coordinate that is shown, in root mean squared radii."""
        largest = max((float(np.nanmax(np.abs(points), initial=0.0)) for points in self.positions.values()), default=1)
        return min(FARTHEST, 1.05 * largest or 1.0)


def maps_of(result: Result, y: ArrayLike) -> Maps:
    """Return the maps of finished cells; `y`: labels of all rows of the sweep."""
    labels = np.asarray(y)[map_rows(len(np.asarray(y)))]
    codes, scale, _numbers = read_labels(labels, len(labels))
    return Maps(aligned_maps(result), codes, scale)


def maps_in_cells(view: View) -> hv.Overlay:
    """Return the heatmap with the map of each cell in it."""
    assert view.maps is not None
    x, y, codes = _small_maps(view)
    points = hv.Points((x, y, codes), ["x", "y"], "row").opts(
        **_row_look(view), size=2.5, hooks=[_pointing(view), _framing(view)]
    )
    cells = heatmap_cells(view).opts(fill_alpha=BELOW_MAP)
    if view.ends is not None:  # the chart of all cells has the scale
        cells = cells.opts(cmap=view.contrasting, colorbar=False)
    return (cells * current_setting(view) * points * words(view, values=False)).opts(
        hv.opts.Overlay(**heatmap_look(view, "Maps"))
    )


def _small_maps(view: View) -> tuple[NDArray, NDArray, NDArray]:
    """Return all points of the maps in the grid: where they stand, and the codes of their rows."""
    maps, up = view.maps, view.plane.shape[1]
    assert maps is not None
    if not maps.positions:
        return np.empty(0), np.empty(0), np.empty(0)
    count = max(FEWEST_POINTS, MOST_POINTS // len(maps.positions))
    rows = np.linspace(0, len(maps.codes) - 1, min(count, len(maps.codes))).round().astype(int)
    numbers = np.array(list(maps.positions))
    small = np.stack([maps.positions[number][rows] for number in numbers]) / maps.reach
    inside = HALF * np.clip(small, -1.0, 1.0)
    x, y = numbers[:, None] // up + inside[..., 0], numbers[:, None] % up + inside[..., 1]
    return x.ravel(), y.ravel(), np.tile(maps.codes[rows], len(numbers))


def _row_look(view: View) -> dict[str, Any]:
    """Return the colours of rows."""
    assert view.maps is not None
    scale = view.maps.scale
    limits = (-0.5, len(scale.names) - 0.5) if scale.names else scale.limits
    return {
        "color": "row",
        "cmap": scale.colours(view.colours),
        "clim": limits,
        "clipping_colors": {"NaN": view.colours.muted},
        "line_color": None,
        "colorbar": False,
    }


class MapWalk:
    """The data behind the large map: all maps, and the number of the cell whose map is shown.

    `place`, `maps`: data sources; a change of `place` lets the browser morph the large map to that cell.
    """

    def __init__(self) -> None:
        self.place = ColumnDataSource({"number": [0]}, name="sweep place")
        self.maps = ColumnDataSource(_no_maps(), name="sweep maps")

    def fill(self, view: View) -> None:
        """Take the maps of a view."""
        maps = view.maps
        if maps is None or not maps.positions:
            self.maps.data = _no_maps()
            return
        whole = np.full((view.plane.size, len(maps.codes), 2), np.nan, dtype=np.float32)
        for number, points in maps.positions.items():
            whole[number] = points
        there = np.isfinite(whole).any(axis=(1, 2)).astype(np.uint8)
        self.maps.data = {"x": [whole[..., 0].ravel()], "y": [whole[..., 1].ravel()], "there": [there]}


def _no_maps() -> dict[str, Any]:
    return {"x": [np.empty(0, np.float32)], "y": [np.empty(0, np.float32)], "there": [np.empty(0, np.uint8)]}


def _pointing(view: View) -> Callable[[Any, Any], None]:
    """Return a hook that has the large map follow the pointer over the cells."""

    def hook(plot: Any, _element: Any) -> None:
        plot.handles["source"].name = "sweep small maps"
        hover = plot.state.select_one(HoverTool)
        if view.walk is not None and hover.callback is None:
            hover.callback = CustomJS(args={"place": view.walk.place}, code=POINT)

    return hook


def _framing(view: View) -> Callable[[Any, Any], None]:
    """Return a hook that frames the cell whose map is the large one."""

    def hook(plot: Any, _element: Any) -> None:
        if view.walk is None:
            return
        place, up = view.walk.place, view.plane.shape[1]
        frame = plot.state.select_one({"name": "chosen cell"})
        if frame is None:
            across, along = divmod(int(place.data["number"][0]), up)
            source = ColumnDataSource({"x": [across], "y": [along]})
            frame = plot.state.rect(
                "x",
                "y",
                width=0.96,
                height=0.94,
                source=source,
                fill_alpha=0.0,
                line_width=2,
                line_dash="dashed",
                nonselection_line_alpha=1.0,
                name="chosen cell",
            )
            args = {"place": place, "frame": source, "up": up}
            place.js_on_change("data", CustomJS(args=args, code=FRAME))
        frame.glyph.line_color = frame.nonselection_glyph.line_color = view.colours.text

    return hook


def large_map(view: View) -> hv.Points:
    """Return the map of the chosen cell, which morphs to another as `view.walk` says."""
    maps = view.maps
    assert maps is not None
    number = int(view.walk.place.data["number"][0])
    points = maps.positions.get(number, np.full((len(maps.codes), 2), np.nan))
    limits = (-maps.reach, maps.reach)

    def walking(plot: Any, _element: Any) -> None:
        """Let the points follow the place."""
        source = plot.handles["source"]
        if source.name is None:
            source.name = "sweep map"
            args = {"place": view.walk.place, "maps": view.walk.maps, "shown": source}
            view.walk.place.js_on_change("data", CustomJS(args=args, code=WALK))
        for axis in plot.state.axis:
            axis.visible = False

    options = look(view, "map", "Map of the chosen cell") | {"xlim": limits, "ylim": limits, "framewise": True}
    options["hooks"] = [*options["hooks"], walking]
    return hv.Points((points[:, 0], points[:, 1], maps.codes), ["x", "y"], "row").opts(
        **_row_look(view), size=5, xlabel="", ylabel="", height=MAP_HEIGHT, **options
    )
