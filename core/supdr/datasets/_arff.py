"""ARFF, the format of Weka and KEEL: declared attributes, then rows separated by commas or spaces."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supdr.datasets._cells import are_merged
from supdr.datasets._columns import EXACT_BELOW, numbers_from
from supdr.datasets._tables import Table, check_names
from supdr.datasets._text import decode, parse
from supdr.datasets.labels import NUMBER
from supdr.datasets.limits import FileProblem, Limits, check_shape, listed, shown
from supdr.datasets.proposals import MISSING, Rules, sized

if TYPE_CHECKING:
    import pandas

BEGINNING = re.compile(rb"(\xef\xbb\xbf)?(\s|%[^\n\r]*[\n\r])*@(relation|attribute)\b", re.IGNORECASE)
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
NUMERIC = {"numeric", "real", "integer"}
TEXT = {"string", "date"}
UNKNOWN_TYPE = re.compile(r"[a-z]\w*\s*(\[[^\]]*\])?\s*(%.*)?", re.IGNORECASE)
ISO_DATE = "yyyy-MM-dd'T'HH:mm:ss"  # where none is declared
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
CELL = re.compile(rf"\s*(?:({QUOTED})\s*|(?!['\"\s])((?:[^,'\"\\%]|\\.|(?<![\s,])['\"%])*))(,|%.*$|$)")
SPACED_CELL = re.compile(rf"\s*(?:({QUOTED})|([^\s'\"%][^\s]*))(\s+(?:%.*)?|$)")
# An entry of a sparse row, and the weight of a row or of an attribute, which stands in braces behind it.
ENTRY = re.compile(rf"\s*(\d+)\s+(?:({QUOTED})\s*|([^\s,'\"{{}}](?:[^,\\]|\\.)*))(?:,|$)")
SPARSE = re.compile(r"\{(.*)\}\s*(?:%.*)?", re.DOTALL)
WEIGHT = re.compile(rf"{{\s*({NUMBER.pattern})\s*}}\s*(?:%.*)?", re.DOTALL)
WEIGHTS = "instance weight"
LEVELS = re.compile(rf"{{((?:(?<=[{{\s,])(?:{QUOTED})|[^}}'\"]|(?<![{{\s,])['\"])*)}}\s*(?:%.*)?")
QUOTED_MARK = "\x01"  # in front of a cell that was in quotation marks, as a missing one is not


class Attribute(NamedTuple):
    """One declared column: its kind is "numeric", "text" or "nominal"; or it is the form of its dates.

    `declared`: the type of a column of the kind "unknown".
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    weighted: bool = False
    declared: str = ""


def read_arff(data: bytes, name: str, limits: Limits, rules: Rules) -> Table:
    """Read ARFF with numeric, nominal, string and date attributes, dense or sparse, and KEEL's form of it."""
    import pandas as pd

    text, notes = decode(data, name, rules)
    attributes, lines, roles = _declarations(text.split("\n"), name)
    check_shape(limits, name, len(lines), len(attributes))
    lines, weights = _without_weights(lines, len(attributes))
    sparse = bool(lines) and lines[0][1][0] == "{"
    if sparse:
        notes.append(
            "The rows are sparse: numbers that are not written are 0, nominal cells the first of their declared "
            "levels, texts and dates missing."
        )
    names = [each.name for each in attributes]
    check_names([*names, WEIGHTS] if weights else names)
    frame = _rows(lines, attributes, name, sparse)
    if not len(frame):
        raise FileProblem(f"{name} has a header but no rows.")
    columns = pd.DataFrame({each.name: _typed(frame[j], each, rules) for j, each in enumerate(attributes)})
    unknown = [f"{each.name} ({each.declared})" for each in attributes if each.declared]
    if unknown:
        notes.append(f"The file declares types that ARFF has not; read as it is written: {listed(unknown)}.")
    target, aside = _of_roles(names, roles)
    text, example = "Left out, as the file says", listed(aside)
    if aside and rules.propose("aside", text, len(aside), "columns", example=example, default=True):
        columns = columns.drop(columns=aside)
    if weights:
        columns.insert(0, WEIGHTS, weights)  # in front, as the last column may be the target
        notes.append(f"Rows have weights: column {shown(WEIGHTS)}; fit takes them as sample_weight.")
    if any(each.weighted for each in attributes):
        notes.append("The weights of attributes are not used.")
    beside = (WEIGHTS,) if weights else ()
    return Table(columns, format="ARFF", target=target, notes=tuple(notes), annotations=beside)


def _of_roles(names: list[str], roles: dict[str, list[str]]) -> tuple[str | None, list[str]]:
    """Return the target, the first of KEEL's outputs, and the columns that are neither it nor inputs."""
    inputs, outputs = ([name for name in names if name.lower() in roles[each]] for each in ("@input", "@output"))
    inputs = inputs or names
    aside = [name for name in names if name not in (*inputs, *outputs) or name in outputs[1:]]
    return next(iter(outputs), None), aside


def _without_weights(lines: list[tuple[int, str]], width: int) -> tuple[list[tuple[int, str]], list[float]]:
    """Return rows without the weights at their ends, and these: 1 where there is none, and nothing if none has one."""
    parts = [_without_weight(line) if width > 1 else (line, "") for _, line in lines]
    if not any(weight for _, weight in parts):
        return lines, []
    rows = [(number, line) for (number, _), (line, _) in zip(lines, parts)]
    return rows, [float(weight or 1.0) for _, weight in parts]


