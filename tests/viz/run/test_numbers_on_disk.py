"""Rows on disk whose target is a number: learnt in partitions, counted and coloured by value, errors of all rows."""

import contextlib
import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from supdr.datasets import FileProblem
from supdr_viz.controls.method import MethodControls
from supdr_viz.data import rows_on_disk
from supdr_viz.data.number_format import end_words
from supdr_viz.experiment.build import Unusable
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU, method_for
from supdr_viz.experiment.settings import Settings, from_json, parse_query, to_json, to_query
from supdr_viz.experiment.snippet import to_python
from supdr_viz.experiment.splitting import split
from supdr_viz.export.work import export_work, filming
from supdr_viz.pictures.density import VALUE_LAYERS, cell_counts, shaded, value_layers
from supdr_viz.pictures.methods import modes_of
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.views.colours import SHADES, layer_colours
from supdr_viz.views.plane import class_legend
from tests.viz.clouds import PARTITION, N
from tests.viz.hands import Hands

LEARNERS = [name for name, each in MENU.items() if each.learns_on_disk("regression")]

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)).astype(np.float32)
    y = 20.0 + 3.0 * X[:, 0] - 2.0 * X[:, 1] + 0.3 * rng.normal(size=N)
    gaps, few = y.copy(), np.round(X[:, 2]).astype(int)
    gaps[::50] = np.nan
    folder = tmp_path_factory.mktemp("disk") / "prices"
    folder.mkdir()
    boundless = np.where(np.arange(N) == 7, np.inf, y)
    several = {"gaps": gaps, "few": few, "boundless": boundless, "constant": np.full(N, 2.5)}
    for name, values in {"rows": X, "y": y, **several}.items():
        np.save(folder / f"{name}.npy", values)
    return folder


@pytest.fixture(autouse=True)
def offered(folder, offer_rows, in_partitions):
    offer_rows(folder)


def settings_of(method="SDRGLM", target="y.npy", task="auto", **more):
    options = {"name": "prices", "target": target, "task": task}
    return Settings(data="rows", data_options=options, method=method, test_share=0.25, seed=3, speed="fast", **more)


def stepped(settings, steps=2):
    """Return a session of rows on disk after so many steps, at rest, and what the page was shown."""
    options = settings.data_options
    dataset = rows_on_disk.open_rows(options["name"], options["target"], options["task"])
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings, dataset))
    hands.rest()
    for _ in range(steps):
        session.player.step()
        hands.rest()
    return session, session.player.take_frame(), session.player.take_surface()


def everything(parts):
    """Return all rows and targets in memory: of training rows as the method sees them, and as they are."""
    whole = parts.whole
    truth = whole.y_train if whole.truth_train is None else whole.truth_train
    return tuple(each.compute() for each in (whole.X_train, whole.y_train, truth, whole.X_test, whole.y_test))


# --- what a target means ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "task", "found"),
    [
        ("y.npy", "auto", "regression"),
        ("y.npy", "regression", "regression"),
        ("few.npy", "auto", "classification"),
        ("few.npy", "classification", "classification"),
        ("few.npy", "regression", "regression"),
        ("column 3", "auto", "regression"),
    ],
)
def test_a_target_means_classes_where_it_can_or_what_is_asked_for(folder, target, task, found):
    dataset = rows_on_disk.open_rows("prices", target, task)
    assert dataset.task == dataset.sample.task == found
    if found == "regression":
        X = np.load(folder / "rows.npy")
        values = X[:, 3] if target == "column 3" else np.load(folder / target)
        np.testing.assert_array_equal(dataset.y, values[dataset.numbers])
        np.testing.assert_array_equal(dataset.all_y.compute(), values)
        assert dataset.description.endswith(f"numbers from {values.min():.4g} to {values.max():.4g}.")
        assert dataset.n_classes == 0


@pytest.mark.parametrize(
    ("target", "task", "said"),
    [
        ("y.npy", "classification", "must be 2 to 100; y.npy has fractions: choose regression for it."),
        ("boundless.npy", "auto", "The target boundless.npy of rows on disk holds infinity."),
        ("constant.npy", "regression", "must take at least two values; constant.npy takes 1."),
    ],
)
def test_a_target_that_cannot_mean_that_is_refused_in_a_sentence(target, task, said):
    with pytest.raises(FileProblem, match=re.escape(said)) as told:
        rows_on_disk.open_rows("prices", target, task)
    assert str(told.value).count(". ") == 0


