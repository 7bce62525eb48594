"""Text with one record per line: CSV and TSV, and the helpers that ARFF shares."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from supdr.datasets._cells import bare_numbers, decimal_mark, one_spelling
from supdr.datasets._tables import Table
from supdr.datasets.limits import FileProblem, Limits, listed, shown

if TYPE_CHECKING:
    import pandas

# "None" is not among them: it may well be the name of a class
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
SAMPLE_RECORDS = 200
SAMPLE_CHARACTERS = 200_000
# Lines above the header that are taken for titles.
MOST_TITLES = 20

REMARK = "#"
SEPARATOR_TOLD = re.compile(r"sep=([\t;,|])\n")
# How the last row begins if it is none of the table's.
TOTALS = ("total", "totals", "grand total", "sum", "mean", "average", "summe", "gesamt", "mittelwert")


def read_csv(data: bytes, name: str, limits: Limits) -> Table:
    """Read text separated by commas, semicolons, tabs, bars or spaces; by which is found out."""
    return _read(data, name, limits, None)


def read_tsv(data: bytes, name: str, limits: Limits) -> Table:
    """Read tab separated text."""
    return _read(data, name, limits, "\t")


def _read(data: bytes, name: str, limits: Limits, delimiter: str | None) -> Table:
    text, notes = decode(data, name)
    told = SEPARATOR_TOLD.match(text)
    if told:
        # for Excel, above the table; an empty line in its place keeps the numbers of the others
        text, delimiter = text[told.end() - 1 :], delimiter or told[1]
    delimiter = delimiter or _sniff_delimiter(text)
    if not delimiter and _is_aligned(text):
        text = re.sub(" +", "\t", re.sub(r"(?m)^ +| +$", "", text))
        return replace(read_text(text, name, limits, "\t", notes), format="text separated by spaces")
    return read_text(text, name, limits, delimiter or ",", notes)


def read_text(text: str, name: str, limits: Limits, delimiter: str, notes: list[str]) -> Table:
    """Read separated text; `notes` are sentences that come first."""
    first_line, titles = _first_line(text, delimiter)
    text, footnotes = _without_footnotes(text.split("\n", first_line - 1)[-1], delimiter)
    text = _whole_header(text, delimiter)
    sample = _sample(text, delimiter)
    if not sample:
        raise FileProblem(f"{name} is empty.")
    decimal = decimal_mark((cell for cells in sample for cell in cells), delimiter)
    has_header = _has_header(sample, decimal)
    n_records, width = count_records(text, name, limits, first_line, delimiter=delimiter)
    if width == 1:
        separators = DELIMITERS[delimiter] if name.lower().endswith(".tsv") else "commas, semicolons or tabs"
        raise FileProblem(f"{name} has only one column; separate the target and the features by {separators}.")
    if has_header and n_records == 1:
        raise FileProblem(f"{name} has a header but no rows.")
    notes = [*notes, *titles, *footnotes]
    names = [cell.strip() for cell in sample[0]] if has_header else [f"x{j + 1}" for j in range(width)]
    more = _second_header(sample, decimal) if has_header else []
    names = [f"{first} ({also})" if first and also else first or also for first, also in zip_longest(names, more)]
    if more:
        notes.append("The first two rows name the columns.")
    distinct, numbered = _distinct([cell or f"column {j + 1}" for j, cell in enumerate(names)])
    frame = parse(
        text,
        names=distinct,
        header=(1 if more else 0) if has_header else None,
        sep=delimiter,
        decimal=decimal,
    )
    if len(frame) != n_records - has_header - bool(more):
        raise FileProblem(f"{name} could not be split into rows: check its quotation marks and line ends.")
    if not has_header:
        notes.append("The file has no header: its columns are called x1, x2, ….")
    if decimal == ",":
        notes.append("Numbers have decimal commas.")
    frame, hollow = _without_empty_rows(frame)
    frame, dropped = _without_unnamed(frame, names)
    frame, bared = bare_numbers(frame, decimal)
    frame, spelt = one_spelling(frame)
    notes += [*numbered, *hollow, *dropped, *bared, *spelt]
    return Table(frame, format=f"text separated by {DELIMITERS[delimiter]}", notes=tuple(notes))


def _distinct(names: list[str]) -> tuple[list[str], list[str]]:
    """Put a number to names that occur again, and a note about it."""
    made: list[str] = []
    again = []
    for name in names:
        new, number = name, 2
        while new in made or (new != name and new in names):
            new, number = f"{name} ({number})", number + 1
        made.append(new)
        if new != name and name not in again:
            again.append(name)
    return made, [f"Names that occur twice are numbered: {', '.join(map(shown, again))}."] if again else []


def _first_line(text: str, delimiter: str) -> tuple[int, list[str]]:
    """Return the line at which the table begins, below its titles, and a note.

    Titles are lines of one cell above wider ones, or of at most half as many cells as most lines have: words may hold
    the delimiter, too.  Where there are remarks, these are the titles.
    """
    remarks = _remarks(text, delimiter)
    if remarks:
        told = " / ".join(delimiter.join(cells).strip() for _, cells in remarks)
        return 1 + remarks[-1][0], [f"Left out above the header: {shown(told)}."]
    head = records(text[:SAMPLE_CHARACTERS], delimiter=delimiter)
    widths = Counter(len(cells) for cells in _sample(text, delimiter))
    usual = widths.most_common(1)[0][0] if widths else 0
    titles: list[str] = []
    for line, cells in head:
        filled = [cell.strip() for cell in cells if cell.strip()]
        if 2 * len(cells) > usual and (len(cells) == 2 or any(cell.strip() for cell in cells[1:])):
            told = f"Left out above the header: {shown(' / '.join(titles))}." if titles else ""
            return (line, [told]) if titles else (1, [])
        titles.extend(filled)
        if len(titles) > MOST_TITLES:
            break
    return 1, []


def _remarks(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the lines at the top that begin with #, but for a last one that names the columns below it."""
    head = list(records(text[:SAMPLE_CHARACTERS], delimiter=delimiter))
    count = next((k for k, (_, cells) in enumerate(head) if not cells[0].startswith(REMARK)), 0)
    rows = [cells for _, cells in head[count:]]
    names_columns = count and len(head[count - 1][1]) == len(rows[0]) and not _has_header(rows, ".")
    return head[: count - 1 if names_columns else count]


