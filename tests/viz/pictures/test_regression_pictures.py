"""Predicted against true values, for every method that predicts numbers."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import r2_score

from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.pictures.methods import PREDICTIONS, modes_of
from supdr_viz.pictures.methods.regression import correlation, explained
from supdr_viz.pictures.surface import FINE, evaluate
from supdr_viz.pictures.types import Curves
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.views.board import Board
from supdr_viz.views.plane import class_legend
from tests.viz.made_frames import make_frame, make_scene, make_surface
from tests.viz.prepared import counting, prepared

NO_CURVES = Curves(np.zeros(1, dtype=int), {})
REGRESSORS = [name for name, method in MENU.items() if "regression" in method.tasks()]


class Run:
    """A short run of a regression method, with its frames."""

    def __init__(self, method="SDRGLM", label_share=1.0):
        settings = Settings(data="diabetes", method=method, label_share=label_share)
        dataset, self.split, self.scene = prepared(settings)
        self.estimator = build_estimator(settings, dataset.task, len(self.split.train))
        if "max_iter" in self.estimator.get_params():
            self.estimator.set_params(max_iter=2)
        self.snapshots = list(self.estimator.iterate(self.split.X_train, self.split.y_train))
        self.builder = FrameBuilder(self.scene, self.split)

    def frame(self, number=-1):
        snapshot, options = self.snapshots[number], DisplayOptions(method_mode="predictions")
        told = {"span": (0, 3), "live": True, "losses": NO_CURVES, "errors": NO_CURVES, "numbers": {}}
        return self.builder.build(self.estimator.at(snapshot), snapshot, options, **told)

    def surface(self, resolution=12):
        fitted = self.estimator.at(self.snapshots[-1])
        return evaluate(fitted, self.scene, self.split, self.builder.plane, iteration=1, resolution=resolution)


@pytest.mark.parametrize("method", REGRESSORS)
def test_every_regressor_shows_its_predictions_first(method):
    run = Run(method)
    assert modes_of(run.estimator, "regression")[0] is PREDICTIONS
    before = run.frame().picture
    test = run.scene.is_test
    assert np.isnan(before.rows[test, 1]).all()  # nobody has predicted them yet
    fitted = run.estimator.at(run.snapshots[-1])
    np.testing.assert_allclose(before.rows[~test, 1], fitted.transduction_, rtol=1e-5)
    run.builder.surface = run.surface()
    picture = run.frame().picture
    np.testing.assert_array_equal(picture.rows[:, 0], run.scene.target)
    np.testing.assert_allclose(picture.rows[test, 1], fitted.predict(run.split.X_test), rtol=1e-4)
    low, high = picture.extent[:2]
    assert picture.extent[2:] == (low, high)
    assert low < picture.rows.min() < picture.rows.max() < high
    numbers = {number.name: number.value for number in picture.numbers}
    assert numbers["R² train"] == pytest.approx(r2_score(*picture.rows[~test].T.astype(float)))
    assert numbers["R² test"] == pytest.approx(r2_score(*picture.rows[test].T.astype(float)))


def test_unlabelled_rows_count_apart():
    run = Run(label_share=0.3)
    names = [number.name for number in run.frame().picture.numbers]
    assert names == ["R² train", "R² unlabelled", "correlation"]
    run.builder.surface = run.surface()
    assert [n.name for n in run.frame().picture.numbers] == ["R² train", "R² unlabelled", "R² test", "correlation"]


def test_a_surface_of_other_rows_is_not_used():
    run = Run()
    run.frame()
    surface = run.surface()
    run.builder.surface = dataclasses.replace(surface, predicted=surface.predicted[:-1])
    assert np.isnan(run.frame().picture.rows[run.scene.is_test, 1]).all()


def test_the_range_keeps_still_while_it_can():
    run = Run()
    assert run.frame(1).picture.extent == run.frame(2).picture.extent


def test_measures_are_the_usual_ones():
    rng = np.random.default_rng(0)
    true, predicted = rng.normal(size=(2, 50))
    assert explained(true, predicted) == pytest.approx(r2_score(true, predicted))
    assert explained(true, np.full(50, true.mean())) == pytest.approx(0)
    assert correlation(true, 3 - 2 * true) == pytest.approx(-1)
    assert np.isnan(correlation(true, np.ones(50)))
    assert np.isnan(explained(np.ones(5), true[:5]))


def test_values_have_a_scale_and_classes_have_none():
    legend = class_legend(make_scene(task="regression"))
    assert [entry.kind for entry in legend] == ["scale", "ring", "hollow", "point"]
    assert len(legend[0].ends) == 2
    assert all(entry.kind != "scale" for entry in class_legend(make_scene()))


def test_predictions_have_axes_once_there_are_some():
    run = Run()
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    board.method.set_method("Toy", (PREDICTIONS,))
    assert board.method.picture is None
    board.show_surface(make_surface(scene))
    picture = dataclasses.replace(run.frame().picture, rows=make_frame(scene).latent)
    board.show_frame(make_frame(scene, 4, picture=picture))
    assert board.method.picture.axis_labels == ("true", "predicted")


def test_training_rows_are_predicted_as_new_ones_at_rest_only():
    run = Run("LSDR")
    run.frame()
    fitted, asked = counting(run.estimator.at(run.snapshots[-1]), "predict")
    rows = run.scene, run.split, run.builder.plane
    going, resting = (evaluate(fitted, *rows, iteration=1, resolution=each) for each in (12, FINE))
    assert asked.count(len(run.split.X_train)) == 1
    test = run.scene.is_test
    assert np.isnan(going.placed[~test]).all()
    np.testing.assert_allclose(resting.placed[~test], run.estimator.at(run.snapshots[-1]).predict(run.split.X_train))
    rates = [error_rates(surface, run.scene, run.snapshots[-1]) for surface in (going, resting)]
    assert "as new" not in rates[0]
    assert rates[1]["as new"] == pytest.approx(np.mean((resting.placed - run.scene.target)[~test] ** 2), rel=1e-4)
    assert rates[0]["train"] == rates[1]["train"]
