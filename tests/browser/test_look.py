"""Themes, window sizes, motion, enlarged plots, names for screen readers, and axe-core.

The other pages are looked at by axe-core where they are visited.
"""

import itertools

import pytest
from playwright.sync_api import expect

from tests.browser.app import FIGURES
from tests.browser.axe import NAMELESS, findings, serious
from tests.browser.conftest import SHEET, SMALL

# Notes each box of a figure that the browser was about to paint.
WATCH_BOX = """
(figure) => {
  const boxes = window.boxes = []
  const look = () => {
    if (boxes !== window.boxes) return
    const {x, y, width, height} = figure.getBoundingClientRect(), last = boxes.at(-1)
    if (!last || last.x !== x || last.y !== y || last.width !== width || last.height !== height)
      boxes.push({x, y, width, height})
    requestAnimationFrame(look)
  }
  look()
}
"""


def colours(app):
    return app.evaluate("board('explorer').palette.filter((_, k) => board('explorer').levels.includes(k))")


@pytest.mark.slow
def test_the_theme_follows_the_system_and_a_choice_survives(open_app):
    app = open_app(SMALL, scheme="dark")
    assert app.theme == app.evaluate("first_theme") == "dark"  # before anything was painted
    app.press("Step").settle()
    dark, picture, numbers, received = colours(app), app.picture("latent"), app.numbers, len(app.received)
    app.toggle_theme()
    light = colours(app)
    assert light != dark
    assert app.picture("latent") != picture
    assert app.numbers == numbers
    assert max(app.received[received:], default=0) <= 1000  # no row is sent again
    app.open(app.page.url)
    app.settle()
    assert app.theme == app.evaluate("first_theme") == "light"
    assert colours(app) == light
    app.toggle_theme()
    assert colours(app) == dark


MODULES = """performance.getEntriesByType("resource")
  .filter(({name}) => /own\\/\\w+\\.js|bundle\\.js/.test(name)).map(({initiatorType}) => initiatorType)"""

LETTERS = """[...document.fonts].filter(({family, status}) => family === "Roboto" && status !== "unloaded")
  .map(({unicodeRange}) => unicodeRange)"""


def test_the_explorer_can_be_read_and_named(open_app):
    app = open_app("?data=spirals&data.n_per_class=60&method=LSDR")
    ways = app.evaluate(MODULES)
    assert ways
    assert "fetch" not in ways  # the browser's own way, not a script's that fetches text
    letters = app.evaluate(LETTERS)
    assert any("U+0-FF" in each for each in letters)
    assert not any(each in ("U+0-10FFFF", "U+1F00-1FFF") or "U+400" in each for each in letters)
    assert app.longest_motion <= 0.05  # as the visitor wants little
    app.open_fold("Test rows, labels, seed")
    app.page.get_by_role("button", name="More", exact=True).last.click()
    app.settle()
    assert app.page.locator("h1").count() >= 1
    assert app.evaluate(NAMELESS) == []
    assert serious(app) == []
    for name in ("Share", "Python", "Export"):
        app.press(name)
        app.page.get_by_role("dialog").first.wait_for()
        app.settle()
        assert app.evaluate(NAMELESS) == [], name
        assert findings(app.page, within="[role=dialog]") == [], name
        app.close_dialog()


def test_a_phone_reaches_everything(open_app):
    app = open_app(SHEET, phone=True)
    assert app.width <= 390
    drawer = app.page.get_by_role("combobox", name="Data set").first
    expect(drawer).not_to_be_in_viewport()
    app.press("Step").settle()
    boxes = [app.box(name) for name in FIGURES]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        beside, above = (
            any(first[start] + first[size] <= second[start] for first, second in ((one, other), (other, one)))
            for start, size in (("x", "width"), ("y", "height"))
        )
        assert beside or above  # none lies over another
    app.page.get_by_label("Colour", exact=True).select_option(label="error")
    app.settle()
    app.until_seen("error 0")
    app.page.locator("header button").first.click()
    expect(drawer).to_be_in_viewport()
    expect(app.page.get_by_role("dialog", name="Controls")).to_be_visible()
    app.press("Share")
    app.until_seen("Share this run")
    boxes = [dialog.bounding_box() for dialog in app.page.get_by_role("dialog").all()]  # the drawer is one, too
    assert all(box["width"] <= 390 for box in boxes if box)
    assert app.settle().width <= 390


@pytest.mark.slow
def test_a_phone_shows_both_squares_on_one_screen_and_words_on_all_buttons(open_app):
    app = open_app("?example=three-spirals", phone=True)
    tops = []
    for name in ("input", "latent"):
        box = app.box(name)
        assert box["width"] >= 250  # one above the other: side by side there is room for 180
        assert box["y"] >= 0
        tops.append(box["y"])
        assert box["y"] + box["height"] <= 844
    assert min(tops) <= 260
    for name in ("Run", "Step", "Reset", "Live"):
        assert app.button(name).evaluate("(each) => parseFloat(getComputedStyle(each).fontSize)") >= 9.5
    edges = [app.page.get_by_role("button", name="Run").first.bounding_box()["x"]]
    edges += [app.page.locator(kind).first.bounding_box()["x"] for kind in (".chosen", ".status", ".card", ".classes")]
    assert max(edges) - min(edges) <= 1
    assert app.evaluate(NAMELESS) == []
    assert findings(app.page) == []


