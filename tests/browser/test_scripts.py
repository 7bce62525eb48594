"""The page's scripts: modules that a browser can load as they are, and what they are joined into."""

import posixpath

import pytest

from supdr_viz.ui.own_files import ASSETS, bundle

SITE = "http://scripts.test/"
COMPONENTS = [
    "bar.js",
    "bridge.js",
    "cards.js",
    "channel.js",
    "columns.js",
    "gallery.js",
    "stage/hub.js",
    "stage/slot.js",
]
PAGES = ["follow.js", "lesson.js", "report.js"]
TYPES = {".js": "text/javascript", ".json": "application/json"}

EXPORTS = (
    "(address) => import(address).then((module) => Object.keys(module), ({name, message}) => `${name}: ${message}`)"
)
AS_ADDRESS = "(script) => URL.createObjectURL(new Blob([script], {type: 'text/javascript'}))"


def answer(route):
    """Answer with a file of the folder ``assets``, or with an empty page."""
    path = route.request.url.removeprefix(SITE)
    kind = TYPES.get(posixpath.splitext(path)[1])
    if kind is None:
        route.fulfill(content_type="text/html", body="<!doctype html>")
    else:
        route.fulfill(content_type=kind, body=ASSETS.joinpath(path).read_text(encoding="utf-8"))


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    page.route(f"{SITE}**", answer)
    page.goto(SITE)
    yield page
    page.close()


@pytest.mark.parametrize("entry", [*COMPONENTS, "stage/slot.js"])
def test_a_component_exports_the_same_from_its_modules_and_in_one_script(page, entry):
    exported = page.evaluate(EXPORTS, SITE + entry)
    assert exported in (["render"], ["default"])
    assert page.evaluate(EXPORTS, page.evaluate(AS_ADDRESS, bundle(entry))) == exported


@pytest.mark.parametrize("entry", PAGES)
def test_the_script_of_a_page_begins(page, entry):
    """Its modules, and what they are joined into, do as much as they can on a page without their elements."""
    outcome = page.evaluate(EXPORTS, SITE + entry)
    assert outcome == [] or outcome.startswith("TypeError: Cannot read properties of null")
    assert page.evaluate(EXPORTS, page.evaluate(AS_ADDRESS, bundle(entry))) == outcome


def test_names_of_modules_do_not_meet(page, tmp_path):
    texts = {
        "main.js": 'import {read as other} from "./one.js"\nimport {read} from "./two.js"\nconst own = 0\n'
        "export const all = [own, other(), read()]\n",
        "one.js": "const own = 1\nexport function read() {\n  return own\n}\n",
        "two.js": 'import {read as other} from "./one.js"\nconst own = 2\nexport const read = () => other() + own\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    address = page.evaluate(AS_ADDRESS, bundle("main.js", tmp_path))
    assert page.evaluate("(address) => import(address).then(({all}) => all)", address) == [0, 1, 3]
