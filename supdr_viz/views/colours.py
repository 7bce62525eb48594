"""The colours of rows in each theme, and what they can mean."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from bokeh.palettes import Viridis256, interp_palette
from numpy.typing import NDArray

from supdr_viz.pictures.fitted_values import DOUBT, LOSS
from supdr_viz.pictures.row_colours import (
    CHANCE,
    categories,
    hidden_rows,
    meaning_of,
    scale_ends,
)
from supdr_viz.pictures.types import MapQuality, Scene
from supdr_viz.ui.theme import palette

# Colours of regression values, low to high, without the ends that fade into a dark or a light background.
SHADES = tuple(Viridis256[24:236])

# Values that say how wrong or doubtful rows are, and those that say the contrary.
DOUBTS, TRUSTS = ("error", "spread", DOUBT, LOSS), ("trust",)

# Number of colours of such a scale.
DOUBT_LEVELS = 180

# Spread of a row's places, as a share of the size of the map, that has the last colour.
LARGE_SPREAD = 0.5

# Rows with less trust, nearer to chance than to 1, are misplaced: they are larger and have a ring.
MISPLACED = (1.0 + CHANCE) / 2

# What a press on the legend selects that is no category.
PICK_ERRORS, PICK_MISPLACED = 10**7, 10**7 + 1

# Class code of a row without a prediction.
UNKNOWN = 255


def colour_choices(scene: Scene) -> dict[str, str]:
    """Return what the colours of the rows can mean by a word; classes whose labels are all seen need few."""
    trust = {"trust": "trust"}
    if hidden_rows(scene).any():
        return {name: name for name in ("label", "truth", "prediction", "error")} | trust
    if scene.task == "regression":
        return {"truth": "label", "prediction": "prediction", "error": "error"} | trust
    return {"class": "label", "prediction": "prediction", "error": "error"} | trust


def misplaced_rows(quality: MapQuality | None, n_rows: int) -> NDArray:
    """Return which rows (n_rows,) have less trust than `MISPLACED`."""
    return np.zeros(n_rows, dtype=bool) if quality is None else quality.trust < MISPLACED


def scale(scene: Scene, colour_by: str, dark: bool, values: NDArray | None = None) -> dict[str, Any]:
    """Return palette and ends of the mapper for `row_colours`; `values` (n,): of these, as far as they are known."""
    colours = palette(dark)
    if colour_by == "spread":
        shades = list(shades_of(colour_by, dark))
        return {"palette": shades, "low": 0.0, "high": LARGE_SPREAD, "nan_color": colours.muted}
    ends, named = scale_ends(scene, colour_by, values), categories(scene, colour_by)
    if named is None:
        assert ends is not None
        shades = list(shades_of(colour_by, dark))
        return {"palette": shades, "low": ends[0], "high": ends[1], "nan_color": colours.muted}
    shades = [colours.classes[code % len(colours.classes)] for code in range(len(named))] + [colours.muted]
    if meaning_of(scene, colour_by) == "error":
        shades.append(colours.error)
    return {"palette": shades, "low": -0.5, "high": len(shades) - 0.5}


@cache
def shades_of(colour_by: str, dark: bool) -> tuple[str, ...]:
    """Return the colours of values from low to high; what is wrong or in doubt stands out."""
    if tells_doubt(colour_by):
        shades = interp_palette(palette(dark).doubts, DOUBT_LEVELS)
        return shades[::-1] if colour_by in TRUSTS else shades
    return SHADES


def tells_doubt(colour_by: str) -> bool:
    """Whether colours of values say how wrong or doubtful rows are."""
    return colour_by in (*DOUBTS, *TRUSTS)


def layer_colours(scene: Scene, n_layers: int, dark: bool, colour_by: str = "label") -> list[str]:
    """Return the colours of the layers of a density: of classes or values, and last of rows without one.

    `colour_by`: see `row_colours.row_colours`. Colours are written as #RRGGBB.
    """
    mapper = scale(scene, colour_by, dark)
    shades = mapper["palette"]
    if "nan_color" not in mapper:
        return shades[:n_layers]
    count = n_layers - 1
    return [*(shades[int((k + 0.5) / count * len(shades))] for k in range(count)), mapper["nan_color"]]
