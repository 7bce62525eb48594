"""What a page does while kernels of its methods are being compiled: it says so, and carries on when they are."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from supdr import warm
from supdr_viz.ui import widgets
from supdr_viz.ui.page_thread import call_in_page

Act = Callable[[], Any]


class KernelWait:
    """Holds a page back until the kernels of its methods are compiled, in a process of its own.

    `tell`: ``tell(sentence)`` twice a second while the page waits, about the progress.
    """

    def __init__(self, tell: Callable[[str], Any]) -> None:
        self._tell = tell
        self._document: Any = None
        self._compiled = warm.is_warm()  # all of them: there is nothing more to look at
        self._methods: tuple[str, ...] = ()
        self._then: Act | None = None
        self._began = 0.0

    @property
    def waiting(self) -> bool:
        """Whether the page waits now."""
        return self._then is not None

    def attach(self, document: Any) -> None:
        """Wait from now on; before, there is no page to come back to."""
        self._document = document
        if self._then is not None:
            self._wait()

    def hold(self, methods: Sequence[str], then: Act) -> bool:
        """Tell whether kernels of these methods are missing; if so, ``then()`` is called in the page's thread later.

        The latest call counts: what was to happen after an earlier one is forgotten.
        """
        self._then = None
        if self._compiled or warm.is_warm(*methods):
            return False
        self._methods, self._then, self._began = tuple(methods), then, time.monotonic()
        if self._document is not None:
            self._wait()
        return True

    def forget(self) -> None:
        """Wait no longer: what was to happen is not wanted any more."""
        self._then = None

    def _wait(self) -> None:
        warming, methods = warm.start_in_background(), self._methods
        ticker = pn.state.add_periodic_callback(functools.partial(self._report, warming, methods), period=500)
        self._report(warming, methods)
        call, finish = call_in_page(self._document), functools.partial(self._finish, warming, methods, ticker)
        warming.when_compiled(methods, lambda _warming: call(finish))

    def _report(self, warming: Any, methods: tuple[str, ...]) -> None:
        if self.waiting and methods == self._methods:
            seconds = time.monotonic() - self._began
            names = " and ".join(methods)
            self._tell(f"Compiling {names}, once per installation: {seconds:.0f} s · {warming.progress}")

    def _finish(self, warming: Any, methods: tuple[str, ...], ticker: Any) -> None:
        ticker.stop()
        then = self._then
        if then is None or methods != self._methods:
            return
        if warming.error:
            self._compiled = True  # what is missing is compiled at its first use
            widgets.toast(f"The kernels could not be compiled ahead: {warming.error}", "warning", seconds=0)
        self._then = None
        then()
