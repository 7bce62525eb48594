"""What a page does while the kernels are still being compiled: it says so, and carries on when they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import panel as pn

from supdr import warm
from supdr_viz.ui import widgets
from supdr_viz.ui.page_thread import call_in_page


def compile_first(document: Any, tell: Callable[[str], Any], done: Callable[[], Any]) -> None:
    """Compile in a process of its own; the page stays alive meanwhile.

    `document`: the page's; `tell`: ``tell(sentence)`` now and then, about the progress; `done`: called once in the
    page's thread when everything is compiled.
    """
    warming = warm.start_in_background()
    ticker = pn.state.add_periodic_callback(functools.partial(_tell, warming, tell), period=500)
    call, finish = call_in_page(document), functools.partial(_finish, warming, ticker, done)
    warming.when_finished(lambda _warming: call(finish))


def _tell(warming: Any, tell: Callable[[str], Any]) -> None:
    tell(f"Compiling the numerical kernels, once per installation: {warming.progress}")


def _finish(warming: Any, ticker: Any, done: Callable[[], Any]) -> None:
    ticker.stop()
    if warming.error:
        widgets.toast(f"The kernels could not be compiled ahead: {warming.error}", "warning", seconds=0)
    done()
