"""Run, pause, step, reset, keys, scrubber; what a screen reader hears; nothing jumps."""

import itertools
import re

import pytest
from playwright.sync_api import expect

from tests.browser.app import FIGURES, SQUARES
from tests.browser.conftest import SMALL

HEAR = """() => {
  window.heard = []
  const status = document.getElementById("status")
  new MutationObserver(() => heard.push(status.textContent)).observe(status, {childList: true, subtree: true})
}"""

# Notes each set of boxes that the browser was about to paint.
WATCH_BOXES = """(figures) => {
  const boxes = window.boxes = []
  const look = () => {
    if (boxes !== window.boxes) return
    const now = JSON.stringify(figures.map((figure) => figure.getBoundingClientRect()))
    if (boxes.at(-1) !== now) boxes.push(now)
    requestAnimationFrame(look)
  }
  look()
  return figures.length
}"""


def choose_by_keys(app, label, opens, chooses):
    """Open a menu by the keyboard, go to another entry and choose it."""
    menu = app.page.get_by_role("combobox", name=label).first
    menu.focus()
    app.key(opens)
    app.page.locator("[role=listbox]").first.wait_for()
    app.key("ArrowDown").key(chooses)
    app.page.locator("[role=listbox]").first.wait_for(state="detached")


def runs_by_space(app):
    """Whether the Space key runs, and opens nothing."""
    app.key("Space").settle()
    assert not app.page.locator("[role=listbox], dialog[open]").count()
    return app.iteration > 0


@pytest.mark.slow
def test_after_a_choice_the_space_key_runs_and_what_was_only_closed_keeps_the_keyboard(open_app):
    app = open_app(SMALL.replace("5000", "30"))
    app.open_gallery()
    app.key("Escape")
    app.page.locator("dialog").wait_for(state="hidden")
    assert "Browse examples" in app.focused
    app.example("Fig. 2: LSDR on a disc in a ring").settle()
    assert app.focused == "page"
    assert runs_by_space(app)
    app.press("Reset").settle()
    menu = app.page.get_by_role("combobox", name="Data set").first
    before = menu.text_content()
    menu.focus()
    app.key("Space")
    app.page.locator("[role=listbox]").first.wait_for()
    app.key("Escape")
    app.page.locator("[role=listbox]").first.wait_for(state="detached")
    assert app.focused == before
    for label, opens, chooses in (("Data set", "Space", "Enter"), ("Method", "Enter", "Space")):
        choose_by_keys(app, label, opens, chooses)
        assert app.focused == "page"
        app.settle()
        assert runs_by_space(app)
    app.choose("Method", "LSDR").settle()  # by the mouse
    assert runs_by_space(app)
    app.key("Tab")  # goes on from the menu
    assert app.focused not in ("page", "Explore")


def test_keys_and_buttons_act_on_the_run(app):
    app.key("Space").until_going()
    app.key("Space").settle()
    reached = app.iteration
    assert app.chip == "paused"
    app.key("ArrowRight").settle()
    assert app.stands == ("paused", reached + 1)
    label = "Reconstruction share"
    before = app.slider(label).get_attribute("aria-valuetext")
    assert app.nudge(label) != before  # the slider moved, the run did not
    app.open_fold("Test rows, labels, seed")
    seed = app.page.get_by_label("Seed").first
    seed.fill("")
    seed.type("r 0")
    app.settle()
    assert app.stands == ("paused", reached + 1)
    seed.blur()
    app.key("r").settle()
    assert app.stands == ("ready", 0)
    app.button("Run").focus()  # the button hears it, too: it acts once
    app.key("Space").until_going()
    app.key("Space").settle()
    assert app.chip == "paused"
    app.press("Reset").settle()

    app.evaluate(HEAR)
    start = app.numbers, app.places("latent")
    assert app.stands == ("ready", 0)
    app.press("Run").until_going()
    app.press("Pause").settle()
    assert app.chip == "paused"
    assert app.number("objective") < float(start[0].split("objective ")[1].split()[0])
    heard = app.evaluate("heard")  # changes of state, and errors once they are known; not every iteration
    assert [state for state, _ in itertools.groupby(words.split(",")[0] for words in heard)] == ["running", "paused"]
    assert len(set(heard)) == len(heard) <= 3
    for word in ("LSDR on", "iteration", "objective", "train error", "test error"):
        assert word in heard[-1]
    reached = app.iteration
    app.press("Step").settle()
    assert app.stands == ("paused", reached + 1)
    assert f"iteration {reached + 1}," in app.status
    seen = []
    for _ in range(2):
        app.press("Reset").settle()
        assert app.stands == ("ready", 0)
        assert (app.numbers, app.places("latent")) == start
        for _ in range(3):
            app.press("Step")
        app.settle()
        assert app.stands == ("paused", 3)
        seen.append((app.number("objective"), app.places("latent")))
    assert seen[0] == seen[1]
    assert seen[0][1] != start[1]


