"""What SDR-GLM shows: J and its parts, the balance, singular values, images of the parameters, rows as new ones."""

from dataclasses import replace

import numpy as np
import pytest

import supdr
from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.pictures.methods import MARGINS, PREDICTIONS, RECONSTRUCTION, modes_of
from supdr_viz.pictures.methods.natural_parameters import LEVELS, PANELS
from supdr_viz.pictures.methods.sdr_glm import rises
from supdr_viz.pictures.surface import evaluate
from supdr_viz.pictures.types import Curves
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.run.history import CurveLog
from supdr_viz.views.board import Board
from supdr_viz.views.figures import colour_of
from tests.viz.prepared import prepared

NO_CURVES = Curves(np.zeros(1, dtype=int), {})
DATA = {
    "bits": {"data": "latent_bits", "data_options": {"n_samples": 40, "n_features": 60}},
    "Gaussian": {"data": "latent_gaussian", "data_options": {"n_samples": 40, "n_features": 60}},
    "wide": {"data": "wide_factors", "data_options": {"n_samples": 30, "n_features": 90}},
    "pictures of bits": {"data": "digits_bits"},
    "many classes": {"data": "wine"},
    "values": {"data": "wide_regression", "data_options": {"n_samples": 60, "n_features": 50}},
}


class Run:
    """A short run, with its curves and frames."""

    def __init__(self, data="bits", method="SDRGLM", segments=(0,), **options):
        settings = Settings(**DATA[data], method=method, method_options={"max_iter": 4, "tol": 0.0, **options})
        dataset, self.split, self.scene = prepared(settings)
        self.estimator = build_estimator(settings, dataset.task, len(self.split.train))
        self.snapshots = list(self.estimator.iterate(self.split.X_train, self.split.y_train))
        self.segments = segments
        self.builder = FrameBuilder(self.scene, self.split)
        self.log = CurveLog()
        for snapshot in self.snapshots:
            self.log.append(snapshot.iteration, snapshot.losses)

    def fitted(self, number=-1):
        return self.estimator.at(self.snapshots[number])

    def picture(self, mode, number=-1, segments=None, losses=None):
        snapshot, options = self.snapshots[number], DisplayOptions(method_mode=mode)
        told = {"span": (0, 4), "live": True, "errors": NO_CURVES, "numbers": {}, "segments": segments or self.segments}
        losses = self.log.curves() if losses is None else losses
        return self.builder.build(self.fitted(number), snapshot, options, losses=losses, **told).picture


def numbers(picture):
    return {number.name: number.value for number in picture.numbers}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("options", [{}, {"n_components": 1}, {"n_components": 3, "solver": "literal"}])
def test_every_mode_draws_and_points_at_its_own_colours(data, options):
    run = Run(data, **options)
    modes = modes_of(run.estimator, run.scene.task)
    assert modes[-2] is (RECONSTRUCTION if run.scene.task == "regression" else MARGINS)
    assert (PREDICTIONS in modes) == (run.scene.task == "regression")
    board = Board()
    board.show_scene(run.scene)
    board.method.set_method("SDR-GLM", modes)
    for mode in modes:
        board.method.set_mode(mode.name)
        for number in (0, -1):
            picture = run.picture(mode.name, number)
            assert picture.mode == mode.name
            assert picture.extent[0] < picture.extent[1]
            assert picture.extent[2] < picture.extent[3]
            assert all(colour_of(role, True).startswith("#") for role in picture.roles)
            for part in (*picture.strokes, *picture.areas):
                assert part.points.dtype == np.float64
                assert part.role < len(picture.roles)
            if picture.image is not None:
                assert picture.image.max() < len(picture.roles) * picture.shades
            assert all(np.isfinite(number.value) for number in picture.numbers)
            board.method.show_picture(picture)


@pytest.mark.parametrize("method", ["LogisticUDR", "SVMUDR"])
def test_reductions_without_labels_have_nothing_to_balance(method):
    run = Run("Gaussian", method)
    names = [mode.name for mode in modes_of(run.estimator, "classification")]
    assert names == ["ascent", "spectrum", "parameters", "reconstruction", "margins", "shepard"]
    for name in names[:3]:
        assert run.picture(name) is not None


