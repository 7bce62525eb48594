"""The generators of latent factors have the distributions they promise."""

import numpy as np
import pytest

from supdr import datasets
from supdr.datasets import load, load_digits_bits, make_latent_glm, make_wide_factors, make_wide_regression

GENERATORS = (make_latent_glm, make_wide_factors, make_wide_regression)


@pytest.mark.parametrize("make", GENERATORS)
def test_seed_and_shape(make):
    first, second, other = (make(50, 30, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert (first.X != other.X).any()
    assert first.X.shape == (50, 30)
    np.testing.assert_array_equal(
        load(make.__name__.removeprefix("make_"), n_samples=50, n_features=30, random_state=0).X, first.X
    )


@pytest.mark.parametrize("n_features", [50, 600])
def test_latent_glm_spreads_the_same_signal_over_all_features(n_features):
    data = make_latent_glm(1000, n_features, 3.0, "gaussian", random_state=0)
    assert data.labelled.all()
    assert abs(data.y.mean() - 0.5) < 1e-9
    # |U V|: the rows' natural parameters have the size of 3 |u|
    signal = np.linalg.svd(data.X, compute_uv=False)[:2] ** 2 - 1000
    along = 1 + 2 * 0.5 * np.sqrt(2 / np.pi) + 0.25  # E (1 + |z| / 2)^2
    assert signal.sum() == pytest.approx(1000 * 9 * (along + 0.25), rel=0.35)


def test_latent_glm_bits():
    data = make_latent_glm(400, 40, 6.0, "bernoulli", random_state=1)
    assert set(np.unique(data.X)) == {0.0, 1.0}
    means = np.abs(data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0))
    assert means.max() > 0.3


def test_wide_factors_hide_the_class_below_five_louder_ones():
    data = make_wide_factors(400, 600, 20.0, random_state=0)
    centred = data.X - data.X.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    assert singular[5] > 3 * singular[6]  # six factors
    signs = np.where(data.y == 1, 1.0, -1.0)
    correlation = np.abs(signs @ left) / np.linalg.norm(signs)
    assert np.argmax(correlation) > 2  # not among the leading components
    assert np.sqrt((correlation[:6] ** 2).sum()) > 0.9


def test_wide_regression_has_the_promised_ceiling():
    data = make_wide_regression(6000, 24, 30.0, noise=0.0, random_state=0)
    assert data.task == "regression"
    fitted = data.X @ np.linalg.lstsq(data.X, data.y, rcond=None)[0]
    assert np.corrcoef(fitted, data.y)[0, 1] == pytest.approx(0.894, abs=0.01)
    centred = data.X - data.X.mean(axis=0)
    slow = (centred[1:] * centred[:-1]).sum() / (centred**2).sum()
    assert slow == pytest.approx(0.9, abs=0.03)


def test_digits_bits():
    data = load_digits_bits(4, 9)
    assert set(np.unique(data.X)) == {0.0, 1.0}
    assert data.X.shape[1] == 64
    assert data.image_shape == (8, 8)
    assert data.target_names == ("4", "9")
    assert load("digits_bits").target_names == ("3", "8")
    assert load_digits_bits(threshold=10).X.sum() < load_digits_bits(threshold=2).X.sum()


@pytest.mark.parametrize(
    ("make", "wrong", "message"),
    [
        (make_latent_glm, {"noise": "gamma"}, "noise must be one of bernoulli, gaussian, poisson, got 'gamma'"),
        (make_latent_glm, {"scale": 0}, "scale must be greater than 0, got 0"),
        (make_latent_glm, {"n_samples": 1}, "n_samples must be a whole number of at least 2, got 1"),
        (make_wide_factors, {"amplitude": -1.0}, "amplitude must be greater than 0"),
        (make_wide_factors, {"noise": -1.0}, "noise must be a number of at least 0"),
        (make_wide_regression, {"n_features": 0}, "n_features must be a whole number of at least 1"),
        (load_digits_bits, {"first": 8}, "first and second must be distinct digits"),
        (load_digits_bits, {"threshold": 16}, r"threshold must lie in \[0, 16\)"),
    ],
)
def test_bad_parameters_are_named(make, wrong, message):
    with pytest.raises(ValueError, match=message):
        make(**wrong)


def test_they_are_in_the_catalogue():
    assert {"latent_glm", "wide_factors", "wide_regression"} <= set(datasets.GENERATORS)
    assert "digits_bits" in datasets.BUNDLED


def test_counts_have_the_rates_of_the_latent_rows():
    counts = make_latent_glm(4000, 3, 1.0, "poisson", random_state=0)
    assert (counts.X >= 0).all()
    np.testing.assert_array_equal(counts.X, np.floor(counts.X))
    with_classes = [counts.X[counts.y == k].mean(axis=0) for k in (0, 1)]
    assert np.abs(np.log(with_classes[0] / with_classes[1])).max() > 0.5
    assert np.isfinite(make_latent_glm(50, 1, 8.0, "poisson", random_state=1).X).all()
