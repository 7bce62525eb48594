"""Colours of the squares without a browser: what they mean, on which scale, and what legends and captions say."""

import colorsys
import dataclasses
import importlib
import itertools
import pkgutil
import re

import numpy as np
import pytest

from supdr_viz.pictures import methods
from supdr_viz.pictures.methods.mac import MEANS
from supdr_viz.pictures.picture import Key, Picture
from supdr_viz.pictures.row_columns import RowColumns
from supdr_viz.pictures.types import Curves, Lines, MapQuality, Sheet
from supdr_viz.ui import theme
from supdr_viz.views.board import Board
from supdr_viz.views.colours import DOUBTS, SHADES, TRUSTS, colour_choices, shades_of
from supdr_viz.views.errors import STYLES, Errors
from supdr_viz.views.figures import css
from supdr_viz.views.losses import Losses
from supdr_viz.views.plane import class_legend, points_legend
from supdr_viz.views.points import MOST_RINGS, SHAPES, Points
from supdr_viz.views.stage.stage import Stage
from tests.viz.made_frames import SQUARE, make_frame, make_scene, make_surface
from tests.viz.views.square_cases import plane, ringed, shown_board

ROOM = 27
"""Letters for which a card has room beside its buttons at 1,280 pixels."""

COLOURS = ("label", "truth", "prediction", "error")


def channels(colour):
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def hue(colour):
    return colorsys.rgb_to_hls(*channels(colour))[0]


def saturation(colour):
    return colorsys.rgb_to_hls(*channels(colour))[2]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def coloured_scene(task, is_labelled=None):
    """A scene whose rows have a column to be coloured by."""
    scene = make_scene(task=task)
    columns = RowColumns([np.arange(40.0)[:, None]], ["size"])
    labelled = scene.is_labelled if is_labelled is None else is_labelled
    return dataclasses.replace(scene, columns=columns, is_labelled=labelled)


@pytest.fixture
def shown():
    return shown_board()


def test_colours_of_both_themes_are_told(shown):
    board, _, _ = shown
    for place, name in enumerate(("light", "dark")):
        colours = theme.palette(name == "dark")
        assert board.stage.get("scale", name, "palette")[:3] == list(colours.classes[:3])
        lines = {line["name"]: line for line in board.stage.get("charts", "losses", "lines")}
        assert lines["objective"]["colours"][place] == colours.curves[0]


def test_many_classes_get_colours_and_shapes():
    n_classes = 23
    board, scene = Board(), make_scene(92, n_classes=n_classes)
    board.show_scene(scene)
    for name in ("scale", "surface_scale"):
        found = board.stage.get(name, "light")
        assert len(found["palette"]) == n_classes + 1
        assert (found["low"], found["high"]) == (-0.5, n_classes + 0.5)
    assert set(board.stage.get("rows", "shape")) == set(range(SHAPES))
    ten = theme.palette(False).classes
    assert len(set(ten)) == len(ten) >= 10
    for colours in (theme.palette(dark) for dark in (False, True)):
        assert colours.error not in colours.classes  # a ring around an error is no class
    assert [entry.name for entry in class_legend(scene)][-2:] == ["test", "label hidden"]


