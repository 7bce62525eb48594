"""Cells of text: what pandas reads as numbers is one, what reads as a date is one, and the rest stays text.

What people may have meant beyond that (units, thousands, decimal commas, limits, spellings) is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supdr.datasets._columns import BEYOND, MAX_LEVELS, dates_in
from supdr.datasets.labels import NUMBER
from supdr.datasets.proposals import MERGING, Rules

if TYPE_CHECKING:
    import pandas

# Other digits, such as those of full width, stay text; and pandas looks for \d in texts beyond ASCII cell by cell.
D = "[0-9]"
# Share of the cells that must be numbers for the others to be slips.
MOSTLY = 0.9
# Digits in a text beyond which whole numbers may become one as float64, and zeros in front of one.
CODE = rf"[+-]?(?:0{D}+|{D}{{16,}}(?:\.0*)?)"
WHOLE = rf"([+-]?{D}+)(?:\.0*)?"
SMALL = re.compile("[^eE]*[1-9]")  # of what is read as 0
THOUSANDS = rf"[+-]?[1-9]{D}{{0,2}}(?:[.,]{D}{{3}})+"
# What pandas may read as a number.
NUMERIC = f"[+-]?(?:[0-9.]+(?:[eE][+-]?{D}+)?|(?i:inf|infinity|nan))"
# Decimal mark -> where it cannot be a mark between thousands.
DECIMAL = {
    mark: f"(?:{D}[{mark}](?:{D}{{1,2}}|{D}{{4,}})|(?:^|[^0-9])[{mark}]{D}+)(?:[^0-9]|$)|[{other}]{D}*[{mark}]{D}"
    for mark, other in (".,", ",.")
}
# Decimal mark -> what may stand between thousands.
SEPARATORS = {".": ",'\u2019 \u00a0\u202f", ",": ".'\u2019 \u00a0\u202f"}
DROPPED = {mark: dict.fromkeys(map(ord, between)) for mark, between in SEPARATORS.items()}
SIGNS = "[$€£¥%]|EUR|USD|CHF|GBP|JPY|SEK|NOK|DKK|PLN|CZK|INR|CNY|CAD|AUD|BRL"
# What stands behind a number for thousands, millions and billions -> the power of ten.
SCALES = {"k": 3, "K": 3, "M": 6, "B": 9}
UNIT = r"[^\W\d_][\w./²³°·%]{0,11}|°\w?"
# Limit, parenthesis, sign, currency, sign, number, unit, parenthesis.
PATTERNS = {
    mark: re.compile(
        r"([<>≤≥]=? ?)?(\()?([+\-\u2212])?[ \u00a0]*"
        rf"(?:({SIGNS})[ \u00a0]?([+\-\u2212])?)?"
        rf"((?:(?:[1-9]{D}{{0,2}}(?:[{between}]{D}{{3}})+|{D}+)(?:[{mark}]{D}*)?|[{mark}]{D}+)(?:[eE][+-]?{D}+)?)"
        rf"(?:[ \u00a0]?({SIGNS}|{UNIT}))?(\))?"
    )
    for mark, between in SEPARATORS.items()
}
MINUS = ("-", "\u2212")
TRUTHS = ({"true", "false"}, {"TRUE", "FALSE"}, {"True", "False"})


@dataclass(frozen=True)
class Grid:
    """Texts of a table, which of them are missing, codes, or numbers; all of shape (n, m).

    `texts`: the columns 0, 1, …; `values`: NaN where a cell is no number; `settled`: cells that are missing or numbers.
    """

    texts: pandas.DataFrame
    missing: NDArray[np.bool_]
    codes: NDArray[np.bool_]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, texts: pandas.DataFrame, missing: Sequence[str]) -> Grid:
        """Return the grid of texts; `missing`: those that stand for a missing cell."""
        import pandas as pd

        flat = pd.concat([texts[j] for j in texts], ignore_index=True).str.strip()
        shape = (texts.shape[1], len(texts))
        # Words are sorted out first: pandas takes several times as long to find that one is no number.
        values = pd.to_numeric(flat.where(flat.str.fullmatch(NUMERIC)), errors="coerce").to_numpy(
            dtype=np.float64, na_value=np.nan
        )
        masks = (flat.isin(list(missing)), flat.str.fullmatch(CODE))
        missed, codes = (mask.to_numpy(dtype=bool).reshape(shape).T for mask in masks)
        return cls(texts, missed, codes, values.reshape(shape).T)

    @cached_property
    def settled(self) -> NDArray[np.bool_]:
        """Which cells are missing or numbers, (n, m)."""
        return self.missing | ~np.isnan(self.values)

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, chosen: NDArray[np.bool_]) -> Grid:
        """Return some of the rows."""
        parts = (self.missing[chosen], self.codes[chosen], self.values[chosen])
        return Grid(self.texts[chosen].reset_index(drop=True), *parts)

    def equal_to(self, cells: list[str]) -> NDArray[np.bool_]:
        """Tell rows that hold these texts, bool (n,)."""
        equal = np.ones(len(self), dtype=bool)
        for j, cell in enumerate(cells):
            if equal.any():
                equal[equal] = self.texts.loc[equal, j].str.strip().eq(cell.strip()).to_numpy(dtype=bool)
        return equal


def typed(
    grid: Grid, names: list[str], as_text: list[bool], rules: Rules, delimiter: str
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Return every column with its type, and their texts, None where missing; some are declared to be text."""
    import pandas as pd

    texts = {name: _present(grid, j) for j, name in enumerate(names)}
    _count_markers(grid, rules)
    columns: dict[str, pandas.Series] = {}
    readings: dict[str, tuple[Reading, Reading]] = {}
    for j, (name, column) in enumerate(texts.items()):
        columns[name] = column
        if as_text[j] or _is_code(grid, j, column, name, rules) or _are_too_small(grid, j, name, rules):
            continue
        if grid.settled[:, j].all() and not _beyond(grid, j):
            columns[name] = pd.Series(np.where(grid.missing[:, j], np.nan, grid.values[:, j]))
        elif (read := _truths(column)) is not None or (read := _dates(column, name, rules)) is not None:
            columns[name] = read
        elif column.str.contains(D).mean() >= 0.5:
            readings[name] = _both_readings(column)
    numbers = [name for name in names if columns[name].dtype.kind == "f"]
    decimal = _decimal_mark(readings.values(), (texts[name] for name in numbers), delimiter)
    if decimal == "," and any(len(pair[1].beyond) for pair in readings.values()):
        for name in (name for name in numbers if _thousands(texts[name])):
            columns[name] = _thousandfold(columns[name], texts[name], name, rules)
    for name, pair in readings.items():
        columns[name] = _numbers(columns[name], name, pair, decimal, rules)
    for name in names:
        if columns[name] is texts[name]:
            texts[name] = columns[name] = _spelt(texts[name], name, rules)
    return pd.DataFrame(columns), pd.DataFrame(texts)


