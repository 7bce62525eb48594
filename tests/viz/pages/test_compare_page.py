"""The compare page as a visitor uses it, without a browser."""

import re
from types import SimpleNamespace

import pytest

from supdr_viz.pages.compare.layout import how_it_stands
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from tests.viz.visitor import Visitor

TWO = "?data=moons&data.n_samples=100&method=LSDR&method.tol=0&b=NSDR&b.tol=0&b.C=5"


def compared(query=TWO):
    return Visitor(query, page="compare")


def iterations(visitor):
    """The iterations at which the columns stand, as they are read out."""
    return [int(found) for found in re.findall(r"iteration (\d+)", visitor.status)]


def test_an_example_fills_the_page_starts_afresh_and_is_left_by_the_first_change():
    with compared("") as visitor:
        first = COMPARISON_PRESETS.opening.note[:40]
        assert visitor.sees(first)
        visitor.press("Step").settle()
        assert visitor.iteration == 1
        visitor.choose("Example", "MAC, Fig. 6: λ = 0.1").settle()
        assert visitor.stands == ("ready", 0)
        assert not visitor.sees(first)
        for text in ("two steps", "three solvers minimise one objective"):
            assert visitor.sees(text)
        visitor.press("Remove").settle()
        assert not visitor.sees("three solvers minimise one objective")


def test_columns_run_to_their_ends_in_step():
    with compared(TWO.replace("tol=0", "tol=0&method.max_iter=6").replace("&b.tol", "&b.max_iter=6&b.tol")) as visitor:
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        assert iterations(visitor) == [6, 6]
        assert "test error" in visitor.status
        visitor.press("Reset").settle()
        visitor.press("Step").settle()
        assert iterations(visitor) == [1, 1]


@pytest.mark.parametrize(("calibrate", "said"), [("true", "placed without labels"), ("false", "placed using labels")])
def test_rows_are_placed_where_the_regions_decide_for_new_ones(calibrate, said):
    with compared(f"?data=moons&data.n_samples=100&method=NSDR&method.calibrate={calibrate}") as visitor:
        visitor.press("Step").settle()
        assert visitor.sees(said)
        assert visitor.sees("margin")
        assert re.search(r" 1 [\d.]+ % [\d.]+ % [\d.]+ ", visitor.text)  # one error of training rows, one of test rows


@pytest.mark.slow
def test_the_clock_may_count_time():
    with compared() as visitor:
        visitor.do(lambda: visitor.widget("Compare at the").param.update(value="same time"))
        assert "lockstep=time" in visitor.settle().query


def test_what_does_not_fit_says_so_in_its_column_only():
    with compared("?data=diabetes&method=SNF&b=NSDR&c=ElasticNet") as visitor:
        assert visitor.sees("NSDR needs classes, but this target is numeric")
        assert visitor.sees("cannot run")
        visitor.press("Step").settle()
        assert iterations(visitor)[0] == 1
        assert visitor.sees("Test R²")


def test_a_bad_address_is_said_and_survived():
    with compared(f"{TWO}&b.C=lots&c=<script>alert(1)</script>&lockstep=moon") as visitor:
        for said in (
            "Column B: Margin weight must be a number",
            "There is no method",
            "must be one of iteration, time",
        ):
            assert visitor.sees(said)
        visitor.press("Step").settle()
        assert set(iterations(visitor)) == {1}


@pytest.mark.slow
def test_data_that_are_not_at_hand_are_asked_for():
    with compared("?data=file&data.name=mine.csv&method=LDA&b=NSDR") as visitor:
        assert visitor.sees("mine.csv")
        assert visitor.widget("Run").disabled
        visitor.choose("Data set", "Iris").settle()
        assert not visitor.widget("Run").disabled
        assert visitor.sees("LDA")


def test_keys_act_on_all_columns():
    query = TWO.replace("method.tol=0", "method.max_iter=3&method.tol=0").replace("b.tol=0", "b.max_iter=3&b.tol=0")
    with compared(query) as visitor:
        visitor.key("ArrowRight").settle()
        assert iterations(visitor) == [1, 1]
        visitor.key(" ").settle()
        assert visitor.stands == ("finished", 3)
        visitor.key("r").settle()
        assert visitor.stands == ("ready", 0)


@pytest.mark.parametrize(
    ("state", "iteration", "said"),
    [
        ("iteration limit", 4_000, "test error <b>100.0 %</b> · iteration <b>4,000</b>"),
        ("converged", 400, "test error <b>100.0 %</b> · converged at <b>400</b>"),
        ("running", 4_000, "test error <b>100.0 %</b> · iteration <b>4,000</b>"),
        ("diverged", 4, "test error <b>100.0 %</b> · diverged at <b>4</b>"),
        ("preparing", None, "test error <b>100.0 %</b> · preparing"),
    ],
)
def test_where_a_column_stands_is_said_in_one_line(state, iteration, said):
    facts = SimpleNamespace(scores={"test": 100.0}, iteration=iteration, state=state)
    assert "stopped at <b>4,000</b>" in how_it_stands(facts, "classification", 5_000) or state != "iteration limit"
    assert how_it_stands(facts, "classification") == said
    assert len(re.sub("<.*?>", "", said)) <= 39  # at 1,280 pixels a column has no room for more
