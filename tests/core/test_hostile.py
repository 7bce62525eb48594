"""Hyper-parameters and cells of any kind: a finite fit, or an error that names what is wrong."""

import inspect
import warnings

import numpy as np
import pytest

import supdr

HOSTILE = (None, "x", np.nan, np.inf, -1, 0, 1e300, [], True, {}, np.array([1.0, 2.0]), object())

PARAMETERS = [(name, each) for name, cls in supdr.METHODS.items() for each in sorted(cls().get_params())]


def data(n_rows=30):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(n_rows) % 3)
    X, y = rng.standard_normal((n_rows, 4)) + 2 * np.eye(3, 4)[codes], codes.astype(float)
    y[::6] = np.nan
    return X, y


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=["-".join(pair) for pair in PARAMETERS])
def test_any_value_of_a_parameter(name, parameter, capsys):
    X, y = data()
    for value in HOSTILE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fitted = supdr.METHODS[name](**{"max_iter": 2, "random_state": 0, parameter: value}).fit(X, y)
                results = fitted.transform(X), np.asarray(fitted.predict(X), dtype=float), fitted.embedding_
            except (ValueError, TypeError) as error:
                message = str(error)
            else:
                message = parameter if all(np.isfinite(each).all() for each in results) else "not finite"
        assert parameter in message, f"{parameter}={value!r}: {message}"


@pytest.mark.parametrize("name", list(supdr.METHODS))
@pytest.mark.parametrize("value", ["x", 1, None])
def test_switches_are_true_or_false(name, value):
    for parameter, given in inspect.signature(supdr.METHODS[name]).parameters.items():
        if isinstance(given.default, bool):
            with pytest.raises(ValueError, match=rf"^{parameter} must be True or False; got {value!r}"):
                supdr.METHODS[name](**{parameter: value}).fit(*data())


@pytest.mark.parametrize("name", list(supdr.METHODS))
def test_cells_whose_squares_overflow(name):
    X, y = data()
    fitted = supdr.METHODS[name](max_iter=2, random_state=0).fit(X, y)
    raw = supdr.METHODS[name](max_iter=2, random_state=0, preprocessing="none")
    if hasattr(fitted, "extrapolate"):
        fitted.set_params(extrapolate=True).fit(X, y)
    for size in (1e308, -1e200):
        large = X.copy()
        large[3, 1] = size
        for call in (lambda X: raw.fit(X, y), fitted.predict, fitted.transform):
            with pytest.raises(ValueError, match=r"^X, once preprocessed, must hold numbers from .* to 1e\+150; got"):
                call(large)


@pytest.mark.parametrize("name", ["LSDR", "SDRGLM", "SNF"])
def test_targets_whose_squares_overflow(name):
    X, y = data()
    y[4] = 1e300
    with pytest.raises(ValueError, match=r"^y must hold numbers .* got 1e\+300 in column 0 of row 4"):
        supdr.METHODS[name](task="regression").fit(X, y)


@pytest.mark.parametrize("name", ["LSDR", "NSDR", "SLDR"])
def test_units_of_any_size_are_taken(name):
    X, y = data()
    for size in (1e-200, 1e-30, 1e200, 1e307):
        model = supdr.METHODS[name](max_iter=2, random_state=0)
        assert np.isfinite(model.fit(X * size, y).transform(X * size)).all()


@pytest.mark.parametrize("damage", ["nan", "inf", "column", "empty", "sum overflows"])
def test_arrays_that_need_no_check_are_told_from_those_that_do(damage):
    X, y = data(60)
    fitted = supdr.MAC(n_centers=20, max_iter=3).fit(X, y)
    np.testing.assert_allclose(fitted.transform(X), fitted.transform(np.asfortranarray(X)), rtol=1e-12)
    np.testing.assert_allclose(fitted.transform(X), fitted.transform(X.tolist()), rtol=1e-12)
    bad = X.copy()
    bad[3, 1] = {"nan": np.nan, "inf": np.inf}.get(damage, bad[3, 1])
    if damage == "sum overflows":
        bad[:2] = 1.7e308
    bad = {"column": bad[:, :2], "empty": bad[:0]}.get(damage, bad)
    with pytest.raises(ValueError, match=r"NaN|infinity|features|minimum|must hold numbers"):
        fitted.transform(bad)
