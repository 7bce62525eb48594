"""The pictures of SLDR: regions of the gate, local spaces, usage of the local models."""

import dataclasses
import itertools

import numpy as np
import pytest

import supdr
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.pictures.methods import MARGINS, modes_of
from supdr_viz.pictures.methods.gating import PIXELS, SHADES, gating_plane
from supdr_viz.pictures.picture import Panel, Picture, Tag
from supdr_viz.pictures.scene import view_names
from supdr_viz.pictures.surface import grid
from supdr_viz.pictures.types import Curves
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.ui import theme
from supdr_viz.views.board import Board
from supdr_viz.views.figures import colour_of
from tests.viz.made_frames import SQUARE, make_frame, make_scene, told
from tests.viz.prepared import prepared

NO_CURVES = Curves(np.zeros(1, dtype=int), {})
DIGITS = {"n_samples": 150}


class Run:
    """A short run of SLDR or LMKL, with its frames."""

    def __init__(self, options=None, data="zigzag", data_options=None, method="SLDR", steps=4, **more):
        options = {"max_iter": steps, **({"n_init": 1} if method == "SLDR" else {}), **(options or {})}
        settings = Settings(data, data_options or {}, method, options, **more)
        dataset, self.split, self.scene = prepared(settings)
        self.estimator = build_estimator(settings, dataset.task, len(self.split.train), dataset.views)
        self.snapshots = list(self.estimator.iterate(self.split.X_train, self.split.y_train))
        self.builder = FrameBuilder(self.scene, self.split)
        self.fitted = self.estimator.at(self.snapshots[-1])

    def picture(self, mode, number=-1):
        snapshot, told = self.snapshots[number], {"losses": NO_CURVES, "errors": NO_CURVES, "numbers": {}}
        options = DisplayOptions(method_mode=mode)
        fitted = self.estimator.at(snapshot)
        return self.builder.build(fitted, snapshot, options, span=(0, 3), live=True, **told).picture

    def winners_of(self, picture):
        """Number of the winning model and level of opacity of every pixel."""
        role, level = np.divmod(picture.image.astype(int), SHADES)
        return role - (len(picture.roles) - len(self.fitted.gate_offset_)), level


