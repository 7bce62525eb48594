"""Rows on disk in the explorer: chosen by name, learnt in partitions, counted by partition."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import zarr

from supdr import MAC
from supdr.datasets import Dataset, FileProblem, hide_row_labels, read_rows, split_rows
from supdr.methods.mac import estimator as mac_estimator
from supdr.rows.counting import points_in_polygon
from supdr_viz.data import rows_on_disk
from supdr_viz.experiment.build import NotAtHand, Unusable, build_dataset, check_columns
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, parse_query, to_query
from supdr_viz.experiment.snippet import to_python
from supdr_viz.experiment.splitting import split
from supdr_viz.pages.sensitivity.page import _in_memory
from supdr_viz.pages.sensitivity.settings import SweepSettings, build_sweep
from supdr_viz.pictures.density import cell_counts, shaded
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from tests.viz.clouds import PARTITION, N, settings_of
from tests.viz.hands import Hands

pytestmark = pytest.mark.usefixtures("in_this_thread")


def begun(experiment):
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(experiment)
    hands.rest()
    return hands, session


def test_the_sample_is_of_all_rows_and_the_same_every_time(experiment, folder):
    dataset, X = experiment.table, np.load(folder / "rows.npy")
    np.testing.assert_allclose(dataset.X, X[dataset.numbers])
    assert dataset.n_all == N
    assert dataset.target_names == ("5", "6", "7")
    np.testing.assert_array_equal(dataset.numbers, rows_on_disk.open_rows("clouds", "").numbers)


def test_a_share_of_every_partition_is_held_out(experiment):
    parts = split(experiment.table, experiment.settings)
    whole = parts.whole
    assert list(whole.X_test.chunks[0]) == [50, 50, 50, 50, 25]
    assert whole.n_rows == N
    np.testing.assert_allclose(whole.X_train.compute()[whole.rows], parts.X_train)
    tested = {tuple(row) for row in whole.X_test.compute().tolist()}
    assert all(tuple(row) in tested for row in parts.X_test.tolist())


def test_a_run_moves_the_sample_and_counts_all_rows(experiment):
    hands, session = begun(experiment)
    session.player.step()
    hands.rest()
    frame, surface, parts = session.player.take_frame(), session.player.take_surface(), session.split
    whole, painter = parts.whole, session.player._reel.painter
    model = MAC(n_centers=20, max_iter=1, random_state=3, early_stopping=False, calibrate=False, tol=-1)
    last = list(model.iterate(whole.X_train, whole.y_train))[-1]
    assert session.player.newest.objective == last.objective
    fitted = model.at(last)
    X_train, y_train = whole.X_train.compute(), whole.y_train.compute()
    X_test, y_test = whole.X_test.compute(), whole.y_test.compute()
    np.testing.assert_allclose(session.player.fitted.embedding_, fitted.transform(parts.X_train), atol=1e-8)
    assert frame.latent.shape == (120, 2)
    # What was summed over partitions is what all rows at once give.
    places = painter.builder.plane.place(fitted.transform(np.concatenate([X_train, X_test])))
    layer = np.nan_to_num(np.concatenate([y_train, y_test]), nan=3).astype(int)
    counts = cell_counts(places, layer, 4, frame.latent_extent, 128)
    expected = shaded(counts, frame.latent_extent)
    assert (surface.density.levels != expected.levels).mean() < 1e-3
    known = ~np.isnan(y_test)
    wrong = fitted.predict(X_test)[known] != y_test[known]
    assert surface.rates["test"] == pytest.approx(100 * wrong.sum() / known.sum())
    assert surface.rates["train"] == pytest.approx(100 * last.diagnostics["training_error"])
    assert surface.input_density.levels.any()


def test_a_knob_carries_the_run_on(experiment):
    hands, session = begun(experiment)
    session.player.step()
    hands.rest()
    before = session.player.newest
    session.apply(Experiment(settings_of(C=5.0), experiment.table))
    hands.rest()
    assert session.player.iteration == before.iteration
    session.player.step()
    hands.rest()
    assert session.player.iteration == before.iteration + 1
    assert session.player.newest.run.partitions_ is before.run.partitions_


def test_it_is_told_how_far_a_pass_is_and_pausing_breaks_it_off(experiment):
    hands, session = begun(experiment)
    said = []
    session.player._worker._notify = lambda: said.append(session.player.status.progress)
    session.player.step()
    hands.pool.clock = session.player._worker._clock = iter(range(10**9)).__next__  # every look is a second later
    session.player._worker.work(0.0)
    assert any(words.startswith("pass 1: ") and " of 5 partitions" in words for words in said)
    assert session.player.status.progress == ""


@pytest.mark.parametrize(
    ("method", "option", "said"),
    [
        ("SDRGLM", {"solver": "literal"}, "Solver “the paper's sweep” needs all rows in memory: choose “fast”"),
        ("LSDR", {"early_stopping": True}, "Early stopping needs all rows in memory: switch it off"),
        ("MAC", {"solver": "admm"}, "Solver “ADMM” needs all rows in memory: choose “MAC (the paper's)”"),
    ],
)
def test_values_that_need_all_rows_in_memory_say_so_in_the_words_of_the_form(experiment, method, option, said):
    _, session = begun(experiment)
    settings = Settings(data="rows", data_options=experiment.settings.data_options, method=method)
    with pytest.raises(Unusable, match=re.escape(said)):
        session.apply(Experiment(settings.with_options(**option), experiment.table))


@pytest.mark.parametrize("name", [name for name, each in MENU.items() if each.takes_partitions and not each.bits_only])
def test_every_value_of_a_choice_is_taken_by_the_library_or_refused_by_the_form(experiment, name):
    for spec in MENU[name].form:
        if spec.kind != "choice" or spec.name not in MENU[name].estimator.partition_support.accepted:
            continue
        for value, _ in spec.choices:
            settings = Settings(data="rows", data_options=experiment.settings.data_options, method=name)
            settings = settings.with_options(**{spec.name: value})
            taken = value in MENU[name].estimator.partition_support.accepted[spec.name]
            with nullcontext() if taken else pytest.raises(Unusable, match="needs all rows in memory: choose “"):
                check_columns(settings, experiment.table)


def test_methods_that_need_all_rows_in_memory_say_so(experiment):
    _, session = begun(experiment)
    other = Settings(data="rows", data_options=experiment.settings.data_options, method="NSDR")
    with pytest.raises(Unusable, match=r"NSDR needs all rows in memory\. Rows on disk are learnt by .*MAC"):
        session.apply(Experiment(other, experiment.table))
    assert MENU["MAC"].takes_partitions
    assert not MENU["NSDR"].takes_partitions
    assert mac_estimator.MAC.takes_partitions


@pytest.mark.parametrize(
    "name", ["../../etc", "/etc/passwd", "clouds/../clouds", "", "cl\x00ouds", "clouds ", "a" * 500, "{}", "__class__"]
)
def test_nothing_but_what_is_offered_can_be_reached(offered, name):
    with pytest.raises(FileProblem, match=r"^This server offers no rows on disk called .{1,60}; it offers clouds\.$"):
        rows_on_disk.open_rows(name, "labels.npy")
    settings, _ = parse_query({"data": [b"rows"], "data.name": [name.encode()]})
    assert settings.data == "rows"
    with pytest.raises(NotAtHand):
        build_dataset(settings)


@pytest.mark.parametrize("target", ["../labels.npy", "/etc/passwd", "column 9", "column -1", "column x", "rows.npy"])
def test_no_other_target_can_be_reached(offered, target):
    with pytest.raises(FileProblem, match="has no target called"):
        rows_on_disk.open_rows("clouds", target)


def test_without_rows_on_offer_a_link_is_told_so(monkeypatch):
    monkeypatch.delenv(rows_on_disk.VARIABLE, raising=False)
    settings, _ = parse_query({"data": [b"rows"], "data.name": [b"clouds"]})
    with pytest.raises(NotAtHand, match="offers no rows on disk"):
        build_dataset(settings)


def test_what_the_operator_says_is_checked(folder, tmp_path):
    found = json.loads(rows_on_disk.described([str(folder), f"again={folder}"]))
    assert found == {"clouds": str(folder), "again": str(folder)}
    with pytest.raises(ValueError, match="two rows on disk are called 'clouds'"):
        rows_on_disk.described([str(folder), str(folder)])
    with pytest.raises(ValueError, match="holds no rows"):
        rows_on_disk.described([str(tmp_path)])


def test_a_link_and_a_program_carry_the_rows(experiment, folder, monkeypatch):
    settings = experiment.settings
    again, problems = parse_query({k: [v.encode()] for k, v in (e.split("=") for e in to_query(settings).split("&"))})
    assert (again, problems) == (settings, [])
    hands, session = begun(experiment)
    session.player.step()
    hands.rest()
    text = to_python(settings, [(settings, 1)], experiment.table)
    assert str(folder.parent) not in text
    monkeypatch.chdir(folder.parent)
    program = (
        text.replace("client = Client()", "client = None")
        .replace('"clouds/labels.npy")', '"clouds/labels.npy")')
        .replace("'clouds/labels.npy')", f"'clouds/labels.npy', partition_rows={PARTITION})")
    )
    names = {}
    exec(compile(program, "program", "exec"), names)
    assert names["snapshot"].objective == session.player.newest.objective


@pytest.mark.parametrize("kind", ["npz", "zarr"])
def test_rows_may_lie_in_one_numpy_file_or_in_zarr_folders(experiment, folder, tmp_path, monkeypatch, kind, offer_rows):
    X, y, place = np.load(folder / "rows.npy"), np.load(folder / "labels.npy"), tmp_path / "clouds"
    if kind == "npz":
        place = tmp_path / "clouds.npz"
        np.savez(place, rows=X, labels=y)
    else:
        for name, values in (("rows", X), ("labels", y)):
            zarr.create_array(place / f"{name}.zarr", data=values, chunks=(100, *X.shape[1:])[: values.ndim])
    offer_rows(place)
    label, *columns = rows_on_disk.targets_of("clouds")
    assert columns == ["column 3", "column 2", "column 1", "column 0"]
    found, expected = rows_on_disk.open_rows("clouds", label), experiment.table
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.y, expected.y)
    monkeypatch.chdir(tmp_path)  # where a copied program is run
    np.testing.assert_array_equal(read_rows(*rows_on_disk.relative_reading("clouds", label))[0].compute(), X)


def test_rows_of_a_split_are_those_of_the_array_in_its_order(folder):
    X, y = read_rows(folder / "rows.npy", folder / "labels.npy", partition_rows=PARTITION)
    X_train, X_test, y_train, _ = split_rows(X, y, 0.3, random_state=1)
    assert len(X_train) == len(y_train)
    every, parts = X.compute(), np.concatenate([X_train.compute(), X_test.compute()])
    np.testing.assert_array_equal(parts[np.lexsort(parts.T)], every[np.lexsort(every.T)])
    with pytest.raises(ValueError, match="test_share must be"):
        split_rows(X, y, 1.5)


def test_a_polygon_holds_what_lies_within():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    points = np.random.default_rng(0).uniform(-1, 3, (500, 2))
    np.testing.assert_array_equal(points_in_polygon(points, square), ((points > 0) & (points < 2)).all(axis=1))
    notched = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0], [0.0, 4.0]])
    assert points_in_polygon(np.array([[2.0, 0.5], [2.0, 2.0], [0.5, 2.0]]), notched).tolist() == [True, False, True]


def test_hidden_labels_are_those_of_a_share_of_every_partition(experiment):
    settings = replace(experiment.settings, label_share=0.4)
    parts = split(experiment.table, settings)
    whole, seen = parts.whole, split(experiment.table, experiment.settings).whole
    y, truth = whole.y_train.compute(), whole.truth_train.compute()
    np.testing.assert_array_equal(truth, seen.y_train.compute())
    np.testing.assert_array_equal(y[whole.rows], parts.y_train)
    np.testing.assert_array_equal(truth[whole.rows], parts.truth_train)
    kept = ~np.isnan(y)
    np.testing.assert_array_equal(y[kept], truth[kept])
    fewer = split(experiment.table, replace(settings, label_share=0.2)).whole.y_train.compute()
    assert not (~np.isnan(fewer) & ~kept).any()
    for block, labels in zip(whole.truth_train.blocks, whole.y_train.blocks):
        assert len(labels.compute()) == len(block.compute())
    hands, session = begun(Experiment(settings, experiment.table))
    session.player.step()
    hands.rest()
    rates, fitted = session.player.take_surface().rates, session.player.fitted
    X, hidden = whole.X_train.compute(), np.isnan(y) & ~np.isnan(truth)
    assert 0.5 * len(y) < hidden.sum() < 0.62 * len(y)
    assert rates["unlabelled"] == pytest.approx(100 * np.mean(fitted.predict(X[hidden]) != truth[hidden]))
    assert rates["train"] == pytest.approx(
        (rates["labelled"] * kept.sum() + rates["unlabelled"] * hidden.sum()) / (kept.sum() + hidden.sum())
    )
    assert "y_train = hide_row_labels(y_train, 0.4, random_state=3)" in session.python()


@pytest.mark.parametrize("share", [0.0, 1.5, -0.1])
def test_a_share_of_labels_that_is_none_is_refused(folder, share):
    _, y = read_rows(folder / "rows.npy", folder / "labels.npy", partition_rows=PARTITION)
    with pytest.raises(ValueError, match=r"label_share must be a number in \(0, 1\]"):
        hide_row_labels(y, share)


def test_a_sweep_takes_the_sample_and_says_so(experiment):
    dataset, note = _in_memory(experiment.table)
    assert note == "A sweep fits the sample of 120 rows, not all 900 that are on disk."
    assert type(dataset) is Dataset
    settings = SweepSettings(base=replace(experiment.settings, method="NSDR", method_options={}))
    sweep, X, _ = build_sweep(settings, dataset)
    assert X is experiment.table.X
    assert sweep.cells
    assert _in_memory(dataset) == (dataset, "")


def test_phases_are_those_of_any_run(experiment):
    hands, session = begun(experiment)
    assert session.player.status.phase is Phase.ready
    session.player.run()
    hands.rest()
    assert session.player.status.phase is Phase.finished
    session.player.show(1)
    hands.rest()
    assert session.player.shown.iteration == 1
    session.player.reset()
    hands.rest()
    assert session.player.iteration == 0
