"""A sweep goes on: as a link, as Python, with values in its cells, and as the run of one of them."""

import re
from dataclasses import replace

import numpy as np
import panel_material_ui as pmui
import pytest

from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.sensitivity.elements import MOST_SAID, View
from supdr_viz.pages.sensitivity.html_file import sweep_page
from supdr_viz.pages.sensitivity.map_elements import maps_of
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
            assert text.endswith("\u00a0%")
            assert float(text.removeprefix("★ ").removesuffix("\u00a0%")) == pytest.approx(value, abs=0.051)


def test_the_run_of_a_cell_says_where_it_comes_from():
    query = "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=3&cell=10&place=Ridge%20%3D%201%3Cb%3E"
    with Visitor(query) as visitor:
        assert visitor.sees("A cell of a sweep, Ridge = 1<b>.")
        assert visitor.sees("mean of 10 such fits")
        assert visitor.iteration == 3


SWEPT = (
    "?data=iris&method=LSDR&method.max_iter=2&sweep.x=reg_u:log:0.01:1:3&sweep.y=beta:list:0.1,0.5&sweep.folds=2&seed=3"
)


def test_maps_of_all_cells_are_shown_and_sliders_walk_through_them():
    with Visitor(SWEPT, page="sensitivity") as visitor:
        visitor.press("Run").settle().press("Show maps")
        assert len(visitor.model("sweep map").data["x"]) == 150
        assert len(visitor.model("sweep small maps").data["x"]) == 6 * 150
        maps = visitor.model("sweep maps").data
        assert len(maps["x"][0]) == 6 * 150
        assert maps["there"][0].all()
        before = visitor.model("sweep place").data["number"]
        [across] = [each.label for each in visitor.page.select(pmui.IntSlider) if each.label.startswith("Ridge on lat")]
        visitor.slide(across, 2 if before[0] < 4 else 0)
        after = visitor.model("sweep place").data["number"]
        assert abs(after[0] - before[0]) >= 2
        assert visitor.sees("Run it in Explore")
        visitor.press("Show values")
        assert not list(visitor.session.document.select({"name": "sweep small maps"}))


def test_the_page_of_a_sweep_is_one_file_that_needs_no_network():
    swept = replace(settings(), axes=(Axis("reg_u", "log", 0.01, 1.0, 2), Axis("beta", "list", listed=(0.1, 0.5))))
    sweep, X, y = build_sweep(swept, build_dataset(swept.base), maps=True)
    result = sweep.result(sweep.run(X, y, "in-process"))
    links = dict.fromkeys(range(4), "explorer?data=moons")
    view = View(result, "error", "error", titles=["λ <", "β"], links=links, dark=True)
    text = sweep_page(view, maps_of(result, y), "http://localhost:5006/sensitivity", "<p>Best: 0.1</p>")
    for part in ("sweep maps", "sweep place", "sweep cells", "sweep curve 1", "importance", "Best: 0.1", "λ &lt;"):
        assert part in text
    assert "http://localhost:5006/explorer?data=moons" in text
    page = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.DOTALL)  # programs hold such words, too
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", page)
    assert "sweep maps" not in sweep_page(view, None, "", "")
