"""The live loop between a player and a page: what is in flight, and what may go ahead."""

import asyncio
from types import SimpleNamespace

import pytest
from bokeh.document import Document

from supdr_viz.run.status import Phase, Status
from supdr_viz.views.frame_pusher import FramePusher


class Screen:
    """A browser that draws when the test says so."""

    def __init__(self):
        self.numbers, self._listeners = [], {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def put(self, *path, number):
        self.numbers.append(number)
        return True

    def on(self, kind, listener):
        self._listeners[kind] = listener

    def say(self, kind, **message):
        self._listeners[kind](message)


class Player:
    """A run that goes on, with a frame whenever the test puts one."""

    def __init__(self):
        self.status, self.hurries, self.frame, self.asked = Status(Phase.running), False, None, 0

    @property
    def untaken(self):
        return self.frame is not None

    def take_frame(self):
        frame, self.frame, self.hurries = self.frame, None, False
        return frame

    def take_surface(self):
        return None

    def request_frame(self):
        self.asked += 1

    def suspend(self, suspended):
        pass


@pytest.fixture
def loop():
    """A page that was told that the run goes on, and a way to let a frame come: ``come(hurries)``."""
    screen, player, drawn = Screen(), Player(), []
    link = FramePusher(screen, lambda frame, surface, status: drawn.append(frame))

    async def play(scene):
        document = Document()
        link.attach(player, document)
        screen.say("hello")
        await asyncio.sleep(0.01)
        for waiting in list(document.session_callbacks):  # under the lock the page is told that the run is under way
            document.remove_next_tick_callback(waiting)
            waiting.callback()
        assert drawn == [None]
        drawn.clear()

        async def come(frame, *, hurries=False):
            player.frame, player.hurries = frame, hurries
            link.notify()
            await asyncio.sleep(0.01)

        try:
            await scene(come, SimpleNamespace(link=link, screen=screen, player=player, drawn=drawn))
        finally:
            link.detach()

    return lambda scene: asyncio.run(play(scene))


def test_one_frame_is_in_flight(loop):
    async def scene(come, page):
        await come("first")
        await come("second")
        assert page.drawn == ["first"]
        page.screen.say("painted", number=page.screen.numbers[-1])
        await asyncio.sleep(0.01)
        assert page.drawn == ["first", "second"]
        assert page.player.asked == 1

    loop(scene)


def test_the_first_frame_after_a_change_goes_ahead_but_only_one(loop):
    async def scene(come, page):
        await come("before")
        await come("changed", hurries=True)
        assert page.drawn == ["before", "changed"]
        await come("changed again", hurries=True)
        assert page.drawn == ["before", "changed"]  # a slow browser gets no backlog
        page.screen.say("painted", number=page.screen.numbers[0])
        await asyncio.sleep(0.01)
        assert page.drawn == ["before", "changed"]  # what is awaited is the newer one
        page.screen.say("painted", number=page.screen.numbers[1])
        await asyncio.sleep(0.01)
        assert page.drawn == ["before", "changed", "changed again"]

    loop(scene)


def test_nothing_is_drawn_for_a_page_that_is_gone(loop):
    async def scene(come, page):
        page.player.frame = "late"
        page.link.notify()
        page.link.detach()
        await asyncio.sleep(0.01)
        assert page.drawn == []

    loop(scene)
