"""What the kit leaves open: each reach into it still needs to be there, does what it is for, and is the only one."""

import asyncio
import gc
import json
import queue
import re
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from importlib import resources
from pathlib import Path

import bokeh.io.state
import panel as pn
import panel.io.document
import panel.io.resources
import panel_material_ui as pmui
import param
import pytest
from bokeh.client import pull_session
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from bokeh.server.urls import per_app_patterns
from bokeh.server.views.autoload_js_handler import AutoloadJsHandler
from panel.io.application import build_applications
from panel.io.state import set_curdoc
from panel_material_ui.widgets.base import MaterialWidget
from tornado.ioloop import IOLoop

import supdr_viz
from supdr_viz.ui import panel_workarounds
from supdr_viz.ui.components import USED
from tests.viz.sent_events import NEWER, sent_by
from tests.viz.visitor import describe_as_served

PACKAGE = Path(supdr_viz.__file__).parent


KIT = [
    (MaterialWidget, "_process_param_change"),
    (type(pn.state), "_busy_cleanup_scheduled"),
    (panel.io.document, "GC_DEBOUNCE"),
    (bokeh.io.doc, "patch_curdoc"),
    (bokeh.io.doc, "_PATCHED_CURDOCS"),
    (bokeh.io.state.curstate(), "document"),
]
"""What the functions under test set for the whole process."""


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """Leave the kit as it was."""
    for owner, name in KIT:
        monkeypatch.setattr(owner, name, getattr(owner, name))


@pytest.fixture
def document():
    """A page's document, with one button in it."""
    document = Document()
    with set_curdoc(document):
        document.add_root(pmui.Button(label="first").get_root(document))
        yield document


def test_before_the_page_is_painted_changes_are_sent_only_if_the_browser_is_known_to_be_there(document):
    [root] = document.roots

    def change():
        root.height = (root.height or 0) + 1

    # The day that Panel 1.9 is not supported any more, `browser_is_there` can go.
    assert len(sent_by(document, change)) == NEWER
    panel_workarounds.browser_is_there(document)
    assert len(sent_by(document, change)) == 1


def test_a_change_waits_only_where_nobody_has_asked_for_more():
    waits = []
    for made in (pmui.FloatSlider(end=9), panel_workarounds.heard_at_once(pmui.FloatSlider(end=9))):
        document = Document()
        with set_curdoc(document):
            model = made.get_root(document)
            document._session_context = lambda: object()
            model.data.value = 3.0
        [callback] = document.session_callbacks
        waits.append(callback.timeout)
        pn.state._change_callbacks.pop(document)
    # The day that the first is 0, half of `heard_at_once` can go.
    assert waits == [50, 0]


def test_a_slider_that_the_program_sets_was_not_let_go_of():
    kits, ours = pmui.FloatSlider(end=9), panel_workarounds.heard_at_once(pmui.FloatSlider(end=9))
    for each in (kits, ours):
        each.value = 3.0
    assert (kits.value_throttled == 3.0) is NEWER
    assert ours.value_throttled != 3.0


EMPTY_AT_FIRST = [
    (kind, name)
    for kind in sorted(USED, key=lambda kind: kind.__name__)
    for name in sorted(set(kind._data_model.properties()) & set(kind.param))
    if type(kind.param[name]) is param.String and not kind.param[name].default
]
"""Texts of the components that pages are made of which are empty until someone sets them."""


def browser_has(kind, name):
    """What the browser is told of a text: as it is set, and as it is emptied again."""
    made, document, told = kind(), Document(), []
    with set_curdoc(document):
        model = made.get_root(document)
        for value in ("check", kind.param[name].default):
            made.param.update(**{name: value})
            told.append(getattr(model.data, name))
    return told


@pytest.mark.parametrize(("kind", "name"), EMPTY_AT_FIRST)
def test_a_text_that_is_taken_away_is_gone_in_the_browser_too(kind, name):
    panel_workarounds.tell_what_is_emptied()
    filled, emptied = browser_has(kind, name)
    assert "check" in filled
    assert emptied == kind.param[name].default


@pytest.mark.parametrize("name", panel_workarounds.EMPTIED)
def test_by_itself_the_kit_keeps_an_icon_or_a_text_that_was_taken_away(name):
    MaterialWidget._process_param_change = panel_workarounds._FILLED_ONLY
    # The day that it is gone, `tell_what_is_emptied` can go.
    assert browser_has(pmui.Button, name) == ["check", "check"]