VARIANTS = {
    "strips": ({"n_components": 1}, "zigzag", {}),
    "quasi-Newton": ({"solver": "lbfgs", "n_components": 1}, "zigzag", {}),
    "Gaussian": ({"kernel": "rbf", "C": 1.0}, "gauss4", {"n_samples": 200}),
    "one model": ({"n_models": 1}, "zigzag", {}),
    "ten models": ({"n_models": 10}, "zigzag", {}),
    "a line to gate on": ({"n_gating": 1}, "breast_cancer", {}),
    "two models, five gating dimensions": ({"n_gating": 5, "n_models": 2}, "breast_cancer", {}),
    "local spaces of three dimensions": ({"n_components": 3, "n_gating": 4}, "breast_cancer", {}),
    "ten classes in four views": ({"n_gating": 3}, "multiview_digits", DIGITS),
    "ten classes, three dimensions": ({"n_components": 3}, "multiview_digits", DIGITS),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_mode_of_every_variant_draws(variant):
    run = Run(*VARIANTS[variant], steps=2)
    for mode in modes_of(run.estimator, "classification"):
        for number in range(len(run.snapshots)):
            check_picture(run, mode, run.picture(mode.name, number))


def check_picture(run, mode, picture):
    assert picture.mode == mode.name
    extent = picture.extent
    if mode is MARGINS:
        np.testing.assert_array_equal(np.isfinite(picture.rows).all(axis=1), run.scene.is_labelled)
    else:
        assert extent[1] - extent[0] == pytest.approx(extent[3] - extent[2])
    if picture.rows is not None and mode is not MARGINS:
        seen = picture.rows[np.isfinite(picture.rows).all(axis=1)]
        assert len(picture.rows) == len(run.scene.position)
        assert len(seen) >= run.scene.n_train
        assert (seen >= np.subtract(extent[::2], 1e-6)).all()
        assert (seen <= np.add(extent[1::2], 1e-6)).all()
    if picture.row_role is not None:
        assert picture.row_role.max() < len(picture.roles)
    for part in (*picture.strokes, *picture.areas, *picture.tags):
        assert part.role < len(picture.roles)
    assert all(colour_of(role, True).startswith("#") for role in picture.roles)
    assert {number.name for number in picture.numbers} <= {"support vectors", "fewest needed", "rank correlation"}
    assert all(-1 <= number.value <= 100 for number in picture.numbers)


@pytest.mark.parametrize("method", ["SLDR", "LMKL"])
def test_the_gate_has_pictures(method):
    estimator = {**supdr.METHODS, **supdr.baselines.BASELINES}[method]()
    assert [mode.name for mode in modes_of(estimator, "classification")] == [
        "regions",
        "spaces",
        "usage",
        "margins",
        "shepard",
    ]
    run = Run(method=method, steps=2)
    assert all(run.picture(name) is not None for name in ("regions", "spaces", "usage"))


# --- regions ----------------------------------------------------------------------------------------------------------


def test_regions_of_the_plane_are_those_of_the_gate():
    run = Run({"n_components": 1})
    picture = run.picture("regions")
    assert picture.extent == run.scene.plane.extent
    np.testing.assert_array_equal(picture.rows, run.scene.position)
    gate = run.fitted.gate(run.scene.plane.lift(grid(picture.extent, PIXELS)[0]))
    winner, level = run.winners_of(picture)
    np.testing.assert_array_equal(winner.ravel(), gate.argmax(axis=1))
    # The more a gate wins, the more opaque its region.
    order = np.argsort(gate.max(axis=1))
    assert (np.diff(level.ravel()[order]) >= 0).all()
    assert level.max() < SHADES


@pytest.mark.parametrize(("data", "n_gating"), [("breast_cancer", 2), ("breast_cancer", 5), ("multiview_digits", 2)])
def test_rows_stand_in_the_region_of_their_gate(data, n_gating):
    """Exact where the plane holds all that the gate sees: two dimensions, or up to three local models."""
    run = Run({"n_gating": n_gating, "solver": "lbfgs"}, data, DIGITS if "digits" in data else {})
    picture = run.picture("regions")
    x_low, x_high, y_low, _ = picture.extent
    places = (picture.rows - (x_low, y_low)) / (x_high - x_low) * PIXELS
    column, row = np.clip(places.astype(int), 0, PIXELS - 1).T
    winner, _ = run.winners_of(picture)
    rows = np.concatenate([run.split.X_train, run.split.X_test])
    agree = winner[row, column] == run.fitted.gate(rows).argmax(axis=1)
    assert agree.mean() > 0.97  # a pixel on the boundary belongs to one side only


def test_local_lines_lie_in_their_regions_at_their_levels():
    run = Run({"n_components": 1, "solver": "lbfgs", "n_init": 5}, steps=40)
    picture, levels = run.picture("regions"), []
    step = (picture.extent[1] - picture.extent[0]) / PIXELS
    for stroke in picture.strokes:
        points = stroke.points[np.isfinite(stroke.points).all(axis=1)].astype(float)
        if not len(points):
            continue
        rows = run.scene.plane.lift(points)
        winner = run.fitted.gate(rows).argmax(axis=1)
        scores = np.array(
            [run.fitted.local_decision_function(Z, m) for m, Z in enumerate(run.fitted.local_transform(rows))]
        )
        level = scores[winner, np.arange(len(rows))]
        levels.append(round(float(np.median(level)), 6))
        np.testing.assert_allclose(level, levels[-1], atol=1e-3)
    assert set(levels) <= {-1.0, 0.0, 1.0}
    assert 0.0 in levels
    assert step > 0


def test_rows_keep_the_colours_of_their_classes_while_there_are_enough():
    few, many = Run(steps=1), Run(data="multiview_digits", data_options=DIGITS, steps=1)
    picture = few.picture("regions")
    assert picture.row_role is None
    gates = set(picture.roles[-3:])
    assert len(gates) == 3
    assert not gates & {"class 0", "class 1"}
    picture = many.picture("regions")
    rows = np.concatenate([many.split.X_train, many.split.X_test])
    first = len(picture.roles) - 4
    np.testing.assert_array_equal(picture.row_role - first, many.fitted.gate(rows).argmax(axis=1))


def test_the_plane_of_the_gate_holds_what_three_gates_see():
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(60, 6)), rng.normal(size=(3, 6))
    mean, axes = gating_plane(Z, weights)
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
    logits = (Z - mean) @ weights.T
    flat = (Z - mean) @ axes @ axes.T @ weights.T
    np.testing.assert_allclose(
        flat - flat.mean(axis=1, keepdims=True), logits - logits.mean(axis=1, keepdims=True), atol=1e-9
    )
    two = gating_plane(Z, weights[:2])[1]
    np.testing.assert_allclose(two.T @ two, np.eye(2), atol=1e-12)
    direction = weights[0] - weights[1]
    np.testing.assert_allclose(two @ two.T @ direction, direction, atol=1e-9)
    flat = gating_plane(Z, np.zeros((3, 6)))[1]  # equal gates: the rows' main directions
    np.testing.assert_allclose(flat.T @ flat, np.eye(2), atol=1e-12)


