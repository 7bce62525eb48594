"""The tie between a widget and one value: it tells what the program shows from what the visitor chooses."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param
from panel_material_ui.widgets.base import MaterialWidget

from supdr_viz.ui.feedback import guarded
from supdr_viz.ui.page_thread import locked_callback

# Seconds in which a busy browser may send back a value that it was told and that another has replaced since.
SOON = 3.0

# Read of a widget's parameter that stands for no value.
NO_VALUE: Any = object()


class Bound:
    """Binds a widget to one value: the program calls `show`; `on_user` is called when the visitor changes the value.

    A widget reports each change, also one that the program made.  What it reports is the visitor's change unless it is
    the value on display.  The kit's own widgets keep their value twice in the browser: if they are told a second value
    before the first is painted, they take the first for a choice of the visitor's and send it.  A value that was on
    display for less than `SOON` seconds and comes back within as many is therefore put right in the browser, once
    each time that it was on display, and not reported.  https://github.com/holoviz/panel/pull/8522

    widget: of the kit, or part of a bar.
    on_user: ``on_user(value)``, in the page's thread and under the document's lock; an error is shown as a notice.
    parameters: of the widget: the first is watched, all are set.
    clock: returns seconds.
    value: on display.
    previous: the value before the visitor's last change.
    """

    def __init__(
        self,
        widget: param.Parameterized,
        on_user: Callable[[Any], Any] | None = None,
        parameters: Sequence[str] = ("value",),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.widget: Any = widget
        self.value: Any = self._read(getattr(widget, parameters[0]))
        self.previous: Any = self.value
        self._on_user = None if on_user is None else guarded(on_user)
        self._parameters, self._clock = parameters, clock
        self._shown_at = -float("inf")
        self._replaced: list[tuple[Any, float]] = []
        self._under_lock = locked_callback(self._answer)
        widget.param.watch(self._changed, parameters[0])

    def show(self, value: Any, **changes: Any) -> None:
        """Show a value without calling back; a widget that has this value already is left as it is.

        `**changes`: further parameters of the widget to be set at the same time, as its options.
        """
        if value != self.value:
            now = self._clock()
            brief = now - self._shown_at < SOON
            self._replaced = [*self._recent(now), *([(self.value, now)] if brief else [])]
            self._shown_at, self.value = now, value
        elif not changes:
            return
        self._put(changes)

    # --- what other kinds of widgets do in another way ----------------------------------------------------------------

    def _read(self, displayed: Any) -> Any:
        """Return the value that a widget's parameter stands for, `NO_VALUE` if it stands for none."""
        return NO_VALUE if displayed is None else displayed

    def _written(self, value: Any) -> Any:
        """Return what a widget's parameter is for a value."""
        return value

    # --- reports ------------------------------------------------------------------------------------------------------

    def _put(self, changes: Mapping[str, Any]) -> None:
        self.widget.param.update(**changes, **dict.fromkeys(self._parameters, self._written(self.value)))

    def _changed(self, event: Any) -> None:
        """Compare at once with the value on display: the program may show another before there is a lock."""
        value = self._read(event.new)
        if value is not NO_VALUE and value != self.value:
            self._under_lock(value)

    def _answer(self, value: Any) -> None:
        if value == self.value:
            return
        self._replaced = self._recent(self._clock())
        replaced = [each for each, _ in self._replaced]
        if isinstance(self.widget, MaterialWidget) and value in replaced:
            del self._replaced[replaced.index(value)]
            self._put({})
            return
        self.previous, self.value, self._replaced = self.value, value, []
        self._shown_at = -float("inf")
        if self._on_user is not None:
            self._on_user(value)

    def _recent(self, now: float) -> list[tuple[Any, float]]:
        return [(value, at) for value, at in self._replaced if now - at < SOON]


class BoundChoice(Bound):
    """Binds a widget that offers texts to the value for which the chosen text stands.

    `choices`: text -> value. For the rest see `Bound`.
    """

    def __init__(
        self, widget: param.Parameterized, choices: Mapping[str, Any], on_user: Callable[[Any], Any] | None = None
    ) -> None:
        self.choices = dict(choices)
        super().__init__(widget, on_user)

    def offer(self, choices: Mapping[str, Any], value: Any, **changes: Any) -> None:
        """Offer other choices, with this one chosen, without calling back."""
        self.choices = dict(choices)
        self.show(value, options=list(choices), **changes)

    def _read(self, displayed: Any) -> Any:
        return self.choices.get(displayed, NO_VALUE) if isinstance(displayed, str) else NO_VALUE

    def _written(self, value: Any) -> Any:
        return next((text for text, each in self.choices.items() if each == value), "")
