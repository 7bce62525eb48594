"""A server in a process of its own, and a session without a browser, for the benchmarks of the live loop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from html import unescape
from pathlib import Path

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from supdr_viz.views.stage.wire import decode

ANSWER_TIMEOUT = 120
"""Seconds that a client waits for a page or a socket, as browsers do."""

TIMEOUTS = {"connect_timeout": ANSWER_TIMEOUT, "request_timeout": ANSWER_TIMEOUT}


class Served:
    """`benchmarks/served.py` in a process of its own; of several processes the app itself, without gauges."""

    def __init__(self, processes: int = 1) -> None:
        self.port, self.gauge_port = free_port(), free_port()
        command = [str(Path(__file__).with_name("served.py")), str(self.port), str(self.gauge_port)]
        if processes > 1:
            command = ["-m", "supdr_viz.cli", "--port", str(self.port), "--no-browser", "--workers", str(processes)]
        self.began = time.monotonic()
        self.process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
        self.url = f"http://localhost:{self.port}/explorer"
        while True:
            try:
                urllib.request.urlopen(self.url, timeout=60).close()
                break
            except OSError:
                time.sleep(0.05)
        self.page_ready = time.monotonic() - self.began

    def gauges(self, command: str = "gauges") -> dict:
        """Ask for the counts so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.gauge_port}/{command}", timeout=60) as answer:
            return json.load(answer)

    @property
    def seconds(self) -> float:
        """Seconds of the processor that the server has used, with all its processes."""
        return sum(each.cpu_times().user + each.cpu_times().system for each in self._family)

    @property
    def memory(self) -> int:
        """Bytes that the server holds, with all its processes."""
        return sum(each.memory_info().rss for each in self._family)

    @property
    def _family(self) -> list[psutil.Process]:
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def stop(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()


def free_port() -> int:
    """Find a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """A session without a browser: takes frames and acknowledges them as the page does.

    Parameters
    ----------
    served : Served
    name : str
        Of the page.
    """

    def __init__(self, served: Served, name: str = "explorer") -> None:
        self.served, self.url, self.frames, self.times = served, served.url.replace("explorer", name), 0, []
        self.answered: float | None = None
        """Seconds until there was a page to see, be it one that waits."""
        self._cookie = ""
        self._asked: dict[str, asyncio.Future[None]] = {}

    async def _page(self, query: str) -> str:
        """Return the page, after waiting in line as a browser does."""
        came, address, client = time.monotonic(), self.url + query, AsyncHTTPClient()
        while True:
            answer = await client.fetch(address, headers={"Cookie": self._cookie}, **TIMEOUTS)
            html = answer.body.decode()
            self._cookie = answer.headers.get("Set-Cookie", self._cookie).partition(";")[0]
            self.answered = self.answered or time.monotonic() - came
            found = re.search('data-turn="([^"]+)" data-again="([^"]+)"', html)
            if found is None:
                return html
            turn, again = found.groups()
            address, before, asks = self.served.url.replace("explorer", unescape(again)), 1, 0
            while before:
                await asyncio.sleep(min(1.5 if asks < 4 else 5.0, 0.1 * before))
                asks += 1
                asked = self.served.url.replace("explorer", f"turn?of={turn}")
                answer = await client.fetch(asked, headers={"Cookie": self._cookie}, **TIMEOUTS)
                before = json.loads(answer.body)["before"]

    async def open(self, query: str = "") -> str:
        """Open the page and say that it is loaded; return its document, as it was sent."""
        html = await self._page(query)
        token = json.loads(re.search(r'"token":\s*("[^"]+")', html).group(1))
        address = self.url.replace("http", "ws") + "/ws"
        socket_ = await websocket_connect(
            HTTPRequest(
                address, headers={"Origin": self.served.url.rsplit("/", 1)[0], "Cookie": self._cookie}, **TIMEOUTS
            ),
            subprotocols=["bokeh", token],
            max_message_size=2**30,
        )
        for _ in range(3):  # header, metadata and content of the server's greeting: before it nothing listens
            await socket_.read_message()
        await self._message(socket_, "PULL-DOC-REQ", {})
        while '"PULL-DOC-REPLY"' not in (await socket_.read_message() or '"PULL-DOC-REPLY"'):
            pass
        await socket_.read_message()  # its metadata
        document = await socket_.read_message()
        self._socket, self._keys = socket_, _component(json.loads(document), "Bridge")
        await self._event({"name": "document_ready", "values": {"type": "map"}})
        return document

    def close(self) -> None:
        """Leave the page."""
        self._socket.close()

    async def run(self, query: str, until: asyncio.Event) -> None:
        """Connect, then answer until told to stop."""
        found = re.search(r'"ticket":"([^"]+)"', await self.open(query))
        origin = self.served.url.rsplit("/", 1)[0]
        address = origin.replace("http", "ws") + "/stage?ticket=" + found.group(1)
        request = HTTPRequest(address, headers={"Origin": origin}, **TIMEOUTS)
        stage = await websocket_connect(request, max_message_size=2**30)
        idle = asyncio.create_task(self._ignore(self._socket))
        while not until.is_set() and (message := await stage.read_message()) is not None:
            number = decode(message).get("number")
            if number is not None:
                self.frames += 1
                self.times.append(time.monotonic())
                await stage.write_message(json.dumps({"kind": "painted", "number": number}))
        idle.cancel()
        stage.close()
        self.close()

    async def press(self, key: str) -> None:
        """Press a key."""
        said = {"type": "map", "entries": [["kind", "key"], ["key", key]]}
        entries = [["model", {"id": self._keys}], ["data", said]]
        await self._event({"name": "data_event", "values": {"type": "map", "entries": entries}})

    async def answer_to(self, key: str) -> float:
        """Press a key; return the seconds until the server has done what it means and said so."""
        before, came = set(self._asked), time.monotonic()
        await self.press(key)
        [number] = set(self._asked) - before
        await asyncio.wait_for(self._asked[number], ANSWER_TIMEOUT)
        del self._asked[number]
        return time.monotonic() - came

    async def _event(self, event: dict) -> None:
        sent = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": {"type": "event", **event}}
        await self._message(self._socket, "PATCH-DOC", {"events": [sent]})

    async def _ignore(self, socket_) -> None:
        """Take what else the page is told: of interest is only what was answered."""
        while (part := await socket_.read_message()) is not None:
            found = re.search(r'"reqid":\s*"([^"]+)"', part[:500]) if isinstance(part, str) else None
            if found and (answer := self._asked.get(found[1])) is not None and not answer.done():
                answer.set_result(None)

    async def _message(self, socket_, kind: str, content: dict) -> None:
        number = os.urandom(8).hex()
        if kind == "PATCH-DOC":
            self._asked[number] = asyncio.get_running_loop().create_future()
        for part in ({"msgid": number, "msgtype": kind}, {}, content):
            await socket_.write_message(json.dumps(part))


def _component(part: object, kind: str) -> str | None:
    """Return the number of the first component of a kind in a document."""
    if isinstance(part, dict):
        attributes = part.get("attributes")
        if isinstance(attributes, dict) and attributes.get("class_name") == kind:
            return part["id"]
        part = list(part.values())
    found = (_component(each, kind) for each in part) if isinstance(part, list) else ()
    return next((each for each in found if each is not None), None)


class Follower:
    """One who follows a class link: takes frames and says that they are painted."""

    def __init__(self, link: str) -> None:
        self.link, self.frames, self.bytes = link, 0, 0

    async def run(self, until: asyncio.Event) -> None:
        """Join, then answer until told to stop."""
        origin, _, query = self.link.partition("/follow")
        request = HTTPRequest(origin.replace("http", "ws") + "/stage" + query, headers={"Origin": origin}, **TIMEOUTS)
        stage = await websocket_connect(request, max_message_size=2**30)
        while not until.is_set() and (message := await stage.read_message()) is not None:
            self.bytes += len(message)
            size = int.from_bytes(message[:4], "little")
            number = json.loads(message[4 : 4 + size])["patch"].get("number")
            if number is not None:
                self.frames += 1
                await stage.write_message(json.dumps({"kind": "painted", "number": number}))
        stage.close()
