"""Regression on rows far outside of the training rows: predictions stay bounded, and `predict` says what it clips."""

import warnings

import numpy as np
import pandas as pd
import pytest

import supdr
from supdr.baselines import LLR, LSSVM, PFR, PLS, ElasticNet, HessianEnergy
from supdr.engine.preprocessing import MARGIN, fit_preprocessing

REGRESSORS = {
    "LSDR": supdr.LSDR(task="regression"),
    "SDRGLM": supdr.SDRGLM(task="regression"),
    "SNF": supdr.SNF(),
    "SNF of degree 3": supdr.SNF(2, degree=3),
    "linear SNF": supdr.SNF(kernel="linear"),
    "LLR": LLR(),
    "PLS": PLS(),
    "ElasticNet": ElasticNet(),
    "PFR": PFR(),
    "HessianEnergy": HessianEnergy(),
    "LSSVM of degree 2": LSSVM(kernel="poly"),
    "linear LSSVM": LSSVM(kernel="linear"),
}


@pytest.fixture(scope="module")
def heavy_tails():
    """Rows with columns of Student's t of 1.5 degrees of freedom, and a target that two of them make."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, (150, 5))
    return X, np.tanh(X[:, 0]) + 0.5 * np.tanh(X[:, 1]) + 0.1 * rng.standard_normal(150)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("factor", [30.0, -1e4, 1e12])
def test_predictions_of_far_rows_stay_near_the_training_values(name, factor, heavy_tails):
    X, y = heavy_tails
    model = REGRESSORS[name].fit(X, y)
    far = X[:5].copy()
    far[np.arange(5), np.arange(5)] = factor * np.abs(X).max(axis=0)
    with pytest.warns(UserWarning, match="lie far outside of the training rows"):
        predicted = model.predict(far)
    assert (np.abs(predicted - y.mean()) < 3 * np.ptp(y)).all()


@pytest.mark.parametrize("name", REGRESSORS)
def test_rows_within_the_range_are_used_as_they_are(name, heavy_tails):
    X, y = heavy_tails
    rng = np.random.default_rng(1)
    rows = rng.uniform(X.min(axis=0), X.max(axis=0), (20, X.shape[1]))
    model = REGRESSORS[name].fit(X, y)
    free = REGRESSORS[name].__class__(**{**model.get_params(), "extrapolate": True}).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(rows), free.predict(rows))
        np.testing.assert_array_equal(model.transform(X), free.transform(X))


def test_extrapolating_a_linear_method_is_linear(heavy_tails):
    X, y = heavy_tails
    model = supdr.LSDR(task="regression", extrapolate=True).fit(X, y)
    base, direction = X.mean(axis=0), 1e3 * np.ones(X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = model.predict(base + np.arange(3)[:, None] * direction)
    assert values[2] - values[1] == pytest.approx(values[1] - values[0])


def test_the_warning_names_the_row_and_the_column(heavy_tails):
    X, y = heavy_tails
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = supdr.SNF().fit(frame, y)
    rows = frame.iloc[:4].copy()
    rows.iloc[2, 3] = 1e6
    with pytest.warns(UserWarning, match=r"1 of 4 rows .* row 2, column 'd': 1e\+06, where the training rows have"):
        model.predict(rows)


def test_classes_of_linear_methods_are_not_clipped(heavy_tails):
    X, _ = heavy_tails
    model = supdr.LSDR().fit(X, X[:, 0] > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = 1e3 * np.abs(X).max() * np.eye(X.shape[1])
        assert np.abs(model.transform(2 * rows) - model.transform(rows)).max() > 1.0


@pytest.mark.parametrize("kind", ["none", "zscore", "minmax", "whiten"])
def test_clipping_leaves_missing_cells_and_keeps_the_range(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    fitted = fit_preprocessing(X, kind)
    low, high = X.min(axis=0), X.max(axis=0)
    rows = np.array([[np.nan, -1e200, 1e200], X[0]])
    clipped = fitted.clipped(rows)
    assert np.isnan(clipped[0, 0])
    np.testing.assert_allclose(clipped[0, 1:], [low[1] - MARGIN * np.ptp(X[:, 1]), high[2] + MARGIN * np.ptp(X[:, 2])])
    np.testing.assert_array_equal(clipped[1], X[0])
