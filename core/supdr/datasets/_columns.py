"""Columns of a table as numbers: what is usable as a feature, and how a target is coded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supdr.datasets.labels import NUMBER, in_order, label_name
from supdr.datasets.limits import ColumnProblem, FileProblem, Limits, shown

if TYPE_CHECKING:
    import pandas

MAX_LEVELS = 20
EXACT_BELOW = 2**53  # all whole numbers are, in double precision
DATE = "[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ][0-9]{1,2}:[0-9]{2}.*)?"
# Of letters and digits, as a house's number is.
CODE = re.compile(r"(\d+[^\W\d_]|[^\W\d_]+\d)\w*")
# Behind a time; it is the same in all rows of a form, or changes by an hour.
ZONE = r" (GMT|UTC)([+-]\d{1,2}(:?\d{2})?)?$"

DATE_FORMATS = (
    "ISO8601",
    *(
        f"{day}{time}"
        for time in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
        for day in ("%Y/%m/%d", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
    ),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
)


# Of what is written as a number, and read as an infinite one.
BEYOND = re.compile(r".*[0-9].*")
TOO_LARGE = "which is beyond the range of numbers, ±1.8e308"


class Feature(NamedTuple):
    """One column as (n, k) numbers; `kind`: "number", "date", "text", or "mixed" for texts among numbers."""

    names: list[str]
    values: np.ndarray
    kind: str


def kind_of(column: pandas.Series) -> str:
    """Say what a column holds: "number", "yes/no", "text", "date" or "other"."""
    from pandas.api import types

    if types.is_bool_dtype(column.dtype):
        return "yes/no"
    if types.is_numeric_dtype(column.dtype):
        return "number" if column.dtype.kind in "iuf" else "other"
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if column.dtype == object:
        plain = (str, bytes, bool, int, float, np.generic)
        return "text" if all(isinstance(value, plain) for value in column.dropna()) else "other"
    text = isinstance(column.dtype, types.CategoricalDtype) or types.is_string_dtype(column.dtype)
    return "text" if text else "other"


def reads_as_numbers(column: pandas.Series) -> bool:
    """Tell numbers, and text of which at least half of the cells are numbers, but not all: these are text on purpose.

    Declared levels are never numbers, nor are a few levels, such as "1", "2" and "3+", that occur again and again.
    """
    import pandas as pd

    kind = kind_of(column)
    if kind != "text" or isinstance(column.dtype, pd.CategoricalDtype):
        return kind == "number"
    present = column.dropna()
    numbers = pd.to_numeric(present, errors="coerce")
    count = int(numbers.notna().sum())
    if count and count == len(present) and np.isinf(numbers.to_numpy(dtype=np.float64)).any():
        return True  # numbers beyond the range stay as they are written
    levels = present.nunique() <= min(MAX_LEVELS, len(present) // 2)
    return 2 * count >= len(present) > count and not levels and not are_codes(present.astype(str).unique())


def texts_among_numbers(column: pandas.Series) -> pandas.Series:
    """Return the cells of a column of text that are no numbers, missing elsewhere."""
    import pandas as pd

    return column.where(pd.to_numeric(column, errors="coerce").isna())


def are_codes(texts: Iterable[str]) -> bool:
    """Tell codes, such as 135 and 136A: whole numbers, and words of digits and letters."""
    words = [text for text in texts if not text.isdigit()]
    return any(CODE.fullmatch(text) for text in words) and not any(NUMBER.fullmatch(text) for text in words)


def dates_in(column: pandas.Series, month_first: bool = False) -> pandas.Series | None:
    """Read text as dates and times, NaT where missing; None if not all of it can be read in one way.

    `month_first`: the month is before the day where both are possible.
    """
    import pandas as pd

    texts = column.dropna().str.strip()
    if not len(texts) or not texts.str.fullmatch(DATE).all():
        return None
    texts = texts.str.replace(ZONE, "", regex=True)
    formats = (
        sorted(DATE_FORMATS, key=lambda format: ("%m/%d" in format) != month_first) if month_first else DATE_FORMATS
    )
    for format in formats:
        if pd.to_datetime(texts.iloc[:1], format=format, errors="coerce", utc=True).notna().all():
            dates = pd.to_datetime(texts, format=format, errors="coerce", utc=True)
            if dates.notna().all():
                return dates.reindex(column.index)
    return None


def days_of(column: pandas.Series) -> np.ndarray:
    """Return dates as days since 1970 (n,), NaN where missing."""
    import pandas as pd

    # The smallest unit that reaches every year; a date that is missing has the smallest number.
    microseconds = pd.to_datetime(column, utc=True).dt.tz_localize(None).to_numpy("M8[us]").view(np.int64)
    return np.where(column.isna(), np.nan, microseconds / 86_400e6)


def encode_feature(column: pandas.Series, name: str) -> Feature:
    """Turn a column into numbers, as `supdr.datasets.read_file` says; missing cells stay NaN.

    Raises ColumnProblem if the column is empty, neither number nor text, or holds too many texts; FileProblem if a cell
    is infinite.
    """
    kind = kind_of(column)
    if column.isna().all():
        raise ColumnProblem(f"Column {shown(name)} is empty: none of its cells has a value.")
    if kind == "date":
        return Feature([name], days_of(column)[:, None], "date")
    if kind == "other":
        raise ColumnProblem(
            f"Column {shown(name)} holds values of type {column.dtype}; features are numbers, dates, yes/no or text."
        )
    if kind != "text":
        return Feature([name], numbers_from(column, name)[:, None], "number")
    if not reads_as_numbers(column):
        codes, levels = _level_codes(column)
        # the second of two levels says all
        used = range(1, 2) if len(levels) == 2 else range(len(levels))
        return Feature([f"{name}={levels[k]}" for k in used], _indicators(column, name, codes, levels, used), "text")
    texts = texts_among_numbers(column)
    codes, levels = _level_codes(texts)
    indicators = _indicators(column, name, codes, levels, range(len(levels)))
    values = np.column_stack([numbers_from(column.mask(texts.notna()), name), indicators])
    return Feature([name, *(f"{name}={level}" for level in levels)], values, "mixed")


def numbers_from(column: pandas.Series, name: str) -> np.ndarray:
    """Convert a column to float64 (n,), NaN where missing; name the first cell that is no finite number."""
    import pandas as pd

    numbers = column if column.dtype.kind in "iufb" else pd.to_numeric(column, errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    present = column.notna().to_numpy()
    for bad, complaint in (
        (present & np.isnan(values), "which is not a number"),
        (np.isinf(values), "which is not finite"),
    ):
        if bad.any():
            row = int(bad.argmax())
            if np.isinf(values[row]) and BEYOND.fullmatch(str(column.iloc[row]).strip()):
                complaint = TOO_LARGE
            raise FileProblem(f"Column {shown(name)} holds {shown(column.iloc[row])} in row {row + 1}, {complaint}.")
    return values


def encode_target(
    column: pandas.Series, texts: pandas.Series | None, name: str, task: str, limits: Limits
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Code a target for a `Dataset`: y (n,) with NaN where missing, and the target_names.

    Classes are the `texts` as they are written, where these are given.  Raises FileProblem if the target cannot be
    learnt.
    """
    present = column.notna()
    if not present.any():
        raise FileProblem(f"No row is labelled: target {shown(name)} is empty.")
    kind = kind_of(column)
    if kind in ("date", "other") and (texts is None or task == "regression"):
        raise FileProblem(f"Target {shown(name)} must hold numbers or text, it holds {column.dtype}.")
    if task == "regression":
        y = numbers_from(column, name)
        if len(np.unique(y[present])) < 2:
            raise FileProblem(f"Target {shown(name)} has the same value {y[present][0]:g} in all labelled rows.")
        return y, (name,)
    codes, classes = _level_codes(column if texts is None else texts)
    y = np.where(codes < 0, np.nan, codes)
    if len(classes) < 2:
        raise FileProblem(f"Target {shown(name)} has only one class, {shown(classes[0])}; at least two are needed.")
    if len(classes) > limits.max_classes:
        raise FileProblem(
            f"Target {shown(name)} has {len(classes):,} classes; at most {limits.max_classes:,} are read. Is it a"
            " number to be predicted (regression), or not the target?"
        )
    return y, classes


