"""The squares without a browser: what the stage is told of points, colours, planes and pictures."""

import dataclasses

import numpy as np
import pytest

from supdr_viz.pictures.methods import MARGINS, RECONSTRUCTION
from supdr_viz.pictures.types import Lines
from supdr_viz.ui import theme
from supdr_viz.views.board import Board
from supdr_viz.views.colours import UNKNOWN
from supdr_viz.views.figures import joined
from supdr_viz.views.points import TEST, point_size
from supdr_viz.views.small_multiple import SmallMultiple
from supdr_viz.views.stage.stage import Selection
from tests.viz.made_frames import make_frame, make_picture, make_scene, make_surface
from tests.viz.views.square_cases import plane, ringed, shown_board

NEAR = 1e-4


@pytest.fixture
def shown():
    return shown_board()


# --- points -----------------------------------------------------------------------------------------------------------


def test_one_selection_survives_frames(shown):
    board, messages, scene = shown
    board.stage.hear({"kind": "select", "rows": [3, 5, 8]})
    for iteration in range(5, 9):
        board.show_frame(make_frame(scene, iteration))
        board.show_surface(make_surface(scene))
    assert board.points.selection.indices == [3, 5, 8]
    np.testing.assert_array_equal(messages[0]["selected"], [3, 5, 8])
    assert all("selected" not in message for message in messages[1:])
    board.show_scene(make_scene(12))
    assert board.points.selection.indices == []
    assert len(board.stage.get("selected")) == 0


@pytest.mark.parametrize("rows", [None, "all", [40], [-1], [1.5], [[1]], {"a": 1}])
def test_rows_that_there_are_not_cannot_be_selected(shown, rows):
    board, _, _ = shown
    board.stage.hear({"kind": "select", "rows": rows})
    assert board.points.selection.indices == []


def test_runs_on_the_same_rows_share_the_selection():
    selection = Selection()
    pairs = [SmallMultiple(selection, "together") for _ in range(2)]
    for pair in pairs:
        pair.show_scene(make_scene())
    pairs[0].stage.hear({"kind": "select", "rows": [1, 2]})
    np.testing.assert_array_equal(pairs[1].stage.get("selected"), [1, 2])
    pairs[1].points.close()
    selection.indices = []
    assert len(pairs[1].stage.get("selected")) == 2  # it has left
    assert pairs[0].hub.group == pairs[1].hub.group
    assert pairs[0].hub.board != pairs[1].hub.board


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_stand_where_the_frame_says(task):
    board, scene = Board(), make_scene(33, task=task)
    board.show_scene(scene)
    frame = make_frame(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION,))
    board.show_frame(frame)
    np.testing.assert_allclose(board.points.places("input"), scene.position, atol=NEAR)
    np.testing.assert_allclose(board.points.places("latent"), frame.latent, atol=NEAR)
    np.testing.assert_allclose(board.points.places("method"), frame.picture.rows, atol=NEAR)


def test_a_frame_sends_one_message_with_what_moved(shown):
    board, messages, scene = shown
    board.show_frame(make_frame(scene, 5))
    (message,) = messages
    assert set(message) == {"planes", "charts"}
    assert set(message["planes"]["latent"]) == {"place"}
    assert "input" not in message["planes"]
    assert {"place"} <= set(message["planes"]["method"]) <= {"place", "picture"}


def test_the_same_frame_sends_nothing(shown):
    board, messages, scene = shown
    frame = make_frame(scene, 5)
    board.show_frame(frame)
    messages.clear()
    board.show_frame(frame)
    board.show_frame(dataclasses.replace(frame, number=99, latent=frame.latent.copy(), support=frame.support.copy()))
    assert messages == []


def test_only_the_visible_mode_of_the_method_is_sent(shown):
    board, messages, scene = shown
    frame = make_frame(scene, 5)
    board.show_frame(frame)
    board.method.set_mode("margins")
    messages.clear()
    board.show_frame(frame)  # it was asked for before
    assert all("method" not in message.get("planes", {}) for message in messages)
    margins = make_picture(scene, 5, MARGINS)
    board.show_frame(dataclasses.replace(frame, picture=margins))
    np.testing.assert_allclose(board.points.places("method"), margins.rows, atol=1e-3)
    board.method.set_method("k-NN", ())
    messages.clear()
    board.show_frame(make_frame(scene, 6))
    assert all("method" not in message.get("planes", {}) for message in messages)


