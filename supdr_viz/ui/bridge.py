"""What only a browser can do, in one invisible component.

Keys, a live region for screen readers, the page's address, window size, clipboard,
downloads.  It needs no build step and loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
import param
from panel.custom import JSComponent

from supdr_viz.data.quotas import most
from supdr_viz.ui import panel_workarounds
from supdr_viz.ui.own_files import Script
from supdr_viz.ui.page_thread import locked_callback
from supdr_viz.ui.visitor import Visit

# Key of the browser -> name passed to `Bridge.on_key`.
KEYS = {" ": "space", "ArrowRight": "right", "r": "r", "R": "r", "Escape": "escape"}

# The further keys of lessons; a presenter's remote control sends the first two.
LESSON_KEYS = {"PageDown": "next", "PageUp": "back", "n": "next", "b": "back", **{str(k): str(k) for k in range(1, 7)}}

# The further keys of presentations.
PRESENT_KEYS = {"ArrowLeft": "left", "PageDown": "next", "PageUp": "back"}

# CSS class of a button that chooses something: after it the keyboard is the page's, as after a menu's choice.
CHOOSES = "chooses"

# CSS class of the field to which a file goes that was dropped anywhere on the page.
TAKES_DROPS = "takes-drops"

# Milliseconds after which a page that was asked whether it is settled, and was not, looks again.
LOOK_AGAIN = 20

MS_PER_HOUR = 3_600_000


def on_phone() -> bool:
    """Whether the browser says it runs on a phone."""
    return "Mobi" in (pn.state.headers or {}).get("User-Agent", "")


class Bridge(JSComponent):
    """The page's invisible helper; put it anywhere into the page, once.

    visit: whose page it is.
    tall: the window is at least 840 pixels high: room for tall curves.
    narrow: the window is less than 900 pixels wide, or the browser says it is a phone's and has not answered yet.
    zoom: size of the texts beside the usual one.
    keys: keys of the browser that are reported.
    origin: address of the page without its query; empty until the browser has answered.
    lost_at: iteration that was last seen, where the page had lost its server and has come back.
    """

    tall = param.Boolean(default=True)
    narrow = param.Boolean(default=False)
    origin = param.String(default="")
    status = param.String(default="", doc="Text of the live region.")
    query = param.String(default="", doc="Query of the page's address.")
    keys = param.List(default=list(KEYS), doc="Keys that are reported.")
    zoom = param.Number(default=1.0, doc="Size of the texts beside the usual one.")
    asked = param.String(default="", doc="The browser's last question whether the page is settled.")
    settled = param.String(default="", doc="The last of these questions that could be affirmed.")
    lost_at = param.Integer(default=0, bounds=(0, None), doc="Iteration seen before the server went away.")
    drops = param.Boolean(default=False, doc="Whether a file may be dropped anywhere on the page.")
    memory = param.String(default="", doc="Name under which this tab remembers the query.")

    _esm = Script("bridge.js")

    def __init__(self, visit: Visit, **params: Any) -> None:
        super().__init__(**{"width": 0, "height": 0, "margin": 0, "narrow": on_phone(), **params})
        self.visit = visit
        self._on_key: list[Callable[[str], Any]] = []
        self._on_drop: Callable[[], Any] | None = None
        self._on_copied: Callable[[bool], Any] | None = None
        self._busy: list[Callable[[], bool]] = []
        self._page_there = False
        pn.state.onload(self._page_arrived)
        self.on_msg(locked_callback(self._received))
        self.param.watch(self._was_asked, "asked")
        if pn.state.curdoc is not None:
            pn.state.curdoc.on_change(_browser_is_there)

    def on_key(self, callback: Callable[[str], Any]) -> None:
        """Call ``callback(name)`` for each key of `keys` that no widget uses itself."""
        self._on_key.append(callback)

    def on_drop(self, callback: Callable[[], Any]) -> None:
        """Let a file be dropped anywhere on the page: ``callback()`` shows the field of class `TAKES_DROPS`."""
        self._on_drop, self.drops = callback, True

    def unsettled_while(self, busy: Callable[[], bool]) -> None:
        """Do not call the page settled while ``busy()``: something is on its way to it."""
        self._busy.append(busy)

    def announce(self, text: str) -> None:
        """Say a sentence to screen readers: changes of state only, never frames."""
        self.status = text

    def set_query(self, query: str) -> None:
        """Show the query in the address, without a new entry in the history."""
        self.query = query

    def download(self, name: str, text: str, mime: str = "text/plain;charset=utf-8") -> None:
        """Save text as a file of the user."""
        panel_workarounds.send_message(self, {"kind": "download", "name": name, "text": text, "mime": mime})

    def download_bytes(self, name: str, content: bytes, mime: str) -> None:
        """Save bytes as a file of the user."""
        text = base64.b64encode(content).decode()
        panel_workarounds.send_message(
            self, {"kind": "download", "name": name, "text": text, "mime": mime, "binary": True}
        )

    def copy(self, text: str, done: Callable[[bool], Any] | None = None) -> None:
        """Put text into the clipboard; ``done(success)`` tells whether the browser let us."""
        self._on_copied = done
        panel_workarounds.send_message(self, {"kind": "copy", "text": text})

    def add_to_comparison(self, address: str, query: str) -> None:
        """Go to the compare page with the run of an explorer's link joined to what was compared last.

        `address`: of the compare page; `query`: of the explorer's link.
        """
        panel_workarounds.send_message(self, {"kind": "compare", "address": address, "query": query})

    def leave(self) -> None:
        """Lead the browser to a page that says that this one was closed."""
        panel_workarounds.send_message(self, {"kind": "end"})

    def _received(self, event: Any) -> None:
        message = event.data if isinstance(event.data, dict) else {}
        keys = {**KEYS, **LESSON_KEYS, **PRESENT_KEYS}
        if message.get("kind") == "key" and message.get("key") in self.keys and message["key"] in keys:
            for callback in self._on_key:
                callback(keys[message["key"]])
        elif message.get("kind") == "dropped" and self._on_drop is not None:
            self._on_drop()
        elif message.get("kind") == "copied" and self._on_copied is not None:
            done, self._on_copied = self._on_copied, None
            done(bool(message.get("done")))

    def _page_arrived(self) -> None:
        self._page_there = True
        if pn.state.curdoc is not None and (hours := most("hours")):
            pn.state.curdoc.add_timeout_callback(self.leave, hours * MS_PER_HOUR)

    def _was_asked(self, event: Any) -> None:
        if pn.state.curdoc is not None:
            pn.state.curdoc.add_next_tick_callback(partial(self._answer, event.new))

    def _answer(self, question: str) -> None:
        """Tell the browser once the page is settled, unless it has asked again."""
        document = pn.state.curdoc
        if document is None or question != self.asked:
            return
        if not self._page_there or self.visit.background.busy or any(busy() for busy in self._busy):
            document.add_timeout_callback(partial(self._answer, question), LOOK_AGAIN)
        else:
            self.settled = question


def _browser_is_there(event: Any) -> None:
    """Send what changes from the first word of the browser on: it has the document by then."""
    if getattr(event, "setter", None) is not None:  # set by the other side
        panel_workarounds.browser_is_there(event.document)
        event.document.remove_on_change(_browser_is_there)
