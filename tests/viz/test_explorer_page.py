"""The explorer as a visitor uses it, without a browser: what acts on the run, and what the page says."""

import gc

import numpy as np

from supdr_viz.run.session import Session
from tests.viz.visitor import Visitor

SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.tol=0&speed=fast"
SGD = "?data=spirals&data.n_per_class=60&method=LSDR&method.solver=sgd&method.max_iter=500&speed=fast"


def steps(visitor, number):
    for _ in range(number):
        visitor.press("Step")
    return visitor.settle()


# --- the run ----------------------------------------------------------------------------------------------------------


def test_a_run_ends_at_its_last_step_and_goes_on_when_asked():
    with Visitor("?data=iris&method=LSDR&method.max_iter=8&method.tol=0&speed=fast") as visitor:
        for end in (8, 16):
            visitor.press("Run").settle()
            assert visitor.stands == ("finished", end)
            assert f"iteration {end}," in visitor.status


def test_speed_is_part_of_the_address():
    with Visitor("?data=iris&method=LSDR") as visitor:
        visitor.do(lambda: visitor.widget("", options=["slow", "normal", "fast"]).param.update(value="slow"))
        assert "speed=slow" in visitor.settle().query


def test_a_run_that_diverges_says_so_and_can_be_mended():
    with Visitor(SGD + "&method.lr_reconstruction=1&method.beta=0.9") as visitor:
        visitor.press("Run").settle()
        assert visitor.chip == "diverged"
        assert visitor.sees("Try a smaller learning rate")
        assert "diverged" in visitor.status
        assert visitor.iteration is not None  # the numbers are those of what is shown
        assert "nan" not in visitor.numbers.lower()
        assert np.isfinite(visitor.column("latent points", "x")).all()
        visitor.choose("Solver", "block descent").settle()
        assert visitor.chip in ("paused", "ready")
        visitor.press("Reset").settle()
        assert visitor.stands == ("ready", 0)
        assert steps(visitor, 2).iteration == 2


def test_a_run_that_fails_says_so_and_the_page_survives():
    rows = [f"{k / 40},{(k * 7 % 40) / 40},{'ab'[k % 2]}" for k in range(40)]
    rows[3] = ",0.5,b"
    with Visitor(SMALL) as visitor:
        visitor.choose("Data set", "A file …").upload("gap.csv", "\n".join(["x,y,class", *rows]))
        assert visitor.sees("gap.csv: 40 rows")
        visitor.press("Use this file").settle()
        assert "data=file" in visitor.query
        visitor.choose("Method", "k nearest neighbours").settle()  # which needs every cell
        assert visitor.chip == "failed"
        assert visitor.sees("The run failed")
        assert "missing" in visitor.status.lower() or "nan" in visitor.status.lower()
        visitor.choose("Method", "LSDR").settle()
        assert visitor.stands == ("ready", 0)
        assert not visitor.sees("The run failed")


def test_a_closed_page_leaves_no_session_behind():
    def sessions():
        gc.collect()
        return [each for each in gc.get_objects() if isinstance(each, Session)]

    before = len(sessions())
    with Visitor(SMALL) as visitor:
        steps(visitor, 1)
        assert len(sessions()) == before + 1
    del visitor
    assert len(sessions()) == before
