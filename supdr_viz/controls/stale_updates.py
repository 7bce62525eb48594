"""What a browser sends back of settings that it was told and that hold no longer: no wish of the visitor's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from supdr_viz.experiment.settings import Settings

# Seconds in which a browser that is busy sends back what it was told last but one.
SOON = 3.0


class StaleUpdates:
    """Knows what the program has shown in the controls, one after the other, in the last moments.

    The kit's widgets keep their value twice in the browser.  If they are told a second one before the first is painted,
    as where two examples are chosen in a row on a busy machine, they take the first one for a choice of the visitor's
    and send it: the page would show a mixture of both examples.  https://github.com/holoviz/panel/pull/8522

    `clock`: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown_at = -float("inf")
        self._replaced: list[Settings] = []

    def show(self, old: Settings) -> None:
        """Note that the program shows other settings in place of `old`."""
        now = self._clock()
        self._replaced = [*self._replaced, old] if now - self._shown_at < SOON else []
        self._shown_at = now

    def forget(self) -> None:
        """Note that the visitor has changed something: what was shown before is history."""
        self._replaced = []

    def holds(self, current: Settings, fields: dict[str, Any]) -> bool:
        """Tell whether fields that a control reports are those of settings that were shown for a moment only.

        `fields`: of `Settings`, by name.
        """
        news = _news(current, fields)
        recent = self._clock() - self._shown_at < SOON
        return recent and bool(news) and any(_within(news, old) for old in self._replaced)


def _news(current: Settings, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are others than now, options only where they differ; other data or method alone."""
    for name in ("data", "method"):
        if fields.get(name, getattr(current, name)) != getattr(current, name):
            return {name: fields[name]}
    found = {}
    for name, value in fields.items():
        now = getattr(current, name)
        if isinstance(value, dict):
            value = {key: each for key, each in value.items() if key not in now or now[key] != each}
            if value:
                found[name] = value
        elif value != now:
            found[name] = value
    return found


def _within(news: dict[str, Any], old: Settings) -> bool:
    """Whether settings hold all of these fields, and all of these options."""
    for name, value in news.items():
        held = getattr(old, name)
        if isinstance(value, dict):
            if any(key not in held or held[key] != each for key, each in value.items()):
                return False
        elif held != value:
            return False
    return True
