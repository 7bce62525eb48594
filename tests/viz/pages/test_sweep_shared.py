"""A sweep goes on: as a link, as Python, with values in its cells, and as the run of one of them."""

import numpy as np
import pytest

from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.sensitivity.elements import MOST_SAID
from supdr_viz.pages.sensitivity.settings import Axis, SweepSettings, build_sweep
from supdr_viz.pages.sensitivity.snippet import sweep_python
from tests.viz.visitor import Visitor


def settings(**changes):
    base = Settings(data="moons", data_options={"n_samples": 60}, method="LSDR", method_options={"max_iter": 2})
    return SweepSettings(base, (Axis("reg_u", "log", 0.01, 1.0, 2),), folds=2, **changes)


@pytest.mark.parametrize("changes", [{}, {"repeats": 2}, {"metric": "trustworthiness"}])
def test_the_program_finds_what_the_page_finds(changes):
    swept = settings(**changes)
    dataset = build_dataset(swept.base)
    text = sweep_python(swept, dataset).replace("sweep.run(X, y)", 'sweep.run(X, y, "in-process")')
    names = {"__name__": "elsewhere"}
    exec(compile(text.replace('if __name__ == "__main__":', "if True:"), "sweep", "exec"), names)
    sweep, X, y = build_sweep(swept, dataset)
    means = sweep.result(sweep.run(X, y, "in-process")).means(swept.metric)
    np.testing.assert_allclose(names["result"].means(swept.metric), means)


def test_the_page_shares_its_link_and_its_program():
    query = "?data=moons&method=LSDR&sweep.x=reg_u:log:0.01:1:3&sweep.folds=2"
    with Visitor(query, page="sensitivity") as visitor:
        visitor.press("Share")
        assert "sweep.x=reg_u:log:0.01:1:3" in visitor.widget("Link").value
        visitor.press("Python")
        assert visitor.sees("sweep = Sweep(model, grid")


def test_cells_say_their_values_and_the_best_is_marked():
    query = "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=2&sweep.x=reg_u:log:0.01:1:3&sweep.folds=2"
    with Visitor(query, page="sensitivity") as visitor:
        visitor.press("Run").settle()
        values = visitor.model("sweep cells").data["zvalues"].tolist()
        said = visitor.model("sweep words").data["said"][: len(values)]
        assert len(values) == 3 <= MOST_SAID
        marked = [place for place, text in enumerate(said) if text.startswith("★")]
        assert [values[place] for place in marked] == [min(values)]
        for value, text in zip(values, said, strict=True):
            assert float(text.removeprefix("★ ")) == pytest.approx(value, rel=0.01, abs=1e-9)


def test_the_run_of_a_cell_says_where_it_comes_from():
    query = "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=3&cell=10&place=Ridge%20%3D%201%3Cb%3E"
    with Visitor(query) as visitor:
        assert visitor.sees("A cell of a sweep, Ridge = 1<b>.")
        assert visitor.sees("mean of 10 such fits")
        assert visitor.iteration == 3
