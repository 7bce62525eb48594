"""Admission: pages are built one after the other; other visitors see how many are before them.

A page costs a fraction of a second of the one thread that serves all.  If a class opens the link at once, those who
must wait get a small page that asks for its turn and then loads the real one.  A visitor who waits, or is
refused, has no session.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Container, Mapping
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlencode
from weakref import WeakSet

from bokeh.application.application import SessionContext
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from bokeh.events import DocumentReady
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import Finish, HTTPError, OutputTransform, RequestHandler

from supdr_viz.serving.page_start import FilesAsked
from supdr_viz.serving.visitor_cookie import SOCKET, visitor_of
from supdr_viz.serving.waiting_room import WaitingRoom
from supdr_viz.ui.markup import escape
from supdr_viz.ui.theme import FONTS, css_variables, palette
from supdr_viz.ui.visitor import PAYLOAD

# Argument of an address that says whose turn it is, and where it is asked for.
TURN = "turn"

# Arguments, the first a header, too, by which the kit lets an address name a session. A visitor who follows such a
# link would share the page of its author, who then sees what is done and loaded there.
OF_A_SESSION = ("bokeh-session-id", "bokeh-token")

# Time (s) after which a refused visitor may try again.
RETRY = 30

# Status of an answer about an address at which there is nothing.
NOT_THERE = 404


class Admission(Handler):
    """Decides on every page that is asked for before it is built: in, wait, or refused.

    `refuse`: ``refuse(caller)`` returns the status with which a caller is refused, 0 if there is room. `files`: that
    browsers ask for once they have the start of their page: these are answered before it is built. `comes_within`:
    seconds for which a page is kept for a browser that has not connected yet: it may be slow, or load much.
    `most_kept`: pages that are kept so; of more, the oldest end as soon as any page that is not on display.
    """

    def __init__(
        self,
        queue: WaitingRoom,
        refuse: Callable[[str], int],
        files: FilesAsked,
        *,
        comes_within: float = 60.0,
        most_kept: int = 64,
    ) -> None:
        super().__init__()
        self._queue, self._refuse, self._files = queue, refuse, files
        self._comes_within, self._most_kept = comes_within, most_kept
        self._let_in: WeakSet[HTTPServerRequest] = WeakSet()
        self._unvisited: list[list[Callable[[], None]]] = []

    def modify_document(self, doc: Document) -> None:
        """Leave the page as it is."""

    def process_request(self, request: HTTPServerRequest) -> dict[str, Any]:
        """Let a request go on, or answer it here and now.

        `request`: of a page; its place in the queue is taken out of its arguments. Returns who asks; it travels with
        the page's session. Raises HTTPError if there is no room, or the address names a session; Finish: with the page
        that waits.
        """
        caller = {PAYLOAD: visitor_of(request)}
        if request.path.endswith(SOCKET) or request in self._let_in:  # of a page that is there, or asked twice
            return caller
        if "Bokeh-Session-Id" in request.headers or any(name in request.arguments for name in OF_A_SESSION):
            raise HTTPError(403)
        if refused := self._refuse(caller[PAYLOAD]):
            raise HTTPError(refused)
        turn = request.arguments.pop(TURN, [b""])[-1].decode(errors="replace")
        before = self._queue.before(turn)
        if before is None:
            turn = self._queue.join(request.remote_ip or "")
            before = self._queue.before(turn, asks=False)
        if before is None:
            raise HTTPError(503)
        if before:
            again = urlencode({**request.arguments, TURN: [turn]}, doseq=True)
            raise Finish(waiting_page(f"{request.path.rpartition('/')[2]}?{again}", turn, before))
        self._queue.enter(turn)
        self._let_in.add(request)
        return caller

    async def on_session_created(self, session_context: SessionContext) -> None:
        """Let the page of an admitted visitor be built, once the others are told that they must wait.

        `session_context`: of a page that comes next, or of one that a browser brings back.
        """
        request = getattr(session_context, "request", None)
        if request is None or request.path.endswith(SOCKET):
            return
        visitor = cast(Any, session_context).token_payload[PAYLOAD]
        self._files.begin(visitor)
        await self._queue.lull(lambda: self._files.go_on(visitor))
        self._files.end(visitor)
        # The page is built before anything else happens.
        asyncio.get_running_loop().call_soon(self._built, session_context)

    def _built(self, session_context: SessionContext) -> None:
        """Keep a page until its browser has come: a slow one needs longer than a closed one is kept."""
        self._queue.built()
        session = getattr(session_context, "session", None)
        if session is None:
            return
        session.block_expiration()
        releases: list[Callable[[], None]] = [session.unblock_expiration]
        came = functools.partial(_let_go, releases)
        session.document.on_event(DocumentReady, came)
        asyncio.get_running_loop().call_later(self._comes_within, came, None)
        self._unvisited = [*filter(None, self._unvisited), releases]
        for first in self._unvisited[: -self._most_kept]:
            _let_go(first, None)


def _let_go(releases: list[Callable[[], None]], _event: Any) -> None:
    """Let a page end that was kept; once."""
    if releases:
        releases.pop()()


class Turn(RequestHandler):
    """Tells a waiting page how many visitors are before it."""

    @classmethod
    def route(cls, queue: WaitingRoom) -> tuple[str, type[Turn], dict[str, Any]]:
        """Return the address, its handler and what that needs."""
        return f"/{TURN}", cls, {"queue": queue}

    def initialize(self, queue: WaitingRoom) -> None:
        """Keep what is asked."""
        self._queue = queue

    def get(self) -> None:
        """Answer in JSON; a visitor with an unknown place comes in and gets another."""
        self.set_header("Cache-Control", "no-store")
        self.finish({"before": self._queue.before(self.get_query_argument("of", "")) or 0})


class Ended(RequestHandler):
    """Tells a visitor that a page was closed after very long, with a link that opens it again."""

    @classmethod
    def route(cls, pages: Container[str], hours: int) -> tuple[str, type[Ended], dict[str, Any]]:
        """Return the address, its handler and what that needs.

        `pages`: names of pages, one of which may be opened again; `hours`: for how many it was open.
        """
        return "/ended", cls, {"pages": pages, "hours": hours}

    def initialize(self, pages: Container[str], hours: int) -> None:
        """Keep what is asked."""
        self._pages, self._hours = pages, hours

    def get(self) -> None:
        """Answer with a plain page; it leads to no other address than a page of ours."""
        again = self.get_query_argument("again", "")
        again = again if again.partition("?")[0] in self._pages else "."
        hours = "one hour" if self._hours == 1 else f"{self._hours:,} hours"
        sentence = f"This page was open for {hours}, as long as this server allows. The link keeps its settings."
        self.finish(_template("ended.html").substitute(style=_style(), fonts=FONTS, said=sentence, again=escape(again)))


class Refusal(OutputTransform):
    """Makes a plain page of the answer that there is no room.

    `said`: status -> one sentence.
    """

    said: Mapping[int, str] = MappingProxyType({})

    def __init__(self, request: HTTPServerRequest) -> None:
        self._path = request.path

    @classmethod
    def saying(cls, sentences: Mapping[int, str]) -> type[Refusal]:
        """Return the same with these sentences."""
        return type(cls.__name__, (cls,), {"said": sentences})

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Put the page in the place of what the server says by itself."""
        if status_code in self.said:
            chunk = refusal_page(self.said[status_code]).encode()
            headers["Content-Type"] = "text/html; charset=utf-8"
            headers["Content-Length"] = str(len(chunk))
            headers["Retry-After"] = str(RETRY)
        elif status_code == NOT_THERE and headers.get("Content-Type", "").startswith("text/html"):
            chunk = missing_page(self._path).encode()
            headers["Content-Length"] = str(len(chunk))
        return status_code, headers, chunk


