"""The live loop between a player and one browser page.

A frame is pushed, the browser draws it and says so, and only then the next one is asked for: one frame in flight.  A
slow browser therefore gets fewer frames, never a backlog.  A page that falls silent (a hidden tab) suspends its run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.models import ColumnDataSource, CustomJS
from panel.io.callbacks import PeriodicCallback

from supdr_viz.frames.types import Frame, Surface
from supdr_viz.kit.page_thread import Call, caller
from supdr_viz.run.player import Player
from supdr_viz.run.status import Status

TICK = 500
"""Milliseconds between checks for lost acknowledgements."""

PATIENCE = 1.0
"""Seconds after which an unacknowledged frame is asked about again."""

SUSPEND_AFTER = 3.0
"""Seconds of silence after which the run waits for the page."""

ACKNOWLEDGE = """
const number = sent.data.number[0]
requestAnimationFrame(() => { received.data = {number: [number]} })
"""

Draw = Callable[[Frame | None, Surface | None, Status], None]


def _draw_nothing(frame: Frame | None, surface: Surface | None, status: Status) -> None:
    """Stand in for the views of a page that is gone: the link may outlive it."""


class LiveLink:
    """Pushes a player's frames into one document.

    Parameters
    ----------
    draw : callable
        ``draw(frame, surface, status)`` updates the views; frame and surface may be None.  Called under the document
        lock.

    Attributes
    ----------
    models : list of bokeh models
        To be referenced by some figure of the page, so that they belong to the document.
    on_known : callable or None
        Called once, when the browser answers for the first time: by then it knows the models that came with the link.
    """

    def __init__(self, draw: Draw) -> None:
        self.on_known: Callable[[], Any] | None = None
        self._draw = draw
        self._doc: Document | None = None
        self._call: Call | None = None
        self._player: Player | None = None
        self._scheduled = False
        self._started = False
        self._in_flight: int | None = None
        self._sent_at = 0.0
        self._status: Status | None = None
        self._ticker: PeriodicCallback | None = None
        sent, received = (ColumnDataSource({"number": [0]}, name=name) for name in ("sent", "received"))
        sent.js_on_change("data", CustomJS(args={"sent": sent, "received": received}, code=ACKNOWLEDGE))
        received.on_change("data", self._acknowledged)
        self._sent = sent
        self.models = [sent, received]

    @property
    def attached(self) -> bool:
        """Whether `attach` was called, and not yet `detach`."""
        return self._player is not None

    @property
    def settled(self) -> bool:
        """Whether the page is there, shows how its run stands, and nothing more is to come."""
        player = self._player
        if player is None or not self._started or self._scheduled or self._in_flight is not None:
            return False
        return player.at_rest and player.status == self._status

    def attach(self, player: Player, doc: Document) -> None:
        """Get ready; to be called once the page is loaded.

        Parameters
        ----------
        player : Player
            Its `notify` must be `notify` of this object.
        doc : Document
            The page's document.
        """
        self._player, self._doc, self._call = player, doc, caller(doc)
        self._ticker = PeriodicCallback(callback=self._tick, period=TICK, background=True, log=False)
        self._ticker.start()

    def start(self) -> None:
        """Start pushing: the browser has shown that it is there.  What is pushed earlier would be lost."""
        if not self._started:
            self._started = True
            self.notify()

    def detach(self) -> None:
        """Stop pushing for good."""
        self._player = self._doc = self._call = None
        self._draw = _draw_nothing
        if self._ticker is not None and self._ticker.running:
            self._ticker.stop()

    def notify(self) -> None:
        """Tell the page's thread that there is something new; callable from any thread."""
        call = self._call
        if call is None or self._scheduled or not self._started:
            return
        self._scheduled = True
        call(self._push)

    def _push(self) -> None:
        self._scheduled = False
        player = self._player
        if player is None or self._in_flight is not None:
            return
        frame, status = player.take_frame(), player.status
        # A surface waits for the frame that follows it: by itself it would make the next frame wait, and grow old.
        surface = player.take_surface() if frame is not None else None
        if frame is None and status == self._status:
            return
        self._status = status
        with pn.io.hold(self._doc):
            self._draw(frame, surface, status)
            if frame is not None:
                self._in_flight = (self._sent.data["number"][0] + 1) % 2**31
                self._sent_at = time.monotonic()
                self._sent.data = {"number": [self._in_flight]}

    def _acknowledged(self, attr: str, old: Any, new: Any) -> None:
        self.start()
        if self._player is None:
            return
        known, self.on_known = self.on_known, None
        if known is not None:
            known()
        if self._in_flight is None:
            return
        if int(new["number"][0]) != self._in_flight:
            return
        self._in_flight = None
        self._player.suspend(False)
        self._player.request_frame()
        self._push()

    def _tick(self) -> None:
        player = self._player
        if player is None or self._doc is None:
            return
        if self._in_flight is None:
            self.notify()
            return
        silent = time.monotonic() - self._sent_at
        if silent > SUSPEND_AFTER:
            player.suspend(True)
        elif silent > PATIENCE:
            self._doc.add_next_tick_callback(partial(self._ask_again, self._in_flight))

    def _ask_again(self, number: int) -> None:
        """Send the number, without data, once more: an answer may have been lost to an error in the page."""
        if number == self._in_flight:
            self._sent.data = {"number": [number], "asked": [time.monotonic()]}
