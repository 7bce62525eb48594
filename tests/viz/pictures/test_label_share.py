"""The one control of the share of labels, with every method of the menu."""

import warnings

import numpy as np
import pytest

from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.error_rates import constant_error, error_rates
from supdr_viz.pictures.surface import evaluate
from supdr_viz.pictures.types import Curves
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from tests.viz.prepared import prepared

TASKS = [(name, task) for name, method in MENU.items() for task in method.tasks()]
LONG = ("UMAP", "PaCMAP")
"""Compiled anew in every process."""

every_task = pytest.mark.parametrize(
    ("name", "task"), [pytest.param(*case, marks=[pytest.mark.slow] * (case[0] in LONG)) for case in TASKS]
)

LABELLED_ROWS_ONLY = {
    *("SLDR", "LinearSVM", "PolySVM", "RBFSVM", "PCASVM", "LDA", "KNN", "PCAProjection", "KernelPCAProjection"),
    *("LDAProjection", "KLDA", "NCA", "LMNN", "AllViewsSVM", "BestViewSVM", "MKL", "LMKL", "ElasticNet", "LSSVM"),
    *("PLS", "PLSProjection", "Constant", "UMAP", "PaCMAP"),
}
"""Methods that learn from labelled rows alone; all others learn from every row."""


def suited(name, task):
    if MENU[name].bits_only:
        return {"data": "digits_bits"}
    if task == "regression":
        return {"data": "curved_sheet", "data_options": {"n_samples": 80, "n_features": 8}}
    return {"data": "moons", "data_options": {"n_samples": 80, "n_noise_features": 2}}


def quick(settings, task, n_rows):
    estimator = build_estimator(settings, task, n_rows)
    return estimator.set_params(max_iter=2) if "max_iter" in estimator.get_params() else estimator


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two steps converge nowhere
        yield


@every_task
def test_a_third_of_the_labels_is_enough_to_show_everything(name, task):
    settings = Settings(method=name, label_share=0.3, test_share=0.25, **suited(name, task))
    _, parts, scene = prepared(settings)
    hidden = np.isnan(parts.y_train)
    assert 0.6 < hidden.mean() < 0.8
    assert not np.isnan(parts.truth_train).any()
    np.testing.assert_array_equal(parts.y_train[~hidden], parts.truth_train[~hidden])
    estimator = quick(settings, task, len(parts.train))
    snapshot = list(estimator.iterate(parts.X_train, parts.y_train))[-1]
    fitted = estimator.at(snapshot)
    assert len(fitted.embedding_) == len(fitted.transduction_) == len(hidden)
    assert np.isfinite(fitted.transduction_).all()
    builder = FrameBuilder(scene, parts)
    no_curves = Curves(np.zeros(1, dtype=int), {})
    told = {"span": (0, 1), "live": True, "losses": no_curves, "errors": no_curves, "numbers": {}}
    builder.build(fitted, snapshot, DisplayOptions(), **told)
    surface = evaluate(fitted, scene, parts, builder.plane, iteration=1, resolution=12)
    rates = error_rates(surface, scene, snapshot)
    assert {"train", "labelled", "unlabelled", "test"} <= set(rates)
    assert all(np.isfinite(rate) for rate in rates.values())
    together = (rates["labelled"] * (~hidden).sum() + rates["unlabelled"] * hidden.sum()) / len(hidden)
    assert rates["train"] == pytest.approx(together, rel=1e-4)
    assert ("constant" in rates) == (task == "regression")


@every_task
def test_who_learns_from_unlabelled_rows(name, task):
    settings = Settings(method=name, label_share=0.3, test_share=0.0, **suited(name, task))
    parts = prepared(settings).split
    known = ~np.isnan(parts.y_train)
    scores = []
    for other in (False, True):
        X = parts.X_train.copy()
        if other:
            X[~known] = 1.0 - X[~known] if MENU[name].bits_only else X[~known] ** 2 - 1.0
        estimator = quick(settings, task, len(X))
        # Scales of columns and widths of kernels would be those of all rows.
        plain = {"preprocessing": "none", "gamma": 1.0}
        estimator.set_params(**{key: value for key, value in plain.items() if key in estimator.get_params()})
        snapshot = list(estimator.iterate(X, parts.y_train))[-1]
        scores.append(estimator.at(snapshot).training_decision_[known])
    assert np.allclose(*scores, atol=1e-10) == (name in LABELLED_ROWS_ONLY)


def test_the_constants_error_is_on_rows_without_a_label():
    settings = Settings(data="curved_sheet", method="SNF", label_share=0.1, test_share=0.2)
    _, parts, scene = prepared(settings)
    mean = np.nanmean(parts.y_train)
    unseen = np.concatenate([parts.truth_train[np.isnan(parts.y_train)], parts.y_test])
    assert constant_error(scene, ~scene.is_labelled) == pytest.approx(np.mean((unseen - mean) ** 2), rel=1e-5)


def test_a_source_that_withholds_labels_itself_obeys_the_same_control():
    for share in (0.05, 0.5, 1.0):
        settings = Settings(data="curved_sheet", method="SNF", test_share=0.0, label_share=share, seed=3)
        parts = split(build_dataset(settings), settings)
        assert np.isfinite(parts.y_train).sum() == round(400 * share)
        assert np.isfinite(parts.truth_train).all()
        assert not parts.notes
    tested = split(build_dataset(settings), Settings(**{**vars(settings), "test_share": 0.25}))
    assert len(tested.y_test) == 100
    assert np.isfinite(tested.y_test).all()