def _beyond(grid: Grid, j: int) -> bool:
    """Whether a column holds numbers beyond the range, which would be infinite."""
    return bool(grid.texts.loc[np.isinf(grid.values[:, j]), j].str.fullmatch(BEYOND.pattern).any())


def _are_too_small(grid: Grid, j: int, name: str, rules: Rules) -> bool:
    """Whether a column stays text, as some of its numbers would be 0 in double precision, which is not accepted."""
    zeros = grid.texts.loc[grid.values[:, j] == 0, j]
    small = [text for text in zeros.unique() if SMALL.match(text)]
    count, text = int(zeros.isin(small).sum()) if small else 0, "Read as 0, as they are too small for a number"
    return bool(small) and not rules.propose("small", text, count, column=name, example=small[0], default=True)


def _both_readings(column: pandas.Series) -> tuple[Reading, Reading]:
    """Return how the texts of a column read with decimal points, and with decimal commas.

    One of the two is empty where some texts can only have the other mark, and none this one.
    """
    counted = column.value_counts()
    counts = dict(zip(counted.index.to_numpy(dtype=object).tolist(), counted.tolist()))
    points, commas = (bool(column.str.contains(DECIMAL[mark]).any()) for mark in ".,")
    point = Reading.of({} if commas and not points else counts, ".")
    if not (points or commas or column.str.contains("[.,]").any()):
        return point, point
    return point, Reading.of({} if points and not commas else counts, ",")


def _present(grid: Grid, j: int) -> pandas.Series:
    """Return the texts of a column, without spaces around them unless some differ by these only."""
    texts = grid.texts[j].mask(grid.missing[:, j])
    bare = texts.str.strip()
    return bare if bare.equals(texts) or bare.nunique() == texts.nunique() else texts


def _count_markers(grid: Grid, rules: Rules) -> None:
    """Count the texts that stand for missing cells."""
    for j in np.flatnonzero(grid.missing.any(axis=0)):
        texts = grid.texts.loc[grid.missing[:, j], j].str.strip()
        for marker, count in texts[texts != ""].value_counts().items():
            rules.count_marker(marker, int(count))


def _is_code(grid: Grid, j: int, column: pandas.Series, name: str, rules: Rules) -> bool:
    """Tell codes: whole numbers some of which would become one, with zeros in front or of very many digits."""
    if not (grid.codes[:, j].any() and grid.settled[:, j].all()):
        return False
    return are_merged(column, grid.values[:, j], name, rules)


