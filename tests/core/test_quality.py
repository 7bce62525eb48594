"""How true a map is: properties of the measures, and the same numbers as short programs without cleverness."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import trustworthiness as sklearn_trustworthiness
from sklearn.neighbors import KNeighborsClassifier

import supdr
from supdr import quality
from supdr.quality import (
    changed_neighbours,
    class_centre_correlation,
    continuity,
    distance_correlation,
    distance_pairs,
    knn_error,
    map_quality,
    model_quality,
    neighbourhood_overlap,
    row_continuity,
    row_distance_correlation,
    row_knn_error,
    row_neighbourhood_overlap,
    row_trustworthiness,
    trustworthiness,
)

NEIGHBOURHOODS = [trustworthiness, continuity, neighbourhood_overlap]


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((120, 6))


@pytest.fixture(scope="module")
def places(rows):
    return PCA(2).fit_transform(rows)


@pytest.fixture(scope="module")
def classes(rows):
    return np.digitize(rows[:, 0], [-0.7, 0.0, 0.7])


def nearest(X, k):
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1)[:, :k]


# --- the same numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5, 10, 59])
def test_trustworthiness_and_continuity_are_scikit_learns(rows, places, k):
    found = trustworthiness(rows, places, n_neighbors=k), continuity(rows, places, n_neighbors=k)
    theirs = [sklearn_trustworthiness(*each, n_neighbors=k) for each in ((rows, places), (places, rows))]
    np.testing.assert_allclose(found, theirs, atol=1e-12)


def test_overlap_counts_shared_neighbours(rows, places):
    both = zip(nearest(rows, 10), nearest(places, 10))
    shared = [len(set(there) & set(here)) / 10 for there, here in both]
    np.testing.assert_allclose(row_neighbourhood_overlap(rows, places), shared, atol=1e-12)


def test_lost_and_false_neighbours_are_the_differences_of_two_sets(rows, places):
    changed = changed_neighbours(rows, places, n_neighbors=7)
    for row, (there, here) in enumerate(zip(nearest(rows, 7), nearest(places, 7))):
        lost, false = ([other for other in each[row] if other >= 0] for each in changed)
        assert lost == [other for other in there if other not in here]
        assert false == [other for other in here if other not in there]


def test_correlations_are_scipys(rows, places, classes):
    expected = spearmanr(pdist(rows), pdist(places)).statistic
    assert abs(distance_correlation(rows, places) - expected) < 1e-12
    some = np.array([3, 50])
    expected = [
        spearmanr(np.delete(cdist(rows, rows)[row], row), np.delete(cdist(places, places)[row], row)).statistic
        for row in some
    ]
    np.testing.assert_allclose(row_distance_correlation(rows, places, rows=some), expected, atol=1e-12)
    there, here = (np.array([each[classes == name].mean(axis=0) for name in range(4)]) for each in (rows, places))
    expected = spearmanr(pdist(there), pdist(here)).statistic
    assert abs(class_centre_correlation(rows, places, classes) - expected) < 1e-12


def shares_that_err(votes, classes):
    """Of the classes with most votes, the share that is not the row's own; votes (n, K)."""
    most = votes == votes.max(axis=1, keepdims=True)
    return 1 - most[np.arange(len(classes)), classes] / most.sum(axis=1)


def test_error_of_neighbours_leaves_the_row_itself_out(places, classes):
    distances = cdist(places, places)
    np.fill_diagonal(distances, np.inf)
    votes = np.eye(4)[classes[np.argsort(distances)[:, :5]]].sum(axis=1)
    errors = row_knn_error(places, classes, n_neighbors=5)
    np.testing.assert_allclose(errors, shares_that_err(votes, classes))


def test_error_of_neighbours_asks_the_voters(places, classes):
    votes = KNeighborsClassifier(10).fit(places[:60], classes[:60]).predict_proba(places[60:])
    expected = shares_that_err(votes, classes[60:]).mean()
    assert abs(knn_error(places[60:], classes[60:], voters=(places[:60], classes[:60])) - expected) < 1e-12


