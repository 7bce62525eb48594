"""Squares as images: what stands in them is where and as it should be."""

import re
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from supdr_viz.experiment.settings import Settings
from supdr_viz.export.drawing import FILLS, TEST, square
from supdr_viz.export.film import GAP, HEAD, picture, squares
from supdr_viz.export.film import SIDE as SIDE_OF_FILM
from supdr_viz.export.pen import Pen, dashed, stamp
from supdr_viz.export.picture import LEFT, draw_above, draw_below, round_ticks
from supdr_viz.pictures.methods import modes_of
from supdr_viz.pictures.picture import Stroke
from supdr_viz.pictures.types import Density, Lines
from supdr_viz.ui.theme import palette
from supdr_viz.views.board import Squares
from supdr_viz.views.marker_shapes import FARTHEST, SHAPES, corners_of
from supdr_viz.views.plane import class_legend
from supdr_viz.views.stage.constants import DRAWN
from tests.viz.films import film, finished
from tests.viz.made_frames import make_frame, make_scene, make_surface

SIDE = 240


def rgb(colour):
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)], dtype=float)


def drawn(scene, surface=None, **options):
    squares = Squares()
    squares.show_scene(scene)
    if surface is not None:
        squares.show_surface(surface)
    squares.show_frame(make_frame(scene, support=np.zeros(len(scene.position), dtype=bool)))
    return np.asarray(square(squares.stage.tree, "input", SIDE, **options), dtype=float)


def place(x, y, extent=(-1.0, 1.0, -1.0, 1.0)):
    return round(SIDE * (extent[3] - y) / (extent[3] - extent[2])), round(SIDE * (x - extent[0]) / 2)


def corners(n):
    """A row in the middle of each of nine cells."""
    x, y = np.meshgrid([-0.6, 0.0, 0.6], [-0.6, 0.0, 0.6])
    return np.column_stack([x.ravel(), y.ravel()]).astype(np.float32)[:n]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["train", "test", "hidden"])
def test_a_row_has_its_colour_where_it_stands(dark, kind):
    test, labelled = np.full(9, kind == "test"), np.full(9, kind == "train")
    scene = make_scene(9, position=corners(9), is_test=test, is_labelled=labelled)
    image, colours = drawn(scene, dark=dark), palette(dark)
    fill = FILLS[{"train": 0, "test": TEST, "hidden": 2}[kind]]
    for (x, y), code in zip(scene.position, scene.code):
        own = rgb(colours.muted if kind == "hidden" else colours.classes[code])
        np.testing.assert_allclose(image[place(x, y)], fill * own + (1 - fill) * rgb(colours.card), atol=2)
        row, column = place(x, y)
        box = image[row - 8 : row + 9, column - 8 : column + 9].reshape(-1, 3)
        away = np.abs(box - own).sum(axis=1)
        assert away.min() < 0.2 * np.abs(rgb(colours.card) - own).sum()  # the outline, smoothed