def test_pulled_places_are_sent_on_demand_only(shown):
    board, messages, scene = shown
    assert not plane(board, "latent", "threads")
    board.latent.show_pulled(True)
    assert plane(board, "latent", "threads")
    assert "ends" in messages[0]["planes"]["latent"]
    board.show_frame(make_frame(scene, 6, pulled=None))
    assert not plane(board, "latent", "threads")
    board.latent.show_pulled(False)
    messages.clear()
    board.show_frame(make_frame(scene, 7))
    assert "ends" not in messages[0]["planes"]["latent"]


def test_rings_mark_exactly_errors_and_support_vectors(shown):
    board, _, scene = shown
    surface = make_surface(scene)
    frame = make_frame(scene, 6, support=np.arange(40) % 9 == 1)
    board.show_frame(frame)
    np.testing.assert_array_equal(ringed(board, "latent", "support"), frame.support)
    np.testing.assert_array_equal(ringed(board, "latent"), surface.wrong)
    np.testing.assert_array_equal(ringed(board, "input"), surface.beyond)
    assert plane(board, "input", "support") is None


def test_test_rows_are_hollow_and_hidden_labels_grey():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    rows, hidden = board.stage.get("rows"), ~scene.is_test & ~scene.is_labelled
    np.testing.assert_array_equal(rows["kind"] == TEST, scene.is_test)
    assert len(set(rows["kind"][hidden])) == 1
    assert not set(rows["kind"][hidden]) & set(rows["kind"][~hidden])
    assert (rows["colour"][hidden] == len(scene.class_names)).all()
    assert board.stage.get("scale", "light", "palette")[-1] == theme.LIGHT.muted


def test_points_shrink_with_their_number():
    sizes = [point_size(n) for n in (0, 50, 200, 600, 2000, 10_000, 10**6)]
    assert sizes == sorted(sizes, reverse=True)
    assert point_size(200) == 9
    assert point_size(2000) == pytest.approx(5)
    assert min(sizes) == 2.5


# --- tooltips ---------------------------------------------------------------------------------------------------------


def test_tooltip_facts(shown):
    board, _, scene = shown

    def facts():
        return board.stage.get("facts")

    np.testing.assert_array_equal(facts()["row"], scene.row)
    np.testing.assert_array_equal(facts()["predicted"], scene.code)
    np.testing.assert_array_equal(facts()["split"] == 1, scene.is_test)
    assert not facts()["measure"]
    board.method.set_mode("margins")
    board.show_frame(make_frame(scene, picture=make_picture(scene, mode=MARGINS)))
    assert facts()["measure"] == "margin"
    np.testing.assert_array_equal(np.isnan(facts()["value"]), ~scene.is_labelled)
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene))
    assert not facts()["measure"]
    board.show_scene(scene)
    assert (facts()["predicted"] == UNKNOWN).all()


def test_long_names_are_cut():
    board = Board()
    board.show_scene(make_scene(names=("a{safe}" * 30, "short", "with\nlines")))
    assert [len(name) <= 40 for name in board.stage.get("facts", "names")] == [True] * 3
    assert board.stage.get("facts", "names")[1:] == ["short", "with lines"]


def test_pictures_are_sent_only_when_few():
    images = np.random.default_rng(0).integers(0, 256, (40, 8, 8)).astype(np.uint8)
    board = Board()
    board.show_scene(make_scene(image_shape=(8, 8), images=images))
    np.testing.assert_array_equal(board.stage.get("facts", "images"), images)
    many = 3001
    board.show_scene(make_scene(many, image_shape=(8, 8), images=np.zeros((many, 8, 8), np.uint8)))
    assert board.stage.get("facts", "images") is None


# --- extents and tools ------------------------------------------------------------------------------------------------


def test_the_latent_extent_is_sent_when_it_changes(shown):
    board, messages, scene = shown
    board.show_frame(make_frame(scene, 5))
    assert "extent" not in messages[-1]["planes"]["latent"]
    token = plane(board, "latent", "token")
    board.show_frame(make_frame(scene, 6, latent_extent=(-2.0, 2.0, -2.0, 2.0)))
    assert messages[-1]["planes"]["latent"]["extent"] == [-2.0, 2.0, -2.0, 2.0]
    assert plane(board, "latent", "token") == token  # a user's zoom stays
    board.show_scene(scene)
    assert plane(board, "latent", "token") != token


