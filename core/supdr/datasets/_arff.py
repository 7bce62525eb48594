"""ARFF, the format of Weka and KEEL: declared attributes, then rows separated by commas or spaces."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from supdr.datasets._columns import numbers_from
from supdr.datasets._tables import Table, check_names
from supdr.datasets._text import decode, parse
from supdr.datasets.limits import FileProblem, Limits, listed, shown
from supdr.datasets.proposals import MISSING, Rules, sized

if TYPE_CHECKING:
    import pandas

BEGINNING = re.compile(rb"(\xef\xbb\xbf)?(\s*(%[^\n\r]*)?[\n\r])*\s*@(relation|attribute)\b", re.IGNORECASE)
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
NUMERIC = {"numeric", "real", "integer"}
TEXT = {"string", "date"}
# Letters of a date's form -> how Python calls them.
DATE_LETTERS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "z": "%z",
}
# A cell in quotation marks of either kind, or without, and what ends it; `%` after a space begins a comment.
CELL = re.compile(rf"\s*(?:({QUOTED})\s*|(?!['\"])((?:[^,'\"\\%]|\\.|(?<![\s,])['\"%])*))(,|%.*$|$)")
SPACED_CELL = re.compile(rf"\s*(?:({QUOTED})|([^\s'\"%][^\s]*))(\s+(?:%.*)?|$)")
LEVELS = re.compile(rf"{{((?:{QUOTED}|[^}}'\"]|(?<=[^\s,])['\"])*)}}\s*(?:%.*)?")
QUOTED_MARK = "\x01"  # in front of a cell that was in quotation marks, as a missing one is not


class Attribute(NamedTuple):
    """One declared column: its kind is "numeric", "text" or "nominal"; or it is the form of its dates."""

    name: str
    kind: str
    levels: tuple[str, ...]


def read_arff(data: bytes, name: str, limits: Limits, rules: Rules) -> Table:
    """Read dense ARFF with numeric, nominal and string attributes, and KEEL's form of it."""
    import pandas as pd

    text, notes = decode(data, name)
    attributes, lines, output = _declarations(text.split("\n"), name)
    check_names([attribute.name for attribute in attributes])
    frame = _rows(lines, attributes, name, limits)
    if not len(frame):
        raise FileProblem(f"{name} has a header but no rows.")
    columns = {each.name: _typed(frame[j], each) for j, each in enumerate(attributes)}
    target = next((each.name for each in attributes if each.name.lower() == output.lower()), None)
    return Table(pd.DataFrame(columns), format="ARFF", target=target, notes=tuple(notes))


def _declarations(lines: list[str], name: str) -> tuple[list[Attribute], list[tuple[int, str]], str]:
    """Return the attributes, the numbered lines with rows, and the name of KEEL's output."""
    attributes, target = [], ""
    for number, line in enumerate(lines, start=1):
        word = line.strip().split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@attribute":
            attributes.append(_declaration(line.strip(), number))
        elif word in ("@output", "@outputs"):
            target = line.split(maxsplit=1)[1].strip() if len(line.split()) == 2 else ""
        elif word == "@data":
            break
    else:
        raise FileProblem(f"{name} is not an ARFF file: it has no @data line.")
    if not attributes:
        raise FileProblem(f"{name} is not an ARFF file: it declares no @attribute.")
    rows = [
        (k, line.strip())
        for k, line in enumerate(lines[number:], number + 1)
        if line.strip() and line.strip()[0] != "%"
    ]
    if any(line[0] == "{" for _, line in rows):
        raise FileProblem(f"{name} is a sparse ARFF file, which is not read; save it as LIBSVM or dense ARFF.")
    return attributes, rows, target


