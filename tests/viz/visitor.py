"""A visitor without a browser: a real session of a page, its widgets, and what the session tells.

How a page looks, and what a browser makes of mouse and keys, is left to ``tests/browser``.
"""

import asyncio
import contextlib
import html
import itertools
import math
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from unittest import mock

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.application.handlers.document_lifecycle import DocumentLifecycleHandler
from bokeh.application.handlers.function import FunctionHandler
from bokeh.events import DocumentReady
from bokeh.server.contexts import ApplicationContext
from panel.io.application import Application
from panel.io.state import set_curdoc
from panel.models.esm import DataEvent
from panel_material_ui.base import MaterialComponent
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.ioloop import IOLoop

from supdr_viz.controls.upload import limits
from supdr_viz.pages.cards import Cards
from supdr_viz.pages.compare.page import compare
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.pages.explorer.page import explorer
from supdr_viz.pages.lessons.page import lessons
from supdr_viz.pages.sensitivity.page import sensitivity
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run import run_machine
from supdr_viz.ui.bar import Bar, Pickable, Switches
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.components import USED
from supdr_viz.ui.gallery import Gallery
from supdr_viz.ui.panel_workarounds import browser_is_there, describe_only
from supdr_viz.ui.visitor import COOKIE
from supdr_viz.views.stage.components import Hub, Words
from supdr_viz.views.stage.packed_positions import unpacked_places

PAGES = {"explorer": explorer, "compare": compare, "sensitivity": sensitivity, "lessons": lessons}
NUMBERS = itertools.count(1)
TIMEOUT = 180
"""Seconds after which a page that does not settle has failed."""

REFRESH = 0.01
"""Seconds between two pictures of the screen that a visitor would see."""

PICTURES_A_SEARCH = 10
"""Pictures of the screen between two searches for stages on the page, each of some milliseconds."""


def describe_as_served(monkeypatch):
    """Have documents describe what those of the server do."""
    kinds = [MaterialComponent]
    for kind in kinds:
        monkeypatch.setattr(kind._data_model, "__data_model__", True)
        kinds += kind.__subclasses__()
    monkeypatch.setattr(MaterialComponent, "_process_importmap", MaterialComponent._process_importmap)
    describe_only(USED)


