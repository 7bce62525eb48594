"""The pages under ``panel serve`` without a browser: where links lead, and what is added to its server."""

import asyncio
import contextlib
import runpy
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urljoin, urlsplit
from weakref import ref

import pytest
from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from bokeh.server.tornado import BokehTornado
from panel.io.state import set_curdoc
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.testing import bind_unused_port

from supdr_viz import panel_serve
from supdr_viz.pages import PAGES, link, page_arguments, page_asked, site
from supdr_viz.pages.service import Service
from supdr_viz.serving import server as own_server
from supdr_viz.ui import panel_workarounds
from supdr_viz.ui.own_files import OwnFile
from supdr_viz.ui.visitor import COOKIE, current_visitor

APPS = Path(__file__).parents[3] / "apps"


@pytest.fixture(autouse=True)
def untouched(monkeypatch, own_files):
    """Leave nothing of a server in this process."""
    own_files(False)
    service = Service.of_process()
    states = (service.addresses, ("own", "other")), (service.tickets, ("offered", "lacking", "process"))
    for owner, names in states:
        for name in names:
            monkeypatch.setattr(owner, name, getattr(owner, name))
    yield
    panel_serve._prepare.cache_clear()
    panel_serve._visitors.cache_clear()


@pytest.fixture
def prepared(monkeypatch):
    """Keep what a server adds to its process for ever out of this one; return how often it did."""
    begun = []
    for name in ("keep_little", "start_clock"):
        monkeypatch.setattr(panel_serve, name, partial(begun.append, name))
    return begun


def at(query="", cookies=None):
    """Return a document whose session was asked for with a query."""
    document = Document()
    context = BokehSessionContext("somebody", None, document)
    arguments = {name: [each.encode() for each in values] for name, values in parse_qs(query).items()}
    context._request = SimpleNamespace(path="/explorer", arguments=arguments, headers={}, cookies=cookies or {})
    document._session_context = ref(context)
    return document, context


SERVED = [
    (PAGES, "/explorer"),  # supdr-viz, and panel serve apps/*.py
    ({"/explorer"}, "/explorer"),
    ({"/explorer", "/"}, "/"),  # --index explorer
    ({"/compare", "/lessons"}, "/lessons"),
    ({"/main"}, "/main"),  # a copy of a file of apps/, by another name
    ({"/main", "/"}, "/"),
    ((), "/explorer"),  # unknown
    ((), "/"),
]


@pytest.mark.parametrize("prefix", ["/", "/lab/"])
@pytest.mark.parametrize(("served", "here"), SERVED)
@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_from_every_page_to_an_address_that_shows_its_page(served, here, page, prefix):
    paths = {f"/{each.strip('/')}" for each in served}
    Service.of_process().addresses.take(paths, here)
    for start in paths or {here}:
        asked = urlsplit(urljoin(f"http://host{prefix}{start.strip('/')}", link(page, "data=moons&a=1")))
        path = "/" + asked.path.removeprefix(prefix).strip("/")
        assert path in (paths or {here})
        query = parse_qs(asked.query)
        shown = query.pop("page", [path.strip("/")])
        assert shown == [page]
        assert query == {"data": ["moons"], "a": ["1"]}


def test_the_addresses_of_supdr_viz_stay_as_they_are():
    assert [link(page) for page in PAGES] == list(PAGES)
    assert link("compare", "a=1") == "compare?a=1"


@pytest.mark.parametrize(
    ("query", "page", "left"),
    [
        ("", "explorer", set()),
        ("data=moons", "explorer", {"data"}),
        ("page=compare&data=moons", "compare", {"data"}),
        ("page=explorer", "explorer", set()),
        ("page=nowhere&data=moons", "explorer", {"page", "data"}),  # the page says that it does not know this
    ],
)
def test_an_address_names_its_page_and_the_page_reads_the_rest(query, page, left):
    document, _context = at(query)
    with set_curdoc(document):
        assert page_asked("explorer") == page
        assert set(page_arguments()) == left


def test_a_visitor_is_known_by_the_cookie_where_the_server_names_nobody():
    for cookies, name in (({COOKIE: "0-abcdefgh01234567"}, "abcdefgh01234567"), ({COOKIE: "x"}, ""), ({}, "")):
        document, _context = at(cookies=cookies)
        with set_curdoc(document):
            assert current_visitor() == name


