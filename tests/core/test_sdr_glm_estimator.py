"""SDRGLM as an estimator: families, targets of every kind, the automatic weight, calibration, warnings, errors."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import log_loss, mean_poisson_deviance

from supdr import SDRGLM
from supdr.datasets import load_digits_bits, make_latent_glm, make_wide_factors, make_wide_regression


def halves(X, y):
    return (X[::2], y[::2]), (X[1::2], y[1::2])


# --- targets of every kind --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family_y", ["auto", "softmax", "bernoulli"])
@pytest.mark.parametrize("load", [load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.slow)])
def test_classification(load, family_y):
    train, test = halves(*load(return_X_y=True))
    model = SDRGLM(4, family_y=family_y).fit(*train)
    assert model.score(*test) > 0.9
    probability = model.predict_proba(test[0])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(test[0]))
    scores = model.decision_function(test[0])
    assert scores.ndim == (1 if len(model.classes_) == 2 else 2)
    assert model.coef_.shape[1] == 4
    assert 0.0 <= model.label_pull_.min() <= model.label_pull_.max() <= 1.0


def test_several_labels():
    X, y = load_diabetes(return_X_y=True)
    labels = np.stack([y > 140, X[:, 2] > 0, X[:, 0] > 0.02], axis=1).astype(float)
    hidden = labels.copy()
    hidden[np.random.default_rng(0).random(labels.shape) < 0.3] = np.nan  # single cells, not rows
    model = SDRGLM(3).fit(X[::2], hidden[::2])
    predicted = model.predict(X[1::2])
    assert predicted.shape == (221, 3)
    assert set(np.unique(predicted)) == {0, 1}
    assert (predicted == labels[1::2]).mean() > 0.75
    assert model.score(X[1::2], labels[1::2]) == np.mean((predicted == labels[1::2]).all(axis=1))
    np.testing.assert_array_equal(model.predict_proba(X) > 0.5, model.predict(X) == 1)
    assert model.transduction_.shape == (221, 3)


def test_regression_of_several_targets_with_missing_cells():
    X, y = load_diabetes(return_X_y=True)
    Y = np.stack([y, 1000.0 - 3.0 * y], axis=1)
    Y[::4, 0] = np.nan
    Y[1::4, 1] = np.nan
    model = SDRGLM(task="regression").fit(X, Y)
    predicted = model.predict(X)
    assert np.corrcoef(predicted.T)[0, 1] < -0.98  # the second target is a falling function of the first
    assert np.corrcoef(predicted[:, 0], y)[0, 1] > 0.6
    np.testing.assert_allclose(model.transduction_, model.latent_decision_function(model.embedding_))


def test_regression_does_not_depend_on_the_unit_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    first, second = (SDRGLM(task="regression").fit(X, target).predict(X) for target in (y, 1e-3 * y - 7.0))
    np.testing.assert_allclose(second, 1e-3 * first - 7.0, rtol=1e-6)


def test_counts_as_targets():
    rng = np.random.default_rng(0)
    U = rng.standard_normal((300, 2))
    X = U @ rng.standard_normal((2, 10)) + 0.3 * rng.standard_normal((300, 10))
    y = rng.poisson(np.exp(1.0 + U[:, 0])).astype(float)
    model = SDRGLM(task="regression", family_y="poisson").fit(X[:200], y[:200])
    own = model.predict(X[200:])
    assert (own > 0).all()
    peer = PoissonRegressor(alpha=1e-3, max_iter=1000).fit(X[:200], y[:200]).predict(X[200:])
    assert mean_poisson_deviance(y[200:], own) < 1.1 * mean_poisson_deviance(y[200:], peer)
    assert mean_poisson_deviance(y[200:], own) < 0.3 * mean_poisson_deviance(y[200:], np.full(100, y[:200].mean()))


def test_bits_as_values():
    X, y = load_breast_cancer(return_X_y=True)
    mean = SDRGLM(task="regression", family_y="bernoulli").fit(X, y).predict(X)
    assert ((mean >= 0.0) & (mean <= 1.0)).all()
    np.testing.assert_allclose(mean, SDRGLM().fit(X, y).predict_proba(X)[:, 1], atol=1e-6)


def test_unlabelled_rows_take_part_in_the_reconstruction_only():
    data = make_latent_glm(200, 100, 4.0, random_state=0)
    y = data.y.copy()
    y[20:] = np.nan
    model = SDRGLM(2).fit(data.X, y)
    assert not model.label_pull_[20:].any()
    assert model.label_pull_[:20].all()
    assert np.mean(model.transduction_ == data.y) > 0.85
    alone = SDRGLM(2).fit(data.X[:20], y[:20])
    assert np.abs(alone.components_ - model.components_).max() > 0.01


# --- features of every kind -------------------------------------------------------------------------------------------


def test_family_of_the_features_is_found():
    data = load_digits_bits()
    assert set(SDRGLM(max_iter=2).fit(data.X, data.y).family_x_) == {"bernoulli"}
    assert set(SDRGLM(max_iter=2).fit(2.0 * data.X, data.y).family_x_) == {"gaussian"}
    assert set(SDRGLM(max_iter=2, family_x="gaussian").fit(data.X, data.y).family_x_) == {"gaussian"}


def test_mixed_columns():
    """Bits and counts are left alone, Gaussian columns are standardised; means come back in input units."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((200, 2))
    real = 1e4 + 1e3 * (U @ rng.standard_normal((2, 6)) + 0.2 * rng.standard_normal((200, 6)))
    bits = (U @ rng.standard_normal((2, 10)) > 0).astype(float)
    counts = rng.poisson(np.exp(0.5 * U @ rng.standard_normal((2, 8)))).astype(float)
    X, y = np.concatenate([real, bits, counts], axis=1), (U[:, 0] > 0).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    families = ["gaussian"] * 6 + ["bernoulli"] * 10 + ["poisson"] * 8
    model = SDRGLM(family_x=families).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > 0.85
    mean = model.reconstruction_
    assert np.corrcoef(mean[:, 0], real[:150, 0])[0, 1] > 0.8
    assert 0.0 <= mean[:, 6:16].min() <= mean[:, 6:16].max() <= 1.0
    assert mean[:, 16:].min() > 0.0
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), mean)
    whitened = SDRGLM(family_x=families, preprocessing="whiten", max_iter=5).fit(X, y)
    zscored = SDRGLM(family_x=families, max_iter=5).fit(X, y)
    np.testing.assert_array_equal(whitened.components_, zscored.components_)


