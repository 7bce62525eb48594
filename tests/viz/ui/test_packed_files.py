"""Scripts and style sheets of the kit, packed for browsers that unpack them."""

import gzip
from pathlib import Path

import bokeh.settings
import panel_material_ui
import pytest
from bokeh.embed.bundle import extension_dirs

from supdr_viz.ui import packed_files
from supdr_viz.ui.own_files import OwnFile
from tests.viz import asking

SCRIPT = "static/js/bokeh-gl.min.js"
FILE = Path(bokeh.settings.settings.bokehjs_path()) / "js" / "bokeh-gl.min.js"
UNPACKS = {"Accept-Encoding": "gzip, deflate, br", "Host": "lecture.example:5006"}


@pytest.fixture(autouse=True)
def unoffered(own_files):
    own_files(False)


def answers(*asked, **limits):
    """Ask for addresses with headers, one after the other; what is asked for is packed before the next."""
    routes = packed_files.routes(**limits)
    packing = routes[0][-1]["packing"]
    return asking.answers([*routes, OwnFile.route()], *asked, after=lambda: packing._thread.submit(int).result())


def test_from_the_second_time_on_a_script_travels_packed():
    first, second = answers((SCRIPT, UNPACKS), (SCRIPT, UNPACKS))
    assert "Content-Encoding" not in first.headers
    assert first.body == FILE.read_bytes()
    assert second.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(second.body) == FILE.read_bytes()
    assert len(second.body) == int(second.headers["Content-Length"]) < len(first.body) / 2
    assert second.headers["Content-Type"] == first.headers["Content-Type"]
    assert {first.headers["Vary"], second.headers["Vary"]} == {"Accept-Encoding"}
    assert first.headers["ETag"] != second.headers["ETag"]


@pytest.mark.parametrize(
    "otherwise", [{"Accept-Encoding": "identity"}, {"Host": "localhost:5006"}, {"Host": "[::1]:5006"}]
)
def test_who_does_not_unpack_or_needs_no_network_gets_a_file_as_it_is(otherwise):
    *_, plain = answers((SCRIPT, UNPACKS), (SCRIPT, {**UNPACKS, **otherwise}))
    assert "Content-Encoding" not in plain.headers
    assert plain.body == FILE.read_bytes()


def test_what_a_browser_has_is_not_sent_again():
    _, packed = answers((SCRIPT, UNPACKS), (SCRIPT, UNPACKS))
    *_, again = answers((SCRIPT, UNPACKS), (SCRIPT, {**UNPACKS, "If-None-Match": packed.headers["ETag"]}))
    assert (again.code, again.body) == (304, b"")


def test_files_of_what_extends_the_kit_are_packed_and_fonts_are_not():
    folder = Path(panel_material_ui.__file__).parent / "dist"
    assert extension_dirs["panel-material-ui"] == folder
    font = next(folder.glob("*.woff2")).name
    script = "static/extensions/panel-material-ui/panel-material-ui.bundle.js"
    *_, packed = answers((script, UNPACKS), (script, UNPACKS))
    assert gzip.decompress(packed.body) == (folder / "panel-material-ui.bundle.js").read_bytes()
    *_, plain = answers(*[(f"static/extensions/panel-material-ui/{font}", UNPACKS)] * 2)
    assert plain.body == (folder / font).read_bytes()


@pytest.mark.parametrize("address", ["static/js/none.js", "static/../../setup.js", "static/extensions/none/a.js"])
def test_nothing_else_is_read(address):
    for answer in answers(*[(address, UNPACKS)] * 2):
        assert answer.code in (403, 404)


def test_who_asks_for_a_part_gets_the_whole():
    *_, whole, part = answers(*[(SCRIPT, UNPACKS)] * 2, (SCRIPT, {**UNPACKS, "Range": "bytes=10-19"}))
    assert (part.code, part.body) == (200, whole.body)
    assert {whole.headers["Accept-Ranges"], part.headers["Accept-Ranges"]} == {"none"}


def test_no_more_files_are_packed_than_pages_need():
    for answer in answers((SCRIPT, UNPACKS), (SCRIPT, UNPACKS), most_packed=0):
        assert answer.body == FILE.read_bytes()


@pytest.mark.parametrize("name", ["elsewhere:5006", "localhost:5006"])
def test_our_own_files_travel_packed_too(name):
    (answer,) = answers((OwnFile.address("p { margin: 0 }", "css"), {**UNPACKS, "Host": name}))
    packed = answer.headers.get("Content-Encoding") == "gzip"
    assert packed == name.startswith("elsewhere")
    assert (gzip.decompress(answer.body) if packed else answer.body) == b"p { margin: 0 }"
