"""Weights of rows and classes: what is refused."""

import numpy as np
import pytest

import supdr
from tests.core.test_weights import data, every_method, make

# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(60), "sample_weight"),
        (np.full(60, np.nan), "sample_weight"),
        (np.full(60, np.inf), "sample_weight"),
        (np.ones(59), "sample_weight"),
        (np.zeros(60), "at least one"),
        (np.ones((60, 2)), "1D"),
        ("heavy", "sample_weight"),
    ],
)
def test_bad_weights_of_rows(weights, message):
    X, y = data()
    with pytest.raises((ValueError, TypeError), match=message):
        make("LSDR").fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("class_weight", ["heavy", 3.0, {0: 0.0}, {0: -1.0}, {0: np.nan}, {0: "x"}, {7: 2.0}, [1, 2]])
@every_method
def test_bad_weights_of_classes(name, class_weight):
    X, y = data()
    with pytest.raises(ValueError, match=r"class_weight"):
        make(name, class_weight=class_weight).fit(X, y)


def test_a_weight_that_leaves_one_class():
    X, y = data()
    with pytest.raises(ValueError, match=r"two classes in y among the rows with a positive sample_weight"):
        make("NSDR").fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("name", ["KNN", "LDA", "TSNE", "MKL"])
def test_methods_that_cannot_weigh_rows_say_so(name):
    X, y = data()
    with pytest.raises(ValueError, match=rf"sample_weight must be None: {name} cannot weigh rows"):
        supdr.BASELINES[name]().iterate(X, y, sample_weight=np.ones(len(y)))


def test_two_layers_cannot_weigh_rows():
    X, y = data()
    with pytest.raises(ValueError, match=r"sample_weight and class_weight must be None with n_layers=2"):
        make("MAC", n_layers=2, class_weight={0: 2.0}).fit(X, y)
