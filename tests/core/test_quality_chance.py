"""Could the result be chance, and does another fit give the same map."""

import time
import warnings

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold, permutation_test_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid, NearestNeighbors

import supdr
from supdr.quality import iterate_label_permutation, iterate_stability, label_permutation, stability

IRIS, KINDS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def overlapping():
    return make_classification(90, 6, n_informative=3, class_sep=0.4, flip_y=0.2, random_state=1)


# --- chance ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "cv"),
    [
        (GaussianNB(), 3),
        (GaussianNB(), KFold(4)),
        (GaussianNB(), StratifiedKFold(3, shuffle=True, random_state=0)),
        (supdr.MAC(2, max_iter=2, random_state=0), 3),
    ],
)
def test_the_test_is_scikit_learns(overlapping, model, cv):
    X, y = overlapping
    found = label_permutation(model, X, y, n_permutations=7, cv=cv, random_state=3)
    score, scores, p = permutation_test_score(model, X, y, n_permutations=7, cv=cv, random_state=3)
    assert (found.score, found.pvalue) == (score, p)
    assert not found.left_out
    np.testing.assert_array_equal(found.permuted_scores, scores)
    np.testing.assert_array_equal(found.permuted_errors, 1 - scores)


def test_regression_is_judged_by_unexplained_variance(overlapping):
    X = overlapping[0]
    y = X @ np.arange(6.0)
    found = label_permutation(Ridge(), X, y, n_permutations=5, cv=3)
    score, scores, _ = permutation_test_score(Ridge(), X, y, n_permutations=5, cv=3)
    np.testing.assert_array_equal(found.permuted_scores, scores)
    assert found.error == 1 - score < 0.01
    assert np.isnan(found.map_error)


@pytest.mark.slow
def test_p_is_uniform_where_labels_are_noise():
    values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((30, 3)), rng.permutation(np.repeat([0, 1], 15))
        values.append(label_permutation(Centroids(), X, y, n_permutations=19, cv=KFold(3), random_state=seed).pvalue)
    # Errors tie, and ties count against the fit: p is no smaller than a uniform number, and nearly as large.
    grid = np.arange(1, 21) / 20
    assert all(np.mean(np.array(values) <= each) <= each + 1.36 / np.sqrt(200) for each in grid)
    spread = np.array(values) - np.random.default_rng(0).uniform(0, 1 / 20, 200)  # lattice points have width
    assert kstest(spread, "uniform").pvalue > 0.001


class Centroids(NearestCentroid):
    """A quick classifier whose score hardly ties: the share of right rows, and how far they are from the border."""

    def score(self, X, y):
        distances = np.linalg.norm(X[:, None] - self.centroids_, axis=2)
        codes = np.searchsorted(self.classes_, y)
        own, least = distances[np.arange(len(X)), codes], distances.min(axis=1)
        return float(np.mean(own == least) + 1e-3 * np.mean(least - own))


@pytest.mark.parametrize(
    "model",
    [
        supdr.MAC(max_iter=3, random_state=0),
        pytest.param(supdr.MAC(n_layers=2, random_state=0), marks=pytest.mark.slow),
        supdr.ClassAtlas(max_iter=3, random_state=0),
    ],
)
def test_left_out_errors_stand_for_folds(model):
    found = label_permutation(model, IRIS, KINDS, n_permutations=9)
    assert found.left_out
    assert found.error < 0.1
    assert found.pvalue == 0.1
    assert found.permuted_errors.min() > 0.4
    assert found.band(0.5)[0] <= np.median(found.permuted_errors) <= found.band()[1]
    assert found.twin_map.shape[0] == 150
    assert sorted(found.twin_labels) == sorted(KINDS)
    assert not found.deceptive
    assert "held-out error" in str(found)


@pytest.mark.parametrize("kind", [supdr.MAC, supdr.ClassAtlas])
def test_what_fits_share_changes_no_error(kind):
    model, rng = kind(max_iter=3, random_state=0), np.random.RandomState(0)
    found = label_permutation(model, IRIS, KINDS, n_permutations=2, random_state=0)
    for score in found.permuted_scores:
        assert label_permutation(model, IRIS, KINDS[rng.permutation(150)], n_permutations=1).score == score


def test_a_map_of_nothing_is_called_deceptive():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
    model = supdr.BASELINES["LDAProjection"](1)
    found = label_permutation(model, X, y, n_permutations=19, cv=3)
    assert found.map_error < 0.2
    assert found.twin_map_error < 0.2
    assert found.pvalue > 0.05
    assert found.deceptive


