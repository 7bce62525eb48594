"""Sweeps of the page and of the command line: settings, files, presets, and the command itself."""

import csv
import itertools
import re
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs

import holoviews as hv
import numpy as np
import pytest
from bokeh.models import ColorBar
from holoviews.streams import Pipe

from supdr.sensitivity import Result, Sweep
from supdr_viz.cli import main
from supdr_viz.data.number_format import mean_text
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, parse_query, to_query
from supdr_viz.pages.sensitivity.elements import View, bars, cell_text, curve, difference, heatmap, packed_links
from supdr_viz.pages.sensitivity.files import from_toml
from supdr_viz.pages.sensitivity.numbers import in_per_cent, place_of, tick_texts, ticks
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.runner import Phase, SweepRunner
from supdr_viz.pages.sensitivity.settings import (
    Axis,
    SweepSettings,
    build_sweep,
    default_axis,
    parse_sweep_query,
    sweep_query,
    sweepable,
    usual_axes,
    within_rows,
)
from supdr_viz.pages.service import Sweeps

CONFIG = """
metric = "accuracy"
folds = 2
seed = 3
out = "result.csv"
[data]
name = "moons"
n_samples = 60
[method]
name = "LSDR"
max_iter = 3
[grid]
beta = [0.1, 0.5]
reg_u = {low = 0.01, high = 1, count = 3}
"""


@pytest.mark.parametrize("name", SWEEP_PRESETS)
def test_presets_survive_a_link_and_can_be_run(name):
    preset = SWEEP_PRESETS[name]
    back, problems = parse_sweep_query(parse_qs(sweep_query(preset.settings)))
    assert back == preset.settings
    assert not problems
    assert preset.note.endswith((".", "?"))
    if preset.needs is None:
        sweep, X, y = build_sweep(preset.settings, build_dataset(preset.settings.base))
        assert len(sweep.cells) * preset.settings.folds * preset.settings.repeats == preset.settings.n_fits
        assert len(X) == len(y)


@pytest.mark.parametrize("method", MENU)
def test_every_knob_has_a_range_that_its_method_accepts(method):
    for spec in sweepable(method):
        values = default_axis(method, spec.name).values(whole=spec.kind == "int")
        assert values
        for value in values:
            assert spec.clean(value)[1] == ""
    assert set(usual_axes(method)) <= {spec.name for spec in sweepable(method)}


def test_a_usual_range_of_basis_functions_ends_at_the_rows_of_a_fit():
    usual, _ = parse_sweep_query(parse_qs("data=iris&method=MAC&sweep.folds=5"))
    fitted = within_rows(usual, 150)
    assert fitted.grid["n_centers"][-1] == 120
    assert fitted.axes[1:] == usual.axes[1:]
    held_out, _ = parse_sweep_query(parse_qs("data=iris&method=MAC&sweep.folds=1&test=0.3"))
    assert within_rows(held_out, 150).grid["n_centers"][-1] == 105
    typed, _ = parse_sweep_query(parse_qs("data=iris&method=MAC&sweep.x=n_centers:log:5:300:4"))
    for kept, n_samples in ((typed, 150), (usual, 5), (usual, 10**6)):
        assert within_rows(kept, n_samples) == kept


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("method=NSDR&sweep.x=wings:log:1:2:3", "NSDR has no parameter 'wings' to sweep"),
        ("method=NSDR&sweep.x=C:log:0:2:3", "above 0"),
        ("method=NSDR&sweep.x=C:log:3:2:3", "below the upper end"),
        ("method=NSDR&sweep.x=C:log:1:2:999", "values are allowed"),
        ("method=NSDR&sweep.x=C:log:1:x:3", "needs a lower end"),
        ("method=NSDR&sweep.x=C:list:", "list some values"),
        ("method=NSDR&sweep.x=C:log:1:2:3&sweep.y=C:log:1:2:3", "Two axes are C"),
        ("method=NSDR&sweep.folds=many", "Folds"),
        ("method=NSDR&sweep.metric=glory", "must be one of"),
    ],
)
def test_a_bad_link_is_explained_and_gives_something_usable(query, said):
    settings, problems = parse_sweep_query(parse_qs("data=moons&test=0.3&labels=1&seed=0&" + query))
    assert any(said in problem for problem in problems), problems
    build_sweep(settings, build_dataset(settings.base))


