"""Plots as plain arrays: both backends draw these, so that they show the same in the same colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from supdr_viz.ui.theme import Palette

# More different labels than these, or labels that are not whole, are values and not classes.
MANY_VALUES = 12

UNLABELLED = "unlabelled"


@dataclass(frozen=True)
class Scale:
    """The meaning of colours.

    `names`: of the classes; a value is the number of its class.  Empty: values are values. `limits`: ends of the scale
    of values. `first`: colour of the first class.
    """

    names: tuple[str, ...] = ()
    limits: tuple[float, float] = (0.0, 1.0)
    first: int = 0

    def colours(self, palette: Palette) -> list[str]:
        """Return the colour of every class, or those of the values from low to high."""
        wheel = palette.classes
        if not self.names:
            return list(palette.regions)
        return [wheel[(self.first + number) % len(wheel)] for number in range(len(self.names))]


@dataclass(frozen=True, eq=False)
class PlaneFunction:
    """A function over a plane.

    `values` (r, r): at the centres of the cells, the lowest row first; `extent`: (x_low, x_high, y_low, y_high).
    """

    name: str
    values: NDArray
    extent: tuple[float, float, float, float]
    scale: Scale


@dataclass(frozen=True, eq=False)
class PlaneChart:
    """Rows in a plane, and what is predicted over it.

    `points` (n, 2). `values` (n,): NaN: unlabelled.  None: all rows look the same.
    """

    title: str
    axis_names: tuple[str, str]
    points: NDArray
    values: NDArray | None
    scale: Scale
    surface: PlaneFunction | None = None


@dataclass(frozen=True, eq=False)
class CurveChart:
    """Curves over iterations.

    `curves`: one value per iteration.
    """

    title: str
    curves: dict[str, NDArray]
    log: bool


@dataclass(frozen=True, eq=False)
class SweepChart:
    """A score over one or two parameters.

    `names`: of the one or two parameters. `labels`: their values. `mean`, `spread`: one axis per parameter; NaN: not
    computed yet.
    """

    title: str
    metric: str
    names: tuple[str, ...]
    labels: tuple[list[str], ...]
    mean: NDArray
    spread: NDArray


def read_labels(y: ArrayLike, n_rows: int, classes: Any = None) -> tuple[NDArray, Scale, dict[Any, int]]:
    """Read labels as numbers of classes, or as values.

    `y` (n,): NaN or None: unlabelled; `n_rows`: number of rows that need a label; `classes`: those of the estimator:
    they have the first colours, in this order, also where `y` lacks some of them. Returns `values` (n,): NaN:
    unlabelled; `scale`; `numbers`: class -> its number; empty for values. Raises ValueError if there is not a label for
    every row.
    """
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        got = len(labels) if labels.ndim == 1 else f"an array of shape {labels.shape}"
        raise ValueError(f"y must have a label for each of the {n_rows} rows; got {got}")
    listed = labels.tolist()
    labelled = [value for value in listed if not _missing(value)]
    learnt = [] if classes is None else np.asarray(classes).tolist()
    distinct = set(labelled)
    if not distinct <= set(learnt) and labels.dtype.kind in "fiu" and _are_values(distinct):
        values = labels.astype(float)
        return values, Scale(limits=spread(values)), {}
    new = distinct - set(learnt)
    order = learnt + (sorted(new) if len({type(value) for value in new}) <= 1 else sorted(new, key=str))
    numbers = {value: number for number, value in enumerate(order)}
    codes = np.array([np.nan if _missing(value) else numbers[value] for value in listed], dtype=float)
    return codes, Scale(tuple(map(label, order))), numbers


def spread(*values: NDArray) -> tuple[float, float]:
    """Return the least and the greatest of all known values, somewhat apart."""
    finite = np.concatenate([each[np.isfinite(each)] for each in values])
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def label(value: Any) -> str:
    """Write a label or a parameter."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _are_values(distinct: set[Any]) -> bool:
    return len(distinct) > MANY_VALUES or not all(float(value).is_integer() for value in distinct)


def _missing(value: Any) -> bool:
    return bool(pd.isna(value))
