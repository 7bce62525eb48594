"""What is built only when it is shown for the first time: most visitors never see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from supdr_viz.ui.binding import BoundChoice
from supdr_viz.ui.widgets import WIDE


class Fold:
    """Something folded away and built only when it is opened for the first time.

    `build`: returns the content, a list of viewables.
    """

    def __init__(self, title: str, build: Callable[[], list[Any]], **more: Any) -> None:
        self._build = build
        self.built = False
        self.content = pn.Column(**WIDE, margin=0)
        more = {"margin": (0, 0), **WIDE, **more}
        self.view = pmui.Accordion(
            (title, self.content),
            active=[],
            disable_gutters=True,
            elevation=0,
            title_variant="body2",
            sx={
                "backgroundColor": "transparent",
                "backgroundImage": "none",
                "&:before": {"display": "none"},
                "& .MuiAccordionSummary-root": {"px": "8px", "minHeight": "36px"},
                "& .MuiAccordionDetails-root": {"px": "0px", "py": "0px"},
            },
            **more,
        )
        self.view.param.watch(lambda _event: self.ensure(), "active")

    @property
    def open(self) -> bool:
        """Whether it is open now."""
        return bool(self.view.active)

    def ensure(self) -> None:
        """Build the content if it is open and not built yet."""
        if self.open and not self.built:
            self.built = True
            self.content[:] = self._build()


class Choice:
    """A menu that a page offers once there is something to choose from; it is built then.

    `build`: ``build(options, text)`` makes the widget, which offers texts; `on_user`: ``on_user(value)`` follows the
    visitor's choice. `view`: the place of the widget.
    """

    def __init__(self, build: Callable[[Sequence[str], str], Any], on_user: Callable[[Any], Any]) -> None:
        self._build, self._on_user = build, on_user
        self._choices: dict[str, Any] = {}
        self._value: Any = None
        self._menu: BoundChoice | None = None
        self.view = pn.Row(margin=0, sizing_mode=None)

    def offer(self, choices: Mapping[str, Any], value: Any) -> None:
        """Offer these choices, text -> value, with this value chosen."""
        self._choices, self._value = dict(choices), value
        if self._menu is not None:
            self._menu.offer(choices, value)

    def show(self, wanted: bool) -> None:
        """Show the menu, or hide it."""
        if wanted and self._menu is None:
            chosen = next(text for text, value in self._choices.items() if value == self._value)
            widget = self._build(list(self._choices), chosen)
            self._menu = BoundChoice(widget, self._choices, self._on_user)
            self.view.append(widget)
        elif self._menu is not None and self._menu.widget.visible != wanted:
            self._menu.widget.visible = wanted