def test_text_is_no_number(folder, tmp_path, offer_rows):
    y = np.load(folder / "y.npy")
    table = {"x": np.load(folder / "rows.npy")[:, 0], "kind": np.where(y > 20.0, "high", "low")}
    pd.DataFrame(table).to_parquet(tmp_path / "table.parquet", row_group_size=PARTITION)
    offer_rows(tmp_path / "table.parquet")
    assert rows_on_disk.open_rows("table", "kind").target_names == ("high", "low")
    with pytest.raises(FileProblem, match="Regression needs numbers; the target kind of rows on disk holds none"):
        rows_on_disk.open_rows("table", "kind", "regression")


def test_a_look_at_a_partition_tells_few_of_very_many_values():
    from supdr.rows.reading import summarise

    labels = np.append(np.arange(1000.0), np.nan)
    look = summarise(np.zeros((1001, 2)), labels, np.arange(3), 100)
    np.testing.assert_array_equal(look.values, [*range(100), 999])
    assert look.has_gaps


# --- runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_errors_and_density_are_those_of_all_rows_at_once(name):
    session, frame, surface = stepped(settings_of(name))
    X_train, y_train, _, X_test, y_test = everything(session.split)
    fitted, scene = session.player.fitted, session.scene
    assert surface.rates["train"] == pytest.approx(np.mean((fitted.predict(X_train) - y_train) ** 2))
    assert surface.rates["test"] == pytest.approx(np.mean((fitted.predict(X_test) - y_test) ** 2))
    assert surface.rates["constant"] == pytest.approx(np.mean((y_test - y_train.mean()) ** 2))
    assert surface.rates["test"] < 0.5 * surface.rates["constant"]
    places = session.player._reel.painter.builder.plane.place(fitted.transform(np.concatenate([X_train, X_test])))
    layer, count = value_layers(np.concatenate([y_train, y_test]), *scene.colour_range)
    expected = shaded(cell_counts(places, layer, count, frame.latent_extent, 128), frame.latent_extent)
    assert (surface.density.levels != expected.levels).mean() < 1e-3
    assert surface.density.levels[[0, VALUE_LAYERS - 1]].any(axis=(1, 2)).all()
    assert surface.input_density.levels.shape == expected.levels.shape


@pytest.mark.parametrize("name", LEARNERS)
def test_hidden_targets_are_told_apart_and_missing_ones_count_nowhere(name):
    session, _, surface = stepped(settings_of(name, "gaps.npy", label_share=0.4))
    X_train, y_train, truth, _, y_test = everything(session.split)
    loss = (session.player.fitted.predict(X_train) - truth) ** 2
    hidden, labelled = np.isnan(y_train) & ~np.isnan(truth), ~np.isnan(y_train)
    assert np.isnan(truth).any()
    assert surface.rates["unlabelled"] == pytest.approx(loss[hidden].mean())
    assert surface.rates["labelled"] == pytest.approx(loss[labelled].mean())
    assert surface.rates["train"] == pytest.approx(np.nanmean(loss))
    unseen = np.concatenate([truth[hidden], y_test[~np.isnan(y_test)]])
    assert surface.rates["constant"] == pytest.approx(np.mean((unseen - y_train[labelled].mean()) ** 2))


def test_without_test_rows_the_mean_is_judged_on_all():
    session, _, surface = stepped(replace(settings_of(), test_share=0.0))
    y = session.split.whole.y_train.compute()
    assert surface.rates["constant"] == pytest.approx(y.var())
    assert "test" not in surface.rates


def test_scale_legend_and_curves_are_those_of_numbers_in_memory():
    session, _, _ = stepped(settings_of())
    scene = session.scene
    assert scene.task == "regression"
    assert scene.n_rows == N > len(scene.position)
    low, high = scene.colour_range
    entry = class_legend(scene)[0]
    assert (entry.kind, list(entry.ends)) == ("scale", end_words(low, high))
    assert set(layer_colours(scene, VALUE_LAYERS + 1, False)[:-1]) <= set(SHADES)
    assert {"train", "test", "constant"} <= set(session.player.curves()[1].values)


def test_a_lasso_counts_all_rows():
    session, frame, _ = stepped(settings_of())
    x_low, x_high, y_low, y_high = frame.latent_extent
    corners = np.array([[x_low, y_low], [x_high, y_low], [x_high, y_high], [x_low, y_high]]) * 10
    assert session.player.count_within("latent", corners) == N


def test_a_knob_carries_the_run_on_and_an_earlier_iteration_can_be_shown():
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    dataset = rows_on_disk.open_rows("prices", "y.npy")
    session.apply(Experiment(settings_of(), dataset))
    hands.rest()
    session.player.step()
    hands.rest()
    knob = next(spec.name for spec in MENU["SDRGLM"].form if spec.log and not MENU["SDRGLM"].restarts(spec.name))
    before = settings_of().method_options[knob]
    session.apply(Experiment(settings_of().with_options(**{knob: 2.0 * (before or 1.0)}), dataset))
    hands.rest()
    assert session.player.iteration == 1
    session.player.step()
    hands.rest()
    session.player.show(1)
    hands.rest()
    assert session.player.shown.iteration == 1


