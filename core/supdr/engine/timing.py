"""How long the parts of a step take, told by the methods that name them.

`iterate` listens in its own thread while it takes a step; outside of a step `part` only does its work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_current = threading.local()


@contextmanager
def part(name: str) -> Iterator[None]:
    """Count the seconds of the block as those of a part of the step.

    `name`: what the block does, in a word.
    """
    seconds: dict[str, float] | None = getattr(_current, "seconds", None)
    began = time.perf_counter()
    try:
        yield
    finally:
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began


@contextmanager
def counted_parts() -> Iterator[dict[str, float]]:
    """Collect the seconds of all parts that this thread works on within the block.

    Yields seconds by name; filled while the block runs.
    """
    seconds: dict[str, float] = {}
    before = getattr(_current, "seconds", None)
    _current.seconds = seconds
    try:
        yield seconds
    finally:
        _current.seconds = before