def _without_footnotes(text: str, delimiter: str) -> tuple[str, list[str]]:
    """Leave out what stands below the table: lines of which only the first cell is filled, and totals; and a note."""
    widths = Counter(len(cells) for cells in _sample(text, delimiter))
    width = widths.most_common(1)[0][0] if widths.total() > 2 else 0
    *lines, last = text.rstrip("\n").rsplit("\n", MOST_TITLES)
    footnotes: list[str] = []
    while len(lines) > 2 and width > 2 and last.count('"') % 2 == 0:  # else the end of a cell of several lines
        cells = [cell.strip() for cell in next(csv.reader([last], delimiter=delimiter), [])]
        filled = [cell for cell in cells if cell]
        words = bool(filled) and not _is_number(filled[0], ".") and filled[0] not in MISSING
        alone = words and bool(cells[0]) and (len(filled) == 1 or 2 * len(cells) <= width)
        if filled and not alone and cells[0].casefold() not in TOTALS:
            break
        footnotes = [" ".join(filled), *footnotes] if filled else footnotes
        last = lines.pop()
    told = f"Left out below the table: {shown(' / '.join(footnotes))}."
    return ("\n".join([*lines, last, ""]), [told]) if footnotes else (text, [])


def _second_header(sample: list[list[str]], decimal: str) -> list[str]:
    """Return the cells of the row below the header if they are units or second names: words above numbers."""
    if len(sample) < 4:
        return []
    _, second, *rest = ([cell.strip() for cell in cells] for cells in sample)
    if any(len(cells) != len(second) for cells in rest):
        return []
    numbers = [
        j
        for j in range(len(second))
        if (below := {cells[j] for cells in rest} - {*MISSING}) and all(_is_number(cell, decimal) for cell in below)
    ]
    words = [j for j in numbers if second[j] not in MISSING and not _is_number(second[j], decimal)]
    return second if len(words) > len(numbers) / 2 and all(j in words or not second[j] for j in numbers) else []


def _is_aligned(text: str) -> bool:
    """Tell columns that spaces separate: lines of as many words each, most of them numbers."""
    rows = [line.split() for line in text[:SAMPLE_CHARACTERS].split("\n")[:-1] if line.strip()]
    cells = [cell for row in rows[1:] for cell in row]
    alike = len({len(row) for row in rows[:SAMPLE_RECORDS]}) == 1 and len(rows[0]) > 1
    return alike and 2 * sum(_is_number(cell, ".") for cell in cells) > len(cells)


def _whole_header(text: str, delimiter: str) -> str:
    """Name the columns that the header does not: those behind a delimiter that ends every row, or rows' names before.

    A remark's mark before the first name goes.
    """
    sample = _sample(text, delimiter)
    if len(sample) < 2:
        return text
    header, *rows = sample
    missing = len(rows[0]) - len(header)
    if missing > 0 and all(len(cells) == len(rows[0]) for cells in rows):
        hollow = all(not cell.strip() for cells in rows for cell in cells[-missing:])
        if hollow and not any("\n" in cell for cell in header):
            head, _, body = text.lstrip("\n").partition("\n")
            return f"{_bare(head)}{delimiter * missing}\n{body}"
        if missing == 1 and len({cells[0] for cells in rows}) == len(rows):
            return f"{delimiter}{_bare(text)}"
    return _bare(text)


def _bare(header: str) -> str:
    return header.lstrip(REMARK).lstrip() if header.startswith(REMARK) and header[1:2].strip(",;\t") else header


