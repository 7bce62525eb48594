"""The app's own scripts and style sheets as files: what a browser is told of them, and where pages are without them."""

import panel as pn
import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from panel.io.state import set_curdoc

from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.own_files import OwnFile, bundle, image, sheet
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Stage
from tests.viz import asking

CSS = "p { margin: 0; } /* a style sheet of these tests */"


@pytest.fixture(autouse=True)
def unoffered(monkeypatch):
    monkeypatch.setattr(OwnFile, "offered", False)
    monkeypatch.setattr(OwnFile, "_contents", {})


def answers(*addresses):
    """Ask a server for these addresses."""
    return asking.answers([OwnFile.route()], *((address, {}) for address in addresses))


def sent(*components):
    """What the browser is sent of these components."""
    document = Document()
    with set_curdoc(document):
        pn.Column(*components).server_doc(document)
    return serialize_json(document.to_json())


def test_a_style_sheet_is_a_file_that_browsers_keep():
    OwnFile.route()
    (answer,) = answers(sheet(CSS))
    assert answer.body.decode() == CSS
    assert answer.headers["Content-Type"].startswith("text/css")
    assert "immutable" in answer.headers["Cache-Control"]


def test_a_picture_is_a_file_where_there_are_files_and_part_of_the_page_elsewhere():
    content = bytes(range(256))
    assert image(content).startswith("data:image/webp;base64,")
    OwnFile.route()
    (answer,) = answers(image(content))
    assert (answer.body, answer.headers["Content-Type"]) == (content, "image/webp")


def test_another_text_is_another_file():
    OwnFile.route()
    assert sheet(CSS) == sheet(str(CSS)) != sheet(CSS + " ")


def test_an_unknown_file_is_not_there():
    OwnFile.route()
    assert [answer.code for answer in answers("own/0123456789abcdef.css", "own/../own/x.js", "own/x.py")] == [404] * 3


@pytest.mark.parametrize("component", [Hub, Bridge])
def test_a_components_module_loads_its_script_from_a_file(component):
    whole = component._esm
    OwnFile.route()
    short = component._esm
    address = short.split('"')[1]
    (answer,) = answers(address)
    assert answer.body.decode() == whole
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert len(short) < 200 < len(whole)


def test_a_page_of_a_server_holds_no_text_of_a_file():
    inline = sent(Hub(Stage()), widgets.html("<p>said</p>"))
    OwnFile.route()
    served = sent(Hub(Stage()), widgets.html("<p>said</p>"))
    for mark in ("class Board", "border-collapse"):
        assert mark in inline
        assert mark not in served
    assert len(inline) - len(served) > 0.9 * len(bundle("stage/hub.js"))
