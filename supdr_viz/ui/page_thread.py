"""The way back into a page for other threads: workers, loaders, the watch over compilation.

Bokeh lets any thread register a callback with a document.  But while the page's own thread holds the document's events
back, which Panel does around every callback of a widget, what another thread registers joins the events that are held,
and these are handed over without a lock: the callback can be lost.  So the event loop registers it here.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
import param
from bokeh.document import Document
from tornado.ioloop import IOLoop

Call = Callable[[Callable[[], Any]], None]


def call_in_page(document: Document) -> Call:
    """Return the function by which any thread has a page call something; to be made in the page's own thread.

    `document`: the page's. Returns ``call(callback)`` returns at once; ``callback()`` runs in the page's thread under
    the document's lock, unless the page is gone by then.
    """
    return partial(IOLoop.current().add_callback, _register, document)


def follow(component: param.Parameterized, name: str, act: Callable[[Any], Any]) -> None:
    """Call ``act(value)`` under the document's lock, soon after each change of a component that its browser made.

    Panel hands over a change that an event overtakes without that lock; while the page is not all there, what comes
    of it could then not be told to the browser.

    `component`: of the page that is being made; `name`: its parameter.
    """
    call = _page()

    def changed(event: Any) -> None:
        """Act, now where there is no lock to be had."""
        if call is None:
            act(event.new)
        else:
            call(partial(act, event.new))

    component.param.watch(changed, name)


def locked_callback(act: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Wrap what a message, a press or a choice of the browser calls, in the page's own thread.

    Panel hands over what a browser says without the document's lock, and sees to it that what comes of it is told all
    the same; but not before the page has reported that all of it is painted.  Until then, under load for seconds, the
    document would refuse the change.

    `act`: ``act(event)``. Returns calls it at once if the page is all there, else soon and under the lock; always in
    the order of the events.
    """
    call, waiting = _page(), deque[Any]()

    def hear(event: Any) -> None:
        """Act, or wait for the lock."""
        if call is None or (pn.state.loaded and not waiting):
            act(event)
        else:
            waiting.append(event)
            call(lambda: act(waiting.popleft()))

    return hear


def _page() -> Call | None:
    """Return how to call the page that is being made; None where there is no lock to be had."""
    document = pn.state.curdoc
    return call_in_page(document) if document is not None and document.session_context is not None else None


def _register(document: Document, callback: Callable[[], Any]) -> None:
    # The session may have ended: its document takes no more callbacks.
    with contextlib.suppress(AttributeError, RuntimeError):
        document.add_next_tick_callback(callback)
