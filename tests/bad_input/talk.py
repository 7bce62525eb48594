"""Say to a running server what no page of ours says: on both of a page's websockets, while another page is at work.

Of what is logged, that is a finding which went through the project's own code.  The kit answers by itself to what it
does not understand, and writes that to its log.
"""

from __future__ import annotations

import asyncio
import json
import re
import time

import numpy as np
from tornado.websocket import WebSocketClosedError

from tests.bad_input.damage import MOST_BYTES, MOST_SECONDS, WRONG, damaged
from tests.live.loops import awaited
from tests.live.monkey import Monkey
from tests.live.page import Page
from tests.live.server import Server

AT_A_TIME = 25
"""Messages between two looks at how the other page is."""

PAGES = {
    "explorer": "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=5",
    "compare": "?data=moons&data.n_samples=60&method=LSDR&b=NSDR",
    "sensitivity": "?data=moons&data.n_samples=60&method=LSDR&sweep.x=beta:list:0.1,0.5&sweep.folds=2",
    "lessons": "",
}
KINDS = ["key", "copied", "select", "drawn", "painted", "hello", "save", "resize", "value", "choose", "open", "x"]
EVENTS = ["data_event", "dom_event", "upload_event", "delete_event", "document_ready", "button_click", "nonsense"]


class Attacker:
    """Pages of a server on which anything is said; a new one where one was thrown out."""

    def __init__(self, server: Server, rng: np.random.Generator) -> None:
        self._server, self._rng, self._page = server, rng, None
        self._monkey = Monkey(server, rng)
        self.said: list[bytes] = []

    async def page(self) -> Page:
        """Return a page that listens."""
        if self._page is None or self._page.gone:
            name = list(PAGES)[self._rng.integers(len(PAGES))]
            self._page = await Page(self._server.url, name, PAGES[name]).open()
        return self._page

    def _any(self, choices):
        return choices[self._rng.integers(len(choices))]

    async def speak(self) -> float:
        """Say something; return the seconds until it is answered, as far as it is."""
        page = await self.page()
        kind = self._any(["stage", "change", "change", "event", "event", "use", "use", "raw"])
        try:
            if kind == "use":  # so that there is something to break
                self._monkey.page = page
                self.said.append((await self._monkey.act()).encode()[:300])
                return 0.0
            if kind == "stage":
                return await self._to_stage(page)
            if kind == "raw":
                return await self._raw(page)
            event = self._change(page) if kind == "change" else self._event(page)
            self.said.append(json.dumps(event, default=str).encode()[:300])
            return await page.patch(event, timeout=MOST_SECONDS + 8.0)
        except WebSocketClosedError:
            return 0.0

    async def _to_stage(self, page: Page) -> float:
        said = {"kind": self._any(KINDS), self._any(["rows", "points", "number", "plane"]): self._any(WRONG)}
        message = json.dumps(said).encode()
        if self._rng.uniform() < 0.5:
            message = damaged(self._rng, message, [message])
        self.said.append(message[:300])
        began = time.monotonic()
        await page.tell(message if self._rng.uniform() < 0.5 else message.decode("utf-8", "replace"))
        return time.monotonic() - began

    async def _raw(self, page: Page) -> float:
        parts = [json.dumps(each).encode() for each in ({"msgid": "1", "msgtype": "PATCH-DOC"}, {}, {"events": []})]
        parts = [damaged(self._rng, part, parts) for part in parts[: self._rng.integers(1, 4)]]
        self.said.append(b" | ".join(parts)[:300])
        for part in parts:
            await page.socket.write_message(part.decode("utf-8", "replace"))
        page.gone = True  # after half a message nothing else is understood
        return 0.0

    def _change(self, page: Page) -> dict:
        widget = self._any(page.widgets)
        names = [name for name in widget if name not in ("id", "kind", "component")]
        name = self._any([*names, "value", "value", "value", "value_throttled", "active", "options", "nonsense"])
        number = self._any([widget["id"], widget["component"], "p0"])
        return {"kind": "ModelChanged", "model": {"id": number}, "attr": name, "new": self._any(WRONG)}

    def _event(self, page: Page) -> dict:
        widget = self._any(page.widgets)
        data = {"kind": self._any([*KINDS, *WRONG[:6]]), self._any(["key", "value", "rows"]): self._any(WRONG)}
        entries = [[name, value] for name, value in data.items()]
        sent = self._any([{"type": "map", "entries": entries}, self._any(WRONG)])
        values = [["model", {"id": widget["component"]}], ["node", self._any(["button", ""])], ["data", sent]]
        event = {"type": "event", "name": self._any(EVENTS), "values": {"type": "map", "entries": values}}
        return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}


async def _talk(server: Server, count: int, rng: np.random.Generator) -> list[str]:
    findings, attacker = [], Attacker(server, rng)
    other = await Page(server.url, "explorer", "?data=iris&method=LSDR&method.max_iter=3&method.tol=0").open()
    before = server.megabytes
    slowest = 0.0
    for number in range(count):
        try:
            slowest = max(slowest, seconds := await attacker.speak())
            if seconds > MOST_SECONDS:
                findings.append(f"websocket: an answer took {seconds:.1f} s\n    {attacker.said[-1]!r}")
        except TimeoutError:  # the kit answers nothing to some of it
            attacker._page.gone = True
        if number % AT_A_TIME == AT_A_TIME - 1:
            began, drawn = time.monotonic(), other.frames
            await other.key("r")
            await other.key(" ")
            while other.frames < drawn + 2 and time.monotonic() - began < MOST_SECONDS + 8:
                await asyncio.sleep(0.01)
            waited = time.monotonic() - began
            if waited > MOST_SECONDS:
                last = b"\n    ".join(attacker.said[-AT_A_TIME:])
                findings.append(f"websocket: another page waits {waited:.1f} s for a frame after\n    {last!r}")
    grown = server.megabytes - before
    if grown * 1e6 > MOST_BYTES:
        findings.append(f"the server's memory grew by {grown:,.0f} MB")
    print(f"websocket: slowest answer {slowest:.2f} s; memory {grown:,.0f} MB more than before")
    await other.close()
    return findings


def talk(count: int, seed: int) -> list[str]:
    """Say so many things to a server; return the findings in words."""
    with Server() as server:
        findings = awaited(_talk(server, count, np.random.default_rng(seed)))
        return [*findings, *(f"websocket: {error}" for error in own(server.errors))]


def own(errors: list[str]) -> list[str]:
    """Return those of a log's errors that went through the project's own code; each kind once."""
    found: dict[str, str] = {}
    for error in errors:
        if re.search(r'File "[^"]*/(supdr_viz|core/supdr)/', error):
            last = [line for line in error.splitlines() if re.match(r"\w[\w.]*(Error|Exception|Warning)\b", line)]
            found.setdefault(last[-1] if last else error, error)
    return list(found.values())
