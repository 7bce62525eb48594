"""Connections that are cut in the midst of an upload: nothing half-done stays, in memory, on disk or in the quotas."""

import asyncio
import json
import os
import socket
import struct
import sys
import time

import pytest

from tests.live.page import Page
from tests.live.server import Server

pytestmark = [
    pytest.mark.slow,
    # The client's side is left as a pulled cable leaves it.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="connections are reset by options of Unix"),
]

GONE_SECONDS = 120
PIECE = 3_000_000


class Cut(Page):
    """A page whose document is known, and whose cable can be pulled at any byte."""

    async def _ask(self, kind):
        self.models = {}
        document = await super()._ask(kind)
        self._learn(document)
        return document

    def _learn(self, part):
        """Take note of every model: number -> its name and attributes."""
        if isinstance(part, dict):
            if part.get("type") == "object" and "id" in part:
                self.models[part["id"]] = (part.get("name", ""), part.get("attributes") or {})
            for each in part.values():
                self._learn(each)
        elif isinstance(part, list):
            for each in part:
                self._learn(each)

    async def _first(self, holds):
        end = time.monotonic() + GONE_SECONDS
        while time.monotonic() < end:
            for number, (name, attributes) in list(self.models.items()):
                if holds(name, attributes):
                    return number
            await asyncio.sleep(0.05)
        raise AssertionError("the page has no such part")

    async def piece(self, number, *, cut_at=None):
        """Send a piece of a file of three pieces; or only some bytes of the frame that holds it."""
        dropper = await self._first(lambda name, _: "FileDropper" in name)
        data = {"name": "a.csv", "chunk": number, "total_chunks": 3, "type": "text/csv"}
        entries = [*data.items(), ("data", {"type": "bytes", "data": {"id": f"piece-{number}"}})]
        values = [["model", {"id": dropper}], ["data", {"type": "map", "entries": [list(each) for each in entries]}]]
        event = {"type": "event", "name": "upload_event", "values": {"type": "map", "entries": values}}
        sent = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
        header = {"msgid": f"piece-{number}", "msgtype": "PATCH-DOC", "num_buffers": 1}
        for part in (header, {}, {"events": [sent]}, {"id": f"piece-{number}"}):
            await self.socket.write_message(json.dumps(part))
        content = b"1,2,0\n" * (PIECE // 6)
        if cut_at is None:
            await self.socket.write_message(content, binary=True)
        else:  # head of a masked frame, and less than it promises
            head = struct.pack(">BBQ", 0x82, 0xFF, len(content)) + bytes(4)
            await self.socket.protocol.stream.write(head + content[:cut_at])

    def pull(self):
        """End both connections at once, with a reset."""
        for task in self._tasks:
            task.cancel()
        for each in (self.stage, self.socket):
            if each is not None:
                stream = each.protocol.stream
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                stream.close()
                each.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("temporary")
    with Server(TMPDIR=str(folder)) as made:
        made.folder = folder
        yield made
        assert not made.errors


def settled(server, holds):
    """Wait until something holds of the server's counts; return them."""
    end = time.monotonic() + GONE_SECONDS
    while not holds(counts := server.counts) and time.monotonic() < end:
        time.sleep(0.1)
    return counts


def assert_nothing_is_left(server):
    """All that was there for the page is gone."""
    counts = settled(server, lambda now: not any(now.values()))
    assert not any(counts.values()), counts
    assert server.health()["pages"] == 0
    assert os.listdir(server.folder) == []


@pytest.mark.parametrize("cut_at", [0, PIECE // 2])
def test_of_an_upload_that_is_cut_off_nothing_stays(server, cut_at):
    async def use():
        page = await Cut(server.url, "explorer", "?data=file&data.name=a.csv&method=LSDR").open()
        await page.piece(1)
        held = await asyncio.to_thread(settled, server, lambda now: now["held"] == PIECE)
        await page.piece(2, cut_at=cut_at)
        page.pull()
        return held["held"]

    assert asyncio.run(use()) == PIECE
    assert_nothing_is_left(server)
