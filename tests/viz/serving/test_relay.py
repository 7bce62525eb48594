"""The relay before several processes, and those who mean it harm: it goes on serving all others."""

import asyncio
import contextlib
import gc
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from bokeh.util.token import generate_jwt_token, generate_session_id

from supdr_viz.serving.relay import HEAD_BYTES, Limits, Relay, meant_process

SOON = 30
"""Seconds in which what must happen has happened, on a machine that does much else."""

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Process:
    """What stands for a process of the app: it says how it is, greets, or talks without end."""

    number, key, alive = 1, "a key", True

    def __init__(self):
        self.asked = 0
        self.met, self.answers, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def listen(self):
        self.server = await asyncio.start_server(self._met, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _met(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            if b"/endless" in head:
                while True:
                    writer.write(b"x" * 2**16)
                    await writer.drain()
            if b"/later" in head:
                self.met.set()
                await self.answers.wait()
            writer.write(PAGE)
            await writer.drain()
            await reader.read()
        self.ended.set()
        writer.close()

    def health(self):
        self.asked += 1
        time.sleep(0.05)
        return {"status": "ok", "pages": 3}


def served(act, **limits):
    """Start a relay with some limits before one process; return what ``act(port, process)`` returns."""

    async def serve():
        process = Process()
        await process.listen()
        meet = Relay([process], Limits(**limits))._connected
        relay = await asyncio.start_server(meet, "127.0.0.1", 0, limit=HEAD_BYTES)
        try:
            return await asyncio.wait_for(act(relay.sockets[0].getsockname()[1], process), SOON)
        finally:
            relay.close()
            process.server.close()
            await alone()

    with ThreadPoolExecutor(1) as thread:  # this one may have the browser's event loop
        return thread.submit(asyncio.run, serve()).result()


async def alone():
    """Wait until nothing else is under way."""
    own = asyncio.current_task()
    while others := [task for task in asyncio.all_tasks() if task is not own]:
        await asyncio.wait(others)
    await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def connected(port):
    """Connect, and leave nothing open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def asked(port, head):
    """Ask for something; return the answer."""
    async with connected(port) as (reader, writer):
        writer.write(head)
        answer = b""
        while b"}" not in answer and not answer.endswith(PAGE) and (piece := await reader.read(4096)):
            answer += piece
        return answer


async def cut_off(reader):
    """Whether a connection ends without an answer."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def greets(port):
    """Whether somebody who asks for a page gets one."""
    return await asked(port, b"GET /explorer HTTP/1.1\r\n\r\n") == PAGE


def test_whoever_says_nothing_makes_room_for_those_who_ask():
    async def flood(port, _process):
        async with contextlib.AsyncExitStack() as stack:
            silent = [await stack.enter_async_context(connected(port)) for _ in range(60)]
            for _, writer in silent[1::2]:
                writer.write(b"GET /explorer HTTP/1.1\r\nX: ")  # slow heads
            greeted = [await greets(port) for _ in range(5)]
            return greeted, [await cut_off(reader) for reader, _ in silent[:40]]

    assert served(flood, most_silent=20) == ([True] * 5, [True] * 40)


def test_a_slow_head_ends():
    async def wait(port, _process):
        async with connected(port) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\n")
            return await cut_off(reader)

    assert served(wait, head_seconds=0.1)


def test_a_head_without_end_is_cut_off():
    async def talk(port, _process):
        async with connected(port) as (reader, writer):
            with contextlib.suppress(ConnectionError):
                for _ in range(100):
                    writer.write(b"A" * 10_000)
                    await writer.drain()
            return await cut_off(reader), await greets(port)

    assert served(talk) == (True, True)


def test_a_browser_that_takes_nothing_is_cut_off():
    async def ignore(port, process):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /endless HTTP/1.1\r\n\r\n")
            await process.ended.wait()
            return await greets(port)

    assert served(ignore, taken_within=0.2)


def test_half_a_connection_leaves_nothing_behind():
    async def hang_up(port, process):
        for _ in range(10):
            async with connected(port) as (reader, writer):
                writer.write(b"GET /explorer HTTP/1.1\r\n\r\n")
                writer.write_eof()
                assert await reader.read() == PAGE
        return await greets(port)

    assert served(hang_up)  # nothing is under way afterwards


def test_who_has_said_all_is_not_forgotten():
    async def wait(port, process):
        async with connected(port) as (reader, writer):
            writer.write(b"GET /later HTTP/1.1\r\n\r\n")
            writer.write_eof()
            await process.met.wait()
            for _ in range(4):
                await asyncio.sleep(0.02)  # until the relay has heard it
                gc.collect()
            process.answers.set()
            return await reader.read()

    assert served(wait) == PAGE


def test_many_who_ask_how_it_is_ask_the_processes_once():
    async def ask(port, process):
        said = await asyncio.gather(*(asked(port, b"GET /health HTTP/1.1\r\n\r\n") for _ in range(20)))
        return {json.loads(each.partition(b"\r\n\r\n")[2])["pages"] for each in said}, process.asked

    pages, times = served(ask)
    assert pages == {3}
    assert times < 10


HOSTILE = [
    b'Cookie: supdr="' + b"\\\\" * 30_000 + b'"',
    b"Cookie: " + b"supdr=;" * 9_000,
    b"Cookie: supdr=9999-abcdefghijklmnop",
    b"Sec-WebSocket-Protocol: bokeh, " + b"A" * 60_000,
    b"Sec-WebSocket-Protocol: bokeh, " + b"." * 60_000,
    b"Sec-WebSocket-Protocol: \xff\xfe, \x00",
    b":" * 60_000,
    b"a:b\r\n" * 12_000,
]


@pytest.mark.parametrize("header", HOSTILE, ids=lambda header: repr(header[:24]))
def test_no_head_takes_long_to_understand(header):
    began = time.process_time()
    meant_process(b"GET /explorer?ticket=x-1 HTTP/1.1\r\n" + header + b"\r\n\r\n", {1: "one", 2: "two"})
    assert time.process_time() - began < 1


def test_a_socket_leads_to_the_process_that_has_signed_its_token():
    keys = {1: "one", 2: "two"}

    def head(token, cookie=b"supdr=1-abcdefghijklmnop"):
        said = b"Sec-WebSocket-Protocol: bokeh, " + token.encode()
        return b"GET /explorer/ws HTTP/1.1\r\nCookie: " + cookie + b"\r\n" + said + b"\r\n\r\n"

    def token(key):
        return generate_jwt_token(generate_session_id(key, True), key, True, expiration=60)

    assert meant_process(head(token(b"two")), keys) == 2
    assert meant_process(head(token(b"one"), b""), keys) == 1
    assert meant_process(head(token(b"other")), keys) == 1  # as the cookie says
    assert meant_process(b"GET /explorer?a=1&turn=2-xyz HTTP/1.1\r\n\r\n", keys) == 2
    assert meant_process(b"GET /turn?of=2-xyz HTTP/1.1\r\n\r\n", keys) == 2
