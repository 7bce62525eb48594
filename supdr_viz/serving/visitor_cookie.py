"""A cookie with the process that answers and a random name of the visitor, so that quotas can be per visitor."""

from __future__ import annotations

import re
import secrets
from typing import Any, cast

import panel as pn
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform

from supdr_viz.ui.visitor import COOKIE, COOKIE_FORM

# End of the address of a page's websocket.
SOCKET = "/ws"


def visitor_of(request: HTTPServerRequest) -> str:
    """Return the visitor's name: that of the cookie, or a new one, which the request has from then on."""
    cookie = _cookie(request)
    if cookie is None:
        name, cookies = secrets.token_urlsafe(12), cast(Any, request.cookies)
        cookies[COOKIE] = f"0-{name}"
        return name
    return cookie[2]


def came_by_socket() -> bool:
    """Whether the current page would be built for a browser that has only connected its websocket: its own is gone."""
    document = pn.state.curdoc
    request = getattr(document.session_context if document is not None else None, "request", None)
    return request is not None and request.path.endswith(SOCKET)


class Cookie(OutputTransform):
    """Gives the cookie along with a page, to a browser that has none, or one of another process.

    `process`: which of several processes this is; a proxy leads there by the cookie.
    """

    process = 0

    def __init__(self, request: HTTPServerRequest) -> None:
        self._request, self._sent = request, _cookie(request)

    @classmethod
    def of(cls, process: int) -> type[Cookie]:
        """Return the same for a process."""
        return type(cls.__name__, (cls,), {"process": process})

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Add the cookie to a page."""
        here = self._sent is not None and int(self._sent[1]) == self.process
        if headers.get("Content-Type", "").startswith("text/html") and not here:
            value = f"{self.process}-{visitor_of(self._request)}"
            headers.add("Set-Cookie", f"{COOKIE}={value}; Path=/; HttpOnly; {_reach(self._request)}")
        return status_code, headers, chunk


def process_of(cookie: str) -> int | None:
    """Return which process a cookie's value leads to; None if it is none of ours."""
    match = COOKIE_FORM.fullmatch(cookie)
    return int(match[1]) if match else None


def _reach(request: HTTPServerRequest) -> str:
    """Say where a browser sends the cookie: in a frame of another site it would keep none that is for this site."""
    if request.headers.get("Sec-Fetch-Dest") == "iframe" and request.headers.get("Sec-Fetch-Site") == "cross-site":
        return "SameSite=None; Secure; Partitioned"
    return f"SameSite=Lax{'; Secure' if request.protocol == 'https' else ''}"


def _cookie(request: HTTPServerRequest) -> re.Match[str] | None:
    morsel = request.cookies.get(COOKIE)
    return None if morsel is None else COOKIE_FORM.fullmatch(morsel.value)
