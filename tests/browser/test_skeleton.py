"""What is seen while a page opens: a still of the opening, or the page's own outline, where its parts will be."""

import io
import time

import numpy as np
import pytest
from PIL import Image

from tests.browser.app import TIMEOUT

CARDS = """(selector) => {
  const found = []
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot)
      if (each.matches(selector)) found.push(each.getBoundingClientRect())
    }
  }
  walk(document)
  return found.filter((box) => box.width).map(({x, y, width, height}) => [x, y, width, height])
}"""

SHIFTS = """() => new Promise((done) => {
  let shift = 0
  const ended = Number(document.documentElement.dataset.stillEnded)
  const add = (list) => {
    for (const each of list.getEntries()) if (each.startTime > ended) shift += each.value
  }
  new PerformanceObserver(add).observe({type: "layout-shift", buffered: true})
  setTimeout(() => done(shift), 200)
})"""


def arriving(app, address, scheme):
    """Open a page whose scripts never come."""
    page = app.page.context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(app.page.viewport_size)
    page.route("**/bokeh*.js*", lambda _route: None)
    page.goto(address, wait_until="commit")
    return page


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_the_outline_is_there_before_any_script_and_where_the_cards_will_be(open_app, server, scheme):
    app = open_app("?data=iris&method=LSDR")
    cards = app.evaluate(CARDS, ".card")
    page = arriving(app, f"{server.url}/explorer?data=iris&method=LSDR", scheme)
    page.locator("#loader .outline").first.wait_for()
    outline = page.evaluate(CARDS, "#loader .outline")
    assert len(outline) == len(cards) == 5
    for (left, top, wide, _), (x, y, width, _) in zip(outline, cards, strict=True):
        assert abs(left - x) <= 3
        assert abs(top - y) <= 4
        assert abs(wide - width) <= 3
    colour = page.evaluate("getComputedStyle(document.getElementById('loader')).backgroundColor")
    assert colour == {"light": "rgb(244, 246, 248)", "dark": "rgb(15, 22, 29)"}[scheme]
    page.close()


def differing(page, other):
    """Share of pixels in which two pages look different."""
    return (np.abs(pixels(page) - pixels(other)).max(axis=2) > 40).mean()


def pixels(page):
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


@pytest.mark.parametrize(  # all four are drawn at once
    ("phone", "scheme"),
    [
        (False, "light"),
        pytest.param(False, "dark", marks=pytest.mark.slow),
        pytest.param(True, "light", marks=pytest.mark.slow),
        (True, "dark"),
    ],
)
def test_the_still_of_the_opening_is_what_the_page_then_shows(open_app, server, phone, scheme):
    app = open_app(phone=phone, scheme=scheme)
    assert app.evaluate(SHIFTS) < 0.001  # nothing of the page moves after the still has gone
    page = arriving(app, f"{server.url}/explorer", scheme)
    page.locator("#still i:visible").first.wait_for()
    end = time.monotonic() + TIMEOUT / 1000
    while (share := differing(app.page, page)) >= 0.02 and time.monotonic() < end:
        page.wait_for_timeout(50)  # its pictures come
    page.close()
    # `python scripts/still.py` draws it anew where this fails after a change of the page.
    assert share < 0.02
