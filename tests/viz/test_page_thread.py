"""Other threads reach a page through its event loop only."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from bokeh.document import Document

from supdr_viz.ui.page_thread import call_in_page


class Page:
    """Registers and runs callbacks as a document does, and notes the threads it is asked in."""

    def __init__(self):
        self.asked, self.ran = [], []

    def add_next_tick_callback(self, callback):
        self.asked.append(threading.get_ident())
        asyncio.get_running_loop().call_soon(callback)


def run(work):
    """Run a coroutine in a thread with an event loop of its own: the one of the tests may have a loop that runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def what_is_due():
    """Let the loop work on what it was handed, and on what that hands it."""
    for _ in range(3):
        await asyncio.sleep(0)


def call_from_threads(page, work, threads=4):
    async def serve():
        call = call_in_page(page)
        workers = [threading.Thread(target=work, args=(call,)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            await asyncio.sleep(0)
        await what_is_due()
        return threading.get_ident()

    return run(serve())


def test_all_calls_of_all_threads_are_registered_in_the_thread_of_the_page():
    page = Page()

    def work(call):
        for _ in range(200):
            call(lambda: page.ran.append(threading.get_ident()))

    home = call_from_threads(page, work)
    assert set(page.asked) == {home}
    assert page.ran == [home] * 800


@pytest.fixture
def eager_threads():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_no_call_is_lost_while_the_page_holds_its_events_back(eager_threads):
    document = Document()
    added = []
    document.on_change(lambda event: added.append(event))

    async def serve():
        call, done = call_in_page(document), threading.Event()

        def work():
            for _ in range(2000):
                call(lambda: None)
            done.set()

        threading.Thread(target=work).start()
        while not done.is_set():
            document.hold("combine")
            document.unhold()
            await asyncio.sleep(0)
        await what_is_due()

    run(serve())
    assert len(added) == 2000


@pytest.mark.parametrize("error", [AttributeError, RuntimeError])
def test_a_page_that_is_gone_is_no_error(error, caplog):
    class Gone:
        def add_next_tick_callback(self, _callback):
            raise error("destroyed")

    call_from_threads(Gone(), lambda call: call(print), threads=1)
    assert not caplog.records


def test_a_callback_reaches_a_real_document():
    document = Document()
    call_from_threads(document, lambda call: call(lambda: None), threads=1)
    assert len(document.session_callbacks) == 1
