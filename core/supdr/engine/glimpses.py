"""What a long step knows before it is complete, for whoever looks: a step on rows of a cluster may take seconds.

`iterate` says how a state becomes a snapshot, the problem shows states that it knows in part, and who follows the run
looks at them, all in the thread that takes the step.  Where nobody looks nothing is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# ``look(snapshot)``: of a state that is known in part; without losses.
Look = Callable[[Any], Any]

_current = threading.local()


@contextmanager
def glimpsed(look: Look | None) -> Iterator[None]:
    """Let `look` see what steps of this thread know before they are complete, within the block.

    `look`: called by the thread that takes the step, which goes on when it returns.  None: nobody looks.
    """
    before = getattr(_current, "look", None)
    _current.look = look
    try:
        yield
    finally:
        _current.look = before


@contextmanager
def glimpses_become(snapshot_of: Callable[[Any], Any]) -> Iterator[None]:
    """Let states that are shown within the block become snapshots by ``snapshot_of(state)``."""
    before = getattr(_current, "snapshot_of", None)
    _current.snapshot_of = snapshot_of
    try:
        yield
    finally:
        _current.snapshot_of = before


def looked_at() -> bool:
    """Tell whether anybody looks at what a step of this thread knows before it is complete."""
    return getattr(_current, "look", None) is not None and getattr(_current, "snapshot_of", None) is not None


def glimpse(state: Any) -> None:
    """Show a state that is known in part: its method says which fields may be missing."""
    if looked_at():
        _current.look(_current.snapshot_of(state))
