"""ARFF, the format of Weka: declared attributes, then comma separated rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from supdr.datasets._columns import numbers_from
from supdr.datasets._delimited import count_records, decode, parse, records
from supdr.datasets._tables import Table, check_names
from supdr.datasets.limits import FileProblem, Limits, listed, shown

if TYPE_CHECKING:
    import pandas

ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
NUMERIC = {"numeric", "real", "integer"}
TEXT = {"string", "date"}


class Attribute(NamedTuple):
    """One declared column: its kind is "numeric" or "text", or it lists its levels."""

    name: str
    kind: str
    levels: tuple[str, ...]


def read_arff(data: bytes, name: str, limits: Limits) -> Table:
    """Read dense ARFF with numeric, nominal and string attributes."""
    import pandas as pd

    text, notes = decode(data, name)
    attributes, body, first_line = _split(text, name)
    check_names([attribute.name for attribute in attributes])
    quote = "'" if "'" in body else '"'
    n_rows, width = count_records(body, name, limits, first_line, quotechar=quote, escapechar="\\")
    if not n_rows:
        raise FileProblem(f"{name} has a header but no rows.")
    if width != len(attributes):
        raise FileProblem(f"{name} declares {len(attributes)} attributes, but its rows have {width} cells.")
    frame = parse(
        body,
        names=[attribute.name for attribute in attributes],
        header=None,
        dtype=str,
        quotechar=quote,
        escapechar="\\",
    )
    columns = {attribute.name: _typed(frame[attribute.name].str.strip(), attribute) for attribute in attributes}
    return Table(pd.DataFrame(columns), format="ARFF", notes=tuple(notes))


def _split(text: str, name: str) -> tuple[list[Attribute], str, int]:
    """Separate the declarations from the rows; also tell on which line the rows start."""
    lines = text.split("\n")
    attributes = []
    for number, line in enumerate(lines, start=1):
        word = line.strip().split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@attribute":
            attributes.append(_declaration(line.strip(), number))
        elif word == "@data":
            break
    else:
        raise FileProblem(f"{name} is not an ARFF file: it has no @data line.")
    if not attributes:
        raise FileProblem(f"{name} is not an ARFF file: it declares no @attribute.")
    # comments become blank lines, so that line numbers stay right
    rows = ["" if line.lstrip().startswith("%") else line for line in lines[number:]]
    if any(row.lstrip().startswith("{") for row in rows):
        raise FileProblem(f"{name} is a sparse ARFF file, which is not read; save it as LIBSVM or dense ARFF.")
    return attributes, "\n".join(rows), number + 1


def _declaration(line: str, number: int) -> Attribute:
    match = ATTRIBUTE.match(line)
    declared = match[2].strip() if match else ""
    kind = declared.split()[0].lower() if declared else ""
    if match and declared.startswith("{") and declared.endswith("}"):
        return Attribute(_unquoted(match[1]), "nominal", _levels(declared[1:-1]))
    if match and kind in NUMERIC | TEXT:
        return Attribute(_unquoted(match[1]), "numeric" if kind in NUMERIC else "text", ())
    raise FileProblem(f"Line {number} does not declare a numeric, nominal or string attribute: {shown(line)}.")


def _levels(inside: str) -> tuple[str, ...]:
    quote = "'" if "'" in inside else '"'
    cells = [cells for _, cells in records(inside, quotechar=quote, escapechar="\\")]
    return tuple(dict.fromkeys(cell.strip() for cell in cells[0])) if cells else ()


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name


def _typed(values: pandas.Series, attribute: Attribute) -> pandas.Series | pandas.Categorical:
    import pandas as pd

    if attribute.kind == "numeric":
        return pd.Series(numbers_from(values, attribute.name))
    if attribute.kind == "text":
        return values
    unknown = values.notna() & ~values.isin(attribute.levels)
    if unknown.any():
        row = int(unknown.to_numpy().argmax())
        raise FileProblem(
            f"Column {shown(attribute.name)} holds {shown(values.iloc[row])} in row {row + 1}, which is none of its"
            f" declared values {listed(attribute.levels)}."
        )
    return pd.Categorical(values, categories=list(attribute.levels))
