"""The meaning of the rows' colours and sizes: labels, predictions, trust, columns of the data, values of the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.density import density, value_layers
from supdr_viz.pictures.fitted_values import DOUBT, LATENT, LOSS, PROBABILITY, depends_on_fit
from supdr_viz.pictures.row_columns import Column, robust_range
from supdr_viz.pictures.types import Density, MapQuality, Scene, Surface

# Trust in a map that knows nothing, about.
CHANCE = 0.5

# Percentile of the rows at which the colours of trust begin, and the least span of these colours.
LOWEST, LEAST_SPAN = 2.0, 0.02

# What colours and sizes can mean, where the name of a column of the data follows.
COLUMN = "column:"

# Columns, classes and coordinates of a kind that a menu offers, at most.
MOST_OFFERED = 300

# Heading, beginning of the keys, and texts, of what a menu offers.
Groups = list[tuple[str, str, list[str]]]

# What colours mean that is part of a scene or of its surface.
LABELS = ("label", "truth", "prediction", "error")

# Those that are classes or values of the target, whose colours decision regions share.
OF_TARGET = ("label", "truth", "prediction")

# Sizes of rows by value: how many there are.
SIZE_LEVELS = 8

# Errors of this share of the range of the target, and larger ones, have the last colour: the scale stands still.
LARGE = 0.5


def hidden_rows(scene: Scene) -> NDArray:
    """Training rows whose label the method does not see."""
    return ~scene.is_test & ~scene.is_labelled


def largest_error(scene: Scene) -> float:
    """Return the absolute error that the last colour of errors stands for."""
    low, high = scene.value_range
    return LARGE * (high - low)


def meaning_of(scene: Scene, colour_by: str) -> str:
    """Return what the colours of a scene mean if this was chosen: labels, where it is of other data."""
    prefix, colon, name = colour_by.partition(":")
    if prefix + colon == COLUMN:
        return colour_by if scene.columns is not None and scene.columns.get(name) is not None else "label"
    if prefix + colon == PROBABILITY:
        return colour_by if name in scene.class_names else "label"
    if colour_by == DOUBT:
        return colour_by if scene.task == "classification" else "label"
    return colour_by if colour_by in (*LABELS, "trust") or depends_on_fit(colour_by) else "label"


def shows_target(scene: Scene, colour_by: str) -> bool:
    """Whether the rows' colours stand for classes or values of the target: only then regions have these colours."""
    return colour_by != "spread" and meaning_of(scene, colour_by) in OF_TARGET


def shown_column(scene: Scene, colour_by: str) -> Column | None:
    """Return the column that colours or sizes stand for; None: they stand for none."""
    if scene.columns is None or not colour_by.startswith(COLUMN):
        return None
    column = scene.columns.get(colour_by.removeprefix(COLUMN))
    return None if column is None else column.grouped


def categories(scene: Scene, colour_by: str) -> tuple[str, ...] | None:
    """Return the names of what colours stand for, in the order of their numbers; None: they stand for values."""
    colour_by = meaning_of(scene, colour_by)
    column = shown_column(scene, colour_by)
    if column is not None:
        return column.categories or None
    return tuple(scene.class_names) if colour_by in LABELS and scene.task == "classification" else None


def value_choices(scene: Scene, n_components: int) -> Groups:
    """Return what else colours and sizes can mean: the key of a choice is its text behind the group's beginning.

    `n_components`: number of latent coordinates.
    """
    columns = scene.columns
    learnt, others = ([], []) if columns is None else (columns.learnt, columns.others)
    groups = [
        ("Method", "", [*([DOUBT] if scene.class_names else []), LOSS]),
        ("Probability", PROBABILITY, list(scene.class_names)),
        ("Latent coordinate", LATENT, [str(number + 1) for number in range(n_components)]),
        ("Column", COLUMN, learnt),
        ("Column not learnt from", COLUMN, others),
    ]
    return [(heading, start, names[:MOST_OFFERED]) for heading, start, names in groups if names]


def meaning_text(colour_by: str) -> str:
    """Say what colours or sizes mean."""
    prefix, colon, name = colour_by.partition(":")
    return {COLUMN: name, PROBABILITY: f"probability of {name}", LATENT: f"z{name}"}.get(prefix + colon, colour_by)


