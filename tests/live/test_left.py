"""What is left is found: whoever refers to an object is named, from what lives by itself on."""

import asyncio
import gc
import re
import threading
from functools import partial
from weakref import ref

import pytest

from tests.live.left import way_to
from tests.live.loops import awaited

# They look through every object of the process; the tool is one of `make soak`.
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def seen():
    """Let what was imported before the tests be looked through, too."""
    gc.unfreeze()
    yield
    gc.freeze()


KEPT = {}


class Page:
    """Something that should be gone."""


class Holder:
    """Something that refers to it."""

    def __init__(self, page):
        self.page = page

    def look(self):
        return self.page


def test_a_module_that_keeps_it_is_named_and_so_are_the_objects_between():
    KEPT["first"] = [Holder(Page())]
    try:
        assert way_to(KEPT["first"][0].page) == (f"module {__name__} → ['KEPT'] → ['first'] → [0] → Holder.page → Page")
    finally:
        KEPT.clear()


def test_a_callback_is_named_with_what_it_is_bound_to():
    KEPT["bound"] = partial(Holder(Page()).look)
    try:
        assert way_to(KEPT["bound"].func.__self__.page).endswith("Holder.look → Holder.page → Page")
    finally:
        KEPT.clear()


def test_a_thread_whose_call_holds_it_is_named():
    begun, end = threading.Event(), threading.Event()
    made = []

    def long_call(page):
        made.append(ref(page))
        begun.set()
        end.wait()
        del page

    thread = threading.Thread(target=lambda: long_call(Page()), name="a-long-call")
    thread.start()
    begun.wait()
    try:
        assert re.fullmatch(r"a-long-call in .*long_call:\d+ page → Page", way_to(made[0]()))
    finally:
        end.set()
        thread.join()


def test_a_timer_of_the_loop_is_named():
    async def with_timer():
        holder = Holder(Page())
        page = ref(holder.page)
        timer = asyncio.get_running_loop().call_later(60, holder.look)
        del holder
        try:
            return way_to(page())
        finally:
            timer.cancel()

    way = awaited(with_timer())
    assert "TimerHandle._callback" in way
    assert way.endswith("Holder.page → Page")


@pytest.mark.parametrize("cycle", [False, True])
def test_what_nothing_lives_on_is_told_by_the_kinds_that_refer_to_it(cycle):
    holder = Holder(Page())
    holder.page.back = holder if cycle else None
    assert way_to(holder.page).startswith("only found: ")
    assert "Holder" in way_to(holder.page) or "dict" in way_to(holder.page)
