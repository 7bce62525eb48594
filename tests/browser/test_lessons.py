"""A lesson in a real browser: stepping by keys, answering, links, large text, a file of one's own."""

import itertools

import pytest

from supdr_viz.experiment.methods import MENU
from supdr_viz.lessons import LESSONS, address
from tests.browser.app import FIGURES
from tests.browser.axe import findings, serious

FIRST = "1-why-supervise"
OWN = """
format = 1
title = "A lesson of mine"
[[step]]
title = "Iris"
text = "Three kinds of **iris**. <b>escaped</b>"
state = "data=iris&method=LDA&test=0.3&labels=1&seed=0"
"""


def step_of(app):
    return app.page.locator("h2").filter(has_not_text="Data").first.text_content()


def steps(name):
    return LESSONS[name].steps


def link(app):
    app.press("Share")
    app.until_seen("Share this run")
    app.settle()
    return app.page.get_by_label("Link", exact=True).first.input_value()


def enlarge(app):
    """Ask for large text, and see that it becomes larger."""
    text = app.page.locator(".lesson").first
    before = text.bounding_box()["height"]
    app.page.get_by_label("Large text").first.check(force=True)
    app.settle()
    assert text.bounding_box()["height"] > 1.2 * before


MARKS = """() => {
  const within = (each) => [each, ...(each.shadowRoot ? all(each.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(within)
  return all(document).filter((each) => each.matches(".MuiButton-startIcon"))
    .map((each) => each.textContent).filter((icon) => ["check", "close"].includes(icon))
}"""
"""The marks of right and wrong on buttons."""


def test_stepping_by_keys_answers_and_links(open_app):
    app = open_app(page="lessons", size=(1280, 720))
    assert step_of(app) == steps(FIRST)[0].title
    title, plot = app.page.locator("h2").first.bounding_box(), app.box("input")
    assert title["x"] < plot["x"] - 200
    app.key("PageDown").settle()
    assert step_of(app) == steps(FIRST)[1].title
    assert address(FIRST, 1) in app.page.url
    assert not app.sees("The reconstruction becomes perfect")
    assert app.iteration == 0
    app.press("fast").settle()
    app.key("2").settle()  # an answer, a wrong one, and the run that shows it
    assert app.sees("The answer is 1. In some runs.")
    assert app.sees("We measured")
    assert app.stands == ("paused", 120)
    assert app.evaluate(MARKS) == ["check", "close"]
    app.key("PageDown").settle()
    assert step_of(app) == steps(FIRST)[2].title
    assert app.stands == ("ready", 0)
    assert app.evaluate(MARKS) == []
    app.press("Show answer")
    app.until_seen("The answer is 3.")
    assert app.evaluate(MARKS) == ["check"]
    app.key("PageUp").settle()
    assert step_of(app) == steps(FIRST)[1].title
    assert app.evaluate(MARKS) == []
    app.press("2. Yes, always").settle()
    assert app.focused == "page"  # the Space key runs
    assert link(app).endswith(f"/lessons?{address(FIRST, 1)}")
    app.close_dialog()
    enlarge(app)
    assert app.width <= 1280
    shown = [name for name in FIGURES if app.figure(name).is_visible()]
    assert set(shown) == set(steps(FIRST)[1].look)
    for box in map(app.box, shown):
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280
    assert serious(app) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step", "size"),
    [
        (FIRST, 0, (1440, 900)),
        (FIRST, 0, (1280, 720)),
        (FIRST, 0, (390, 844)),
        (FIRST, 2, (1440, 900)),
        ("6-few-labels-many-points", 0, (1440, 900)),
        ("6-few-labels-many-points", 0, (390, 844)),
    ],
)
def test_status_and_legend_stand_above_the_cards_from_edge_to_edge(open_app, name, step, size):
    """With one card and with several, also with large text."""
    app = open_app(f"?{address(name, step)}", page="lessons", size=size)
    for large in (False, True):
        if large:
            enlarge(app)
        cards = [each.bounding_box() for each in app.page.locator(".squares .card:not(.off)").all()]
        left, right = min(each["x"] for each in cards), max(each["x"] + each["width"] for each in cards)
        top = min(each["y"] for each in cards)
        legend = app.page.locator(".run-keys .keys").filter(visible=True).first.bounding_box()
        assert abs(legend["x"] + legend["width"] - right) < 12
        assert 0 <= top - (legend["y"] + legend["height"]) < 24  # no line of text fits between
        if steps(name)[step].is_run and not steps(name)[step].goes_on:
            status = app.page.locator(".run-status .chip").first.bounding_box()
            assert abs(status["x"] - left) < 12
            assert abs(status["y"] + status["height"] / 2 - legend["y"] - legend["height"] / 2) < 6
            assert status["x"] + status["width"] < legend["x"]


