"""The input space: points on their decision regions, errors ringed, and points that the user draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.drawn_points import LARGEST, MAX_DRAWN, Point
from supdr_viz.data.number_format import per_cent
from supdr_viz.pictures.row_colours import shows_target
from supdr_viz.pictures.types import Frame, Scene, Surface
from supdr_viz.views.plane import PlaneView
from supdr_viz.views.points import Points


class InputPlane(PlaneView):
    """Points where the data put them: a plane of two features, or of the first two principal components."""

    def __init__(self, points: Points) -> None:
        super().__init__(points, "input")

    @property
    def title(self) -> str:
        """Title of the card."""
        return "Input space"

    def show_scene(self, scene: Scene) -> None:
        """Set the ranges; forget the surface."""
        super().show_scene(scene)
        self.hold(scene.plane.extent)
        self.put(axis_words=list(scene.axis_words))

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface."""
        self._show_sheet(surface.input)
        if surface.input_density is not None:
            self._show_density(surface.input_density)

    def caption(self, frame: Frame | None = None) -> str:
        """Say which plane this is, what the regions are, and which rows are ringed if that is not clear."""
        scene = self.points.scene
        if scene is None:
            return ""
        plane = scene.plane
        name = "PCA" if self.points.small else "PCA plane"
        what = f"{name}: {per_cent(plane.share)} of variance" if plane.kind == "components" else ""
        if self.points.data_only:
            return what
        if self.points.plain:
            areas = f"coloured areas: predicted {'class' if scene.task == 'classification' else 'value'}"
            return " · ".join(part for part in (what, areas if self.sheet is not None else "") if part)
        regions, surface = "", self.points.surface
        if not plane.has_regions:
            regions = "too little to draw regions"
        elif surface is not None and surface.input is None:
            regions = "no regions"  # between bits or counts
        elif not plane.exact:
            regions = self._slice
        elif shows_target(scene, self.points.colour_by):
            new = frame.only_training if (frame := frame or self.points.frame) is not None else False
            regions = f"regions: predicted {'class' if scene.task == 'classification' else 'value'}"
            regions += " of new rows" if new else ""
        return " · ".join(part for part in (what, regions, self.points.some_ringed("input")) if part)

    @property
    def _slice(self) -> str:
        """Say that regions are a slice and, where it is not said for several planes at once, what rings go by."""
        scene = self.points.scene
        if scene is None or (scene.task == "regression" and not shows_target(scene, self.points.colour_by)):
            return ""  # a field of values has the rows' colours or none
        if self.points.small:
            return "slice through the mean"
        if not self.rings_by_all_features:
            return "regions: slice through the mean"
        return "regions: one slice · rings: by all features"

    @property
    def rings_by_all_features(self) -> bool:
        """Whether errors are ringed that may lie on their own side of the boundary: regions are a slice."""
        points, scene = self.points, self.points.scene
        if scene is None or scene.plane.exact or points.is_regression:
            return False
        return points.ring == "error" and points.has_errors


class InputSpace(InputPlane):
    """The input plane into which the user may draw points: clicks add, drags move, Backspace deletes."""

    def __init__(self, points: Points) -> None:
        super().__init__(points)
        self._callbacks: list[Callable[[NDArray, NDArray], None]] = []
        self.put(drawn=[], draw_code=0, most_drawn=MAX_DRAWN)
        points.stage.on("drawn", self._drawn)

    @property
    def draw_code(self) -> int:
        """Class of the next point that is drawn."""
        return int(self.points.stage.get("planes", self.name, "draw_code"))

    @draw_code.setter
    def draw_code(self, code: int) -> None:
        """Choose the class of the next point."""
        self.put(draw_code=code)

    @property
    def positions(self) -> NDArray:
        """Drawn points (p, 2) in the input plane."""
        return np.array([point[:2] for point in self._points_drawn], dtype=float).reshape(-1, 2)

    @property
    def codes(self) -> NDArray:
        """Class codes (p,) of the drawn points."""
        return np.array([point[2] for point in self._points_drawn], dtype=np.int64)

    def show_drawn(self, points: Iterable[Point]) -> None:
        """Offer these points, which are rows of the scene, to be moved and deleted."""
        n_classes = len(self.points.scene.class_names) if self.points.scene else 0
        drawn = [[float(x), float(y), int(code)] for x, y, code in points]
        self.put(drawn=drawn, draw_code=min(self.draw_code, max(n_classes - 1, 0)))

    def on_drawn(self, callback: Callable[[NDArray, NDArray], None]) -> None:
        """Call ``callback(positions (p, 2), codes (p,))`` with all drawn points after every change by the user."""
        self._callbacks.append(callback)

    @property
    def _points_drawn(self) -> list[list[float]]:
        return self.points.stage.get("planes", self.name, "drawn")

    def _drawn(self, message: dict[str, Any]) -> None:
        drawn, n_classes = message.get("points"), len(self.points.scene.class_names) if self.points.scene else 0
        if not isinstance(drawn, list) or len(drawn) > MAX_DRAWN or not all(_is_point(each) for each in drawn):
            return
        self.put(drawn=[[float(x), float(y), min(max(int(code), 0), max(n_classes - 1, 0))] for x, y, code in drawn])
        for callback in self._callbacks:
            callback(self.positions, self.codes)


def _is_point(each: Any) -> bool:
    if not (isinstance(each, list) and len(each) == 3 and all(isinstance(value, int | float) for value in each)):
        return False
    return all(-LARGEST <= value <= LARGEST for value in each)  # which no NaN is, and whole numbers may be of any size
