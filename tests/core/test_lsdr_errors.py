"""LSDR: warnings, errors, and data at the edge."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from supdr import LSDR, Stop
from supdr.functions.losses import LOSSES
from tests.core.lsdr_cases import toy

# --- warnings and errors ----------------------------------------------------------------------------------------------


def test_reaching_max_iter_is_no_warning():
    X, y = toy(2)
    fitted = LSDR(2, max_iter=2, tol=0.0).fit(X, y)  # warnings are errors here
    assert fitted.stop_ is Stop.max_iter


def test_sgd_warns_while_the_objective_falls():
    X, y = toy(2)
    with pytest.warns(ConvergenceWarning, match="still falls by more than 1 %"):
        LSDR(
            2,
            preprocessing="zscore",
            solver="sgd",
            lr_reconstruction=1e-2,
            max_iter=24,
            beta=0.9,
            init="random",
            random_state=0,
        ).fit(X, y)


def test_divergence_names_the_learning_rate():
    X, y = toy(2)
    with pytest.warns(ConvergenceWarning, match=r"diverged.*lr_reconstruction=3"):
        fitted = LSDR(3, solver="sgd", lr_reconstruction=3.0, beta=0.9, init="random", max_iter=50).fit(X, y)
    assert fitted.stop_ is Stop.diverged
    assert np.isfinite(fitted.embedding_).all()


def test_more_components_than_columns_warns():
    X, y = toy(2)
    with pytest.warns(UserWarning, match="n_components=9 exceeds the 6 columns"):
        fitted = LSDR(9, max_iter=3).fit(X, y)
    assert fitted.embedding_.shape == (40, 9)


def test_constant_and_repeated_columns_are_harmless():
    X, y = toy(2)
    X = np.column_stack([X, np.ones(40), X[:, 0]])
    for preprocessing in ("whiten", "zscore", "minmax", "none"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isfinite(LSDR(2, preprocessing=preprocessing).fit(X, y).transform(X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1, or None; got 0"),
        ({"n_components": 2.0}, "n_components must be an integer"),
        ({"beta": 0.0}, r"beta must be a number in \(0, 1\]; got 0.0"),
        ({"beta": 1.5}, "beta must be"),
        ({"reg_u": -1.0}, "reg_u must be a number >= 0, or None; got -1.0"),
        ({"reg_v": np.inf}, "reg_v must be"),
        ({"reg_w": 0.0}, "reg_w must be a number > 0; got 0.0"),
        ({"lr_reconstruction": 0.0}, "lr_reconstruction must be"),
        ({"lr_classification": "fast"}, "lr_classification must be"),
        ({"init_scale": -0.1}, "init_scale must be"),
        ({"solver": "adam"}, "solver must be one of bcd, lbfgs, sgd; got 'adam'"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"init": "zeros"}, "init must be one of pca, random; got 'zeros'"),
        ({"init": np.zeros((3, 2))}, r"init must be .* array of shape \(40, n_components\); got shape \(3, 2\)"),
        ({"n_components": 3, "init": np.zeros((40, 2))}, r"array of shape \(40, 3\); got shape \(40, 2\)"),
        ({"init": np.full((40, 2), np.nan)}, "init must be finite"),
        ({"preprocessing": "log"}, "preprocessing must be one of"),
        ({"task": "ranking"}, "task must be one of classification, regression"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction must lie in"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = toy(2)
    with pytest.raises(ValueError, match=message):
        LSDR(**parameters).iterate(X, y)


def test_an_empty_row_or_column():
    X, y = toy(2)
    X[3] = np.nan
    with pytest.raises(ValueError, match="X has no observed cell in row 3"):
        LSDR().fit(X, y)
    X, y = toy(2)
    fitted = LSDR(max_iter=2, preprocessing="zscore").fit(X, y)
    with pytest.raises(ValueError, match="X has no observed cell in row 1"):
        fitted.transform([[0.0] * 6, [np.nan] * 6])
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="X has no observed cell in column 2"):
        LSDR().fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("row_bias", [False, True])
def test_pull_of_the_labels_and_reconstruction(loss, row_bias):
    X, y = load_wine(return_X_y=True)
    y = y.astype(float)
    y[::5] = np.nan
    model = LSDR(loss=loss, row_bias=row_bias, max_iter=5, random_state=0).fit(X, y)
    pull = model.label_pull_
    assert pull.shape == (len(X),)
    assert pull.min() >= 0.0
    assert pull.max() <= 1.0 + 1e-12
    np.testing.assert_array_equal(pull[np.isnan(y)], 0.0)
    assert model.reconstruction_.shape == X.shape
    if not row_bias:
        np.testing.assert_allclose(model.reconstruction_, model.inverse_transform(model.embedding_))
    else:  # the bias per row only helps
        bare = model._preprocessing.inverse_transform(model.embedding_ @ model.components_ + model.intercept_x_)
        assert not np.allclose(bare, model.reconstruction_)
