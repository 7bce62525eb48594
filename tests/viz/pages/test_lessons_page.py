"""The lessons as a visitor uses them, without a browser."""

import itertools

import pytest

from supdr_viz.lessons import LESSONS, address
from tests.viz.visitor import Visitor

FIRST = LESSONS["1-why-supervise"]


def lesson(query=""):
    return Visitor(query, page="lessons")


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
