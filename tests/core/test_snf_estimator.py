"""SNF as an estimator: reference figures, calibration, targets, classes, errors."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score

from supdr import SNF
from supdr.baselines import LSSVM, LapRLS
from supdr.datasets import make_curved_sheet, read_file


def sheet(seed=0, **settings):
    dataset = make_curved_sheet(random_state=seed, **settings)
    return dataset.X, dataset.y, dataset.truth


def test_the_sheet_unrolls():
    errors, plain = [], []
    for seed in range(5):
        X, y, truth = sheet(seed)
        model = SNF(2, preprocessing="none", max_iter=300).fit(X, y)
        rows = np.isnan(y)
        errors.append(np.mean((model.latent_decision_function(model.embedding_) - truth)[rows] ** 2))
        plain.append(np.mean((np.nanmean(y) - truth)[rows] ** 2))
    assert np.mean(errors) == pytest.approx(0.0147, abs=0.001)
    assert np.mean(plain) > 10 * np.mean(errors)


@pytest.mark.papers
def test_autoprice(data_dir):
    """A regression value, not an estimate of performance: the setting was the best of a scan of test errors."""
    table = read_file(data_dir / "autoprice.csv.gz", task="regression")
    X, y = (2 * (a - a.min(axis=0)) / (a.max(axis=0) - a.min(axis=0)) - 1 for a in table.to_xy())
    errors = []
    for seed in range(5):
        known = np.full(len(y), np.nan)
        rows = np.random.default_rng(seed).permutation(len(y))[:15]
        known[rows] = y[rows]
        model = SNF(7, degree=3, reg_v=10, reg_z=10, reg_w=0.1, preprocessing="none", max_iter=200).fit(X, known)
        fitted = model.latent_decision_function(model.embedding_)
        errors.append(np.mean((fitted - y)[np.isnan(known)] ** 2))
    assert np.mean(errors) == pytest.approx(0.0354, abs=0.002)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_classes", "expected"),
    [(60, 5, 0, 5), (60, 40, 0, 30), (20, 40, 0, 19), (60, 2, 5, 4)],
)
def test_as_many_coordinates_as_columns_up_to_thirty_but_room_for_the_classes(n_rows, n_columns, n_classes, expected):
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((n_rows, n_columns)), "classification" if n_classes else "regression"
    y = np.arange(n_rows) % n_classes if n_classes else X[:, 0]
    assert SNF(task=task, max_iter=2).fit(X, y).transform(X).shape == (n_rows, expected)


def test_defaults_explain_what_two_coordinates_cannot():
    X, y = make_friedman1(200, 10, noise=0.5, random_state=0)
    new, truth = make_friedman1(200, 10, noise=0.5, random_state=1)
    assert SNF().fit(X, y).score(new, truth) > 0.85 > 0.5 > SNF(2).fit(X, y).score(new, truth)


def test_few_labels_are_used_as_well_as_by_kernel_methods_on_the_inputs():
    """Defaults against defaults, on sets that were drawn for nothing else."""
    rng, errors = np.random.default_rng(0), []
    targets = [
        lambda X: X @ np.arange(1.0, 9.0),
        lambda X: X[:, 0] * X[:, 1] + X[:, 2],
        lambda X: np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2,
    ]
    for target in targets:
        for _ in range(3):
            X = rng.standard_normal((200, 8))
            y = target(X) + 0.1 * rng.standard_normal(200)
            known = np.where(np.arange(200) < 20, y, np.nan)
            fits = [model.fit(X, known).transduction_ for model in (SNF(), LSSVM(), LapRLS())]
            errors.append([np.mean((fit - y)[20:] ** 2) / y.var() for fit in fits])
    ours, ls_svm, lap_rls = np.mean(errors, axis=0)
    assert ours < min(ls_svm, lap_rls)


def test_rows_are_predicted_alike_as_training_rows_and_as_new_ones():
    X, y, _ = sheet(n_samples=150, n_features=12)
    model = SNF(preprocessing="none", target_weight=100.0, max_iter=300).fit(X, y)
    rows = np.isnan(y)
    np.testing.assert_allclose(model.transduction_[rows], model.predict(X[rows]), atol=0.02)
    plain = SNF(preprocessing="none", target_weight=100.0, max_iter=300, calibrate=False).fit(X, y)
    np.testing.assert_allclose(plain.transduction_, plain.latent_decision_function(plain.embedding_))


def test_a_named_ridge_is_the_one_that_predicts():
    X, y, _ = sheet(n_samples=100, n_features=8, label_share=0.3)
    flat, chosen = (SNF(reg_w=ridge, max_iter=30).fit(X, y).predict(X) for ridge in (1e9, None))
    np.testing.assert_allclose(flat, np.nanmean(y), atol=1e-3)
    assert np.std(chosen) > 0.1


def test_refitting_repairs_what_a_large_target_weight_breaks():
    X, y, truth = sheet(0)
    rows = np.isnan(y)
    model = SNF(2, reg_w=0.1, preprocessing="none", target_weight=1000.0, max_iter=300).fit(X, y)
    plain = np.mean((model.latent_decision_function(model.embedding_) - truth)[rows] ** 2)
    refitted = model.latent_decision_function(model.embedding_, head="calibrated")
    assert np.mean((refitted - truth)[rows] ** 2) < plain
    assert np.mean((model.predict(X[rows]) - truth[rows]) ** 2) < plain


def test_predictions_scale_with_the_targets():
    X, y, _ = sheet(n_samples=100)
    first, second = (SNF(max_iter=20).fit(X, values) for values in (y, 1000.0 * y - 5.0))
    np.testing.assert_allclose(second.predict(X), 1000.0 * first.predict(X) - 5.0, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-13, 1e-6, 1e6])
def test_units_do_not_matter(unit):
    X, y, _ = sheet(n_samples=100, n_features=8, label_share=0.3)
    expected = SNF(max_iter=20).fit(X, y).predict(X)
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(SNF(max_iter=20).fit(unit * X, y).predict(unit * X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(SNF(max_iter=20).fit(X, unit * y).predict(X) / unit, expected, rtol=1e-6, atol=1e-8)


def test_several_targets():
    X, y, _ = sheet(n_samples=100, label_share=0.5)
    both = np.column_stack([y, -2.0 * y])
    model = SNF(max_iter=20).fit(X, both)
    assert model.predict(X).shape == model.transduction_.shape == (100, 2)
    assert model.dual_coef_.shape == (2, 50)
    np.testing.assert_allclose(model.predict(X)[:, 1], -2.0 * model.predict(X)[:, 0], rtol=1e-8, atol=1e-8)
    assert SNF(max_iter=20).fit(X, y).predict(X).shape == (100,)


def test_one_label_and_a_constant_target_predict_it():
    X, _, _ = sheet(n_samples=60)
    one = np.full(60, np.nan)
    one[7] = 3.25
    constant = np.where(np.arange(60) < 20, 3.25, np.nan)
    for y in (one, constant):
        model = SNF(max_iter=10).fit(X, y)
        np.testing.assert_allclose(model.dual_coef_, 0.0, atol=1e-12)
        np.testing.assert_allclose(model.predict(X), 3.25)


def test_classification():
    X, y = load_iris(return_X_y=True)
    known = y.astype(float)
    known[np.arange(150) % 5 != 0] = np.nan
    for kernel in ("poly", "rbf"):
        model = SNF(3, task="classification", kernel=kernel).fit(X, known)
        assert model.decision_function(X).shape == (150, 3)
        assert accuracy_score(y, model.transduction_) > 0.8
    binary = SNF(task="classification").fit(X[:100], np.array(["a", "b"])[y[:100]])
    assert binary.decision_function(X[:100]).shape == (100,)
    assert binary.score(X[:100], np.array(["a", "b"])[y[:100]]) == 1.0


def test_label_pull_and_reconstruction():
    X, y, _ = sheet(n_samples=100, label_share=0.3)
    model = SNF(2, max_iter=20).fit(X, y)
    rows = ~np.isnan(y)
    assert model.label_pull_.max() == 1.0
    assert (model.label_pull_[~rows] == 0).all()
    residual = np.abs(y - model.latent_decision_function(model.embedding_))[rows]
    np.testing.assert_allclose(model.label_pull_[rows], residual / residual.max(), atol=1e-9)
    assert model.reconstruction_.shape == X.shape
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), model.reconstruction_)
    assert np.mean((model.reconstruction_ - X) ** 2) < X.var()
    with pytest.raises(ValueError, match=r"latent must have shape \(n_samples, 2\); got \(3, 4\)"):
        model.inverse_transform(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"latent must have shape \(n_samples, 2\); got \(3, 4\)"):
        model.latent_decision_function(np.ones((3, 4)))  # kernels would read beyond its end


def test_a_collapsed_latent_matrix_is_reported():
    X, y, _ = sheet(n_samples=60)
    for settings in ({"reg_z": 1e6}, {"reg_v": 1e8}):
        with pytest.warns(ConvergenceWarning, match=r"collapsed.* reg_v \* reg_z = 1e\+0[68] .* lower reg_z or reg_v"):
            model = SNF(**settings).fit(X, y)
        np.testing.assert_allclose(model.predict(X), np.nanmean(y), atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SNF().fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, or None; got 0"),
        ({"n_components": 30}, "n_components must be at most 29 .n_samples = 30.; got 30"),
        ({"degree": 0}, "degree must be an integer from 1 to 6; got 0"),
        ({"degree": 7}, "degree must be an integer from 1 to 6; got 7"),
        ({"kernel": "cubic"}, "kernel must be one of .* got 'cubic'"),
        ({"gamma": -1.0}, "gamma must be a positive number"),
        ({"coef0": -1.0}, "coef0 must be a number >= 0"),
        ({"reg_v": 0.0}, "reg_v must be a number > 0; got 0.0"),
        ({"reg_w": -1.0}, "reg_w must be a number > 0, or None"),
        ({"reg_z": 0.0}, "reg_z must be a number > 0"),
        ({"target_weight": -0.1}, "target_weight must be a number >= 0; got -0.1"),
        ({"lr_reconstruction": np.inf}, "lr_reconstruction must be a number > 0"),
        ({"lr_target": 0.0}, "lr_target must be a number > 0, or None; got 0.0"),
        ({"lr_target": "slow"}, "lr_target must be a number > 0, or None"),
        ({"solver": "sgd", "reg_v": 1e-6, "reg_z": 10.0}, r"lr_reconstruction \* reg_z .* must be below 1 .* got 8.3"),
        ({"solver": "adam"}, "solver must be one of lbfgs, sgd; got 'adam'"),
        ({"init": "zeros"}, "init must be one of pca, random; got 'zeros'"),
        ({"init_scale": 0.0}, "init_scale must be a number > 0, or None; got 0.0"),
        ({"n_init": 11}, "n_init must be an integer from 1 to 10; got 11"),
        ({"preprocessing": "log"}, "preprocessing must be one of"),
        ({"task": "ranking"}, "task must be"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y, _ = sheet(n_samples=30, label_share=0.5)
    with pytest.raises(ValueError, match=message):
        SNF(**settings).fit(X, y)


def test_bad_data_are_named():
    X, y, _ = sheet(n_samples=30, label_share=0.5)
    with pytest.raises(ValueError, match="at least 3 rows"):
        SNF(1).fit(X[:2], [0.0, 1.0])
    X[3] = np.nan
    with pytest.raises(ValueError, match="no observed cell in row 3"):
        SNF().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 10001 rows; .* rbf kernel .* solver='lbfgs' needs one"):
        SNF(kernel="rbf").fit(np.random.default_rng(0).standard_normal((10_001, 2)), np.arange(10_001.0))
