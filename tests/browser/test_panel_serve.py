"""``panel serve apps/explorer.py`` alone: all pages, which reach one another, with live views by their own socket."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.app import HELPERS, TIMEOUT, App
from tests.browser.conftest import DESK, SMALL, PanelServer

ENOUGH = 8
"""Frames by the socket that show that it is in use."""


SWEEP = (  # more than a test waits for
    "?page=sensitivity&data=spirals&method=NSDR&method.max_iter=100&method.tol=0"
    "&sweep.x=C:log:0.001:1000:30&sweep.y=reg_u:log:0.001:10:30"
)


class Frames:
    """Counts what a page hears by the socket of its live views."""

    def __init__(self, page):
        self.page, self.number = page, 0
        page.on("websocket", self._opened)

    def _opened(self, socket):
        if "/stage?ticket=" in socket.url:
            socket.on("framereceived", self._came)

    def _came(self, payload):
        self.number += isinstance(payload, bytes)

    def until_enough(self):
        """Wait for as many frames more."""
        wanted, end = self.number + ENOUGH, time.monotonic() + TIMEOUT / 1000
        while self.number < wanted and time.monotonic() < end:
            self.page.wait_for_timeout(50)
        assert self.number >= wanted


@pytest.fixture(scope="module")
def panel_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("panel")
    running = PanelServer(folder, environment={"XDG_CACHE_HOME": str(folder)})  # no cell of a sweep is known before
    yield running
    running.stop()


@pytest.fixture
def plain(panel_server, chromium):
    context = chromium.new_context(viewport=DESK, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT)
    context.add_init_script(HELPERS)
    app = App(context.new_page(), panel_server.url)
    yield app
    context.close()
    assert not app.problems
    assert not panel_server.errors


def turn_to(app, tab, part):
    app.page.get_by_role("tab", name=tab, exact=True).filter(visible=True).click()
    app.until_url(part)
    app.settle()
    expect(app.page).to_have_title(f"supdr · {tab}")


@pytest.mark.slow
def test_one_file_is_the_whole_product(plain):
    frames = Frames(plain.page)
    plain.open(f"{plain.home}/explorer{SMALL}")
    plain.settle().press("Run")
    frames.until_enough()
    plain.press("Pause").settle()

    turn_to(plain, "Compare", "explorer?page=compare")
    plain.press("Run")
    frames.until_enough()
    link = plain.page.get_by_role("link", name="Open column B in Explore")
    assert re.match(r"explorer\?(?!page=)", link.get_attribute("href"))

    turn_to(plain, "Sensitivity", "explorer?page=sensitivity")
    plain.press("Run")
    status = plain.page.locator(".status").first
    expect(status).to_contain_text(re.compile(r"[1-9]\d* of [\d,]+ fits"))
    plain.open(f"{plain.home}/explorer{SWEEP}")
    plain.settle().press("Run")
    plain.press("Cancel")
    expect(status).to_contain_text("cancelled")

    turn_to(plain, "Lessons", "explorer?page=lessons")
    plain.press("Next")
    plain.until_seen("Step 2 of")
    plain.settle()
    assert plain.evaluate("location.search").startswith("?page=lessons&lesson=")

    turn_to(plain, "Explore", "explorer?data=spirals")  # as it was left
    plain.press("Add to comparison")
    plain.until_url("explorer?page=compare&data=xor")  # joins what was compared
    plain.settle()
    assert not plain.sees("fewer frames")


@pytest.mark.slow
def test_a_class_follows_a_run_of_it_and_takes_it_over(plain):
    plain.open(f"{plain.home}/explorer{SMALL.replace('?', '?page=lessons&lesson=1-why-supervise&')}")
    plain.settle().press("Share")
    plain.press("Open a link for students")
    field = plain.page.get_by_label("Link for students").first
    expect(field).to_have_value(re.compile(f"{plain.home}/follow"))
    follower = plain.page.context.new_page()
    follower.goto(field.input_value())
    take = follower.get_by_role("link", name="Open my own copy")
    expect(take).to_be_visible()
    assert re.match(r"explorer\?(?!page=)", take.get_attribute("href"))


@pytest.mark.slow
def test_where_the_socket_does_not_open_the_page_works_and_says_once_what_it_lacks(plain):
    plain.page.route_web_socket(re.compile("/stage"), lambda socket: socket.close())
    frames = Frames(plain.page)
    plain.open(f"{plain.home}/explorer{SMALL}")
    plain.settle().press("Step").settle()
    assert plain.iteration == 1
    assert frames.number == 0
    expect(plain.page.get_by_text("fewer frames")).to_have_count(1)