def test_error_of_real_numbers_is_in_units_of_their_variance(places):
    generator = np.random.default_rng(1)
    assert knn_error(places, places[:, 0], task="regression") < 0.1
    noise = knn_error(places, generator.standard_normal(len(places)), task="regression")
    assert 0.8 < noise < 1.5  # the mean of ten others: 1.1


# --- properties ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", NEIGHBOURHOODS)
def test_a_map_that_is_the_rows_is_true(rows, measure):
    assert measure(rows, rows) == 1.0
    assert abs(distance_correlation(rows, rows) - 1.0) < 1e-12
    assert (np.asarray(changed_neighbours(rows, rows)) == -1).all()


def test_rotation_scale_and_shift_of_the_map_change_nothing(rows, places, classes):
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    one, two = map_quality(rows, places, classes), map_quality(rows, 1e3 * places @ turn + 5.0, classes)
    np.testing.assert_allclose(list(one.numbers.values()), list(two.numbers.values()), atol=1e-12)


def test_trustworthiness_and_continuity_have_symmetric_roles(rows, places):
    np.testing.assert_array_equal(row_trustworthiness(rows, places), row_continuity(places, rows))
    np.testing.assert_allclose(row_neighbourhood_overlap(rows, places), row_neighbourhood_overlap(places, rows))
    there, here = changed_neighbours(rows, places), changed_neighbours(places, rows)
    np.testing.assert_array_equal(there.lost, here.false)


def test_a_random_map_is_as_true_as_chance():
    generator = np.random.default_rng(2)
    X, Z, k, n = generator.standard_normal((600, 5)), generator.standard_normal((600, 2)), 10, 600
    # A neighbour has any rank from 1 to n - 1: the excess is on average (n - k) (n - k - 1) / 2 (n - 1).
    expected = 1.0 - (n - k) * (n - k - 1) / ((n - 1) * (2 * n - 3 * k - 1))
    assert abs(trustworthiness(X, Z) - expected) < 0.02
    assert abs(continuity(X, Z) - expected) < 0.02
    assert abs(neighbourhood_overlap(X, Z) - k / (n - 1)) < 0.005
    assert abs(distance_correlation(X, Z)) < 0.03


def test_a_map_that_puts_all_rows_into_one_place_is_as_trustworthy_as_chance(rows):
    n, k, collapsed = len(rows), 10, np.zeros((len(rows), 2))
    expected = 1.0 - (n - k) * (n - k - 1) / ((n - 1) * (2 * n - 3 * k - 1))
    assert abs(trustworthiness(rows, collapsed) - expected) < 1e-12
    assert abs(neighbourhood_overlap(rows, collapsed) - k / (n - 1)) < 1e-12
    assert continuity(rows, collapsed) == 1.0  # nothing is torn
    assert np.isnan(distance_correlation(rows, collapsed))


def test_equal_distances_do_not_depend_on_the_order_of_rows(classes):
    generator = np.random.default_rng(3)
    X = generator.integers(0, 3, size=(120, 3)).astype(float)
    Z = generator.integers(0, 4, size=(120, 2)).astype(float)
    order = generator.permutation(120)
    for measure in (row_trustworthiness, row_continuity, row_neighbourhood_overlap):
        np.testing.assert_allclose(measure(X, Z)[order], measure(X[order], Z[order]), atol=1e-12)
        np.testing.assert_allclose(measure(X, X), 1.0)


def test_copies_of_rows_are_each_others_neighbours(rows, places):
    X, Z = np.repeat(rows[:40], 3, axis=0), np.repeat(places[:40], 3, axis=0)
    assert (row_neighbourhood_overlap(X, Z, n_neighbors=2) == 1.0).all()
    assert trustworthiness(X, Z, n_neighbors=2) == continuity(X, Z, n_neighbors=2) == 1.0


