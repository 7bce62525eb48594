"""Text with one record per line: its encoding, what separates its cells, where its table begins and ends."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._header import headed, may_lack_names
from supdr.datasets._tables import Table
from supdr.datasets.labels import NUMBER
from supdr.datasets.limits import FileProblem, Limits, check_shape
from supdr.datasets.proposals import MISSING, Rules, sized
from supdr.engine.optional import require

if TYPE_CHECKING:
    import pandas

DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
# Lines above the header that are taken for titles, and lines below the table for footnotes.
MOST_TITLES = 20
MOST_DASHES = 3  # lines of them: above, below the header, and at the end
# Bytes that are not UTF-8, as Python escapes them.
ESCAPED = re.compile("[\udc80-\udcff]")
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
# Encodings with letters of two bytes -> whose text it is.
TWO_BYTES = {
    "cp932": "Japanese",
    "euc_jp": "Japanese",
    "gb18030": "Chinese",
    "big5": "Chinese",
    "cp949": "Korean",
}
# Of Latin-1 nearly every byte beyond ASCII is a letter, of the others every second one, or a few more.
MOST_LETTERS, FEWEST_BYTES, MOST_DETECTED = 0.9, 12, 100_000
MOST_CHAOS = 0.1  # of letters that hardly stand side by side: words in another alphabet have more
REMARK = "#"
SEPARATOR_LINE = re.compile(r"sep=([\t;,|])\n")  # for Excel, above the table
# How the last rows begin that sum up those above.
TOTALS = ("total", "totals", "grand total", "sum", "mean", "average", "summe", "gesamt", "mittelwert")
SPACES = re.compile(r'(?<!\S)("(?:[^"\n]|"")*")(?!\S)|[ \t]+')
OF_A_KIND = re.compile(r'(?<!\S)(?:"[^"\n]*"|[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?|NA)(?!\S)')
# A cell in quotation marks, in which a backslash stands in front of marks that are part of it.
ESCAPING_CELL = re.compile(r'(?m)(^|[\t,;| ])"((?:[^"\\]|\\.|"")*)"(?=[\t,;| ]|$)', re.DOTALL)
ESCAPE = re.compile(r'\\["\\]')
# Remarks above a table, each line of which begins with this mark.
PERCENTS = re.compile(r"\A(?:\s*%.*\n)+")
DASHES = re.compile(r"(?m)^(?=.*[-=_]{3})[-=_ \t|+:]+$")
BETWEEN_WORDS = re.compile(r"[\s,;|]+")
WORD = re.compile(r"\S+")
LONGEST_ALIGNED = 10_000  # letters of a line in columns of a fixed width
# A cell of several numbers between which there are spaces.
NUMBERS_IN_A_CELL = re.compile(rf"(?m)(?:^|[\t,;|]) *{NUMBER.pattern}(?: +{NUMBER.pattern})+ *(?=[\t,;|]|$)")


@dataclass
class Records:
    """Where the records of a text are: their first lines, the lines behind them, their widths, and the outermost."""

    lines: list[str]
    starts: list[int]
    ends: list[int]
    widths: list[int]
    head: list[list[str]]
    tail: deque[list[str]]

    @property
    def usual(self) -> int:
        """The width that most records have."""
        return Counter(self.widths).most_common(1)[0][0]

    def text(self, first: int, end: int) -> str:
        """Return records as text, without blank lines."""
        spans = zip(self.starts[first:end], self.ends[first:end])
        return "".join(f"{line}\n" for start, stop in spans for line in self.lines[start:stop])


def read_csv(data: bytes, name: str, limits: Limits, rules: Rules, *, delimiter: str = "") -> Table:
    """Read text separated by commas, semicolons, tabs, bars or spaces; `delimiter`: empty if it must be found."""
    text, notes = decode(data, name, rules)
    line = SEPARATOR_LINE.match(text)
    if line:
        # an empty line in its place keeps the numbers of the others
        text, delimiter = text[line.end() - 1 :], delimiter or line[1]
    text = _without_dashes(_with_doubled_quotes(text, delimiter, rules), rules)
    delimiter = delimiter if delimiter and delimiter in text else _delimiter_of(text)
    spaced = _spaced(text, delimiter)
    if spaced:
        return read_text(spaced, name, limits, rules, "\t", notes, "text separated by spaces")
    aligned = _aligned(text) if not delimiter or delimiter not in text.lstrip("\n").partition("\n")[0] else ""
    if aligned:
        return read_text(aligned, name, limits, rules, "\t", notes, "text in columns of a fixed width")
    return read_text(text, name, limits, rules, delimiter or ",", notes)


def read_text(
    text: str, name: str, limits: Limits, rules: Rules, delimiter: str, notes: list[str], format: str = ""
) -> Table:
    """Read separated text; `notes` are sentences that come first, `format` says how it is separated."""
    records = _records_of(text, name, limits, delimiter)
    first = _first_record(records, rules)
    end, short = _last_record(records, rules)
    below = first + 1 + _is_second_line(records, first, end - short)
    if below > first + 1:
        line, cells = records.starts[first + 1] + 1, sized(records.widths[first + 1], "cells")
        notes = [*notes, f"Line {line}, below the header, has {cells}; the others of its row are empty."]
    width = _width(records, first, below, end - short)
    if width == 1:
        raise FileProblem(
            f"{name} has a single column. It needs at least a target and one feature, separated by commas, semicolons,"
            " tabs, bars or spaces."
        )
    check_shape(limits, name, max(0, end - first - 1), width)
    frame = parse(records.text(first, end), width, delimiter)
    if len(frame) != end - first:
        raise FileProblem(f"{name} could not be split into rows: check its quotation marks and line ends.")
    format = format or f"text separated by {DELIMITERS[delimiter]}"
    top, frame = frame.iloc[0, : records.widths[first]].tolist(), frame.iloc[1:].reset_index(drop=True)
    if len(top) < width and not may_lack_names(top, frame):
        line = records.starts[first + 1] + 1
        raise FileProblem(f"Line {line} has {sized(width, 'cells')}, the first line has {len(top)}.")
    return headed(top, frame, name, rules, delimiter, format, notes)


def decode(data: bytes, name: str, rules: Rules) -> tuple[str, list[str]]:
    """Turn bytes into text with plain line ends: UTF-16 or UTF-8; bytes that are neither are Latin-1, with a note.

    What Windows calls Latin-1 has the euro and quotation marks beside. Where letters have two bytes each, the text is
    Japanese, Chinese or Korean, unless that is declined.
    """
    encoding, errors = "utf-8-sig", "surrogateescape"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, errors = "utf-16", "strict"
    elif data[:200].count(0) >= len(data[:200]) // 3 > 0:
        # plain text in UTF-16 without a mark has a zero in every other byte
        encoding, errors = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "strict"
    try:
        text = data.decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise FileProblem(f"{name} is not valid {encoding.upper()} text; save it as UTF-8.") from None
    text = text.replace("\n\ufeff", "\n")  # of files that were joined
    if "\0" in text:
        raise FileProblem(f"{name} is not a text file: it contains zero bytes.")
    first = ESCAPED.search(text)
    if first is None:
        return text, []
    escaped = len(ESCAPED.findall(text))
    codec = _of_two_bytes(data, escaped)
    if codec and rules.propose("encoding", f"Read as {TWO_BYTES[codec]} ({codec})", escaped, "bytes", default=True):
        return data.decode(codec).replace("\r\n", "\n").replace("\r", "\n"), []
    line = 1 + text.count("\n", 0, first.start())
    text, count = ESCAPED.subn(lambda byte: _letter(ord(byte[0]) - 0xDC00), text)
    return text, [f"Bytes that are not UTF-8 were read as Latin-1: {count:,}, the first in line {line:,}."]


def _of_two_bytes(data: bytes, escaped: int) -> str:
    """Name the encoding, from before UTF-8, of text most letters of which have two bytes; empty: there is none.

    `escaped`: how many bytes are not UTF-8.
    """
    beyond = len(BEYOND_ASCII.findall(data))
    if escaped < FEWEST_BYTES or 2 * escaped < beyond:
        return ""
    require("Reading text that is not UTF-8", "charset_normalizer", extra="files")
    from charset_normalizer import from_bytes

    lines = data[: data.rfind(b"\n", 0, MOST_DETECTED) + 1] or data[:MOST_DETECTED]
    for found in from_bytes(lines, cp_isolation=[*TWO_BYTES], threshold=MOST_CHAOS):
        try:
            text = data.decode(found.encoding)
        except UnicodeDecodeError:
            continue
        if len(text) - len(text.encode("ascii", "ignore")) <= MOST_LETTERS * beyond:
            return found.encoding
    return ""


def _letter(code: int) -> str:
    return bytes([code]).decode("cp1252", "ignore") or chr(code)


def split(text: str, delimiter: str, strict: bool = True) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (first line, line behind, cells) of every record that is not blank; a record may span lines in quotes."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, strict=strict)
    while True:
        line = reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if "field larger" in str(error):
                message = f"Line {line + 1} has a cell that is too long, or a quotation mark is open."
                raise FileProblem(message) from None
            raise FileProblem(f"Line {line + 1} has a misplaced or open quotation mark.") from None
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0]):
            yield line, reader.line_num, cells


def parse(text: str, width: int, delimiter: str) -> pandas.DataFrame:
    """Let pandas split checked text: a table of texts, the columns of which are 0, 1, …."""
    import pandas as pd

    return pd.read_csv(
        io.StringIO(text or "\n"),
        sep=delimiter,
        header=None,
        names=range(width),
        index_col=False,
        dtype=str,
        na_filter=False,
        # Spaces in front of a cell are the cell's, unless a quotation mark is behind them.
        skipinitialspace=f'{delimiter} "' in text or text.startswith(' "') or '\n "' in text,
        low_memory=False,
    )


def _widths_of(text: str, delimiter: str, strict: bool = True) -> Counter[int]:
    """Count the records of each width, but for remarks; none if the text cannot be split."""
    rows, remarks = Counter[int](), Counter[int]()
    try:
        for _, _, cells in split(text, delimiter, strict):
            (remarks if cells[0].startswith(REMARK) else rows)[len(cells)] += 1
    except FileProblem:
        return Counter()
    return rows or remarks


def _splits(text: str, delimiters: Iterable[str]) -> bool:
    """Whether some delimiter splits every record into the same number (> 1) of cells."""
    return any(len(widths) == 1 and min(widths) > 1 for widths in (_widths_of(text, each) for each in delimiters))


def _with_doubled_quotes(text: str, delimiter: str, rules: Rules) -> str:
    """Double the quotation marks behind a backslash, as CSV does, in text that does not split as it is written.

    Two backslashes become one if no other sign follows a backslash: then the program that wrote them doubled them.
    """
    delimiters = delimiter or [*DELIMITERS, " "]
    if '\\"' not in text or _splits(text, delimiters):
        return text
    cells = [match[2] for match in ESCAPING_CELL.finditer(text) if '\\"' in match[2]]
    doubled = all(match[1] in '"\\' for match in re.finditer(r"\\(.?)", text))
    signs = {'\\"': '""', r"\\": "\\" if doubled else r"\\"}
    plain = ESCAPING_CELL.sub(lambda cell: f'{cell[1]}"{ESCAPE.sub(lambda escape: signs[escape[0]], cell[2])}"', text)
    rule = "A backslash in front of a quotation mark makes it a part of the cell"
    done = _splits(plain, delimiters) and rules.propose("backslashes", rule, len(cells), example=cells[0], default=True)
    return plain if done else text


def _delimiter_of(text: str, strict: bool = True) -> str:
    """Choose the delimiter that splits most records into the same number (> 1) of cells; empty if none does.

    Quotation marks must stand around whole cells, unless they do so with no delimiter.
    """
    best, best_share = "", 0.0
    for delimiter in (mark for mark in DELIMITERS if mark in text):
        widths = _widths_of(text, delimiter, strict)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        share = count / widths.total() if width > 1 else 0.0
        if share > best_share:
            best, best_share = delimiter, share
    return best or (_delimiter_of(text, strict=False) if strict else "")


def _spaced(text: str, delimiter: str) -> str:
    """Return text whose cells spaces separate with tabs in their place; empty: they do not.

    Such lines have as many cells each, but for remarks, titles and footnotes, which stay as they are, and a header that
    lacks the rows' names; most cells are numbers or quoted. Where another delimiter splits them too, its cells must
    hold several numbers.
    """
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith(REMARK)]
    even = len(_widths_of(text, delimiter, strict=False)) == 1 if delimiter == "\t" else bool(delimiter)
    if len(lines) < 2 or (even and len(NUMBERS_IN_A_CELL.findall(text)) < len(lines) - 1):
        return ""
    text = PERCENTS.sub(lambda above: above[0].replace("%", REMARK), text)  # as MATLAB marks remarks
    stripped = "\n".join(line.strip(" \t") for line in text.split("\n"))
    tabbed = SPACES.sub(lambda match: match[1] or "\t", stripped)
    tabbed = re.sub(rf"(?m)^{REMARK}\t", REMARK, tabbed)  # NumPy writes a space between the mark and the names
    records = [each for each in split(tabbed, "\t", strict=False) if not each[2][0].startswith(REMARK)]
    widths = [len(cells) for _, _, cells in records]
    usual = Counter(widths).most_common(1)[0][0] if widths else 1
    first, end = (next((k for k, each in enumerate(side) if each == usual), 0) for side in (widths, widths[::-1]))
    end = len(widths) - end
    first -= first == 1 and widths[0] == usual - 1
    below_blank = [k for k in range(1, min(MOST_TITLES, len(records))) if records[k][0] > records[k - 1][1]]
    first = max([first, *(k for k in below_blank if widths[k : k + 2] == [usual] * 2 and _holds_words(records[k][2]))])
    if usual == 1 or max(first, len(widths) - end) > MOST_TITLES or {*widths[first + 1 : end]} != {usual}:
        return ""
    if first and not _holds_words(records[first][2]):
        return ""  # the header may have names of several words
    rows = tabbed.split("\n")
    above, below = records[first][0] if first else 0, records[end - 1][1]
    body = "\n".join(rows[above:below])
    if 2 * len(OF_A_KIND.findall(body.replace("\t", " "))) <= usual * (end - first - 1):
        return ""
    old = stripped.replace("\t", " ").split("\n")
    if not all(_is_footnote([line], usual) for line in old[below:] if line):
        return ""  # a row that is cut short
    return "\n".join([*old[:above], body, *old[below:]]) if first else "\n".join([body, *old[below:]])


def _without_dashes(text: str, rules: Rules) -> str:
    """Leave out lines of dashes around a header, unless that is declined; within quotation marks they are text."""
    drawn = [line.span() for line in islice(DASHES.finditer(text), MOST_DASHES + 1)]
    around = all(text.count("\n", 0, start) <= MOST_TITLES or not text[end:].strip() for start, end in drawn)
    quoted = any(text.count('"', 0, start) % 2 for start, _ in drawn)
    if quoted or not around or not 0 < len(drawn) <= MOST_DASHES:
        return text
    if not rules.propose("dashes", "Left out, lines of dashes", len(drawn), "lines", default=True):
        return text
    parts = [text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *drawn, (len(text), 0)])]
    return "".join(parts)  # an empty line in its place keeps the numbers of the others


def _aligned(text: str) -> str:
    """Return text whose cells stand one below the other with tabs between them; empty: they do not.

    Titles above a blank line, up to two lines above the header, and footnotes below a blank line stay as they are; the
    header below titles holds words only.
    """
    lines = [line.expandtabs() for line in text.split("\n")]
    filled = [k for k, line in enumerate(lines) if line.strip()]
    above = [k for k in filled[1:MOST_TITLES] if not lines[k - 1].strip()]
    below = [k + 1 for k in filled[-MOST_TITLES:-1] if not lines[k + 1].strip()]
    for first in dict.fromkeys([0, *above[::-1], *filled[1:3]]):
        for end in (len(lines), *below):
            body = _in_columns(lines[first:end])
            if body and (not first or _holds_words(body[0].split("\t"))):
                return "\n".join([*lines[:first], *body, *lines[end:]])
    return ""


def _holds_words(cells: list[str]) -> bool:
    """Whether no cell is a number, as in a header below titles."""
    return not any(NUMBER.fullmatch(cell) for cell in cells)


def _in_columns(lines: list[str]) -> list[str]:
    """Return lines whose cells stand one below the other with tabs between them; empty: they do not.

    A column ends where all lines have a space. One space within a name or a cell does not end it: then there is nothing
    above or below. Some column must hold numbers only, which prose does not.
    """
    filled = [line for line in lines if line.strip()]
    longest = max(map(len, filled), default=0)
    if len(filled) < 3 or longest > LONGEST_ALIGNED:
        return []
    covered = np.zeros(2 + longest, dtype=bool)
    for number, line in enumerate(filled):
        for word in WORD.finditer(line):
            covered[word.start() + 1 : word.end() + 1] = True
        if number % 1_000 == 0 or number == len(filled) - 1:  # most text has no such columns: it is soon known
            starts, ends = (np.flatnonzero(np.diff(covered.astype(np.int8)) == sign) for sign in (1, -1))
            if len(starts) < 2:
                return []
    columns: list[tuple[int, int]] = []
    for span in zip(starts, ends):
        start, end = map(int, span)
        empty = [not any(line[a:b].strip() for line in filled[1:]) for a, b in (*columns[-1:], (start, end))]
        words = any(empty) and len(filled[0][:start].rstrip()) == start - 1  # of one name, without cells below
        if columns and start == columns[-1][1] + 1 and (words or not filled[0][start:end].strip()):
            start, _ = columns.pop()
        columns.append((start, end))
    cells = [[line[start:end].strip() for start, end in columns] for line in lines]
    body = [row for row, line in zip(cells, lines) if line.strip()][1:]
    numbers = any(all(NUMBER.fullmatch(row[j]) or row[j] in MISSING for row in body) for j in range(len(columns)))
    return ["\t".join(row) if any(row) else "" for row in cells] if numbers and len(columns) > 1 else []


def _records_of(text: str, name: str, limits: Limits, delimiter: str) -> Records:
    records = Records(text.split("\n"), [], [], [], [], deque(maxlen=MOST_TITLES + 1))
    remarks = 0  # above the table; there may be any number of them
    for start, end, cells in split(text, delimiter):
        records.starts.append(start)
        records.ends.append(end)
        records.widths.append(len(cells))
        remarks += len(records.head) == remarks and cells[0].startswith(REMARK)
        if len(records.head) <= MOST_TITLES + remarks:
            records.head.append(cells)
        records.tail.append(cells)
        if len(records.starts) == 1:
            check_shape(limits, name, 1, len(cells))
        elif len(records.starts) > limits.max_rows + 1 + 2 * MOST_TITLES + remarks:
            raise FileProblem(f"{name} has more than {limits.max_rows:,} rows, which is the most that is read.")
    if not records.starts:
        raise FileProblem(f"{name} is empty.")
    return records


def _first_record(records: Records, rules: Rules) -> int:
    """Return the number of the record with which the table begins, below its titles and remarks.

    Titles are records of which at most one cell is filled, or of at most half as many cells as most have: words may
    hold the delimiter, too. Where there are remarks, these are the titles.
    """
    head, usual = records.head, records.usual
    first = next((k for k, cells in enumerate(head) if not cells[0].startswith(REMARK)), 0)
    if first and len(head[first - 1]) == usual and _is_row(head[first], head[first + 1 :]):
        first -= 1
    if not first:
        first = next((k for k, cells in enumerate(head) if not _is_title(cells, usual)), 0)
    if not first:
        return 0
    filled = [cell.strip() for cells in head[:first] for cell in cells if cell.strip()]
    begins = (next((cell.strip() for cell in cells if cell.strip()), "") for cells in head[:first])
    words = not any(map(NUMBER.fullmatch, begins))
    text, titles = "Left out above the header", " / ".join(filled)
    return first * rules.propose("titles", text, first, "lines", example=titles, default=words)


def _is_title(cells: list[str], usual: int) -> bool:
    return 2 * len(cells) <= usual or (len(cells) != 2 and sum(bool(cell.strip()) for cell in cells) <= 1)


def _is_row(cells: list[str], below: list[list[str]]) -> bool:
    """Whether a record is a row rather than a header: it holds a number, or a text that comes again in its column."""
    return any(
        NUMBER.fullmatch(cell.strip()) or any(j < len(row) and row[j] == cell for row in below)
        for j, cell in enumerate(cells)
    )


def _last_record(records: Records, rules: Rules) -> tuple[int, int]:
    """Return the number of the record behind the table, and how many of its last rows may lack cells.

    Below are lines of words, which are rows where they are not left out, and rows that sum up those above.
    """
    usual, end = records.usual, len(records.starts)
    if usual <= 2 or end <= 3:
        return end, 0
    body = list(records.tail)[2 - end :]  # below a header and a row
    tail = [[cell.strip() for cell in cells] for cells in reversed(body)]
    below = [next((k for k, cells in enumerate(tail) if not test(cells, usual)), len(tail)) for test in BELOW]
    lines = [" ".join(filter(None, cells)) for cells in tail]
    notes = [" / ".join(filter(None, reversed(lines[:count]))) for count in below]
    short = below[0]
    text = "Left out below the table"
    if below[0] and rules.propose("footnotes", text, below[0], "lines", example=notes[0], default=True):
        end, short = end - below[0], 0
    text = "Left out at the end, as totals and remarks"
    more = below[1] - below[0]
    if more > 0 and notes[1] and rules.propose("totals", text, more, "rows", example=notes[1]):
        return len(records.starts) - below[1], 0
    return end, short


def _is_footnote(cells: list[str], usual: int) -> bool:
    """Whether a line is too short to be a row, and holds words, of which at most half are numbers."""
    first, *more = cells
    words = BETWEEN_WORDS.split(" ".join(cells).strip())
    if 2 * sum(NUMBER.fullmatch(word) is not None for word in words) > len(words):
        return False
    numbered = (
        len(more) == 1 and (first.endswith(".") or " " in more[0].strip()) and not NUMBER.fullmatch(more[0] or "0")
    )
    return 2 * len(cells) <= usual and bool(first) and (numbered or not NUMBER.fullmatch(first))


def _is_total(cells: list[str], usual: int) -> bool:
    """Whether a row may stand below the table: a total, or words alone in its first cell; or no row at all."""
    alone = not any(cells[1:]) and not NUMBER.fullmatch(cells[0]) and cells[0] not in MISSING[1:]
    return _is_footnote(cells, usual) or cells[0].casefold() in TOTALS or alone


BELOW = (_is_footnote, _is_total)


def _is_second_line(records: Records, first: int, end: int) -> bool:
    """Whether only the line below the header is short, and holds words: of units, say."""
    if end - first < 4 or records.widths[first + 1] >= records.widths[first]:
        return False
    cells = records.head[first + 1]
    return not any(NUMBER.fullmatch(cell.strip()) for cell in cells) and len({*records.widths[first + 2 : end]}) == 1


def _width(records: Records, first: int, below: int, end: int) -> int:
    """Return the width of the table, after a check that all rows, from `below`, have it; the header may lack cells."""
    widths = [records.widths[first], *records.widths[below:end]]
    width = max(widths) if len(set(widths[1:])) == 1 else widths[0]
    for number, each in enumerate(widths[1:], below):
        if each != width:
            line = records.starts[number] + 1
            raise FileProblem(f"Line {line} has {sized(each, 'cells')}, the first line has {widths[0]}.")
    return width