def row_colours(scene: Scene, surface: Surface | None, colour_by: str, quality: MapQuality | None = None) -> NDArray:
    """Return the numbers that stand for the rows' colours.

    `surface`: predictions and what else is computed from the fitted method; without it rows have none of that.
    `colour_by`: one of "label", "truth", "prediction", "error", "trust", "column:NAME" of a column of the data, or a
    key of `pictures.fitted_values`; "label" is meant by what the data do not have. `quality`: without it no row has a
    trust. Returns (n,): of values: NaN where there is none. Of categories: their numbers; the number of categories
    where there is none, and one more for a wrong prediction.
    """
    colour_by = meaning_of(scene, colour_by)
    if colour_by == "trust":
        return np.full(len(scene.code), np.nan) if quality is None else quality.trust
    if depends_on_fit(colour_by):
        return np.full(len(scene.code), np.nan) if surface is None else _computed(scene, surface, colour_by)
    column = shown_column(scene, colour_by)
    if column is not None:
        if not column.categories:
            return column.values
        return np.where(np.isnan(column.values), len(column.categories), column.values).astype(np.uint8)
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
        return np.where(surface.judged < none, surface.judged, none).astype(np.uint8)
    return np.where(surface.errors, none + 1, none).astype(np.uint8)


def _computed(scene: Scene, surface: Surface, key: str) -> NDArray:
    values = surface.values.get(key)
    return np.full(len(scene.code), np.nan) if values is None else values


def row_shapes(scene: Scene, colour_by: str) -> NDArray:
    """Return the numbers of the marks of rows, (n,): one for each category on display, else one for each class."""
    column = shown_column(scene, meaning_of(scene, colour_by))
    if column is not None and column.categories:
        return np.nan_to_num(column.values).astype(int)
    return np.where(hidden_rows(scene), 0, scene.code)


def row_sizes(values: NDArray, ends: tuple[float, float]) -> NDArray:
    """Return the size of each row by its value, (n,): from 0 to `SIZE_LEVELS` - 1; 0 where it has none."""
    share = np.nan_to_num((values - ends[0]) / (ends[1] - ends[0]))
    return np.clip(np.rint((SIZE_LEVELS - 1) * share), 0, SIZE_LEVELS - 1).astype(np.uint8)


def _values(scene: Scene, surface: Surface | None, colour_by: str) -> NDArray:
    if colour_by == "truth":
        return scene.target
    if colour_by not in ("prediction", "error"):
        return np.where(hidden_rows(scene), np.nan, scene.target)
    if surface is None:
        return np.full(len(scene.target), np.nan)
    return surface.judged if colour_by == "prediction" else np.abs(surface.judged - scene.target)


def trust_range(trust: NDArray | None) -> tuple[float, float]:
    """Return the ends of the colours of trust.

    `trust` (n,): NaN where it is not known; None: of no row. The low end is a percentile in steps of .01, so that the
    colours stand still.
    """
    measured = np.zeros(0) if trust is None else trust[np.isfinite(trust)]
    if not len(measured):
        return CHANCE, 1.0
    return min(float(np.floor(100.0 * np.percentile(measured, LOWEST)) / 100.0), 1.0 - LEAST_SPAN), 1.0


def scale_ends(scene: Scene, colour_by: str, values: NDArray | None = None) -> tuple[float, float] | None:
    """Return the values at the ends of the scale of colours, or None where colours stand for categories.

    `values` (n,): what the colours stand for, as far as it is known.
    """
    colour_by = meaning_of(scene, colour_by)
    if colour_by == "trust":
        return trust_range(values)
    if colour_by == DOUBT or colour_by.startswith(PROBABILITY):
        return 0.0, 1.0
    column = shown_column(scene, colour_by)
    if column is not None:
        return None if column.categories else robust_range(column.values)
    if depends_on_fit(colour_by):
        low, high = robust_range(np.zeros(0) if values is None else values)
        return (low, high) if colour_by.startswith(LATENT) else (0.0, high)
    if scene.task != "regression":
        return None
    return (0.0, largest_error(scene)) if colour_by == "error" else scene.colour_range


def colour_layers(scene: Scene, colours: NDArray, colour_by: str) -> tuple[NDArray, int]:
    """Return the layer of a density in which each row counts: rows of a layer have about the same colour.

    `colours` (n,): as of `row_colours`; `colour_by`: as there. Returns `layer` (n,); `n_layers`.
    """
    ends = scale_ends(scene, colour_by, colours)
    if ends is not None:
        return value_layers(colours, *ends)
    named = categories(scene, colour_by)
    assert named is not None
    return colours.astype(np.int64), len(named) + 1 + (colour_by == "error")


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
    colour_by = meaning_of(scene, colour_by)
    colours = row_colours(scene, surface, colour_by, quality)
    measured = np.isfinite(colours)
    if colour_by == "trust" and measured.any():
        points, colours = points[measured], colours[measured]
    return replace(density(points, *colour_layers(scene, colours, colour_by), extent), colour_by=colour_by)
