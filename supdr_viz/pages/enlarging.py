"""One plot as large as the window: for a lecture hall."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from supdr_viz.kit import widgets

HEAD_ROOM = 76
"""Pixels above and around an enlarged plot."""

# The text is the accessible name; only the icon shows.
ICON_SX = {
    "fontSize": 0,
    "minWidth": "28px",
    "p": "4px",
    "color": "text.secondary",
    "& .MuiButton-startIcon": {"m": 0},
    "& .material-icons": {"fontSize": "17px !important"},
}
OVER_ALL = {
    "position": "fixed",
    "inset": "0",
    "width": "100vw",
    "height": "100vh",
    "max-height": "none",
    "z-index": "1290",
    "background": "var(--supdr-card)",
    "overflow": "auto",
}
# Said in full: a style that is only left out stays in the browser.
IN_PLACE = {
    **{"position": "relative", "inset": "auto", "width": "100%", "height": "auto", "z-index": "auto"},
    **{"background": "var(--supdr-card)", "overflow": "hidden", "max-height": "none"},
}
PANE_IN_PLACE = {"width": "100%", "min-width": "0", "max-width": "none", "align-self": "auto"}


class Enlarger:
    """Gives each card a button that fills the window with it; one at a time.

    Attributes
    ----------
    shown : str or None
        Name of the enlarged card.
    """

    def __init__(self) -> None:
        self.shown: str | None = None
        self._cards: dict[str, tuple[Any, Any, bool]] = {}
        self._usual_height = 0
        self._buttons: dict[str, pmui.Button] = {}
        self._titles: dict[str, str] = {}
        self._height = 900

    def button(self, name: str, title: str) -> pmui.Button:
        """Make the button of a card's head.

        Parameters
        ----------
        name : str
        title : str
            Of the card.

        Returns
        -------
        Button
        """
        self._titles[name] = title
        made = widgets.button(
            f"Enlarge {title}",
            lambda: self.toggle(name),
            icon="open_in_full",
            kind="text",
            sx=ICON_SX,
            margin=0,
            width=28,
            height=28,
        )
        self._buttons[name] = made
        return made

    def add(self, name: str, card: Any, pane: Any, *, square: bool) -> None:
        """Register what the button of `name` enlarges.

        Parameters
        ----------
        name : str
        card, pane : viewable
            The card and its plot.
        square : bool
            Whether the plot is; else it has a height in pixels.
        """
        self._cards[name] = (card, pane, square)

    def toggle(self, name: str) -> None:
        """Enlarge a card, or put it back."""
        if self.shown == name:
            self.shrink()
            return
        self.shrink()
        card, pane, square = self._cards[name]
        self.shown, self._usual_height = name, 0 if square else pane.pixels
        with pn.io.hold():  # one message: a plot of its new size is never seen at its old place
            if square:
                side = f"min(100vw - 24px, 100vh - {HEAD_ROOM}px)"
                pane.styles = {"width": side, "min-width": side, "max-width": side, "align-self": "center"}
            else:
                pane.pixels = max(200, self._height - HEAD_ROOM)
            card.styles = OVER_ALL  # last: the plot must not fill the card before its own size is known
        self._say(name, "Shrink", "close_fullscreen")

    def shrink(self) -> bool:
        """Put the enlarged card back; tell whether there was one."""
        if self.shown is None:
            return False
        name, self.shown = self.shown, None
        card, pane, square = self._cards[name]
        with pn.io.hold():
            card.styles = IN_PLACE
            if square:
                pane.styles = PANE_IN_PLACE
            else:
                pane.pixels = self._usual_height
        self._say(name, "Enlarge", "open_in_full")
        return True

    def set_height(self, pixels: int) -> None:
        """Note the height of the window."""
        self._height = pixels
        if self.shown is not None:
            _card, pane, square = self._cards[self.shown]
            if not square:
                pane.pixels = max(200, pixels - HEAD_ROOM)

    def _say(self, name: str, word: str, icon: str) -> None:
        self._buttons[name].param.update(label=f"{word} {self._titles[name]}", icon=icon)