def test_tools_begin_with_what_does_not_hinder_a_finger():
    assert Board().tools == ["select", "pan", "draw"]
    touch = Board(touch=True)
    assert touch.tools == ["scroll", "select", "pan", "draw"]
    assert touch.stage.get("tool") == "scroll"
    touch.use("pan")
    assert touch.stage.get("tool") == "pan"


def test_drawn_points_reach_whoever_listens(shown):
    board, _, scene = shown
    calls = []
    board.input.on_drawn(lambda positions, codes: calls.append((positions, codes)))
    board.input.draw_code = 2
    board.stage.hear({"kind": "drawn", "points": [[0.1, 0.2, 2]]})
    board.stage.hear({"kind": "drawn", "points": [[0.1, 0.3, 2], [0.5, 0.5, 99]]})
    assert len(calls) == 2
    positions, codes = calls[-1]
    np.testing.assert_allclose(positions, [[0.1, 0.3], [0.5, 0.5]])
    assert codes.tolist() == [2, 2]  # there are three classes
    for wrong in (None, [[1, 2]], [[1, 2, float("nan")]], [["a", 1, 1]], [[0, 0, 0]] * 501):
        board.stage.hear({"kind": "drawn", "points": wrong})
    assert len(calls) == 2
    board.show_scene(scene)
    board.input.show_drawn([(0.1, 0.3, 2)])
    assert len(calls) == 2
    assert board.input.draw_code == 2
    np.testing.assert_allclose(board.input.positions, [[0.1, 0.3]])


def test_lines_in_one_piece():
    found = joined(Lines([np.arange(2.0), np.arange(3.0)], [np.arange(2.0), np.arange(3.0)]))
    assert found.shape == (6, 2)
    assert np.isnan(found[2]).all()
    assert found.dtype == np.float64
    assert joined(Lines([], [])).shape == (0, 2)


# --- the method's view ------------------------------------------------------------------------------------------------


def test_empty_method_view_says_so():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    board.method.set_method("k-NN", ())
    board.show_frame(make_frame(scene, picture=None))
    assert "k-NN has no reconstruction" in plane(board, "method", "empty")
    assert plane(board, "method", "picture") is None


def test_a_mode_must_be_one_of_the_methods(shown):
    board, _, _ = shown
    board.method.set_mode("margins")
    assert plane(board, "method", "picture") is None
    with pytest.raises(ValueError, match="one of reconstruction, margins"):
        board.method.set_mode("simplex")
    assert board.method.mode == "margins"


def test_of_many_rows_some_are_joined_to_where_they_came_from():
    scene, board = make_scene(2000), Board()
    board.show_scene(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION,))
    board.show_frame(make_frame(scene))
    assert plane(board, "method", "picture")["tip_mark"] == "origin"
    hidden = plane(board, "method", "ends")["levels"][:, 0] == -32768
    assert 300 < (~hidden).sum() <= 700


def test_margins_have_axes_with_their_own_ticks(shown):
    board, _, scene = shown
    board.method.set_mode("margins")
    assert board.method.picture is None  # nothing is known yet
    board.show_frame(make_frame(scene, picture=make_picture(scene, mode=MARGINS)))
    picture = plane(board, "method", "picture")
    assert board.method.picture.axis_labels
    assert picture["axes"] == ("margin y·f(x)", "pull of the label")
    assert picture["ticks"] == (0.0, 0.5, 1.0)
    assert [entry.name for entry in board.method.legend] == ["margin 0 and 1"]
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene))
    assert not board.method.picture.axis_labels


def test_the_range_of_margins_is_steady(shown):
    board, messages, scene = shown
    board.method.set_mode("margins")
    far = make_picture(scene, 7, MARGINS, stretch=5.0)
    board.show_frame(make_frame(scene, 7, picture=far))
    low, high = plane(board, "method", "extent")[:2]
    assert low < np.nanmin(far.rows[:, 0])
    assert high > np.nanmax(far.rows[:, 0])
    messages.clear()
    board.show_frame(make_frame(scene, 8, picture=make_picture(scene, 7, MARGINS, far, stretch=4.75)))
    assert all("extent" not in message["planes"].get("method", {}) for message in messages)
    unlabelled = dataclasses.replace(scene, is_labelled=np.zeros(len(scene.row), dtype=bool))
    assert make_picture(unlabelled, 8, MARGINS, far).extent == far.extent
