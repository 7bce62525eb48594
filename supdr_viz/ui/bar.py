"""Buttons and choices that stand together, as one component: each of the kit's own costs milliseconds to build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param
from panel.custom import JSComponent

from supdr_viz.ui.feedback import guarded
from supdr_viz.ui.own_files import ASSETS, Script, sheet
from supdr_viz.ui.page_thread import locked_callback

# Numbers of what can be pressed, and characters that can be looked for.
MOST_PICKED, LONGEST_SEARCH = 10**8, 300


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
        """What the browser draws, as far as it is not the default, and how many presses the server has heard of."""
        defaults = {name: self.param[name].default for name in self.param}
        changed = {name: value for name, value in self.param.values().items() if value != defaults[name]}
        changed.pop("name", None)
        presses = {"heard": self._n_presses} if self._n_presses else {}
        return {"kind": self.kind, **presses, **changed}

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
    key: the key that does the same, in a word or a sign; it is shown during a presentation.
    **values: ``width``, ``height`` in pixels, ``disabled``, ``visible``.
    """

    label = param.String(default="")
    icon = param.String(default="")
    look = param.String(default="outlined")
    key = param.String(default="")
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

    label: what is chosen, as a screen reader says it.
    `**values`: ``large``, ``disabled``, ``visible``.
    """

    options = param.List(default=[])
    value = param.String(default="")
    label = param.String(default="")
    large = param.Boolean(default=False)

    kind = "toggle"

    def __init__(self, label: str, options: Sequence[str], value: str, **values: Any) -> None:
        super().__init__(label=label, options=list(options), value=value, **values)

    def _press(self, value: Any) -> None:
        if value in self.options:
            self.value = value


class Switches(BarControl):
    """Small buttons each of which is on or off.

    label: what they switch, as a screen reader says it.
    value: the options that are on.
    """

    options = param.List(default=[])
    value = param.List(default=[])
    label = param.String(default="")

    kind = "marks"

    def __init__(self, label: str, options: Sequence[str]) -> None:
        super().__init__(label=label, options=list(options))

    def _press(self, value: Any) -> None:
        if value in self.options:
            self.value = [each for each in self.value if each != value] + [value] * (value not in self.value)


class Menu(BarControl):
    """A menu of the browser's own, with headings.

    groups: each is a heading, which may be empty, what values of the group begin with, and the texts of its choices.
        The value of a choice is this beginning with the text behind it, or, where a choice is a pair, what comes
        second.
    """

    label = param.String(default="")
    groups = param.List(default=[])
    value = param.String(default="")

    kind = "menu"

    def _press(self, value: Any) -> None:
        if value in self.offered:
            self.value = value

    @property
    def offered(self) -> list[str]:
        """The values that can be chosen."""
        return [
            start + each if isinstance(each, str) else each[1] for _, start, choices in self.groups for each in choices
        ]


class Pickable(BarControl):
    """HTML in which what has a number, ``data-pick``, can be pressed: a legend, a table of counts.

    html: escape what comes from outside.
    pressed: numbers of what is pressed.
    on_pick: ``on_pick(number)``.
    """

    html = param.String(default="")
    pressed = param.List(default=[])

    kind = "pickable"

    def __init__(self, on_pick: Callable[[int], Any], **values: Any) -> None:
        super().__init__(**values)
        self._on_pick = guarded(on_pick)

    def _press(self, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_PICKED:
            self._on_pick(value)


class Search(BarControl):
    """A field to look for something, and steps from hit to hit.

    note: what was found.
    steps: whether there is more than one hit.
    on_search: ``on_search(text)``.
    on_step: ``on_step(1)`` for the next hit, ``on_step(-1)`` for the one before.
    """

    label = param.String(default="")
    note = param.String(default="")
    steps = param.Boolean(default=False)
    wrong = param.Boolean(default=False, doc="Whether the text is not understood.")

    kind = "search"

    def __init__(self, on_search: Callable[[str], Any], on_step: Callable[[int], Any], **values: Any) -> None:
        super().__init__(**values)
        self._on_search, self._on_step = guarded(on_search), guarded(on_step)

    def _press(self, value: Any) -> None:
        if isinstance(value, str) and len(value) <= LONGEST_SEARCH:
            self._on_search(value)
        elif value in (1, -1) and not isinstance(value, bool):
            self._on_step(int(value))


class Bar(JSComponent):
    """Parts in a row, which goes on in a further line where there is no room.

    `held`: by names of their own; `**options`: of the component.
    """

    parts = param.Dict(default={}, doc="What is drawn.")

    _esm = Script("bar.js")

    def __init__(self, controls: Mapping[str, BarControl], **options: Any) -> None:
        options = {"stylesheets": [sheet(style())], "margin": 0, **options}
        super().__init__(**options)
        self.held: dict[str, BarControl] = {}
        self.hold(controls)
        self.on_msg(locked_callback(self._received))

    def hold(self, controls: Mapping[str, BarControl]) -> None:
        """Hold more parts; a part may be held by several bars."""
        self.held |= controls
        self._draw(*controls)
        for name, part in controls.items():
            names = [each for each in part.param if each not in ("name", "clicks")]
            part.param.watch(lambda *_events, name=name: self._draw(name), names)

    def _draw(self, *names: str) -> None:
        self.parts = {**self.parts, **{name: self.held[name].shown for name in names}}

    def _received(self, event: Any) -> None:
        message = event.data if isinstance(event.data, dict) else {}
        name = message.get("part")
        if isinstance(name, str) and name in self.held:
            self.held[name].hear(message.get("value"))
            self._draw(name)
