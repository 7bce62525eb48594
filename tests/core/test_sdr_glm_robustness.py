"""SDRGLM where data are awkward: offsets, units, counts, missing targets, extreme cells."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning

from supdr import SDRGLM
from supdr.datasets import make_wide_factors
from supdr.engine.iterate import Stop
from supdr.functions.families import BERNOULLI, FAMILIES, GAMMA, GAUSSIAN, POISSON, residuals
from supdr.methods.sdr_glm.features import WeightedFeatures
from supdr.methods.sdr_glm.prediction import embed
from supdr.methods.sdr_glm.targets import TargetSide, null_facts
from supdr.rows.in_memory import InMemoryRows

FAMILY_CODES = tuple(range(len(FAMILIES)))


# --- new rows ---------------------------------------------------------------------------------------------------------


def cells(code, rng, shape=(60, 30)):
    if code == BERNOULLI:
        return (rng.random(shape) < 0.5) * 1.0
    if code == GAUSSIAN:
        return rng.standard_normal(shape)
    sizes = np.exp(rng.normal(1.0, 2.0, shape))
    return rng.exponential(sizes) if code == GAMMA else rng.poisson(sizes) * 1.0


@pytest.mark.parametrize("size", [0.3, 10.0])
@pytest.mark.parametrize("code", FAMILY_CODES)
def test_new_rows_are_exact_however_steep_the_loadings(code, size):
    """The gradient vanishes beside what it is made of: fixed parabolas were far off after 200 steps."""
    rng = np.random.default_rng(0)
    X, loadings, ridge = cells(code, rng), size * rng.standard_normal((4, 30)), 1e-6
    X[rng.random(X.shape) < 0.2] = np.nan
    latent = embed(WeightedFeatures(X, np.full(30, code), 1.0, "jj"), loadings, 0.5, 0.5 * ridge)
    theta = latent @ loadings[:-1] + loadings[-1]
    r = residuals(np.full(30, code), X, theta)
    gradient = r @ loadings[:-1].T - ridge * latent
    assert (np.abs(gradient) / (np.abs(r) @ np.abs(loadings[:-1]).T)).max() < 1e-9


def test_an_unfinished_row_is_reported():
    rng = np.random.default_rng(0)
    features = WeightedFeatures(cells(BERNOULLI, rng, (7, 30)), np.zeros(30, dtype=int), 1.0, "jj")
    with pytest.warns(ConvergenceWarning, match="7 of 7 rows are not exact after 1 Newton steps"):
        embed(features, rng.standard_normal((4, 30)), 1.0, 1e-3, max_steps=1)


def test_a_new_row_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(0)
    X, loadings = cells(POISSON, rng), rng.standard_normal((4, 30))
    codes = np.full(30, POISSON)
    alone = embed(WeightedFeatures(X[5:6], codes, 1.0, "jj"), loadings, 0.5, 0.01)
    np.testing.assert_array_equal(embed(WeightedFeatures(X, codes, 1.0, "jj"), loadings, 0.5, 0.01)[5:6], alone)


# --- offsets and units ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preprocessing", ["none", "minmax", "zscore"])
@pytest.mark.parametrize("n_features", [15, 150])
def test_offsets_change_nothing(n_features, preprocessing):
    """Sums of squares of columns around 1e8 cancel; deviations from their means do not."""
    data = make_wide_factors(60, n_features, 14.0, random_state=0)
    settings = {"preprocessing": preprocessing, "max_iter": 40, "tol": -1.0, "n_components": 2}
    here = SDRGLM(**settings).fit(data.X, data.y)
    there = SDRGLM(**settings).fit(data.X + 1e8, data.y)
    values = there.history_["objective"]
    assert (np.diff(values) / (1.0 + np.abs(values[:-1]))).max() < 1e-10
    np.testing.assert_allclose(values, here.history_["objective"], rtol=1e-5)
    np.testing.assert_allclose(there.predict_proba(data.X + 1e8), here.predict_proba(data.X), atol=1e-5)
    np.testing.assert_allclose(there.reconstruction_ - 1e8, here.reconstruction_, atol=1e-4)


@pytest.mark.parametrize("preprocessing", ["none", "minmax"])
def test_biases_are_in_the_units_of_the_named_preprocessing(preprocessing):
    X, y = load_wine(return_X_y=True)
    model = SDRGLM(2, preprocessing=preprocessing, max_iter=5).fit(X, y)
    mean = model.embedding_ @ model.components_ + model.intercept_x_
    if preprocessing == "minmax":
        low, high = X.min(axis=0), X.max(axis=0)
        mean = (mean + 1.0) / 2.0 * (high - low) + low
    np.testing.assert_allclose(mean, model.reconstruction_, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_small_and_large_units_of_columns_change_nothing(factor):
    X, y = load_wine(return_X_y=True)
    expected = SDRGLM().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(SDRGLM().fit(X * factor, y).predict_proba(X * factor), expected, atol=1e-6)


@pytest.mark.parametrize(("factor", "offset"), [(1e6, 0.0), (1e-9, 0.0), (1e140, 0.0), (1e-200, 0.0), (1.0, 1e8)])
def test_units_of_a_target_change_nothing(factor, offset):
    X, y = load_diabetes(return_X_y=True)
    expected = SDRGLM(task="regression").fit(X, y).predict(X)
    found = SDRGLM(task="regression").fit(X, y * factor + offset).predict(X)
    np.testing.assert_allclose((found - offset) / factor, expected, rtol=1e-4)


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_a_run_on_counts_stops_by_what_can_be_explained(size):
    """The likelihood of counts depends on their size whatever the model: a share of it is no measure of progress."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((150, 2))
    counts = rng.poisson(size * np.exp(0.4 * U @ rng.standard_normal((2, 12)))).astype(float)
    model = SDRGLM(2, family_x="poisson", tol=1e-4).fit(counts, (U[:, 0] > 0).astype(int))
    assert model.stop_ is Stop.converged
    falls = -np.diff(model.history_["objective"]) / sum(model.null_losses_.values())
    assert falls[-1] <= 1e-4 < falls[:-1].min()


