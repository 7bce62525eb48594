"""Headers of every answer, the limit on visitors, and the state of the server for those who run it.

What each of them is for is said in docs/security.md.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn
from bokeh.events import DocumentReady
from bokeh.models import CustomJS
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform, RequestHandler

from supdr_viz.serving.visitor_cookie import came_by_socket
from supdr_viz.ui.markup import escape
from supdr_viz.ui.visitor import current_visitor

HEALTH = "/health"


class Headers(OutputTransform):
    """Adds to every answer what keeps a browser from doing more with it than is meant.

    `embedders`: origins of other sites that may show the pages in a frame.
    """

    embedders: tuple[str, ...] = ()

    def __init__(self, request: HTTPServerRequest) -> None:
        self._host = request.host

    @classmethod
    def shown_in(cls, embedders: Sequence[str]) -> type[Headers]:
        """Return the same, for pages that these sites may show in a frame."""
        return type(cls.__name__, (cls,), {"embedders": tuple(embedders)})

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Add the headers that are not there."""
        for name, value in {
            "Content-Security-Policy": policy(self._host, self.embedders),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }.items():
            headers.setdefault(name, value)
        return status_code, headers, chunk


def policy(host: str, embedders: Sequence[str] = ()) -> str:
    """Return the content security policy: everything from this server, and no connection to any other.

    The kit's pages hold scripts of their own, make modules from text and compile templates: without that they stay
    empty.

    `host`: name under which the browser reached the server, with its port; `embedders`: origins that may show the page
    in a frame.
    """
    own = f" ws://{host} wss://{host}" if re.fullmatch(r"[\w.:\[\]-]+", host) else ""
    rules = {
        "default-src": "'self'",
        "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "connect-src": f"'self'{own} blob: data:",
        "frame-ancestors": " ".join(["'self'", *embedders]),
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


class Visitors:
    """Counts the pages that are open, and turns away those beyond a limit.

    `most`, `each`: pages of all, and of one visitor; 0: as many as come. `on_arrival`: called when a page has come to
    its browser.
    """

    def __init__(self, most: int, each: int, on_arrival: Callable[[], Any]) -> None:
        self._most, self._each, self._on_arrival = most, each, on_arrival
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """Pages that are open."""
        return self._open.total()

    def refuse(self, caller: str) -> int:
        """Return the status with which a visitor is refused another page; 0 if there is room.

        `caller`: empty: unknown, and only all pages together are counted.
        """
        if self._most and self.open >= self._most:
            return 503
        return 429 if caller and self._each and self._open[caller] >= self._each else 0

    @property
    def refusals(self) -> dict[int, str]:
        """The sentences for refused visitors: status -> sentence."""
        return {
            503: f"This server shows {_pages(self._most)} at a time, and no more are free. Please try again later.",
            429: f"On this server a visitor may have {_pages(self._each)} open. Please close one first.",
        }

    def admitting(self, page: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function that builds a page.

        A browser that comes back to a page which is gone was not admitted: it is sent to the admission first.
        """

        def _admit() -> Any:
            if came_by_socket():
                return _knocking()
            caller = current_visitor()
            if refused := self.refuse(caller):
                return _alert(self.refusals[refused])
            self._open[caller] += 1
            pn.state.on_session_destroyed(functools.partial(self._left, caller))
            pn.state.onload(self._on_arrival)
            return page()

        return _admit

    def _left(self, caller: str, _context: Any) -> None:
        self._open[caller] -= 1
        if not self._open[caller]:
            del self._open[caller]


def _pages(number: int) -> str:
    return "one page" if number == 1 else f"{number:,} pages"


def _knocking() -> Any:
    """Return a page that is asked for again as soon as it is there, and so passes the admission."""
    document = pn.state.curdoc
    assert document is not None
    document.js_on_event(DocumentReady, CustomJS(code="location.reload()"))
    return _alert("This page comes back in a moment.")


def _alert(text: str) -> Any:
    text = f'<p role="alert" style="font: 18px/1.5 sans-serif; max-width: 34em; margin: 4em auto">{escape(text)}</p>'
    return pn.pane.HTML(text, sizing_mode="stretch_width")


class Health(RequestHandler):
    """Answers how the server is: for its operator, without a word about its visitors."""

    @classmethod
    def route(cls, counts: Mapping[str, Callable[[], int]]) -> tuple[str, type[Health], dict[str, Any]]:
        """Return the address, its handler and what that needs.

        `counts`: what is counted, and how.
        """
        return HEALTH, cls, {"counts": counts}

    def initialize(self, counts: Mapping[str, Callable[[], int]]) -> None:
        """Keep what is asked for."""
        self._counts = counts

    def get(self) -> None:
        """Answer in JSON."""
        self.set_header("Cache-Control", "no-store")
        self.finish({"status": "ok"} | {name: count() for name, count in self._counts.items()})