def test_unlabelled_rows_are_never_shuffled():
    y = KINDS.astype(float)
    y[::3] = np.nan
    for cv in (None, 3):
        found = label_permutation(supdr.MAC(max_iter=1, random_state=0), IRIS, y, n_permutations=3, cv=cv)
        np.testing.assert_array_equal(np.isnan(found.twin_labels), np.isnan(y))
        assert found.error < 0.15


def test_threads_change_no_number():
    one, two = (
        label_permutation(supdr.MAC(max_iter=1, random_state=0), IRIS, KINDS, n_permutations=5, n_jobs=jobs)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.permuted_scores, two.permuted_scores)


def test_names_of_classes_play_no_part():
    model = supdr.MAC(max_iter=1, random_state=0)
    one = label_permutation(model, IRIS, KINDS, n_permutations=5)
    two = label_permutation(model, IRIS, np.array(["a", "b", "c"])[KINDS], n_permutations=5)
    np.testing.assert_array_equal(one.permuted_scores, two.permuted_scores)


def test_permutations_come_one_by_one_and_can_be_stopped():
    sizes = [
        len(each.permuted_scores) for each in iterate_label_permutation(GaussianNB(), IRIS, KINDS, n_permutations=4)
    ]
    assert sizes == [0, 1, 2, 3, 4]
    seen = []
    runs = iterate_label_permutation(
        supdr.MAC(random_state=0, max_iter=2), IRIS, KINDS, interrupted=lambda: len(seen) >= 3
    )
    for each in runs:
        seen.append(each)
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_permutations": 0}, ValueError, "n_permutations must be an integer of at least 1; got 0"),
        ({"random_state": "a"}, ValueError, "random_state must"),
        ({"estimator": GaussianNB}, TypeError, "estimator must be an estimator with fit and score"),
        ({"y": KINDS[:5]}, ValueError, "y must hold one label for each of the 150 rows"),
        ({"y": np.full(150, np.nan)}, ValueError, "two labelled rows"),
    ],
)
def test_bad_arguments_of_the_test_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        iterate_label_permutation(**{"estimator": GaussianNB(), "X": IRIS, "y": KINDS, **arguments})
    with pytest.raises(ValueError, match="coverage must"):
        label_permutation(GaussianNB(), IRIS, KINDS, n_permutations=1).band(2)


# --- stability -------------------------------------------------------------------------------------------------------


class Turned(PCA):
    """Principal components, turned, reflected, scaled and shifted by the seed."""

    def fit(self, X, y=None):
        super().fit(X)
        rng = np.random.default_rng(self.random_state)
        self.turn_ = np.linalg.qr(rng.standard_normal((2, 2)))[0] * rng.uniform(0.1, 10)
        self.shift_ = rng.standard_normal(2)
        return self

    def transform(self, X):
        return super().transform(X) @ self.turn_ + self.shift_


def test_turns_reflections_scales_and_shifts_are_no_differences():
    found = stability(Turned(2), IRIS, KINDS, n=6)
    assert found.spread.max() < 1e-8
    assert found.kept.mean() > 0.99  # copies of rows tie
    np.testing.assert_array_equal(found.agreeing, 6)
    assert found.sentence(1) == "6 of 6 seeds agree about the place of class 1"
    assert abs(np.sqrt((found.places**2).sum(axis=1).mean()) - 1) < 1e-9


class Noise(PCA):
    """A map that knows nothing of its rows."""

    def transform(self, X):
        return np.random.default_rng(self.random_state).standard_normal((len(X), 2))


def test_maps_that_know_nothing_keep_what_chance_keeps():
    found = stability(Noise(2), IRIS, KINDS, n=10)
    assert abs(found.kept.mean() - found.chance) < 0.01
    assert np.median(found.spread) > 0.9


def test_kept_neighbours_are_counted_over_pairs():
    found = stability(Noise(2), IRIS, KINDS, n=3, n_neighbors=5)
    near = [
        [set(row) for row in NearestNeighbors(n_neighbors=5).fit(each).kneighbors(return_distance=False)]
        for each in found.maps
    ]
    expected = [np.mean([len(a[i] & b[i]) / 5 for a, b in zip(near, (*near[1:], near[0]))]) for i in range(150)]
    np.testing.assert_allclose(found.kept, expected)


class Swapped(PCA):
    """Every fourth seed puts the last two of four classes into each other's places."""

    def transform(self, X):
        places = X[:, :2].copy()
        if self.random_state % 4 == 3:
            places[X[:, 2] == 2], places[X[:, 2] == 3] = places[X[:, 2] == 3], places[X[:, 2] == 2]
        return places