# --- who learns them, and what carries the choice -----------------------------------------------------------------


def test_methods_that_predict_classes_or_need_memory_say_so_in_a_sentence():
    assert {"LSDR", "SDRGLM"} <= set(LEARNERS)
    takers = r"Numbers of rows on disk are learnt by .*SDR-GLM"
    for name, why in (("MAC", "predicts classes"), ("SNF", "in Python only"), ("NSDR", "needs all rows in memory")):
        with pytest.raises(Unusable, match=f"{why}.*{takers}"):
            stepped(settings_of(name), 0)
    assert method_for("regression", "MAC", on_disk=True) in LEARNERS


def test_methods_that_learn_no_numbers_on_disk_are_grey():
    controls = MethodControls(settings_of())
    controls.describe("regression", on_disk=True)
    assert set(controls.menu.disabled_options) == set(MENU) - set(LEARNERS)
    assert "Methods in grey do not learn numbers of rows on disk." in controls._about.object
    controls.describe("regression")
    unable = {name for name, each in MENU.items() if "regression" not in each.tasks()}
    assert set(controls.menu.disabled_options) == unable - {controls.menu.value}


def test_link_and_settings_file_carry_the_task():
    settings = settings_of(target="few.npy", task="regression")
    query = to_query(settings)
    assert "data.task=regression" in query
    arguments = {name: [value.encode()] for name, value in (each.split("=") for each in query.split("&"))}
    assert parse_query(arguments) == (settings, [])
    assert from_json(to_json(settings)) == (settings, [])
    assert "data.task" not in to_query(settings_of())
    _, problems = parse_query({**arguments, "data.task": [b"ranking"]})
    assert problems


@pytest.mark.parametrize("share", [1.0, pytest.param(0.4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "target", "task"),
    [(name, "y.npy", "auto") for name in LEARNERS] + [("SDRGLM", "few.npy", "regression"), ("LSDR", "few.npy", "auto")],
)
def test_the_program_has_the_numbers_of_the_page(folder, monkeypatch, name, target, task, share):
    settings = settings_of(name, target, task, label_share=share)
    session, _, surface = stepped(settings)
    text = to_python(settings, [(settings, 2)], session.dataset)
    assert str(folder.parent) not in text
    monkeypatch.chdir(folder.parent)
    program = text.replace("client = Client()", "client = None")
    program = program.replace(f"'prices/{target}')", f"'prices/{target}', partition_rows={PARTITION})")
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "program", "exec"), names)
    assert names["snapshot"].objective == session.player.newest.objective
    told = dict(line.rsplit(" ", 1) for line in printed.getvalue().splitlines())
    word, unit = ("MSE", 1.0) if session.scene.task == "regression" else ("error", 100.0)
    for part in ("train", "test"):
        assert unit * float(told[f"{part} {word}"]) == pytest.approx(surface.rates[part], rel=1e-9)


def test_a_sweep_takes_the_numbers_of_the_sample():
    dataset = rows_on_disk.open_rows("prices", "y.npy")
    parts = split(dataset.sample, settings_of())
    assert dataset.sample.task == "regression"
    assert len(parts.train) + len(parts.test) == 120


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_every_picture_of_the_method_is_drawn_of_the_sample(name):
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings_of(name, label_share=0.5), rows_on_disk.open_rows("prices", "y.npy")))
    hands.rest()
    session.player.step()
    hands.rest()
    modes = [mode.name for mode in modes_of(session.player.fitted, "regression")]
    assert modes
    for mode in modes:
        session.player.set_options(DisplayOptions(method_mode=mode))
        session.player.request_frame()
        hands.rest()
        picture = session.player.take_frame().picture
        assert session.player.status.phase is not Phase.failed
        assert picture.mode == mode


@pytest.mark.parametrize(
    ("target", "name"),
    [("y.npy", "SDRGLM"), *(pytest.param("few.npy", each, marks=pytest.mark.slow) for each in ("SDRGLM", "MAC"))],
)
def test_a_report_shows_the_rows_of_the_page(target, name):
    session, _, surface = stepped(settings_of(name, target))
    last = filming(session)().moments[-1]
    np.testing.assert_array_equal(last.surface.predicted, surface.predicted)
    assert last.surface.predicted.shape == session.scene.target.shape
    assert b"<html" in export_work(session, "report")(lambda *_told: None)