def test_hidden_cells_are_filled_better_than_by_column_means():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400, X.std(axis=0) > 1.0], y[:400]
    hidden = np.random.default_rng(0).random(X.shape) < 0.3
    seen = np.where(hidden, np.nan, X)
    model = SDRGLM(9, recon_weight=1.0, reg_u=1.0, reg_v=1.0, reg_scaling="none").fit(seen, y)
    mean = np.broadcast_to(np.nanmean(seen, axis=0), X.shape)
    errors = [np.sqrt(np.mean((filled[hidden] - X[hidden]) ** 2)) for filled in (model.reconstruction_, mean)]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize("n_features", [30, 300])
def test_wide_and_tall_loadings(n_features):
    """Whatever form they are kept in, components are what embeds new rows."""
    data = make_wide_factors(60, n_features, 14.0, random_state=0)
    model = SDRGLM(2, preprocessing="none").fit(data.X, data.y)
    V, b = model.components_, model.intercept_x_
    assert V.shape == (2, n_features)
    lam, ridge = model.recon_weight_, model.recon_weight_ * model.reg_u
    expected = np.linalg.solve(2 * lam * V @ V.T + ridge * np.eye(2), 2 * lam * V @ (data.X - b).T).T
    np.testing.assert_allclose(model.transform(data.X), expected, atol=1e-9)
    np.testing.assert_allclose(model.reconstruction_, model.embedding_ @ V + b)


# --- the automatic weight ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family_x", ["gaussian", "bernoulli"])
def test_automatic_weight_is_the_ratio_of_null_losses(family_x):
    data = make_latent_glm(100, 50, 3.0, random_state=0)
    model = SDRGLM(family_x=family_x, preprocessing="none", recon_ratio=0.7, max_iter=1).fit(data.X, data.y)
    p = data.X.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.nansum(-p * np.log(p) - (1 - p) * np.log(1 - p))
    H_X = 100 * entropy if family_x == "bernoulli" else ((data.X - p) ** 2).sum()
    assert model.recon_weight_ == pytest.approx(0.7 * 100 * np.log(2) / H_X)


def test_automatic_weight_does_not_depend_on_the_number_of_columns():
    data = make_latent_glm(80, 60, 3.0, "gaussian", random_state=0)
    once = SDRGLM(2, preprocessing="zscore", max_iter=30).fit(data.X, data.y)
    doubled = np.concatenate([data.X, data.X], axis=1)
    twice = SDRGLM(2, preprocessing="zscore", max_iter=30).fit(doubled, data.y)
    assert twice.recon_weight_ == pytest.approx(once.recon_weight_ / 2)
    assert np.mean(once.predict(data.X) == twice.predict(doubled)) > 0.95