@pytest.mark.parametrize("shape", range(SHAPES))
def test_a_mark_covers_what_its_outline_encloses(shape):
    x, y = np.array(corners_of(shape, 20.0)).T
    area = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    mask = np.asarray(stamp(shape, 40.0, 1.0, 0.0), dtype=float) / 255
    assert mask.sum() == pytest.approx(area, rel=0.06)
    middle = (len(mask) - 1) / 2
    across, down = np.indices(mask.shape)[1] - middle, middle - np.indices(mask.shape)[0]
    centre = [np.average(values, weights=mask) for values in (across, down)]
    np.testing.assert_allclose(centre, [0.0, 0.0], atol=0.6)
    hollow = np.asarray(stamp(shape, 40.0, 0.0, 1.0))
    assert hollow[len(mask) // 2, len(mask) // 2] == 0
    assert hollow.max() > 230  # of 255: edges are smoothed


def test_shapes_are_those_of_the_page():
    """Their order there gives them their numbers."""
    names = DRAWN["shapes"]
    upside_down, triangle = (np.array(corners_of(names.index(name), 1.0)) for name in ("inverted_triangle", "triangle"))
    assert len(names) == SHAPES
    np.testing.assert_allclose(upside_down, triangle * [1, -1])
    assert len(corners_of(names.index("square"), 1.0)) == 4
    assert len(corners_of(names.index("plus"), 1.0)) == 12
    assert len(corners_of(names.index("star"), 1.0)) == 10


def test_a_legend_shows_the_marks_that_its_rows_have():
    scene = make_scene(60, 12)
    entries = class_legend(scene)[:12]
    assert [entry.shape for entry in entries] == [code % SHAPES for code in range(12)]
    assert [entries[code].outline for code in (0, SHAPES)] == ["", ""]  # circles
    for entry in entries[1:SHAPES]:
        places = re.findall(r"([\d.-]+)% ([\d.-]+)%", entry.outline)
        across, down = (np.array(places, dtype=float) / 50 - 1).T * FARTHEST
        np.testing.assert_allclose(np.column_stack([across, -down]), corners_of(entry.shape, 1.0), atol=2e-3)
    assert all(entry.shape == 0 for entry in class_legend(scene, "prediction"))


def test_boundaries_are_whole_and_margins_dashed():
    scene = make_scene(4, 2, position=corners(4))
    surface = make_surface(scene, wrong=np.zeros(4, dtype=bool), beyond=np.zeros(4, dtype=bool))
    lines = [Lines([np.array([at, at])], [np.array([-0.9, 0.9])]) for at in (0.3, -0.3)]
    sheet = replace(surface.input, image=np.zeros((8, 8), np.uint8), boundary=lines[0], margin=lines[1])
    image = drawn(scene, replace(surface, input=sheet))
    ground = image[place(0.8, 0.8)]
    covered = [np.abs(image[20:220, place(at, 0.0)[1]] - ground).sum(axis=1) > 60 for at in (0.3, -0.3)]
    assert covered[0].all()
    assert 0.4 < covered[1].mean() < 0.8
    assert np.diff(covered[1].astype(int)).any()


def test_all_rows_show_as_density_where_some_are_drawn():
    levels = np.zeros((4, 4, 4), dtype=np.uint8)
    levels[1, 0, 0] = 200  # of the second class, lower left
    density = Density(levels, (-1.0, 1.0, -1.0, 1.0))
    nowhere = np.zeros(9, dtype=bool)
    scene = make_scene(9, position=corners(9), drawn=np.array([8]), density=density, is_test=nowhere)
    image, colours = drawn(scene), palette(False)
    share = 200 / 255
    expected = share * rgb(colours.classes[1]) + (1 - share) * rgb(colours.card)
    np.testing.assert_allclose(image[place(-0.9, -0.9)], expected, atol=3)
    np.testing.assert_allclose(image[place(-0.9, 0.9)], rgb(colours.card), atol=1)
    np.testing.assert_allclose(image[place(0.0, 0.0)], rgb(colours.card), atol=1)  # a row that is not drawn
    assert np.abs(image[place(0.6, 0.6)] - rgb(colours.card)).sum() > 60  # one that is


def test_rows_on_the_wrong_side_are_ringed():
    scene = make_scene(9, position=corners(9))
    wrong = np.arange(9) == 4
    without, ringed = (drawn(scene, make_surface(scene, wrong=wrong, beyond=rows)) for rows in (wrong & False, wrong))
    rows, columns = np.nonzero((without != ringed).any(axis=2))
    assert np.hypot(rows - SIDE / 2, columns - SIDE / 2).min() > 4
    assert np.hypot(rows - SIDE / 2, columns - SIDE / 2).max() < 15
    assert np.abs(ringed[rows, columns] - rgb(palette(False).error)).sum(axis=1).min() < 60


def test_rings_of_errors_are_set_off_from_rows_of_their_colour():
    """Among rows that lie all over it, a ring has edges in the colour of the card."""
    rng = np.random.default_rng(0)
    crowd = rng.uniform(-0.5, 0.5, (900, 2))
    scene = make_scene(901, position=np.vstack([[[0.0, 0.0]], crowd]))
    wrong = np.arange(901) == 0
    without, ringed = (drawn(scene, make_surface(scene, wrong=rows, beyond=rows)) for rows in (wrong & False, wrong))
    rows, columns = np.nonzero((without != ringed).any(axis=2))
    near = np.abs(ringed[rows, columns] - rgb(palette(False).card)).sum(axis=1) < 30
    assert np.count_nonzero(near) > 10


def test_rings_of_many_errors_leave_the_colours_of_the_rows():
    rng = np.random.default_rng(0)
    scene = make_scene(600, position=rng.uniform(-0.6, 0.6, (600, 2)))
    wrong = rng.random(600) < 0.5
    without, ringed = (drawn(scene, make_surface(scene, wrong=rows, beyond=rows)) for rows in (wrong & False, wrong))
    for colour in palette(False).classes[:3]:
        before, after = (np.count_nonzero(np.abs(each - rgb(colour)).sum(axis=2) < 90) for each in (without, ringed))
        assert before > 1000
        assert after > 0.9 * before
    assert (without != ringed).any()


def test_dashes_follow_the_line_and_are_cut_where_it_leaves_the_image():
    line = np.array([[-5e6, 10.0], [50.0, 10.0], [50.0, 90.0]])
    parts = dashed(line, [6.0, 4.0], (100, 100))
    lengths = [np.hypot(*np.diff(part, axis=0).T).sum() for part in parts]
    np.testing.assert_allclose(lengths[1:-1], 6.0, rtol=1e-6)
    assert sum(lengths) == pytest.approx(0.6 * 130, abs=8)
    assert min(part[:, 0].max() for part in parts) >= 0
    for part in parts:
        assert ((part[:, 1] == 10.0) | (part[:, 0] == 50.0)).all()
    assert dashed(line[:1], [6.0, 4.0], (100, 100)) == []


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (0.001, 0.0032), (-5e6, 1e7)])
def test_ticks_are_round_and_within(low, high):
    ticks = np.array(round_ticks(low, high, 5))
    assert 2 <= len(ticks) <= 7
    assert (ticks >= low - 1e-9 * abs(low)).all()
    assert (ticks <= high * (1 + 1e-9)).all()
    digits = np.diff(ticks) / 10.0 ** np.floor(np.log10(np.diff(ticks)) + 1e-9)
    assert {round(float(digit), 6) for digit in digits} <= {1.0, 2.0, 5.0}
    assert round_ticks(0, 3, 5, whole=True) == [0, 1, 2, 3]


