"""The visitor of a page: the name by which the server tells visitors apart, and the files that it holds of theirs.

A whole file stays at hand for the visitor's other pages as long as a page of theirs is open: nothing has to be sent
twice.  The name is given by `supdr_viz.serving.visitor_cookie`.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import panel as pn

from supdr_viz.data.quotas import most
from supdr_viz.ui.background import Background

COOKIE = "supdr"

# What the cookie holds: which process answers, and the visitor's name.
COOKIE_FORM = re.compile(r"(\d{1,4})-([\w-]{16})", re.ASCII)

# Under which the name travels with a page's session.
PAYLOAD = "visitor"


@dataclass(frozen=True)
class VisitorFile:
    """A whole file that a visitor has sent.

    visitor: see `current_visitor`; empty: unknown, then no other page gets the file.
    """

    visitor: str
    name: str
    content: bytes
    sent_at: float = field(default_factory=time.monotonic)


def current_visitor() -> str:
    """Return the name of the current page's visitor; empty where neither the server nor a cookie gives one."""
    document = pn.state.curdoc
    context = document.session_context if document is not None else None
    try:
        named = getattr(context, "token_payload", {}).get(PAYLOAD)
    except AssertionError:  # a session that no browser asked for
        named = None
    match = COOKIE_FORM.fullmatch(pn.state.cookies.get(COOKIE, "")) if named is None else None
    return match[2] if match else str(named or "")


class HeldFiles:
    """The bytes and files that the components of a server's pages hold, until their pages are gone."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Any, int | VisitorFile] = WeakKeyDictionary()

    def hold(self, owner: Any, what: int | VisitorFile) -> str:
        """Let a component hold a file, or so many bytes of one that is on its way, in place of what it held before.

        Returns why it may not, then it holds nothing; empty: it may.
        """
        self._own(owner, what)
        if self.size() <= most("held-mb") * 1e6:
            return ""
        self._held[owner] = 0
        return f"This server holds as many files as it may at the moment, {most('held-mb'):,} MB. Please try later."

    def newest_of(self, visitor: str, owner: Any) -> VisitorFile | None:
        """Return the file that a visitor sent last to a page that is open, and let a component hold it, too.

        It is the same in memory, and takes no more of it. Returns None where there is none.
        """
        held = self._held.values()
        files = [each for each in held if isinstance(each, VisitorFile) and visitor and each.visitor == visitor]
        newest = max(files, key=lambda each: each.sent_at, default=None)
        if newest is not None:
            self._own(owner, newest)
        return newest

    def size(self, owner: Any = None) -> int:
        """Return how many bytes a component holds; None: all of them, a file that several hold once."""
        if owner is not None:
            held = self._held.get(owner, 0)
            return held if isinstance(held, int) else len(held.content)
        files = {id(each.content): len(each.content) for each in self._held.values() if isinstance(each, VisitorFile)}
        return sum(files.values()) + sum(each for each in self._held.values() if isinstance(each, int))

    def _own(self, owner: Any, what: int | VisitorFile) -> None:
        document = pn.state.curdoc
        if owner not in self._held and document is not None:
            document.on_session_destroyed(partial(self._let_go, owner))
        self._held[owner] = what

    def _let_go(self, owner: Any, _context: Any) -> None:
        self._held.pop(owner, None)


class Tickets:
    """Which browsers may join the stages of a process.

    `offered`: whether its server has the address of stages. `names`: hosts with their ports under which its pages may
    be opened, as far as it is known. `lacking`: a sentence for the page about what it lacks without the address, and
    why; empty: it says nothing. `process`: which of several processes behind one address this is: its tickets begin
    with it, so that a proxy knows where they lead; 0: there is one.
    """

    def __init__(self) -> None:
        self.offered, self.lacking, self.process = False, "", 0
        self.names: Sequence[str] = ()
        self._owners: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def new(self, owner: Any) -> str:
        """Return a ticket of a stage's owner; it holds as long as the owner lives.  Empty if there is no address."""
        if not self.offered:
            return ""
        ticket = (f"{self.process}-" if self.process else "") + secrets.token_urlsafe(24)
        self._owners[ticket] = owner
        return ticket

    def owner_of(self, ticket: str) -> Any:
        """Return the owner of the stage that a ticket lets in to; None: the ticket does not hold."""
        return self._owners.get(ticket)

    def void(self, ticket: str) -> None:
        """Refuse a ticket from now on."""
        self._owners.pop(ticket, None)


@dataclass(frozen=True)
class Visit:
    """One page of a visitor.

    files, tickets: of the process. background: slow work beside the page. visitor: see `current_visitor`.
    """

    files: HeldFiles = field(default_factory=HeldFiles)
    tickets: Tickets = field(default_factory=Tickets)
    background: Background = field(default_factory=Background)
    visitor: str = field(default_factory=current_visitor)
