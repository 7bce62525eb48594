"""Telling the program's hand from the user's: both change the same widgets."""

from __future__ import annotations


class Silence:
    """Holds while the program sets widgets: what they report then is not the user's wish.

    Examples
    --------
    >>> silence = Silence()
    >>> with silence:
    ...     bool(silence)
    True
    >>> bool(silence)
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