def test_classes_that_change_places_are_counted():
    rng = np.random.default_rng(0)
    corners, y = np.array([[0, 0], [9, 0], [3, 6], [12, 9]]), np.repeat(np.arange(4), [40, 40, 5, 5])
    X = np.column_stack([corners[y] + rng.standard_normal((90, 2)), y])
    found = stability(Swapped(2), X, y, n=8)
    np.testing.assert_array_equal(found.agreeing, [8, 8, 6, 6])


def test_charts_are_aligned_apart():
    class TurnedCharts(PCA):
        def transform(self, X):
            turn = np.linalg.qr(np.random.default_rng(self.random_state).standard_normal((2, 2)))[0]
            first = X[:, 2] == 0
            return np.where(first[:, None], X[:, :2] @ turn, X[:, :2] + 20)

    X = np.column_stack([np.random.default_rng(0).standard_normal((60, 2)), np.arange(60) % 2])
    whole = stability(TurnedCharts(2), X, X[:, 2], n=4)
    apart = stability(TurnedCharts(2), X, X[:, 2], n=4, charts=X[:, 2])
    assert apart.spread.max() < 1e-8 < 1e-3 < whole.spread.max()


def test_class_atlas_has_a_chart_for_each_class():
    model = supdr.ClassAtlas(max_iter=3, random_state=0)
    found = stability(model, IRIS, KINDS, resample="subsample", n=3)
    given = stability(model, IRIS, KINDS, resample="subsample", n=3, charts=KINDS)
    ratio = np.median(found.spread) / np.median(given.spread)
    assert 0.7 < ratio < 1.4  # the gate errs on a few rows, whose charts are others


@pytest.mark.parametrize("resample", ["bootstrap", "subsample"])
def test_samples_hold_every_class(resample):
    class Recorded(LinearDiscriminantAnalysis):
        seen = []

        def fit(self, X, y):
            self.seen.append(np.bincount(y))
            return super().fit(X, y)

    found = stability(Recorded(n_components=2), IRIS, KINDS, resample=resample, n=3, share=0.5)
    assert (np.array(Recorded.seen) == (50 if resample == "bootstrap" else 25)).all()
    assert 0 < np.median(found.spread) < 0.3
    assert found.kept.mean() > 3 * found.chance


def test_stability_does_not_depend_on_names_of_classes():
    model = supdr.MAC(2, max_iter=1, random_state=0)
    one = stability(model, IRIS, KINDS, resample="subsample", n=3)
    two = stability(model, IRIS, np.array(["a", "b", "c"])[KINDS], resample="subsample", n=3)
    np.testing.assert_array_equal(one.spread, two.spread)


def test_fits_come_one_by_one_and_stop_at_once():
    sizes = [len(each.maps) for each in iterate_stability(Turned(2), IRIS, KINDS, n=3)]
    assert sizes == [1, 2, 3]
    X = np.random.default_rng(0).standard_normal((1500, 20))
    asked = []

    def interrupted():
        if time.perf_counter() - began > 0.5:
            asked.append(time.perf_counter())
        return bool(asked)

    began = time.perf_counter()
    list(iterate_stability(supdr.MAC(2, random_state=0), X, X[:, 0] > 0, interrupted=interrupted))
    assert time.perf_counter() - asked[0] < 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"resample": "jackknife"}, ValueError, "resample must be one of seed, bootstrap, subsample; got 'jackknife'"),
        ({"n": 1}, ValueError, "n must be an integer of at least 2; got 1"),
        ({"share": 1.0}, ValueError, "share must be a number > 0 and < 1"),
        ({"random_state": None}, ValueError, "random_state must be an integer"),
        ({"estimator": LinearDiscriminantAnalysis()}, ValueError, "has no random_state; got 'seed'"),
        ({"estimator": GaussianNB()}, TypeError, "estimator must be an estimator with fit and transform"),
        ({"y": KINDS[:5]}, ValueError, "y must hold one label for each of the 150 rows"),
        ({"charts": KINDS[:5]}, ValueError, "charts must hold one name for each of the 150 rows"),
        ({"n_neighbors": 75}, ValueError, "n_neighbors must be less than half"),
    ],
)
def test_bad_arguments_of_stability_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        iterate_stability(**{"estimator": Turned(2), "X": IRIS, "y": KINDS, **arguments})
    with pytest.raises(ValueError, match="label must be one of 0, 1, 2; got 5"), warnings.catch_warnings():
        stability(Turned(2), IRIS, KINDS, n=2).sentence(5)
