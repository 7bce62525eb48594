"""The progress of slow work."""

from __future__ import annotations

from collections.abc import Callable

# ``progress(done, total)`` is called between the parts of slow work; what it raises ends the work.
Progress = Callable[[int, int], object]


def no_progress(_done: int, _total: int) -> None:
    """Do nothing."""


def part(progress: Progress, number: int, of: int) -> Progress:
    """Return what one of several parts of equal length tells.

    `progress`: of the whole; `number`, `of`: which part, from 0, of how many.
    """
    return lambda done, total: progress(number * total + done, of * total)