def test_the_plane_does_not_flip_from_frame_to_frame():
    run = Run({"n_gating": 5, "solver": "lbfgs"}, "breast_cancer", steps=8)
    n_train = run.scene.n_train
    places = [run.picture("regions", number).rows[:n_train] for number in range(len(run.snapshots))]
    for before, after in itertools.pairwise(places):
        assert (before * after).sum() > 0


# --- local spaces -----------------------------------------------------------------------------------------------------


def test_every_row_stands_in_the_panel_of_its_gate_and_panels_go_by_usage():
    run = Run(data="multiview_digits", data_options=DIGITS)
    picture = run.picture("spaces")
    names, usage = run.scene.view_names, run.fitted.usage_
    order = [names.index(panel.name) for panel in picture.panels]
    assert order == sorted((m for m in range(4) if usage[m] > 0), key=lambda m: -usage[m])
    everything = np.concatenate([run.split.X_train, run.split.X_test])
    winner, local = run.fitted.gate(everything).argmax(axis=1), run.fitted.local_transform(everything)
    for m, panel in zip(order, picture.panels, strict=True):
        rows = np.flatnonzero(winner == m)
        np.testing.assert_allclose(picture.rows[rows], panel.place(local[m][rows]), atol=1e-5)
        low, high = np.array(panel.box[::2]), np.array(panel.box[1::2])
        assert ((picture.rows[rows] >= low - 1e-6) & (picture.rows[rows] <= high + 1e-6)).all()
    assert np.isfinite(picture.rows).all() == np.isin(winner, order).all()
    said = [tag.text for tag in picture.tags]
    assert [text.split()[0] for text in said] == [panel.name for panel in picture.panels]
    assert sum(int(text.split()[-2]) for text in said) == pytest.approx(100, abs=2)


def test_panels_do_not_overlap_and_keep_one_scale_on_both_axes():
    picture = Run({"n_models": 7, "solver": "lbfgs"}, "breast_cancer").picture("spaces")
    boxes = np.array([panel.box for panel in picture.panels])
    assert (boxes >= 0).all()
    assert (boxes <= 1).all()
    for number, panel in enumerate(picture.panels):
        x_low, x_high, y_low, y_high = panel.extent
        left, right, bottom, top = panel.box
        assert (x_high - x_low) / (right - left) == pytest.approx((y_high - y_low) / (top - bottom))
        for other in boxes[:number]:
            assert left >= other[1] or right <= other[0] or bottom >= other[3] or top <= other[2]


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_hyperplanes_of_two_classes_are_where_the_local_score_is_zero(n_components):
    run = Run({"n_components": n_components, "solver": "lbfgs", "C": 1.0}, "breast_cancer", steps=6)
    picture, winner = run.picture("spaces"), run.fitted.gate_.argmax(axis=1)
    panel = picture.panels[0]
    m = int(panel.name.split()[-1]) - 1
    rows = winner == m
    score = run.fitted.local_decision_function(run.fitted.local_embedding_[m][rows], m)
    places = picture.rows[: run.scene.n_train][rows].astype(float)
    zero = picture.strokes[1].points[:-1].astype(float)  # after the frame of the first panel
    assert np.isfinite(zero).all()
    # The score is linear in the place and vanishes on the line.
    design = np.column_stack([places, np.ones(len(places))])
    if n_components == 1:  # the second axis only spreads the rows
        design[:, 1] = 0.0
    solution = np.linalg.lstsq(design, score, rcond=None)[0]
    np.testing.assert_allclose(design @ solution, score, atol=1e-3 * abs(score).max())
    np.testing.assert_allclose(np.column_stack([zero, np.ones(len(zero))]) @ solution, 0, atol=0.02 * abs(score).max())


