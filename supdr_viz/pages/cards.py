"""The cards of a run: squares in the first row, curves in the second, each with its head, tools, and words beside it.

All of them are one component: the fewer a page has, the less there is to build.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param
from panel.custom import Child

from supdr_viz.ui import widgets
from supdr_viz.ui.bar import Bar, BarControl, style
from supdr_viz.ui.markup import STATUS_CSS
from supdr_viz.ui.own_files import ASSETS, Script
from supdr_viz.views.board import Board

_BESIDE = ("keys", "numbers", "numbers of the map")


class Cards(Bar):
    """The cards of a board.

    `enlarged`: name of the card that fills the window; empty: none does. `shown`: names of the cards to be seen; none:
    all are. `tall`: whether there is room for high curves. `presented`: what is said of an example that is presented on
    the first two squares, which fill the window.

    name_of_stage: in the page.
    tools: "tool", "draw_class", "marks", "mode". A presentation needs more: "present back", "next", "class", "leave",
        "run", "classes".
    menu: in the head of the method's card.
    **options: of the component.
    """

    board = param.String(doc="Name of the stage in the page.")
    titles = param.Dict(default={}, doc="What each card shows.")
    enlarged = param.String(default="")
    shown = param.List(default=[])
    tall = param.Boolean(default=True)
    presented = param.Dict(default={}, doc="Title, line and place of an example that is presented; empty: none is.")
    menu = Child()

    _esm = Script("cards.js")

    def __init__(self, board: Board, name_of_stage: str, tools: Mapping[str, BarControl], **options: Any) -> None:
        self._stage = board.stage
        titles = {name: getattr(board, name).title for name in ("input", "latent", "losses", "errors")}
        css = (ASSETS / "cards.css").read_text(encoding="utf-8")
        sheets = [widgets.sheet(each) for each in (widgets.TEXT_CSS, widgets.HEAD_CSS, STATUS_CSS, style(), css)]
        own = {"board": name_of_stage, "titles": {**titles, "method": "Method"}, "stylesheets": sheets}
        super().__init__(tools, **own, **widgets.WIDE, **options)

    def say(self, name: str, text: str) -> None:
        """Tell a text of a card.

        `name`: "head of ..." a card, "keys" or "numbers" beside the method's picture, "numbers of the map". `text`:
        HTML; escape what comes from outside.
        """
        self._stage.put("words", **{name: text})

    @property
    def texts(self) -> list[str]:
        """HTML of all that the cards say."""
        words = self._stage.get("words") or {}
        return [text for name, text in words.items() if name in _BESIDE or name.startswith("head of ")]

    def shrink(self) -> bool:
        """Put an enlarged card back to its place; tell whether there was one."""
        was, self.enlarged = self.enlarged, ""
        return bool(was)
