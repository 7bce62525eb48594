"""Generators: the distributions they promise, and their seeds. Bundled sets and loading by name."""

import numpy as np
import pytest

from supdr.datasets import BUNDLED, GENERATORS, Dataset, load, make_blobs, make_noise, make_noisy_plane, make_spirals

KINDS = ["linear", "disc", "xor", "moons"]
MAKERS = [lambda kind=kind, **options: make_noisy_plane(kind, **options) for kind in KINDS] + [make_spirals, make_blobs]
IDS = [*KINDS, "spirals", "blobs"]


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
def test_seeds_reproduce_and_differ(make):
    first, again, other = make(random_state=0), make(random_state=0), make(random_state=1)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert np.any(first.X != other.X)
    assert np.any(make().X != make().X)
    generator = np.random.default_rng(0)
    np.testing.assert_array_equal(make(random_state=generator).X, first.X)


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
def test_classes_are_balanced(make):
    dataset = make(random_state=0)
    counts = np.bincount(dataset.y.astype(int), minlength=dataset.n_classes)
    assert counts.min() >= 1
    assert np.ptp(counts) <= 1


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
def test_noise_features_are_uniform_and_leave_the_shape_alone(make):
    none, some = make(n_noise_features=0, random_state=0), make(n_noise_features=40, random_state=0)
    m = none.n_features
    np.testing.assert_array_equal(some.X[:, :m], none.X)
    extra = some.X[:, m:]
    assert extra.shape[1] == 40
    assert np.abs(extra).max() <= 1
    assert abs(extra.mean()) < 0.05
    assert extra.var() == pytest.approx(1 / 3, rel=0.05)
    few = make(n_noise_features=2, random_state=0)
    np.testing.assert_array_equal(few.X[:, m:], extra[:, :2])


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
def test_noise_moves_the_same_points(make):
    clean, low, high = (make(noise=noise, n_noise_features=0, random_state=0).X for noise in (0, 0.1, 0.2))
    np.testing.assert_allclose(high - clean, 2 * (low - clean), atol=1e-12)
    assert (low - clean).std() == pytest.approx(0.1, rel=0.1)


def test_noise_knows_nothing_of_the_classes():
    dataset, again = make_noise(3000, 5, random_state=0), make_noise(3000, 5, random_state=0)
    np.testing.assert_array_equal(dataset.X, again.X)
    assert (np.bincount(dataset.y.astype(int)) == 1000).all()
    means = np.stack([dataset.X[dataset.y == code].mean(axis=0) for code in range(3)])
    assert np.abs(means).max() < 4 / np.sqrt(1000)
    assert dataset.X.std(axis=0) == pytest.approx(1.0, abs=0.05)


def plane(kind, n=4000):
    dataset = make_noisy_plane(kind, n, 1, noise=0, random_state=0)
    assert np.abs(dataset.X).max() <= 1
    return dataset.X[:, 0], dataset.X[:, 1], dataset.y


def test_linear_is_figure_1():
    x1, x2, y = plane("linear")
    np.testing.assert_array_equal(np.sign(x2), 2 * y - 1)
    assert 0.15 <= np.abs(x2).min() < 0.152
    assert 0.498 < np.abs(x2).max() <= 0.5
    assert x1.min() < -0.99
    assert x1.max() > 0.99
    assert make_noisy_plane("linear", 10, random_state=0).X.shape == (10, 3)


def test_disc_is_figure_2():
    x1, x2, y = plane("disc")
    radius = np.hypot(x1, x2)
    assert radius[y == 0].max() <= 0.4
    assert radius[y == 1].min() >= 0.7
    assert radius[y == 1].max() <= 1
    # uniform over the area: the squared radius is uniform
    assert np.mean(radius[y == 0] ** 2) == pytest.approx(0.08, rel=0.05)
    assert np.mean(radius[y == 1] ** 2) == pytest.approx((0.49 + 1) / 2, rel=0.02)


def test_xor_has_a_margin_and_no_linear_signal():
    x1, x2, y = plane("xor")
    np.testing.assert_array_equal(np.sign(x1 * x2), 1 - 2 * y)
    assert min(np.abs(x1).min(), np.abs(x2).min()) >= 0.15
    assert max(abs(np.corrcoef(x, y)[0, 1]) for x in (x1, x2)) < 0.05


