"""One page of a running server without a browser: its two websockets, its widgets, and what a script would say."""

import asyncio
import contextlib
import itertools
import json
import re
import time
import urllib.request
from html import unescape

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from supdr_viz.views.stage.wire import decode, merge

TIMEOUT = 120
NUMBERS = itertools.count(1)

OPENING = ("page", "connected", "document", "ready", "stage")
"""How far a page is on its way."""


class Page:
    """A page that is open.

    Attributes
    ----------
    frames : int
        How many came and were acknowledged.
    widgets : list of dict
        What the page had at first, each with its ``id``, ``kind``, and attributes.
    tree : dict
        What the stage shows.
    cookie : str
        Name and value, as the server gave it.
    ticket : str
        Of the stage; empty where the page has none.
    gone : bool
        Whether the server has closed the page's socket.
    """

    def __init__(self, url, name="explorer", query="", cookie=""):
        self.url, self.name, self.query, self.cookie = url, name, query, cookie
        self.frames, self.widgets, self.tree = 0, [], {}
        self.socket, self.stage, self.gone = None, None, False
        self._tasks = []
        self._answers = {}

    @property
    def _request(self):
        headers = {"Origin": self.url, "Cookie": self.cookie}
        options = {"connect_timeout": TIMEOUT, "request_timeout": TIMEOUT, "headers": headers}
        address = self.url.replace("http", "ws")
        return lambda path: HTTPRequest(address + path, **options)

    async def open(self, to=OPENING[-1]):
        """Ask for the page, connect both sockets, and go on listening; or come only as far as is said."""
        async for reached in self._opening():
            if reached == to:
                break
        return self

    async def _opening(self):
        html = await asyncio.to_thread(self._html)
        yield "page"
        token = json.loads(re.search(r'"token":\s*("[^"]+")', html).group(1))
        self.socket = await websocket_connect(
            self._request(f"/{self.name}/ws"), subprotocols=["bokeh", token], max_message_size=2**30
        )
        yield "connected"
        for _ in range(3):  # header, metadata and content of the greeting
            await self.socket.read_message()
        document = await self._ask("PULL-DOC-REQ")
        self.widgets = list(_widgets(document))
        self.ticket = next((each["ticket"] for each in self.widgets if each.get("ticket")), "")
        yield "document"
        self._tasks.append(asyncio.create_task(self._listen()))
        await self.event({"type": "event", "name": "document_ready", "values": {"type": "map"}})
        yield "ready"
        if self.ticket:
            self.stage = await websocket_connect(self._request(f"/stage?ticket={self.ticket}"), max_message_size=2**30)
            self._tasks.append(asyncio.create_task(self._watch()))
        yield "stage"

    def _html(self):
        """Return the page, after waiting in line as a browser does."""
        path = f"{self.name}{self.query}"
        while (found := re.search('data-turn="([^"]+)" data-again="([^"]+)"', html := self._fetched(path))) is not None:
            turn, again = found.groups()
            asked = itertools.count()
            while before := json.loads(self._fetched(f"turn?of={turn}"))["before"]:
                time.sleep(min(1.5 if next(asked) < 3 else 5.0, 0.1 * before))
            path = unescape(again)
        return html

    def _fetched(self, path):
        request = urllib.request.Request(f"{self.url}/{path}", headers={"Cookie": self.cookie})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            self.cookie = answer.headers.get("Set-Cookie", self.cookie).partition(";")[0]
            return answer.read().decode()

    async def _ask(self, kind):
        """Ask before anybody listens; return the content of the answer."""
        await self._send(kind, {})
        while True:
            header, _, content = [await self.socket.read_message() for _ in range(3)]
            for _ in range(2 * json.loads(header).get("num_buffers", 0)):
                await self.socket.read_message()
            if json.loads(header)["msgtype"] == "PULL-DOC-REPLY":
                return json.loads(content)

    async def _listen(self):
        while (part := await self.socket.read_message()) is not None:
            self.heard(part)
        self.gone = True

    def heard(self, part):
        """Take note of what the server says: of interest is what it has answered."""
        if isinstance(part, str) and (found := re.search(r'"reqid":\s*"([^"]+)"', part)):
            answer = self._answers.pop(found.group(1), None)
            if answer is not None and not answer.done():
                answer.set_result(time.monotonic())

    async def _watch(self):
        while (message := await self.stage.read_message()) is not None:
            patch = decode(message)
            self.tree = merge(self.tree, patch)
            if patch.get("number") is not None:
                self.frames += 1
                await self.tell({"kind": "painted", "number": patch["number"]})

    # --- what it says -------------------------------------------------------------------------------------------------

    async def _send(self, kind, content, number=None):
        header = {"msgid": number or f"page-{next(NUMBERS)}", "msgtype": kind}
        for part in (header, {}, content):
            await self.socket.write_message(json.dumps(part))

    async def patch(self, *events, timeout=TIMEOUT):
        """Send changes of the document; return the seconds until the server has answered."""
        number = f"page-{next(NUMBERS)}"
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        began = time.monotonic()
        await self._send("PATCH-DOC", {"events": list(events)}, number)
        return await asyncio.wait_for(answer, timeout) - began

    async def event(self, event):
        """Send an event, such as that of a script."""
        return await self.patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event})

    async def say(self, component, message):
        """Say what the script of a component would."""
        entries = [["model", {"id": component}], ["data", _written(message)]]
        return await self.event({"type": "event", "name": "data_event", "values": {"type": "map", "entries": entries}})

    async def change(self, widget, **values):
        """Set attributes of a widget, as one who uses it does."""
        if "part" in widget:
            return await self.say(widget["component"], {"part": widget["part"], **values})
        return await self.patch(
            *(
                {"kind": "ModelChanged", "model": {"id": widget["id"]}, "attr": name, "new": _written(value)}
                for name, value in values.items()
            )
        )

    async def key(self, key):
        """Press a key."""
        return await self.say(self.part("Bridge")["component"], {"kind": "key", "key": key})

    async def press(self, label):
        """Press a button by its label."""
        return await self.click(next(each for each in self.parts("Button", "Push") if each.get("label") == label))

    async def click(self, button):
        """Press a button."""
        if "part" in button:
            return await self.say(button["component"], {"part": button["part"], "value": True})
        event = {"type": "map", "entries": [["type", "click"]]}
        entries = [["model", {"id": button["component"]}], ["node", "button"], ["data", event]]
        return await self.event({"type": "event", "name": "dom_event", "values": {"type": "map", "entries": entries}})

    async def tell(self, message):
        """Say something to the stage: bytes and texts as they are, all else as JSON."""
        if self.stage is not None:
            raw = isinstance(message, (bytes, str))
            with contextlib.suppress(WebSocketClosedError):
                await self.stage.write_message(
                    message if raw else json.dumps(message), binary=isinstance(message, bytes)
                )

    def part(self, kind):
        """Return the first widget of a kind."""
        return next(each for each in self.widgets if each["kind"] == kind)

    def parts(self, *kinds):
        """Return all widgets of some kinds that can be used."""
        return [each for each in self.widgets if each["kind"] in kinds and not each.get("disabled")]

    # --- the end ------------------------------------------------------------------------------------------------------

    async def close(self):
        """Leave as a browser does that closes a tab."""
        for task in self._tasks:
            task.cancel()
        sockets = [each for each in (self.stage, self.socket) if each is not None]
        streams = [each.protocol.stream for each in sockets if each.protocol is not None]
        for each in sockets:
            each.close()
        end = time.monotonic() + TIMEOUT
        while not all(stream.closed() for stream in streams) and time.monotonic() < end:
            await asyncio.sleep(0.005)

    async def cut(self):
        """Be gone without a word, as a browser that was killed, or a cable that was pulled."""
        for task in self._tasks:
            task.cancel()
        for each in (self.stage, self.socket):
            if each is not None:
                each.protocol.stream.close()
                each.close()
        await asyncio.sleep(0)


