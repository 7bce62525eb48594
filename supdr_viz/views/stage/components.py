"""The stage in the page: a hub that hears what the server says, and places for views, charts and words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
import param
from panel.custom import JSComponent

from supdr_viz.ui.feedback import toast
from supdr_viz.ui.markup import TEXT_CSS
from supdr_viz.ui.own_files import Script, sheet
from supdr_viz.ui.panel_workarounds import send_message
from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.stage.socket import Connection
from supdr_viz.views.stage.stage import Stage

# What a page says that has a ticket, and comes by messages all the same.
CLOSED = (
    "The views get fewer frames: their own connection to the server (/stage) does not open, or was closed. "
    "A proxy in between has to let websockets through."
)


class Hub(JSComponent):
    """The invisible half of a stage in the page: put it anywhere into the page, once.

    `tickets`: of the process; by default its browsers come by the messages of the page. `group`: stages of the same
    group show the same rows: they share selection and pointer.
    """

    board = param.String(doc="Name of the stage in the page.")
    group = param.String(doc="Stages of one group share selection and pointer.")
    ticket = param.String(doc="Opens the socket; empty: there is none.")

    _esm = Script("stage/hub.js")

    def __init__(self, stage: Stage, tickets: Tickets | None = None, group: str = "") -> None:
        self._tickets = tickets or Tickets()
        super().__init__(ticket=self._tickets.new(self), width=0, height=0, margin=0)
        self.board, self.group = self.name, group or self.name
        self.stage = stage
        self._document = pn.state.curdoc
        self.on_msg(self._received)

    def square(self, name: str) -> Slot:
        """Make the place of one of the stage's squares, "input", "latent" or "method"."""
        return Slot(slot=f"{self.board}/planes/{name}", margin=0, sizing_mode="stretch_width")

    def chart(self, name: str, pixels: int) -> ChartSlot:
        """Make the place of one of the stage's charts, so many pixels high."""
        return ChartSlot(pixels, slot=f"{self.board}/charts/{name}", margin=0, sizing_mode="stretch_width")

    def words(self, name: str, *, css: str = "", **options: Any) -> Words:
        """Make the place of a text that the stage tells.

        `css`: beside that of all texts; `**options`: of the component.
        """
        sheets = [sheet(each) for each in (TEXT_CSS, css) if each]
        return Words(self.stage, name, slot=f"{self.board}/words/{name}", **{"stylesheets": sheets, **options})

    def save_view(self, view: str, format: str, name: str, words: dict[str, Any]) -> None:
        """Save a square or a chart as a picture of the user's, at least twice as fine as on the page.

        `format`: one of "png", "svg"; `name`: of the file, without the ending; `words`: what stands above it:
        ``title``, ``note``, and ``legend``, a list of dicts with ``name``, ``colour``, ``kind`` and ``dash``.
        """
        send_message(self, {"kind": "save", "view": view, "format": format, "name": name, "words": words})

    def joined(self, browser: Connection) -> None:
        """Tell the browser that has opened the socket all, and from now on what is new."""
        self._connect(browser.send)

    def left(self, browser: Connection) -> None:
        """Do nothing: it comes again, or its page ends."""

    def heard(self, message: dict[str, Any], browser: Connection | None = None) -> None:
        """Take what the browser says; that a frame is painted concerns no document."""
        hear = partial(self.stage.hear, message)
        if message.get("kind") == "painted":
            hear()
        else:
            self._locked(hear)

    def _received(self, event: Any) -> None:
        """Take what the browser says where there is no socket."""
        message = event.data if isinstance(event.data, dict) else {}
        if message.get("kind") == "hello":
            self._connect(partial(send_message, self))
            lacking = CLOSED if self.ticket else self._tickets.lacking
            if lacking and message.get("first"):
                self._locked(partial(toast, lacking, "info", seconds=0))
        else:
            self.heard(message)

    def _connect(self, send: Callable[[bytes], None]) -> None:
        self._locked(partial(self.stage.connect, send))

    def _locked(self, act: Callable[[], None]) -> None:
        """Act under the document's lock, which neither sockets nor messages hold."""
        document = self._document or pn.state.curdoc
        if document is not None and document.session_context is not None:
            document.add_next_tick_callback(act)


class Slot(JSComponent):
    """A place of the page that a stage fills."""

    slot = param.String(doc="Names of the stage, of the kind of view, and of the view.")

    _esm = Script("stage/slot.js")


class ChartSlot(Slot):
    """The place of a chart.

    `pixels`: height; `**options`: of the component.
    """

    def __init__(self, pixels: int, **options: Any) -> None:
        super().__init__(**options)
        self.pixels = pixels

    @property
    def pixels(self) -> int:
        """Height of the chart."""
        return self._pixels

    @pixels.setter
    def pixels(self, pixels: int) -> None:
        """Become higher or lower; by style, as the kit gives a component's inside the height that it had at first."""
        self._pixels = pixels
        self.styles = {"height": f"{pixels}px", "position": "relative"}


class Words(Slot):
    """A text of the page that travels with the stage.

    `**options`: of the component.
    """

    def __init__(self, stage: Stage, name: str, **options: Any) -> None:
        super().__init__(**options)
        self._stage, self._name = stage, name

    @property
    def text(self) -> str:
        """HTML; escape what comes from outside."""
        return self._stage.get("words", self._name) or ""

    @text.setter
    def text(self, text: str) -> None:
        """Say something else."""
        self._stage.put("words", **{self._name: text})