def _declaration(line: str, number: int) -> Attribute:
    match = ATTRIBUTE.match(line)
    declared = match[2].strip() if match else ""
    kind = re.split(r"[\s\[%]", declared)[0].lower()
    if match and (levels := LEVELS.fullmatch(declared)):
        texts = [text.removeprefix(QUOTED_MARK) for text in _cells(levels[1], number, CELL) if text]
        return Attribute(_unquoted(match[1]), "nominal", tuple(dict.fromkeys(texts)))
    elif match and kind in NUMERIC | TEXT:
        form = declared[len(kind) :].split("%")[0].strip()
        kind = "numeric" if kind in NUMERIC else _date_form(form) if kind == "date" and form else "text"
        return Attribute(_unquoted(match[1]), kind, ())
    raise FileProblem(f"Line {number} does not declare a numeric, nominal or string attribute: {shown(line)}.")


def _date_form(form: str) -> str:
    """Write a form of dates, such as 'yyyy-MM-dd', as Python does."""
    letters = "|".join(sorted(DATE_LETTERS, key=len, reverse=True))
    return re.sub(letters, lambda match: DATE_LETTERS[match[0]], _unquoted(form)).replace("'", "")


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "'\"" else text


def _rows(lines: list[tuple[int, str]], attributes: list[Attribute], name: str, limits: Limits) -> pandas.DataFrame:
    """Split the rows: those with quotation marks, escapes or comments here, the others by pandas."""
    width = len(attributes)
    limits.check_shape(name, len(lines), width)
    spaced = width > 1 and not any("," in line for _, line in lines)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = 0
    for number, line in lines:
        plain = not spaced and not any(mark in line for mark in "'\"\\%")
        cells = line.count(",") + 1 if plain else _cells(line, number, SPACED_CELL if spaced else CELL)
        count = cells if isinstance(cells, int) else len(cells)
        first = first or count
        if count != first:
            raise FileProblem(f"Line {number} has {sized(count, 'cells')}, the first line has {first}.")
        if isinstance(cells, int):
            text.write(f"{line}\n")
        else:
            writer.writerow(cells)
    if first not in (0, width):
        raise FileProblem(f"{name} declares {width} attributes, but its rows have {first} cells.")
    return parse(text.getvalue(), width, ",")


def _cells(line: str, number: int, pattern: re.Pattern[str]) -> list[str]:
    cells, place, end = [], 0, ","
    while place < len(line) or end == ",":
        cell = pattern.match(line, place)
        if cell is None:
            raise FileProblem(f"Line {number} has a misplaced or open quotation mark.")
        cells.append(QUOTED_MARK + _unquoted(cell[1]) if cell[1] else re.sub(r"\\(.)", r"\1", cell[2].strip()))
        place, end = cell.end(), cell[3]
        if end.strip()[:1] == "%":
            break
    return cells


def _typed(texts: pandas.Series, attribute: Attribute) -> pandas.Series | pandas.Categorical:
    import pandas as pd

    quoted = texts.str.startswith(QUOTED_MARK)
    values = texts.str.removeprefix(QUOTED_MARK).where(quoted, texts.str.strip())
    if attribute.kind == "numeric":
        return pd.Series(numbers_from(values.mask(values.isin((*MISSING, "<null>"))), attribute.name))
    missing = ~quoted & values.isin(("", "?", "<null>")) & ~values.isin(attribute.levels)
    values = values.mask(missing)
    if attribute.kind == "text":
        return values
    if "%" in attribute.kind:
        dates = pd.to_datetime(values, format=attribute.kind, errors="coerce", utc=True)
        return dates.dt.tz_localize(None) if dates.isna().equals(values.isna()) else values
    undeclared = ~missing & ~values.isin(attribute.levels)
    if undeclared.any():
        row = int(undeclared.to_numpy().argmax())
        raise FileProblem(
            f"Column {shown(attribute.name)} holds {shown(values.iloc[row])} in row {row + 1}, which is none of its"
            f" declared values {listed(attribute.levels)}."
        )
    return pd.Categorical(values, categories=list(attribute.levels))
