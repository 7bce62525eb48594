"""The stage's own websocket: what it is told travels as it is, beside the messages of the page.

A page knows the ticket of its stage; a browser without one gets nothing.  Where the server does not offer the address
(a notebook, several processes of `panel serve`), stages talk through the messages of the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from asyncio import Future
from typing import Any, Protocol, cast
from urllib.parse import urlparse

from bokeh.server.tornado import BokehTornado
from bokeh.server.util import check_allowlist
from bokeh.settings import settings
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from supdr_viz.ui.visitor import Tickets

# Of the socket, beside the pages.
ADDRESS = "/stage"

# Bytes that a browser says at a time; one that says more is left.
MOST_SAID = 2**20

# Bytes that wait to be taken by a browser.
MOST_UNSENT = 32 * 2**20

# Messages that may wait, however large: one that is large on a slow way is not too much.
MOST_WAITING = 8

# Code with which a socket is closed that takes nothing, whatever its browser says. It may come again.
TOO_SLOW = 4408

# Code with which a socket is closed whose ticket is unknown: its page is gone.
UNKNOWN_TICKET = 4404


class Connection(Protocol):
    """One browser, seen from its stage."""

    def send(self, message: bytes) -> None:
        """Tell it something."""

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Tell it nothing any more."""


class Owner(Protocol):
    """The owner of a stage."""

    def joined(self, browser: Connection) -> None:
        """Take note that a browser is there."""

    def heard(self, message: dict[str, Any], browser: Connection) -> None:
        """Take what a browser says."""

    def left(self, browser: Connection) -> None:
        """Take note that a browser is gone."""


class StageSocket(WebSocketHandler):
    """One browser's end of a stage."""

    _ticket = ""

    @classmethod
    def route(cls, tickets: Tickets, process: int = 0) -> tuple[str, type[StageSocket], dict[str, Tickets]]:
        """Return the address, its handler and what that needs, for a server that offers it.

        `process`: see `Tickets`.
        """
        tickets.offered, tickets.process = True, process
        return ADDRESS, cls, {"tickets": tickets}

    def initialize(self, tickets: Tickets) -> None:
        """Keep who may join."""
        self._tickets = tickets

    @property
    def max_message_size(self) -> int:
        """The most bytes of a message; a longer one ends the connection."""
        return MOST_SAID

    def check_origin(self, origin: str) -> bool:
        """Let in the pages that may talk to this server: those that its other websockets let in."""
        server = cast(BokehTornado, self.application)
        allowed = settings.allowed_ws_origin() or server.websocket_origins
        return check_allowlist(urlparse(origin).netloc.lower(), list(allowed))

    def open(self, *_arguments: str, **_options: str) -> None:
        """Join the browser with the stage that its ticket names."""
        self.set_nodelay(True)
        self._unsent = self._waiting = 0
        self._ticket = self.get_query_argument("ticket", "")
        owner = self._owner()
        if owner is None:
            self.close(UNKNOWN_TICKET, "unknown ticket")
        else:
            owner.joined(self)

    async def on_message(self, message: str | bytes) -> None:
        """Pass on what the browser says; between two messages other sockets have their turn."""
        owner, content = self._owner(), understood(message)
        if owner is not None and content is not None:
            owner.heard(content, self)
        await asyncio.sleep(0)

    def on_close(self) -> None:
        """Say that the browser is gone."""
        owner = self._owner()
        if owner is not None:
            owner.left(self)

    def send(self, message: bytes) -> None:
        """Tell the browser something, unless it takes nothing of what it was told."""
        if self._unsent > MOST_UNSENT and self._waiting >= MOST_WAITING:
            self.close(TOO_SLOW, "too slow")
            return
        with contextlib.suppress(WebSocketClosedError):  # the browser joins again, or is gone
            written = self.write_message(message, binary=True)
            self._unsent, self._waiting = self._unsent + len(message), self._waiting + 1
            written.add_done_callback(functools.partial(self._sent, len(message)))

    def _sent(self, size: int, written: Future[None]) -> None:
        """Take note that a message has left; that its browser has gone is no error of the server's."""
        self._unsent, self._waiting = self._unsent - size, self._waiting - 1
        if not written.cancelled():
            written.exception()

    def _owner(self) -> Owner | None:
        return self._tickets.owner_of(self._ticket)


def understood(message: str | bytes) -> dict[str, Any] | None:
    """Return what the browser says; None for anything but a table in JSON, which no page of ours sends."""
    try:
        content = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
