"""Sweeps of three parameters and more, of two methods on one grid, and searches by successive halving."""

import io
import re
from dataclasses import replace

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from bokeh.models import ColorBar, LinearColorMapper
from holoviews.streams import Pipe

from supdr.sensitivity import Cell, Importance, Outcome, Result
from supdr.sensitivity.axes import cell_of
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.sensitivity.elements import View, bars, curve
from supdr_viz.pages.sensitivity.files import from_toml
from supdr_viz.pages.sensitivity.form import with_axes
from supdr_viz.pages.sensitivity.layout import at_edge
from supdr_viz.pages.sensitivity.settings import Axis, SweepSettings, build_sweep, default_axis, goes_on, rival_of
from supdr_viz.pages.sensitivity.snippet import sweep_python
from tests.viz.visitor import Visitor

AXES = "&sweep.x=reg_u:log:0.01:1:3&sweep.y=reg_v:list:0.1,0.5"
BASE = f"?data=iris&method=LSDR&method.max_iter=2&sweep.folds=2&seed=3{AXES}"


def test_three_parameters_are_lines_over_parallel_axes():
    with Visitor(
        f"{BASE}&sweep.z=beta:list:0.1,0.5,0.9&sweep.design=sobol&sweep.cells=8", page="sensitivity"
    ) as visitor:
        assert visitor.sees("Run makes 16 fits for 8 cells")
        assert visitor.widget("Show maps").disabled
        visitor.press("Run").settle()
        assert "8 of 8 cells" in visitor.status
        lines = visitor.model("sweep cells").data
        assert [len(each) for each in lines["xs"]] == [4] * 8  # three parameters and the score
        assert min(map(min, lines["ys"])) == 0.0
        assert max(map(max, lines["ys"])) == 1.0
        assert visitor.sees("Estimated from a part of the cells")
        # The best cells in a row, with their maps; the large map begins at the best one and follows a line or a slider.
        means = np.array(visitor.model("best sweep cells").data["zvalues"])
        assert len(means) == 8
        assert (np.diff(means) >= 0).all()
        assert means[0] == min(lines["value"])
        assert visitor.model("best heatmap").x_range.end > 7  # all of them are in view
        mapper = visitor.model("heatmap").select_one(ColorBar).color_mapper
        assert visitor.model("best heatmap").select_one(ColorBar) is None
        scales = [
            (each.palette, each.low, each.high)
            for each in visitor.model("best heatmap").select(LinearColorMapper)
            if each.high == mapper.high
        ]
        assert scales
        assert all(each == (mapper.palette, mapper.low, mapper.high) for each in scales)
        assert sorted(lines["rank"]) == list(range(8))
        assert lines["value"][list(lines["rank"]).index(0)] == means[0]
        assert visitor.model("sweep place").data["number"] == [0]
        assert visitor.model("sweep maps").data["there"][0].tolist() == [1] * 8
        visitor.do(lambda: setattr(visitor.model("sweep place"), "data", {"number": [7]}))
        assert visitor.sees(f"error {means[7]:.1f}")


def test_limits_of_curves_follow_the_cells():
    settings, _rest = from_toml(SMALL)
    sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    cells = list(sweep.run(X, y, "in-process"))
    view = View(sweep.result(cells[:1]), titles=["a", "b"], percent=True)
    pipe = Pipe(data=view)
    drawn = hv.renderer("bokeh").get_plot(hv.DynamicMap(lambda data: curve(data, 0), streams=[pipe]))
    pipe.send(replace(view, result=sweep.result(cells)))
    scores = drawn.state.select_one({"name": "sweep curve 0"}).data["score"]
    assert drawn.state.y_range.start <= min(scores) < max(scores) <= drawn.state.y_range.end