@pytest.mark.parametrize("dark", [False, True])
def test_colours_of_doubts_stand_out_from_cards_the_more_the_larger(dark):
    """Also for those who tell few hues apart; and none looks like an error or a class."""
    colours = theme.palette(dark)
    for colour_by in (*DOUBTS, *TRUSTS):
        shades = shades_of(colour_by, dark)[:: -1 if colour_by in TRUSTS else 1]
        contrasts = np.array([contrast(shade, colours.card) for shade in shades])
        assert contrasts.min() > 3
        assert (np.diff(contrasts[::20]) > 0).all()
        assert contrasts[-1] > 1.7 * contrasts[0]
        for deficiency in (None, DEUTERANOPIA, PROTANOPIA):
            levels = [lab(shade, deficiency) for shade in shades[:: len(shades) // 5]]
            assert min(np.linalg.norm(one - other) for one, other in itertools.pairwise(levels)) > 12
            assert np.linalg.norm(lab(shades[0], deficiency) - lab(shades[-1], deficiency)) > 75
        assert min(np.linalg.norm(lab(shade) - lab(colours.error)) for shade in shades) > 35
        assert min(np.linalg.norm(lab(shades[-1]) - lab(each)) for each in colours.classes) > 14


def test_scales_of_doubts_follow_the_theme_as_the_rows_do():
    for colour_by in TRUSTS:
        (entry, *_) = class_legend(make_scene(), colour_by, np.linspace(0.5, 1, 40))
        assert [*re.findall(r"--supdr-d-(\d)", entry.colour)] == [*"543210"]
        for dark in (False, True):
            variables = theme.css_variables(theme.palette(dark))
            assert f"--supdr-d-5: {shades_of(colour_by, dark)[0].upper()}" in variables


def test_a_class_keeps_its_hue_in_both_themes():
    """And of two classes of about the same hue the same one is the lighter."""
    light, dark = (theme.palette(dark).classes for dark in (False, True))
    for one, other in zip(light, dark):
        turn = abs(hue(one) - hue(other))
        assert min(turn, 1.0 - turn) < 0.07
    for first, second in itertools.combinations(range(len(light)), 2):
        alike = abs(hue(light[first]) - hue(light[second])) < 0.03
        if alike and min(saturation(light[first]), saturation(light[second])) > 0.3:
            lighter = [luminance(colours[first]) > luminance(colours[second]) for colours in (light, dark)]
            assert lighter[0] == lighter[1]


def test_one_class_surface_and_no_surface(shown):
    board, _, scene = shown
    nothing = Lines([], [])
    flat = Sheet(np.zeros((50, 50), dtype=np.uint8), SQUARE, nothing, nothing)
    board.show_surface(make_surface(scene, input=flat, latent=flat, wrong=np.zeros(len(scene.row), dtype=bool)))
    assert len(plane(board, "input", "boundary")) == 0
    assert plane(board, "input", "region")["extent"] == list(SQUARE)
    board.show_surface(make_surface(scene, input=None, latent=None))
    assert plane(board, "input", "region") is None
    assert plane(board, "latent", "boundary") is None


def test_regression_surface_and_points_share_one_scale():
    board, scene = Board(), make_scene(task="regression")
    board.show_scene(scene)
    low, high = 50.0, 250.0
    board.show_surface(make_surface(scene, value_range=(low, high), wrong=np.zeros(40, dtype=bool)))
    points, surface = board.stage.get("scale", "light"), board.stage.get("surface_scale", "light")
    assert points["palette"] == surface["palette"] == list(SHADES)
    for value in (scene.target.min(), scene.target.mean(), scene.target.max()):
        level = 255 * (value - low) / (high - low)
        as_point = (value - points["low"]) / (points["high"] - points["low"])
        as_level = (level - surface["low"]) / (surface["high"] - surface["low"])
        assert as_level == pytest.approx(as_point, abs=1e-5)
    hidden = ~scene.is_test & ~scene.is_labelled
    np.testing.assert_array_equal(np.isnan(board.stage.get("rows", "colour")), hidden)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("colour_by", COLOURS)
def test_colours_mean_what_was_chosen(task, colour_by):
    scene = make_scene(task=task)
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    predicted = np.roll(scene.target, 1)
    wrong = predicted != scene.target if task == "classification" else np.zeros(40, dtype=bool)
    board.show_surface(make_surface(scene, predicted=predicted, wrong=wrong))
    points = board.points
    points.show_colours(colour_by)
    shown, hidden = board.stage.get("rows", "colour"), ~scene.is_test & ~scene.is_labelled
    if task == "regression":
        expected = {
            "label": np.where(hidden, np.nan, scene.target),
            "truth": scene.target,
            "prediction": predicted,
            "error": abs(predicted - scene.target),
        }
    else:
        expected = {
            "label": np.where(hidden, 3, scene.code),
            "truth": scene.code,
            "prediction": predicted,
            "error": np.where(wrong, 4, 3),
        }
    np.testing.assert_array_equal(shown, expected[colour_by].astype(shown.dtype))
    finite = shown[np.isfinite(shown)]
    scale = board.stage.get("scale", "light")
    beyond = (finite < scale["low"]) | (finite > scale["high"])
    few = 0.06 if task == "regression" else 0.0  # so few far values do not stretch the scale
    assert beyond.mean() <= few or colour_by == "error"
    if task == "classification":
        assert len(scale["palette"]) == (5 if colour_by == "error" else 4)
        ring = plane(board, "input", "ring")["role"]
        assert getattr(theme.palette(False), ring) not in scale["palette"]


@pytest.mark.parametrize("colour_by", ["prediction", "error"])
def test_predicted_colours_follow_the_surface(colour_by):
    scene = make_scene(task="regression")
    board = Board()
    board.points.show_colours(colour_by)
    board.show_scene(scene)
    assert np.isnan(board.stage.get("rows", "colour")).all()  # nothing is predicted yet
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene, predicted=scene.target + 1))
    expected = scene.target + 1 if colour_by == "prediction" else np.ones(40)
    np.testing.assert_allclose(board.stage.get("rows", "colour"), expected, rtol=1e-5)


