"""Rows in their own span: distances stay, for new rows too."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from supdr import ClassAtlas
from supdr.solvers.distances import median_distance, median_of_squares, squares_among
from supdr.solvers.span import span_of


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_distances_stay(shift):
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((30, 400)) + shift, rng.standard_normal((7, 400)) + shift
    found, own = span_of(X)
    assert own.shape == (30, 30)  # 29 directions, and the distance from the span
    np.testing.assert_allclose(cdist(own, own), cdist(X, X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(cdist(found.apply(new), own), cdist(new, X), rtol=1e-6)
    np.testing.assert_allclose(found.apply(X)[:, :-1], own[:, :-1], atol=1e-6)
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(29), atol=1e-8)


def test_rows_that_are_not_wide_stay_as_they_are():
    rng = np.random.default_rng(0)
    assert span_of(rng.standard_normal((30, 60))) is None
    equal = span_of(np.ones((3, 50)))
    assert equal[1].shape == (3, 1)
    assert np.isfinite(equal[0].apply(np.zeros((2, 50)))).all()


def test_the_median_distance_is_that_of_all_pairs():
    X = np.random.default_rng(0).standard_normal((40, 5)) + 10.0
    np.testing.assert_allclose(squares_among(X), cdist(X, X, "sqeuclidean"), atol=1e-9)
    assert median_of_squares(squares_among(X)) == pytest.approx(median_distance(X, np.random.default_rng(0)), rel=1e-9)
    assert median_of_squares(np.zeros((3, 3))) == 1.0


def test_a_map_of_wide_rows_is_the_same_in_their_span():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 300)) + 3.0 * rng.standard_normal((3, 300))[y]
    wide = ClassAtlas(preprocessing="none", max_iter=5, random_state=0).fit(X[:45], y[:45])
    assert wide.charts_.rows.shape == (45, 45)
    narrow = X @ np.linalg.qr(X.T)[0]  # as far from each other, in few enough columns
    plain = ClassAtlas(preprocessing="none", max_iter=5, random_state=0).fit(narrow[:45], y[:45])
    assert plain.charts_.rows.shape == (45, 60)
    np.testing.assert_allclose(wide.predict_proba(X[45:]), plain.predict_proba(narrow[45:]), atol=1e-6)
    latent = wide.transform(X[45:]), plain.transform(narrow[45:])
    apart = [np.linalg.norm(each[:, None] - each, axis=2) for each in latent]
    np.testing.assert_allclose(*apart, rtol=1e-2, atol=1e-2)
    first = next(wide.iterate(X[:45], y[:45], start=wide.snapshot_))
    assert first.iteration == 5


def test_the_median_distance_does_not_depend_on_where_the_rows_lie():
    far = np.random.default_rng(0).standard_normal((200, 4)) + 1e9
    near = far - 1e9  # exactly the same differences
    distances = [median_distance(rows, np.random.default_rng(0)) for rows in (far, near)]
    assert distances[0] == pytest.approx(distances[1], rel=1e-6)
