"""The start of a page: sent before the session is there, completed by what only the session knows."""

import asyncio
import re
from concurrent.futures import Future, ThreadPoolExecutor

import panel as pn
import pytest
from bokeh.application.handlers.function import FunctionHandler
from bokeh.application.handlers.handler import Handler
from bokeh.server.tornado import BokehTornado
from panel.io.application import Application
from panel.io.state import set_curdoc
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.tcpclient import TCPClient
from tornado.testing import bind_unused_port

from supdr_viz.pages import MODULES, begin, empty
from supdr_viz.serving.admission import Admission, Refusal
from supdr_viz.serving.page_start import NEXT_FILE, FilesAsked, rest_of, start_early
from supdr_viz.serving.security_headers import Headers
from supdr_viz.serving.visitor_cookie import Cookie, visitor_of
from supdr_viz.serving.waiting_room import LONGEST_LULL, WaitingRoom
from supdr_viz.ui.own_files import bundle
from supdr_viz.ui.theme import END_OF_START
from supdr_viz.ui.widgets import empty_page
from tests.viz.made_requests import request_of

SECONDS = 60


class Blocked(Handler):
    """Holds a session back until `may_go` is set."""

    def __init__(self):
        super().__init__()
        self.may_go, self.begun = asyncio.Event(), asyncio.Event()

    def modify_document(self, document):
        """Leave the page as it is."""

    async def on_session_created(self, session_context):
        """Wait."""
        self.begun.set()
        await self.may_go.wait()


def build(document):
    """Build a page as the app does."""
    with set_curdoc(document):
        begin()
        page = empty_page(with_still=False)
        page.main = [pn.pane.HTML("what the session says")]
        page.server_doc(document, "a title")


def answers(act, build=build, early=True, handlers=(), loaded=None):
    """Serve a page, run ``act(port, blocked, context)`` beside it, and return what that does."""

    async def run():
        blocked = Blocked()
        application = Application(FunctionHandler(build), blocked, *handlers)
        transforms = [Refusal.saying({503: "No room."}), Headers, Cookie.of(3)]
        server = BokehTornado({"/explorer": application}, transforms=transforms)
        if early:
            start_early(server, ["explorer"], empty, loaded)
        server.initialize(IOLoop.current())
        listening, port = bind_unused_port()
        web = HTTPServer(server)
        web.add_socket(listening)
        try:
            return await asyncio.wait_for(act(port, blocked, server.applications["/explorer"]), SECONDS)
        finally:
            blocked.may_go.set()
            web.stop()
            await web.close_all_connections()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


async def asked(port):
    """Ask for the page; return where the answer comes."""
    stream = await TCPClient().connect("127.0.0.1", port)
    await stream.write(b"GET /explorer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return stream


def text(answer):
    """Return the body of an answer, without the sizes of its chunks."""
    body = answer.partition("\r\n\r\n")[2]
    return re.sub(r"(?:^|\r\n)[0-9a-f]+\r\n", "", body)


async def whole(port, blocked, _context):
    """Return the whole answer."""
    blocked.may_go.set()
    return (await (await asked(port)).read_until_close()).decode()


def test_the_outline_and_the_scripts_arrive_before_there_is_a_session():
    async def act(port, blocked, context):
        stream = await asked(port)
        start = (await stream.read_until(b"panel.min.js")).decode()
        await blocked.begun.wait()
        sessions = list(context.sessions)
        blocked.may_go.set()
        return start, sessions, (await stream.read_until_close()).decode()

    start, sessions, rest = answers(act)
    assert sessions == []
    assert start.startswith("HTTP/1.1 200 OK")
    assert re.search(r"Set-Cookie: supdr=3-[\w-]{16}; ", start)
    assert "Content-Security-Policy: " in start
    assert "Cache-Control: no-store" in start
    assert 'id="loader"' in start
    assert '"token"' not in start
    assert '"token"' in rest
    assert rest.rstrip("\r\n0").endswith("</html>")


def test_the_outline_arrives_while_the_server_still_imports_what_pages_need():
    loaded = Future()

    async def act(port, blocked, _context):
        blocked.may_go.set()
        stream = await asked(port)
        await stream.read_until(b"panel.min.js")
        begun = blocked.begun.is_set()
        loaded.set_result(None)
        return begun, (await stream.read_until_close()).decode()

    begun, rest = answers(act, loaded=loaded)
    assert not begun
    assert '"token"' in rest


def test_a_page_whose_parts_cannot_be_imported_says_so():
    loaded = Future()
    loaded.set_exception(ImportError("no such module"))
    assert "This page could not be built" in answers(whole, loaded=loaded)


def test_by_itself_the_kit_sends_nothing_before_there_is_a_session():
    async def act(port, blocked, _context):
        stream = await asked(port)
        await blocked.begun.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stream.read_bytes(1), 0.2)
        stream.close()

    # The day that this fails, `start_early` can go.
    answers(act, early=False)


