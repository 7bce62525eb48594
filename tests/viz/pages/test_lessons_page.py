"""The lessons as a visitor uses them, without a browser."""

import itertools

import numpy as np
import pytest

from supdr_viz.experiment.settings import to_query
from supdr_viz.lessons import LESSONS, address
from supdr_viz.pages.cards import Cards
from tests.viz.visitor import Visitor

FIRST = LESSONS["1-why-supervise"]


def lesson(query=""):
    return Visitor(query, page="lessons")


def cards_of(visitor):
    return next(iter(visitor.page.select(Cards)))


def of_input(visitor, *path):
    return visitor.stage().get("planes", "input", *path)


def test_an_answer_plays_the_run_that_shows_it():
    with lesson(f"?{address(FIRST.name, 1)}") as visitor:
        assert visitor.sees(FIRST.steps[1].title)
        assert visitor.iteration == 0
        visitor.key("2").settle()  # a wrong one
        assert visitor.sees("The answer is 1. In some runs.")
        assert visitor.stands == ("paused", FIRST.steps[1].until)
        visitor.key("PageDown").settle()
        assert visitor.sees(FIRST.steps[2].title)
        assert address(FIRST.name, 2) in visitor.query
        visitor.key("PageUp").settle()
        assert visitor.sees(FIRST.steps[1].title)


def test_a_wrong_address_says_so():
    with lesson("?lesson=9-nothing") as visitor:
        assert visitor.sees("There is no lesson '9-nothing'")
        assert visitor.sees(FIRST.steps[0].title)


@pytest.mark.parametrize(
    "name", [FIRST.name, *(pytest.param(n, marks=pytest.mark.slow) for n in LESSONS if n != FIRST.name)]
)
def test_every_step_is_reached_by_a_key_and_runs(name):
    with lesson(f"?{address(name, 0)}") as visitor:
        for before, step in itertools.pairwise(LESSONS[name].steps):
            if before.question is not None:
                visitor.press("Show answer").settle()
            visitor.key("PageDown").settle()
            assert visitor.sees(step.title)
            assert visitor.iteration >= step.run or visitor.chip == "finished"  # some are done sooner


@pytest.mark.parametrize("number", [0, len(LESSONS) - 1])
def test_the_last_step_leads_to_the_next_lesson_and_the_last_lesson_nowhere(number):
    name, *following = list(LESSONS)[number : number + 2]
    last = LESSONS[name].steps[-1]
    with lesson(f"?{address(name, len(LESSONS[name].steps) - 1)}") as visitor:
        if last.question is not None:
            visitor.press("Show answer").settle()
        if following:
            visitor.press("Next lesson").settle()
            assert visitor.sees(LESSONS[following[0]].steps[0].title)
            assert address(following[0], 0) in visitor.query
        else:
            assert visitor.widget("Next").disabled


def test_a_step_shows_what_it_speaks_of_and_the_last_one_everything():
    with lesson() as visitor:
        cards = cards_of(visitor)
        assert cards.shown == list(FIRST.steps[0].look)
        visitor.key("PageDown").settle()
        assert cards.shown == list(FIRST.steps[1].look)
    with lesson(f"?{address(FIRST.name, len(FIRST.steps) - 1)}") as visitor:
        assert cards_of(visitor).shown == []


def test_a_step_about_the_data_alone_shows_nothing_that_a_method_makes_of_them():
    name, number = next(
        (name, k) for name, each in LESSONS.items() for k, step in enumerate(each.steps) if not step.is_run
    )
    with lesson(f"?{address(name, number)}") as visitor:
        assert of_input(visitor, "region") is None
        ringed = np.unpackbits(of_input(visitor, "ring", "rows")).sum()
        assert ringed == round(0.05 * len(visitor.places("input")))  # rows with a label: no errors
    with lesson() as visitor:
        assert of_input(visitor.settle(), "region") is not None


def test_a_step_about_where_rows_lie_draws_a_boundary_without_margins():
    """Explore draws them, of the same settings."""
    first = FIRST.steps[0]
    assert first.is_plain
    with lesson() as visitor:
        assert len(of_input(visitor.settle(), "boundary"))
        assert of_input(visitor, "margin") is None
        assert not visitor.sees(">margin<")
    with Visitor(f"?{to_query(first.settings)}") as visitor:
        visitor.press("Run").settle()
        assert len(of_input(visitor, "margin"))


@pytest.mark.parametrize("name", LESSONS)
def test_every_step_but_the_last_names_what_it_shows(name):
    *steps, last = LESSONS[name].steps
    assert last.free
    assert all(step.look for step in steps)
    for step in steps:
        if step.is_run:
            continue
        assert set(step.look) == {"input"}  # without a run there is nothing else to be seen


def test_a_step_that_goes_on_from_the_one_before_shows_the_picture_that_its_link_shows():
    name, number = next(
        (name, k)
        for name, each in LESSONS.items()
        for k, step in enumerate(each.steps)
        if not step.fresh and step.mode not in ("", each.steps[k - 1].mode)
    )
    with lesson(f"?{address(name, number - 1)}") as visitor:
        visitor.press("Show answer").settle()
        visitor.key("PageDown").settle()
        reached = visitor.widget("Picture").value
    with lesson(f"?{address(name, number)}") as visitor:
        assert visitor.settle().widget("Picture").value == reached


def test_the_free_end_offers_again_what_colours_could_mean():
    with lesson(f"?{address(FIRST.name, len(FIRST.steps) - 2)}") as visitor:
        visitor.press("Show answer").settle()
        visitor.key("PageDown").settle()
        assert {"label", "error"} < {*visitor.widget("Colour").offered}