def test_bars_say_their_shares_and_end_at_a_round_one_above_the_longest_line():
    """One chart follows shares as they change."""
    settings, _rest = from_toml(SMALL)
    sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    cells = list(sweep.run(X, y, "in-process"))
    view = View(sweep.result(cells[:2]), titles=["a", "b"], percent=True)
    shares = [
        {("x",): 0.28, ("y",): 0.16, ("x", "y"): 0.07},
        {("x",): 0.02, ("y",): 0.30, ("x", "y"): 0.30},
        {("x",): 0.98, ("y",): 0.00, ("x", "y"): 0.00},
    ]
    spreads = {("x",): 0.24, ("y",): 0.05}
    pipe = Pipe(data=view)
    drawn = hv.renderer("bokeh").get_plot(hv.DynamicMap(bars, streams={"view": pipe.param.data}))
    ends = []
    for effects in shares:
        told = Importance(effects, 1.0 - sum(effects.values()), spreads, True)
        following = replace(view, result=Result({"x": [1, 2], "y": [1, 2]}, ["error"]))
        following.__dict__["importance"] = told
        pipe.send(following)
        axis, longest = drawn.state.xaxis[0], min(max(effects["x",] + 0.24, effects["y",] + 0.05, told.folds), 1.0)
        ends.append(max(axis.ticker.ticks))
        assert longest <= ends[-1] <= drawn.state.x_range.end
        assert f"a\u2002{100 * effects['x',]:.0f}\u00a0%" in drawn.state.yaxis[0].major_label_overrides.values()
    assert ends == pytest.approx([0.6, 0.4, 1.0])


def anywhere(_name, _direction):
    return True


@pytest.mark.parametrize(
    ("grid", "means", "metric", "said"),
    [
        ({"a": [1.0, 2.0, 3.0]}, [3, 2, 1], "error", "larger values of ridge may be better"),
        ({"a": [1.0, 2.0, 3.0]}, [3, 2, 1], "accuracy", "smaller values of ridge may be better"),
        ({"a": [3.0, 2.0, 1.0]}, [3, 2, 1], "error", "smaller values of ridge may be better"),
        ({"a": [1.0, 2.0, 3.0]}, [3, 1, 2], "error", ""),
        ({"a": [1.0, 2.0, 3.0]}, [1, 1, 2], "error", ""),  # the neighbour is as good
        ({"a": [1.0, 2.0, 3.0]}, [2, 1, None], "error", ""),  # not all cells are known
        ({"a": ["linear", "poly"]}, [1, 2], "error", ""),
        ({"a": [None, 2]}, [1, 2], "error", ""),
        ({"a": [1.0]}, [1], "error", ""),
        ({"a": [1.0, 2.0], "b": [5, 6, 7]}, [3, 2, 3, 3, 1, 3], "error", "larger values of ridge may be better"),
        (
            {"a": [1.0, 2.0], "b": [5, 6]},
            [3, 3, 1, 3],
            "error",
            "larger values of ridge and smaller values of C may be better",
        ),
    ],
)
def test_a_best_cell_at_an_edge_is_said_where_the_grid_could_go_on(grid, means, metric, said):
    cells = [
        Cell(k, cell_of(grid, k), (Outcome(k, 0, 0, {metric: float(mean)}),))
        for k, mean in enumerate(means)
        if mean is not None
    ]
    view = View(Result(grid, [metric], cells), metric, metric, titles=["Ridge", "C"], n_cells=len(means))
    assert " ".join(at_edge(view, anywhere)).endswith(f"{said}." if said else "")
    assert bool(at_edge(view, anywhere)) == bool(said)
    assert at_edge(view, lambda _name, _direction: False) == []
    assert bool(at_edge(view, lambda _name, direction: direction < 0)) == ("smaller" in said)


@pytest.mark.parametrize(
    ("axis", "direction", "there_is_more"),
    [
        (Axis("reg_u", "log", 1e-6, 10.0, 4), 1, True),
        (Axis("reg_u", "log", 1e-6, 10.0, 4), -1, True),
        (Axis("reg_u", "list", listed=(0.0, 1.0)), -1, False),  # no ridge is below 0
        (Axis("n_components", "list", listed=(1, 2)), -1, False),
        (Axis("n_components", "list", listed=(1, 2)), 1, True),
        (Axis("n_components", "list", listed=(2, 4)), 1, False),  # as many as columns
    ],
)
def test_a_grid_goes_on_up_to_the_limits_of_its_parameters(axis, direction, there_is_more):
    settings = SweepSettings(Settings(data="iris", method="LSDR"), (axis,))
    assert goes_on(settings, (150, 4), axis.name, direction) is there_is_more


def test_the_page_says_that_its_best_cell_lies_at_the_edge():
    with Visitor("", page="sensitivity") as visitor:
        assert visitor.sees(
            "The best cell lies at the edge of the grid: larger values of ridge on loadings may be better."
        )
        visitor.choose("Example", "SDR-GLM: error over λ, wide data")  # the error is the same for all small weights
        assert visitor.sees("Best error")
        assert not visitor.sees("at the edge of the grid")


