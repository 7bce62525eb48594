"""The relay before several processes: it leads every browser to the process that it met first.

A process is started again when it ends.  The relay passes bytes on as they are; it reads only the head of what comes
first on a connection: a websocket of a page leads to the process that has signed its token, a ticket of a stage and a
place in a waiting line to the process that they begin with, all else to that of the cookie.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bokeh.util.token import check_token_signature
from tornado.httputil import parse_cookie

from supdr_viz.serving.admission import RETRY, refusal_page
from supdr_viz.serving.security_headers import HEALTH
from supdr_viz.serving.visitor_cookie import process_of
from supdr_viz.ui.visitor import COOKIE

# Of a request, at most; what is longer is cut off.
HEAD_BYTES = 64 * 1024

# Bytes that are passed on at a time.
PIECE = 256 * 1024

# For a process to answer.
START_SECONDS = 600.0

# Seconds between two looks whether all processes are alive.
LOOK_AFTER = 0.5

AWAY = "This part of the server has just ended and is started again. Please try again in some seconds."

# Of a connection.
Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_ASKED = re.compile(rb"GET (\S+) HTTP/1\.[01]\r\n")
_NUMBERED = re.compile(rb"[?&](?:ticket|turn|of)=(\d{1,4})-")


class Worker:
    """One of the processes.

    `number`: from 1 on; `command`: what starts it, without its port. `port`: of this machine's own address, on which it
    listens; `key`: with which it signs the tokens of its pages.
    """

    def __init__(self, number: int, command: list[str], environment: dict[str, str]) -> None:
        self.number, self._command, self.key = number, command, secrets.token_hex(32)
        self._environment = {**environment, "BOKEH_SECRET_KEY": self.key}
        self.start()

    def start(self) -> None:
        """Start the process on a free port."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [*self._command, "--worker", str(self.number), "--port", str(self.port)]
        # It ends when its input does: also if this process is killed.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self._environment
        )

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def health(self) -> dict[str, object]:
        """Return what the process says of itself.

        Raises OSError if it does not answer.
        """
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{HEALTH}", timeout=60) as answer:
            return json.load(answer)

    def wait(self) -> bool:
        """Wait until it answers; return whether it does."""
        end = time.monotonic() + START_SECONDS
        while self.alive and time.monotonic() < end:
            try:
                self.health()
                return True
            except OSError:
                time.sleep(0.1)
        return False


@dataclass(frozen=True)
class Limits:
    """Of the connections of a relay.

    head_seconds: in which the head of a request comes, or the connection ends; browsers open some to be ready.
    most_silent: connections that have not sent a whole head; beyond that the one that has been silent for longest ends.
    taken_within: seconds in which one side takes something of what the other has sent, or the connection ends.
    """

    head_seconds: float = 60.0
    most_silent: int = 1_000
    taken_within: float = 120.0


