"""The stage's socket without a page: who gets in, what travels, and when it ends."""

import asyncio
import gc
import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application
from tornado.websocket import websocket_connect

from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.stage.socket import MOST_SAID, MOST_UNSENT, MOST_WAITING, TOO_SLOW, UNKNOWN_TICKET, StageSocket


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
def tickets():
    return Tickets()


@pytest.fixture
def offered(tickets):
    return StageSocket.route(tickets)


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


def test_bytes_go_out_and_sentences_come_in(offered, tickets):
    async def act(connect):
        owner = Owner()
        browser = await connect(tickets.new(owner))
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


def test_between_two_things_that_one_says_others_have_their_turn(offered, tickets):
    class Busy(Owner):
        """Acts soon after it has heard something, as pages do under their lock."""

        def heard(self, message, browser):
            asyncio.get_running_loop().call_soon(self.messages.append, message)

    async def act(connect):
        owner, turns = Busy(), []
        browser = await connect(tickets.new(owner))
        await owner.next()
        for number in range(500):
            browser.write_message(json.dumps({"kind": "select", "number": number}))  # at once, and not waited for
        while len(owner.messages) < 500:
            turns.append(len(owner.messages))
            await asyncio.sleep(0)
        assert [said["number"] for said in owner.messages] == [*range(500)]
        assert max(later - earlier for earlier, later in itertools.pairwise(turns)) <= 2

    served(offered, act)


def test_who_says_too_much_at_a_time_is_left(offered, tickets):
    async def act(connect):
        owner = Owner()
        browser = await connect(tickets.new(owner))
        await owner.next()
        await browser.write_message(json.dumps({"kind": "select", "rows": [0] * MOST_SAID}))
        assert await asyncio.wait_for(browser.read_message(), 10) is None
        assert owner.messages == []
        assert owner.gone

    served(offered, act)


LARGE = MOST_UNSENT // 8
"""Bytes of a message of which few are too much."""


def test_what_a_browser_does_not_take_does_not_fill_the_memory(offered, tickets):
    async def act(connect):
        owner = Owner()
        browser = await connect(tickets.new(owner))
        await owner.next()
        for _ in range(MOST_WAITING):  # few, if large: the way may be slow
            owner.send(bytes(LARGE))
        assert [len(await browser.read_message()) for _ in range(MOST_WAITING)] == [LARGE] * MOST_WAITING
        for number in range(30):  # it takes none of these, whatever it says
            owner.send(bytes(LARGE))
            await browser.write_message(json.dumps({"kind": "painted", "number": number}))
        taken = 0
        while await asyncio.wait_for(browser.read_message(), 20) is not None:
            taken += 1
        assert taken < 30
        assert browser.close_code == TOO_SLOW

    served(offered, act)


def test_without_a_known_ticket_nobody_gets_anything(offered, tickets):
    async def act(connect):
        owner = Owner()
        ticket = tickets.new(owner)
        stranger = await connect(ticket[:-1])
        assert await stranger.read_message() is None
        assert stranger.close_code == UNKNOWN_TICKET
        del owner
        gc.collect()
        late = await connect(ticket)  # its page is gone
        assert await late.read_message() is None
        assert late.close_code == UNKNOWN_TICKET

    served(offered, act)


def test_pages_of_other_servers_are_refused(offered, tickets):
    async def act(connect):
        owner = Owner()
        with pytest.raises(HTTPClientError, match="403"):
            await connect(tickets.new(owner), "http://elsewhere.example")
        assert owner.send is None

    served(offered, act)


def test_tickets_are_all_different_and_need_a_socket(tickets):
    owner = Owner()
    assert tickets.new(owner) == ""
    tickets.offered = True
    assert len({tickets.new(owner) for _ in range(50)}) == 50
