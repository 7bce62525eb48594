"""The large map of a sweep's page, with two sliders that walk through the cells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from supdr_viz.pages.sensitivity.elements import View
from supdr_viz.pages.sensitivity.numbers import tick_texts
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.views.figures import LegendEntry, css


class MapPanel:
    """A slider per parameter, and what cell they point to.

    `on_place`: ``on_place(number)`` after the visitor has moved a slider. `view`: its place in the page.
    """

    def __init__(self, on_place: Callable[[int], Any]) -> None:
        self._on_place = on_place
        self._shown: View | None = None
        self._texts: dict[int, list[str]] = {}
        self._sliders = [
            Bound(
                pmui.IntSlider(
                    label=f"Cell {axis}", start=0, end=1, value=0, show_value=False, size="small", **widgets.WIDE
                ),
                functools.partial(self._moved, axis),
            )
            for axis in ("across", "up")
        ]
        self.words, self._keys = widgets.html(margin=(2, 8)), widgets.html(css=widgets.HEAD_CSS, margin=(0, 8))
        sliders = (slider.widget for slider in self._sliders)
        self.view = pn.Column(self._keys, *sliders, self.words, margin=(0, 8), **widgets.WIDE)

    def show(self, view: View, number: int, classes: Sequence[str] = ()) -> None:
        """Show which cell of a view is meant, and what its colours mean; `classes`: names, by their numbers."""
        self._shown = view
        wheel = len(view.colours.classes)
        entries = [LegendEntry(name, css(f"class {code % wheel}"), kind="point") for code, name in enumerate(classes)]
        self._keys.object = f'<div class="keys">{widgets.legend(entries)}</div>' if entries else widgets.EMPTY
        places = self._places(number)
        for axis, slider in enumerate(self._sliders):
            used = axis < len(places)
            slider.widget.visible = used and len(view.values[axis]) > 1
            if used:
                texts, place = tick_texts(view.values[axis]), places[axis]
                if self._texts.get(axis) != texts:
                    self._texts[axis] = texts
                    slider.widget.format = CustomJSTickFormatter(args={"texts": texts}, code="return texts[tick]")
                slider.show(place, end=max(len(texts) - 1, 1), label=f"{view.titles[axis]}: {texts[place]}")
        self.words.object = _words(view, number)

    def _places(self, number: int) -> list[int]:
        assert self._shown is not None
        return [int(place) for place in np.unravel_index(number, self._shown.result.shape)]

    def _moved(self, _which: str, _value: int) -> None:
        if self._shown is not None:
            shape = self._shown.result.shape
            places = [min(int(slider.value), size - 1) for slider, size in zip(self._sliders, shape)]
            self._on_place(int(np.ravel_multi_index(places, shape)))


def _words(view: View, number: int) -> str:
    """Say what the cell's score is, with a link to its run."""
    cell = view.result.cells.get(number)
    if cell is None:
        return '<p class="small">This cell is not computed yet.</p>'
    place = f"{view.places[number]}<br>" if number in view.places else ""
    without = "" if view.maps is not None and number in view.maps.positions else " This cell has no map."
    link = widgets.escape(view.links.get(number, ""))
    run = f' <a href="{link}" target="_blank" rel="noopener">Run it in Explore</a>' if link else ""
    return f'<p class="small">{place}{widgets.escape(view.measured)} <b>{view.score_of(cell)}</b>.{without}{run}</p>'