def _written(value):
    """Return a value in the form of the page's messages."""
    if isinstance(value, dict):
        return {"type": "map", "entries": [[name, _written(each)] for name, each in value.items()]}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"type": "number", "value": "nan" if value != value else ("+inf" if value > 0 else "-inf")}
    return [_written(each) for each in value] if isinstance(value, list) else value


def _read(value):
    """Return a value of the page's messages as it was before it became one."""
    if isinstance(value, dict) and value.get("type") == "map":
        return {name: _read(each) for name, each in value.get("entries", [])}
    return [_read(each) for each in value] if isinstance(value, list) else value


def _widgets(part):
    """Yield every component of a document, and what stands in its bars."""
    if isinstance(part, dict):
        attributes = part.get("attributes")
        if isinstance(attributes, dict) and isinstance(attributes.get("data"), dict) and "class_name" in attributes:
            inner = attributes["data"]
            own = {"id": inner.get("id"), "component": part["id"]}
            yield {**inner.get("attributes", {}), "kind": attributes["class_name"], **own}
            for name, held in _read(inner.get("attributes", {}).get("parts") or {}).items():
                yield {**held, "kind": held["kind"].capitalize(), "part": name, **own}
        for each in part.values():
            yield from _widgets(each)
    elif isinstance(part, list):
        for each in part:
            yield from _widgets(each)
