"""Cells as people write them: numbers with signs, units and limits, words in several spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from supdr.datasets._columns import MAX_LEVELS
from supdr.datasets.limits import shown

if TYPE_CHECKING:
    import pandas

# What stands for a missing cell among numbers; elsewhere it may be the name of a class.
HOLES = ("-", "--", "\u2013", "\u2014", ".", "n.a.", "N.A.", "k.A.", "None", "none", "missing", "unknown")

# What stands where a formula failed.
OF_SPREADSHEETS = ("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")

# Letters for yes and no, true and false, male and female, in English and German.
ANSWERS = frozenset("yntfjmw")

# Share of the cells that must be numbers for the others to be slips.
MOSTLY = 0.9

# Cells that tell whether a column could hold numbers at all.
LOOK = 50

# Decimal mark -> what may stand between thousands.
SEPARATORS = {".": ",'\u2019 \u00a0\u202f", ",": ".'\u2019 \u00a0\u202f"}

SIGNS = "$€£¥%"
CURRENCIES = "EUR|USD|CHF|GBP|JPY|SEK|NOK|DKK|PLN|CZK|INR|CNY|CAD|AUD|BRL"
LIMIT = r"^[<>≤≥]=? ?"
UNIT = r"(?<=[\d.,])[ \u00a0]?(?![eE]\d)([^\W\d_][\w./²³°·%]{0,11}|°\w?)$"
_FIRST = re.compile(rf"{LIMIT}|^([+\-\u2212]?)(?:[{SIGNS}]|{CURRENCIES})[ \u00a0]?")
_LAST = re.compile(rf"[ \u00a0]?[{SIGNS}]$|{UNIT}")
_MARKED = {mark: re.compile(rf"[+-]?\d*(\D\d{{3}})*{re.escape(mark)}\d+([eE][+-]?\d+)?") for mark in SEPARATORS}
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+")


def decimal_mark(cells: Iterable[str], delimiter: str) -> str:
    """Tell decimal commas from decimal points.

    Points win where both are seen.  Three digits behind a mark may be thousands: a comma before them counts only in
    text that is separated by semicolons, a point only where no comma is seen.
    """
    commas = points = False
    for cell in cells:
        number = _LAST.sub("", _FIRST.sub("", cell.strip()))
        thousands = _THOUSANDS.fullmatch(number)
        points = points or bool(_MARKED["."].fullmatch(number) and not thousands)
        commas = commas or bool(_MARKED[","].fullmatch(number) and (delimiter == ";" or not thousands))
    return "," if commas and not points else "."


def bare_numbers(frame: pandas.DataFrame, decimal: str) -> tuple[pandas.DataFrame, list[str]]:
    """Read columns of numbers as people write them: with signs, one unit, marks between thousands, as limits.

    Marks for a cell without a value become missing cells, and so do slips: a few other words among many numbers.
    Returns the table and notes.
    """
    between = re.escape(SEPARATORS[decimal])
    digits = rf"(\d{{1,3}}([{between}]\d{{3}})+|\d+)({re.escape(decimal)}\d+)?([eE][+-]?\d+)?"
    written = rf"\(?[+\-\u2212]?[{SIGNS}]? ?[+\-\u2212]?{digits} ?[{SIGNS}]?\)?"
    columns: dict[str, pandas.Series] = {}
    told: dict[str, list[str]] = {}
    for name in (name for name, column in frame.items() if column.dtype.kind not in "iufbcmM"):
        texts = frame[name].dropna().astype(str).str.strip()
        texts = texts[~texts.isin({*HOLES, *OF_SPREADSHEETS})]
        if not len(texts) or texts.iloc[:LOOK].str.contains(r"\d").mean() < 0.5:
            continue
        numbers = texts.str.replace(LIMIT, "", regex=True)
        unlimited = numbers.equals(texts)
        numbers, unit = _without_unit(numbers.str.replace(rf"^([+-]?)(?:{CURRENCIES}) ?", r"\1", regex=True))
        found = numbers.str.fullmatch(written)
        slips, numbers = texts[~found], numbers[found]
        if len(slips) and (len(numbers) < MOSTLY * len(texts) or numbers.nunique() <= MAX_LEVELS):
            continue
        plain = numbers.str.replace(rf"[{between}{SIGNS}()+]", "", regex=True).str.replace("\u2212", "-")
        plain = plain.where(~numbers.str.contains("[eE]"), numbers)
        below = numbers.str.startswith("(") & numbers.str.endswith(")")
        values = plain.str.replace(decimal, ".").astype(float)
        columns[str(name)] = values.where(~below, -values).reindex(frame.index)
        what = "with missing cells" if plain.equals(texts[found]) else "without signs and marks"
        what = "without their unit" if unit else what if unlimited else "where they are limits"
        told.setdefault(f"Read as numbers {what}", []).append(shown(str(name)) + (f" ({unit})" if unit else ""))
        if len(slips):
            told.setdefault("Read as missing", []).append(f"{shown(slips.iloc[0])} in {shown(str(name))}")
    return frame.assign(**columns), [f"{what}: {', '.join(names)}." for what, names in told.items()]


def _without_unit(numbers: pandas.Series) -> tuple[pandas.Series, str]:
    """Take the unit away if it is the same behind nearly all numbers, but for a plural; return it, too."""
    units = numbers.str.extract(UNIT)[0].dropna()
    if len(units) < MOSTLY * len(numbers) or units.str.casefold().str.rstrip("s").nunique() != 1:
        return numbers, ""
    return numbers.str.replace(UNIT, "", regex=True), str(units.iloc[0])


def one_spelling(frame: pandas.DataFrame) -> tuple[pandas.DataFrame, list[str]]:
    """Write words that differ in capitals, or in spaces around them, in their most frequent way; tell where.

    Letters are words only where they answer a question; "a" and "A" may well be two classes.  A column that would be
    left with one word stays.  Returns the table and notes.
    """
    columns: dict[str, pandas.Series] = {}
    notes = []
    for name in (name for name, column in frame.items() if column.dtype.kind not in "iufbcmM"):
        counts = (
            frame[name].dropna().astype(str).value_counts().sort_index().sort_values(ascending=False, kind="stable")
        )
        words: dict[str, str] = {}
        for text in counts.index:
            words.setdefault(_folded(text), text.strip())
        letters = [word for word in words if len(word) == 1]
        if not 1 < len(words) < len(counts) or (letters and not ANSWERS.issuperset(letters)):
            continue
        meant = {text: words[_folded(text)] for text in counts.index}
        columns[str(name)] = frame[name].map(lambda cell, meant=meant: meant.get(cell, cell))
        odd = [text for text, word in meant.items() if text.strip() != word]
        if odd:
            notes.append(f"In {shown(str(name))}, {shown(odd[0])} is read as {shown(meant[odd[0]])}.")
    return frame.assign(**columns), notes


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
