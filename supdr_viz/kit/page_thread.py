"""The way back into a page for other threads: workers, loaders, the watch over compilation.

Bokeh lets any thread register a callback with a document.  But while the page's own thread holds the document's events
back, which Panel does around every callback of a widget, what another thread registers joins the events that are held,
and these are handed over without a lock: the callback can be lost.  So the event loop registers it here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from bokeh.document import Document
from tornado.ioloop import IOLoop

Call = Callable[[Callable[[], Any]], None]


def caller(document: Document) -> Call:
    """Return the function by which any thread has a page call something; to be made in the page's own thread.

    Parameters
    ----------
    document : Document
        The page's.

    Returns
    -------
    callable
        ``call(callback)`` returns at once; ``callback()`` runs in the page's thread under the document's lock, unless
        the page is gone by then.
    """
    return partial(IOLoop.current().add_callback, _register, document)


def _register(document: Document, callback: Callable[[], Any]) -> None:
    # The session may have ended: its document takes no more callbacks.
    with contextlib.suppress(AttributeError, RuntimeError):
        document.add_next_tick_callback(callback)
