"""Knobs, examples, other methods and data: what a change does to the run, and what the page says of it."""

import itertools
from urllib.parse import quote

import pytest

from supdr_viz.presets.catalogue import PRESETS
from tests.browser.axe import findings

BEHIND_LABEL = """(slider) => getComputedStyle(
  slider.closest(".MuiFormControl-root").querySelector(".MuiFormLabel-root strong"), "::after").content"""


def test_knobs_carry_on_or_start_again_as_they_are_marked(app):
    for _ in range(5):
        app.press("Step")
    app.settle()
    objective = app.number("objective")
    said = app.nudge("Reconstruction share", times=20)
    app.settle()
    assert f"method.beta={said}" in app.page.url
    assert app.iteration == 5
    assert app.number("objective") != objective
    label = "Latent dimensions"
    assert "↻" in app.slider(label).evaluate(BEHIND_LABEL)
    assert "↻" not in app.slider("Reconstruction share").evaluate(BEHIND_LABEL)
    app.nudge(label)
    app.settle()
    assert app.stands == ("ready", 0)
    places = app.places("input")
    app.nudge("Noise", times=4)
    app.open_fold("Test rows, labels, seed")
    seed = app.page.get_by_label("Seed").first
    seed.fill("7")
    seed.press("Enter")
    app.settle()
    assert "seed=7" in app.page.url
    assert app.places("input") != places
    app.nudge("Labelled share", "PageDown", times=5)
    app.settle()
    assert app.sees("label hidden")
    app.nudge("Test share", "Home")
    app.settle()
    assert app.sees("120 training rows, no test rows")
    assert app.number("test error") is None
    seed.fill("many")
    seed.press("Enter")
    app.settle()
    assert app.sees("Type a number")
    assert "seed=7" in app.page.url


@pytest.mark.slow
def test_a_run_goes_on_while_its_separation_is_dragged(open_app):
    app = open_app("?data=iris&method=ClassAtlas&test=0.3&seed=0&speed=normal")
    app.press("Run").settle()
    apart, reached = app.places("latent"), app.iteration
    app.drag("Separation", 0.3).settle()
    assert "method.separation=0.3" in app.page.url
    assert app.stands == ("paused", reached)  # moved, not restarted
    seen = [app.places("latent")]
    for count in (1, 2, 3):
        app.press("Step").settle()
        assert app.iteration == reached + count
        seen.append(app.places("latent"))
    assert all(one != other for one, other in itertools.pairwise([apart, *seen]))  # neighbours find each other
    app.press("Run").until_going()
    app.drag("Separation", 0.7).settle()  # while it goes
    assert "method.separation=0.7" in app.page.url
    assert app.chip == "finished"
    assert app.iteration > reached + 3


@pytest.mark.slow
def test_from_a_link_that_wants_more_to_an_example_that_begins_with_its_picture(open_app):
    name = "<img src=x onerror='window.harmed=1'>"
    app = open_app(f"?data=openml&data.name={quote(name)}")
    assert app.sees(f"Press Load under Data to fetch {name} from OpenML")
    assert app.evaluate("window.harmed") is None  # a link cannot bring markup into the page
    assert app.button("Run").is_disabled()
    example = next(preset for preset in PRESETS.values() if preset.label == "Fig. 3: digits in four views, R = 1")
    app.open_gallery()
    assert not findings(app.page, "dialog")
    app.key("Escape")
    app.page.locator("dialog").wait_for(state="hidden")
    app.example(example.label).settle()
    assert f"method={example.settings.method}" in app.page.url
    assert app.sees("Local spaces")
    assert app.sees(example.note[:40])
    app.press("Step").settle()
    assert app.iteration == 1
    unavailable = next(preset for preset in PRESETS.values() if preset.needs is not None)
    app.example(unavailable.label).settle()
    assert app.sees(unavailable.needs.title + " is not included")
    assert app.button("Run").is_disabled()


@pytest.mark.slow
def test_what_was_wrong_with_a_link_stands_beside_the_plots_until_it_is_closed(open_app):
    app = open_app("?data=nosuch&data.[free](https://evil.example)=1")
    said = app.page.get_by_role("alert").filter(has_text="There is no data set 'nosuch'")
    assert "[free](https" in said.inner_text()  # a link cannot bring links into the page
    cards = app.page.locator(".card")
    for width, height in ((1440, 900), (390, 844)):
        app.resize(width, height)
        app.settle()
        box = said.bounding_box()
        assert app.width <= width
        assert all(box["y"] + box["height"] <= card.bounding_box()["y"] for card in cards.all())
    before = cards.first.bounding_box()["y"]
    app.button("Close").click()
    app.settle()
    assert not said.is_visible()
    assert cards.first.bounding_box()["y"] <= before - box["height"]
