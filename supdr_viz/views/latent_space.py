"""The latent space: where the method puts the rows, its decision regions, and how far the labels pulled them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from supdr.quality.near import NO_ROW
from supdr_viz.data.number_format import per_cent
from supdr_viz.pictures.picture import Number
from supdr_viz.pictures.row_colours import CHANCE, shows_target
from supdr_viz.pictures.types import Frame, MapQuality, Scene, Surface
from supdr_viz.views.colours import MISPLACED
from supdr_viz.views.figures import LegendEntry
from supdr_viz.views.plane import PlaneView, ring_entry
from supdr_viz.views.points import Points, shorten

# Measures of `supdr.quality` that are said on pointing at the verdict: in a word, and in a few.
MEASURES = {
    "trustworthiness": ("trust", "1: no false neighbours"),
    "continuity": ("continuity", "1: no lost neighbours"),
    "knn_error": ("k-NN error", "of a vote of the nearest on the map"),
}

ONLY_TRAINING = "The regions hold for filled rows only; see transform."
SHRUNK = "Open marks: test rows, placed without labels."
BOTH = "Regions hold for filled rows; test rows had no label."

# Names stand this far above most rows of their class, and at least so far apart, as shares of the size of the map.
ABOVE, APART = 0.035, 0.06

# More classes are not named; so many are, although their rows have colours.
MOST_NAMED, MANY = 20, 7

# Spread of new rows, as a share of that of training rows, below which they are a knot.
CROWDED = 0.3

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
        self.show_colours()

    def show_colours(self) -> None:
        """Name the classes on the map where no colour does, or where there are many colours."""
        self.put(names=_names(self.points))

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
        kept = np.mean(quality.false[np.isfinite(quality.trust)] == NO_ROW)
        return f"{numbers}Of the neighbours on the map {per_cent(kept)} are neighbours in the data."

    @property
    def verdict(self) -> str:
        """How far the map can be trusted, by the rows that were looked at, where colours say so; else a warning.

        Empty where the map looks no better separated than new rows find it.
        """
        if self.points.frame is None:
            return ""
        if self.points.colour_by != "trust":
            frame, scene = self.points.frame, self.points.scene
            return _warning(frame, scene) or self._new_rows
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
        regions = "slice of regions" if self.sheet is not None and self.sheet.caption and self._shows_regions else ""
        outside = f"{beyond:,} outside" if (beyond := _outside(frame)) else ""
        rings = self.points.some_ringed("latent"), self.points.some_ringed("support")
        what = frame.latent_caption.replace("; ", " · ") if self.points.small else frame.latent_caption
        parts = what, regions, outside, *rings
        return " · ".join(part for part in parts if part)

    @property
    def _shows_regions(self) -> bool:
        """Whether regions or their boundary are drawn: a field of values has the colours of the rows, or none."""
        scene = self.points.scene
        return scene is not None and (scene.task == "classification" or shows_target(scene, self.points.colour_by))

    @property
    def _new_rows(self) -> str:
        """Say that test rows crowd in the middle, or that regions do not decide for them, and how to see which do."""
        frame, scene = self.points.frame, self.points.scene
        apart = frame is not None and frame.only_training and scene is not None and bool(scene.is_test.any())
        crowded = frame is not None and scene is not None and _crowded(frame, scene)
        if apart and self.sheet is not None and self._shows_regions:
            return BOTH if crowded else ONLY_TRAINING
        return SHRUNK if crowded else ""

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


def _crowded(frame: Frame, scene: Scene) -> bool:
    """Whether test rows, which are placed without their labels, crowd in the middle of the map."""
    if scene.is_test.sum() < FEWEST or len(frame.latent) != len(scene.code) or frame.as_new:
        return False
    new, own = (frame.latent[some & np.isfinite(frame.latent).all(axis=1)] for some in (scene.is_test, ~scene.is_test))
    return bool(len(new) and len(own) and new.std(axis=0).max() < CROWDED * own.std(axis=0).max())


def _outside(frame: Frame) -> int:
    """Count the rows that lie beyond the frame, which few far ones do not decide."""
    left, right, bottom, top = frame.latent_extent
    x, y = frame.latent.T
    return int(((x < left) | (x > right) | (y < bottom) | (y > top)).sum())


def _verdict(quality: MapQuality) -> str:
    """Say in a line how far the map can be trusted, of the rows that were looked at."""
    misplaced = int((quality.trust[np.isfinite(quality.trust)] < MISPLACED).sum())
    rows = f"Misplaced: {misplaced:,} below {MISPLACED:g}."
    nearest = f"{quality.n_neighbors} neighbours on the map"
    return f"Trust: 1 if a row's {nearest} are those in the data, {CHANCE:g} by chance. {rows}"


def _names(points: Points) -> list[list[Any]]:
    """Return place and name of each class, above most of its rows, where colours alone do not tell which it is.

    Returns nothing where names would lie on top of one another.
    """
    scene, frame = points.scene, points.frame
    if scene is None or frame is None or len(frame.latent) != len(scene.code) or not scene.class_names:
        return []
    if shows_target(scene, points.colour_by) and (points.small or len(scene.class_names) < MANY):
        return []
    left, right, bottom, top = frame.latent_extent
    known = np.isfinite(scene.target) & np.isfinite(frame.latent).all(axis=1) & ~scene.is_test
    names: list[tuple[float, float, str]] = []
    for code, name in enumerate(scene.class_names):
        own = frame.latent[known & (scene.code == code)]
        if len(own):
            upper = float(np.quantile(own[:, 1], 0.95)) + ABOVE * (top - bottom)
            names.append((float(np.median(own[:, 0])), min(upper, top - ABOVE * (top - bottom)), shorten(name)))
    places = np.array([[(x - left) / (right - left), (y - bottom) / (top - bottom)] for x, y, _ in names])
    told = 1 < len(names) <= MOST_NAMED and pdist(places).min() > APART
    return [[*each] for each in names] if told else []


def _number(word: str, value: float, regression: bool) -> Number:
    return Number(word, 100.0 * value, "%") if word == "k-NN error" and not regression else Number(word, value)
