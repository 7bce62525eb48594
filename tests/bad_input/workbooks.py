"""Excel workbooks, written by hand: good ones, wrong ones with what is said about them, and a bomb."""

import io
import zipfile
from datetime import date
from xml.sax.saxutils import escape, quoteattr

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = (
    f'<styleSheet {MAIN}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
    "</styleSheet>"
)
FIRST_DAY = date(1899, 12, 30)


def place(row, column):
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def cell(value, row, column):
    where = f'r="{place(row, column)}"'
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c {where} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, date):
        return f'<c {where} s="1"><v>{(value - FIRST_DAY).days}</v></c>'
    if isinstance(value, (int, float)):
        return f"<c {where}><v>{value!r}</v></c>"
    return f'<c {where} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def sheet(rows, closing=""):
    lines = (
        f'<row r="{i}">{"".join(cell(value, i, j) for j, value in enumerate(row, 1))}</row>'
        for i, row in enumerate(rows, 1)
    )
    return f"<worksheet {MAIN}><sheetData>{''.join(lines)}</sheetData>{closing}</worksheet>"


def workbook(compression=zipfile.ZIP_DEFLATED, closing="", **sheets):
    """Return the bytes of a workbook: name of a sheet -> its rows, or the text of its file.

    `closing`: what stands behind the rows of each sheet.
    """
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="r{k}"/>' for k, name in zip(numbers, sheets, strict=True)
    )
    related = "".join(
        f'<Relationship Id="r{k}" Type="{RELATION}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in numbers
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{RELATION}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{related}'
        f'<Relationship Id="s" Type="{RELATION}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
    }
    for number, rows in zip(numbers, sheets.values(), strict=True):
        members[f"xl/worksheets/sheet{number}.xml"] = rows if isinstance(rows, str) else sheet(rows, closing)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return buffer.getvalue()


TABLE = [["a", "b", "class"], [1, 2.5, "x"], [3, None, "y"]]
FAR = f'<worksheet {MAIN}><sheetData><row><c r="A1"><v>1</v></c><c r="{{}}"><v>1</v></c></row></sheetData></worksheet>'

UNNAMED = f'<worksheet {MAIN}><sheetData><row>{"<c/>" * 6000}</row><row r="2"><c/></row></sheetData></worksheet>'

BAD = [
    ("a workbook cut short", "a.xlsx", workbook(one=TABLE)[:-40], "a.xlsx is not a complete Excel workbook"),
    ("a workbook begun", "a.xlsx", b"PK\x03\x04", "a.xlsx is not a complete Excel workbook"),
    ("an empty workbook", "a.xlsx", workbook(one=[], two=[]), "^a.xlsx is empty.$"),
    ("one column", "a.xlsx", workbook(one=[["a"], [1], [2]]), "Sheet 'one' has a single column"),
    ("titles only", "a.xlsx", workbook(one=[["Results"], ["of 2024"]]), "Sheet 'one' has a single column"),
    ("a header only", "a.xlsx", workbook(one=TABLE[:1]), "a.xlsx has a header but no rows|No row is labelled"),
    ("a cell far below", "a.xlsx", workbook(one=FAR.format("B1048576")), "a.xlsx has 1,048,575 rows; at most 100,000"),
    ("a cell far to the right", "a.xlsx", workbook(one=FAR.format("XFD2")), "a.xlsx has 16,384 columns; at most 5,000"),
    ("cells without names", "a.xlsx", workbook(one=UNNAMED), "a.xlsx has 6,000 columns; at most 5,000"),
    ("old Excel", "a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "holds old or protected Excel data"),
    ("a workbook called CSV", "a.csv", workbook(one=TABLE), "a.csv is called .csv but holds ZIP, Excel or NPZ data"),
    ("CSV called Excel", "a.xlsx", b"a,b,class\n1,2,x\n", "a.xlsx is not a complete Excel workbook"),
]

ODD = [
    ("columns of one name", "a.xlsx", workbook(one=[["a", "a", "class"], [1, 2, "x"], [2, 1, "y"]]), (2, 2)),
    ("a workbook", "a.xlsx", workbook(one=TABLE), (2, 2)),
    ("two sheets, the first empty", "a.xlsx", workbook(one=[], two=TABLE), (2, 2)),
    (
        "a sheet about the table",
        "a.xlsx",
        workbook(About=[["by", "of"], ["me", 2024]], one=TABLE[:1] + TABLE[1:] * 20),
        (40, 2),
    ),
    ("a workbook without a header", "a.xlsx", workbook(one=[[1, 2, 0], [3, 4, 1]]), (2, 2)),
    ("titles above", "a.xlsx", workbook(one=[["Results of 2024"], [], *TABLE]), (2, 2)),
    ("a table in the middle", "a.xlsx", workbook(one=[[], [], *([None, None, *row] for row in TABLE)]), (2, 2)),
    (
        "yes, no and days",
        "a.xlsx",
        workbook(one=[["a", "d", "y"], *([bool(k % 2), date(2024, 1, 1 + k), k % 2] for k in range(9))]),
        (9, 2),
    ),
    ("a sheet with marks in its name", "a.xlsx", workbook(**{"<b>&\"'": TABLE}), (2, 2)),
]
