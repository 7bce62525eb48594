"""How true the plane is: measured while nothing runs, shown by colours, lines and numbers."""

import dataclasses
import re

import numpy as np
import pytest

from supdr.quality import changed_neighbours, map_quality, row_continuity, row_trustworthiness
from supdr.quality.near import NO_ROW
from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings, from_json, to_json, to_query
from supdr_viz.pages.compare.column import Facts
from supdr_viz.pages.compare.table import table_csv, table_html
from supdr_viz.pictures import map_quality as truths
from supdr_viz.pictures.map_quality import InputRows, measuring
from supdr_viz.pictures.methods.shepard import REACH, shepard
from supdr_viz.pictures.row_colours import trust_range
from supdr_viz.pictures.types import MapQuality
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.player import Player
from supdr_viz.run.session import Session
from supdr_viz.ui import theme
from supdr_viz.views.board import Board
from supdr_viz.views.colours import MISPLACED
from supdr_viz.views.plane import class_legend
from tests.viz.hands import next_frame, reach
from tests.viz.made_frames import make_frame, make_scene, make_surface
from tests.viz.prepared import prepared

WINE = Settings(data="wine", method="LSDR", method_options={"max_iter": 100_000, "tol": 0.0})
DIGITS = Settings(data="digits", method="LSDR", method_options={"max_iter": 100_000, "tol": 0.0})


def finished(work):
    """Return the result of a piece of work, and how often it let others have their turn."""
    turns = 0
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value, turns
        turns += 1


def some_truth(scene, iteration=4):
    n = len(scene.position)
    table = np.full((n, 3), -1, dtype=np.int32)
    table[0, :2] = 5, 7
    numbers = {"trustworthiness": 0.9, "continuity": 0.8, "neighbourhood_overlap": 0.25, "knn_error": 0.125}
    numbers["distance_correlation"] = 0.5
    trust = np.linspace(0.4, 1.0, n, dtype=np.float32)
    return MapQuality(iteration, 3, trust, trust, table, table[::-1].copy(), numbers, 12)


# --- measuring --------------------------------------------------------------------------------------------------------


def test_every_row_has_the_trust_that_the_library_gives_it():
    _, parts, scene = prepared(WINE)
    X = np.concatenate([parts.X_train, parts.X_test])
    X, places = (X - X.mean(axis=0)) / X.std(axis=0), X[:, :2] * [1.0, 0.1]
    found, turns = finished(measuring(InputRows(scene, parts), places, 7))
    np.testing.assert_allclose(found.trust, row_trustworthiness(X, places), rtol=1e-6)
    np.testing.assert_allclose(found.kept, row_continuity(X, places), rtol=1e-6)
    lost, false = changed_neighbours(X, places)
    np.testing.assert_array_equal(found.lost, lost)
    np.testing.assert_array_equal(found.false, false)
    assert found.iteration == 7
    assert turns == -(-len(X) // truths.BATCH)


def test_numbers_are_those_of_new_rows_with_the_votes_of_the_old_ones():
    _, parts, scene = prepared(WINE)
    X = np.concatenate([parts.X_train, parts.X_test])
    scaled, places, new = (X - X.mean(axis=0)) / X.std(axis=0), X[:, :2] * [1.0, 0.1], scene.is_test
    found, _ = finished(measuring(InputRows(scene, parts), places, 0))
    voters = (places[~new], parts.truth_train)
    assert found.numbers == pytest.approx(map_quality(scaled[new], places[new], parts.y_test, voters=voters).numbers)
    assert found.n_new == new.sum()


def test_without_test_rows_the_numbers_are_of_all_rows():
    _, parts, scene = prepared(dataclasses.replace(WINE, test_share=0.0))
    found, _ = finished(measuring(InputRows(scene, parts), parts.X_train[:, :2], 0))
    assert found.n_new == 0
    assert 0.0 < found.numbers["knn_error"] < 1.0


def test_of_many_rows_those_that_are_drawn_are_measured():
    _, parts, scene = prepared(WINE)
    scene = dataclasses.replace(scene, drawn=np.arange(0, len(scene.code), 2)[::-1])
    X = np.concatenate([parts.X_train, parts.X_test])
    found, _ = finished(measuring(InputRows(scene, parts), X[:, :2], 0))
    assert np.isfinite(found.trust[::2]).all()
    assert np.isnan(found.trust[1::2]).all()
    assert (found.lost[1::2] == -1).all()


def test_missing_cells_pictures_and_constant_columns_have_a_unit():
    for settings in (DIGITS, dataclasses.replace(WINE, data="spirals")):
        _, parts, scene = prepared(settings)
        rows = InputRows(scene, parts).rows
        assert np.isfinite(rows).all()
        pictures = scene.image_shape is not None
        np.testing.assert_array_equal(rows[0] == parts.X_train[0], np.full(rows.shape[1], pictures))
    cells = np.where(np.arange(parts.X_train.size).reshape(parts.X_train.shape) % 7, parts.X_train, np.nan)
    holes = dataclasses.replace(parts, X_train=cells)
    assert np.isfinite(InputRows(scene, holes).rows).all()


def settle(hands, player):
    hands.until(lambda: (player.take_frame(), player.take_surface(), player.at_rest)[-1])


# --- while a run goes on ----------------------------------------------------------------------------------------------


@pytest.fixture
def player(hands):
    player = Player(hands.pool, lambda: None)
    dataset, parts, scene = prepared(WINE)
    player.load(build_estimator(WINE, dataset.task), parts, scene)
    yield player
    player.close()


def test_a_run_is_measured_by_samples_and_at_rest_as_a_whole(hands, player):
    player.set_options(DisplayOptions(truth=True))
    player.run()
    reach(hands, player, 30)
    frame = next_frame(hands, player, lambda frame: frame.truth is not None)
    assert np.isfinite(frame.truth.trust).any()
    assert not frame.truth.numbers
    player.pause()
    frame = next_frame(hands, player, lambda frame: frame.truth is not None and frame.truth.numbers)
    assert np.isfinite(frame.truth.trust).all()
    assert frame.truth.iteration == frame.iteration == player.iteration
    settle(hands, player)
    before = frame.truth
    player.request_frame()
    player.step()
    frame = next_frame(hands, player, lambda frame: frame.iteration > before.iteration)
    assert frame.truth is before  # of the iteration before, until the new one is measured
    frame = next_frame(hands, player, lambda frame: frame.truth is not before)
    assert frame.truth.iteration == frame.iteration


def test_nothing_is_measured_unless_it_is_asked_for(hands, player):
    player.step()
    frame = next_frame(hands, player, lambda frame: frame.iteration == 1)
    settle(hands, player)
    assert frame.truth is None


@pytest.mark.parametrize("meaning", ["colour_by", "size_by"])
def test_colours_and_sizes_by_trust_ask_for_it(hands, meaning):
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(WINE))
    assert not session.options.truth
    session.apply(Experiment(dataclasses.replace(WINE, **{meaning: "trust"})))
    assert session.options.truth
    session.close()