def _without_empty_rows(frame: pandas.DataFrame) -> tuple[pandas.DataFrame, list[str]]:
    """Leave out rows of nothing but delimiters, and tell how many."""
    kept = frame.dropna(how="all")
    count = len(frame) - len(kept)
    told = f"Left out: {count:,} {'row' if count == 1 else 'rows'} without any value."
    return (kept.reset_index(drop=True), [told]) if count and len(kept) else (frame, [])


def decode(data: bytes, name: str) -> tuple[str, list[str]]:
    """Turn bytes into text with plain line ends: UTF-8, UTF-16, otherwise Latin-1 and a note that says so.

    What Windows calls Latin-1 has the euro and quotation marks beside.
    """
    notes = []
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif data[:200].count(0) >= len(data[:200]) // 3 > 0:
        # plain text in UTF-16 without a mark has a zero in every other byte
        encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8-sig":
            raise FileProblem(f"{name} is not valid {encoding.upper()} text; save it as UTF-8.") from None
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        notes.append("The file is not UTF-8; it was read as Latin-1.")
    if "\0" in text:
        raise FileProblem(f"{name} is not a text file: it contains zero bytes.")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def records(text: str, first_line: int = 1, **dialect: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of every record that is not blank; a record may span lines inside quotes."""
    reader = csv.reader(io.StringIO(text), skipinitialspace=True, **dialect)
    while True:
        line = first_line + reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if "field larger" in str(error):
                raise FileProblem(f"Line {line} has a cell that is too long, or a quotation mark is open.") from None
            raise FileProblem(f"Line {line} has a misplaced or open quotation mark.") from None
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0]):
            yield line, cells


def count_records(text: str, name: str, limits: Limits, first_line: int = 1, **dialect: Any) -> tuple[int, int]:
    """Check that all records are equally wide; return their number and width."""
    width = count = 0
    for line, cells in records(text, first_line, strict=True, **dialect):
        width = width or len(cells)
        if len(cells) != width:
            raise FileProblem(f"Line {line} has {len(cells)} cells, the first line has {width}.")
        count += 1
        if count == 1:
            limits.check_shape(name, 1, width)
        # one more for the header
        elif count > limits.max_rows + 1:
            raise FileProblem(f"{name} has more than {limits.max_rows:,} rows, which is the most that is read.")
    limits.check_shape(name, max(0, count - 1), width)
    return count, width


def parse(text: str, **options: Any) -> pandas.DataFrame:
    """Let pandas parse checked text."""
    import pandas as pd

    return pd.read_csv(
        io.StringIO(text),
        index_col=False,
        keep_default_na=False,
        na_values=list(MISSING),
        skipinitialspace=True,
        low_memory=False,
        **options,
    )


def _sample(text: str, delimiter: str) -> list[list[str]]:
    head = text[:SAMPLE_CHARACTERS]
    found = []
    for _, cells in records(head, delimiter=delimiter):
        found.append(cells)
        if len(found) == SAMPLE_RECORDS:
            return found
    # the last record may have been cut
    return found[:-1] if len(head) < len(text) and len(found) > 1 else found


def _sniff_delimiter(text: str) -> str:
    """Choose the delimiter that splits most records into the same number (> 1) of cells; empty if none does."""
    best, best_share = "", 0.0
    for delimiter in DELIMITERS:
        widths = Counter(len(cells) for cells in _sample(text, delimiter))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        share = count / widths.total() if width > 1 else 0.0
        if share > best_share:
            best, best_share = delimiter, share
    return best


def _has_header(sample: list[list[str]], decimal: str) -> bool:
    """Tell a header by text above numbers, by text none of which occurs again in its column, or by counting from 0."""
    first, rest = sample[0], sample[1:]
    counted = [cell.strip() for cell in first if cell.strip()]
    if len(counted) > 2 and counted == [str(j) for j in range(len(counted))]:
        # what pandas writes for columns without names
        return True
    words = [j for j, cell in enumerate(first) if cell.strip() not in MISSING and not _is_number(cell, decimal)]
    below = [{record[j].strip() for record in rest if j < len(record)} - {*MISSING} for j in words]
    if any(cells and all(_is_number(cell, decimal) for cell in cells) for cells in below):
        return True
    return bool(words) and not any(first[j].strip() in cells for j, cells in zip(words, below))


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True


def _without_unnamed(frame: pandas.DataFrame, names: list[str]) -> tuple[pandas.DataFrame, list[str]]:
    """Leave out columns without a name that are empty or only number the rows."""
    import numpy as np

    useless = []
    for j in (j for j, cell in enumerate(names) if not cell):
        values = frame.iloc[:, j]
        counts = values.dtype.kind == "i" and np.array_equal(values - values.iloc[0], np.arange(len(frame)))
        if values.isna().all() or counts:
            useless.append(frame.columns[j])
    one = "a column without a name that is empty or counts rows"
    many = "columns without names that are empty or count rows"
    told = f"Left out: {listed(useless)}, {one if len(useless) == 1 else many}."
    return frame.drop(columns=useless), [told] if useless else []
