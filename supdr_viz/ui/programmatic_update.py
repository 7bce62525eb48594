"""Tells changes of widgets by the program from those by the user."""

from __future__ import annotations


class ProgrammaticUpdate:
    """True while the program sets widgets: what they report then is no choice of the user.

    Examples
    --------
    >>> update = ProgrammaticUpdate()
    >>> with update:
    ...     bool(update)
    True
    >>> bool(update)
    False
    """

    def __init__(self) -> None:
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1

    def __bool__(self) -> bool:
        return self._depth > 0
