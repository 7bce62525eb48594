"""Excel workbooks: one sheet, read as the text that it would be saved as.

So headers, dates, missing cells and columns without a name are found as in a CSV file.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from supdr.datasets._tables import Table
from supdr.datasets._text import read_text
from supdr.datasets.limits import FileProblem, Limits, check_shape, check_unpacked, chosen_one, complete, listed, shown
from supdr.datasets.proposals import Rules
from supdr.engine.optional import require

ROW, CELL = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c\b")
# A first sheet so many times shorter than the longest is not taken for the table.
MUCH_SHORTER = 10

# Of a cell or a row: how far a sheet reaches, which a library would fill with empty cells.
PLACE = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]*)(\d+)\s*["']""")


def read_excel(data: bytes, name: str, limits: Limits, rules: Rules, sheet: str | None = None) -> Table:
    """Read a sheet of a workbook: the one that is named, else the first that is not empty."""
    require("Reading Excel", "python_calamine", extra="files")
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

    errors = (CalamineError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
    with complete(name, "Excel workbook", *errors):
        book = CalamineWorkbook.from_filelike(io.BytesIO(_unpacked(data, name, limits)))
        sheets = [each.name for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
        asked = sheets if sheet is None else [chosen_one(sheet, sheets, name, "sheet")]
        opened = {each: book.get_sheet_by_name(each) for each in asked}
        tables = {each: one.to_python(skip_empty_area=True) for each, one in opened.items()}
        most = max((len(rows) for rows in tables.values()), default=0)
        if not most:
            raise FileProblem(f"{name} is empty." if sheet is None else f"Sheet {shown(sheet)} of {name} is empty.")
        # A few lines before the table are remarks on it.
        chosen, rows = next(item for item in tables.items() if len(item[1]) * MUCH_SHORTER >= most)
        _fill_merged(rows, opened[chosen], rules)
    if len(rows[0]) < 2:
        raise FileProblem(f"Sheet {shown(chosen)} has a single column. It needs at least a target and one feature.")
    notes = [f"Sheet {shown(chosen)} of {listed(sheets)}."] if len(sheets) > 1 else []
    read = read_text(_as_text(rows), name, limits, rules, ",", notes)
    return replace(read, format=f"sheet {shown(chosen)} of an Excel workbook", sheets=tuple(sheets), sheet=chosen)


def _fill_merged(rows: list[list[Any]], sheet: Any, rules: Rules) -> None:
    """Write the value of cells that are merged downwards into all of them, in `rows`."""
    top, left = sheet.start or (0, 0)
    values: dict[tuple[int, int], Any] = {}
    room = sum(map(len, rows))
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        first, last, column = first - top, min(last - top, len(rows) - 1), column - left
        room -= max(0, last - first)
        if room < 0:
            raise FileProblem("The workbook has merged cells that overlap.")
        value = rows[first][column] if 0 <= first < len(rows) and 0 <= column < len(rows[first]) else ""
        if value not in ("", None):
            values |= {(k, column): value for k in range(first + 1, last + 1) if rows[k][column] in ("", None)}
    if values and rules.propose("merged", "Merged cells have the value of their first one", len(values), default=True):
        for (row, column), value in values.items():
            rows[row][column] = value


def _unpacked(data: bytes, name: str, limits: Limits) -> bytes:
    """Return the same archive without compression.

    What unpacks to more than it says, or reaches further than a table may, would fill the memory of the library.
    """
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(whole, "w") as plain:
        members = archive.infolist()
        check_unpacked(limits, name, sum(member.file_size for member in members))
        for member in members:
            content = archive.read(member)
            if b"sheetData" in content:
                rows, columns = _reach(content)
                check_shape(limits, name, rows - 1, columns)  # one is the header
            plain.writestr(member.filename, content)
    return whole.getvalue()


def _reach(content: bytes) -> tuple[int, int]:
    """Return the last row and the last column of a sheet, by the names of its cells and by their number."""
    lines = ROW.split(content)
    rows, columns = len(lines) - 1, max(len(CELL.findall(line)) for line in lines)
    for letters, digits in set(PLACE.findall(content)):
        rows = max(rows, int(digits[:9]))
        column = 0
        for letter in letters.upper():
            column = 26 * column + letter - ord("A") + 1
        columns = max(columns, column)
    return rows, columns


def _as_text(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    """Write a cell exactly: whole numbers without a point, days without midnight."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        return value.date().isoformat()
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return "" if value is None else str(value).replace("\0", "")
