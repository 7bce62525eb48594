"""Data far from zero: the page, the program that it writes and the library say the same, and nothing falls together."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import ImageDraw

from supdr import METHODS
from supdr.datasets import Dataset, read_file
from supdr_viz.data.number_format import numeral
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.snippet import to_python
from supdr_viz.export.picture import axis_base, framed
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.run.session import Session
from supdr_viz.views.board import Squares
from supdr_viz.views.plane import class_legend
from supdr_viz.views.stage.wire import decode, encode
from tests.viz.hands import Hands
from tests.viz.programs import execute, run_through_library

N, STEPS, AWAY = 120, 3, 1e9
TASKS = [(name, task) for name in METHODS for task in sorted(MENU[name].tasks())]


def rows(task, away):
    """Four columns and a target, as far from zero as asked for; the differences between rows are always the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) * [1.0, 1.0, 3.0, 0.5]
    target = 2.0 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=N)
    X, target = (each + AWAY - AWAY + away for each in (X, target))  # rounded as they are far away
    return X, (target if task == "regression" else np.where(target > away, "up", "down"))


def written(folder, task, away):
    """A file of these rows, with all digits, and the data set that is read from it."""
    X, target = rows(task, away)
    lines = [",".join([*(repr(float(cell)) for cell in row), str(aim)]) for row, aim in zip(X, target)]
    (folder / "far.csv").write_text("\n".join(["a,b,c,d,aim", *lines]))
    dataset = read_file(folder / "far.csv", target="aim", task=task)
    np.testing.assert_array_equal(dataset.X, X)
    return dataset


def newest(hands, player):
    """The last frame of a run that stands still."""
    frames = []
    while not frames or frames[-1] is not None:
        player.request_frame()
        hands.rest()
        frames.append(player.take_frame())
    return frames[-2]


def shown(settings, dataset):
    """The squares of a run after some steps, its frame, and its errors."""
    hands, squares = Hands(), Squares()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings, dataset))
    session.player.run(until=STEPS, hurry_to=STEPS)
    frame = newest(hands, session.player)
    surface = session.player.take_surface()
    squares.show_scene(session.scene)
    squares.show_frame(frame)
    squares.show_surface(surface)
    assert frame.iteration == surface.iteration == STEPS
    return squares, frame, error_rates(surface, session.scene, session.player.fitted.snapshot_)


class Runs(NamedTuple):
    """A method on rows far from zero, and on the same rows at zero, as `shown` by the page."""

    settings: Settings
    folder: Path
    dataset: Dataset
    far: tuple
    near: tuple


@pytest.fixture(scope="module", params=TASKS, ids=" ".join)
def runs(request, tmp_path_factory):
    method, task = request.param
    folder, options = tmp_path_factory.mktemp(method), {"name": "far.csv", "target": "aim", "task": task}
    settings = Settings(
        data="file", data_options=options, method=method, method_options={"tol": 0.0}, input_plane=(0, 1)
    )
    near = shown(settings, written(folder, task, 0.0))
    dataset = written(folder, task, AWAY)
    return Runs(settings, folder, dataset, shown(settings, dataset), near)


def test_page_program_and_library_agree(runs):
    settings, folder, dataset, (_, frame, rates), (_, _, near) = runs
    segments = [(settings, STEPS)]
    fitted, parts = run_through_library(settings, segments, dataset)
    _, printed = execute(to_python(settings, segments, dataset), folder)
    said = {name: float(value) for name, value in re.findall(r"^(train|test) \w+ ([-+.\de]+)$", printed, re.M)}
    predicted = {"train": fitted.transduction_, "test": fitted.predict(parts.X_test)}
    for part, truth in (("train", parts.truth_train), ("test", parts.y_test)):
        regression = dataset.task == "regression"
        expected = np.mean((predicted[part] - truth) ** 2) if regression else np.mean(predicted[part] != truth)
        unit = 1.0 if regression else 100.0
        assert frame.numbers[part] == rates[part] == pytest.approx(unit * expected, rel=1e-9)
        assert said[part] == pytest.approx(expected, rel=1e-9)
        assert rates[part] == pytest.approx(near[part], rel=1e-5)  # nor does the method lose anything


def plane_of(squares, name):
    """What the browser has of a square: as it is sent, and read."""
    return decode(encode({"plane": squares.stage.get("planes", name)}))["plane"]


def test_the_picture_is_that_of_the_same_rows_at_zero(runs):
    far, near = runs.far[0], runs.near[0]
    places = far.points.places("input")
    assert len(np.unique(places, axis=0)) == N
    np.testing.assert_allclose(places - AWAY, near.points.places("input"), atol=1e-3)
    planes = [plane_of(each, "input") for each in (far, near)]
    np.testing.assert_allclose(np.array(planes[0]["extent"]) - AWAY, planes[1]["extent"], atol=1e-5)
    if planes[1]["region"] is not None:
        assert np.mean(planes[0]["region"]["image"] != planes[1]["region"]["image"]) < 0.01
        np.testing.assert_allclose(planes[0]["boundary"] - AWAY, planes[1]["boundary"], atol=1e-2)
    if far.points.is_regression:
        assert len(np.unique(decode(encode(far.stage.get("rows")))["colour"])) == N
        legend = class_legend(far.points.scene)[0].ends
        assert [float(end) - AWAY for end in legend] == pytest.approx(near.points.scene.colour_range, abs=0.1)


@pytest.mark.parametrize("away", [0.0, 1.7e9, -1.7e9, 5e5])
def test_ends_of_a_scale_and_ticks_of_an_axis_tell_values_apart(away, monkeypatch):
    low, high = away - 22.0, away + 22.0
    assert float(numeral(high, high - low)) - float(numeral(low, high - low)) == pytest.approx(44.0, abs=0.5)
    base, words = axis_base(low, high), []
    assert (base == 0.0) == (away == 0.0)
    assert abs(base - away) <= 50.0
    write = ImageDraw.ImageDraw.text
    monkeypatch.setattr(
        ImageDraw.ImageDraw, "text", lambda self, at, text, **how: words.append(text) or write(self, at, text, **how)
    )
    framed(300, (low, high) * 2, {"axes": ("true", "predicted"), "counts": False, "ticks": ()}, dark=False, scale=1)
    ticks = [float(word) for word in words if re.fullmatch(r"-?[\d.]+", word)]
    assert ticks == [-20.0, -10.0, 0.0, 10.0, 20.0] * 2
    said = f" {'+' if away < 0 else '-'} {abs(away):,.0f}" if away else ""
    assert {"true" + said, "predicted" + said} <= set(words)
