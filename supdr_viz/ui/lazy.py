"""What is built only when it is shown for the first time: most visitors never see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

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

    def renew(self) -> None:
        """Forget the content: it is built again when needed."""
        self.built = False
        self.content[:] = []
        self.ensure()


class Choice:
    """A choice that a page offers once there is something to choose from; what offers it is built then.

    `build`: ``build(options, value)`` makes the widget; `on_change`: ``on_change(event)`` follows its value. `view`:
    the place of the widget.
    """

    def __init__(self, build: Callable[[Sequence[str], str], Any], on_change: Callable[[Any], Any]) -> None:
        self._build, self._on_change = build, on_change
        self.options: list[str] = []
        self._value = ""
        self._made: Any = None
        self.view = pn.Row(margin=0, sizing_mode=None)

    @property
    def value(self) -> str:
        """What is chosen."""
        return self._value if self._made is None else str(self._made.value)

    def offer(self, options: Sequence[str], value: str) -> None:
        """Offer these options, with this one chosen."""
        self.options, self._value = list(options), value
        if self._made is not None:
            self._made.param.update(options=self.options, value=value)

    def show(self, wanted: bool) -> None:
        """Show the widget, or hide it."""
        if wanted and self._made is None:
            self._made = self._build(self.options, self._value)
            self._made.param.watch(self._on_change, "value")
            self.view.append(self._made)
        elif self._made is not None and self._made.visible != wanted:
            self._made.visible = wanted