def test_both_parts_are_the_page_that_the_kit_sends_as_one():
    def same(answer):
        page = text(answer).replace(END_OF_START, "").replace("<title>a title", "<title>supdr · Explore")
        page = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|p\d{4,}|\"token\":\"[^\"]*\"", "·", page)
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        return [line for line in lines if 'rel="modulepreload"' not in line]

    assert same(answers(whole)) == same(answers(whole, early=False))


def test_modules_that_browsers_load_early_are_those_that_the_page_imports():
    async def act(port, blocked, context):
        answer = await whole(port, blocked, context)
        [session] = context.sessions
        return answer, {root.esm.removeprefix("./") for root in session.document.roots if hasattr(root, "esm")}

    answer, imported = answers(act)
    assert imported
    assert imported <= set(re.findall(r'rel="modulepreload" href="([^"]*)"', answer))
    assert all("render" in bundle(module) for module in MODULES)


def test_files_that_only_the_built_page_names_come_with_the_rest():
    script, sheet = '<script src="later.js"></script>', '<link rel="stylesheet" href="later.css">'
    start = '<script src="first.js"></script>\n<script>\nfirst\n</script>\n'
    rest = rest_of(f"{start}{sheet}\n {script}\n{END_OF_START}the rest", start)
    assert rest == f"{sheet}\n{script}\nthe rest"


def test_a_page_that_fails_says_so_in_the_place_of_its_outline():
    def fail(_document):
        raise ValueError("a secret of the server")

    answer = answers(whole, build=fail)
    assert "This page could not be built. Please load it again." in answer
    assert "secret" not in answer
    assert text(answer).rstrip("\r\n0").endswith("</html>")


def test_another_page_than_the_one_that_was_begun_takes_its_place():
    def refuse(document):
        with set_curdoc(document):
            pn.pane.HTML("<script>no room</script>").server_doc(document, "another")

    answer = text(answers(whole, build=refuse))
    page = answer[answer.index("document.write(") :]
    assert "\\u003c!DOCTYPE html>" in page
    assert page.count("</script>") == 1  # what it holds cannot end the script


def test_who_is_refused_or_waits_gets_no_start(queue):
    for refused, status, words in ((503, "503", "No room."), (0, "200", "ahead of you")):
        admission = Admission(queue, lambda _caller, refused=refused: refused, FilesAsked())
        if not refused:
            admission.process_request(request_of("/explorer"))  # of another visitor, whose page is being built
        answer = answers(whole, handlers=[admission])
        assert answer.startswith(f"HTTP/1.1 {status} ")
        assert words in answer
        assert 'id="loader"' not in answer


def test_files_that_a_browser_asks_for_are_answered_before_its_page_is_built(clock):
    queue, files, request = WaitingRoom(), FilesAsked(clock), request_of("/own/script.js")
    visitor, looks = visitor_of(request), []

    def loads():
        looks.append(files.go_on(visitor))
        clock.now += 0.9 * NEXT_FILE
        if len(looks) < 5:
            files.note(request)
        return looks[-1]

    files.begin(visitor)
    asyncio.run(queue.lull(loads))
    assert looks == [True] * 6 + [False] or looks == [True] * 5 + [False]
    files.end(visitor)
    files.note(request)
    assert not files.go_on(visitor)


def test_files_of_one_browser_delay_no_other_visitor_and_no_page_for_long(clock):
    queue, looks = WaitingRoom(clock), []

    def loads():
        looks.append(True)
        clock.now += LONGEST_LULL / 4
        return True

    asyncio.run(queue.lull(loads))
    assert len(looks) <= 5
    looks.clear()
    queue.join()
    asyncio.run(queue.lull(loads))
    assert len(looks) <= 1