class Relay:
    """Leads connections to the workers, and starts those that end again."""

    def __init__(self, workers: list[Worker], limits: Limits = Limits()) -> None:
        self._limits = limits
        self._workers = {worker.number: worker for worker in workers}
        self._keys = {worker.number: worker.key for worker in workers}
        self._turns = itertools.cycle(self._workers)
        self._connections: set[asyncio.Task[None]] = set()
        self._silent: dict[asyncio.Task[None], None] = {}
        self._asking: asyncio.Task[dict[str, object]] | None = None

    async def serve(self, address: str, port: int, on_ready: Callable[[], object]) -> None:
        """Serve until cancelled.

        `on_ready`: called once it listens.
        """
        server = await asyncio.start_server(self._connected, address, port, limit=HEAD_BYTES)
        on_ready()
        async with server:
            while True:
                await asyncio.sleep(LOOK_AFTER)
                for worker in self._workers.values():
                    if not worker.alive:
                        print(f"Process {worker.number} has ended and is started again.", file=sys.stderr, flush=True)
                        worker.start()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)  # of one whose browser has said all the loop alone would not keep it
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._serve((reader, writer))  # unless it says nothing, too much, or is gone
            await self._end(writer)
        except asyncio.CancelledError:
            pass  # cut off, or the server ends; the streams' own callback would print this as an error
        finally:
            self._connections.discard(connection)
            writer.transport.abort()

    async def _serve(self, outside: Ends) -> None:
        """Answer what is asked first on a connection, or lead it to a worker."""
        reader, writer = outside
        head = await self._head(reader)
        if _path(head) == HEALTH.encode():
            await _answer(writer, 200, "application/json", json.dumps(await self._health()))
            return
        inside = await self._inside(head)
        if inside is None:
            await _answer(writer, 503, "text/html; charset=utf-8", refusal_page(AWAY))
            return
        inside[1].write(head)
        await self._between(outside, inside)

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        """Return the head of what is asked first on a connection."""
        connection = asyncio.current_task()
        assert connection is not None
        if len(self._silent) >= self._limits.most_silent:
            longest = next(iter(self._silent))
            del self._silent[longest]
            longest.cancel()
        self._silent[connection] = None
        try:
            return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self._limits.head_seconds)
        finally:
            self._silent.pop(connection, None)

    async def _inside(self, head: bytes) -> Ends | None:
        """Connect with the worker that is meant, or with another if that is away; None if all are."""
        meant = meant_process(head, self._keys)
        newcomer = [next(self._turns)] if meant not in self._workers else []
        order = [number for number in (meant, *newcomer, *self._workers) if number in self._workers]
        for number in dict.fromkeys(order):
            assert number is not None
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", self._workers[number].port)
        return None

    async def _health(self) -> dict[str, object]:
        """Add up what the workers say of themselves; requests meanwhile get the same."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._added_up())
        return await asyncio.shield(self._asking)

    async def _added_up(self) -> dict[str, object]:
        reports, counts = [], Counter[str]()
        for worker in self._workers.values():
            with contextlib.suppress(OSError):
                reports.append(await asyncio.to_thread(worker.health))
        for each in reports:
            counts.update({name: number for name, number in each.items() if isinstance(number, int)})
        status = "ok" if len(reports) == len(self._workers) else "starting"
        return {"status": status, **counts, "processes": len(reports)}

    async def _between(self, outside: Ends, inside: Ends) -> None:
        """Pass on what both sides say, until the inside has said all."""
        asking = asyncio.create_task(self._pass_on(outside[0], inside[1]))
        try:
            await self._pass_on(inside[0], outside[1])
        finally:
            asking.cancel()
            inside[1].close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass bytes on until there are no more; then the other side is told so."""
        try:
            while piece := await reader.read(PIECE):
                writer.write(piece)
                async with asyncio.timeout(self._limits.taken_within):
                    await writer.drain()  # a slow reader slows the sender down
            writer.write_eof()
        except OSError:
            writer.transport.abort()  # the reader is gone, or the writer was, or takes nothing

    async def _end(self, writer: asyncio.StreamWriter) -> None:
        """Close a connection as soon as what was said on it is taken."""
        writer.close()
        with contextlib.suppress(OSError):
            async with asyncio.timeout(self._limits.taken_within):
                await writer.wait_closed()


def meant_process(head: bytes, keys: Mapping[int, str]) -> int | None:
    """Return to which process a request wants: by its token, its ticket or place, or its cookie; None: to any.

    `head`: of the request, with its headers; `keys`: process -> key with which it signs.
    """
    line, *lines = head.split(b"\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(b":") for each in lines)}
    token = headers.get(b"sec-websocket-protocol", b"").rpartition(b",")[2].strip().decode("latin-1")
    for number, key in keys.items():
        with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):  # it is none
            if check_token_signature(token, key.encode(), signed=True):
                return number
    numbered = _NUMBERED.search(line)
    if numbered is not None:
        return int(numbered[1])
    return process_of(parse_cookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE, ""))


def _path(head: bytes) -> bytes:
    request = _ASKED.match(head)
    return request[1].partition(b"?")[0] if request else b""


async def _answer(writer: asyncio.StreamWriter, status: int, kind: str, text: str) -> None:
    body = text.encode()
    head = [
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Service Unavailable'}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        *([] if status == 200 else [f"Retry-After: {RETRY}"]),
        "Connection: close",
    ]
    writer.write("\r\n".join([*head, "", ""]).encode() + body)
    await writer.drain()
