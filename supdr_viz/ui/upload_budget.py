"""How many bytes of visitors' files the server holds: whole ones, and those on their way."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn

from supdr_viz.data.quotas import most

# The component that holds bytes -> how many; until its page is gone.
_HELD: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def reserve(owner: Any, size: int) -> str:
    """Let a component hold so many bytes, in place of those that it held before.

    Returns why it may not, then it holds nothing; empty: it may.
    """
    document = pn.state.curdoc
    if owner not in _HELD and document is not None:
        document.on_session_destroyed(partial(_let_go, owner))
    _HELD[owner] = 0
    if sum(_HELD.values()) + size > most("held-mb") * 1e6:
        return f"This server holds as many files as it may at the moment, {most('held-mb'):,} MB. Please try later."
    _HELD[owner] = size
    return ""


def held(owner: Any = None) -> int:
    """Return how many bytes a component holds; None: all of them."""
    return sum(_HELD.values()) if owner is None else _HELD.get(owner, 0)


def _let_go(owner: Any, _context: Any) -> None:
    _HELD.pop(owner, None)