def test_other_colours_leave_the_rings_on_the_rows_beyond_the_boundary():
    scene, board = make_scene(), Board()
    rows = np.arange(len(scene.code))
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene, wrong=rows % 7 == 0, beyond=rows % 3 == 0))
    for colour_by in (*COLOURS, "label"):
        board.points.show_colours(colour_by)
        np.testing.assert_array_equal(ringed(board, "input"), rows % 3 == 0)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("colour_by", [*COLOURS, "trust", "loss", "spread", "column:size"])
def test_regions_have_the_rows_colours_or_none(task, colour_by):
    """Also the method's picture: colours of classes stand only where the legend of the rows has them."""
    board, scene = Board(), coloured_scene(task)
    board.method.set_method("MAC", (MEANS,))
    board.show_colours(colour_by)
    board.show_scene(scene)
    means = Picture(SQUARE, ("class 0", "class 1"), marks=np.zeros((1, 2)), mark_role=[0], mode=MEANS.name)
    means = dataclasses.replace(means, image=np.zeros((2, 2), dtype=np.uint8))
    board.show_frame(make_frame(scene, picture=dataclasses.replace(means, keys=(Key("named", "class 1"),))))
    board.show_surface(make_surface(scene))
    told = [entry.name for entry in points_legend(board.points)]
    named = set(scene.class_names) <= set(told) if task == "classification" else told[0] in ("target", "prediction")
    for dark, name in enumerate(("light", "dark")):
        colours, shades = theme.palette(bool(dark)), board.stage.get("surface_scale", name, "palette")
        assert named == (set(shades) != {colours.card})
        roles = [each[dark] for each in plane(board, "method", "picture")["roles"]]
        assert roles == [colours.classes[0] if named else colours.muted, colours.classes[1]]  # its own legend names it
    assert (plane(board, "method", "picture")["image"] is None) == (not named)
    assert (board.method.caption() == MEANS.caption) == named
    board.show_colours("label")
    assert plane(board, "method", "picture")["roles"][0][0] == theme.LIGHT.classes[0]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("colour_by", [*COLOURS, "trust", "loss", "spread", "column:size"])
@pytest.mark.parametrize("few", [False, True])
def test_every_ring_stands_in_the_legend(task, colour_by, few):
    scene = coloured_scene(task, is_labelled=None if few else np.arange(40) < 30)
    board, rows = Board(), np.arange(40)
    board.show_colours(colour_by)
    board.show_scene(scene)
    quality = MapQuality(5, 3, np.where(rows < 3, 0.1, 1.0), np.ones(40), *np.full((2, 40, 3), -1), {}, 0)
    board.show_frame(make_frame(scene, support=rows % 10 == 1, truth=quality))
    classes = task == "classification"
    board.show_surface(make_surface(scene, wrong=classes & (rows % 9 == 2), beyond=classes & (rows % 9 < 2)))
    legends = {"input": points_legend(board.points)}
    legends["latent"] = [*legends["input"], *board.latent.legend]
    for view, entries in legends.items():
        rings = [plane(board, view, name) for name in ("ring", "support")]
        drawn = [ring["role"] for ring in rings if ring is not None and ring["rows"].any()]
        assert sorted(css(role) for role in drawn) == sorted(each.colour for each in entries if each.kind == "ring")
    assert any(each.kind == "hollow" and each.name == "test" for each in legends["input"])


def test_margins_stand_in_the_legend_while_they_are_drawn():
    board, scene = Board(), make_scene(n_classes=2)
    board.show_scene(scene)
    surface = make_surface(scene)
    line = Lines([np.zeros(2)], [np.ones(2)])
    for margin in (line, Lines([], [])):
        board.show_surface(dataclasses.replace(surface, latent=dataclasses.replace(surface.latent, margin=margin)))
        dashes = [entry.dash for entry in points_legend(board.points) if entry.kind == "line"]
        assert dashes == (["solid", "dashed"] if margin is line else [])  # lines of two kinds are told apart


