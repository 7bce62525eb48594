"""Rows on disk on the pages, without a browser: each runs them, or says of which rows it speaks."""

import dask
import numpy as np
import pytest

from tests.viz.visitor import Visitor

QUERY = "?data=rows&data.name=clouds&data.target=labels.npy&method=MAC&method.n_centers=20&method.early_stopping=false"


@pytest.fixture(autouse=True)
def rows(tmp_path, offer_rows):
    folder, rng = tmp_path / "clouds", np.random.default_rng(0)
    folder.mkdir()
    codes = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3, 4))[codes] * 1.5 + 0.6 * rng.normal(size=(3000, 4))
    np.save(folder / "rows.npy", X.astype(np.float32))
    np.save(folder / "labels.npy", codes.astype(float))
    np.save(folder / "prices.npy", X[:, 0] + 0.1 * rng.normal(size=3000))
    offer_rows(folder)
    with dask.config.set(scheduler="threads"):
        yield


@pytest.mark.slow
def test_the_explorer_trains_on_them():
    with Visitor(QUERY, page="explorer") as visitor:
        assert visitor.settle().stands == ("ready", 0)
        visitor.press("Step").settle()
        assert visitor.stands == ("paused", 1)
        assert "test error" in visitor.status


NUMBERS = QUERY.partition("&method=")[0].replace("labels", "prices") + "&method=SDRGLM"


@pytest.mark.slow
def test_the_explorer_learns_numbers_on_them():
    with Visitor(NUMBERS, page="explorer") as visitor:
        assert visitor.settle().stands == ("ready", 0)
        visitor.press("Step").settle()
        assert visitor.stands == ("paused", 1)
        assert "test MSE" in visitor.status


@pytest.mark.slow
def test_the_form_asks_for_numbers_and_begins_with_a_method_that_learns_them():
    with Visitor("?data=rows", page="explorer") as visitor:
        visitor.settle().choose("Target", "labels.npy").choose("Task", "regression").press("Use these rows").settle()
        assert visitor.sees("4 columns, numbers from 0 to 2.")
        assert "data.task=regression" in visitor.query
        visitor.press("Step").settle()
        assert "test MSE" in visitor.status


@pytest.mark.slow
def test_a_link_to_a_method_of_classes_says_who_learns_numbers():
    with Visitor(NUMBERS.replace("SDRGLM", "MAC"), page="explorer") as visitor:
        assert visitor.settle().sees("MAC predicts classes. Numbers of rows on disk are learnt by")


@pytest.mark.slow
@pytest.mark.parametrize(("query", "measure"), [(QUERY, "test error"), (NUMBERS, "test MSE")])
def test_methods_are_compared_on_them(query, measure):
    with Visitor(query + "&b=LSDR", page="compare") as visitor:
        visitor.settle().press("Step").settle()
        assert visitor.status.count("iteration 1") == 2
        assert visitor.status.count(measure) == 2


@pytest.mark.slow
def test_a_sweep_says_that_it_takes_the_sample():
    with Visitor(QUERY, page="sensitivity") as visitor:
        visitor.settle()
        assert visitor.sees("A sweep fits the sample of 2,000 rows, not all 3,000 that are on disk.")