def test_the_order_of_neighbours_within_the_neighbourhood_does_not_matter():
    X = np.arange(9.0)[:, None]
    Z = X.copy()
    Z[1:3] = Z[2:0:-1]  # row 0 sees 1 and 2 exchanged
    assert row_trustworthiness(X, Z, n_neighbors=2)[0] == 1.0
    assert (changed_neighbours(X, Z, n_neighbors=2, rows=0).lost == -1).all()


def test_three_rows_are_enough():
    X = np.array([[0.0], [1.0], [3.0]])
    assert trustworthiness(X, X, n_neighbors=1) == 1.0
    assert trustworthiness(X, -X, n_neighbors=1) == 1.0
    assert row_trustworthiness(X, np.array([[0.0], [3.0], [1.0]]), n_neighbors=1).tolist() == [0.0, 0.0, 0.0]


# --- rows and samples ------------------------------------------------------------------------------------------------


def test_rows_that_are_asked_for_are_those_of_all(rows, places):
    some = [5, 100, 7]
    for measure in (row_trustworthiness, row_continuity, row_neighbourhood_overlap, row_distance_correlation):
        np.testing.assert_allclose(measure(rows, places, rows=some), measure(rows, places)[some])
    np.testing.assert_array_equal(
        changed_neighbours(rows, places, rows=some).lost, changed_neighbours(rows, places).lost[some]
    )


def test_a_sample_of_rows_is_unbiased_and_says_its_error(rows, places):
    exact = trustworthiness(rows, places)
    sampled = [map_quality(rows, places, sample_size=30, random_state=seed) for seed in range(40)]
    found = np.array([each.trustworthiness for each in sampled])
    said = np.mean([each.standard_errors["trustworthiness"] for each in sampled])
    assert abs(found.mean() - exact) < 4 * found.std() / np.sqrt(len(found))
    assert 0.5 < said / found.std() < 2.0
    assert map_quality(rows, places).standard_errors == {}
    assert found[0] == trustworthiness(rows, places, sample_size=30, random_state=0)


def test_pairs_are_drawn_evenly_and_never_of_a_row_with_itself(rows, places):
    apart, away = distance_pairs(rows, places, n_pairs=20000)
    assert len(apart) == len(away) == 20000
    assert (apart > 0.0).all()
    assert abs(apart.mean() - pdist(rows).mean()) < 0.02
    assert abs(distance_correlation(rows, places, n_pairs=20000) - distance_correlation(rows, places)) < 0.03


def test_many_rows_are_sampled():
    many = np.random.default_rng(0).standard_normal((quality.checking.MOST_EXACT + 1, 3))
    found = map_quality(many, many[:, :2])
    assert len(found.of_rows["continuity"]) == quality.checking.SAMPLE
    np.testing.assert_array_equal(found.rows, quality.checking.sampled_rows(len(many), quality.checking.SAMPLE, 0))
    assert found.standard_errors["continuity"] > 0.0


def test_no_row_asked_for_no_row_answered(rows, places):
    for measure in (row_trustworthiness, row_continuity, row_neighbourhood_overlap, row_distance_correlation):
        assert measure(rows, places, rows=[]).shape == (0,)
    lost, false = changed_neighbours(rows, places, n_neighbors=4, rows=np.arange(0))
    assert lost.shape == false.shape == (0, 4)


# --- summaries -------------------------------------------------------------------------------------------------------


def test_a_map_in_one_call(rows, places, classes):
    found = map_quality(rows, places, classes, n_neighbors=6)
    assert found.numbers == {
        "trustworthiness": trustworthiness(rows, places, n_neighbors=6),
        "continuity": continuity(rows, places, n_neighbors=6),
        "neighbourhood_overlap": neighbourhood_overlap(rows, places, n_neighbors=6),
        "knn_error": knn_error(places, classes, n_neighbors=6),
        "distance_correlation": distance_correlation(rows, places),
        "class_centre_correlation": class_centre_correlation(rows, places, classes),
    }
    without = map_quality(rows, places)
    assert np.isnan(without.knn_error)
    assert np.isnan(without.class_centre_correlation)


