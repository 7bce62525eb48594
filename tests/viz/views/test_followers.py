"""Those who follow a run see what it shows, keep nobody waiting, and can change nothing."""

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from supdr_viz.pages import follow
from supdr_viz.pages.service import Service
from supdr_viz.ui.own_files import OwnFile
from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.stage.followers import ENDED, FULL, Followers
from supdr_viz.views.stage.socket import StageSocket
from supdr_viz.views.stage.stage import Stage
from supdr_viz.views.stage.wire import decode, merge
from tests.viz.visitor import Visitor


class Browser:
    """Lays what it is told over what it knows, as the page does."""

    def __init__(self):
        self.messages, self.tree, self.code = [], {}, None

    def send(self, message):
        self.messages.append(message)
        patch = decode(message)
        self.tree = merge({} if patch.pop("all", False) else self.tree, patch)

    def close(self, code=None, reason=None):
        self.code = code


@pytest.fixture(autouse=True)
def offered(sockets):
    sockets(True)


@pytest.fixture
def stage():
    made = Stage()
    made.put(number=1, rows={"colour": np.arange(3.0, dtype=np.float32)}, words={"status": "ready"})
    return made


@pytest.fixture
def tickets():
    return Service.of_process().tickets


@pytest.fixture
def followed(stage, tickets):
    counts = []
    made = Followers(stage, tickets, lambda: counts.append(len(made)))
    made.counts = counts
    return made


def frame(stage, number):
    with stage:
        stage.put("planes", latent={"place": np.full(4, number, dtype=np.int16)})
        stage.grow("curve", loss=np.arange(number, dtype=np.float32))
        stage.put(number=number)


def same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, dict):
            same(value, second[name])
        else:
            np.testing.assert_array_equal(value, second[name])


def painted(followed, browser):
    followed.heard({"kind": "painted", "number": browser.tree["number"]}, browser)


def test_whoever_joins_sees_what_is_shown_and_then_what_is_new(stage, followed):
    first, late = Browser(), Browser()
    followed.joined(first)
    painted(followed, first)
    for number in (2, 3):
        frame(stage, number)
        painted(followed, first)
    followed.joined(late)
    for browser in (first, late):
        same(browser.tree, stage.tree)
    followed.left(first)
    followed.left(first)
    assert followed.counts == [1, 2, 1]


def test_who_keeps_up_gets_the_same_bytes_as_the_page_itself(stage, followed):
    own, browsers = [], [Browser() for _ in range(5)]
    stage.connect(own.append)
    for browser in browsers:
        followed.joined(browser)
        painted(followed, browser)
    frame(stage, 2)
    assert all(browser.messages[-1] is own[-1] for browser in browsers)
    assert len({id(browser.messages[0]) for browser in browsers}) == 1  # all that is known is packed once, too


def test_the_slow_miss_frames_and_nothing_else(stage, followed):
    slow, quick = Browser(), Browser()
    for browser in (slow, quick):
        followed.joined(browser)
    painted(followed, quick)
    for number in range(2, 30):
        frame(stage, number)
        painted(followed, quick)
    assert len(slow.messages) == 1  # one frame is on its way, no more
    assert len(quick.messages) == 29
    followed.heard({"kind": "painted", "number": 7}, slow)  # not the one that it was sent
    assert len(slow.messages) == 1
    painted(followed, slow)
    assert len(slow.messages) == 2
    same(slow.tree, stage.tree)
    frame(stage, 30)
    assert len(slow.messages) == 2
    painted(followed, slow)
    same(slow.tree, stage.tree)


def test_a_follower_changes_nothing(stage, followed):
    heard = []
    for kind in ("select", "hello", "painted", "tool"):
        stage.on(kind, heard.append)
    browser = Browser()
    followed.joined(browser)
    before = stage.tree
    for message in ({"kind": "select", "rows": [1]}, {"kind": "hello"}, {}, {"kind": "painted", "number": [2]}):
        followed.heard(message, browser)
    followed.heard({"kind": "painted"}, Browser())  # a stranger
    assert stage.tree is before
    assert not heard


def test_after_the_end_nobody_is_told_anything_or_gets_in(stage, followed, tickets):
    browser = Browser()
    followed.joined(browser)
    assert tickets.owner_of(followed.ticket) is followed
    followed.end()
    assert browser.code == ENDED
    assert tickets.owner_of(followed.ticket) is None
    told = len(browser.messages)
    frame(stage, 2)
    assert len(browser.messages) == told


