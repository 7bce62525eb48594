"""The latent space: where the method puts the rows, its decision regions, and how far the labels pulled them."""

from __future__ import annotations

import numpy as np

from supdr.quality.near import NO_ROW
from supdr_viz.pictures.picture import Number
from supdr_viz.pictures.types import Frame, MapQuality, Scene, Surface
from supdr_viz.views.colours import MISPLACED
from supdr_viz.views.plane import PlaneView
from supdr_viz.views.points import Points

# Measures of `supdr.quality` that the plane shows: in a word, and in a few.
MEASURES = {
    "trustworthiness": ("trust", "1: who stands together is near"),
    "continuity": ("continuity", "1: who is near stands together"),
    "neighbourhood_overlap": ("kept", "share of the nearest that are the nearest here, too"),
    "knn_error": ("k-NN error", "of the vote of the nearest on the map"),
}


# Test rows from which on they say how well new rows are separated.
FEWEST = 20


class LatentSpace(PlaneView):
    """Points in the displayed latent plane, support vectors ringed."""

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
    def numbers(self) -> tuple[Number, ...]:
        """How true the plane is, where colours say so row by row."""
        frame = self.points.frame
        if frame is None or frame.truth is None or frame.truth.iteration != frame.iteration:
            return ()
        quality = frame.truth
        rows = f"of {quality.n_new:,} new rows" if quality.n_new else "of all rows"
        return tuple(
            _number(word, quality.numbers[name], f"{help}; {rows}", self.points.is_regression)
            for name, (word, help) in MEASURES.items()
            if np.isfinite(quality.numbers.get(name, np.nan))
        )

    @property
    def numbered(self) -> str:
        """Which rows the numbers are of, where the verdict is of others."""
        frame = self.points.frame
        return "new rows:" if self.numbers and frame and frame.truth and frame.truth.n_new else ""

    @property
    def verdict(self) -> str:
        """How far the map can be trusted, by the rows that were looked at, where colours say so; else a warning.

        Empty where the map looks no better separated than new rows find it.
        """
        if self.points.frame is None:
            return ""
        if self.points.colour_by != "trust":
            return _warning(self.points.frame, self.points.scene)
        quality = self.points.frame.truth
        return "Computing trust …" if quality is None else _verdict(quality)

    def caption(self, frame: Frame | None = None) -> str:
        """Say what the plane is."""
        frame = frame or self.points.frame
        if frame is None:
            return ""
        if self.points.surface is not None and self.points.surface.latent is None:
            return "no regions: the classifier uses more than these two coordinates"
        surface = self.points.surface
        if surface is not None and surface.counted is not None and surface.counted != frame.iteration:
            return f"{frame.latent_caption} · density of iteration {surface.counted:,}"
        # A plane of more dimensions has regions that are a slice of theirs.
        outside = f"{beyond:,} outside" if (beyond := _outside(frame)) else ""
        return " · ".join(part for part in (frame.latent_caption, outside) if part)

    @property
    def ringed(self) -> str:
        """What grey rings mark, in words; other rings stand in the legend of the classes."""
        points, frame = self.points, self.points.frame
        if points.colour_by == "trust" or points.ringed("latent") != "support":
            return ""
        if frame is None or not frame.support.any():
            return ""
        share = points.ring_share("latent")
        return f"every {1 / share:.0f}th support vector ringed" if 0.0 < share < 0.7 else "support vectors ringed"


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
    """Say in a sentence how far the map can be trusted, of the rows that were looked at."""
    measured = np.isfinite(quality.trust)
    true, misplaced = np.mean(quality.false[measured] == NO_ROW), int((quality.trust[measured] < MISPLACED).sum())
    return f"all rows: {100 * true:.0f} % of neighbours are true, {misplaced:,} misplaced"


def _number(word: str, value: float, help: str, regression: bool) -> Number:
    share = word == "kept" or (word == "k-NN error" and not regression)
    return Number(word, 100.0 * value, "%", help) if share else Number(word, value, help=help)
