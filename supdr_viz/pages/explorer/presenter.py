"""Examples one after another for an audience: two large squares, one caption, and keys to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr_viz.controls.sidebar import Controls
from supdr_viz.pages.cards import Cards
from supdr_viz.pages.class_link import ClassLink
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.gallery import STORIES
from supdr_viz.ui.bar import BarControl, Button
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.feedback import toast

# The examples in their order: those with a story whose data are included.
SHOWN = [name for idea in STORIES.values() for name in idea if PRESETS[name].needs is None]

_TOLD = {name: story for idea in STORIES.values() for name, story in idea.items()}

# Name of a key, see `supdr_viz.ui.bridge` -> how many examples it leads on.
STEPS = {"right": 1, "next": 1, "left": -1, "back": -1}


class Presenter:
    """Shows an example on the cards of a page, with the neighbours of its list one key away.

    `on_change`: called when the presentation begins or ends. `on`: whether it presents.
    """

    def __init__(self, controls: Controls, bridge: Bridge, class_link: ClassLink, on_change: Callable[[], Any]) -> None:
        self._controls, self._bridge, self._class_link, self._on_change = controls, bridge, class_link, on_change
        self._cards: Cards | None = None
        self._name = SHOWN[0]
        self.on = False
        self._parts: dict[str, BarControl] = {
            "present back": Button("Back", lambda: self._go(-1), key="←"),
            "present next": Button("Next", lambda: self._go(1), key="→"),
            "present class": Button("Link for students", self._open_class, icon="cast_for_education"),
            "present leave": Button("Exit", self.leave, icon="close", key="Esc"),
        }

    def show_on(self, cards: Cards, run: BarControl, classes: BarControl) -> None:
        """Present on these cards; `run`: the button, `classes`: the legend of the page, shown once more there."""
        self._cards = cards
        self._parts |= {"present run": run, "present classes": classes}

    def start(self) -> None:
        """Present the example that is shown, or the first one."""
        name = self._controls.preset
        if self._cards is not None and not self._cards.held.keys() & self._parts.keys():
            self._cards.hold(self._parts)
        self.on = True
        self._show(name if name in SHOWN else SHOWN[0])
        self._bridge.announce("Presenting. Arrow keys lead from example to example; Escape ends the presentation.")

    def leave(self) -> None:
        """Show the page again, with the example that was presented last."""
        self.on = False
        self._tell({})
        self._on_change()

    def take_key(self, name: str) -> bool:
        """Act on a key, and tell whether it was one of the presentation."""
        if not self.on or (name not in STEPS and name != "escape"):
            return False
        if name == "escape":
            self.leave()
        else:
            self._go(STEPS[name])
        return True

    @property
    def query(self) -> str:
        """Query of the page's address; empty if nothing is presented."""
        return f"example={self._name}&present=1" if self.on else ""

    def _go(self, step: int) -> None:
        self._show(SHOWN[(SHOWN.index(self._name) + step) % len(SHOWN)])

    def _show(self, name: str) -> None:
        self._name = name
        if name != self._controls.preset or not self._controls.presets.name:
            self._controls.apply_preset(name)
        story = _TOLD[name]
        self._tell({"title": story.title, "line": story.line, "place": f"{SHOWN.index(name) + 1} / {len(SHOWN)}"})
        self._on_change()

    def _tell(self, presented: dict[str, str]) -> None:
        if self._cards is not None:
            self._cards.presented = presented

    def _open_class(self) -> None:
        """Open the link for students, unless it is open, and copy it."""
        link = self._class_link
        if not link.offered:
            toast("Pages of this server cannot be followed.", "warning")
            return
        if link.followers is None:
            link.open()
        address, warning = link.address, link.warning

        def said(done: bool) -> None:
            text = f"{'Copied' if done else 'Link for students'}: {address}. {warning}".strip(". ")
            toast(text, "warning" if warning else "info", seconds=15)

        self._bridge.copy(address, said)
