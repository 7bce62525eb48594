"""The curved sheet: drawn as described, seeded, labels withheld."""

import numpy as np
import pytest

from supdr.datasets import load, make_curved_sheet
from supdr.datasets.generators import sheet_coordinates


def test_drawn_as_described():
    dataset = make_curved_sheet(random_state=3)
    rng = np.random.default_rng(3)
    u = rng.uniform(-1, 1, (400, 2))
    np.testing.assert_array_equal(u, sheet_coordinates(400, np.random.default_rng(3)))
    B = np.column_stack([u, u[:, 0] ** 2 - 1 / 3, u[:, 0] * u[:, 1], u[:, 1] ** 2 - 1 / 3])
    W = rng.standard_normal((5, 40)) * np.array([1, 1, 0.7, 0.7, 0.7])[:, None]
    X = (B / B.std(axis=0)) @ W
    X = X / X.std(axis=0) + rng.standard_normal((400, 40))
    np.testing.assert_allclose(dataset.X, X)
    np.testing.assert_allclose(dataset.truth, 0.5 * u[:, 0] + u[:, 0] * u[:, 1])
    labelled = np.sort(rng.permutation(400)[:20])
    np.testing.assert_array_equal(np.flatnonzero(dataset.labelled), labelled)
    np.testing.assert_array_equal(dataset.y[labelled], dataset.truth[labelled])
    assert dataset.task == "regression"


def test_without_noise_it_has_five_dimensions():
    X = make_curved_sheet(noise=0.0, n_features=12, random_state=0).X
    assert np.linalg.matrix_rank(X - X.mean(axis=0)) == 5


def test_seeds_and_names():
    first, again, other = (make_curved_sheet(random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.X != other.X).any()
    np.testing.assert_array_equal(load("curved_sheet", random_state=0).X, first.X)
    assert make_curved_sheet(n_samples=4, label_share=0.01, random_state=0).labelled.sum() == 1
    assert make_curved_sheet(label_share=1.0, random_state=0).labelled.all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_samples": 3}, "n_samples must be a whole number of at least 4"),
        ({"n_features": 0}, "n_features must be a whole number of at least 1"),
        ({"noise": -1.0}, "noise must be a number of at least 0"),
        ({"label_share": 0.0}, r"label_share must be in \(0, 1\]"),
        ({"label_share": 1.5}, r"label_share must be in \(0, 1\]"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        make_curved_sheet(**settings)