@pytest.mark.parametrize("served", [False, True])
def test_a_document_describes_components_that_no_page_has_and_tells_where_parts_of_them_would_be(monkeypatch, served):
    if served:
        describe_as_served(monkeypatch)
    document = Document()
    with set_curdoc(document):
        document.add_root(pmui.Button(label="first").get_root(document))
    content = document.to_json(deferred=False)
    described = {each["name"] for each in content["defs"]}
    assert {kind._data_model.__name__ for kind in USED} <= described
    # The day that these two hold without it, `describe_only` can go.
    assert (pmui.Rating._data_model.__name__ not in described) == served
    assert ("https://esm.sh" not in json.dumps(content)) == served


def test_pages_are_made_of_the_components_that_are_described():
    named = set()
    for file in PACKAGE.rglob("*.py"):
        if file != PACKAGE / "ui" / "components.py":
            named |= set(re.findall(r"\bpmui\.([A-Z]\w+)", file.read_text(encoding="utf-8")))
    assert named | {"NotificationArea"} == {kind.__name__ for kind in USED}


def visited(build):
    """Serve what ``build()`` makes, to one visitor who leaves; return weak references to the page and its document."""
    kept, gone, loops = [], threading.Event(), queue.Queue()

    def page():
        built, document = build(), pn.state.curdoc
        kept.extend(map(weakref.ref, (built, document)))
        return built

    def serve():
        server = pn.io.server.get_server(
            {"page": page},
            port=0,
            loop=IOLoop(make_current=False),
            unused_session_lifetime_milliseconds=1,
            check_unused_sessions_milliseconds=50,
        )
        server.start()
        loops.put((server.io_loop, server.port))
        server.io_loop.start()
        server.stop()
        server.io_loop.run_sync(what_is_begun)

    async def what_is_begun():
        # A task that is dropped half-way would hold the document.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=30)

    thread = threading.Thread(target=serve)
    thread.start()
    loop, port = loops.get(timeout=60)

    def visit():
        session = pull_session(url=f"http://localhost:{port}/page")
        loop.add_callback(lambda: kept[1]().on_session_destroyed(lambda _context: gone.set()))
        session.close()

    # In a thread of its own: this one may have a loop, that of a browser.
    with ThreadPoolExecutor(1) as visitor:
        visitor.submit(visit).result()
    assert gone.wait(60)
    loop.add_callback(loop.stop)
    thread.join(60)
    gc.collect()
    return kept


@pytest.mark.parametrize(
    ("untie", "forget"),
    [(True, True), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((True, False), (False, True)))],
)
def test_a_page_that_is_gone_is_held_by_what_the_kit_keeps(untie, forget):
    def build():
        pn.extension(notifications=True)
        page, document = pmui.Page(title="page"), pn.state.curdoc
        if untie:
            panel_workarounds.never_busy(page)
        if forget:
            pn.state.on_session_destroyed(
                lambda _context, document=document: panel_workarounds.forget_notifications(document)
            )
        return page

    page, document = (reference() is None for reference in visited(build))
    # The day that a page is gone without it, `never_busy` or `forget_notifications` can go.
    assert page == untie
    assert document == forget


@pytest.mark.parametrize("started", [False, True])
def test_the_kits_clock_holds_the_page_in_which_it_starts(started):
    type(pn.state)._busy_cleanup_scheduled = None

    async def visit():
        if started:
            panel_workarounds.start_clock()
        document = Document()
        with set_curdoc(document):
            pn.state._add_busy_event("a change")
            pn.state._remove_busy_event("a change")
        reference = weakref.ref(document)
        del document
        await asyncio.sleep(0)
        gc.collect()
        return reference() is None

    with ThreadPoolExecutor(1) as thread:
        gone = thread.submit(asyncio.run, visit()).result()
    # The day that a page is gone without it, `start_clock` can go.
    assert gone == started


@pytest.mark.parametrize("later", [False, True])
def test_garbage_is_looked_for_soon_after_the_end_of_a_page_or_in_a_lull(monkeypatch, later):
    planned = []
    monkeypatch.setattr(pn.state, "schedule_task", lambda _name, _act, at: planned.append(at))
    if later:
        panel_workarounds.collect_in_lulls()
    before, document = datetime.now(), Document()
    document.destroy = None  # as of one that the kit serves
    document.on_change(heard := lambda _event: None)

    async def end():
        panel.io.document._destroy_document(document, heard)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, end()).result()
    [at] = planned
    # The day that the first is as long, `collect_in_lulls` can go.
    assert ((at - before).total_seconds() > 30) == later


