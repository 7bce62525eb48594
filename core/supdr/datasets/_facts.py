"""What there is to know of a column before it is used: its cells in figures, and whether it is a feature at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._columns import MAX_LEVELS, days_of, kind_of, reads_as_numbers, texts_among_numbers

if TYPE_CHECKING:
    import pandas

BINS = 12
ID_NAME = re.compile(r"(.*[_\s.-])?(id|uid|uuid|guid|key|index|idx|nr|no|row|rownum|row[_ ]?number)", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnFacts:
    """What a column of a file holds.

    Attributes
    ----------
    name : str
    kind : {"number", "yes/no", "text", "date", "other"}
    missing, distinct : int
        Cells without a value; different values among the others.
    histogram : tuple of int
        Counts of numbers and dates in up to 12 equal bins, or of the up to 12 most frequent texts.
    against : str
        Why it had better be left out, in a word or two; empty: it is a feature.
    """

    name: str
    kind: str
    missing: int
    distinct: int
    histogram: tuple[int, ...]
    against: str = ""


def facts_of(column: pandas.Series, name: str) -> ColumnFacts:
    """Return the facts of one column; the `against` of a column that is no feature is not empty."""
    kind = "number" if reads_as_numbers(column) else kind_of(column)
    present = column.dropna()
    if kind == "number" and kind_of(column) == "text":
        texts = texts_among_numbers(present)
        facts = facts_of(present[texts.isna()].astype(float), name)
        distinct, many = texts.nunique(), f"text of more than {MAX_LEVELS} values among numbers"
        return replace(
            facts,
            missing=int(len(column) - len(present)),
            distinct=facts.distinct + distinct,
            against=many if distinct > MAX_LEVELS else facts.against,
        )
    if kind == "number":
        numbers = _numbers(present)
        distinct, histogram = len(np.unique(numbers)), _binned(numbers)
    elif kind == "date":
        distinct, histogram = int(present.nunique()), _binned(days_of(present))
    elif kind == "other":
        distinct, histogram = len(present), ()
    else:
        counts = present.value_counts()
        distinct, histogram = len(counts), tuple(int(count) for count in counts[:BINS])
    against = _against(present, name, kind, distinct)
    return ColumnFacts(name, kind, int(len(column) - len(present)), distinct, histogram, against)


def _numbers(present: pandas.Series) -> np.ndarray:
    import pandas as pd

    numbers = present if present.dtype.kind in "iuf" else pd.to_numeric(present, errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return values[np.isfinite(values)]


def _binned(values: np.ndarray) -> tuple[int, ...]:
    if not len(values):
        return ()
    bins = min(BINS, len(np.unique(values)))
    values = values / max(np.abs(values).max(), np.finfo(float).tiny)  # ends that are far apart overflow
    if np.ptp(values) <= 1e-12:
        return (len(values),)  # no room for bins between the ends
    return tuple(int(count) for count in np.histogram(values, bins)[0])


def _against(present: pandas.Series, name: str, kind: str, distinct: int) -> str:
    if not len(present):
        return "empty"
    if kind == "date":
        return "a date"
    if kind == "other":
        return "neither number nor text"
    if distinct == 1:
        return "constant"
    if distinct == len(present) and kind == "text" and (ID_NAME.fullmatch(name) or distinct > MAX_LEVELS):
        return "an id"
    if kind == "text" and distinct > MAX_LEVELS:
        return f"text of more than {MAX_LEVELS} values"
    if kind != "number":
        return ""
    values = _numbers(present)
    if len(values) < len(present):
        return "not all finite numbers"
    if 2 * distinct > len(present) > 2:
        whole, named = (values == np.floor(values)).all(), ID_NAME.fullmatch(name)
        if whole and (named or (distinct == len(present) and (np.diff(values) == 1).all())):
            return "an id"
    return ""