def waiting_page(again: str, turn: str, before: int) -> str:
    """Return the page of a waiting visitor.

    `again`: address with which to come in, relative to this one's folder; `turn`: place in the queue; `before`: how
    many are before.
    """
    return _template("waiting.html").substitute(
        style=_style(), fonts=FONTS, again=escape(again), turn=escape(turn), before=f"{before:,}"
    )


def missing_page(path: str) -> str:
    """Return the page for an address that leads nowhere.

    `path`: of the address, below which the pages are as many folders up as it has.
    """
    home = "../" * (path.count("/") - 1) or "./"
    return _template("missing.html").substitute(style=_style(), fonts=home + FONTS, home=escape(home))


def refusal_page(sentence: str) -> str:
    """Return the page of a visitor for whom there is no room."""
    return _template("refused.html").substitute(style=_style(), fonts=FONTS, said=escape(sentence))


@functools.cache
def _template(name: str) -> Template:
    return Template((resources.files("supdr_viz") / "assets" / name).read_text(encoding="utf-8"))


@functools.cache
def _style() -> str:
    light, dark = (css_variables(palette(each)) for each in (False, True))
    sheet = (resources.files("supdr_viz") / "assets" / "admission.css").read_text(encoding="utf-8")
    return f":root {{{light}}} @media (prefers-color-scheme: dark) {{:root {{{dark}}}}}\n{sheet}"
