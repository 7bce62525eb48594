"""The meaning of the rows' colours: the label that the method sees, the truth, the prediction, its error, or trust."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.density import density, value_layers
from supdr_viz.pictures.types import Density, MapQuality, Scene, Surface

# Trust in a map that knows nothing, about.
CHANCE = 0.5

# Percentile of the rows at which the colours of trust begin, and the least span of these colours.
LOWEST, LEAST_SPAN = 2.0, 0.02

# Errors of this share of the range of the target, and larger ones, have the last colour: the scale stands still.
LARGE = 0.5


def hidden_rows(scene: Scene) -> NDArray:
    """Training rows whose label the method does not see."""
    return ~scene.is_test & ~scene.is_labelled


def largest_error(scene: Scene) -> float:
    """Return the absolute error that the last colour of errors stands for."""
    low, high = scene.value_range
    return LARGE * (high - low)


def row_colours(scene: Scene, surface: Surface | None, colour_by: str, quality: MapQuality | None = None) -> NDArray:
    """Return the numbers that stand for the rows' colours.

    `surface`: predictions; without them rows have no prediction and no error. `colour_by`: one of "label", "truth",
    "prediction", "error", "trust". `quality`: without it no row has a trust. Returns (n,): trust: NaN where it is not
    known.  Regression: values, NaN where there is none.  Classification: class codes; the number of classes where there
    is none, and one more for a wrong prediction.
    """
    if colour_by == "trust":
        return np.full(len(scene.code), np.nan) if quality is None else quality.trust
    if scene.task == "regression":
        return _values(scene, surface, colour_by)
    none = len(scene.class_names)
    if colour_by == "label":
        return np.where(hidden_rows(scene), none, scene.code).astype(np.uint8)
    if colour_by == "truth":
        return np.where(np.isfinite(scene.target), scene.code, none).astype(np.uint8)
    if surface is None:
        return np.full(len(scene.code), none, dtype=np.uint8)
    if colour_by == "prediction":
        return np.where(surface.predicted < none, surface.predicted, none).astype(np.uint8)
    return np.where(surface.wrong, none + 1, none).astype(np.uint8)


def _values(scene: Scene, surface: Surface | None, colour_by: str) -> NDArray:
    if colour_by == "label":
        return np.where(hidden_rows(scene), np.nan, scene.target)
    if colour_by == "truth":
        return scene.target
    if surface is None:
        return np.full(len(scene.target), np.nan)
    return surface.predicted if colour_by == "prediction" else np.abs(surface.predicted - scene.target)


def trust_range(trust: NDArray | None) -> tuple[float, float]:
    """Return the ends of the colours of trust.

    `trust` (n,): NaN where it is not known; None: of no row. The low end is a percentile in steps of .01, so that the
    colours stand still.
    """
    measured = np.zeros(0) if trust is None else trust[np.isfinite(trust)]
    if not len(measured):
        return CHANCE, 1.0
    return min(float(np.floor(100.0 * np.percentile(measured, LOWEST)) / 100.0), 1.0 - LEAST_SPAN), 1.0


def scale_ends(scene: Scene, colour_by: str, trust: NDArray | None = None) -> tuple[float, float] | None:
    """Return the values at the ends of the scale of colours, or None where colours stand for classes.

    `trust` (n,): as far as it is known.
    """
    if colour_by == "trust":
        return trust_range(trust)
    if scene.task != "regression":
        return None
    return (0.0, largest_error(scene)) if colour_by == "error" else scene.value_range


def colour_layers(scene: Scene, colours: NDArray, colour_by: str) -> tuple[NDArray, int]:
    """Return the layer of a density in which each row counts: rows of a layer have about the same colour.

    `colours` (n,): as of `row_colours`; `colour_by`: one of "label", "truth", "prediction", "error", "trust". Returns
    `layer` (n,); `n_layers`.
    """
    ends = scale_ends(scene, colour_by, colours)
    if ends is not None:
        return value_layers(colours, *ends)
    return colours.astype(np.int64), len(scene.class_names) + 1 + (colour_by == "error")


def scene_density(
    scene: Scene,
    points: NDArray,
    extent: tuple[float, float, float, float],
    surface: Surface | None = None,
    colour_by: str = "label",
    quality: MapQuality | None = None,
) -> Density | None:
    """Return the density of all rows of a scene in their colours, or None where every row is drawn singly.

    `points` (n, 2): where the rows stand; `extent`: (x_low, x_high, y_low, y_high) of the picture; else see
    `row_colours`. Once the trust of some rows is known, only these count.
    """
    if scene.drawn is None:
        return None
    colours = row_colours(scene, surface, colour_by, quality)
    measured = np.isfinite(colours)
    if colour_by == "trust" and measured.any():
        points, colours = points[measured], colours[measured]
    return replace(density(points, *colour_layers(scene, colours, colour_by), extent), colour_by=colour_by)