def test_the_end_is_free_and_a_file_of_ones_own_can_be_read(open_app, tmp_path):
    last = len(steps(FIRST)) - 1
    app = open_app(f"?{address(FIRST, last)}", page="lessons")
    assert step_of(app) == steps(FIRST)[last].title
    assert app.page.get_by_role("combobox", name="Method").first.is_visible()
    assert app.button("Next lesson").is_enabled()
    app.nudge("Reconstruction share", times=3)
    app.press("Step").settle()
    assert app.iteration == 1
    assert "/explorer?data=linear" in link(app)  # what is shown is no longer the step
    app.close_dialog()
    app.open_fold("Make your own lesson")
    wrong, mine = tmp_path / "wrong.toml", tmp_path / "mine.toml"
    wrong.write_text(OWN.replace("data=iris", "data=irises"))
    mine.write_text(OWN)
    app.settle().choose_file(wrong)
    app.until_seen("There is no data set 'irises'")
    assert step_of(app) == steps(FIRST)[last].title
    app.choose_file(mine)
    app.until_seen("<b>escaped</b>")
    app.settle()
    assert step_of(app) == "Iris"
    assert app.chip == "finished"


@pytest.mark.slow
def test_it_fits_a_phone_also_with_large_text(open_app):
    app = open_app(page="lessons", phone=True)
    title, plot = app.page.locator("h2").first.bounding_box(), app.box("input")
    assert title["y"] < plot["y"]
    assert app.width <= 390
    enlarge(app)
    app.press("Next").settle()
    assert step_of(app) == steps(FIRST)[1].title
    assert app.width <= 390
    app.press("Show answer").settle()
    assert app.sees("We measured")
    assert findings(app.page) == []
    # The check sees into shadow roots: a button without a name there is found.
    app.evaluate("""() => {
      const host = document.body.appendChild(document.createElement("div"))
      host.id = "host"
      host.attachShadow({mode: "open"}).innerHTML = "<button></button>"
    }""")
    (found,) = findings(app.page, within="#host")
    assert found.startswith("button-name (critical)")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", LESSONS)
def test_every_step_is_reached_by_a_key_and_runs(open_app, name):
    app = open_app(f"?{address(name, 0)}", page="lessons")
    for before, step in itertools.pairwise(steps(name)):
        if before.question is not None:
            app.press("Show answer")
            app.button("Next").wait_for()
        app.key("PageDown")
        app.until_seen(step.title)
        if not step.play:
            app.settle()
            assert step_of(app) == step.title
            if MENU[step.settings.method].iterates:
                assert app.iteration >= step.run
            else:
                assert "Fitted in one step" in app.numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step", "caption"),
    [("6-few-labels-many-points", 1, "against true values"), ("7-what-can-a-map-promise", 2, "drawn against true")],
)
def test_captions_are_whole_on_a_projector(open_app, name, step, caption):
    app = open_app(f"?{address(name, step)}", page="lessons", size=(1280, 720))
    assert app.sees(caption)
    cut = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)"
    assert app.page.locator(".head .note").evaluate_all(cut) == []
