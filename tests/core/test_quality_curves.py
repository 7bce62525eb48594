"""Trust over k and by class, steadiness and cohesiveness."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from supdr.quality import (
    changed_neighbours,
    class_trust,
    cluster_reliability,
    continuity,
    iterate_cluster_reliability,
    iterate_trust_curve,
    neighbourhood_overlap,
    row_continuity,
    row_trustworthiness,
    trust_curve,
    trustworthiness,
)

X, KINDS = load_iris(return_X_y=True)
X = X + 1e-6 * np.random.default_rng(0).standard_normal(X.shape)  # no two distances are equal
Z = PCA(2).fit_transform(X)[:, ::-1] ** 2


def test_a_curve_has_the_measures_at_every_k():
    curve = trust_curve(X, Z, n_neighbors=[7, 1, 30])
    assert curve.n_neighbors.tolist() == [1, 7, 30]
    for name, measure in (
        ("trustworthiness", trustworthiness),
        ("continuity", continuity),
        ("overlap", neighbourhood_overlap),
    ):
        expected = [measure(X, Z, n_neighbors=k) for k in (1, 7, 30)]
        np.testing.assert_allclose(getattr(curve, name), expected, atol=1e-12)
    np.testing.assert_allclose(curve.chance, curve.n_neighbors / 149)


def test_curves_of_parts_end_at_all_rows():
    parts = list(iterate_trust_curve(X, Z, sample_size=50))
    assert parts[-1].n_measured == parts[-1].n_rows == 50


def test_trust_by_class_counts_changed_neighbours_by_their_classes():
    found = class_trust(X, Z, KINDS)
    changed = changed_neighbours(X, Z)
    for kind in range(3):
        rows = kind == KINDS
        assert abs(found.trustworthiness[kind] - row_trustworthiness(X, Z)[rows].mean()) < 1e-12
        assert abs(found.continuity[kind] - row_continuity(X, Z)[rows].mean()) < 1e-12
        for matrix, numbers in ((found.false, changed.false), (found.lost, changed.lost)):
            others = KINDS[numbers[rows][numbers[rows] >= 0]]
            expected = np.bincount(others, minlength=3) / (10 * rows.sum())
            np.testing.assert_allclose(matrix[kind], expected, atol=1e-12)
    np.testing.assert_allclose(found.false_own + found.false_other, found.false.sum(axis=1))
    np.testing.assert_allclose(found.lost_own + found.lost_other, found.lost.sum(axis=1))


def test_a_map_that_keeps_everything_is_perfect():
    found = class_trust(X, 3 * X + 1, KINDS)
    assert (found.trustworthiness == 1).all()
    assert not found.false.any()
    assert not found.lost.any()
    clusters = cluster_reliability(X, 2 * X, n_iterations=5)
    assert clusters.steadiness == clusters.cohesiveness == 1.0


def test_false_and_torn_clusters_are_told_apart():
    rng = np.random.default_rng(0)
    three = np.repeat([[0.0, 0], [30, 0], [0, 30]], 60, axis=0) + rng.standard_normal((180, 2))
    merged = three + np.where(np.arange(180)[:, None] < 120, 0.0, [30.0, -30.0])  # two of them in one place
    lies, torn = (
        cluster_reliability(three, merged, n_iterations=40),
        cluster_reliability(merged, three, n_iterations=40),
    )
    assert lies.steadiness < lies.cohesiveness
    assert torn.cohesiveness < torn.steadiness
    assert abs(lies.steadiness - torn.cohesiveness) < 4 * (lies.steadiness_error + torn.cohesiveness_error)


def test_neither_order_of_rows_nor_names_of_classes_matter():
    order = np.random.default_rng(1).permutation(len(X))
    names = np.array(["virginica", "setosa", "alba"])[KINDS]
    one, two = class_trust(X, Z, KINDS), class_trust(X[order], Z[order], names[order])
    there = [list(two.classes).index(name) for name in ("virginica", "setosa", "alba")]
    np.testing.assert_allclose(one.trustworthiness, two.trustworthiness[there], atol=1e-12)
    np.testing.assert_allclose(one.false, two.false[np.ix_(there, there)], atol=1e-12)
    np.testing.assert_allclose(one.lost, two.lost[np.ix_(there, there)], atol=1e-12)
    curves = trust_curve(X, Z), trust_curve(X[order], Z[order])
    np.testing.assert_allclose(curves[0].trustworthiness, curves[1].trustworthiness, atol=1e-12)
    clusters = [cluster_reliability(X[some], Z[some], n_iterations=10) for some in (np.arange(len(X)), order)]
    assert clusters[0] == clusters[1]


def test_unlabelled_rows_are_of_no_class():
    y = KINDS.astype(float)
    y[KINDS == 2] = np.nan
    found = class_trust(X, Z, y)
    assert found.n_rows.tolist() == [50, 50]
    np.testing.assert_allclose(found.false, class_trust(X, Z, KINDS).false[:2, :2], atol=1e-12)


def test_draws_come_one_by_one():
    draws = [each.n_draws for each in iterate_cluster_reliability(X, Z, n_iterations=3)]
    assert draws == [1, 2, 3]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (trust_curve, {"n_neighbors": []}, "n_neighbors must be a list of integers"),
        (trust_curve, {"n_neighbors": 5}, "n_neighbors must be a list of integers"),
        (trust_curve, {"n_neighbors": [75]}, "n_neighbors must be less than half"),
        (trust_curve, {"sample_size": 0}, "sample_size must"),
        (class_trust, {"y": KINDS[:4]}, "y must hold one class for each of the 150 rows"),
        (class_trust, {"y": np.full(150, np.nan)}, "no labelled row"),
        (class_trust, {"y": KINDS, "n_neighbors": 0}, "n_neighbors must"),
        (cluster_reliability, {"n_iterations": 0}, "n_iterations must"),
        (cluster_reliability, {"walk": 0.0}, "walk must"),
        (cluster_reliability, {"alpha": -1}, "alpha must"),
        (cluster_reliability, {"n_neighbors": 150}, "n_neighbors must be less than the 150 rows"),
        (cluster_reliability, {"random_state": "a"}, "random_state must"),
        (cluster_reliability, {"Z": Z[:5]}, "X and Z must be the same rows"),
    ],
)
def test_bad_arguments_are_named(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(**{"X": X, "Z": Z, **arguments})