CUT = """(parts) => parts.filter((part) => {
  const {left, right, top, bottom, width} = part.getBoundingClientRect()
  const line = (part.closest(".note, div") ?? part.parentElement).getBoundingClientRect()
  const seen = width > 0 && top < line.bottom - 1 && bottom > line.top + 1
  const beyond = right > line.right + 1 || left < line.left - 1 || bottom > line.bottom + 3
  return seen && (beyond || part.scrollWidth > part.clientWidth + 1)
}).map((part) => part.textContent)"""
"""Parts of captions that are seen, but not whole."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("explorer", "?data=spirals&data.n_per_class=500&method=NSDR&method.gamma=0.001"),
        ("explorer", "?data=digits&method=LSDR&method.n_components=9&view.colour=trust"),
        ("compare", "?data=xor&data.n_noise_features=3&method=PCAProjection&b=LSDR&c=NSDR&d=MAC"),
        ("compare", "?data=digits&method=LSDR&method.n_components=9&b=ClassAtlas&c=MAC"),
    ],
)
def test_no_caption_is_cut(open_app, page, query):
    app = open_app(query, page=page)
    for _step in range(2):
        for size in ((1440, 900), (1280, 800), (390, 844)):
            app.resize(*size)
            app.settle()
            assert app.page.locator(".whole").count() > 2
            assert app.page.locator(".whole").evaluate_all(CUT) == [], size
        app.press("Step").settle()
    if page == "explorer":
        app.open(f"{app.home}/explorer?example=three-spirals&present=1")
        assert app.settle().page.locator(".whole").evaluate_all(CUT) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 1440])
def test_how_a_run_ended_stands_on_a_line_of_its_own(open_app, width):
    app = open_app("?data=spirals&data.n_per_class=60&method=MAC&method.max_iter=3", size=(width, 800))
    app.press("Run").settle()
    ending = app.page.locator(".status .ending").filter(visible=True)
    expect(ending).to_have_text("Stopped at the iteration limit. Run adds more.")
    box, numbers = ending.bounding_box(), app.page.locator(".status .numbers").first.bounding_box()
    assert box["height"] < 24
    assert box["y"] + box["height"] <= numbers["y"] + numbers["height"] + 1


@pytest.mark.slow
def test_a_notice_does_not_move_the_page(open_app):
    """What is in the way lies over the plots, which are dimmed."""
    tops = []
    for query in ("", "?data=openml&data.name=336&method=MAC"):
        app = open_app(query)
        tops.append(app.page.get_by_text("Losses", exact=True).locator("visible=true").first.bounding_box()["y"])
    assert app.page.get_by_role("alert").first.bounding_box()["height"] > 30
    assert tops[1] == pytest.approx(tops[0], abs=8)


@pytest.mark.slow
def test_the_window_needs_no_scrollbar_and_words_have_room(open_app):
    app = open_app("?data=digits&method=LSDR")
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        app.resize(width, height)
        app.settle()
        assert app.width <= width  # a scrollbar takes room from the page, which headless browsers do not show
        assert app.height <= height
        for name in ("pull", "transform", "morph", "images"):
            button = app.button(name)
            assert button.evaluate("(each) => parseFloat(getComputedStyle(each).paddingLeft)") >= 4.5
            assert button.evaluate("(each) => each.scrollWidth <= each.clientWidth")
        places = [app.button(name).bounding_box() for name in ("pull", "images")]
        assert places[0]["y"] == places[1]["y"]  # one line


@pytest.mark.slow
def test_a_narrow_window_becomes_wide_and_a_plot_fills_it(open_app):
    app = open_app("?data=spirals&data.n_per_class=60", size=(390, 844))
    method = app.page.get_by_role("combobox", name="Method").first
    expect(method).not_to_be_visible()
    app.page.get_by_role("button", name="Open drawer").first.click()
    expect(method).to_be_visible()
    expect(app.page.get_by_role("tab", name="Lessons").last).to_be_visible()
    app.key("Escape")
    app.resize(1280, 720)
    expect(method).to_be_visible()
    app.settle()
    for name, title in (("latent", "Latent space"), ("losses", "Losses")):
        before, reached = app.box(name), app.iteration
        app.figure(name).evaluate(WATCH_BOX)
        app.press(f"Enlarge {title}").settle()
        box = app.box(name)
        assert 600 < box["height"] <= 720
        assert min(box["x"], box["y"]) >= 0
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280
        if name == "latent":
            assert abs(box["width"] - box["height"]) <= 1
        app.key("ArrowRight").settle()  # keys work on behind it
        assert app.iteration == reached + 1
        app.key("Escape").settle()
        assert app.evaluate("boxes") == [before, box, before]  # nothing in between was painted
