"""Names of files, columns and classes that are markup or formulas: every way out shows them as what they are, names."""

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import panel as pn
import panel_material_ui as pmui
import pytest

from supdr_viz.data.csv_safety import escape_formula
from supdr_viz.export.progress import no_progress
from supdr_viz.export.work import export_work
from supdr_viz.lessons import read_lesson
from supdr_viz.lessons.document import lesson_html
from supdr_viz.pages.explorer import page as explorer
from supdr_viz.run.session import Session
from supdr_viz.ui.own_files import ASSETS
from tests.viz.visitor import Visitor

MARKUP = "</script></svg><img src=x onerror=harm()>"
QUOTED = "\"'><i onclick=harm() title=`"
FORMULA = '=HYPERLINK("http://x.example","y")'
NAMES = (MARKUP, QUOTED, FORMULA)

WRITES_HTML = {
    "columns.js": 1,  # bars of a histogram: numbers
    "follow.js": 1,  # the legend, escaped by the server
    "parts.js": 1,  # legend, counts and nearest rows, escaped by the server
    "rows/table.js": 1,  # bars of a distribution: numbers
    "stage/board.js": 1,  # words, escaped by the server
}
"""Scripts that write HTML, and how often; all others write text."""


class Handlers(HTMLParser):
    """Gathers what in a page would act by itself."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [(tag, name, value) for name, value in attrs if name.startswith("on") and "harm" in (value or "")]


def acts(markup):
    """What in a text would act if it were shown as HTML."""
    parser = Handlers()
    parser.feed(markup)
    parser.close()
    return parser.found


@pytest.fixture
def sessions(monkeypatch, sockets):
    made = []

    class Kept(Session):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(explorer, "Session", Kept)
    sockets(True)
    return made


def shown(visitor):
    """Every text that a page takes as HTML."""
    panes = (pn.pane.HTML, pn.pane.Markdown, pmui.Alert)
    return [*(str(pane.object) for kind in panes for pane in visitor.page.select(kind)), *visitor.words]


def a_table():
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*(f"{name} {k}" for k, name in enumerate(NAMES)), "class"])
    for k in range(60):
        writer.writerow([k % 7, (3 * k) % 11, k % 3 + 0.1 * (k % 5), NAMES[k % 3]])
    return text.getvalue()


def test_parsers_and_names_are_such_that_something_would_act():
    assert acts(f"<p>{MARKUP}")
    assert acts(f'<p title="{QUOTED}">')


def test_a_visitors_names_act_nowhere(sessions):
    with Visitor("?data=moons&data.n_samples=40&method=LSDR&method.max_iter=3") as visitor:
        visitor.choose("Data set", "A file …")
        visitor.upload(f"{MARKUP}{QUOTED}.csv", a_table())
        texts = shown(visitor)
        visitor.press("Use this file").settle()
        assert visitor.sees("In use: ")
        visitor.press("Share").press("Open a link for students")
        visitor.key(" ").settle()
        texts += shown(visitor)
        legend = " ".join(texts)
        assert "&lt;img src=x onerror" in legend  # they are shown, as what they are
        assert [found for text in texts for found in acts(text)] == []
        [session] = sessions
        report = export_work(session, "report")(no_progress).decode()
        assert "onerror" in report
        assert acts(report) == []
        for table in (session.embedding_csv(), session.labels_csv()):
            cells = {cell for row in csv.reader(io.StringIO(table)) for cell in row}
            assert f"'{FORMULA}" in cells
            assert not [cell for cell in cells if escape_formula(cell) != cell]
        visitor.upload(f"{MARKUP}{QUOTED}.csv", "a,b\n1,2")  # and what is said of a file that will not do
        assert [found for text in shown(visitor) for found in acts(text)] == []


def test_a_lesson_brings_no_markup():
    bad = (MARKUP + QUOTED).replace('"', '\\"')
    text = f"""
format = 1
title = "{bad}"
summary = "{bad}"
[[step]]
title = "{bad}"
text = "{bad} [x](javascript:harm())"
state = "data=moons&data.n_samples=20&method=LSDR&method.max_iter=2"
question = "{bad}"
options = ["{bad}", "No"]
answer = 1
reveal = "{bad}"
"""
    page = lesson_html(read_lesson(text, "bad.toml"))
    assert "onerror" in page
    assert acts(page) == []
    assert 'href="javascript' not in page


def test_scripts_write_names_as_text():
    """Tooltips, legends of saved pictures and axes are drawn or written as text: nothing of them is parsed as HTML."""
    folder = Path(ASSETS)
    found = {}
    for file in folder.rglob("*.js"):
        writing = r"\b(?:innerHTML|outerHTML)\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function"
        count = len(re.findall(writing, file.read_text(encoding="utf-8")))
        if count:
            found[file.relative_to(folder).as_posix()] = count
    assert found == WRITES_HTML
    svg = (folder / "stage" / "svg.js").read_text(encoding="utf-8")
    assert re.search(r"text\.replace\(/\[&<>\]/g", svg)


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-cmd|x", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_no_formulas_any_more(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=b", "-1", "+1.5e3", "class 1", "1-2"])
def test_what_is_no_formula_stays(text):
    assert escape_formula(text) == text