def test_unlabelled_rows_neither_vote_nor_are_judged(rows, places, classes):
    partly = np.where(np.arange(len(classes)) < 80, classes, np.nan)
    assert knn_error(places, partly) == knn_error(places[:80], classes[:80])
    assert np.isnan(row_knn_error(places, partly)[80:]).all()
    assert np.isfinite(class_centre_correlation(rows, places, partly))


def test_without_any_label_there_is_nothing_to_err_about(rows, places):
    found = map_quality(rows, places, np.full(len(rows), np.nan))
    assert np.isnan(found.knn_error)
    assert found.trustworthiness == trustworthiness(rows, places)
    assert np.isnan(row_knn_error(places, [None] * len(rows))).all()


def test_two_classes_have_no_order_of_distances(rows, places, classes):
    assert np.isnan(class_centre_correlation(rows, places, classes > 1))


def test_a_model_is_judged_by_rows_it_has_not_seen():
    X, y = supdr.datasets.load("wine").to_xy()
    train = np.arange(len(X)) % 3 > 0
    model = supdr.LSDR(max_iter=5, random_state=0).fit(X[train], y[train])
    found = model_quality(model, X[~train], y[~train], fitted_on=(X[train], y[train]))
    scaled = (X[~train] - X[~train].mean(axis=0)) / X[~train].std(axis=0)
    assert abs(found.trustworthiness - trustworthiness(scaled, model.transform(X[~train]))) < 1e-9
    assert found.knn_error < 0.15
    holes = X[~train].copy()
    holes[0, 0] = np.nan
    assert np.isfinite(model_quality(supdr.LSDR(max_iter=5, preprocessing="zscore").fit(X, y), holes).trustworthiness)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda X, Z, y: trustworthiness(X, Z[:-1]), "X has 120, Z has 119"),
        (lambda X, Z, y: trustworthiness(X, Z, n_neighbors=60), "less than half of the 120 rows; got 60"),
        (lambda X, Z, y: continuity(X, Z, n_neighbors=0), "n_neighbors must be an integer of at least 1"),
        (lambda X, Z, y: trustworthiness(np.where(X > 1, np.nan, X), Z), "X contains NaN"),
        (lambda X, Z, y: trustworthiness(X, Z[:, 0]), "Expected 2D array"),
        (lambda X, Z, y: trustworthiness(X[:2], Z[:2], n_neighbors=1), "minimum of 3"),
        (lambda X, Z, y: trustworthiness(X, 1e200 * Z), "Z must hold numbers"),
        (lambda X, Z, y: row_trustworthiness(X, Z, rows=[0, 120]), "rows must be row numbers from 0 to 119"),
        (lambda X, Z, y: row_trustworthiness(X, Z, rows=[0.5]), "rows must be row numbers"),
        (lambda X, Z, y: trustworthiness(X, Z, sample_size=0), "sample_size must be an integer of at least 1"),
        (lambda X, Z, y: distance_pairs(X, Z, n_pairs=-1), "n_pairs must be an integer"),
        (lambda X, Z, y: distance_pairs(X, Z, random_state="no"), "random_state must be"),
        (lambda X, Z, y: knn_error(Z, y[:-1]), "y must hold one label for each of 120 rows"),
        (lambda X, Z, y: knn_error(Z, y, n_neighbors=120), "at most 119"),
        (lambda X, Z, y: knn_error(Z, y, task="clusters"), "task must be one of"),
        (lambda X, Z, y: knn_error(Z, y, voters=(X, y)), "voters must have 2 coordinates"),
        (lambda X, Z, y: knn_error(Z, y, voters=Z), "voters must be a tuple of places and labels; got ndarray"),
        (lambda X, Z, y: knn_error(Z, [f"class {k}" for k in y], task="regression"), "regression needs numbers"),
        (lambda X, Z, y: class_centre_correlation(X, Z, y[:-1]), "one class for each of the 120 rows"),
        (
            lambda X, Z, y: model_quality(LogisticRegression().fit(X, y), X),
            "model must have transform",
        ),
        (lambda X, Z, y: model_quality(PCA(2).fit(X), X, preprocessing="log"), "preprocessing must be one of"),
    ],
)
def test_bad_input_is_named(rows, places, classes, act, says):
    with pytest.raises(ValueError, match=says):
        act(rows, places, classes)


