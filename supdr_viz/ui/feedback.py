"""What the user is told when something happens: toasts, and exceptions that must not vanish."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import panel as pn

LOG = logging.getLogger(__name__)


def toast(message: str, kind: str = "info", seconds: float = 4.0) -> None:
    """Show a message at the edge of the page for a while.

    `message`: one sentence; `kind`: one of "info", "success", "warning", "error"; `seconds`: 0: until it is closed.
    """
    area = pn.state.notifications
    if area is not None:
        getattr(area, kind)(message, duration=int(1000 * seconds))


def guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what a widget calls: an exception is logged and shown in the page instead of vanishing."""

    @functools.wraps(callback)
    def call(*arguments: Any) -> Any:
        """Call back, or say what went wrong."""
        try:
            return callback(*arguments)
        except Exception as error:
            if pn.state.notifications is None:
                raise
            LOG.exception("A control failed")
            toast(f"Something went wrong: {error}", "error", seconds=0)
            return None

    return call