def served(act, **options):
    """Serve a page as ``panel serve apps/explorer.py`` does, and run ``act(ask)`` beside it; return what that does."""

    async def run():
        seen = []

        def modify(document):
            with set_curdoc(document):
                seen.append(panel_workarounds.answering_server(document))
                panel_serve._complete(document)

        server = BokehTornado({"/explorer": Application(FunctionHandler(modify))}, **options)
        server.initialize(IOLoop.current())
        listening, port = bind_unused_port()
        web = HTTPServer(server)
        web.add_socket(listening)
        server._websocket_origins.add(f"localhost:{port}")

        async def ask(path, **headers):
            request = HTTPRequest(f"http://127.0.0.1:{port}{path}", headers=headers, request_timeout=120)
            return await AsyncHTTPClient().fetch(request, raise_error=False)

        try:
            return await act(ask), seen, server
        finally:
            web.stop()
            await web.close_all_connections()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


@pytest.mark.parametrize("prefix", ["", "/lab"])
def test_the_first_page_adds_what_the_server_lacks_and_later_ones_nothing(prefix, prepared):
    async def act(ask):
        before = [(await ask(f"{prefix}{path}")).code for path in ("/stage", "/follow")]
        first = await ask(f"{prefix}/explorer")
        later = await ask(f"{prefix}/explorer")
        after = [(await ask(f"{prefix}{path}")).code for path in ("/stage", "/follow", "/ended?again=explorer")]
        return before, after, [each.headers.get("Set-Cookie", "") for each in (first, later)]

    (before, after, cookies), seen, server = served(act, prefix=prefix)
    assert before == [404, 404]
    assert after == [400, 200, 200]  # the first wants to become a websocket
    assert seen == [server, server]
    assert sorted(prepared) == ["keep_little", "start_clock"]
    assert Service.of_process().tickets.offered
    assert OwnFile.offered
    assert cookies[1].startswith("supdr=0-")
    assert link("compare") == "explorer?page=compare"


def test_several_processes_add_nothing_and_say_so(monkeypatch, prepared, sockets):
    sockets(False)
    monkeypatch.setattr(panel_serve, "task_id", lambda: 1)

    async def act(ask):
        await ask("/explorer")
        return (await ask("/stage")).code

    code, _seen, _server = served(act)
    assert code == 404
    assert "--num-procs" in Service.of_process().tickets.lacking
    assert not Service.of_process().tickets.offered
    assert not OwnFile.offered
    assert sorted(prepared) == ["keep_little", "start_clock"]


def test_a_server_that_is_not_reached_leads_to_pages_through_one_address_and_says_what_is_lacking(sockets):
    sockets(False)
    document, _context = at()  # no server has asked for it
    panel_serve._complete(document)
    assert "supdr-viz" in Service.of_process().tickets.lacking
    assert link("compare") == "./?page=compare"


@contextlib.contextmanager
def shown(act, query=""):
    """Let a page be shown; yield its document, and end it."""
    document, context = at(query)
    with set_curdoc(document):
        act()
        yield document
        for callback in document.session_destroyed_callbacks:
            callback(context)


@pytest.mark.parametrize(
    ("file", "query", "page"), [*((page, "", page) for page in PAGES), ("explorer", "page=lessons", "lessons")]
)
def test_every_file_shows_the_page_of_its_name_or_the_one_that_is_asked_for(file, query, page):
    with shown(lambda: runpy.run_path(str(APPS / f"{file}.py")), query) as document:
        assert document.title == f"supdr · {PAGES[page]}"
        shown_pages = [model.data for model in document.models if hasattr(getattr(model, "data", None), "items")]
        tabs = [each for each in shown_pages if [item.get("label") for item in each.items] == [*PAGES.values()]]
        assert {list(PAGES)[each.active] for each in tabs} == {page}


def test_every_page_has_a_file():
    assert {file.stem for file in APPS.glob("*.py")} == set(PAGES)


def test_pages_beyond_the_quota_are_refused_in_the_page(monkeypatch):
    monkeypatch.setenv("SUPDR_MOST_PAGES", "1")
    with shown(lambda: panel_serve.show("lessons")), shown(lambda: panel_serve.show("lessons")) as second:
        assert "This server shows one page at a time" in second.roots[0].text


def test_what_is_added_is_what_supdr_viz_has_beside_its_pages():
    added = {address for address, *_rest in own_server.routes_of_pages(site(), PAGES)}
    assert {"/stage", "/follow", "/ended"} < added
