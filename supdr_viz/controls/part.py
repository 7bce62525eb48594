"""What the parts of the sidebar have in common: each shows some of the settings and reports what the user changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Called with the fields of `Settings` that a user's action changed.
Change = Callable[[dict[str, Any]], Any]


class Part:
    """Some of the settings as widgets."""

    def __init__(self) -> None:
        self._callbacks: list[Change] = []

    def on_change(self, callback: Change) -> None:
        """Call ``callback(fields)`` after each action of the user."""
        self._callbacks.append(callback)

    def _report(self, fields: dict[str, Any]) -> None:
        for callback in self._callbacks:
            callback(fields)