def test_the_parts_add_up_to_j_which_never_falls():
    run = Run("Gaussian")
    picture = run.picture("ascent")
    line = picture.strokes[-1].points
    np.testing.assert_allclose(line[:, 1], [-s.objective for s in run.snapshots], rtol=1e-5)
    assert (np.diff(line[:, 1]) > 0).all()
    upper = np.zeros(len(run.snapshots))
    for area, name in zip(picture.areas, ("label", "reconstruction", "regularisation")):
        lower = area.points[len(upper) :][::-1, 1]
        np.testing.assert_allclose(area.points[: len(upper), 1], upper, rtol=1e-5)
        np.testing.assert_allclose(lower - upper, [-s.losses[name] for s in run.snapshots], rtol=1e-4, atol=1e-4)
        upper = lower
    assert numbers(picture)["J"] == -run.snapshots[-1].objective
    assert numbers(picture)["least rise"] > 0


def test_an_earlier_sweep_shows_j_up_to_it_on_the_same_axis():
    run = Run("Gaussian")
    assert run.picture("ascent", 2).strokes[-1].points[-1, 0] == 2
    assert run.picture("ascent", 2).extent[:2] == run.picture("ascent").extent[:2]


def test_before_the_first_curve_there_is_a_point():
    run = Run()
    for mode in ("ascent", "balance"):
        assert run.picture(mode, 0, losses=Curves(np.zeros(0, dtype=int), {})) is not None


def test_rises_leave_out_where_settings_changed():
    sweeps, total = np.arange(4.0), np.array([-4.0, -3.0, -9.0, -8.0])
    np.testing.assert_allclose(rises(sweeps, total, (0,)), [1 / 5, -6 / 4, 1 / 10])
    np.testing.assert_allclose(rises(sweeps, total, (0, 2)), [1 / 5, 1 / 10])
    assert rises(sweeps[:1], total[:1], (0,)).size == 0
    changed = Run("Gaussian").picture("ascent", segments=(0, 2))
    assert changed.strokes[0].dash == "dotted"
    assert changed.keys[-1].name == "settings changed"


def test_the_balance_ends_at_the_present_misfits():
    run = Run("bits")
    picture, snapshot = run.picture("balance"), run.snapshots[-1]
    now = [snapshot.losses["reconstruction"], snapshot.losses["label"]]
    np.testing.assert_allclose(picture.marks[1], now, rtol=1e-5)
    np.testing.assert_allclose(picture.strokes[-1].points[-1], now, rtol=1e-5)
    means = run.fitted().null_losses_
    np.testing.assert_allclose(picture.marks[0], [means["reconstruction"], means["label"]], rtol=1e-5)
    shown = numbers(picture)
    assert shown["explains X"] == pytest.approx(100 * (1 - now[0] / means["reconstruction"]))
    assert 0 < shown["explains X"] < 100
    assert len(run.picture("balance", segments=(0, 3)).strokes[-1].points) == 2  # the way since the settings changed


def test_the_spectrum_is_that_of_the_snapshot_and_of_the_data():
    run = Run("Gaussian", n_components=4, reg_scaling="none", recon_weight=1e-4, reg_u=0.01, reg_v=0.01)
    picture, known = run.picture("spectrum"), run.snapshots[-1].diagnostics
    values = [known[f"singular_value_{k}"] for k in range(1, 5)]
    np.testing.assert_allclose(picture.marks[:, 1], values, rtol=1e-5)
    data = picture.strokes[0].points[::3, 1]
    np.testing.assert_allclose(data, run.fitted().data_singular_values_, rtol=1e-5)
    assert numbers(picture)["threshold"] == pytest.approx(50.0)  # .01 by 2e-4
    assert numbers(picture)["rank"] == known["effective_rank"] < 4
    assert [*picture.mark_role] == [0] * int(known["effective_rank"]) + [3] * (4 - int(known["effective_rank"]))
    again = run.picture("spectrum", 1)
    np.testing.assert_array_equal(again.strokes[0].points, picture.strokes[0].points)


