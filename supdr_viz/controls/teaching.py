"""The bar that comes up when rows are selected: give them a label, undo that, go to the next doubtful row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import panel as pn

from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound

MAX_BUTTONS = 6
MAX_LETTERS = 16
BAR = {
    "position": "fixed",
    "bottom": "16px",
    "left": "50%",
    "transform": "translateX(-50%)",
    "z-index": "1250",
    "width": "max-content",
    "max-width": "calc(100vw - 24px)",
    "padding": "4px 10px",
    "border-radius": "10px",
    "background": "var(--supdr-card)",
    "border": "1px solid var(--supdr-border)",
    "box-shadow": "0 6px 24px rgba(0,0,0,.28)",
    "align-items": "center",
}
CHOOSE = "choose a class"


class TeachingBar:
    """Offers labels for the rows that are selected; built when it is shown for the first time.

    `on_label`: ``on_label(number)`` of the label on offer. `view`: lies over the page.
    """

    def __init__(
        self,
        on_label: Callable[[int], Any],
        on_doubtful: Callable[[], Any],
        on_undo: Callable[[], Any],
        on_close: Callable[[], Any],
    ) -> None:
        self._on_label, self._acts = on_label, (on_doubtful, on_undo, on_close)
        self._labels: list[str] = []
        self._built = False
        self._on_shown: Callable[[bool], Any] = lambda _shown: None
        self.view = pn.Column(margin=0, width=0, height=0, sizing_mode=None)

    def on_shown(self, callback: Callable[[bool], Any]) -> None:
        """Call ``callback(shown)`` when it comes and when it goes."""
        self._on_shown = callback

    @property
    def shown(self) -> bool:
        """Whether it is to be seen."""
        return self._built and bool(self._row.visible)

    @property
    def said(self) -> str:
        """What it says of the rows."""
        return str(self._words.object) if self.shown else ""

    def hide(self) -> None:
        """Take it away."""
        if self._built:
            self._row.visible = False
            self._on_shown(False)

    def show(self, words: str, labels: Sequence[str], *, undo: bool) -> None:
        """Say which rows are selected, and offer labels for them.

        `labels`: empty: these rows cannot be taught; the words say why. `undo`: whether there is something to undo.
        """
        if not self._built:
            self._build()
        self._words.object = f"<span>{widgets.escape(words)}</span>"
        if list(labels) != self._labels:
            self._labels = list(labels)
            self._choices[:] = self._offer(self._labels)
        self._undo.visible = undo
        self._row.visible = True
        self._on_shown(True)

    def _build(self) -> None:
        doubtful, undo, close = self._acts
        self._words = widgets.html(margin=(4, 8), sizing_mode=None)
        self._choices = pn.Row(margin=0, sizing_mode=None, styles={"flex-wrap": "wrap"})
        self._undo = widgets.button("Undo", undo, icon="undo", kind="text", visible=False)
        self._row = widgets.flow(
            self._words,
            self._choices,
            widgets.button("Next uncertain row", doubtful, icon="help_outline", kind="text"),
            self._undo,
            widgets.button("Done", close, kind="text"),
            margin=0,
            sizing_mode=None,
        )
        self._row.styles = {**self._row.styles, **BAR}
        self.view.append(self._row)
        self._built = True

    def _offer(self, labels: Sequence[str]) -> list[Any]:
        if len(labels) <= MAX_BUTTONS + 2:
            return [
                widgets.button(_short(label), partial(self._on_label, number), margin=(4, 2))
                for number, label in enumerate(labels)
            ]
        menu = widgets.small_menu("Label", [CHOOSE, *labels], CHOOSE, width=150)

        def chosen(label: str) -> None:
            """Give the label; the menu offers all again."""
            bound.show(CHOOSE)
            self._on_label(labels.index(label))

        bound = Bound(menu, chosen)
        return [menu]


def _short(label: str) -> str:
    return label if len(label) <= MAX_LETTERS else label[: MAX_LETTERS - 1] + "…"
