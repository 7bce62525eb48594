"""The pages without a browser: what the user does reaches the run, and the page says how it stands."""

from dataclasses import replace

import pytest

from supdr_viz.experiment.settings import Settings, to_query
from supdr_viz.lessons import LESSONS
from supdr_viz.pages.compare.comparison import Comparison
from supdr_viz.pages.compare.page import Compare
from supdr_viz.pages.explorer.page import Explorer
from supdr_viz.pages.lessons.page import Lessons
from supdr_viz.pages.service import Service
from supdr_viz.run.status import Phase
from tests.viz.hands import Hands
from tests.viz.hands import press as press_key

MOONS = Settings(
    data="moons", data_options={"n_samples": 80}, method="LSDR", method_options={"tol": -1.0, "max_iter": 5000}
)


@pytest.fixture
def hands(kernels):
    made = Hands()
    kernels(True)
    return made


@pytest.fixture
def service(hands):
    return Service(pool=hands.pool)


def press(page, key):
    press_key(page.bridge, key)


def draw(page, hands):
    """Let the page draw as often as there is something new, as its link would."""
    for _ in range(3):
        hands.rest()
        player = page.session.player
        page.link._draw(player.take_frame(), player.take_surface(), player.status)
        player.request_frame()


def test_the_explorer_says_how_its_run_stands(hands, service):
    page = Explorer(service, MOONS, [])
    draw(page, hands)
    assert page.bridge.status.startswith("ready, LSDR on ")
    assert "data=moons" in page.bridge.query
    press(page, "ArrowRight")
    draw(page, hands)
    assert page.bridge.status.startswith("paused, LSDR on ")
    assert "iteration 1, objective" in page.bridge.status
    assert "iteration <b>1</b>" in page.transport.bar.status.text
    page.controls.apply(MOONS.with_options(n_components=1))
    draw(page, hands)
    assert "iteration 0" in page.bridge.status


def test_the_explorer_says_that_an_earlier_iteration_is_looked_at(hands, service):
    page = Explorer(service, replace(MOONS, speed="fast"), [])
    draw(page, hands)
    press(page, " ")
    hands.until(lambda: page.session.player.iteration >= 10)
    press(page, " ")
    draw(page, hands)
    page.transport.bar.scrubber.value = 4
    draw(page, hands)
    bar = page.transport.bar
    assert "viewing 4" in bar.status.text
    assert bar.scrubber.value == 4
    bar.live.clicks += 1
    draw(page, hands)
    assert "paused" in bar.status.text
    assert bar.scrubber.value >= bar.scrubber.end == page.session.player.iteration


def test_what_cannot_be_shown_is_said_and_nothing_runs(service):
    page = Explorer(
        service, Settings(data="openml", data_options={"name": "ionosphere", "target": ""}, method="LSDR"), []
    )
    assert not page.transport.bar.enabled
    assert "waiting" in page.transport.bar.status.text
    press(page, " ")
    assert page.session.player.status.phase is Phase.empty
    page.controls.apply(MOONS)
    assert page.transport.bar.enabled


def test_a_table_reaches_the_run_of_the_page(service):
    page = Explorer(service, MOONS, [])
    table = page.session.dataset
    page.controls.data.menu.value = "file"
    page.controls.data._arrived("file", table, {"name": "mine.csv", "target": "", "task": "auto"})
    assert page.session.dataset is table
    assert page.session.settings.data == "file"
    assert "data.name=mine.csv" in page.bridge.query


LED = next(lesson for lesson in LESSONS.values() if any(step.question for step in lesson.steps))


def test_a_lesson_leads_its_explorer(service):
    page = Lessons(service, LED, 0, [])
    led = page.explorer
    assert led.bridge.query == f"lesson={LED.name}&step=1"
    assert led.session.settings == LED.steps[0].settings
    for index in range(1, len(LED.steps)):
        while page.index < index:  # the key gives the answer before it goes on
            press(led, "PageDown")
        assert led.bridge.query == f"lesson={LED.name}&step={index + 1}"
    press(led, "PageUp")
    assert page.index == len(LED.steps) - 2


def test_a_number_answers_the_question_of_a_lesson(service):
    index, step = next((index, step) for index, step in enumerate(LED.steps) if step.question)
    page = Lessons(service, LED, index, [])
    assert page.panel.asks
    press(page.explorer, "1")
    assert not page.panel.asks
    assert page.explorer.session.settings == (step.then or step.settings)


def test_a_link_from_a_lesson_leads_to_the_step_until_something_is_changed(service):
    page = Lessons(service, LED, 0, [])
    share = page.explorer.share
    share.share()
    (field,) = share.dialogs.select(lambda part: getattr(part, "label", "") == "Link")
    assert field.value.endswith(f"?lesson={LED.name}&step=1")
    changed = replace(page.step.settings, seed=7)
    page.explorer.controls.apply(changed)
    share.share()
    assert field.value.endswith(f"explorer?{to_query(changed)}")


def test_the_columns_of_a_comparison_are_played_together(hands, service):
    other = Settings(
        data=MOONS.data, data_options=MOONS.data_options, method="NSDR", method_options={"tol": -1.0, "max_iter": 5000}
    )
    page = Compare(service, Comparison((MOONS, other), "iteration"), [])
    hands.rest()
    press(page, "ArrowRight")
    hands.rest()
    assert [column.player.iteration for column in page.columns] == [1, 1]
    press(page, " ")
    hands.work(1.0)
    press(page, " ")
    hands.rest()
    first, second = (column.player.iteration for column in page.columns)
    assert first == second > 1
    press(page, "r")
    hands.rest()
    assert [column.player.iteration for column in page.columns] == [0, 0]
