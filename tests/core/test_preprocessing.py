"""Preprocessing: units and offsets do not matter, whitening shrinks instead of switching, the inverse is one."""

import warnings

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage as reference
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score

from supdr import LSDR, NSDR, SDRGLM, SNF
from supdr.engine.preprocessing import fit_preprocessing, ledoit_wolf_shrinkage

SHAPES = [(30, 10), (200, 5), (11, 10), (10, 11), (20, 40), (2, 7)]
SCALING = ["zscore", "minmax", "whiten"]


def rows(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + 3.0


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_shrinkage_is_that_of_scikit_learn(n, m):
    X = rows(n, m)
    X -= X.mean(axis=0)
    variances = np.linalg.svd(X, compute_uv=False) ** 2 / n
    expected = reference(X, assume_centered=True)
    fourth = ((X**2).sum(axis=1) ** 2).sum()
    assert ledoit_wolf_shrinkage(variances, fourth, n, m) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_whitened_rows_come_back(n, m):
    X = rows(n, m)
    fitted = fit_preprocessing(X, "whiten")
    white = fitted.transform(X)
    assert fitted.kind == "whiten"
    assert white.shape[1] == min(n - 1, m)
    np.testing.assert_allclose(fitted.inverse_transform(white), X, atol=1e-9 * np.abs(X).max())
    np.testing.assert_allclose(fitted.inverse @ fitted.matrix, np.eye(min(n - 1, m)), atol=1e-9)


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_whitened_columns_are_uncorrelated(n, m):
    white = fit_preprocessing(rows(n, m), "whiten").transform(rows(n, m))
    covariance = white.T @ white / n
    variances = np.diag(covariance)
    np.testing.assert_allclose(covariance, np.diag(variances), atol=1e-9)
    assert (np.diff(variances) <= 1e-9).all()


def test_many_rows_are_whitened_to_the_identity():
    X = rows(20000, 3)
    white = fit_preprocessing(X, "whiten").transform(X)
    np.testing.assert_allclose(white.T @ white / 20000, np.eye(3), atol=0.05)


@pytest.mark.parametrize("kind", SCALING)
@pytest.mark.parametrize("unit", [1e-200, 1e-13, 1e-3, 1e6, 1e200])
def test_units_do_not_matter(kind, unit):
    X = rows(40, 6)
    units = np.ones(6)
    units[[1, 4]] = unit
    expected = fit_preprocessing(X, kind).transform(X)
    np.testing.assert_allclose(fit_preprocessing(X * units, kind).transform(X * units), expected, atol=1e-8)


@pytest.mark.parametrize("kind", SCALING)
def test_offsets_do_not_matter(kind):
    X = rows(40, 6)
    offset = np.array([0, 1e8, -1e8, 5, 0, 1e4])
    expected = fit_preprocessing(X, kind).transform(X)
    # Adding 1e8 rounds the cells to 1e-8.
    np.testing.assert_allclose(fit_preprocessing(X + offset, kind).transform(X + offset), expected, atol=1e-5)


@pytest.mark.parametrize("kind", SCALING)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, -1e-9])
def test_constant_columns_are_centred_and_stay(kind, value):
    X = rows(40, 3)
    X[:, 1] = value
    fitted = fit_preprocessing(X, kind)
    prepared = fitted.transform(X)
    assert np.isfinite(prepared).all()
    np.testing.assert_allclose(fitted.inverse_transform(prepared), X, atol=1e-9 * max(1.0, abs(value)))
    without = fit_preprocessing(X[:, [0, 2]], kind).transform(X[:, [0, 2]])
    kept = slice(None) if kind == "whiten" else [0, 2]
    np.testing.assert_allclose(prepared[:, kept], without, atol=1e-9)


@pytest.mark.parametrize("method", [LSDR, NSDR, SDRGLM])
def test_small_units_are_learnt_from(method):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)  # no column is larger than it varies
    expected = method(random_state=0).fit(X, y)
    small = method(random_state=0).fit(X * 1e-13, y)
    np.testing.assert_array_equal(small.predict(X * 1e-13), expected.predict(X))


def test_small_units_are_learnt_from_by_snf():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] - 2 * X[:, 1]
    expected = SNF(random_state=0).fit(X, y).score(X, y)
    assert expected > 0.5
    assert SNF(random_state=0).fit(X * 1e-13, y).score(X * 1e-13, y) == pytest.approx(expected, abs=1e-4)


def test_one_more_row_than_columns_is_no_cliff():
    """Plain whitening began there: .92 at 30 rows, .86 at 31."""
    X, y = load_breast_cancer(return_X_y=True)

    def accuracy(size):
        splits = StratifiedShuffleSplit(6, train_size=size, random_state=0).split(X, y)
        fits = ((LSDR(2, random_state=0).fit(X[train], y[train]), test) for train, test in splits)
        return np.mean([model.score(X[test], y[test]) for model, test in fits])

    assert accuracy(31) > accuracy(30) - 0.02


def test_classes_in_a_direction_that_hardly_varies_are_found():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    differences = rng.normal(size=(200, 8))
    differences[:, 0] += 4 * (y - 0.5)
    X = rng.normal(size=(200, 1)) + 0.01 * differences
    expected = cross_val_score(LinearDiscriminantAnalysis(), X, y).mean()
    assert expected > 0.95
    for method in (LSDR, NSDR):
        assert cross_val_score(method(random_state=0), X, y).mean() > expected - 0.02


def test_missing_cells_and_constant_tables_are_scaled_by_column():
    X = rows(20, 4)
    X[3, 2] = np.nan
    assert fit_preprocessing(X, "whiten").kind == "zscore"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit_preprocessing(np.ones((5, 3)), "whiten").kind == "zscore"