@pytest.mark.slow
def test_choices_are_reached_by_arrows_and_no_press_is_lost(app):
    reached, normal, fast = app.iteration, app.button("normal"), app.button("fast")
    normal.focus()
    app.key("ArrowRight")  # to the next choice: the run takes no step
    expect(fast).to_be_focused()
    expect(normal).to_have_attribute("aria-pressed", "true")
    app.key("Enter").settle()
    expect(fast).to_have_attribute("aria-pressed", "true")
    expect(normal).to_have_attribute("aria-pressed", "false")
    assert app.iteration == reached
    app.press("normal")
    for _ in range(3):  # faster than the server answers
        app.press("pull").press("transform")
    app.settle()
    for name in ("normal", "pull", "transform"):
        expect(app.button(name)).to_have_attribute("aria-pressed", "true")
    app.press("pull").press("transform").settle()
    expect(app.button("pull")).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
def test_all_five_cards_fit_and_nothing_jumps_while_it_runs(open_app):
    app = open_app(SMALL.replace("5000", "25") + "&speed=fast", size=(1280, 720))
    for iteration, size in ((25, (1280, 720)), (50, (1440, 900))):  # a run that is asked to goes on
        app.resize(*size)
        app.settle()
        assert app.page.locator("canvas.stage, canvas.chart").evaluate_all(WATCH_BOXES) == len(FIGURES)
        app.press("Run").settle()
        assert app.stands == ("finished", iteration)
        assert app.evaluate("boxes.length") == 1
        boxes = {name: app.box(name) for name in FIGURES}
        for name, box in boxes.items():
            assert min(box["x"], box["y"]) >= 0
            assert box["x"] + box["width"] <= size[0], name
            assert box["y"] + box["height"] <= size[1], name
        squares = [boxes[name] for name in SQUARES]
        assert all(abs(box["width"] - box["height"]) <= 1 and box["width"] > 280 for box in squares)
        assert len({round(box["y"]) for box in squares}) == 1  # level
    expect(app.button("Run")).to_be_enabled()


@pytest.mark.slow
def test_looks_back_returns_and_goes_on_from_there(open_app):
    app = open_app(SMALL.replace("5000", "30") + "&speed=fast")
    expect(app.button("Live")).to_be_disabled()
    app.press("Run").settle()
    places = app.places("latent")
    scrubber = app.slider("Iteration")
    scrubber.focus()
    app.key("ArrowLeft", 5).settle()
    assert app.stands == ("viewing 25", 25)
    assert app.places("latent") != places
    app.press("Live").settle()
    assert app.stands == ("finished", 30)
    assert app.places("latent") == places
    scrubber.focus()
    app.key("Home").settle()
    assert app.iteration == 0
    app.key("ArrowRight", 10).settle()
    assert app.iteration == 10
    app.press("Step").settle()
    assert app.stands == ("paused", 11)
    assert scrubber.get_attribute("max") == "11"  # what came later is gone
    app.press("Run").settle()
    assert app.chip == "finished"
    assert app.iteration > 11


@pytest.mark.slow
def test_a_run_goes_on_behind_what_is_viewed_and_while_it_is_changed(app):
    app.press("Run")
    expect(app.numbers_shown).to_contain_text(re.compile(r"iteration [2-9]\d"))
    scrubber = app.slider("Iteration")
    app.drag("Iteration", 1 / 3)
    expect(app.chip_shown).to_have_text(re.compile(r"viewing \d+"))
    expect(app.button("Pause")).to_be_visible()
    end = scrubber.get_attribute("max")
    expect(scrubber).not_to_have_attribute("max", end)
    app.press("Pause").settle().settle()  # the kit draws its widgets in its own time
    shown, end = app.iteration, int(scrubber.get_attribute("max"))
    assert app.chip == f"viewing {shown}"
    assert 0 < shown < end
    app.press("Live").settle()
    assert app.stands == ("paused", end)
    expect(app.button("Live")).to_be_disabled()
    app.press("Run").until_going()
    app.nudge("Latent dimensions")  # a change reaches a run that goes on
    app.until_seen("2 of 3 dimensions")
    expect(app.numbers_shown).to_contain_text(re.compile(r"iteration [1-9]"))
    app.press("Pause").settle()
    assert app.chip == "paused"
    assert "method.n_components=3" in app.page.url