# --- targets ----------------------------------------------------------------------------------------------------------


def test_early_stopping_with_missing_targets_goes_on():
    X, y = load_diabetes(return_X_y=True)
    Y = np.stack([y, X[:, 2] - 0.5 * X[:, 8]], axis=1)
    Y[::3, 0] = np.nan
    Y[1::3, 1] = np.nan
    model = SDRGLM(task="regression", early_stopping=True, random_state=0).fit(X[::2], Y[::2])
    assert np.isfinite(model.history_["validation_error"]).all()
    assert model.n_iter_ > 1
    predicted = model.predict(X[1::2])
    assert np.corrcoef(predicted[:, 0], y[1::2])[0, 1] > 0.6
    assert np.corrcoef(predicted[:, 1], (X[:, 2] - 0.5 * X[:, 8])[1::2])[0, 1] > 0.8


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("family_y", ["gaussian", "poisson"])
def test_a_constant_target_is_predicted(family_y, value):
    X, _ = load_diabetes(return_X_y=True)
    if family_y == "poisson":
        value = np.floor(value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SDRGLM(task="regression", family_y=family_y).fit(X, np.full(len(X), value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-3, atol=1e-6)


def test_weights_multiply_single_targets():
    """Rows that weigh twice count as often as rows that are there twice, in every family."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((80, 2))
    X = U @ rng.standard_normal((2, 9)) + 0.3 * rng.standard_normal((80, 9))
    Y = np.stack([(U[:, 0] > 0) * 1.0, U[:, 1] + 5.0, rng.poisson(np.exp(U[:, 0]))], axis=1)
    Y[::5, 0] = np.nan
    weights = np.where(np.arange(80) % 2, 2.0, 1.0)
    families = np.array([BERNOULLI, GAUSSIAN, POISSON])
    theta = U @ rng.standard_normal((2, 3))
    twice = np.repeat(np.arange(80), weights.astype(int))
    once = TargetSide(Y, families, 1.0, "jj", weights=weights)
    doubled = TargetSide(Y[twice], families, 1.0, "jj")
    assert once.value(theta) == pytest.approx(doubled.value(theta[twice]), rel=1e-12)
    null, null_of_doubled = (null_facts(InMemoryRows(len(side.Y)), side, families, 3) for side in (once, doubled))
    assert null.loss == pytest.approx(null_of_doubled.loss, rel=1e-12)
    np.testing.assert_allclose(null.centre, null_of_doubled.centre, rtol=1e-12)
    start = 0.1 * rng.standard_normal((3, 3))
    found = once.solve_head(once.head_sums(U, start), start, 0.1)
    expected = doubled.solve_head(doubled.head_sums(U[twice], start), start, 0.1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    model = SDRGLM(2, task="regression", family_y=["bernoulli", "gaussian", "poisson"])
    heavy = model.fit(X, Y, sample_weight=weights)
    assert np.isfinite(heavy.predict(X)).all()
    values = heavy.history_["objective"]
    assert (np.diff(values) / (1.0 + np.abs(values[:-1]))).max() < 1e-10
    hidden = Y.copy()
    hidden[::4] = np.nan
    expected = SDRGLM(2, task="regression", family_y=model.family_y).fit(X, hidden).predict(X)
    without = model.fit(X, Y, sample_weight=np.where(np.arange(80) % 4, 1.0, 0.0)).predict(X)
    np.testing.assert_array_equal(without, expected)


def test_several_labels_take_no_class_weights():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="class_weight must be None with several labels; got 'balanced'"):
        SDRGLM(class_weight="balanced").fit(X, np.eye(3)[y])


# --- extreme input ----------------------------------------------------------------------------------------------------


def test_one_class_is_refused():
    X, _ = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="needs at least two classes"):
        SDRGLM().fit(X, np.ones(len(X)))


def test_constant_columns_are_harmless():
    X, y = load_wine(return_X_y=True)
    wide = np.concatenate([X, np.full((len(X), 2), 0.1), np.zeros((len(X), 1))], axis=1)
    model = SDRGLM(2).fit(wide, y)
    assert model.score(wide, y) > 0.9
    np.testing.assert_allclose(model.reconstruction_[:, 13:], wide[:, 13:], atol=1e-6)


def test_large_counts_are_reached():
    """A step moves the parameter of a count by 1 at most: it begins at the mean, not at 0."""
    rng = np.random.default_rng(0)
    counts = np.floor(1e12 * np.exp(rng.standard_normal((60, 5))))
    y = (counts[:, 0] > 1e12).astype(int)
    model = SDRGLM(2, family_x="poisson").fit(counts, y)
    assert np.isfinite(model.transform(counts)).all()
    assert model.score(counts, y) > 0.8
    with pytest.raises(ValueError, match=r"counts 0, 1, 2, \.\.\. up to 2\^53 only; column 0 has 1e\+300 in row 0"):
        SDRGLM(2, family_x="poisson").fit(np.full((4, 2), 1e300), [0, 1, 0, 1])


def test_cells_near_the_end_of_the_range():
    X, y = load_wine(return_X_y=True)
    X[:2, 0] = 1e308, -1e308
    assert SDRGLM().fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match=r"X, once preprocessed, must hold numbers .*got 1e\+308 in column 0 of row 0"):
        SDRGLM(preprocessing="none").fit(X, y)