def test_rings_of_both_planes_agree_where_both_predictions_do():
    scene, board, rows = make_scene(), Board(), np.arange(40)
    wrong, beyond = rows % 7 == 0, rows % 5 == 0
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene, wrong=wrong, beyond=beyond))
    agree = wrong == beyond
    np.testing.assert_array_equal(ringed(board, "latent")[agree], ringed(board, "input")[agree])
    np.testing.assert_array_equal(ringed(board, "latent"), wrong)
    board.show_frame(make_frame(scene, as_new=True))  # training rows stand where new ones would
    np.testing.assert_array_equal(ringed(board, "latent"), beyond)


def test_rings_of_most_rows_leave_the_map_to_be_seen():
    scene, board, rows = make_scene(), Board(), np.arange(40)
    board.show_scene(scene)
    looks = {}
    for many in (False, True):
        some = rows < (30 if many else 5)
        board.show_frame(make_frame(scene, support=some & ~scene.is_test))
        board.show_surface(make_surface(scene, wrong=some, beyond=some))
        looks[many] = plane(board, "latent", "ring"), plane(board, "latent", "support"), board.latent.legend
    assert looks[True][0]["alpha"] < 0.6 * looks[False][0]["alpha"]
    assert looks[True][0]["width"] < looks[False][0]["width"]
    assert looks[True][0]["gap"] < looks[False][0]["gap"]
    assert [looks[many][0]["under"] for many in (False, True)] == [False, True]  # colours and shapes lie above many
    assert looks[False][1] is not None
    assert looks[True][1] is None
    assert [entry.name for entry in looks[False][2]] == ["support vectors"]
    assert looks[True][2] == []  # a legend lists what is drawn


def test_rings_on_small_planes_are_closer_where_a_tenth_of_the_rows_has_one():
    scene, points = make_scene(), Points(small=True)
    points.show_scene(scene)
    points.show_frame(make_frame(scene))
    looks = []
    for count in (3, 12):
        some = np.arange(40) < count
        points.show_surface(make_surface(scene, wrong=some, beyond=some))
        looks.append(points.stage.get("planes", "latent", "ring"))
    assert looks[1]["gap"] < looks[0]["gap"]
    assert looks[1]["alpha"] < looks[0]["alpha"]


def lab(colour, deficiency=None):
    """L*, a* and b* of a colour, as it is seen with a deficiency of colour vision (Machado et al. 2009)."""
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)])
    linear = linear if deficiency is None else np.clip(deficiency @ linear, 0, 1)
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ linear / to_xyz.sum(axis=1), 1e-6))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTANOPIA = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])


@pytest.mark.parametrize("dark", [False, True])
def test_curves_are_told_apart_from_classes_and_from_one_another(dark):
    colours = theme.palette(dark)
    for curve in colours.curves:
        assert contrast(curve, colours.card) > 3
        assert min(np.linalg.norm(lab(curve) - lab(each)) for each in colours.classes) > 16
    for one, other in itertools.combinations(colours.curves, 2):
        assert np.linalg.norm(lab(one) - lab(other)) > 25
        for deficiency in (DEUTERANOPIA, PROTANOPIA):
            assert np.linalg.norm(lab(one, deficiency) - lab(other, deficiency)) > 11


def test_a_curve_keeps_its_hue_in_both_themes():
    for light, dark in zip(theme.LIGHT.curves, theme.DARK.curves):
        first, second = lab(light)[1:], lab(dark)[1:]
        if min(np.linalg.norm(first), np.linalg.norm(second)) > 10:  # others are greys
            assert first @ second > 0.85 * np.linalg.norm(first) * np.linalg.norm(second)


def test_no_two_curves_of_a_chart_look_alike():
    """A term also looks the same in every chart."""
    losses, errors = Losses(Stage(), "losses"), Errors(Stage(), "errors")
    terms = ["reconstruction", "label", "margin", "regularisation", "room", "a", "b", "c", "objective", "bound"]
    for styles in (losses.styles_of([*terms, "surrogate"]), errors.styles_of(list(STYLES))):
        assert len({(style.role, style.dash) for style in styles.values()}) == len(styles)
    alone = losses.styles_of(["label", "objective"])["label"]
    assert alone == losses.styles_of(terms)["label"]


def test_no_curve_of_errors_has_a_colour_of_the_losses():
    """They stand side by side."""
    terms = ["reconstruction", "label", "margin", "regularisation", "room", "a", "b", "objective", "bound", "surrogate"]
    of_losses = {style.role for style in Losses(Stage(), "losses").styles_of(terms).values()}
    of_errors = {style.role for style in Errors(Stage(), "errors").styles_of([*STYLES, "another", "one more"]).values()}
    assert not of_losses & of_errors


