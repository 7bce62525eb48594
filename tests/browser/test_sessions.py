"""Visitors do not disturb each other, and closed pages leave nothing behind."""

import json
import urllib.request

import pytest

from tests.browser.conftest import SMALL


def counts(server):
    with urllib.request.urlopen(f"{server.url}/counts", timeout=10) as answer:
        return json.load(answer)


def test_visitors_are_on_their_own(app, open_app):
    other = open_app("?data=iris&method=LSDR")
    app.press("Run").until_going()
    assert other.settle().stands == ("ready", 0)
    other.choose("Method", "LDA").settle()
    assert "method=LDA" in other.page.url
    assert "method=LSDR" in app.page.url
    app.press("Pause").settle()
    assert app.chip == "paused"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explorer", "compare"])
def test_closed_pages_leave_no_work_behind(open_app, server, page):
    survivor = open_app("?data=iris&method=LDA")
    pages = [open_app(SMALL, page=page) for _ in range(2)]
    for each in pages:
        each.press("Run").until_going()
    before = counts(server)
    assert min(before.values()) >= 3
    for each in pages:
        each.page.close()
    survivor.page.wait_for_function(
        """async (before) => {
          const now = await (await fetch("/counts")).json()
          return Object.keys(before).every((kind) => now[kind] <= before[kind] - 2)
        }""",
        arg=before,
        polling=500,
        timeout=60_000,  # a page that was only reconnecting is waited for
    )
    survivor.press("Step").settle()
    assert survivor.iteration == 1