def test_nothing_that_is_given_is_written_to(rows, places, classes):
    given = rows.copy(), places.copy(), classes.copy()
    map_quality(*given)
    for before, after in zip((rows, places, classes), given):
        np.testing.assert_array_equal(before, after)


def test_all_that_is_known_of_rows_comes_in_pieces(rows, places):
    pieces = list(quality.row_batches(rows, places, rows=np.arange(100), batch=33))
    assert [len(found) for _, found, _ in pieces] == [33, 33, 33, 1]
    whole = changed_neighbours(rows, places)
    for some, found, changed in pieces:
        np.testing.assert_array_equal(found[:, 1], row_continuity(rows, places)[some])
        np.testing.assert_array_equal(changed.false, whole.false[some])


def test_some_pairs_instead_of_all_say_their_error(rows, places):
    found = map_quality(rows, places, n_pairs=2000)
    assert (
        abs(found.distance_correlation - distance_correlation(rows, places))
        < 5 * found.standard_errors["distance_correlation"]
    )


def test_errors_of_neighbours_depend_neither_on_the_order_of_rows_nor_on_names():
    generator = np.random.default_rng(0)
    places = generator.integers(0, 5, (60, 2)).astype(float)  # many are equally far
    classes = generator.integers(0, 2, 60)
    values = generator.standard_normal(60)
    order = generator.permutation(60)
    for n_neighbors in (1, 4, 10):
        errors = row_knn_error(places, classes, n_neighbors=n_neighbors)
        for changed in (1 - classes, np.array(["z", "a"])[classes]):
            np.testing.assert_allclose(row_knn_error(places, changed, n_neighbors=n_neighbors), errors)
        moved = row_knn_error(places[order], classes[order], n_neighbors=n_neighbors)
        np.testing.assert_allclose(moved, errors[order])
        np.testing.assert_allclose(row_knn_error(places[:, ::-1], classes, n_neighbors=n_neighbors), errors)
        numbers = row_knn_error(places, values, n_neighbors=n_neighbors, task="regression")
        moved = row_knn_error(places[order], values[order], n_neighbors=n_neighbors, task="regression")
        np.testing.assert_allclose(moved, numbers[order])
        voters = (places[order], classes[order])
        asked = generator.integers(0, 5, (9, 2)).astype(float)
        np.testing.assert_allclose(
            row_knn_error(asked, classes[:9], n_neighbors=n_neighbors, voters=voters),
            row_knn_error(asked, classes[:9], n_neighbors=n_neighbors, voters=(places, classes)),
        )


def test_ties_are_split_evenly():
    places = np.array([[0.0], [1.0], [-1.0], [9.0]])
    assert row_knn_error(places, ["a", "b", "a", "b"], n_neighbors=1)[0] == 0.5  # one of the two that are as far
    assert row_knn_error(places, ["a", "b", "a", "b"], n_neighbors=2)[0] == 0.5  # a vote for each
    everywhere = np.zeros((12, 2))
    assert np.allclose(row_knn_error(everywhere, np.arange(12) % 2, n_neighbors=5), 1.0)  # 6 of the other class, 5 own