# --- on the screen ----------------------------------------------------------------------------------------------------


@pytest.fixture
def board():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    board.points.show_colours("trust")
    board.show_frame(dataclasses.replace(make_frame(scene, 4), truth=some_truth(scene)))
    board.show_surface(make_surface(scene))
    return board


def test_rows_have_the_colour_of_their_trust(board):
    np.testing.assert_array_equal(board.stage.get("rows", "colour"), some_truth(board.points.scene).trust)
    trust = some_truth(board.points.scene).trust
    scale = board.stage.get("scale", "dark")
    assert (scale["low"], scale["high"]) == trust_range(trust)
    assert scale["low"] <= np.percentile(trust, 2) <= scale["low"] + 0.01
    entries = class_legend(board.points.scene, "trust", trust)
    assert [entry.text for entry in entries][:2] == [f"trust {scale['low']:g} or less to 1", "misplaced"]
    assert board.stage.get("rows", "above") == "low"  # no other row covers what is wrong
    board.points.show_colours("label")
    assert board.stage.get("rows", "above") == ""


def test_classes_are_named_on_the_map_where_no_colour_tells_them(board):
    points = board.points
    far = points.scene.code[:, None] * [0.5, 0.0] - [0.5, 0.0]
    for spread, named in ((1.0, True), (0.05, False)):  # names that would lie on one another are left out
        frame = dataclasses.replace(points.frame, latent=(spread * far).astype(np.float32))
        board.show_frame(frame)
        names = board.stage.get("planes", "latent", "names")
        assert [name for _, _, name in names] == [*points.scene.class_names] * named
        for (x, y, _), code in zip(names, range(len(points.scene.class_names))):
            assert x == pytest.approx(far[points.scene.code == code, 0].mean())
            assert 0 < y < frame.latent_extent[3]
    board.show_frame(dataclasses.replace(points.frame, latent=far.astype(np.float32)))
    board.show_colours("label")
    assert board.stage.get("planes", "latent", "names") == []


def test_rows_have_the_size_of_their_trust_as_soon_as_it_is_measured():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    board.points.show_colours("label", "trust")
    board.show_frame(make_frame(scene, 4))
    assert not board.stage.get("rows", "sizes").any()
    board.show_frame(dataclasses.replace(make_frame(scene, 5), truth=some_truth(scene)))
    trust, sizes = some_truth(scene).trust, board.stage.get("rows", "sizes")
    assert sizes[np.argmin(trust)] < sizes[np.argmax(trust)]