def test_a_third_parameter_is_chosen_on_the_page():
    with Visitor(BASE, page="sensitivity") as visitor:
        visitor.open_fold("More parameters")
        offered = visitor.widget("Parameter 3").options
        visitor.choose("Parameter 3", next(text for text in offered if offered[text] == "beta"))
        assert "sweep.design=sobol" in visitor.query
        assert "sweep.z=beta:" in visitor.query


def test_axes_are_of_distinct_parameters():
    settings = SweepSettings(Settings(data="moons", method="LSDR"), (Axis("beta", "linear", 0.1, 1, 3), Axis("reg_u")))
    changed = default_axis("LSDR", "reg_u")
    after = with_axes(settings, [changed, settings.axes[1]], changed)
    assert after.axes[0] == changed
    assert len({axis.name for axis in after.axes}) == 2
    third = with_axes(settings, [*settings.axes, default_axis("LSDR", "reg_v")], default_axis("LSDR", "reg_v"))
    assert third.design == "sobol"
    assert with_axes(third, settings.axes, None).design == "grid"


SMALL = """
folds = 2
[data]
name = "iris"
[method]
name = "LSDR"
max_iter = 3
[grid]
reg_u = [0.01, 0.1, 1.0, 10.0]
reg_v = [0.1, 0.5]
"""


def test_a_design_is_in_files_and_programs():
    text = """
design = "random"
cells = 5
folds = 2
[data]
name = "moons"
n_samples = 60
[method]
name = "LSDR"
max_iter = 2
[grid]
reg_u = [0.1, 1.0]
reg_v = [0.1, 1.0]
beta = [0.1, 0.5, 0.9]
"""
    settings, _rest = from_toml(text)
    assert settings.n_cells == 5
    dataset = build_dataset(settings.base)
    sweep, *_rows = build_sweep(settings, dataset)
    assert len(sweep.cells) == 5
    program = sweep_python(settings, dataset)
    assert "design='random', n_cells=5" in program.replace('"', "'")
    with pytest.raises(ValueError, match="1 to 6 parameters"):
        from_toml(text + "".join(f"p{number} = [1]\n" for number in range(4)))


def test_two_methods_are_swept_over_one_grid():
    with Visitor(f"{BASE}&sweep.versus=NSDR", page="sensitivity") as visitor:
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        own, other, apart = (
            np.array(visitor.model(f"{name}sweep cells").data["zvalues"]) for name in ("", "rival ", "difference ")
        )
        assert np.isfinite(other).all()
        np.testing.assert_allclose(apart, own - other)
        assert visitor.sees("LSDR − NSDR")
        files = []
        visitor.bridge.download = lambda *file: files.append(file[1])  # a browser would write it
        visitor.press("CSV").press("HTML")
        counts = pd.read_csv(io.StringIO(files[0]))["method"].value_counts()
        assert counts["LSDR"] == counts["NSDR"] == own.size
        assert re.search(r"LSDR \\+u2212 NSDR", files[1])
        visitor.open_fold("Folds, repetitions, starts")
        visitor.choose("Compare with", "no other method")
        assert "versus" not in visitor.query


def test_the_other_method_has_its_own_options_and_as_many_dimensions():
    base = Settings(data="iris", method="LSDR", method_options={"n_components": 3, "max_iter": 2})
    rival = rival_of(SweepSettings(base, (Axis("reg_u"),), versus="NSDR"))
    assert (rival.base.method, rival.versus) == ("NSDR", "")
    assert rival.base.method_options["n_components"] == 3
    assert rival.base.method_options["max_iter"] == Settings(method="NSDR").method_options["max_iter"]


def test_a_method_without_the_parameters_is_refused_by_name():
    with Visitor(f"{BASE}&sweep.versus=LDA", page="sensitivity") as visitor:
        assert visitor.sees("no parameter 'reg_u'")
        assert visitor.widget("Run").disabled


def test_a_search_by_halving_says_what_it_has_tried():
    with Visitor(BASE, page="sensitivity") as visitor:
        visitor.press("Find the best cell").settle()
        assert visitor.sees("Successive halving: error")
        assert visitor.sees("It tried 6 cells on")
        assert visitor.sees("2 cells on")