def are_merged(texts: pandas.Series, values: NDArray[np.float64], name: str, rules: Rules) -> bool:
    """Whether whole numbers that double precision would make one stay texts; it is proposed that they do not."""
    whole = texts.str.extract(f"^{WHOLE}$", expand=False)
    present = whole.notna().to_numpy()
    if whole.nunique() == len(np.unique(values[present])):
        return False
    return not rules.propose("codes", MERGING, int(present.sum()), column=name, example=str(texts[present].iloc[0]))


def _truths(column: pandas.Series) -> pandas.Series | None:
    """Read a column of true and false."""
    distinct = column.dropna().unique()
    truths = next((words for words in TRUTHS if 0 < len(distinct) <= len(words) and set(distinct) <= words), None)
    return None if truths is None else column.str.lower().map({"true": True, "false": False}).astype("boolean")


def _dates(column: pandas.Series, name: str, rules: Rules) -> pandas.Series | None:
    """Read a column of dates, the day before the month where both are possible and nothing else was decided."""
    dates = dates_in(column)
    other = None if dates is None else dates_in(column, month_first=True)
    if dates is None or other is None or dates.equals(other):
        return dates
    text, example = "Read as dates, the month before the day", str(column.dropna().iloc[0])
    return (
        other if rules.propose("month first", text, int(column.notna().sum()), column=name, example=example) else dates
    )