def test_a_panel_keeps_its_extent_while_it_can():
    run = Run({"n_components": 2, "solver": "lbfgs"}, steps=30)
    pictures = [run.picture("spaces", number) for number in range(20, len(run.snapshots))]
    extents = [{panel.name: panel.extent for panel in picture.panels} for picture in pictures]
    pairs = itertools.pairwise(extents)
    kept = sum(np.allclose(a[name], b[name]) for a, b in pairs for name in set(a) & set(b))
    assert kept > 0.6 * sum(len(each) for each in extents[1:])


# --- usage and numbers ------------------------------------------------------------------------------------------------


def test_bars_of_usage_sum_to_one():
    run = Run(data="multiview_digits", data_options=DIGITS)
    picture = run.picture("usage")
    widths = np.array([np.ptp(area.points[:, 0]) for area in picture.areas]) / 0.96
    np.testing.assert_allclose(widths[::2], run.fitted.usage_, atol=1e-6)
    np.testing.assert_allclose(widths[1::2], run.fitted.gate_.mean(axis=0), atol=1e-6)
    assert widths[::2].sum() == pytest.approx(1)
    assert widths[1::2].sum() == pytest.approx(1)
    assert [tag.text for tag in picture.tags[::2]] == list(run.scene.view_names)
    used = int((run.fitted.usage_ > 0).sum())
    assert picture.caption == f"{used} of 4 used"


def test_numbers_tell_raw_and_least_support_vectors_apart():
    run = Run({"n_components": 1, "solver": "lbfgs"})
    numbers = {number.name: number.value for number in run.picture("usage").numbers}
    assert numbers["support vectors"] == pytest.approx(100 * run.fitted.support_fraction_)
    assert numbers["fewest needed"] == pytest.approx(100 * run.fitted.support_fraction_min_)
    gaussian = Run({"kernel": "rbf"}, "gauss4", {"n_samples": 100}, steps=1)
    assert [number.name for number in gaussian.picture("usage").numbers] == ["support vectors"]


def test_views_are_named_by_their_columns():
    digits = build_dataset(Settings(data="multiview_digits"))
    assert view_names(digits) == ("pixels", "profiles", "fourier", "components")
    plain = dataclasses.replace(digits, feature_names=[f"c{k}" for k in range(108)])
    assert view_names(plain) == ("view 1", "view 2", "view 3", "view 4")
    assert view_names(build_dataset(Settings(data="moons"))) == ()


# --- what the layer draws of it ---------------------------------------------------------------------------------------


def test_shades_and_tags_are_drawn():
    board, scene = Board(), make_scene()
    board.show_scene(scene)
    run_modes = modes_of(supdr.SLDR(), "classification")
    board.method.set_method("SLDR", run_modes)
    picture = Picture(
        mode="regions",
        extent=SQUARE,
        roles=("text", "class 0"),
        image=np.arange(4, dtype=np.uint8).reshape(2, 2),
        shades=2,
        tags=(Tag(0.0, 0.5, "pixels 43 %", 0), Tag(0.1, -0.5, "fourier", 1, "right")),
        panels=(Panel("pixels", SQUARE, SQUARE),),
        rows=scene.position,
    )
    board.show_frame(make_frame(scene, 4, picture=picture))
    told_of = board.stage.get("planes", "method", "picture")
    assert told_of["roles"] == [[theme.LIGHT.text, theme.DARK.text], [theme.LIGHT.classes[0], theme.DARK.classes[0]]]
    assert (told_of["shades"], told_of["image_alpha"]) == (2, pytest.approx(0.3))
    assert [tag[2] for tag in told_of["tags"]] == ["pixels 43 %", "fourier"]
    assert [tag[4] for tag in told_of["tags"]] == ["left", "right"]
    assert told_of["small"]  # panels are small, and so are their points
    messages = told(board.stage)
    board.show_frame(make_frame(scene, 5, picture=dataclasses.replace(picture)))
    # The same words and the same image are not sent again.
    assert all("method" not in message.get("planes", {}) for message in messages)
    messages.clear()
    board.show_frame(make_frame(scene, 6, picture=dataclasses.replace(picture, image_alpha=0.9, image=picture.image.T)))
    assert set(messages[0]["planes"]["method"]["picture"]) == {"image_alpha", "image"}
    board.method.set_mode("margins")
    assert board.stage.get("planes", "method", "picture") is None
