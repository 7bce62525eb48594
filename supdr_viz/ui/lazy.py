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

    `build`: returns the content, a list of viewables; `on_turned`: ``on_turned(open)`` after it was opened or closed;
    `below`: the fold that this one stands under, in one frame with it. `view`: of all folds of the frame.
    """

    def __init__(
        self,
        title: str,
        build: Callable[[], list[Any]],
        on_turned: Callable[[bool], Any] = lambda _open: None,
        *,
        below: Fold | None = None,
        **more: Any,
    ) -> None:
        self._build, self._on_turned = build, on_turned
        self.built = self._was_open = False
        self.content = pn.Column(**WIDE, margin=0)
        if below is None:
            self.view = _accordion(title, self.content, **{"margin": 0, **WIDE, **more})
        else:
            self.view = below.view
            self.view.append((title, self.content))
        self._place = len(self.view) - 1
        self.view.param.watch(lambda _event: self._turned(), "active")

    @property
    def open(self) -> bool:
        """Whether it is open now."""
        return self._place in self.view.active

    def _turned(self) -> None:
        self.ensure()
        if self._was_open is not self.open:
            self._was_open = self.open
            self._on_turned(self.open)

    def ensure(self) -> None:
        """Build the content if it is open and not built yet."""
        if self.open and not self.built:
            self.built = True
            self.content[:] = self._build()


def _accordion(title: str, content: Any, **more: Any) -> pmui.Accordion:
    return pmui.Accordion(
        (title, content),
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
