"""What the colours of rows mean: the label that the method sees, the truth, the prediction, its error, or trust."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.palettes import Plasma256, Viridis256
from numpy.typing import NDArray

from supdr_viz.pictures.density import value_layers
from supdr_viz.pictures.types import MapQuality, Scene, Surface
from supdr_viz.ui.theme import palette

# Colours of regression values, low to high, without the ends that fade into a dark or a light background.
SHADES = tuple(Viridis256[24:236])

# Colours of absolute errors, none to large.
ERROR_SHADES = tuple(Plasma256[56:236])

# Colours of trust, from its low percentile to 1: what is wrong is bright, as in errors.
TRUST_SHADES = ERROR_SHADES[::-1]

# Trust in a map that knows nothing, about.
CHANCE = 0.5

# Percentile of the rows at which the colours of trust begin, and the least span of these colours.
LOWEST, LEAST_SPAN = 2.0, 0.02

# Rows with less trust, nearer to chance than to 1, are misplaced: they are larger and have a ring.
MISPLACED = (1.0 + CHANCE) / 2

# Errors of this share of the range of the target, and larger ones, have the last colour: the scale stands still.
LARGE = 0.5

# Class code of a row without a prediction.
UNKNOWN = 255


def hidden_rows(scene: Scene) -> NDArray:
    """Training rows whose label the method does not see."""
    return ~scene.is_test & ~scene.is_labelled


def colour_choices(scene: Scene) -> dict[str, str]:
    """Return what the colours of the rows can mean, as word -> key; classes whose labels are all seen need few."""
    trust = {"trust": "trust"}
    if hidden_rows(scene).any():
        return {name: name for name in ("label", "truth", "prediction", "error")} | trust
    if scene.task == "regression":
        return {"truth": "label", "prediction": "prediction", "error": "error"} | trust
    return {"class": "label"} | trust


def largest_error(scene: Scene) -> float:
    """Return the absolute error that the last of `ERROR_SHADES` stands for."""
    low, high = scene.value_range
    return LARGE * (high - low)


def trust_range(trust: NDArray | None) -> tuple[float, float]:
    """Return the ends of the colours of trust.

    `trust` (n,): NaN where it is not known; None: of no row. The low end is a percentile in steps of .01, so that the
    colours stand still.
    """
    known = np.zeros(0) if trust is None else trust[np.isfinite(trust)]
    if not len(known):
        return CHANCE, 1.0
    return min(float(np.floor(100.0 * np.percentile(known, LOWEST)) / 100.0), 1.0 - LEAST_SPAN), 1.0


def misplaced_rows(truth: MapQuality | None, n_rows: int) -> NDArray:
    """Return which rows (n_rows,) have less trust than `MISPLACED`."""
    return np.zeros(n_rows, dtype=bool) if truth is None else truth.trust < MISPLACED


def row_colours(scene: Scene, surface: Surface | None, colour_by: str, truth: MapQuality | None = None) -> NDArray:
    """Return what the mapper of `scale` turns into the rows' colours.

    `surface`: predictions; without them rows have no prediction and no error. `colour_by`: one of "label", "truth",
    "prediction", "error", "trust". `truth`: without it no row has a trust. Returns (n,): trust: NaN where it is not
    known.  Regression: values, NaN where there is none.  Classification: class codes; the number of classes where there
    is none, and one more for a wrong prediction.
    """
    if colour_by == "trust":
        return np.full(len(scene.code), np.nan) if truth is None else truth.trust
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


def scale(scene: Scene, colour_by: str, dark: bool, trust: NDArray | None = None) -> dict[str, Any]:
    """Return palette and ends of the mapper for `row_colours`; `trust` (n,): as far as it is known."""
    colours = palette(dark)
    if colour_by == "trust":
        low, high = trust_range(trust)
        return {"palette": list(TRUST_SHADES), "low": low, "high": high, "nan_color": colours.muted}
    if scene.task == "regression":
        if colour_by == "error":
            return {"palette": list(ERROR_SHADES), "low": 0.0, "high": largest_error(scene), "nan_color": colours.muted}
        low, high = scene.value_range
        return {"palette": list(SHADES), "low": low, "high": high, "nan_color": colours.muted}
    n_classes = len(scene.class_names)
    shades = [colours.classes[code % len(colours.classes)] for code in range(n_classes)] + [colours.muted]
    if colour_by == "error":
        shades.append(colours.error)
    return {"palette": shades, "low": -0.5, "high": len(shades) - 0.5}


def colour_layers(scene: Scene, colours: NDArray, colour_by: str) -> tuple[NDArray, int]:
    """Return the layer of a density in which each row counts: rows of a layer have about the same colour.

    `colours` (n,): as of `row_colours`; `colour_by`: one of "label", "truth", "prediction", "error", "trust". Returns
    `layer` (n,); `n_layers`.
    """
    found = scale(scene, colour_by, dark=False, trust=colours if colour_by == "trust" else None)
    if "nan_color" in found:
        return value_layers(colours, found["low"], found["high"])
    return colours.astype(np.int64), len(found["palette"])


def layer_colours(scene: Scene, n_layers: int, dark: bool, colour_by: str = "label") -> list[str]:
    """Return the colours of the layers of a density: of classes or values, and last of rows without one.

    `colour_by`: one of "label", "truth", "prediction", "error", "trust". Colours are written as #RRGGBB.
    """
    found = scale(scene, colour_by, dark)
    shades = found["palette"]
    if "nan_color" not in found:
        return shades[:n_layers]
    count = n_layers - 1
    return [*(shades[int((k + 0.5) / count * len(shades))] for k in range(count)), found["nan_color"]]
