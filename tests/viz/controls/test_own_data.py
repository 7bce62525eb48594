"""A table of one's own: within reach of a button, and no method is exchanged without a word."""

import numpy as np
import pytest

from supdr.datasets import preview
from supdr_viz.data.sample_tables import SAMPLES
from tests.viz.visitor import Visitor

NUMBERS = "\n".join(["a,b,size", *(f"{k},{k % 7},{k * 1.37 + 0.01}" for k in range(60))])


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_can_be_looked_at_and_read(name):
    look = preview(SAMPLES[name].csv().encode(), name)
    assert look.target == "target"
    dataset = look.read(target="target", task=look.task_of("target"))
    original = SAMPLES[name].load()
    assert dataset.X.shape == original.X.shape
    assert dataset.task == original.task
    assert np.isnan(dataset.X).any() == (SAMPLES[name].gaps > 0)


@pytest.mark.parametrize("page", ["explorer", "compare", "sensitivity"])
def test_a_button_leads_to_the_dialog_and_a_sample_to_a_run(page):
    with Visitor("?data=moons&method=NSDR", page) as visitor:
        visitor.press("Open a file …").press("Iris: three species").settle()
        assert visitor.sees("150 rows, 5 columns")
        visitor.press("Use this file").settle()
        assert visitor.sees("In use: iris.csv.")
        assert "data=file&data.name=iris.csv" in visitor.query


def test_a_file_that_is_dropped_on_the_page_opens_the_dialog():
    with Visitor() as visitor:
        assert visitor.bridge.drops
        visitor.do(lambda: visitor.send({"kind": "dropped"}))
        visitor.upload("numbers.csv", NUMBERS)
        assert visitor.sees("60 rows, 3 columns")


def test_an_exchange_of_the_method_is_said_with_the_way_back():
    with Visitor("?data=moons&method=LDA") as visitor:
        visitor.press("Open a file …").upload("numbers.csv", NUMBERS)
        visitor.choose("Target", "size").choose("Task", "regression").press("Use this file").settle()
        assert "method=LDA" not in visitor.query
        assert visitor.sees("LDA predicts classes")
        visitor.press("Back to LDA on Two moons").settle()
        assert "data=moons" in visitor.query
        assert "method=LDA" in visitor.query
        assert not visitor.sees("LDA predicts classes:")


def test_a_file_need_not_be_sent_again_to_another_page():
    """A link that speaks of it uses it at once; else one press in the dialog does."""
    with Visitor("?data=moons&method=LSDR", name="anna") as first:
        first.press("Open a file …").upload("numbers.csv", NUMBERS)
        first.choose("Target", "size").press("Use this file").settle()
        query = f"?{first.query.lstrip('?')}"
        with Visitor(query, "compare", name="anna") as linked:
            assert linked.sees("In use: numbers.csv.")
            assert "data.name=numbers.csv" in linked.query
        with Visitor(page="sensitivity", name="anna") as asked:
            asked.press("Open a file …").press("numbers.csv").settle()
            assert asked.sees("60 rows, 3 columns")
        with Visitor(query, "compare", name="berta") as stranger:
            assert stranger.sees('These settings use the file numbers.csv: press "Open a file …".')
