"""A visitor who does everything at random: what hands can do to a page, within what its widgets offer."""

import asyncio
import contextlib
import time
from collections import Counter

from tornado.websocket import WebSocketClosedError

from supdr_viz.experiment.settings import to_query
from supdr_viz.lessons import LESSONS
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import sweep_query
from supdr_viz.presets.catalogue import PRESETS
from tests.live.page import OPENING, Page

KEYS = [" ", "ArrowRight", "ArrowRight", "r", "Escape", "PageDown", "PageUp", "1", "3", "n", "b"]
PAUSE = 2.5
"""Seconds between two actions, on average."""

VISIT = 120.0
"""Seconds that a page is open, on average."""

HASTY = 0.15
"""Share of the pages whose tab is killed while they are opening."""

NEVER = ("Iteration",)
"""A slider whose end the run moves: the page knows only where it was at first."""


def links():
    """Return where a visitor may begin, (page, query): what is prepared and needs no other data."""
    presets = [preset for preset in PRESETS.values() if preset.needs is None]
    explorers = [("explorer", "?" + to_query(preset.settings)) for preset in presets]
    sweeps = [
        ("sensitivity", "?" + sweep_query(preset.settings))
        for preset in SWEEP_PRESETS.values()
        if preset.needs is None and preset.settings.n_fits <= 150
    ]
    lessons = [("lessons", f"?lesson={name}") for name in LESSONS]
    compared = [("compare", ""), ("compare", "?data=moons&method=LSDR&b=NSDR&c=MAC")]
    return [*explorers, *sweeps, *lessons, *compared]


class Monkey:
    """Opens pages, acts on them, and leaves them again.

    Parameters
    ----------
    server : Server
    rng : Generator

    Attributes
    ----------
    done : Counter
        What was done, how often.
    waits : list of float
        Seconds until the server had taken an action.
    lost : list of str
        What was not answered, or where the server closed the page.
    """

    def __init__(self, server, rng):
        self._server, self._rng = server, rng
        self._links = links()
        self._cookie = ""
        self.page = None
        self.done, self.waits, self.lost, self.frames = Counter(), [], [], 0

    def _any(self, choices):
        return choices[self._rng.integers(len(choices))]

    async def live(self, until):
        """Visit one page after the other until the time has come."""
        while time.monotonic() < until:
            await self.visit(min(until, time.monotonic() + float(self._rng.exponential(VISIT))))

    async def visit(self, until):
        """Open a page, use it, and leave it in one of the ways in which pages are left."""
        name, query = self._any(self._links)
        self.page = Page(self._server.url, name, query, cookie=self._cookie)
        hasty = self._rng.uniform() < HASTY
        await self.page.open(self._any(OPENING[:-1]) if hasty else OPENING[-1])
        self._cookie = self.page.cookie
        self.done["visit"] += 1
        if hasty:
            self.done["cut"] += 1
            await self.page.cut()
            return
        last = ""
        try:
            while time.monotonic() < until and not self.page.gone:
                await asyncio.sleep(float(self._rng.exponential(PAUSE)))
                last = await self.act()
        except WebSocketClosedError:
            self.page.gone = True
        except TimeoutError:
            self.lost.append(f"{name}{query}: no answer to {last}")
        if self.page.gone:
            self.lost.append(f"{name}{query}: the server closed the page after {last}")
        self.frames += self.page.frames
        with contextlib.suppress(WebSocketClosedError):
            await (self.page.cut() if self._rng.uniform() < 0.3 else self.page.close())

    async def act(self):
        """Do one thing; return what it was."""
        kind = str(self._rng.choice(["key", "value", "button", "stage"], p=[0.35, 0.4, 0.15, 0.1]))
        said, event = getattr(self, f"_{kind}")()
        self.done[kind] += 1
        if event is not None:
            self.waits.append(await event)
        return said

    def _key(self):
        key = self._any(KEYS)
        return f"key {key!r}", self.page.key(key)

    def _value(self):
        usable = [each for each in self.page.widgets if self.values(each) and each.get("label") not in NEVER]
        if not usable:
            return "nothing", None
        widget = self._any(usable)
        value = self._any(self.values(widget))
        widget["value"] = value
        return f"{widget['kind']} {widget.get('label') or widget.get('name')} = {value!r}", self._change(widget, value)

    def _change(self, widget, value):
        if "Slider" in widget["kind"]:
            return self.page.change(widget, value=value, value_throttled=value)
        return self.page.change(widget, **{"active" if widget["kind"] == "Accordion" else "value": value})

    def values(self, widget):
        """Return what a hand can set a widget to."""
        kind, options = widget["kind"], widget.get("options")
        if widget.get("disabled") or widget.get("visible") is False:
            return []
        if kind in ("Select", "RadioButtonGroup") and isinstance(options, list):
            return [option[1] if isinstance(option, list) else option for option in options]
        if kind in ("Toggle", "Marks"):
            return options
        if kind in ("FloatSlider", "IntSlider") and widget.get("end") is not None:
            start, end = widget.get("start", 0), widget["end"]
            share = self._rng.uniform(size=4)
            values = [start, *(start + (end - start) * share).tolist()]
            return [int(value) for value in values] if widget.get("step") == 1 else values
        if kind in ("Switch", "Checkbox"):
            return [True, False]
        if kind == "Accordion":
            return [[0], []]
        return []

    def _button(self):
        buttons = self.page.parts("Button", "Push")
        if not buttons:
            return "nothing", None
        button = self._any(buttons)
        return f"button {button.get('label')}", self.page.click(button)

    def _stage(self):
        rows = self._rng.integers(0, 300, self._rng.integers(0, 20)).tolist()
        points = [[float(x), float(y), 0] for x, y in self._rng.normal(size=(3, 2))]
        message = self._any([{"kind": "select", "rows": rows}, {"kind": "drawn", "points": points}, {"kind": "hello"}])
        return f"stage {message}", self._told(message)

    async def _told(self, message):
        began = time.monotonic()
        await self.page.tell(message)
        return time.monotonic() - began
