"""What an address says beside the settings."""

from __future__ import annotations

from collections.abc import Sequence

FURTHEST = 100_000
"""Steps that a run takes by itself, at most, when its page is opened."""


def whole_number(values: Sequence[bytes]) -> int:
    """Read a number of steps, or of fits; anything else is none.

    Parameters
    ----------
    values : sequence of bytes
        What the address says under one name; the last counts.

    Returns
    -------
    int
        From 0 to `FURTHEST`.
    """
    text = values[-1] if values else b""
    return min(int(text), FURTHEST) if text.isdigit() and len(text) < 10 else 0
