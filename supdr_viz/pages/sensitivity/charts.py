"""The charts of a page of sweeps: HoloViews elements that follow what is shown."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import holoviews as hv
import panel as pn
from holoviews.streams import Pipe

from supdr_viz.pages.sensitivity.elements import View, bars, curve, heatmap
from supdr_viz.ui import widgets


class Chart:
    """A chart that is drawn when there is something to draw, and then follows it.

    `element`: ``element(view)``. `view`: its place in the page.
    """

    def __init__(self, element: Callable[[View], Any]) -> None:
        self._element = element
        self._pipe: Pipe | None = None
        self.place = pn.Column(margin=0, **widgets.WIDE)

    def show(self, view: View | None) -> None:
        """Draw a view; None: there is nothing to draw."""
        self.place.visible = view is not None
        if view is None:
            return
        if self._pipe is not None:
            self._pipe.send(view)
            return
        self._pipe = Pipe(data=view)
        # A parameter of another name would be taken for a dimension.
        element = hv.DynamicMap(lambda data: self._element(data), streams=[self._pipe])
        self.place[:] = [pn.pane.HoloViews(element, linked_axes=False, margin=0, **widgets.WIDE)]


class SweepCharts:
    """Heatmap (or, for one parameter, a row of cells), a curve per parameter, and the importance of each.

    Nothing is drawn before the page has been painted: drawing takes longer than all the rest of the page.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._ready = False
        self.heatmap = Chart(heatmap)
        self.curves = [Chart(functools.partial(curve, axis=axis)) for axis in range(2)]
        self.bars = Chart(bars)

    def begin(self, **changes: Any) -> None:
        """Draw from now on, with changes of the view."""
        self._ready = True
        self.show(**changes)

    def show(self, **changes: Any) -> None:
        """Show a view with changes, which are fields of `View`."""
        self.view = replace(self.view, **changes)
        if not self._ready:
            return
        view, several = self.view, len(self.view.result.grid)
        self.heatmap.show(view)
        for axis, each in enumerate(self.curves):
            each.show(view if axis < several and view.result.cells else None)
        self.bars.show(view if view.importance is not None else None)