@dataclass(frozen=True)
class Reading:
    """One way to read the texts of a column as numbers: with signs, a unit, marks between thousands, parentheses.

    `counts`: how often each text of the column occurs, read or not; `decimal`: the mark; `texts`: what is read -> how
    Python writes it; `limits`: the same of limits, such as "<5"; `scaled`: the same of thousands and more, such as
    "50K", where not all have the same letter; `beyond`: texts that are no numbers as they are written; `unit`: what
    stands at most of them; `alike`: whether it stands at all.
    """

    counts: dict[str, int]
    decimal: str
    texts: dict[str, str]
    limits: dict[str, str]
    scaled: dict[str, str]
    beyond: list[str]
    unit: str
    alike: bool

    @classmethod
    def of(cls, counts: dict[str, int], decimal: str) -> Reading:
        """Return the reading of the texts that have no unit, or the one that most have."""
        found = {text: part for text in counts if (part := _number_in(text.strip(), decimal)) is not None}
        parts = {text: part for text, part in found.items() if np.isfinite(float(part[0]))}
        sizes: dict[str, int] = {}
        for text, (_, unit, _, _) in parts.items():
            sizes[unit] = sizes.get(unit, 0) + counts[text]
        common = max(sizes, key=lambda unit: sizes[unit], default="")
        usual = common if common and sizes[common] >= MOSTLY * sum(sizes.values()) else ""
        if usual in SCALES and sum(unit in SCALES for unit in sizes) > 1:
            usual = ""  # without their letters they would not be of one size
        texts, limits, scaled, beyond, units = {}, {}, {}, [], set()
        for text, (number, unit, _, limit) in parts.items():
            if unit in SCALES and unit != usual and not limit and "e" not in number.lower():
                scaled[text] = f"{number}e{SCALES[unit]}"
            if unit in ("", usual) and limit:
                limits[text] = number
            elif unit in ("", usual):
                texts[text] = number
                units.add(unit)
                if unit or not NUMBER.fullmatch(text.strip()):
                    beyond.append(text)
        written = next((behind for _, unit, behind, _ in parts.values() if unit == usual), "") if usual else ""
        return cls(counts, decimal, texts, limits, scaled, beyond, written, len(units) <= 1)

    @cached_property
    def share(self) -> float:
        """Share of the cells that are read."""
        return self.count([*self.texts, *self.scaled]) / max(1, sum(self.counts.values()))

    @cached_property
    def merges(self) -> bool:
        """Whether different texts become one number."""
        return len(set(self.texts.values())) < len(self.texts)

    def count(self, texts: Iterable[str]) -> int:
        """Return how many cells hold these texts."""
        return sum(map(self.counts.__getitem__, texts))

    def rule(self) -> tuple[str, str]:
        """Return what is done, and an example."""
        text = self.beyond[0]
        if self.unit and not re.fullmatch(SIGNS, self.unit):
            return "Read as numbers without their unit", self.unit
        if self.decimal == "," and all(re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", each) for each in self.beyond):
            return "Numbers have decimal commas", f"{text} is {self.texts[text]}"
        return "Read as numbers without signs and marks", f"{text} is {self.texts[text]}"


def _number_in(text: str, decimal: str) -> tuple[str, str, str, str] | None:
    """Return a number as Python writes it, its unit without the s of a plural, what is behind it, and its limit."""
    match = PATTERNS[decimal].fullmatch(text)
    if match is None:
        return None
    limit, opened, minus, before, then, number, behind, closed = match.groups("")
    if bool(opened) != bool(closed) or (minus and then):
        return None
    number = number.translate(DROPPED[decimal]).replace(decimal, ".")
    negative = opened or minus in MINUS or then in MINUS
    return f"-{number}" if negative else number, (before + behind).removesuffix("s"), behind, limit


def _decimal_mark(readings: Iterable[tuple[Reading, Reading]], numbers: Iterable[pandas.Series], delimiter: str) -> str:
    """Tell decimal commas from decimal points by what can only be one of them; empty if both are seen."""
    commas = any(comma.share > max(point.share, MOSTLY) for point, comma in readings)
    if not commas:
        points = any(point.share > max(comma.share, MOSTLY) for point, comma in readings)
        return "." if points or delimiter != ";" else ","
    points = any(column.str.contains(".", regex=False).any() and not _thousands(column) for column in numbers)
    return "" if points else ","


def _thousands(column: pandas.Series) -> bool:
    """Whether the fractions of a column of numbers all look like thousands."""
    fractions = column[column.str.contains(".", regex=False).fillna(False)]
    return bool(len(fractions)) and bool(fractions.str.fullmatch(THOUSANDS).all())


def _thousandfold(column: pandas.Series, texts: pandas.Series, name: str, rules: Rules) -> pandas.Series:
    """Read points in numbers as marks between thousands, if that is accepted: other columns have decimal commas."""
    import pandas as pd

    points = texts.str.contains(".", regex=False).fillna(False)
    text, example = "Points are between thousands, as others are decimal commas", str(texts[points].iloc[0])
    if not rules.propose("thousands", text, int(points.sum()), column=name, example=example):
        return column
    return pd.to_numeric(texts.str.replace(".", "")).astype(np.float64)


def _numbers(
    column: pandas.Series, name: str, pair: tuple[Reading, Reading], decimal: str, rules: Rules
) -> pandas.Series:
    """Read a column of text as numbers as far as that is accepted."""
    point, comma = pair
    both = point.share == comma.share and point.texts != comma.texts
    best = (comma if decimal == "," else point) if both else max(pair, key=lambda each: each.share)
    total = sum(best.counts.values())
    if best.share < 0.5:
        return column
    plain = dict(best.texts)
    if best.beyond:
        text, example = best.rule()
        levels = best.share < 1 and len(set(plain.values())) <= MAX_LEVELS
        sure = best.alike and not best.merges and not levels and (bool(decimal) or not both)
        count = best.count(best.beyond)
        if not rules.propose("numbers", text, count, column=name, example=example, default=sure):
            plain = {text: plain[text] for text in plain.keys() - set(best.beyond)}
    if best.limits:
        text, example = "Read as numbers where they are limits", next(iter(best.limits))
        if rules.propose("limits", text, best.count(best.limits), column=name, example=example):
            plain |= best.limits
    if best.scaled:
        text, (letters, number) = "Read K as thousands, M as millions, B as billions", next(iter(best.scaled.items()))
        example = f"{letters} is {float(number):.15g}"
        if rules.propose("scale", text, best.count(best.scaled), column=name, example=example):
            plain |= best.scaled
    strays = [text for text in best.counts if text not in plain]
    count = best.count(strays)
    if 2 * count > total:
        return column
    if strays and not rules.propose("missing", "Read as missing", count, column=name, example=strays[0]):
        as_written = all(text == number for text, number in plain.items())
        return column if as_written else column.map({**dict(zip(strays, strays)), **plain}).astype(column.dtype)
    return column.map({text: float(number) for text, number in plain.items()}).astype(np.float64)


def _spelt(column: pandas.Series, name: str, rules: Rules) -> pandas.Series:
    """Write words that differ in capitals and spaces in their most frequent way, if that is accepted."""
    counts = column.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    words: dict[str, str] = {}
    for text in counts.index:
        words.setdefault(" ".join(text.split()).casefold(), text.strip())
    if len(words) == len(counts):
        return column
    spelling = {text: words[" ".join(text.split()).casefold()] for text in counts.index}
    odd = [text for text, word in spelling.items() if text != word]
    text, example = "Read as one spelling", f"{odd[0]} is {spelling[odd[0]]}"
    accepted = rules.propose("spelling", text, int(counts[odd].sum()), column=name, example=example)
    return column.map(spelling).astype(column.dtype) if accepted else column