def test_moons_lie_on_half_circles():
    x1, x2, y = plane("moons")
    points = np.column_stack([x1, x2]) * 1.5 + [0.5, 0.25]
    upper, lower = points[y == 0], points[y == 1]
    np.testing.assert_allclose(np.hypot(*upper.T), 1)
    np.testing.assert_allclose(np.hypot(*(lower - [1, 0.5]).T), 1)
    assert upper[:, 1].min() >= 0
    assert lower[:, 1].max() <= 0.5


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_spirals_follow_their_formula(n_classes):
    turns = 1.25
    dataset = make_spirals(n_classes, 300, turns, noise=0, random_state=0)
    radius = np.hypot(*dataset.X.T)
    along = (radius - 0.15) / 0.85
    assert along.min() >= 0
    assert along.max() <= 1
    # t is the root of a uniform variable
    assert np.mean(along**2) == pytest.approx(0.5, abs=0.05)
    angle = 2 * np.pi * (turns * along + dataset.y / n_classes)
    np.testing.assert_allclose(dataset.X, radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-12)
    assert dataset.n_samples == 300 * n_classes


def test_blobs_have_the_spread_asked_for():
    dataset = make_blobs(4, 4000, 3, noise=0.3, random_state=0)
    clouds = [dataset.X[dataset.y == k] for k in range(4)]
    for cloud in clouds:
        np.testing.assert_allclose(cloud.std(axis=0), 0.3, rtol=0.1)
        assert np.abs(cloud.mean(axis=0)).max() < 1.1
    assert dataset.n_features == 3


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (make_noisy_plane, {"kind": "cube"}, "kind must be one of linear, disc, xor, moons, got 'cube'"),
        (make_noisy_plane, {"n_samples": 1}, "n_samples must be .* at least 2, got 1"),
        (make_noisy_plane, {"n_samples": 10.5}, "n_samples must be a whole number"),
        (make_noisy_plane, {"noise": -1}, "noise must be .* at least 0, got -1"),
        (make_noisy_plane, {"noise": np.nan}, "noise must be"),
        (make_noisy_plane, {"n_noise_features": -1}, "n_noise_features must be"),
        (make_spirals, {"n_classes": 1}, "n_classes must be .* at least 2"),
        (make_spirals, {"n_per_class": 0}, "n_per_class must be"),
        (make_spirals, {"turns": 0}, "turns must be greater than 0"),
        (make_noise, {"n_classes": 1}, "n_classes must be .* at least 2"),
        (make_noise, {"n_samples": 2}, "n_samples must be .* at least 3"),
        (make_noise, {"n_features": 0}, "n_features must be"),
        (make_blobs, {"n_samples": 2}, "n_samples must be .* at least 3"),
        (make_blobs, {"n_features": 0}, "n_features must be"),
        (make_blobs, {"noise": -0.1}, "noise must be"),
    ],
)
def test_parameters_are_checked(make, options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("breast_cancer", (569, 30), 2),
        ("wine", (178, 13), 3),
        ("iris", (150, 4), 3),
        ("digits", (1797, 64), 10),
        ("digits_odd_even", (1797, 64), 2),
        ("diabetes", (442, 10), 0),
    ],
)
def test_bundled(name, shape, n_classes):
    dataset = load(name)
    assert dataset.X.shape == shape
    assert dataset.n_classes == n_classes
    assert dataset.labelled.all()
    assert dataset.description
    assert (dataset.image_shape == (8, 8)) == name.startswith("digits")


def test_digits_odd_even_is_the_parity():
    np.testing.assert_array_equal(load("digits_odd_even").y, load("digits").y % 2)
    dataset = load("digits")
    assert dataset.target_names == tuple("0123456789")


def test_load_passes_options_on():
    np.testing.assert_array_equal(load("spirals", n_classes=3, random_state=5).X, make_spirals(3, random_state=5).X)
    for make in (BUNDLED | GENERATORS).values():
        assert isinstance(make(), Dataset)


@pytest.mark.parametrize("name", ["nothing", "", "IRIS"])
def test_load_lists_what_exists(name):
    with pytest.raises(ValueError, match=r"breast_cancer, .* spirals, .* openml:NAME"):
        load(name)
