"""Followers of a stage: browsers that see what it shows, and can change nothing.

What is new is packed once for all.  One frame is in flight to each follower: a slow one gets all that
it missed in one message, later, and does not delay the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.stage.socket import Connection
from supdr_viz.views.stage.stage import Stage
from supdr_viz.views.stage.wire import Tree, encode, merge

# Code with which sockets are closed once there is nothing to follow any more.
ENDED = 4410

FULL = 4429


class Followers:
    """The followers of one stage; a browser with the ticket joins.

    `on_count`: called when a follower has come or gone. `ticket`: empty where the server offers no socket: then there
    are no followers. `most`: followers; later ones are told that the stage is full.
    """

    def __init__(self, stage: Stage, tickets: Tickets, on_count: Callable[[], Any], *, most: int = 400) -> None:
        self._tickets, self._stage, self._on_count, self._most = tickets, stage, on_count, most
        self._followers: dict[Connection, _Follower] = {}
        self._whole: tuple[Tree, bytes] | None = None
        self.ticket = tickets.new(self)
        stage.watch(self._send)

    def __len__(self) -> int:
        """Return how many follow."""
        return len(self._followers)

    def end(self) -> None:
        """Close all sockets; no browser can join any more."""
        self._tickets.void(self.ticket)
        self._stage.unwatch(self._send)
        followers, self._followers = self._followers, {}
        for browser in followers:
            browser.close(ENDED, "ended")

    def joined(self, browser: Connection) -> None:
        """Show a browser what the stage shows now, and from now on what is new."""
        if len(self._followers) >= self._most:
            browser.close(FULL, "full")
            return
        follower = self._followers[browser] = _Follower(browser.send)
        follower.begin(self._stage.tree, self._everything())
        self._on_count()

    def heard(self, message: dict[str, Any], browser: Connection) -> None:
        """Take note that a frame was painted; nothing else that a follower says counts."""
        follower = self._followers.get(browser)
        if follower is not None and message.get("kind") == "painted":
            follower.painted(message.get("number"))

    def left(self, browser: Connection) -> None:
        """Forget a browser."""
        if self._followers.pop(browser, None) is not None:
            self._on_count()

    def _send(self, patch: Tree, message: bytes) -> None:
        for follower in self._followers.values():
            follower.tell(patch, message)

    def _everything(self) -> bytes:
        """Return all that the stage shows, packed once for all that join at the same moment."""
        tree = self._stage.tree
        if self._whole is None or self._whole[0] is not tree:
            self._whole = tree, encode({"all": True, **tree})
        return self._whole[1]


class _Follower:
    """The messages that one browser has been sent, and those that it has missed."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._awaited: Any = None
        self._missed: Tree = {}

    def begin(self, tree: Tree, message: bytes) -> None:
        self._awaited = tree.get("number")
        self._send(message)

    def tell(self, patch: Tree, message: bytes) -> None:
        if self._awaited is not None:
            self._missed = merge(self._missed, patch)
            return
        self._awaited = patch.get("number")
        self._send(message)

    def painted(self, number: Any) -> None:
        if number != self._awaited:
            return
        self._awaited = None
        if self._missed:
            missed, self._missed = self._missed, {}
            self.tell(missed, encode(missed))
