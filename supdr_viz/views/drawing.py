"""Points that the user draws into the input plane while a run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, PointDrawTool, Scatter
from numpy.typing import NDArray

from supdr_viz.frames.types import Scene
from supdr_viz.kit.theme import palette
from supdr_viz.views.sources import MARKERS, Points

MAX_POINTS = 500
_NEW = -1
"""What the browser writes as the class of a new point: which class it is, is decided here."""


class Drawing:
    """A layer of drawn points over a figure; clicks add, drags move, backspace deletes the selected ones.

    Parameters
    ----------
    made : figure
    points : Points

    Attributes
    ----------
    tool : PointDrawTool
    source : ColumnDataSource
        Columns ``x, y``; ``k`` class code; ``m`` marker.
    code : int
        Class of the next point.
    """

    def __init__(self, made: Any, points: Points) -> None:
        self.code = 0
        self._callbacks: list[Callable[[NDArray, NDArray], None]] = []
        self.source = ColumnDataSource({"x": [], "y": [], "k": [], "m": []})
        glyph = Scatter(
            x="x",
            y="y",
            marker="m",
            size=12,
            fill_color={"field": "k", "transform": points.mapper},
            line_color=palette(points.dark).boundary,
            line_width=1.6,
        )
        self.renderer = made.add_glyph(self.source, glyph, selection_glyph=glyph, nonselection_glyph=glyph)
        self.tool = PointDrawTool(
            renderers=[self.renderer],
            add=True,
            drag=True,
            num_objects=MAX_POINTS,
            default_overrides={"k": _NEW, "m": MARKERS[0]},
        )
        made.add_tools(self.tool)
        self.source.on_change("data", self._changed)

    def on_drawn(self, callback: Callable[[NDArray, NDArray], None]) -> None:
        """Call ``callback(positions (p, 2), codes (p,))`` with all drawn points after every change by the user."""
        self._callbacks.append(callback)

    def show_scene(self, scene: Scene) -> None:
        """Forget the drawn points: they belong to the old plane."""
        self.code = 0
        self.clear()

    def clear(self) -> None:
        """Remove all drawn points, silently."""
        if len(self.source.data["x"]):
            self._assign([], [], [])

    def set_theme(self, dark: bool) -> None:
        """Take the outline of the light or dark theme."""
        self.renderer.glyph.line_color = palette(dark).boundary

    @property
    def positions(self) -> NDArray:
        """Drawn points (p, 2) in the input plane."""
        data = self.source.data
        return np.column_stack([np.asarray(data["x"], dtype=float), np.asarray(data["y"], dtype=float)])

    @property
    def codes(self) -> NDArray:
        """Class codes (p,) of the drawn points."""
        return np.asarray(self.source.data["k"], dtype=np.int64)

    def _assign(self, x: list[float], y: list[float], codes: list[int]) -> None:
        self.source.remove_on_change("data", self._changed)
        self.source.data = {"x": x, "y": y, "k": codes, "m": [MARKERS[code % len(MARKERS)] for code in codes]}
        self.source.on_change("data", self._changed)

    def _changed(self, attr: str, old: Any, new: Any) -> None:
        codes = [self.code if code == _NEW else int(code) for code in new["k"]]
        if any(code == _NEW for code in new["k"]):
            self._assign([float(v) for v in new["x"]], [float(v) for v in new["y"]], codes)
        for callback in self._callbacks:
            callback(self.positions, self.codes)
