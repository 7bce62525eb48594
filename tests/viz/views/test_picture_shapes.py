"""Pictures of methods: their shapes, and how the view draws them."""

import dataclasses

import numpy as np
import pytest

from supdr_viz.pictures.methods import RECONSTRUCTION, Mode, shapes
from supdr_viz.pictures.picture import Area, Key, Number, Picture, Stroke
from supdr_viz.ui import theme
from supdr_viz.views.board import Board
from supdr_viz.views.stage.packed_positions import unpacked_places
from tests.viz.made_frames import SQUARE, make_frame, make_scene, told

# --- shapes -----------------------------------------------------------------------------------------------------------


def edges(points):
    return np.array([np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[:i]])


@pytest.mark.parametrize(("n_classes", "n_components"), [(2, 1), (2, 3), (3, 2), (4, 3), (5, 4), (4, 9), (10, 9)])
def test_a_simplex_has_equal_edges_and_fits_one_exactly(n_classes, n_components):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(n_classes, n_components))
    found = shapes.regular_corners(means)
    np.testing.assert_allclose(edges(found), edges(found)[0])
    np.testing.assert_allclose(found.mean(axis=0), means.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(shapes.regular_corners(found), found, atol=1e-9)


def test_a_polygon_keeps_the_order_of_the_means_and_a_line_theirs():
    rng = np.random.default_rng(1)
    angle = rng.permutation(6) * np.pi / 3
    means = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + [5.0, -1.0]
    np.testing.assert_allclose(shapes.regular_corners(means), means, atol=1e-9)
    line = np.array([[3.0], [-1.0], [1.0], [5.0]])
    np.testing.assert_allclose(shapes.regular_corners(line), line, atol=1e-9)
    assert shapes.regular_corners(rng.normal(size=(6, 3))) is None


@pytest.mark.parametrize("normal", [(1.0, 0.0), (0.0, -2.0), (0.3, 0.8), (-5.0, 1.0)])
def test_a_line_ends_at_the_frame(normal):
    normal = np.array(normal)
    ends = shapes.line_across(normal, 0.1, SQUARE)
    np.testing.assert_allclose(ends @ normal + 0.1, 0, atol=1e-12)
    np.testing.assert_allclose(abs(ends).max(axis=1), 1)
    assert shapes.line_across(normal, 100.0, SQUARE) is None
    assert shapes.line_across(np.zeros(2), 1.0, SQUARE) is None


def test_an_ellipse_has_the_spread_of_its_points():
    points = np.random.default_rng(0).normal(size=(4000, 2)) @ np.array([[3.0, 0.0], [1.0, 0.5]])
    outline = shapes.ellipse(points, 2.0) - points.mean(axis=0)
    inverse = np.linalg.inv(np.cov(points.T, bias=True))
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", outline, inverse, outline), 4.0, rtol=1e-3)


def test_half_an_ellipse_follows_a_long_group_and_not_the_few_far_away():
    long = np.random.default_rng(0).normal(size=(400, 2)) * [8.0, 1.0]
    far = np.random.default_rng(1).normal(size=(60, 2)) + [0.0, 60.0]
    middle, outline = shapes.half_ellipse(np.concatenate([long, far]))
    wide, high = np.ptp(outline, axis=0)
    np.testing.assert_allclose(middle, 0.0, atol=1.5)
    assert wide > 4 * high
    assert (abs(outline[:, 1]) < 5).all()


@pytest.mark.parametrize("points", [np.ones((1, 2)), np.ones((5, 2)), np.arange(6.0)[:, None] * [1.0, 2.0]])
def test_half_an_ellipse_of_points_in_one_place_or_on_a_line_is_one(points):
    middle, outline = shapes.half_ellipse(points)
    assert np.isfinite(outline).all()
    assert (abs(middle - np.median(points, axis=0)) <= np.ptp(points, axis=0) / 2 + 1e-9).all()


# --- the view ---------------------------------------------------------------------------------------------------------


def any_picture(scene, **changes):
    n = len(scene.position)
    rng = np.random.default_rng(0)
    tips = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
    tips[::2] = np.nan
    picture = Picture(
        mode="toy",
        extent=SQUARE,
        roles=("muted", "error", "class 0"),
        rows=rng.uniform(-1, 1, (n, 2)).astype(np.float32),
        row_role=(np.arange(n) % 2).astype(np.uint8),
        tips=tips,
        strokes=(Stroke(shapes.closed(np.eye(3, 2)), 1, dash="dashed"), Stroke(np.eye(2, dtype=np.float32), 0)),
        areas=(Area(shapes.closed(np.eye(3, 2)), 2),),
        marks=np.eye(2, dtype=np.float32),
        mark_role=np.array([1, 2], dtype=np.uint8),
        image=np.eye(4, dtype=np.uint8),
        keys=(Key("first", "muted"), Key("second", "error", "line", "dashed")),
        numbers=(Number("spread", 0.1),),
    )
    return dataclasses.replace(picture, **changes)


TOY = Mode("toy", "toy", "Toy", "a toy", lambda *arguments: None)


@pytest.fixture
def shown():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    board.method.set_method("Toy", (TOY, RECONSTRUCTION))
    board.show_frame(make_frame(scene, 4, picture=any_picture(scene)))
    return board, told(board.stage), scene


def drawn(board):
    """What the stage has of the method's picture."""
    return board.stage.get("planes", "method", "picture")


def test_a_picture_is_drawn_whole(shown):
    board, _, scene = shown
    view, picture = board.method, any_picture(scene)
    assert (view.title, view.caption()) == ("Toy", "a toy")
    np.testing.assert_allclose(board.points.places("method"), picture.rows, atol=1e-3)
    told_of, ends = drawn(board), unpacked_places(board.stage.get("planes", "method", "ends"))
    np.testing.assert_allclose(ends, picture.tips, atol=1e-3)
    np.testing.assert_array_equal(told_of["row_role"], picture.row_role)
    light, dark = zip(*told_of["roles"])
    assert light == (theme.LIGHT.muted, theme.LIGHT.error, theme.LIGHT.classes[0])
    assert dark == (theme.DARK.muted, theme.DARK.error, theme.DARK.classes[0])
    assert len(told_of["strokes"]) == 2
    np.testing.assert_array_equal(told_of["image"], picture.image)
    assert told_of["extent"] == SQUARE
    assert told_of["rows"]
    assert told_of["tip_mark"] == "arrow"
    assert [(entry.name, entry.kind) for entry in view.legend] == [("first", "point"), ("second", "line")]
    assert view.numbers == picture.numbers


def test_rows_without_roles_have_the_colours_of_their_classes(shown):
    board, _, scene = shown
    assert drawn(board)["row_role"] is not None
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene, 5))
    assert drawn(board)["row_role"] is None


