"""How many bytes of visitors' files the server holds: whole ones, and those on their way."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn

from supdr_viz.data.quotas import most

# Whoever holds something -> how many bytes; until its page is gone.
_HELD: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def reserve(owner: Any, size: int) -> str:
    """Take note that somebody holds so many bytes now, in place of what it held before.

    Returns why it may not, then nothing is held by it; empty: it may.
    """
    document = pn.state.curdoc
    if owner not in _HELD and document is not None:
        document.on_session_destroyed(partial(_let_go, owner))
    _HELD[owner] = 0
    if sum(_HELD.values()) + size > most("held-mb") * 1e6:
        return f"This server holds as many files as it may at the moment, {most('held-mb'):,} MB. Please try later."
    _HELD[owner] = size
    return ""


def _let_go(owner: Any, _context: Any) -> None:
    _HELD.pop(owner, None)