def file_chooser():
    """The library of the file choosers."""
    [script] = (resources.files("panel") / "dist" / "bundled" / "filedropper").rglob("filepond.*min.js")
    return script.read_text(encoding="utf-8")


def test_the_file_choosers_library_still_starts_a_painter_unless_there_is_one():
    script = file_chooser()
    # The day that it paints only what is shown, or looks for another name, CALM_FILE_CHOOSER must go.
    assert re.search(r'="__framePainter";if\(window\[(\w)\]\)return window\[\1\]\.readers\.push', script)
    assert "requestAnimationFrame" in script


def test_the_kit_still_says_of_its_fonts_what_they_are_and_not_for_which_letters():
    """The day that it does, or says nothing of them, FONTS_FOR_ALL_LETTERS must go; pages leave the sheet out."""
    sheet = (resources.files("panel_material_ui") / "dist" / panel_workarounds.FONTS_FOR_ALL_LETTERS).read_text(
        encoding="utf-8"
    )
    faces = re.findall(r"@font-face *{[^}]*Roboto[^}]*}", sheet)
    assert sum("unicode-range" not in face for face in faces) > 10


def test_bokeh_still_takes_models_that_the_server_has_sent_for_new():
    script = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js"
    finalize = r"const finalize = \(obj\) => \{[^}]*this\._new_models\.add\(obj\)"
    assert re.search(finalize, script.read_text(encoding="utf-8"))


def test_the_kit_still_has_its_loader_translate_all_modules():
    """The day that it leaves modules to browsers that know import maps, MODULES_AS_THEY_ARE must go."""
    assert '{"shimMode": true}' in panel.io.resources.JS_RESOURCES.render(js_module_exports={})


def current_after_an_error():
    """Let a callback of a page fail, end that page, build two others; return which of these is the current one then."""
    application = build_applications({"page": lambda: "a page"})["/page"]
    failing, value = Document(), ColumnDataSource()
    failing.add_root(value)
    value.on_change("name", lambda _attribute, _old, _new: 1 / 0)
    with suppress(ZeroDivisionError):
        value.name = "changed"
    del failing, value
    gc.collect()
    pages = [application.create_document() for _ in range(2)]
    if not NEWER:
        bokeh.io.doc._PATCHED_CURDOCS.clear()  # what the process holds is looked at
    return [page is bokeh.io.curdoc() for page in pages]


@pytest.fixture
def nobody_current():
    """Have no page be the current one."""
    bokeh.io.doc.patch_curdoc = panel_workarounds.BY_ITSELF
    if not NEWER:
        bokeh.io.doc._PATCHED_CURDOCS = []
    bokeh.io.state.curstate().document = Document()


def test_once_a_callback_has_failed_the_last_page_is_kept_unless_bokeh_is_made_to_let_go(nobody_current):
    # The day that Bokeh 3.9 is not supported any more, `let_go_after_errors` can go.
    assert current_after_an_error() == [False, not NEWER]
    bokeh.io.state.curstate().document = Document()
    panel_workarounds.let_go_after_errors()
    assert current_after_an_error() == [False, False]


def test_while_its_callback_runs_a_page_is_the_current_one_also_within_that_of_another(nobody_current):
    panel_workarounds.let_go_after_errors()
    documents, values, seen = (Document(), Document()), (ColumnDataSource(), ColumnDataSource()), []
    for document, value in zip(documents, values, strict=True):
        document.add_root(value)

    def outer(_attribute, _old, new):
        values[1].name = new
        seen.append(bokeh.io.curdoc())

    values[0].on_change("name", outer)
    values[1].on_change("name", lambda _attribute, _old, _new: seen.append(bokeh.io.curdoc()))
    values[0].name = "changed"
    assert seen == [documents[1], documents[0]]
    assert bokeh.io.curdoc() not in seen


REPLACES = r"\.prototype\.\w+ *=[^=]|window\.\w*[a-z]\w* *= *(function|\()|Bokeh\.require"


def test_no_script_replaces_what_belongs_to_the_browser_or_to_bokeh():
    for file in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.js")]:
        assert not re.search(REPLACES, file.read_text(encoding="utf-8")), file
    assert re.search(REPLACES, "window.requestAnimationFrame = (callback) => {")
    assert re.search(REPLACES, "Element.prototype.attachShadow = function (options) {")


def test_the_kit_offers_scripts_that_hold_the_token_of_a_page():
    """If it did not, nothing would have to be withheld; that it is withheld is seen in ``test_routes.py``."""
    assert issubclass(dict(per_app_patterns)["/autoload.js"], AutoloadJsHandler)
