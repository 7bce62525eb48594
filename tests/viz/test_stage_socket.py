"""The stage's socket without a page: who gets in, what travels, and when it ends."""

import asyncio
import gc
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application
from tornado.websocket import websocket_connect

from supdr_viz.stage.socket import UNKNOWN_TICKET, StageSocket


class Owner:
    def __init__(self):
        self.send, self.messages, self.gone = None, [], False
        self.came = asyncio.Event()

    def joined(self, browser):
        self.send = browser.send
        self.came.set()

    def heard(self, message, browser):
        assert browser.send == self.send
        self.messages.append(message)
        self.came.set()

    def left(self, browser):
        self.gone = True

    async def next(self):
        await asyncio.wait_for(self.came.wait(), 10)
        self.came.clear()


@pytest.fixture
def offered(monkeypatch):
    monkeypatch.setattr(StageSocket, "offered", False)
    return StageSocket.route()


def served(route, act):
    """Run ``act(connect)`` beside a server; ``connect(ticket, origin)`` opens a socket."""

    async def run():
        listening, port = bind_unused_port()
        application = Application([route])
        application.websocket_origins = {f"localhost:{port}"}
        server = HTTPServer(application)
        server.add_socket(listening)
        opened = []

        async def connect(ticket, origin=f"http://localhost:{port}"):
            address = f"ws://127.0.0.1:{port}/stage?ticket={ticket}"
            request = HTTPRequest(address, headers={"Origin": origin})
            opened.append(await asyncio.wait_for(websocket_connect(request), 10))
            return opened[-1]

        try:
            await act(connect)
        finally:
            for browser in opened:
                browser.close()
            server.stop()
            await server.close_all_connections()

    # In a thread of its own: this one may have a loop, that of a browser.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()


def test_bytes_go_out_and_sentences_come_in(offered):
    async def act(connect):
        owner = Owner()
        browser = await connect(StageSocket.ticket(owner))
        await owner.next()
        owner.send(b"\x01\x00\xff")
        assert await browser.read_message() == b"\x01\x00\xff"
        for said in ("not JSON", json.dumps([1]), json.dumps({"kind": "painted", "number": 7})):
            await browser.write_message(said)
        await owner.next()
        assert owner.messages == [{"kind": "painted", "number": 7}]
        browser.close()
        assert await browser.read_message() is None
        assert owner.gone
        owner.send(b"late")  # to a browser that is gone: nothing happens

    served(offered, act)


def test_without_a_known_ticket_nobody_gets_anything(offered):
    async def act(connect):
        owner = Owner()
        ticket = StageSocket.ticket(owner)
        stranger = await connect(ticket[:-1])
        assert await stranger.read_message() is None
        assert stranger.close_code == UNKNOWN_TICKET
        del owner
        gc.collect()
        late = await connect(ticket)  # its page is gone
        assert await late.read_message() is None
        assert late.close_code == UNKNOWN_TICKET

    served(offered, act)


def test_pages_of_other_servers_are_refused(offered):
    async def act(connect):
        owner = Owner()
        with pytest.raises(HTTPClientError, match="403"):
            await connect(StageSocket.ticket(owner), "http://elsewhere.example")
        assert owner.send is None

    served(offered, act)


def test_tickets_are_all_different_and_need_a_socket(monkeypatch):
    monkeypatch.setattr(StageSocket, "offered", True)
    owner = Owner()
    assert len({StageSocket.ticket(owner) for _ in range(50)}) == 50
    monkeypatch.setattr(StageSocket, "offered", False)
    assert StageSocket.ticket(owner) == ""