def test_a_full_house_says_so(stage, tickets):
    followed, browsers = Followers(stage, tickets, lambda: None, most=2), [Browser() for _ in range(3)]
    for browser in browsers:
        followed.joined(browser)
    assert [browser.code for browser in browsers] == [None, None, FULL]
    assert len(followed) == 2


def test_a_run_is_followed_and_taken_over(tickets):
    with Visitor("?data=moons&data.n_samples=60&method=LSDR&method.max_iter=50&seed=3") as visitor:
        visitor.press("Share").press("Open a link for students").settle()
        assert visitor.sees("No one is watching yet.")
        link = urlsplit(visitor.widget("Link for students").value)
        assert link.path == f"/{follow.FOLLOW}"
        [ticket] = parse_qs(link.query)["ticket"]
        shown, browser = tickets.owner_of(ticket), Browser()
        visitor.do(lambda: shown.joined(browser))
        visitor.settle()
        assert visitor.sees("One person is watching.")
        assert visitor.widget("Share · 1")
        visitor.do(lambda: painted(shown, browser))
        visitor.press("Step").press("Step").settle()
        visitor.do(lambda: painted(shown, browser))
        assert browser.tree["followed"]["title"] == "LSDR on noisy plane: moons"
        assert browser.tree["followed"]["iteration"] == 2
        assert "iteration <b>2</b>" in browser.tree["words"]["status"]
        query = browser.tree["followed"]["take"].removeprefix("explorer?")
        objective = visitor.number("objective")
        visitor.press("End the link for students").settle()
        assert browser.code == ENDED
        assert visitor.sees("The link for students has ended.")
    with Visitor(f"?{query}&iteration=2") as visitor:
        assert visitor.stands == ("paused", 2)
        assert visitor.number("objective") == objective
        assert "iteration=" not in visitor.query


@pytest.mark.parametrize(
    "asked", ["-3", *(pytest.param(text, marks=pytest.mark.slow) for text in ("", "1e9", "x", "9" * 30))]
)
def test_a_run_that_begins_nowhere_begins_at_the_start(asked):
    with Visitor(f"?data=moons&data.n_samples=60&method=LSDR&iteration={asked}") as visitor:
        assert visitor.stands == ("ready", 0)


def test_with_its_page_the_link_is_gone(tickets):
    with Visitor("?data=moons&data.n_samples=60&method=LSDR") as visitor:
        visitor.press("Share").press("Open a link for students").settle()
        [ticket] = parse_qs(urlsplit(visitor.widget("Link for students").value).query)["ticket"]
        shown, browser = tickets.owner_of(ticket), Browser()
        visitor.do(lambda: shown.joined(browser))
    assert browser.code == ENDED
    assert tickets.owner_of(ticket) is None


def test_without_sockets_there_is_no_such_link(sockets):
    sockets(False)
    with Visitor("?data=moons&data.n_samples=60&method=LSDR") as visitor:
        visitor.press("Share").settle()
        assert not visitor.sees("Follow this run")


def test_behind_a_proxy_a_link_says_which_process_it_leads_to(stage):
    tickets = Tickets()
    address, *_ = StageSocket.route(tickets, 3)
    assert address == "/stage"
    first, second = Followers(stage, tickets, lambda: None), Followers(stage, tickets, lambda: None)
    assert re.fullmatch(r"3-[\w-]{32}", first.ticket)
    assert first.ticket != second.ticket
    assert tickets.owner_of(first.ticket) is first
    StageSocket.route(tickets)
    assert re.fullmatch(r"[\w-]{32}", Followers(stage, tickets, lambda: None).ticket)


def test_every_process_has_the_script_of_the_page_that_follows(own_files):
    own_files(False)  # none that is left of other tests
    follow.page.cache_clear()
    follow.FollowPage.route()
    [name] = re.findall(r'<script type="module" src="own/([^"]+)"', follow.page())
    assert OwnFile._contents[name]


def test_the_page_that_follows_asks_no_other_server():
    text = follow.page()
    assert not re.findall(r"""(?:src|href)="(?:https?:)?//""", text)
    assert text.count("data-slot=") == 14
