"""Weights of rows and classes: what is refused."""

import numpy as np
import pytest

import supdr
from tests.core.weight_cases import data, every_method, make

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
        (np.full(60, 1e200), r"sample_weight must hold numbers up to 1e\+30; got 1e\+200"),
    ],
)
@pytest.mark.parametrize("name", ["LSDR", "MAC", "SDRGLM"])
def test_bad_weights_of_rows(name, weights, message):
    X, y = data()
    with pytest.raises((ValueError, TypeError), match=message):
        make(name).fit(X, y, sample_weight=weights)


def test_bad_weights_of_rows_with_several_labels():
    X, y = data()
    labels = np.column_stack([y == 0, y == 1]).astype(float)
    with pytest.raises(ValueError, match=r"sample_weight must hold one number >= 0 per row"):
        supdr.SDRGLM(max_iter=2).fit(X, labels, sample_weight=-np.ones(60))


@pytest.mark.parametrize(
    "class_weight", ["heavy", 3.0, {0: 0.0}, {0: -1.0}, {0: np.nan}, {0: "x"}, {0: 1e200}, {7: 2.0}, [1, 2]]
)
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
