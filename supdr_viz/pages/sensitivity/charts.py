"""The charts of a page of sweeps: HoloViews elements that follow what is shown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
from bokeh.document import Document
from holoviews.streams import Pipe
from numpy.typing import ArrayLike

from supdr.sensitivity.axes import MOST_AXES
from supdr_viz.pages.sensitivity.elements import View, bars, curve, difference, heatmap
from supdr_viz.pages.sensitivity.html_file import sweep_page
from supdr_viz.pages.sensitivity.map_elements import MapWalk, large_map, maps_in_cells, maps_of
from supdr_viz.pages.sensitivity.map_panel import MapPanel
from supdr_viz.pages.sensitivity.parallel_axes import empty_axes, parallel
from supdr_viz.pages.sensitivity.ranking import MOST_IN_ROW, ranked
from supdr_viz.ui import widgets


@dataclass(frozen=True)
class Opening:
    """What a visitor sees first of a prepared sweep: the same for all, but for the theme and the width."""

    element: Callable[[View], Any]
    example: str
    narrow: bool
    dark: bool
    view: View = field(compare=False)


@functools.lru_cache(maxsize=64)
def _drawn(opening: Opening) -> Any:
    """Return the chart of an opening as a document: HoloViews draws it once, which takes .1 s."""
    document = Document()
    document.add_root(hv.render(opening.element(opening.view), backend="bokeh"))
    return document.to_json()


def _copied(element: Callable[[View], Any], view: View) -> Any:
    """Return a figure of Bokeh with the chart of an opening."""
    document = Document.from_json(_drawn(Opening(element, view.example, view.narrow, view.dark, view)))
    [figure] = document.roots
    document.remove_root(figure)
    return figure


CURVES = tuple(functools.partial(curve, axis=axis) for axis in range(MOST_AXES))


class Chart:
    """A chart that is drawn when there is something to draw, and then follows it.

    Another number of cells gets another chart: HoloViews keeps the ends of axes. The first that it shows of a prepared
    sweep is a copy of what is drawn once for all visitors.

    `element`: ``element(view)``. `place`: its place in the page.
    """

    def __init__(self, element: Callable[[View], Any]) -> None:
        self._element = element
        self._pipe: Pipe | None = None
        self._first = True
        self._shape: tuple[int, ...] = ()
        self.place = pn.Column(margin=0, **widgets.WIDE)

    def show(self, view: View | None, element: Callable[[View], Any] | None = None) -> None:
        """Draw a view, as another element than before if one is given; None: there is nothing to draw."""
        self.place.visible = view is not None
        if element is not None and element is not self._element:
            self._element, self._pipe = element, None
        if view is None:
            return
        if self._pipe is not None and self._shape == view.result.shape:
            self._pipe.send(view)
            return
        self._shape = view.result.shape
        if view.example and self._first:
            self._first = False
            figure = _copied(self._element, view)
            self.place[:] = [pn.pane.Bokeh(figure, sizing_mode=figure.sizing_mode, margin=0)]
            return
        self._pipe = Pipe(data=view)
        draw = self._element
        # The stream calls its parameter "data".
        drawn = hv.DynamicMap(lambda data: draw(data), streams=[self._pipe])
        self.place[:] = [pn.pane.HoloViews(drawn, linked_axes=False, margin=0, **widgets.WIDE)]


def _main_element(view: View) -> Callable[[View], Any]:
    """Return the chart of the cells: with three parameters and more their lines over parallel axes."""
    if len(view.values) > 2:
        return parallel if np.isfinite(view.means).any() else empty_axes
    return heatmap if view.maps is None else maps_in_cells


class SweepCharts:
    """Heatmap (or, for one parameter, a row of cells), a curve per parameter, importance, and maps if they are shown.

    Nothing is drawn before the page has been painted: drawing takes longer than the rest of the page.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._ready = self._mapped = False
        self._labels: ArrayLike | None = None
        self._classes: tuple[str, ...] = ()
        self.heatmap = Chart(heatmap)
        self.curves = [Chart(each) for each in CURVES]
        self.bars = Chart(bars)
        self.map = Chart(large_map)
        self.best = Chart(maps_in_cells)
        self.rival, self.difference = Chart(heatmap), Chart(difference)
        self.panel: MapPanel | None = None
        self._map_head = widgets.html(**widgets.HEAD)
        self.map_card = widgets.card(self._map_head)
        head = widgets.card_head("Best cells", "best first; a click opens a cell in Explore")
        self.best_card = widgets.card(widgets.html(head, **widgets.HEAD), self.best.place)

    def begin(self, **changes: Any) -> None:
        """Draw from now on, with changes of the view."""
        self._ready = True
        self.show(**changes)

    def show(self, **changes: Any) -> None:
        """Show a view with changes, which are fields of `View`."""
        self.view = replace(self.view, **changes)
        if self._walks is not (self.view.walk is not None):
            self._start_walk() if self._walks else self._end_walk()
        elif self._walks and "result" in changes:
            self._take_maps()
        if not self._ready:
            return
        view, several = self.view, len(self.view.result.grid)
        self.heatmap.show(view, _main_element(view))
        for axis, each in enumerate(self.curves):
            each.show(view if axis < several and view.result.cells else None)
        self.bars.show(view if view.importance is not None else None)
        rival = None if view.rival is None else replace(view.rival, dark=view.dark, narrow=view.narrow)
        self.rival.show(rival)
        self.difference.show(view if rival is not None and rival.result.cells else None)
        self._show_map()

    def html_page(self, address: str, sentences: str) -> str:
        """Return finished cells as a page, see `sweep_page`; empty if there is none."""
        view = self.view
        if not view.result.cells:
            return ""
        maps = maps_of(view.result, self._labels) if self._labels is not None else None
        return sweep_page(view, maps, address, sentences)

    # --- maps ---------------------------------------------------------------------------------------------------------

    def set_labels(self, y: ArrayLike | None, classes: Sequence[str] = ()) -> None:
        """Take the labels of the rows of the sweep; None: there are no rows. `classes`: names, by their numbers."""
        self._labels, self._classes = y, tuple(classes)

    @property
    def mapped(self) -> bool:
        """Whether the visitor wants maps in the cells of the grid."""
        return self._mapped

    @property
    def has_map(self) -> bool:
        """Whether there is a large map to show, or will be once there are cells."""
        maps = self.view.maps
        return maps is not None and bool(maps.positions or not self.view.result.cells)

    @property
    def _walks(self) -> bool:
        return self._mapped or len(self.view.values) > 2

    @property
    def walked(self) -> View:
        """The cells whose maps are shown: those of the grid, or, with three parameters and more, the best ones."""
        return self.view if len(self.view.values) < 3 else ranked(self.view)

    def show_maps(self, shown: bool) -> None:
        """Show the maps of the cells, or their values."""
        self._mapped = shown
        self.show(example="")

    def _start_walk(self) -> None:
        walk = MapWalk()
        walk.place.on_change("data", lambda _attr, _old, _new: self._follow_place())
        best = self.walked.result.best(self.view.metric)
        walk.place.data = {"number": [best.number if best is not None else 0]}
        self.panel, self.map, self.best = MapPanel(self._go_to), Chart(large_map), Chart(maps_in_cells)
        note = (
            "Of the dashed cell; point at another one."
            if len(self.view.values) < 3
            else "Point at a line of the cells."
        )
        self._map_head.object = widgets.card_head("Map", note)
        self.map_card[1:] = [self.map.place, self.panel.view]
        self.best_card[1:] = [self.best.place]
        self.view = replace(self.view, walk=walk)
        self._take_maps()

    def _end_walk(self) -> None:
        self.view = replace(self.view, walk=None, maps=None)

    def _take_maps(self) -> None:
        view = self.view
        if view.walk is None or self._labels is None:
            self.view = replace(view, maps=None)
            return
        self.view = replace(view, maps=maps_of(view.result, self._labels))
        if view.walk.place.data["number"][0] >= self.walked.plane.size:
            view.walk.place.data = {"number": [0]}
        view.walk.fill(self.walked)

    def _show_map(self) -> None:
        if self.panel is None or self.view.maps is None:
            return
        self.map.show(self.walked)
        self._follow_place()
        if len(self.view.values) > 2:
            self.best.show(ranked(self.view, MOST_IN_ROW) if self.view.maps.positions else None)

    def _go_to(self, number: int) -> None:
        self.view.walk.place.data = {"number": [number]}

    def _follow_place(self) -> None:
        if self.panel is not None and self.view.walk is not None:
            maps = self.view.maps
            named = maps is not None and len(maps.scale.names) == len(self._classes)
            number = int(self.view.walk.place.data["number"][0])
            self.panel.show(self.walked, number, self._classes if named else ())