def test_automatic_weight_does_not_depend_on_the_number_of_unlabelled_rows():
    """Few labels among many rows were overfitted: the reconstruction weighed next to nothing in their rows."""
    data = make_latent_glm(400, 60, 3.0, "gaussian", random_state=0)
    some = data.y.astype(float)
    some[200:] = np.nan
    few = some.copy()
    few[40:] = np.nan
    weights = [SDRGLM(2, max_iter=2).fit(data.X, y).recon_weight_ for y in (data.y, some, few)]
    np.testing.assert_allclose(weights, weights[0], rtol=0.02)


def test_constant_features_leave_the_majority():
    X, y = np.zeros((30, 4)), np.arange(30) % 3 == 0
    assert not SDRGLM(max_iter=5, init="random").fit(X, y).predict(X).any()


# --- calibration ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "load", [load_wine, *(pytest.param(each, marks=pytest.mark.slow) for each in (load_breast_cancer, load_iris))]
)
def test_probabilities_are_calibrated(load):
    """No worse on new rows than scikit-learn's calibration, which takes five more fits."""
    train, test = halves(*load(return_X_y=True))
    own = log_loss(test[1], SDRGLM().fit(*train).predict_proba(test[0]))
    peer = CalibratedClassifierCV(SDRGLM(), cv=5).fit(*train).predict_proba(test[0])
    assert own < log_loss(test[1], peer) + 0.01


def test_left_out_rows_keep_the_predictor_modest():
    """With more columns than rows, loadings remember the labels of the rows that made them."""
    X, y = make_latent_glm(300, 300, 1.0, "gaussian", random_state=0).to_xy()
    model = SDRGLM(5).fit(X[:100], y[:100])
    latent = model.transform(X[:100])
    naive = LogisticRegression(C=100.0, max_iter=1000).fit(latent, y[:100]).predict_proba(model.transform(X[100:]))
    assert log_loss(y[100:], model.predict_proba(X[100:])) < 0.7 * log_loss(y[100:], naive)


def test_without_calibration_small_weights_answer_the_majority():
    data = make_latent_glm(400, 200, 3.0, random_state=2)
    rows = np.flatnonzero((data.y == 1) | (np.arange(400) % 8 == 0))  # one in five is of class 0
    X, y = data.X[rows], data.y[rows]
    settings = {"recon_weight": 1e-5, "reg_u": 0.01, "reg_v": 0.01, "reg_scaling": "none"}
    with pytest.warns(UserWarning, match="ridges outweigh"):
        literal = SDRGLM(calibrate=False, **settings).fit(X[::2], y[::2])
    with pytest.warns(UserWarning, match="ridges outweigh"):
        calibrated = SDRGLM(**settings).fit(X[::2], y[::2])
    assert np.linalg.norm(literal.transform(X[::2])) < 0.2 * np.linalg.norm(literal.embedding_)
    assert (literal.predict(X[1::2]) == 1).mean() > 0.98
    assert calibrated.score(X[1::2], y[1::2]) > literal.score(X[1::2], y[1::2])


# --- what the simulated sets show -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "scale"), [pytest.param("bernoulli", 3.0, marks=pytest.mark.slow), ("gaussian", 1.5)]
)
def test_it_keeps_up_with_a_linear_svm(noise, scale):
    from supdr.baselines import LinearSVM

    errors = []
    for seed in range(4):
        data = make_latent_glm(600, 300, scale, noise, random_state=seed)
        train, test = (data.X[:100], data.y[:100]), (data.X[100:], data.y[100:])
        models = SDRGLM(preprocessing="none", max_iter=50), LinearSVM(preprocessing="none")
        errors.append([1.0 - model.fit(*train).score(*test) for model in models])
    own, svm = np.mean(errors, axis=0)
    assert own <= svm + 0.01


def test_wide_regression():
    data = make_wide_regression(400, 800, 14.0, random_state=0)
    model = SDRGLM(8, task="regression", preprocessing="none").fit(data.X[:200], data.y[:200])
    assert np.corrcoef(model.predict(data.X[200:]), data.y[200:])[0, 1] > 0.6


# --- warnings ---------------------------------------------------------------------------------------------------------


def test_a_rank_killed_by_the_ridges_is_reported():
    data = make_wide_factors(50, 400, 5.0, random_state=0)
    with pytest.warns(UserWarning, match=r"ridges outweigh the reconstruction.*effective rank is \d of 3"):
        model = SDRGLM(3, recon_weight=1e-6, reg_u=0.01, reg_v=0.01, reg_scaling="none", preprocessing="none").fit(
            data.X, data.y
        )
    assert model.history_["rank_threshold"][-1] == pytest.approx(0.01 / 2e-6)
    assert model.history_["singular_value_2"][-1] < 1e-3 * model.history_["singular_value_1"][-1]