@pytest.mark.parametrize(("wrong", "before"), [(0, 0.0), (3, 0.0), (0, 5.0)])
def test_a_legend_lists_errors_where_there_are_some_or_were(wrong, before):
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    errors = Curves(np.arange(2), {"train": np.array([before, 0.0])})
    board.show_frame(dataclasses.replace(make_frame(scene), errors=errors))
    assert "errors" in [entry.name for entry in points_legend(board.points)]  # whether there are is not known yet
    some = np.arange(40) < wrong
    board.show_surface(make_surface(scene, wrong=some, beyond=some))
    assert ("errors" in [entry.name for entry in points_legend(board.points)]) == bool(wrong or before)


@pytest.mark.parametrize("only_training", [False, True])
def test_test_rows_that_crowd_in_the_middle_are_explained(only_training):
    board, scene = Board(), make_scene(120)
    board.show_scene(scene)
    board.show_surface(make_surface(scene))
    frame = make_frame(scene, only_training=only_training)
    board.show_frame(frame)
    assert "test rows" not in board.latent.verdict.lower()
    crowded = np.where(scene.is_test[:, None], 0.05 * frame.latent, frame.latent)
    board.show_frame(dataclasses.replace(frame, latent=crowded))
    assert "test rows" in board.latent.verdict.lower()
    assert ("Regions" in board.latent.verdict) == only_training


def test_labelled_rows_of_a_regression_are_ringed():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene, support=np.zeros(40, dtype=bool)))
    board.show_surface(make_surface(scene, beyond=np.zeros(40, dtype=bool)))
    for view in (board.input, board.latent):
        np.testing.assert_array_equal(ringed(board, view.name), scene.is_labelled)
        assert plane(board, view.name, "ring")["role"] == "text"
    everything = make_scene(task="regression", is_labelled=~scene.is_test)
    board.show_scene(everything)
    board.show_surface(make_surface(everything, beyond=np.zeros(40, dtype=bool)))
    assert not ringed(board, "input").any()


def test_captions_find_room_beside_the_buttons():
    modules = [
        importlib.import_module(f"{methods.__name__}.{each.name}") for each in pkgutil.iter_modules(methods.__path__)
    ]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, methods.Mode)}
    assert len(found) > 15
    assert [each.caption for each in found if len(each.caption) > ROOM] == []


def test_a_caption_says_how_many_of_the_errors_are_ringed():
    board, scene = Board(), make_scene(7 * 12 * MOST_RINGS)
    board.show_scene(scene)
    assert board.input.caption() == "regions: predicted class"
    board.show_surface(make_surface(scene))  # every seventh row is wrong
    for view in (board.input, board.latent):
        board.show_frame(make_frame(scene))
        said = re.search(r"every (\d+)th error ringed", view.caption())
        assert abs(int(said[1]) - 12) <= 2  # they are drawn at random


def test_legends_say_what_colours_mean():
    values, classes = make_scene(task="regression"), make_scene()
    names = {by: [entry.text for entry in class_legend(values, by)] for by in COLOURS}
    assert "label hidden" in names["label"]
    ends = [entry.ends for entry in class_legend(values, "truth")[:1] + class_legend(values, "prediction")[:1]]
    assert ends[0] == ends[1]
    assert names["error"][0].startswith("error 0 to")
    assert all("labelled" in said for said in names.values())
    assert [entry.name for entry in class_legend(classes, "error")][:2] == ["wrong", "right"]
    assert "label hidden" not in [entry.name for entry in class_legend(classes, "truth")]


def test_choices_of_colours():
    assert list(colour_choices(make_scene())) == [*COLOURS, "trust"]
    assert list(colour_choices(make_scene(task="regression"))) == [*COLOURS, "trust"]
    labelled = make_scene()
    labelled = dataclasses.replace(labelled, is_labelled=~labelled.is_test)
    assert list(colour_choices(labelled)) == ["class", "prediction", "error", "trust"]
    assert colour_choices(labelled)["class"] == "label"
    values = make_scene(task="regression", is_labelled=labelled.is_labelled)
    assert colour_choices(values) == {
        "truth": "label",
        "prediction": "prediction",
        "error": "error",
        "trust": "trust",
    }


def test_constant_target_and_unlabelled_regression():
    for target in (np.full(40, 3.0, dtype=np.float32), np.full(40, np.nan, dtype=np.float32)):
        board = Board()
        board.show_scene(make_scene(task="regression", target=target))
        assert board.stage.get("scale", "light", "low") < board.stage.get("scale", "light", "high")
