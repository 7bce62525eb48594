"""How sweeps write values: of parameters beside an axis, of scores in a cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from supdr.sensitivity.scoring import CLUSTERS
from supdr_viz.data.number_format import RAISED, mean_text

# Metrics that are shares of rows, neighbours or clusters; "knn_error" is one of classes only.
SHARES = frozenset({"error", "accuracy", "support_fraction", "neighbourhood_overlap", *CLUSTERS, "stability"})

# Letters that have room below an axis, by its chart.
MOST_LETTERS = {"heatmap": 72, "strip": 120, "narrow": 34, "curve": 42}

# Labels that have room beside an axis that goes up.
MOST_UP = 10

# Letters between two labels.
BETWEEN = 2

# Width of the letters of powers, beside that of others.
NARROW = 0.6


def tick_text(value: Any) -> str:
    """Write a value of a parameter beside an axis: 0.01 or 10⁻³, as on the logarithmic axes of the other pages."""
    if isinstance(value, float):
        mantissa, _, power = f"{value:.2e}".partition("e")
        exponent, digits = int(power), f"{float(mantissa):g}"
        if abs(exponent) > 3 or (abs(exponent) == 3 and digits == "1"):
            return ("" if digits == "1" else f"{digits}·") + "10" + str(exponent).translate(RAISED)
        return f"{value:.3g}"
    return "auto" if value is None else str(value)


def tick_texts(values: Sequence[Any]) -> list[str]:
    """Write the values of an axis in one notation: 10⁻² instead of 0.01 beside 10⁻³."""
    texts = [tick_text(value) for value in values]
    if not any("10⁻" in text for text in texts):
        return texts
    return [_power(value) or text for value, text in zip(values, texts)]


def _power(value: Any) -> str:
    """Write a power of ten below 1 as such; empty: it is none."""
    mantissa, _, power = f"{value:.2e}".partition("e") if isinstance(value, float) else ("", "", "0")
    return "10" + str(int(power)).translate(RAISED) if float(mantissa or 0) == 1.0 and int(power) < 0 else ""


def in_per_cent(metric: str, task: str) -> bool:
    """Whether scores of a metric are shown in per cent, as on the other pages."""
    return metric in SHARES or (metric == "knn_error" and task == "classification")


def value_text(value: float, *, percent: bool) -> str:
    """Write a mean score in few letters; nothing where there is none."""
    if not math.isfinite(value):
        return ""
    if percent:
        return f"{value:.1f}\u00a0%"
    return f"{value:.3f}" if abs(value) < 10.0 else f"{value:.4g}"


def score_text(mean: float, deviation: float, *, percent: bool) -> str:
    """Write a mean score and its deviation; a deviation that is not finite is left out."""
    if not percent:
        return mean_text(mean, deviation)
    return f"{mean:.1f} ± {deviation:.1f}\u00a0%" if math.isfinite(deviation) else value_text(mean, percent=True)


def difference_text(value: float, *, percent: bool) -> str:
    """Write the difference of two mean scores; of per cents it is in percentage points."""
    if not math.isfinite(value):
        return ""
    return f"{value:+.1f}" if percent else f"{value:+.3f}"


def ticks(values: Sequence[Any], where: str = "") -> list[tuple[int, str]]:
    """Return the places of the labels that have room along an axis, at equal distances but for the last one.

    `where`: a key of `MOST_LETTERS` for an axis that goes across; empty: it goes up. Returns places with their texts.
    """
    texts = tick_texts(values)
    stride = _stride([*map(_wide, texts)], MOST_LETTERS[where]) if where else -(-len(values) // MOST_UP)
    last = max(len(values) - 1, 1)
    # Both ends have a label where that takes no more than twice the distance.
    stride = next((each for each in range(stride, 2 * stride + 1) if last % each == 0), stride)
    places = list(range(0, len(values), stride))
    if len(places) > 1:
        places[-1] = len(values) - 1  # both ends have one, at whatever distance
    return [(place, texts[place]) for place in places]


def _wide(text: str) -> float:
    """Return how wide a label is, in letters."""
    return sum(NARROW if ord(letter) in RAISED.values() else 1.0 for letter in text)


def _stride(lengths: Sequence[float], most: int) -> int:
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
    ordered = np.array(numbers, dtype=float)[order]
    if not ordered[0] <= value <= ordered[-1]:
        return None
    scale = np.log if ordered[0] > 0 else np.asarray
    return float(np.interp(scale(float(value)), scale(ordered), order.astype(float)))
