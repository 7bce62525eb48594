"""How slow work tells how far it has come."""

from __future__ import annotations

from collections.abc import Callable

# ``told(done, total)`` is called between the parts of slow work; what it raises ends the work.
Told = Callable[[int, int], object]


def unheard(_done: int, _total: int) -> None:
    """Tell nobody."""


def part(told: Told, number: int, of: int) -> Told:
    """Return what one of several parts of equal length tells.

    `told`: of the whole; `number`, `of`: which part, from 0, of how many.
    """
    return lambda done, total: told(number * total + done, of * total)