def test_leaving_the_mode_hides_everything(shown):
    board, _, _ = shown
    board.method.set_mode("reconstruction")
    assert drawn(board) is None
    assert board.method.numbers == ()


def test_a_picture_of_another_mode_is_not_drawn(shown):
    board, messages, scene = shown
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene, 4))
    messages.clear()
    board.show_frame(make_frame(scene, 4, picture=any_picture(scene)))
    assert messages == []
    assert board.method.picture.mode == "reconstruction"


def test_the_same_picture_sends_nothing_and_a_new_one_what_moved(shown):
    board, messages, scene = shown
    frame = make_frame(scene, 4, picture=any_picture(scene))
    board.show_frame(frame)
    messages.clear()
    board.show_frame(frame)
    assert messages == []
    picture = any_picture(scene)
    moved = dataclasses.replace(picture, rows=picture.rows * 0.9, tips=picture.tips * 0.9)
    board.show_frame(dataclasses.replace(frame, picture=moved))
    (message,) = messages
    assert set(message["planes"]["method"]) == {"place", "ends"}


def test_a_picture_without_rows_leaves_only_its_own_shapes(shown):
    board, _, scene = shown
    bare = any_picture(scene, rows=None, row_role=None, tips=None, strokes=(), axis_labels=("across", "up"))
    board.method.show_scene(scene)
    board.show_frame(make_frame(scene, 6, picture=bare))
    assert not drawn(board)["rows"]
    assert drawn(board)["axes"] == ("across", "up")
    assert drawn(board)["strokes"] == ()