def test_images_show_cells_means_and_parameters():
    run = Run("bits")
    picture = run.picture("parameters")
    assert [tag.text for tag in picture.tags] == list(PANELS)
    assert picture.image_alpha == 1
    inner = picture.image[(picture.image > 0).any(axis=1)]
    panels = np.split(inner[:, (inner > 0).any(axis=0)], 3, axis=1)
    assert {*np.unique(panels[0])} == {1, LEVELS}  # bits are black or white, means between
    assert ((panels[1] > 1) & (panels[1] < LEVELS)).any()
    # A mean above one half belongs to a positive parameter.
    bright, positive = panels[1] > LEVELS // 2, panels[2] > LEVELS // 2
    assert (bright == positive).mean() > 0.99


def test_rows_that_are_pictures_come_as_pictures():
    run = Run("pictures of bits")
    picture = run.picture("parameters")
    assert picture.image.shape[0] == picture.image.shape[1]
    heights = [tag.y for tag in picture.tags]
    assert heights == sorted(heights, reverse=True)


def test_new_rows_are_where_transform_puts_them():
    run = Run("Gaussian")
    picture, fitted = run.picture("new_rows"), run.fitted()
    n_train = run.scene.n_train
    np.testing.assert_allclose(picture.rows[:n_train], fitted.embedding_, rtol=1e-5)
    folded = fitted.transform(run.split.X_train)
    np.testing.assert_allclose(picture.tips[:n_train], folded, rtol=1e-5, atol=1e-7)
    assert picture.tip_mark == "ring"
    ratio = np.linalg.norm(folded) / np.linalg.norm(fitted.embedding_)
    assert numbers(picture)["size of transform"] == pytest.approx(100 * ratio)
    ends = picture.strokes[0].points.astype(float)
    np.testing.assert_allclose(fitted.latent_decision_function(ends), 0, atol=1e-4)


def test_without_labels_a_small_weight_shrinks_rows():
    share = [
        numbers(Run("Gaussian", recon_weight=weight, reg_scaling="none").picture("new_rows"))["size of transform"]
        for weight in (1e-4, 1e-1)
    ]
    assert share[0] < 30 < 70 < share[1]


def test_tips_may_be_rings():
    run = Run("Gaussian")
    board = Board()
    board.show_scene(run.scene)
    board.method.set_method("SDR-GLM", modes_of(run.estimator, "classification"))
    board.method.set_mode("new_rows")
    board.method.show_picture(run.picture("new_rows"))
    assert board.stage.get("planes", "method", "picture", "tip_mark") == "ring"


def test_bits_have_no_regions_between_them():
    for data, has in (("bits", False), ("Gaussian", True)):
        run = Run(data)
        run.picture("ascent")
        scene = replace(run.scene, plane=replace(run.scene.plane, share=0.9))
        surface = evaluate(run.fitted(), scene, run.split, run.builder.plane, iteration=1, resolution=12)
        assert (surface.input is not None) == has
        assert surface.latent is not None
        board = Board()
        board.show_scene(scene)
        board.points.show_surface(surface)
        assert ("no regions" in board.input.caption()) == (not has)


def test_what_the_pictures_ask_of_the_method():
    X, y = supdr.datasets.make_latent_glm(60, 30, noise="gaussian", random_state=0).to_xy()
    X[0, 0] = np.nan
    model = supdr.SDRGLM(3, preprocessing="none", max_iter=3, tol=0).fit(X, y)
    filled = np.nan_to_num(X - np.nanmean(X, axis=0))
    for data, want in ((X, filled), (X.T[:, :20], None)):
        want = np.nan_to_num(data - np.nanmean(data, axis=0)) if want is None else want
        found = supdr.SDRGLM(3, preprocessing="none", max_iter=1).fit(data, np.arange(len(data)) % 2)
        np.testing.assert_allclose(found.data_singular_values_, np.linalg.svd(want, compute_uv=False)[:3])
    assert model.null_losses_["label"] == pytest.approx(60 * np.log(2))
    assert model.null_losses_["reconstruction"] == pytest.approx(model.recon_weight_ * (filled**2).sum())