def _without_weight(text: str) -> tuple[str, str]:
    """Return a row or a declaration without the weight at its end, and that; empty where there is none."""
    head, brace, tail = text.rpartition("{")
    weight = WEIGHT.fullmatch(brace + tail) if head[-1:] in (" ", "\t", ",", "}") else None
    return (head.rstrip(" \t,"), weight[1]) if weight else (text, "")


def _dense(line: str, number: int, attributes: list[Attribute]) -> list[str]:
    """Return the cells of a sparse row."""
    cells = [
        "0" if each.kind == "numeric" else QUOTED_MARK + each.levels[0] if each.levels else "?" for each in attributes
    ]
    match, place, last = SPARSE.fullmatch(line), 0, -1
    while match and match[1][place:].strip():
        entry = ENTRY.match(match[1], place)
        if entry is None or not last < int(entry[1]) < len(cells):
            match = None
            break
        cells[int(entry[1])] = (
            QUOTED_MARK + _unquoted(entry[2]) if entry[2] else re.sub(r"\\(.)", r"\1", entry[3].strip())
        )
        place, last = entry.end(), int(entry[1])
    if match is None:
        raise FileProblem(
            f"Line {number} is not a sparse row, {{index value, index value, …}} with increasing indices from 0 to "
            f"{len(cells) - 1}: {shown(line)}."
        )
    return cells


def _declarations(lines: list[str], name: str) -> tuple[list[Attribute], list[tuple[int, str]], dict[str, list[str]]]:
    """Return the attributes, the numbered lines with rows, and the names of KEEL's inputs and outputs."""
    attributes: list[Attribute] = []
    roles: dict[str, list[str]] = {"@input": [], "@output": []}
    for number, line in enumerate(lines, start=1):
        word = line.strip().split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@attribute":
            attributes.append(_declaration(line.strip(), number))
        elif word.removesuffix("s") in roles:
            listed_names = line.strip()[len(word) :].split(",")
            roles[word.removesuffix("s")] = [_unquoted(each.strip()).lower() for each in listed_names if each.strip()]
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
    return attributes, rows, roles


def _declaration(line: str, number: int) -> Attribute:
    match = ATTRIBUTE.match(line)
    declared = match[2].strip() if match else ""
    declared, weight = _without_weight(declared)
    kind = re.split(r"[\s\[%]", declared)[0].lower()
    if match and (levels := LEVELS.fullmatch(declared)):
        texts = [text.removeprefix(QUOTED_MARK) for text in _cells(levels[1], number, CELL) if text]
        return Attribute(_unquoted(match[1]), "nominal", tuple(dict.fromkeys(texts)), bool(weight))
    elif match and kind in NUMERIC | TEXT:
        form = declared[len(kind) :].split("%")[0].strip()
        kind = "numeric" if kind in NUMERIC else _date_form(form or ISO_DATE) if kind == "date" else "text"
        return Attribute(_unquoted(match[1]), kind, (), bool(weight))
    if kind == "relational":
        raise FileProblem(
            f"Line {number} declares a relational attribute, each cell of which is a table: {shown(line)}. Write one "
            "row for each of its rows, as Weka's filter MultiInstanceToPropositional does."
        )
    if match and UNKNOWN_TYPE.fullmatch(declared):
        return Attribute(_unquoted(match[1]), "unknown", (), bool(weight), kind)
    raise FileProblem(f"Line {number} does not declare a numeric, nominal, string or date attribute: {shown(line)}.")


def _date_form(form: str) -> str:
    """Write a form of dates, such as 'yyyy-MM-dd', as Python does."""
    letters = "|".join(sorted(DATE_LETTERS, key=len, reverse=True))
    return re.sub(letters, lambda match: DATE_LETTERS[match[0]], _unquoted(form)).replace("'", "")


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "'\"" else text


def _rows(lines: list[tuple[int, str]], attributes: list[Attribute], name: str, sparse: bool) -> pandas.DataFrame:
    """Split the rows: those with quotation marks, escapes or comments here, the others by pandas."""
    width = len(attributes)
    spaced = width > 1 and not any("," in line for _, line in lines)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = 0
    for number, line in lines:
        cells: int | list[str]
        if sparse:
            cells = _dense(line, number, attributes)
        elif not spaced and not any(mark in line for mark in "'\"\\%"):
            cells = line.count(",") + 1
        else:
            cells = _cells(line, number, SPACED_CELL if spaced else CELL)
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


def _typed(texts: pandas.Series, attribute: Attribute, rules: Rules) -> pandas.Series | pandas.Categorical:
    import pandas as pd

    quoted = texts.str.startswith(QUOTED_MARK)
    values = texts.str.removeprefix(QUOTED_MARK).where(quoted, texts.str.strip())
    if attribute.kind == "numeric":
        values = values.mask(values.isin((*MISSING, "<null>")))
        numbers = numbers_from(values, attribute.name)
        large = np.abs(numbers) >= EXACT_BELOW
        merged = large.any() and are_merged(values[large], numbers[large], attribute.name, rules)
        return values if merged else pd.Series(numbers)
    missing = ~quoted & values.isin(("", "?", "<null>")) & ~values.isin(attribute.levels)
    values = values.mask(missing)
    if attribute.kind == "unknown":
        numbers = pd.to_numeric(values, errors="coerce")
        return values if (numbers.isna() & ~missing).any() else numbers.astype(np.float64)
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
