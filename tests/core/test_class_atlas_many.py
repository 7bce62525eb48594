"""ClassAtlas on more rows than all pairs are looked at: what the short cuts promise, against the sums themselves."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from supdr import ClassAtlas
from supdr.methods.class_atlas import affinities as affinities_module
from supdr.methods.class_atlas.affinities import affinities, candidates
from supdr.methods.class_atlas.charts import fit_charts
from supdr.quality import map_quality
from supdr.solvers.pair_sums import (
    EXACT_ROWS,
    MOST_CELLS,
    SPACING,
    pair_sums,
    summed_exactly,
    summed_on_grid,
)


def clouds(n_rows, n_components, reach=25.0, seed=0):
    """Places in ten round clouds, as a map has them."""
    rng = np.random.default_rng(seed)
    middle = reach * rng.standard_normal((10, n_components))
    return middle[rng.integers(0, 10, n_rows)] + 2.0 * rng.standard_normal((n_rows, n_components))


@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("reach", [0.1, 5.0, 25.0])
def test_splines_give_the_sums_over_all_pairs(n_components, reach):
    Z = clouds(1500, n_components, reach)
    Z.setflags(write=False)
    (total, slopes), (near, near_slopes) = summed_exactly(Z), summed_on_grid(Z)
    assert near == pytest.approx(total, rel=3e-4)
    assert np.abs(near_slopes - slopes).max() < 3e-3 * np.abs(slopes).max()


def test_a_picture_wider_than_the_grid_has_wider_cells():
    Z = clouds(1500, 2, 0.5 * SPACING * MOST_CELLS)
    (total, slopes), (near, near_slopes) = summed_exactly(Z), summed_on_grid(Z)
    assert near == pytest.approx(total, rel=0.05)
    assert np.abs(near_slopes - slopes).mean() < 0.1 * np.abs(slopes).mean()
    far = np.array([[0.0, 0.0], [1e7, -1e7], [0.0, 1e-3]])
    assert np.isfinite(summed_on_grid(far)[1]).all()


def test_slopes_on_the_grid_are_those_of_its_sum():
    Z, step = clouds(400, 2), 1e-5
    _, slopes = summed_on_grid(Z)
    for row, axis in itertools.product((0, 7, 200), (0, 1)):
        move = np.zeros(Z.shape)
        move[row, axis] = step
        difference = (summed_on_grid(Z + move)[0] - summed_on_grid(Z - move)[0]) / (2.0 * step)
        assert difference == pytest.approx(slopes[row, axis], abs=1e-6 * np.abs(slopes).max())


def test_the_grid_stands_still():
    """A row that leaves the others makes the grid larger and moves no sum among them."""
    Z = clouds(400, 2, 2.0)
    away = np.vstack([Z, [[100.0, 0.0]]])
    gained = summed_on_grid(away)[0] - summed_on_grid(Z)[0]
    assert gained == pytest.approx(2.0 * (1.0 / (1.0 + ((Z - away[-1]) ** 2).sum(axis=1))).sum(), rel=1e-3)
    np.testing.assert_allclose(summed_on_grid(away)[1][:-1], summed_on_grid(Z)[1], atol=1e-2)


def test_few_rows_and_maps_in_space_are_summed_exactly():
    for Z in (clouds(EXACT_ROWS, 2), clouds(EXACT_ROWS + 1, 3)):
        ours, exact = pair_sums(Z, 2), summed_exactly(Z)
        assert ours[0] == exact[0]
        np.testing.assert_array_equal(ours[1], exact[1])
    many = clouds(EXACT_ROWS + 1, 2)
    assert pair_sums(many)[0] == summed_on_grid(many)[0]


def test_candidates_are_the_nearest_of_the_own_class_and_of_others():
    rng = np.random.default_rng(0)
    X, members = rng.standard_normal((80, 3)), rng.integers(0, 3, 80)
    members[0] = 3  # alone in its class
    index, squares = candidates(X, members, 6)
    assert index.shape == squares.shape == (80, 12)
    for i in range(80):
        for part, kind in ((slice(0, 6), members == members[i]), (slice(6, 12), members != members[i])):
            pool = np.setdiff1d(np.flatnonzero(kind), [i])
            if not len(pool):
                assert (index[i, part] == i).all()
                continue
            nearest = NearestNeighbors(n_neighbors=6).fit(X[pool]).kneighbors(X[[i]], return_distance=False)[0]
            assert set(index[i, part]) == set(pool[nearest])
            np.testing.assert_allclose(squares[i, part], ((X[index[i, part]] - X[i]) ** 2).sum(axis=1))


def test_with_every_row_a_candidate_nothing_changes(monkeypatch):
    rng = np.random.default_rng(0)
    X, proba = rng.standard_normal((90, 4)), rng.dirichlet([1.0, 1.0, 1.0], 90)
    for known in (None, proba):
        exact = affinities(X, known, 8.0)
        with monkeypatch.context() as patched:
            patched.setattr(affinities_module, "EXACT_ROWS", 10)
            patched.setattr(affinities_module, "CANDIDATES", 90.0 / 8.0)
            near = affinities(X, known, 8.0)
        first, second = (sparse.csr_array((P.values, P.partners, P.starts), (90, 90)).toarray() for P in (exact, near))
        np.testing.assert_allclose(first, second, atol=1e-6 * first.max())
        assert near.constant == pytest.approx(exact.constant, rel=1e-5)


@pytest.mark.slow
def test_a_map_of_more_rows_than_all_pairs():
    """The objective never rises at one weight; neighbours are kept as well as by a map of fewer rows."""
    rng = np.random.default_rng(0)
    middle, codes = 3.0 * rng.standard_normal((4, 6)), rng.integers(0, 4, EXACT_ROWS + 600)
    X = middle[codes] + rng.standard_normal((len(codes), 2)) @ rng.standard_normal((4, 2, 6))[codes[0]]
    X += 0.1 * rng.standard_normal(X.shape)
    train, new = slice(0, EXACT_ROWS + 1), slice(EXACT_ROWS + 1, None)
    quality = {}
    for most in (500, len(X)):
        model = ClassAtlas(n_landmarks=most, preprocessing="none", max_iter=10, random_state=0)
        snapshots = list(model.iterate(X[train], codes[train]))
        for before, after in itertools.pairwise(snapshots):
            assert before.stage != after.stage or after.objective <= before.objective
        fitted = model.at(snapshots[-1])
        assert len(fitted.landmarks_) == min(most, EXACT_ROWS + 1)
        quality[most] = map_quality(X[new], fitted.transform(X[new])).trustworthiness
    assert quality[len(X)] > quality[500] - 0.01


def test_many_rows_are_placed_in_little_memory():
    """Distances to the landmarks take a small part of the working memory, however many rows there are."""
    rng = np.random.default_rng(0)
    X, megabyte = rng.standard_normal((20_000, 3)), 2**20
    charts = fit_charts(X[:600], np.arange(600) % 2, 2, 2, "pca+embed", 2, 5)
    charts.coordinates(X[:10])
    with config_context(working_memory=64):
        tracemalloc.start()
        placed = charts.coordinates(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * placed.nbytes + 16 * megabyte  # all distances at once would be 92 MB