def plain(text):
    """Text of HTML as it is read."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())


class Visitor:
    """One visit; use it in a ``with`` statement.

    All is done in a thread with an event loop of its own, as a server does it.  Runs go as fast as they can: nobody
    watches.

    Parameters
    ----------
    query : str
        Of the address, with its question mark.
    page : {"explorer", "compare", "sensitivity", "lessons"}
    early : callable, optional
        ``early(visitor)``: what the browser makes happen without the lock while the page is not all there.
    name : str, optional
        By which the server tells visitors apart.
    """

    def __init__(self, query="", page="explorer", early=None, name=""):
        self._query, self._name, self._early = query, page, early
        self._headers = {"Host": "localhost", **({"Cookie": f"{COOKIE}=0-{name:-<16}"} if name else {})}
        self._told = {}
        self._thread = ThreadPoolExecutor(1)
        self._loop = asyncio.new_event_loop()
        self._pace = contextlib.ExitStack()

    def __enter__(self):
        at_once = dict.fromkeys(run_machine.STEPS_PER_SECOND)
        self._pace.enter_context(mock.patch.dict(run_machine.STEPS_PER_SECOND, at_once))
        self._pace.enter_context(mock.patch.object(run_machine, "SLOW_START", math.inf))
        self._await(self._open())
        return self.settle()

    def __exit__(self, *_error):
        self._pace.close()
        self._await(self._close())
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()

    async def _open(self):
        application = Application(FunctionHandler(self._build), DocumentLifecycleHandler())
        self._context = ApplicationContext(application, io_loop=IOLoop.current(), url=f"/{self._name}")
        line = RequestStartLine("GET", f"/{self._name}{self._query}", "HTTP/1.1")
        request = HTTPServerRequest(start_line=line, headers=HTTPHeaders(self._headers))
        self.session = await self._context.create_session_if_needed("visit", request)
        document = self.session.document

        def _arrive():
            document.callbacks.trigger_event(DocumentReady())
            self.bridge.origin = f"http://localhost/{self._name}"

        if self._early is not None:
            with set_curdoc(document):
                browser_is_there(document)
                self._early(self)
        await self.session.with_document_locked(_arrive)
        self._drawing = asyncio.ensure_future(self._screen())

    def _build(self, document):
        with set_curdoc(document):
            self.page = PAGES[self._name]()
            self.page.server_doc(document)

    async def _close(self):
        self._drawing.cancel()
        await self._context._discard_session(self.session, lambda _session: True)
        await asyncio.sleep(0)

    def _await(self, work):
        return self._thread.submit(self._loop.run_until_complete, work).result()

    async def _screen(self):
        """Do what the page's scripts do: say that a frame is drawn.  Events of a held document tell nobody."""
        for picture in itertools.count():
            await asyncio.sleep(REFRESH)
            if picture % PICTURES_A_SEARCH == 0:
                hubs = await self.session.with_document_locked(lambda: list(self.page.select(Hub)))
            await self.session.with_document_locked(partial(self._draw, hubs))

    def _draw(self, hubs):
        for hub in hubs:
            known, number = self._told.get(hub.board, 0), hub.stage.get("number")
            if hub.board not in self._told:
                self._told[hub.board] = 0
                self.send({"kind": "hello"}, hub)
            elif number is not None and number != known:
                self._told[hub.board] = number
                self.send({"kind": "painted", "number": number}, hub)

    # --- waiting ------------------------------------------------------------------------------------------------------

    def settle(self):
        """Wait until the page says that all that was begun is done."""
        number = str(next(NUMBERS))
        answered = asyncio.Event()
        watcher = self.bridge.param.watch(lambda _event: answered.set(), "settled")
        self.do(lambda: self.bridge.param.update(asked=number))
        self._await(asyncio.wait_for(answered.wait(), TIMEOUT))
        self.bridge.param.unwatch(watcher)
        return self

    def do(self, act):
        """Act in the page's thread under the document's lock; return what came of it."""

        def _act():
            with set_curdoc(self.session.document), pn.io.hold(self.session.document):
                return act()

        return self._await(self.session.with_document_locked(_act))

    def do_unlocked(self, act):
        """Act in the page's thread without the lock, as the kit does with a change that an event overtakes."""

        async def _act():
            with set_curdoc(self.session.document):
                return act()

        return self._await(_act())

    def tell(self, component, **properties):
        """Tell what has changed of a component in the browser."""
        component._process_events(properties)

    def send(self, message, component=None):
        """Send what the script of a component would, of the bridge by default."""
        component = self.bridge if component is None else component
        (model, _parent) = next(iter(component._models.values()))
        component._process_event(DataEvent(model, data=message))

    # --- what is seen -------------------------------------------------------------------------------------------------

    @property
    def bridge(self):
        return next(iter(self.page.select(Bridge)))

    @property
    def text(self):
        """All that can be read, without markup."""
        panes = [pane for kind in (pn.pane.HTML, pmui.Alert) for pane in self.page.select(kind) if pane.visible]
        pressed = [part.html for part in self.parts() if isinstance(part, Pickable) and part.visible]
        return " ".join(plain(text) for text in (*(str(pane.object) for pane in panes), *self.words, *pressed))

    @property
    def words(self):
        """HTML that travels with stages."""
        texts = [words.text for words in self.page.select(Words) if words.visible]
        return [*texts, *(text for cards in self.page.select(Cards) for text in cards.texts)]

    def sees(self, text):
        return text in self.text

    def head(self, title):
        """What the head of a card says beside its title."""
        texts = [*(str(pane.object) for pane in self.page.select(pn.pane.HTML)), *self.words]
        return next(text.removeprefix(title) for text in map(plain, texts) if text.startswith(title))

    @property
    def notices(self):
        """What popped up."""
        with set_curdoc(self.session.document):
            return " ".join(each.message for each in pn.state.notifications.notifications)

    @property
    def query(self):
        """Query of the page's address."""
        return self.bridge.query

    @property
    def status(self):
        """What screen readers hear."""
        return self.bridge.status

    @property
    def _line(self):
        texts = [*self.words, *(str(pane.object) for pane in self.page.select(pn.pane.HTML))]
        return next(text for text in texts if 'class="chip' in text)

    @property
    def chip(self):
        return re.search(r'class="chip[^>]*>(?:<[^>]*>)*([^<]*)', self._line).group(1).strip()

    @property
    def numbers(self):
        return plain(self._line.partition('class="numbers')[2].partition(">")[2])

    @property
    def iteration(self):
        found = re.search(r"iteration ([\d,]+)", self.numbers)
        return int(found.group(1).replace(",", "")) if found else None

    @property
    def stands(self):
        """The chip and the iteration."""
        return self.chip, self.iteration

    def number(self, name):
        """The figure behind a word of the status line: ``number("test error")``."""
        found = re.search(rf"{name} ([-+\d.,e]*\d)", self.numbers)
        return float(found.group(1).replace(",", "")) if found else None

    def model(self, name):
        """A model of the document by its name."""
        return next(iter(self.session.document.select({"name": name})))

    def stage(self, name="explorer"):
        """What one run's canvases show."""
        return next(hub.stage for hub in self.page.select(Hub) if hub.stage.get("name") == name)

    def places(self, view, ends="place"):
        """Where rows stand in a view, or their other ends; NaN: they are not shown."""
        return unpacked_places(self.stage().get("planes", view, ends))

    # --- what is done -------------------------------------------------------------------------------------------------

    def widget(self, label, **attributes):
        """The widget whose label begins so: marks may follow."""

        def _fits(each):
            texts = [str(getattr(each, name, None) or "") for name in ("label", "name")]
            right = all(getattr(each, name, None) == value for name, value in attributes.items())
            return right and any(text == label or text.startswith(f"{label} ") for text in texts)

        found = [each for each in (*self.page.select(_fits), *filter(_fits, self.parts())) if each.visible]
        assert found, f"there is no {label!r}"
        return found[0]

    def parts(self):
        """What stands in bars."""
        return [part for bar in self.page.select(Bar) if bar.visible for part in bar.held.values()]

    def press(self, label):
        """Press a button."""
        button = self.widget(label)
        assert not button.disabled, f"{label!r} cannot be pressed"
        self.do(lambda: button.param.update(clicks=button.clicks + 1))
        return self

    def choose(self, label, option):
        """Choose an entry of a menu, or an example of the gallery."""
        menu = self.widget(label)
        options = getattr(menu, "options", None) or ()
        values = dict(options) if isinstance(options, dict) else {each: each for each in options}
        for group in (getattr(menu, "groups", None) or {}).values():
            values |= group
        if isinstance(menu, Gallery):
            offered = (PRESETS, COMPARISON_PRESETS, SWEEP_PRESETS)
            values = {preset.label: name for presets in offered for name, preset in presets.items()}
        self.do(lambda: menu.param.update(value=values[option]))
        return self

    def mark(self, option):
        """Press a button that is on or off."""
        group = next(each for each in self.parts() if isinstance(each, Switches) and option in each.options)
        on = [each for each in group.value if each != option]
        self.do(lambda: group.param.update(value=on if option in group.value else [*on, option]))
        return self

    def open_gallery(self):
        """Open the examples; return their shelves."""
        gallery = next(iter(self.page.select(Gallery)))
        self.do(lambda: self.send({"kind": "opened"}, gallery))
        return gallery.shelves

    def slide(self, label, position):
        """Let go of a slider at a position."""
        slider = self.widget(label)

        def let_go():
            with param.edit_constant(slider):
                slider.param.update(value=position, value_throttled=position)

        self.do(let_go)
        return self

    def enter(self, label, text):
        """Type into a field and press Enter."""
        field = self.widget(label)
        self.do(lambda: field.param.update(value=text))
        return self

    def upload(self, name, content):
        """Give a file to the chooser, and wait until it was looked at."""
        size = f"{limits().max_bytes / 1e6:g}MB"  # other choosers take other files
        dropper = next(each for each in self.page.select(pn.widgets.FileDropper) if each.max_file_size == size)
        self.do(lambda: dropper.param.update(value={name: content}))
        return self.settle()

    def key(self, key):
        """Press a key, by the browser's name for it."""
        self.do(lambda: self.send({"kind": "key", "key": key}))
        return self

    def open_fold(self, title):
        """Open what is folded away, or close what is open."""

        def titles(each):
            return list(getattr(each, "_names", None) or [])

        fold = next(iter(self.page.select(lambda each: title in titles(each))))
        self.do(lambda: fold.param.update(active=sorted({*fold.active} ^ {titles(fold).index(title)})))
        return self
