"""Buttons and choices that stand together, as one component: each of the kit's own costs milliseconds to build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param
from panel.custom import JSComponent

from supdr_viz.ui.feedback import guarded
from supdr_viz.ui.own_files import ASSETS, Script, sheet
from supdr_viz.ui.page_thread import locked_callback


def style() -> str:
    """Return how parts look."""
    return (ASSETS / "parts.css").read_text(encoding="utf-8")


class BarControl(param.Parameterized):
    """Something to press."""

    visible = param.Boolean(default=True)
    disabled = param.Boolean(default=False)

    kind = ""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._n_presses = 0

    @property
    def shown(self) -> dict[str, Any]:
        """What the browser draws, and how many presses the server has heard of."""
        said = {name: value for name, value in self.param.values().items() if name != "name"}
        return {"kind": self.kind, "heard": self._n_presses, **said}

    def hear(self, value: Any) -> None:
        """Take a press, unless it is none of what is offered."""
        self._n_presses += 1
        if self.visible and not self.disabled:
            self._press(value)

    def _press(self, value: Any) -> None:
        raise NotImplementedError


class Button(BarControl):
    """A button with a text.

    on_click: called without arguments.
    icon: name of a Material icon.
    look: one of "outlined", "contained", "text".
    **values: ``width``, ``height`` in pixels, ``disabled``, ``visible``.
    """

    label = param.String(default="")
    icon = param.String(default="")
    look = param.String(default="outlined")
    width = param.Integer(default=0)
    height = param.Integer(default=0)
    clicks = param.Integer(default=0)

    kind = "push"

    def __init__(self, label: str, on_click: Callable[[], Any], **values: Any) -> None:
        super().__init__(label=label, **values)
        act = guarded(on_click)
        self.param.watch(lambda _event: act(), "clicks")

    def _press(self, value: Any) -> None:
        self.clicks += 1


class Toggle(BarControl):
    """Small buttons of which one is chosen; their texts must speak for themselves.

    `**values`: ``large``, ``disabled``, ``visible``.
    """

    options = param.List(default=[])
    value = param.String(default="")
    large = param.Boolean(default=False)

    kind = "toggle"

    def __init__(self, options: Sequence[str], value: str, **values: Any) -> None:
        super().__init__(options=list(options), value=value, **values)

    def _press(self, value: Any) -> None:
        if value in self.options:
            self.value = value


class Switches(BarControl):
    """Small buttons each of which is on or off.

    value: the options that are on.
    """

    options = param.List(default=[])
    value = param.List(default=[])

    kind = "marks"

    def __init__(self, options: Sequence[str]) -> None:
        super().__init__(options=list(options))

    def _press(self, value: Any) -> None:
        if value in self.options:
            self.value = [each for each in self.value if each != value] + [value] * (value not in self.value)


class Bar(JSComponent):
    """Parts in a row, which goes on in a further line where there is no room.

    `held`: by names of their own; `**options`: of the component.
    """

    parts = param.Dict(default={}, doc="What is drawn.")

    _esm = Script("bar.js")

    def __init__(self, held: Mapping[str, BarControl], **options: Any) -> None:
        options = {"stylesheets": [sheet(style())], "margin": 0, **options}
        super().__init__(**options)
        self.held: dict[str, BarControl] = {}
        for name, part in held.items():
            self.add(name, part)
        self.on_msg(locked_callback(self._received))

    def add(self, name: str, part: BarControl) -> None:
        """Hold one part more, before the page is made."""
        self.held[name] = part
        self._draw(name)
        drawn = [each for each in part.param if each not in ("name", "clicks")]
        part.param.watch(lambda *_events: self._draw(name), drawn)

    def _draw(self, name: str) -> None:
        self.parts = {**self.parts, name: self.held[name].shown}

    def _received(self, event: Any) -> None:
        message = event.data if isinstance(event.data, dict) else {}
        name = message.get("part")
        if isinstance(name, str) and name in self.held:
            self.held[name].hear(message.get("value"))
            self._draw(name)