def test_a_cell_leads_to_the_same_settings_in_the_explorer():
    settings = SWEEP_PRESETS["ridges-cancer"].settings
    one, problems = parse_query(parse_qs(to_query(settings.at({"reg_u": 0.01, "reg_v": 1.0}))))
    assert not problems
    assert one.method_options["reg_u"] == 0.01
    assert one.test_share == 0.2
    estimator = build_estimator(one)
    assert (estimator.reg_u, estimator.reg_v, estimator.n_components) == (0.01, 1.0, 5)


def test_unusable_combinations_are_said():
    moons = SweepSettings(Settings(data="moons", method="LSDR", test_share=0.0), (Axis("beta", "linear", 0.1, 1, 3),))
    with pytest.raises(ValueError, match="test share"):
        build_sweep(SweepSettings(moons.base, moons.axes, folds=1), build_dataset(moons.base))
    with pytest.raises(ValueError, match="not for classification"):
        build_sweep(SweepSettings(moons.base, moons.axes, metric="mse"), build_dataset(moons.base))
    axes = (Axis("beta", "linear", 0.1, 1, 60), Axis("reg_u", "log", 0.1, 1, 60))
    with pytest.raises(ValueError, match="fits"):
        build_sweep(SweepSettings(moons.base, axes, repeats=20), build_dataset(moons.base))


def test_places_on_an_axis():
    assert place_of([1, 10, 100], 10) == 1
    assert place_of([1, 10, 100], 10**0.5) == pytest.approx(0.5)
    assert place_of([1, 10, 100], 1000) is None
    assert place_of(["a", "b"], "b") == 1
    assert place_of(["a", "b"], None) is None
    assert place_of([None, 3], None) == 0


def column(element, kind, name):
    """A column of the part of an overlay that is of one kind."""
    return next(part for part in element if isinstance(part, kind)).dimension_values(name)


def test_charts_take_cells_in_any_order_and_failed_ones():
    """One chart follows all, from the empty grid to a sweep of another shape."""
    sweep, X, y = build_sweep(from_toml(CONFIG)[0], build_dataset(from_toml(CONFIG)[0].base))
    cells = list(sweep.run(X, y, "in-process"))
    view = View(sweep.result(), "accuracy", "accuracy", ["β", "λ"], [""] * 6)
    charts = {chart: Pipe(data=view) for chart in (heatmap, partial(curve, axis=0), partial(curve, axis=1), bars)}
    drawn = [
        hv.renderer("bokeh").get_plot(hv.DynamicMap(lambda data, draw=draw: draw(data), streams=[pipe]))
        for draw, pipe in charts.items()
    ]
    tickers = set()
    broken = Sweep(sweep.estimator, {"beta": [-1.0, 0.5]}, cv=2)
    failed = View(broken.result(broken.run(X, y, "in-process")), "error", "error", ["β"], ["", ""], dark=True)
    for following in [*(replace(view, result=sweep.result(cells[:count])) for count in range(1, 7)), failed]:
        for pipe in charts.values():
            pipe.send(following)
        ticker = drawn[0].state.select_one({"type": ColorBar}).ticker
        tickers.add(ticker.id)
        assert (ticker.ticks[0], ticker.ticks[-1]) == following.limits
    assert len(tickers) == 1  # one of another time would not be drawn
    shown = drawn[0].state.select_one({"name": "sweep cells"}).data
    assert np.isnan(shown["zvalues"]).tolist() == [True, False]
    assert "failed:" in shown["text"][0]
    assert drawn[0].state.x_range.end == 1.5
    view = replace(view, result=sweep.result(cells))
    np.testing.assert_array_equal(column(heatmap(view), hv.HeatMap, "value"), view.means.ravel())
    np.testing.assert_allclose(column(curve(view, 0), hv.Spread, "score"), view.means.mean(axis=1))
    np.testing.assert_allclose(column(curve(view, 1), hv.Scatter, "best"), view.means.max(axis=0))
    shares = column(bars(view), hv.Bars, "share")
    assert sum(shares) == pytest.approx(1.0)