def test_a_drowned_target_is_reported():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(UserWarning, match="the reconstruction outweighs the targets 1000 times"):
        SDRGLM(recon_ratio=1000.0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SDRGLM(recon_ratio=100.0).fit(X, y)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, or None; got 0"),
        ({"n_components": 14}, "n_components=14 exceeds .* init='random' allows more"),
        ({"recon_weight": 0.0}, "recon_weight must be 'auto' or a number > 0; got 0.0"),
        ({"recon_weight": "none"}, "recon_weight must be 'auto' or a number > 0; got 'none'"),
        ({"recon_ratio": -1}, "recon_ratio must be a number > 0; got -1"),
        ({"reg_u": 0}, "reg_u must be a number > 0; got 0"),
        ({"gaussian_c": np.inf}, "gaussian_c must be a number > 0; got inf"),
        ({"reg_scaling": "x"}, "reg_scaling must be one of lam, none; got 'x'"),
        ({"bound": "bouchard"}, "bound must be one of jj, bohning; got 'bouchard'"),
        ({"solver": "sgd"}, "solver must be one of fast, literal; got 'sgd'"),
        ({"inner": 0}, "inner must be an integer of at least 1, or None; got 0"),
        ({"init": "pca"}, "init must be one of svd, random; got 'pca'"),
        (
            {"init": np.zeros((3, 2))},
            r"init must be 'svd', 'random' or an array of shape \(178, n_components\); got shape \(3, 2\)",
        ),
        ({"init": np.full((178, 2), np.nan)}, "init must be finite"),
        ({"family_x": "weibull"}, "family_x must be made of .*gamma, negative_binomial; got 'weibull'"),
        ({"family_x": "negative_binomial"}, "X: a negative_binomial column holds the counts"),
        ({"negative_binomial_size": 0.0}, "negative_binomial_size must be"),
        ({"family_x": ["poisson"]}, r"family_x must be one family or one per column \(13\); got 1 names"),
        ({"family_x": "bernoulli"}, "X: a bernoulli column holds 0 and 1 only; column 0 has"),
        ({"family_x": "poisson"}, "X: a poisson column holds the counts"),
        (
            {"family_y": "gaussian"},
            "family_y must be one of auto, bernoulli, softmax for classification; got 'gaussian'",
        ),
        (
            {"task": "regression", "family_y": "gamma"},
            "family_y must be made of bernoulli, gaussian, poisson; got 'gamma'",
        ),
        ({"task": "regression", "family_y": "softmax"}, "family_y must be made of bernoulli, gaussian, poisson"),
        ({"task": "regression", "family_y": "bernoulli"}, "y: a bernoulli column holds 0 and 1 only"),
        ({"task": "rank"}, "task must be one of classification, regression; got 'rank'"),
        ({"preprocessing": "log"}, "preprocessing must be one of none, zscore, minmax, whiten; got 'log'"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SDRGLM(**settings).fit(X, y)


def test_more_components_than_columns_with_a_random_start():
    X, y = load_wine(return_X_y=True)
    model = SDRGLM(15, init="random", max_iter=20, random_state=0).fit(X, y)
    assert model.transform(X).shape == (178, 15)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0, 2], [1, 0], [0, 1], [1, 1]]), "column 1 has 2 in row 0"),
        (np.array([[0, 1], [1, 1], [0, 1], [1, 1]]), "label 1 has one class only"),
        (np.array([[0, np.nan], [1, np.nan], [0, np.nan], [1, np.nan]]), "no observed value in column 1"),
        (np.full((4, 2), np.nan), "no labelled row"),
        (np.array([[0, np.inf], [1, 0], [0, 1], [1, 1]]), "infinity"),
        (np.array([["a", "b"], ["a", "a"], ["b", "b"], ["b", "b"]]), "must hold numbers"),
        (np.zeros((3, 2)), "inconsistent numbers of samples"),
    ],
)
def test_bad_labels(Y, message):
    with pytest.raises(ValueError, match=message):
        SDRGLM().fit(np.random.default_rng(0).standard_normal((4, 3)), Y)


def test_early_stopping_watches_one_label():
    X, y = load_wine(return_X_y=True)
    assert SDRGLM(early_stopping=True).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="early_stopping watches one label"):
        SDRGLM(early_stopping=True).fit(X, np.eye(3)[y])


def test_new_rows_must_fit_their_families():
    data = load_digits_bits()
    model = SDRGLM(2, max_iter=2).fit(data.X, data.y)
    with pytest.raises(ValueError, match=r"X: a bernoulli .* only; column 3 has 0\.5 in row 1"):
        model.transform(np.where(np.arange(64) == 3, np.array([[0.0], [0.5]]), 1.0))
    with pytest.raises(ValueError, match=r"latent must have shape \(n_samples, 2\); got \(3, 5\)"):
        model.inverse_transform(np.zeros((3, 5)))
    empty = model.transform(np.full((1, 64), np.nan))
    np.testing.assert_array_equal(empty, 0.0)
