"""How many latent coordinates methods take where the user names none."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import cross_val_score

from supdr import LSDR, NSDR
from supdr.engine.components import component_count
from supdr.engine.targets import decode_targets


@pytest.mark.parametrize(
    ("n_classes", "shape", "expected"),
    [
        (2, (100, 10), 5),  # half of the columns
        (2, (12, 400), 6),  # half of the rows, where these are fewer
        (2, (900, 400), 50),
        (2, (100, 3), 2),
        (2, (100, 1), 1),  # never more than columns
        (9, (100, 10), 8),  # K - 1
        (9, (100, 4), 4),
    ],
)
def test_the_rule(n_classes, shape, expected):
    targets = decode_targets(np.arange(shape[0]) % n_classes, "classification")
    assert component_count(None, targets, shape) == expected
    assert component_count(7, targets, shape) == 7


def test_several_numbers_to_predict_need_as_many_coordinates():
    targets = decode_targets(np.random.default_rng(0).normal(size=(50, 5)), "regression")
    assert component_count(None, targets, (50, 6)) == 5


@pytest.mark.parametrize("method", [LSDR, NSDR])
def test_given_starting_rows_say_how_many(method):
    X, y = load_iris(return_X_y=True)
    init = np.random.default_rng(0).normal(size=(150, 3))
    assert method(init=init, max_iter=2).fit(X, y).embedding_.shape == (150, 3)


@pytest.mark.parametrize("method", [LSDR, NSDR])
def test_ten_classes_are_told_apart_by_default(method):
    """In two dimensions four rows of ten were wrong."""
    X, y = load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    assert cross_val_score(method(max_iter=10, random_state=0), X, y, cv=3).mean() > 0.85


@pytest.mark.parametrize("method", [LSDR, NSDR])
def test_few_coordinates_that_cost_much_earn_a_warning(method):
    X, y = load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    with pytest.warns(
        UserWarning, match="n_components=2 is fewer than the 9 that 10 classes need: .* take n_comp"
    ) as raised:
        method(2, max_iter=5, random_state=0).fit(X, y)
    assert raised[0].filename == __file__
    X[::7, 3] = np.nan
    with pytest.warns(UserWarning, match="n_components=2 is fewer than the 9"):
        method(2, max_iter=5, random_state=0).fit(X, y)


@pytest.mark.parametrize("method", [LSDR, NSDR])
def test_few_coordinates_that_cost_nothing_earn_none(method):
    """One is enough for iris' three classes; noise is told apart by no number of coordinates."""
    X, y = load_iris(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(90, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method(1, random_state=0).fit(X, y)
        method(2, random_state=0).fit(noise, np.arange(90) % 6)
