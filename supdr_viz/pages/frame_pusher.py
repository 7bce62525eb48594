"""The live loop between a player and one browser page.

A frame is pushed, the browser draws it and says so, and only then the next one is asked for: one frame in flight.  A
slow browser therefore gets fewer frames, never a backlog.  The first frame after a change of the user's does not wait
for the one before; there are two in flight then, never more.  A page that falls silent (a hidden tab) suspends its run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from bokeh.document import Document
from tornado.ioloop import IOLoop, PeriodicCallback

from supdr_viz.pictures.types import Frame, Surface
from supdr_viz.run.player import Player
from supdr_viz.run.status import Phase, Status
from supdr_viz.ui.page_thread import Call, call_in_page

# Milliseconds between checks for lost acknowledgements.
TICK = 500

# Seconds after which an unacknowledged frame is asked about again.
ACKNOWLEDGED_WITHIN = 1.0

# Seconds of silence after which the run waits for the page.
SUSPEND_AFTER = 3.0

Draw = Callable[[Frame | None, Surface | None, Status], None]


def _no_preparation(_frame: Frame) -> None:
    """Do nothing before a frame is drawn."""


def _draw_nothing(frame: Frame | None, surface: Surface | None, status: Status) -> None:
    """Stand in for the views of a page that is gone: the link may outlive it."""


class Screen(Protocol):
    """What a link needs of the views in the browser."""

    def __enter__(self) -> Any:
        """Collect what is put; all of it is sent together at the end."""

    def __exit__(self, *error: object) -> None:
        """Send what was collected."""

    def put(self, *path: str, **values: Any) -> bool:
        """Send values that are new."""

    def send_all(self) -> None:
        """Send all that is known once more."""

    def on(self, kind: str, listener: Callable[[dict[str, Any]], Any]) -> None:
        """Call ``listener(message)`` when the browser says something of this kind."""


class FramePusher:
    """Pushes a player's frames into one document.

    `screen`: takes the number of every frame; says "hello" when it is there, and "painted" once a frame has arrived.
    `draw`: ``draw(frame, surface, status)`` updates the views; frame and surface may be None.  Called in the page's
    thread: under the document's lock, but for the frames of a run that goes on. `prepare`: ``prepare(frame)`` does in
    the worker's thread what can be done before a frame is drawn.
    """

    def __init__(self, screen: Screen, draw: Draw, prepare: Callable[[Frame], None] = _no_preparation) -> None:
        self._screen = screen
        self._draw = draw
        self._prepare = prepare
        self._doc: Document | None = None
        self._call: Call | None = None
        self._loop: IOLoop | None = None
        self._player: Player | None = None
        self._scheduled = False
        self._started = False
        self._in_flight: int | None = None
        self._ahead = False
        self._sent_at = 0.0
        self._status: Status | None = None
        self._ticker: PeriodicCallback | None = None
        self._number = 0
        screen.on("hello", self._start)
        screen.on("painted", self._acknowledged)

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
        """Get ready, in the page's thread: frames are pushed once the browser says that it is there.

        `player`: its `notify` must be `notify` of this object; `doc`: the page's document.
        """
        self._player, self._doc, self._call, self._loop = player, doc, call_in_page(doc), IOLoop.current()
        self._ticker = PeriodicCallback(self._tick, TICK)  # without the document's lock, which costs more than it does
        self._ticker.start()
        self.notify()

    def _start(self, _message: dict[str, Any]) -> None:
        """Start pushing: the browser has shown that it is there.  What is pushed earlier would be lost."""
        self._started = True
        self.notify()

    def detach(self) -> None:
        """Stop pushing for good."""
        self._player = self._doc = self._call = self._loop = None
        self._draw = _draw_nothing
        if self._ticker is not None:
            self._ticker.stop()

    def notify(self) -> None:
        """Tell the page's thread that there is something new; callable from any thread.

        While a frame is in flight nothing is pushed: its acknowledgement looks for what is new.
        """
        call, loop, player = self._call, self._loop, self._player
        if call is None or loop is None or self._scheduled or not self._started or self._waits:
            return
        self._scheduled = True
        frame = None if player is None else player.frame
        if frame is not None:
            self._prepare(frame)
        if self._goes_on:
            loop.add_callback(self._push_on)
        else:
            call(self._push)

    @property
    def _waits(self) -> bool:
        """Whether the browser must first say that it has drawn what it was sent."""
        return self._in_flight is not None and (self._ahead or self._player is None or not self._player.hurries)

    @property
    def _goes_on(self) -> bool:
        """Whether the page knows that the run is under way, and it still is."""
        status, player = self._status, self._player
        return player is not None and status is not None and status.phase is Phase.running and player.status == status

    def _push_on(self) -> None:
        """Push a frame of a run that goes on: it changes next to nothing but the stage, which needs no lock.

        Waiting for the lock costs as much as half a frame.
        """
        if self._goes_on or self._call is None:
            self._push()
        else:
            self._call(self._push)

    def _push(self) -> None:
        self._scheduled = False
        player = self._player
        if player is None or self._waits:
            return
        frame, status = player.take_frame(), player.status
        # A surface waits for the frame that follows it: by itself it would make the next frame wait, and grow old.
        surface = player.take_surface() if frame is not None else None
        if frame is None and status == self._status:
            return
        self._status = status
        with self._screen:
            self._draw(frame, surface, status)
            if frame is not None:
                self._ahead = self._in_flight is not None
                self._number = self._in_flight = (self._number + 1) % 2**31
                self._sent_at = time.monotonic()
                self._screen.put(number=self._in_flight)

    def _acknowledged(self, message: dict[str, Any]) -> None:
        if self._player is None:
            return
        if self._in_flight is None or message.get("number") != self._in_flight:
            return
        self._in_flight, self._ahead = None, False
        self._player.suspend(False)
        self._player.request_frame()
        if self._player.untaken or self._player.status != self._status:
            self.notify()

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
        elif silent > ACKNOWLEDGED_WITHIN:
            self._doc.add_next_tick_callback(partial(self._ask_again, self._in_flight))

    def _ask_again(self, number: int) -> None:
        """Send all once more: a message or its answer may have been lost to an error in the page."""
        if number == self._in_flight:
            self._screen.send_all()