def _indicators(
    column: pandas.Series, name: str, codes: np.ndarray, levels: tuple[str, ...], used: range
) -> np.ndarray:
    """Return a 0/1 column for each level that is used, NaN where the cell is missing: (n, k)."""
    if len(levels) > MAX_LEVELS:
        row = int((codes >= 0).argmax())
        raise ColumnProblem(
            f"Column {shown(name)} holds text with {len(levels):,} different values ({shown(levels[codes[row]])} in row"
            f" {row + 1}); at most {MAX_LEVELS} can be turned into numbers."
        )
    values = np.equal.outer(codes, used).astype(np.float64)
    values[column.isna().to_numpy(dtype=bool)] = np.nan
    return values


def _level_codes(column: pandas.Series) -> tuple[np.ndarray, tuple[str, ...]]:
    """Give the distinct texts numbers, in declared order if there is one, else sorted: codes (n,), −1 where missing.

    Levels that are numbers are sorted in any case: files declare them as text, "10" before "2".
    """
    import pandas as pd

    rows, distinct = pd.factorize(column.astype(object))
    texts = [_as_text(value) for value in distinct]
    if isinstance(column.dtype, pd.CategoricalDtype):
        order = {_as_text(value): None for value in column.cat.categories}
        levels = [level for level in order if level in set(texts)]
        levels = in_order(levels) if all(map(NUMBER.fullmatch, levels)) else levels
    else:
        levels = in_order(set(texts))
    number = {level: k for k, level in enumerate(levels)}
    return np.array([*(number[text] for text in texts), -1])[rows], tuple(levels)


def _as_text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else label_name(value)
