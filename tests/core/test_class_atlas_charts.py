"""ClassAtlas's charts, and where its classes start."""

import numpy as np
from sklearn.datasets import make_blobs

from supdr import ClassAtlas
from supdr.methods.class_atlas.charts import CARRYING_STEPS, _carry, fit_charts
from supdr.methods.class_atlas.layout import LEAST_SPACING, class_layout, towards
from supdr.methods.class_atlas.model import sharpened
from tests.core.class_atlas_cases import classes_of


def test_a_certain_gate_and_flat_charts_show_principal_components():
    """tau to infinity, one-hot p, A = I: z = c_k + the principal coordinates of class k."""
    X, codes = classes_of(90)
    charts = fit_charts(X, codes, 3, 2, "pca", 2, 5)
    found = charts.coordinates(X)
    for k in range(3):
        rows = codes == k
        centred = X[rows] - X[rows].mean(axis=0)
        U, s, _ = np.linalg.svd(centred, full_matrices=False)
        expected = U[:, :2] * s[:2] / np.sqrt((s[:2] ** 2).sum() / rows.sum())
        mine = found[np.ix_(rows, charts.classes == k)]
        signs = np.sign((mine * expected).sum(axis=0))
        np.testing.assert_allclose(mine, signs * expected, atol=1e-9)
    np.testing.assert_allclose(sharpened(np.array([[0.5, 0.3, 0.2]]), 1e4), [[1.0, 0.0, 0.0]], atol=1e-12)


def test_a_row_is_carried_by_others_of_its_class():
    """What holds for a new row holds for a training row: it is not placed by itself."""
    X, codes = classes_of(60, 2)
    charts = fit_charts(X, codes, 2, 2, "embed", 10, 3)
    training, new = charts.coordinates(X, own=True), charts.coordinates(X)
    for i in range(60):
        own = charts.classes == codes[i]
        np.testing.assert_allclose(new[i, own], charts.places[i])  # at a landmark the others have no weight
        np.testing.assert_allclose(new[i, ~own], training[i, ~own])
        others = np.flatnonzero((codes == codes[i]) & (np.arange(60) != i))
        squares = ((X[others] - X[i]) ** 2).sum(axis=1)
        nearest = np.argsort(squares)[:3]
        weight, places = np.exp(-squares[nearest] / squares[nearest[0]]), charts.places[others[nearest]]
        expected = weight @ places / weight.sum()
        for _ in range(CARRYING_STEPS - 1):
            reach = charts.spreads[codes[i]] ** 2 * ((expected - places) ** 2).sum(axis=1)
            expected = (weight / (1.0 + reach)) @ places / (weight / (1.0 + reach)).sum()
        np.testing.assert_allclose(training[i, own], expected, atol=1e-7)


def test_a_row_whose_neighbours_lie_apart_is_put_among_most_of_them():
    """Four neighbours are in one part of a torn embedding, one is far away: there is no row in between."""
    places = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [3.0, 3.0]])
    squares, out = np.full((1, 5), 2.0), np.empty((1, 1, 2))
    _carry(squares, np.zeros(5, dtype=int), places, np.array([20.0]), -1, 5, out)
    assert np.linalg.norm(out[0, 0] - places[:4].mean(axis=0)) < 0.05
    _carry(squares, np.zeros(5, dtype=int), places, np.array([1e-6]), -1, 5, out)  # near each other for the embedding
    np.testing.assert_allclose(out[0, 0], places.mean(axis=0), atol=1e-6)


def test_discs_are_turned_towards_the_other_classes():
    rng = np.random.default_rng(0)
    wanted = rng.standard_normal((5, 2))
    hidden = np.array([[0.6, -0.8], [-0.8, -0.6]])  # a turn and a reflection
    np.testing.assert_allclose(towards(wanted @ hidden.T, wanted), hidden, atol=1e-6)
    one = towards(np.array([[0.0, 3.0]]), np.array([[5.0, 0.0]]))
    np.testing.assert_allclose(np.array([[0.0, 1.0]]) @ one, [[1.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(one @ one.T, np.eye(2), atol=1e-9)
    assert towards(np.array([[2.0]]), np.array([[0.0, -1.0]])).shape == (1, 2)


def test_classes_do_not_overlap_at_the_start():
    rng = np.random.default_rng(0)
    for means in (rng.standard_normal((10, 8)), np.zeros((4, 3)), np.ones((2, 1)), np.eye(3)):
        places = class_layout(means, 2)
        distances = np.linalg.norm(places[:, None] - places, axis=2)[np.triu_indices(len(means), 1)]
        assert distances.min() > LEAST_SPACING - 1e-2
    X, codes = make_blobs(300, 10, centers=6, cluster_std=3.0, random_state=0)
    model = ClassAtlas(random_state=0)
    start = next(model.iterate(X, codes))
    assert start.diagnostics["overlap"] < 1.0
