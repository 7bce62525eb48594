"""Closed pages leave nothing behind."""

import json
import urllib.request

import pytest

from tests.browser.conftest import SMALL


def counts(server):
    with urllib.request.urlopen(f"{server.url}/counts", timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explorer", "compare"])
def test_closed_pages_leave_no_work_behind(open_app, server, page):
    survivor = open_app("?data=iris&method=LSDR")
    pages = [open_app(SMALL, page=page) for _ in range(2)]
    for each in pages:
        each.press("Run").until_going()
    before = {kind: count for kind, count in counts(server).items() if kind in ("jobs", "players", "documents")}
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