def test_lost_neighbours_are_told_while_they_are_those_of_the_rows_on_display(board):
    scene, truth = board.points.scene, some_truth(board.points.scene)
    np.testing.assert_array_equal(board.stage.get("links", "lost"), truth.lost)
    board.show_frame(dataclasses.replace(make_frame(scene, 5), truth=truth))
    assert board.stage.get("links") is None
    np.testing.assert_array_equal(board.stage.get("rows", "colour"), truth.trust)
    assert "Misplaced" in board.latent.verdict
    assert board.latent.measured == ""
    board.show_frame(dataclasses.replace(make_frame(scene, 4), truth=truth))
    assert board.stage.get("links") is not None
    assert board.latent.measured
    board.points.show_colours("label")
    assert board.stage.get("links") is None
    assert board.latent.measured == ""


def test_numbers_are_said_in_words(board):
    truth = board.points.truth
    true, misplaced = np.mean(truth.false == NO_ROW), np.sum(truth.trust < MISPLACED)
    assert board.latent.caption() == board.points.frame.latent_caption
    numbers = ["1", str(truth.n_neighbors), "0.5", str(misplaced), f"{MISPLACED:g}"]
    assert re.findall(r"[\d.]*\d", board.latent.verdict) == numbers  # what trust is, and how many rows have too little
    said = board.latent.measured
    assert f"{100 * true:.0f}\u00a0%" in said
    assert re.findall(r"(\w[\w ,-]+?) ([.\d]+(?: %)?) \(", said.partition(": ")[2]) == [
        ("trust", "0.900"),
        ("continuity", "0.800"),
        ("k-NN error", "12.5 %"),
    ]
    assert "12 test rows" in said


def test_misplaced_rows_are_ringed_and_larger_in_both_planes(board):
    scene, truth = board.points.scene, board.points.truth
    few = dataclasses.replace(truth, trust=np.where(np.arange(len(truth.trust)) < 5, 0.6, 1.0))
    board.show_frame(dataclasses.replace(make_frame(scene, 4), truth=few))
    for view in ("input", "latent"):
        ring, misplaced = board.stage.get("planes", view, "ring"), few.trust < MISPLACED
        np.testing.assert_array_equal(np.unpackbits(ring["rows"], count=len(misplaced), bitorder="little"), misplaced)
        assert ring["grow"] > 1
        for dark, name in enumerate(("light", "dark")):
            assert getattr(theme.palette(bool(dark)), ring["role"]) not in board.stage.get("scale", name, "palette")
    board.points.show_colours("label")
    assert board.stage.get("planes", "latent", "ring", "rows").any()
    assert board.stage.get("planes", "input", "ring", "rows").any()


def test_without_a_measurement_rows_are_grey():
    board, scene = Board(), make_scene(task="regression")
    board.points.show_colours("trust")
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    assert np.isnan(board.stage.get("rows", "colour")).all()
    assert board.latent.verdict == "Computing trust …"


def test_links_and_files_carry_the_colours():
    settings = dataclasses.replace(WINE, colour_by="trust")
    assert "colour=trust" in to_query(settings)
    assert from_json(to_json(settings)) == (settings, [])


# --- Shepard's diagram ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["wine", "spirals"])
def test_distances_of_a_map_that_is_the_input_lie_on_the_diagonal(data):
    _, parts, scene = prepared(dataclasses.replace(WINE, data=data))
    input_rows = InputRows(scene, parts)
    picture = shepard(scene=scene, places=3.0 * input_rows.rows, input_rows=input_rows)
    assert picture.numbers[0].value == pytest.approx(1.0)
    curve = picture.strokes[-1].points
    np.testing.assert_allclose(curve[:, 0], curve[:, 1], atol=REACH / 30)
    assert len(picture.keys) == 3
    assert (np.diag(np.ones(len(picture.image)))[picture.image > 0] > 0).mean() > 0.9


def test_a_map_of_one_point_has_no_order_of_distances():
    _, parts, scene = prepared(WINE)
    input_rows = InputRows(scene, parts)
    places = np.zeros((len(input_rows.rows), 2))
    assert shepard(scene=scene, places=places, input_rows=input_rows).numbers == ()


# --- the comparison ---------------------------------------------------------------------------------------------------


def test_the_table_of_a_comparison_says_how_true_the_maps_are():
    rows = [
        Facts(name, "", "finished", 3, {"test": 1.0, "trustworthiness": trust, "knn_error": error}, "", 0.1)
        for name, trust, error in (("LSDR", 0.9, 0.25), ("LDA", 0.8, 0.125))
    ]
    html, text = table_html(rows, "classification"), table_csv(rows)
    assert "Trust</th>" in html
    assert "Continuity</th>" not in html  # nobody has it
    assert '<td class="number best">0.900</td>' in html
    assert '<td class="number best">12.5 %</td>' in html
    assert text.splitlines()[0] == "column,method,settings,iteration,test,trustworthiness,knn_error,model,seconds,state"
    assert "0.125" in text
