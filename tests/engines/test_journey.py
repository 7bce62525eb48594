"""One journey through the explorer in all engines: open, run, look back, select, morph, turn a knob, save."""

import time
from itertools import pairwise

import pytest

from tests.browser.app import HELPERS
from tests.browser.conftest import SMALL
from tests.engines.drivers import Chromium, Firefox, WebKit, until

TIMEOUT = 60
"""Seconds after which what was waited for has failed to come."""

ESCAPE = "\ue00c"

HANDS = """
window.problems = []
addEventListener("error", (event) => problems.push(event.message))
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)))
window.saved = []
const click = HTMLAnchorElement.prototype.click
HTMLAnchorElement.prototype.click = function () {
  const keep = (text) => saved.push([this.download, text.length])
  if (this.download) fetch(this.href).then((file) => file.text()).then(keep)
  if (savesByItself || !this.download) click.call(this)
}
window.everything = (selector) => {
  const found = []
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.matches(selector) && each.getClientRects().length) found.push(each)
      if (each.shadowRoot) walk(each.shadowRoot)
    }
  }
  walk(document)
  return found
}
window.words = (element) => {
  if (element.ariaLabel) return element.ariaLabel
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), said = []
  while (texts.nextNode()) {
    const {data, parentElement} = texts.currentNode
    if (!/icons/i.test(getComputedStyle(parentElement).fontFamily)) said.push(data)  // the name of an icon
  }
  return said.join("").trim()
}
window.called = (selector, name) =>
  everything(selector).find((each) => (selector === "button" ? words(each) === name : words(each).startsWith(name)))
window.middle = (element) => {
  element.scrollIntoView({block: "center", behavior: "instant"})
  const {x, y, width, height} = element.getBoundingClientRect()
  return [x + width / 2, y + height / 2]
}
window.rootOf = (element) => element.closest(".MuiSlider-root")
"""
"""What a visitor sees and where it is: all of it, also in shadow roots; and files that are saved."""


PLACE = "(selector, name) => middle(called(selector, name))"


class Visit:
    """A page that a browser has open."""

    def __init__(self, browser, address):
        self.browser = browser
        browser.go(address)
        until(lambda: self.ask("() => Boolean(globalThis.supdrStage?.boards.size)"), "no stage", TIMEOUT)
        self.ask(f"(savesByItself) => {{ {HELPERS}; {HANDS} }}", browser.saves_by_itself)
        self.settle()

    def ask(self, function, *arguments):
        return self.browser.evaluate(function, *arguments)

    def until(self, function, *arguments):
        return until(lambda: self.ask(function, *arguments), f"not {function} {arguments}", TIMEOUT)

    def settle(self):
        """Wait until the page says that all that was begun is done and drawn."""
        number = self.ask("() => document.documentElement.dataset.settle = String(Math.random())")
        self.until("(number) => document.documentElement.dataset.settled === number", number)

    def press(self, name, selector="button"):
        self.until("(selector, name) => Boolean(called(selector, name))", selector, name)
        before, place = None, self.ask(PLACE, selector, name)
        while place != before:  # a dialog that opens moves
            time.sleep(0.2)
            before, place = place, self.ask(PLACE, selector, name)
        self.browser.drag([place])

    def slide(self, name, share):
        """Drag the thumb of a slider to a share of its track."""
        thumb, track = self.ask(
            """(name) => {
              const root = rootOf(called("input[type=range]", name)), thumb = root.querySelector(".MuiSlider-thumb")
              const place = middle(thumb), {x, width} = root.getBoundingClientRect()
              return [place, [x, width]]
            }""",
            name,
        )
        end = track[0] + share * track[1]
        self.browser.drag([thumb, ((thumb[0] + end) / 2, thumb[1]), (end, thumb[1])])

    def open_drawer(self):
        """Open what holds the controls in a narrow window."""
        if self.ask("() => Boolean(called('button', 'Open drawer')) && innerWidth < 900"):
            self.press("Open drawer")
            self.settle()

    @property
    def chip(self):
        return self.ask("() => everything('.status .chip')[0].textContent.trim()")

    @property
    def iteration(self):
        text = self.ask("() => everything('.status .numbers')[0].textContent.match(/iteration ([\\d,]+)/)[1]")
        return int(text.replace(",", ""))

    def lasso(self):
        """Draw a loop around the left half of the input space; return how many rows are selected, of how many."""
        left, top, width, height = self.ask(
            """() => {
              middle(element("input"))
              const {x, y, width, height} = element("input").getBoundingClientRect()
              return [x, y, width, height]
            }"""
        )
        corners = [(0, 0), (0.5, 0), (0.5, 1), (0, 1), (0, 0)]
        shares = [(a + (c - a) * k / 6, b + (d - b) * k / 6) for (a, b), (c, d) in pairwise(corners) for k in range(6)]
        self.browser.drag([(left + 2 + (width - 4) * x, top + 2 + (height - 4) * y) for x, y in shares])
        self.settle()
        return self.ask("() => [board('explorer').selected?.size ?? 0, places('input').length]")


CASES = [
    pytest.param((Chromium, False), id="chromium"),
    pytest.param((Firefox, False), id="firefox"),
    pytest.param((WebKit, False), id="webkit"),
    pytest.param((Chromium, True), id="chromium-phone"),
    pytest.param((Firefox, True), id="firefox-phone"),
]


@pytest.fixture(params=CASES)
def visit(request, served, tmp_path):
    engine, phone = request.param
    known = len(served.errors)
    browser = engine(tmp_path, phone)
    try:
        visit = Visit(browser, f"{served.url}/explorer{SMALL}")
        yield visit
        assert visit.ask("() => problems") == []
    finally:
        browser.close()
    assert not served.errors[known:]


@pytest.mark.slow
def test_the_journey_of_a_visitor(visit):
    assert visit.chip == "ready"
    painted = visit.ask("() => supdrStage.clock.painted")
    visit.press("Run")
    visit.until("(before) => supdrStage.clock.painted > before + 10", painted)
    until(lambda: visit.iteration > 3, "no iterations", TIMEOUT)
    visit.press("Pause")
    visit.settle()
    reached = visit.iteration
    assert visit.chip == "paused"

    visit.slide("Iteration", 1 / 3)
    visit.settle()
    assert 0 < visit.iteration < reached
    assert visit.chip == f"viewing {visit.iteration}"
    visit.press("Live")
    visit.settle()
    assert visit.iteration == reached

    visit.press("select")  # on a phone a finger scrolls at first
    selected, rows = visit.lasso()
    assert 0 < selected < rows
    visit.browser.key(ESCAPE)
    visit.settle()
    assert visit.ask("() => board('explorer').selected?.size ?? 0") == 0

    before = visit.ask("() => places('latent')")
    visit.press("morph")
    visit.settle()
    assert visit.ask("() => places('latent')") != before
    visit.press("morph")
    visit.settle()

    visit.press("Reset")
    visit.settle()
    visit.open_drawer()
    value = "(name) => called('input[type=range]', name).ariaValueText"
    name = "Reconstruction share"
    share = visit.ask(value, name)
    visit.slide(name, 0.9)
    visit.settle()
    assert visit.ask(value, name) != share

    visit.press("Export")
    visit.press("Settings (JSON)")
    name, size = visit.until("() => saved[0]")
    assert name.endswith(".json")
    assert size > 100