MODES = {
    "arrows": Settings("digits_bits", {}, "SDRGLM", {"max_iter": 2}),
    "charts": Settings("iris", {}, "ClassAtlas", {"max_iter": 3}),
    "gates": Settings("zigzag", {"n_samples": 40}, "SLDR", {"max_iter": 2}),
    "targets": Settings("spirals", {"n_per_class": 15, "n_classes": 3}, "MAC", {"max_iter": 2, "n_centers": 10}),
    "values": Settings("curved_sheet", {"n_samples": 60}, "SNF", {"max_iter": 2}, label_share=0.5),
}


@pytest.mark.parametrize("settings", MODES.values(), ids=MODES)
def test_every_picture_of_a_method_is_in_its_film(settings):
    with closing(finished(settings)) as session:
        plain = picture(film(session, limit=1))
        for mode in modes_of(session.estimator, session.scene.task, images=session.scene.images is not None):
            if not mode.is_measured:
                whole = picture(film(session, limit=1, method_mode=mode.name))
                assert whole.size == (plain.width + SIDE_OF_FILM + GAP, plain.height)
                left = 2 * SIDE_OF_FILM + 3 * GAP
                square_ = np.asarray(whole)[HEAD : HEAD + SIDE_OF_FILM, left : left + SIDE_OF_FILM]
                assert len(np.unique(square_.reshape(-1, 3), axis=0)) > 10, mode.name


def test_pictures_of_the_gallery_have_no_words():
    with closing(finished(MODES["values"])) as session:
        replay = film(session, limit=1, method_mode="predictions")
        left = 2 * SIDE_OF_FILM + 3 * GAP
        told = picture(replay).crop((left, HEAD, left + SIDE_OF_FILM, HEAD + SIDE_OF_FILM))
        bare = squares(replay, ("method",))
    corner = (0, 4, LEFT - 8, SIDE_OF_FILM // 3)  # of numbers of the axis, far from the rows and the diagonal
    inked = [len(np.unique(np.asarray(each.crop(corner)).reshape(-1, 3), axis=0)) for each in (told, bare)]
    assert inked[0] > 20 > inked[1]


def test_strokes_lie_over_or_under_the_rows_and_edges_set_them_off():
    line = np.array([[-0.8, 0.0], [0.8, 0.0]], dtype=np.float32)
    told = {"roles": [["#FF0000", "#FF0000"]], "marks": None, "image": None, "photo": None, "areas": [], "tags": []}
    row, column = place(0.0, 0.0)
    for above in (False, True):
        told["strokes"] = [Stroke(line, 0, 4.0, above=above, edge=3.0)]
        for draw, expected in ((draw_below, not above), (draw_above, above)):
            pen = Pen((SIDE, SIDE), (-1.0, 1.0, -1.0, 1.0), "#808080", 1)
            draw(pen, told, dark=False)
            across = np.asarray(pen.image)[row - 8 : row + 9, column]
            red = (across == [255, 0, 0]).all(axis=1).sum()
            card = (across == rgb(palette(False).card)).all(axis=1).sum()
            assert (red, card) == ((pytest.approx(4, abs=1), pytest.approx(6, abs=1)) if expected else (0, 0))
