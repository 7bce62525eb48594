"""The latent space: where the method puts the rows, its decision regions, and how far the labels pulled them."""

from __future__ import annotations

import numpy as np

from supdr.quality.near import NO_ROW
from supdr_viz.data.number_format import per_cent
from supdr_viz.pictures.picture import Number
from supdr_viz.pictures.types import Frame, MapQuality, Scene, Surface
from supdr_viz.views.colours import MISPLACED
from supdr_viz.views.figures import LegendEntry
from supdr_viz.views.plane import PlaneView, ring_entry
from supdr_viz.views.points import Points

# Measures of `supdr.quality` that are said on pointing at the verdict: in a word, and in a few.
MEASURES = {
    "trustworthiness": ("trust", "1: no false neighbours"),
    "continuity": ("continuity", "1: no lost neighbours"),
    "knn_error": ("k-NN error", "of a vote of the nearest on the map"),
}

KEPT = (
    "Kept are those of a row's nearest on the map that are among its nearest in the data; misplaced is a row whose "
    "neighbours on the map are far away in the data."
)
ONLY_TRAINING = "Regions judge filled rows; see transform."

# Test rows from which on they say how well new rows are separated.
FEWEST = 20


class LatentSpace(PlaneView):
    """Points in the displayed latent plane, errors and support vectors ringed."""

    def __init__(self, points: Points) -> None:
        super().__init__(points, "latent")

    @property
    def title(self) -> str:
        """Title of the card."""
        return "Latent space"

    def show_frame(self, frame: Frame) -> None:
        """Follow the extent; the points themselves move by `Points.show_frame`."""
        self.hold(frame.latent_extent)
        self.put(threads=self.points.pulled and frame.pulled is not None, axis_words=list(frame.axis_words))

    def show_surface(self, surface: Surface) -> None:
        """Draw the decision surface."""
        self._show_sheet(surface.latent)
        self._show_density(surface.density)

    def show_pulled(self, on: bool) -> None:
        """Join the embedding of training rows to where `transform`, which sees no labels, puts them."""
        self.points.show_pulled(on)
        if self.points.frame is not None:
            self.show_frame(self.points.frame)

    @property
    def measured(self) -> str:
        """What else was measured of the map, in rows that the fit has not seen, where colours say how true it is."""
        frame = self.points.frame
        if frame is None or frame.truth is None or self.points.colour_by != "trust":
            return ""
        if frame.truth.iteration != frame.iteration:
            return ""
        quality = frame.truth
        said = [
            f"{word} {_number(word, quality.numbers[name], self.points.is_regression)} ({help})"
            for name, (word, help) in MEASURES.items()
            if np.isfinite(quality.numbers.get(name, np.nan))
        ]
        rows = f"the {quality.n_new:,} test rows" if quality.n_new else "all rows"
        numbers = f"Of {rows}: {', '.join(said)}. " if said else ""
        return f"{numbers}{KEPT}"

    @property
    def verdict(self) -> str:
        """How far the map can be trusted, by the rows that were looked at, where colours say so; else a warning.

        Empty where the map looks no better separated than new rows find it.
        """
        if self.points.frame is None:
            return ""
        if self.points.colour_by != "trust":
            return _warning(self.points.frame, self.points.scene) or self._whose_regions
        quality = self.points.frame.truth
        return "Computing trust …" if quality is None else _verdict(quality)

    def caption(self, frame: Frame | None = None) -> str:
        """Say what the plane is."""
        frame = frame or self.points.frame
        if frame is None:
            return ""
        surface = self.points.surface
        if surface is not None and surface.latent is None:
            return "no regions: the classifier uses more than these two coordinates"
        if surface is not None and surface.counted is not None and surface.counted != frame.iteration:
            return f"{frame.latent_caption} · density of iteration {surface.counted:,}"
        regions = "slice of regions" if self.sheet is not None and self.sheet.caption else ""
        outside = f"{beyond:,} outside" if (beyond := _outside(frame)) else ""
        rings = self.points.some_ringed("latent"), self.points.some_ringed("support")
        what = frame.latent_caption.partition(",")[0] if self.points.small else frame.latent_caption
        parts = what, regions, outside, *rings
        return " · ".join(part for part in parts if part)

    @property
    def _whose_regions(self) -> str:
        """Say that the regions do not decide for test rows, and how to see those that do."""
        frame, scene = self.points.frame, self.points.scene
        apart = frame is not None and frame.only_training and scene is not None and bool(scene.is_test.any())
        return ONLY_TRAINING if apart and self.sheet is not None else ""

    @property
    def legend(self) -> list[LegendEntry]:
        """The meaning of marks that no other plane has; for the others see `plane.points_legend`."""
        return [ring_entry("support", self.points.colour_by)] if self.points.rings_support else []


def _warning(frame: Frame, scene: Scene | None) -> str:
    """Say that the training rows look separated and the test rows are not: they err half as often as guessing does."""
    if scene is None or scene.task != "classification" or not {"train", "test"} <= set(frame.numbers):
        return ""
    codes = scene.target[scene.is_test & np.isfinite(scene.target)].astype(int)
    if len(codes) < FEWEST:
        return ""
    train, test = frame.numbers["train"], frame.numbers["test"]
    guessing = 100.0 * (1.0 - np.bincount(codes).max() / len(codes))
    if train > 0.5 * test or test < 0.5 * guessing:
        return ""
    return f"Only training rows look separated: {train:.0f}\u00a0% wrong, of new ones {test:.0f}\u00a0%."


def _outside(frame: Frame) -> int:
    """Count the rows that lie beyond the frame, which few far ones do not decide."""
    left, right, bottom, top = frame.latent_extent
    x, y = frame.latent.T
    return int(((x < left) | (x > right) | (y < bottom) | (y > top)).sum())


def _verdict(quality: MapQuality) -> str:
    """Say in a line how far the map can be trusted, of the rows that were looked at."""
    measured = np.isfinite(quality.trust)
    kept, misplaced = np.mean(quality.false[measured] == NO_ROW), int((quality.trust[measured] < MISPLACED).sum())
    rows = f"{misplaced:,} row{'s' if misplaced != 1 else ''} misplaced"
    return f"{per_cent(kept)} of a row's {quality.n_neighbors} neighbours kept; {rows}."


def _number(word: str, value: float, regression: bool) -> Number:
    return Number(word, 100.0 * value, "%") if word == "k-NN error" and not regression else Number(word, value)
