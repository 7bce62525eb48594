"""The visitor of a page: the name by which the server tells visitors apart, and the files that it holds of theirs.

A whole file stays at hand for the visitor's other pages as long as a page of theirs is open: nothing has to be sent
twice.  The name is given by `supdr_viz.serving.visitor_cookie`.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn

from supdr_viz.data.quotas import most

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


# The component that holds bytes -> how many, or the file; until its page is gone.
_HELD: WeakKeyDictionary[Any, int | VisitorFile] = WeakKeyDictionary()


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


def reserve(owner: Any, size: int) -> str:
    """Let a component hold so many bytes, in place of those that it held before.

    Returns why it may not, then it holds nothing; empty: it may.
    """
    return _put(owner, size)


def keep(owner: Any, file: VisitorFile) -> str:
    """Let a component hold a file, in place of what it held before.

    Returns why it may not, as `reserve` does.
    """
    return _put(owner, file)


def file_of_visitor(owner: Any, visitor: str) -> VisitorFile | None:
    """Return the file that a visitor sent last to a page that is open, and let a component hold it, too.

    It is the same in memory, and takes no more of it. Returns None where there is none.
    """
    files = [each for each in _HELD.values() if isinstance(each, VisitorFile) and visitor and each.visitor == visitor]
    newest = max(files, key=lambda each: each.sent_at, default=None)
    if newest is not None:
        _own(owner, newest)
    return newest


def held(owner: Any = None) -> int:
    """Return how many bytes a component holds; None: all of them, a file that several hold once."""
    if owner is not None:
        return _size(_HELD.get(owner, 0))
    files = {id(each.content): len(each.content) for each in _HELD.values() if isinstance(each, VisitorFile)}
    return sum(files.values()) + sum(each for each in _HELD.values() if isinstance(each, int))


def _size(what: int | VisitorFile) -> int:
    return what if isinstance(what, int) else len(what.content)


def _put(owner: Any, what: int | VisitorFile) -> str:
    _own(owner, what)
    if held() <= most("held-mb") * 1e6:
        return ""
    _HELD[owner] = 0
    return f"This server holds as many files as it may at the moment, {most('held-mb'):,} MB. Please try later."


def _own(owner: Any, what: int | VisitorFile) -> None:
    document = pn.state.curdoc
    if owner not in _HELD and document is not None:
        document.on_session_destroyed(partial(_let_go, owner))
    _HELD[owner] = what


def _let_go(owner: Any, _context: Any) -> None:
    _HELD.pop(owner, None)
