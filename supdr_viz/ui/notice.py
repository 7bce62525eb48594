"""Boxes above the plots in which a page says what is in the way, or what was wrong with its address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from supdr_viz.ui import widgets
from supdr_viz.ui.markup import literal

# An empty title, or the margin of a paragraph, would push the text below the icon.
BESIDE_ICON = {"& .MuiAlertTitle-root": {"display": "none"}, "& .MuiAlert-message p": {"margin": 0}}

# A box that comes and goes lies over what it speaks of, which is dimmed or stale: the page does not move.
OVER = {"height": "0", "min-height": "0", "overflow": "visible", "position": "sticky", "top": "8px", "z-index": "25"}
# The way out stands in the box, beside the sentence.
AT_END = {"position": "absolute", "right": "8px", "top": "5px"}
ROOM_FOR_OFFER = {"& .MuiAlert-message": {"marginRight": "134px"}}
# Above several remarks.
SEVERAL = "Parts of this link were not valid and were replaced:"
RAISED = {"bgcolor": "background.paper", "boxShadow": "0 2px 12px rgb(0 0 0 / 25%)"}


class Notice:
    """A box that is away until there is something to say.

    `closeable`: whether it can be closed: what it says asks for nothing, and nothing that is done takes it back.
    `over`: whether it lies over what stands below it; else that moves down.
    `view`: empty until something was said for the first time.
    """

    def __init__(self, *, closeable: bool = False, over: bool = True) -> None:
        self._closeable, self._sx = closeable, {**BESIDE_ICON, **(RAISED if over else {})}
        place = OVER if over else {"position": "relative"}
        self.view = pn.Column(margin=0, styles=place, **widgets.WIDE)
        self._box: pmui.Alert | None = None
        self._offer: pmui.Button | None = None
        self._act: Callable[[], Any] = lambda: None

    @property
    def shown(self) -> bool:
        """Whether it says something."""
        return self._box is not None and self._box.visible

    def say(self, text: str, kind: str, *, offer: tuple[str, Callable[[], Any]] | None = None) -> None:
        """Show a sentence.

        `text`: shown as it is: the kit takes it for Markdown, and it may quote a link or a file; `kind`: one of "info",
        "success", "warning", "error"; `offer`: a way out: the text of a button, and what it does.
        """
        sx = {**self._sx, **(ROOM_FOR_OFFER if offer else {})}
        values = {"object": literal(text), "severity": kind, "visible": True, "closed": False, "sx": sx}
        if self._box is None:
            look: dict[str, Any] = {"title": "", "margin": (0, 0, 8, 0), **widgets.WIDE}
            self._box = pmui.Alert(closeable=self._closeable, **look, **values)
            self._box.param.watch(lambda _event: self._closed(), "closed")
            self.view.append(self._box)
        else:
            self._box.param.update(**values)
        self._show_offer(offer)

    def hide(self) -> None:
        """Take the box away."""
        if self._box is not None and self._box.visible:
            self._box.visible = False
        self._show_offer(None)

    def _closed(self) -> None:
        """Take a box away that was closed: by itself it leaves its margin."""
        if self._box is not None and self._box.closed:
            self.hide()

    def _show_offer(self, offer: tuple[str, Callable[[], Any]] | None) -> None:
        if offer is None:
            if self._offer is not None:
                self._offer.visible = False
            return
        label, self._act = offer
        if self._offer is None:
            self._offer = widgets.button(label, lambda: self._act(), kind="contained", margin=0, styles=AT_END)
            self.view.append(self._offer)
        else:
            self._offer.param.update(label=label, visible=True)


def remarks(sentences: Sequence[str]) -> Notice:
    """Make a box that says what was wrong when the page was opened, until it is closed; it covers nothing.

    `sentences`: without any the box is away.
    """
    notice = Notice(closeable=True, over=False)
    lead = [SEVERAL] if len(sentences) > 1 else []
    if sentences:
        notice.say("\n\n".join([*lead, *sentences]), "warning")
    return notice
