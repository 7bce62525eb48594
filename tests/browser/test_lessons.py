"""A lesson in a real browser: stepping by keys, answering, links, a file of one's own."""

import itertools

import pytest

from supdr_viz.lessons import LESSONS, address
from tests.browser.app import FIGURES, App

FIRST = "1-why-supervise"
OWN = """
format = 1
title = "A lesson of mine"
[[step]]
title = "Iris"
text = "Three kinds of **iris**. <b>escaped</b>"
state = "data=iris&method=LDA&test=0.3&labels=1&seed=0"
"""


@pytest.fixture
def open_lesson(open_app, server):
    """Open the lessons page: the explorer's fixture with another address."""

    def open_(query="", **options):
        app = open_app("/../lessons" + query, **options)
        app.until(lambda: step_of(app))
        return app

    return open_


def step_of(app):
    return app.page.locator("h2").filter(has_not_text="Data").first.text_content()


def steps(name):
    return LESSONS[name].steps


def test_a_narrow_window_shows_the_text_above_the_plots(open_lesson):
    app = open_lesson(f"?lesson={FIRST}", viewport={"width": 390, "height": 844})
    title, run = app.page.locator("h2").first, app.page.get_by_role("button", name="Run").first
    app.until(lambda: app.measure(title, "y") < app.measure(run, "y"))
    app.page.set_viewport_size({"width": 1280, "height": 720})
    app.until(lambda: app.measure(title, "x") < app.measure(run, "x") - 200)
    app.press("Next")
    app.until(lambda: step_of(app) == steps(FIRST)[1].title)


def test_stepping_by_keys_answers_and_links(open_lesson):
    app = open_lesson()
    app.until(lambda: step_of(app) == steps(FIRST)[0].title)
    app.key("PageDown")
    app.until(lambda: step_of(app) == steps(FIRST)[1].title)
    app.until(lambda: address(FIRST, 1) in app.page.url)
    assert not app.sees("The reconstruction becomes perfect")
    app.until(lambda: app.iteration == 0)
    app.key("1")  # an answer, a wrong one
    app.until_seen("The answer is 2. In some runs.")
    app.until_seen("We measured")
    app.until(lambda: app.chip == "paused" and app.iteration == 120, 60)  # the answer plays
    app.key("PageDown")
    app.until(lambda: step_of(app) == steps(FIRST)[2].title)
    app.until(lambda: app.chip == "ready" and app.iteration == 0)
    app.press("Show answer")
    app.until_seen("The answer is 2.")
    app.key("PageUp")
    app.until(lambda: step_of(app) == steps(FIRST)[1].title)
    app.press("Share")
    app.until_seen("Share this run")
    link = app.page.get_by_label("Link", exact=True).first
    app.until(lambda: link.input_value().endswith(f"/lessons?{address(FIRST, 1)}"))


def test_a_link_leads_to_a_step_and_the_end_is_free(open_lesson):
    last = len(steps(FIRST)) - 1
    app = open_lesson(f"?{address(FIRST, last)}")
    app.until(lambda: step_of(app) == steps(FIRST)[last].title)
    app.until(lambda: app.page.get_by_role("combobox", name="Method").first.is_visible())
    app.until(lambda: app.button("Next").is_disabled())
    app.nudge("Reconstruction share", times=3)
    app.run_to(3)
    app.press("Share")
    app.until_seen("Share this run")
    link = app.page.get_by_label("Link", exact=True).first
    app.until(lambda: "/explorer?data=linear" in link.input_value())  # what is shown is no longer the step


def test_a_file_of_ones_own(open_lesson, tmp_path):
    app = open_lesson(viewport={"width": 1280, "height": 720})
    app.open_fold("Your own lesson")
    files = app.page.locator("input[type=file]").last
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(OWN.replace("data=iris", "data=irises"))
    files.set_input_files(wrong)
    app.until_seen("There is no data set 'irises'")
    assert step_of(app) == steps(FIRST)[0].title
    mine = tmp_path / "mine.toml"
    mine.write_text(OWN)
    files.set_input_files(mine)
    app.until(lambda: step_of(app) == "Iris")
    app.until_seen("<b>escaped</b>")
    app.until(lambda: app.chip in ("ready", "finished"))


@pytest.mark.parametrize("phone", [False, True])
def test_it_fits(open_lesson, phone):
    options = {"phone": True} if phone else {"viewport": {"width": 1280, "height": 720}}
    app = open_lesson(**options)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth") <= (390 if phone else 1280))
    text = app.page.locator(".lesson").first
    before = app.until(lambda: text.bounding_box())["height"]
    app.page.get_by_label("Large text").first.check(force=True)
    app.until(lambda: app.measure(text, "height") > 1.2 * before)
    app.press("Next")
    app.until(lambda: step_of(app) == steps(FIRST)[1].title)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth") <= (390 if phone else 1280))
    if not phone:
        for box in app.until_still(lambda: [app.box(name) for name in FIGURES]):
            assert box["y"] + box["height"] <= 720
            assert box["x"] + box["width"] <= 1280


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", LESSONS)
def test_every_step_is_reached_by_a_key_and_runs(open_lesson, name):
    app: App = open_lesson(f"?{address(name, 0)}")
    for before, step in itertools.pairwise(steps(name)):
        if before.question is not None:
            app.until(lambda: app.button("Show answer").is_visible())
            app.press("Show answer")
            app.until(lambda: app.button("Next").is_visible())
        app.key("PageDown")
        app.until(lambda s=step: step_of(app) == s.title)
        app.until(lambda s=step: (app.iteration or 0) >= s.run and app.chip != "waiting", 60)
