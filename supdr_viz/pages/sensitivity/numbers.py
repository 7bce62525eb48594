"""How sweeps write values: of parameters beside an axis, of scores in a cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# Letters that have room below an axis, by its chart.
MOST_LETTERS = {"heatmap": 72, "narrow": 34, "curve": 40}

# Labels that have room beside an axis that goes up.
MOST_UP = 10

# Letters between two labels.
BETWEEN = 2


def tick_text(value: Any) -> str:
    """Write a value of a parameter beside an axis."""
    if isinstance(value, float):
        mantissa, _, power = f"{value:.2e}".partition("e")
        if abs(int(power)) > 3:
            return f"{float(mantissa):g}e{int(power)}"
        return f"{value:.3g}"
    return "auto" if value is None else str(value)


def value_text(value: float) -> str:
    """Write the value of a cell in few letters; nothing where there is none."""
    if not math.isfinite(value):
        return ""
    return f"{value:.3f}" if abs(value) < 10.0 else f"{value:.4g}"


def ticks(values: Sequence[Any], where: str = "") -> list[tuple[int, str]]:
    """Return the places of the labels that have room along an axis, with their texts.

    `where`: a key of `MOST_LETTERS` for an axis that goes across; empty: it goes up.
    """
    texts = [tick_text(value) for value in values]
    stride = _stride([len(text) for text in texts], MOST_LETTERS[where]) if where else -(-len(values) // MOST_UP)
    return [(place, texts[place]) for place in range(0, len(values), stride)]


def _stride(lengths: Sequence[int], most: int) -> int:
    """Return the smallest stride at which labels of these lengths do not touch."""
    room = most / len(lengths)
    for stride in range(1, len(lengths)):
        shown = lengths[::stride]
        if all((left + right) / 2 + BETWEEN <= stride * room for left, right in itertools.pairwise(shown)):
            return stride
    return len(lengths)


def place_of(values: Sequence[Any], value: Any) -> float | None:
    """Return where a value stands among the values of an axis, between two of them if need be; None: outside."""
    if value in values:
        return float(list(values).index(value))
    numbers = [each for each in values if isinstance(each, (int, float)) and not isinstance(each, bool)]
    if len(numbers) < len(values) or not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    order = np.argsort(numbers)
    known = np.array(numbers, dtype=float)[order]
    if not known[0] <= value <= known[-1]:
        return None
    scale = np.log if known[0] > 0 else np.asarray
    return float(np.interp(scale(float(value)), scale(known), order.astype(float)))
