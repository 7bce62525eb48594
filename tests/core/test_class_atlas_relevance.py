"""ClassAtlas's gate: columns count in distances by how steep the codes are along them, where that says something."""

import numpy as np
import pytest

from supdr.methods.class_atlas.gate import Choices, fit_gate, log_loss
from supdr.methods.class_atlas.relevance import FLOOR, relevance
from supdr.solvers.gaussians import Mapping
from tests.core.class_atlas_cases import classes_of


def squares_of_a_board(n_rows, n_columns, seed=0):
    """Two classes, the colours of four fields in the first two columns; the others say nothing."""
    X = np.random.default_rng(seed).standard_normal((n_rows, n_columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


@pytest.mark.parametrize("kind", ["rbf", "exponential"])
def test_relevance_is_the_mean_square_of_slopes(kind):
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((30, 4)) + 100.0, rng.standard_normal((20, 3))
    mapping = Mapping(kind, X[:20] + (kind == "exponential"), 0.2)  # no row on a peak, which has no slope
    squares = np.zeros(4)
    for column in range(4):
        step = np.zeros(4)
        step[column] = 1e-5
        slopes = (mapping.features(X + step) - mapping.features(X - step)) @ coef / 2e-5
        squares[column] = (slopes**2).sum()
    expected = np.sqrt(FLOOR + (1.0 - FLOOR) * squares / squares.mean())
    np.testing.assert_allclose(relevance(X, mapping, coef), expected, rtol=1e-5)
    assert relevance(X, mapping, np.zeros((20, 3))) is None


@pytest.mark.parametrize("kind", ["rbf", "exponential"])
def test_rows_that_are_centres_have_the_slopes_of_all_other_centres(kind):
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((30, 4)) + 100.0, rng.standard_normal((20, 3))
    squares = np.zeros(4)
    for row in X:
        slopes = np.zeros((4, 3))
        for center, weights in zip(X[:20], coef):
            way = center - row
            distance = np.sqrt(way @ way)
            if distance > 0.0:
                steep = np.exp(-0.2 * distance**2) if kind == "rbf" else np.exp(-0.2 * distance) / distance
                slopes += np.outer(steep * way, weights)
        squares += (slopes**2).sum(axis=1)
    expected = np.sqrt(FLOOR + (1.0 - FLOOR) * squares / squares.mean())
    np.testing.assert_allclose(relevance(X, Mapping(kind, X[:20], 0.2), coef), expected, rtol=1e-6)


@pytest.mark.parametrize("wide", [False, True], ids=["double precision", "single precision"])
def test_a_scale_is_that_of_the_columns(wide):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 900 if wide else 5)) + 3.0
    scale = rng.uniform(0.1, 2.0, X.shape[1])
    gamma = 0.5 / X.shape[1]
    mapping, plain = Mapping("rbf", X, gamma, scale), Mapping("rbf", X * scale, gamma)
    assert (mapping._factor[1].dtype == np.float32) == wide
    np.testing.assert_allclose(mapping.features(X[:50]), plain.features(X[:50] * scale), atol=1e-5 if wide else 1e-12)


@pytest.mark.parametrize("n_landmarks", [2000, 150])
def test_columns_that_say_nothing_hardly_count(n_landmarks):
    X, codes = squares_of_a_board(900, 10)
    known, new = slice(0, 400), slice(400, None)
    gate, left_out = fit_gate(X[known], codes[known], 2, n_landmarks, 0)
    assert gate.mapping.scale[:2].min() > 3.0 * gate.mapping.scale[2:].max()
    alike, _ = fit_gate(X[known], codes[known], 2, n_landmarks, 0, Choices(relevance=False))
    assert alike.mapping.scale is None
    losses = [log_loss(each.probabilities(X[new]), codes[new]) for each in (gate, alike)]
    assert losses[0] < 0.6 * losses[1]
    assert log_loss(left_out, codes[known]) == pytest.approx(losses[0], rel=0.3)


def test_columns_are_alike_where_relevance_says_little():
    """Noise, and classes that no column tells better than others: what would be won is less than D / n."""
    rng = np.random.default_rng(0)
    for X, codes in ((rng.standard_normal((200, 8)), rng.integers(0, 2, 200)), classes_of(200, spread=1.0)):
        gate, _ = fit_gate(X, codes, int(codes.max()) + 1, 2000, 0)
        assert gate.mapping.scale is None
    X, codes = squares_of_a_board(60, 21)  # fewer than three rows a column
    gate, _ = fit_gate(X, codes, 2, 2000, 0)
    assert gate.mapping.scale is None