def test_the_importance_is_told_from_a_coarse_part_of_a_grid_but_not_of_a_design():
    settings = from_toml(CONFIG)[0]
    sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    cells = list(sweep.run(X, y, "in-process"))
    grid = {name: [*values, *(10.0 + k for k in range(5 - len(values)))] for name, values in sweep.grid.items()}
    places = list(itertools.product(range(5), repeat=2))
    whole = [replace(cells[k % len(cells)], number=k) for k in range(25)]
    view = View(Result(grid, ["accuracy"], whole), "accuracy", "accuracy", titles=["β", "λ"], n_cells=25)
    coarse = [cell for cell, place in zip(whole, places) if not {1, 3} & set(place)]
    some = replace(view, result=Result(grid, ["accuracy"], coarse))
    assert len(some.weighed.cells) == 9
    assert some.importance.exact
    assert sum(column(bars(some), hv.Bars, "share")) == pytest.approx(1.0)
    assert replace(view, result=Result(grid, ["accuracy"], coarse[1:])).importance is None
    assert replace(some, n_cells=12).importance is None  # of a design
    assert view.weighed is view.result


@pytest.mark.parametrize(
    "links",
    [
        ["", "explorer?a=1&b=2", "explorer?a=1&b=3", "explorer?a=1&b=2"],
        ["explorer?a=1", "explorer?a=1&b=2:3&c=4%20d%2C", ""],
        [],
    ],
)
def test_links_of_cells_are_what_they_were_packed_from(links):
    first = []

    def unpacked(text):
        count, *changes = text.split(" ")
        pieces = [*first[: int(count)], *[""] * (int(count) - len(first))]
        for change in changes:
            place, _, piece = change.partition(":")
            pieces[int(place)] = piece
        return pieces

    packed = packed_links(links)
    first = next((unpacked(text) for text in packed if ":" in text), [])
    assert ["".join(unpacked(text)) if text else "" for text in packed] == links


@pytest.mark.parametrize(
    ("metric", "task", "percent"),
    [
        ("error", "classification", True),
        ("accuracy", "classification", True),
        ("knn_error", "classification", True),
        ("knn_error", "regression", False),  # in units of the variance
        ("stability", "regression", True),
        ("trustworthiness", "classification", False),
        ("mse", "regression", False),
    ],
)
def test_shares_are_in_per_cent(metric, task, percent):
    assert in_per_cent(metric, task) is percent


def test_per_cents_stand_wherever_a_share_is_shown():
    """In the cells, in what the pointer shows, beside axes, in differences; a cell's own number stays a share."""
    sweep, X, y = build_sweep(from_toml(CONFIG)[0], build_dataset(from_toml(CONFIG)[0].base))
    result = sweep.result(sweep.run(X, y, "in-process"))
    share = View(result, "accuracy", "accuracy", titles=["β", "λ"])
    view = replace(share, percent=True)
    np.testing.assert_allclose(view.means, 100.0 * share.means)
    for number, cell in result.cells.items():
        said = f"{100.0 * cell.mean('accuracy'):.1f} ± {100.0 * cell.deviation('accuracy'):.1f}\u00a0%"
        assert view.score_of(cell) == said
        assert said in cell_text(view, number)
        assert "β = " in cell_text(view, number)  # as beside the axis
    assert all(text.endswith("\u00a0%") for text in column(heatmap(view), hv.Labels, "said"))
    assert hv.render(curve(view, 0), backend="bokeh").yaxis[0].formatter.format == "%.3g %%"
    apart = column(difference(replace(view, rival=view)), hv.HeatMap, "text")
    assert all("<b>+0.0</b> points" in text for text in apart)


def test_a_runner_that_fails_says_why(tmp_path):
    (tmp_path / "s.sqlite").write_text("no store " * 200)
    settings = from_toml(CONFIG)[0]
    sweep, X, y = build_sweep(settings, build_dataset(settings.base), tmp_path / "s.sqlite")
    runner = SweepRunner(Sweeps())
    runner.start(sweep, X, y, "in-process")
    runner.wait(30)
    assert runner.phase is Phase.failed
    assert "damaged or not a store" in runner.message


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_computes_what_a_plain_sweep_does(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(CONFIG)
    assert main(["sweep", "config.toml", "--workers", "1"]) == 0
    assert "best accuracy" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "result.csv").read_text().splitlines()))
    settings = from_toml(CONFIG)[0]
    sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    expected = sweep.result(sweep.run(X, y, "in-process"))
    assert [float(row["accuracy"]) for row in rows] == expected.means().ravel().tolist()
    assert (tmp_path / "config.sqlite").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[grid]", "[grids]"), "unknown entry 'grids'"),
        (('[method]\nname = "LSDR"\nmax_iter = 3\n', ""), "the table [method] is missing"),
        (('"moons"', '"suns"'), "There is no data set 'suns'"),
        (("beta =", "alpha ="), "no parameter 'alpha'"),
        (("count = 3", "number = 3"), "must be a list of values or a table"),
        (("count = 3", "count = 0"), "values are allowed"),
        (("folds = 2", 'folds = "all"'), "Folds must be a number"),
        (("metric", "metric ="), "This is not TOML"),
    ],
)
def test_a_wrong_file_is_explained(change, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        from_toml(CONFIG.replace(*change, 1))


def test_problems_of_the_command_are_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(CONFIG.replace('name = "moons"\nn_samples = 60', 'file = "nothing.csv"'))
    for options, status in ((["absent.toml"], 2), (["config.toml"], 1), (["config.toml", "--workers", "0"], 1)):
        assert main(["sweep", *options]) == status
        said = capsys.readouterr().err
        assert said.startswith("supdr-viz sweep: ")
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("count", [4, 9, 25])
def test_labels_of_an_axis_have_room(narrow, count):
    across = ticks(np.geomspace(1e-4, 10.0, count).tolist(), "narrow" if narrow else "heatmap")
    # In a window of 390 pixels the map is 214 wide, in one of 1,280 pixels 470; a letter is 6.3 wide.
    cell = (214 if narrow else 470) / count
    for (left, first), (right, second) in itertools.pairwise(across):
        assert (right - left) * cell >= 6.3 * (len(first) + len(second)) / 2 + 8
    assert len(across) >= min(count, 3)
    assert [across[0][0], across[-1][0]] == [0, count - 1]
    assert min(count, 5) <= len(ticks(list(range(count)))) <= 10


def test_an_axis_has_one_notation_and_labels_at_both_ends():
    assert tick_texts([1e-4, 1e-2, 0.1, 1.0, 10.0]) == ["10⁻⁴", "10⁻²", "10⁻¹", "1", "10"]
    assert tick_texts([0.01, 0.1, 0.5]) == ["0.01", "0.1", "0.5"]
    first, *_, last = ticks(np.geomspace(1e-6, 10.0, 8).tolist(), "curve")
    assert (first, last) == ((0, "10⁻⁶"), (7, "10"))


@pytest.mark.parametrize(
    ("mean", "deviation", "words"),
    [
        (0.1, 0.1094, "0.10 ± 0.11"),
        (0.03689, 0.02004, "0.037 ± 0.020"),
        (0.5, 0.0995, "0.50 ± 0.10"),
        (1234.56, 87.1, "1235 ± 87"),
        (0.25, 0.0, "0.25 ± 0"),
        (0.12345, np.nan, "0.1235"),
    ],
)
def test_a_mean_ends_where_its_deviation_ends(mean, deviation, words):
    assert mean_text(mean, deviation) == words
    number, _, spread = words.partition(" ± ")
    if spread.strip("0"):
        assert len(number.partition(".")[2]) == len(spread.partition(".")[2])
