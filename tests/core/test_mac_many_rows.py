"""MAC on many rows: centres, width and ridge are judged by rows that no centre is made of, features are formed once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from supdr import MAC
from supdr.methods.mac import labelled_rows, mapping, problem
from supdr.methods.mac.mapping import choose_centers
from supdr.solvers.leave_one_out import lowest_nearby


@pytest.fixture
def many(monkeypatch):
    """Treat 100 rows and more than 20 centres as many; 30 rows are left out in turn."""
    monkeypatch.setattr(problem, "MANY_ROWS", 100)
    monkeypatch.setattr(labelled_rows, "MOST_JUDGED", 30)
    monkeypatch.setattr(labelled_rows.judged_numbers, "__defaults__", (30,))
    for module in (mapping, problem):
        monkeypatch.setattr(module, "EIGEN_SIZE", 20)
    monkeypatch.setattr(problem, "NEARBY_WORK", 5e4)
    monkeypatch.setattr(problem, "SEARCH_WORK", 1e4)


def clouds(n=240):
    X, y = make_blobs(n, n_features=4, centers=6, cluster_std=2.0, random_state=0)
    return X, (y % 3).astype(float)


def problem_of(model):
    return model.snapshot_.run._problem(*model.snapshot_.run._training)


@pytest.mark.parametrize("unlabelled", [False, True])
def test_no_centre_is_a_row_that_is_left_out(many, unlabelled):
    X, y = clouds()
    if unlabelled:
        y[::7] = np.nan
    model = MAC(n_centers=60, centers="random", preprocessing="none", random_state=0).fit(X, y)
    judged = problem_of(model).all_rows.judged
    left_out = X[~np.isnan(y)][judged]
    assert len(judged) >= 20
    assert not (model.centers_[:, None] == left_out).all(axis=2).any()
    every_row = MAC(n_centers=len(X), centers="random", preprocessing="none", random_state=0).fit(X, y)
    assert len(every_row.centers_) == len(X)


def test_the_ridge_is_the_best_of_its_neighbours_on_left_out_rows(many):
    X, y = clouds()
    model = MAC(n_centers=60, preprocessing="none", early_stopping=False, max_iter=1, random_state=0).fit(X, y)
    Phi = np.exp(-model.gamma_ * ((X[:, None] - model.centers_) ** 2).sum(axis=2))
    corners = np.eye(3) - 1 / 3
    corners /= np.linalg.norm(corners[0])
    judged = problem_of(model).all_rows.judged

    def score(ridge):
        wrong, square = 0, 0.0
        for i in judged:
            rest = np.arange(len(X)) != i
            system = Phi[rest].T @ Phi[rest] + ridge * np.eye(60)
            code = Phi[i] @ np.linalg.solve(system, Phi[rest].T @ corners[y[rest].astype(int)])
            near, own = corners @ code, int(y[i])
            wrong += near[own] - np.delete(near, own).max() <= 1e-3
            square += ((code - corners[own]) ** 2).sum()
        return (wrong + 0.3 * square) / len(judged)

    best = model.reg_w_  # the ridge of the first pass is 2 reg_w / mu, mu = 2
    assert score(best) <= min(score(best * problem.RIDGE_STEP), score(best / problem.RIDGE_STEP)) + 1e-9


def test_many_rows_in_partitions_are_those_in_memory(many, in_this_thread):
    array = pytest.importorskip("dask.array")
    X, y = clouds()
    own = MAC(n_centers=60, max_iter=2, random_state=0)
    expected = clone(own).fit(X, y)
    in_parts = own.fit(array.from_array(X, chunks=(50, 4)), array.from_array(y, chunks=50))
    assert in_parts.gamma_ == pytest.approx(expected.gamma_)
    assert in_parts.reg_w_ == pytest.approx(expected.reg_w_)
    np.testing.assert_allclose(in_parts.history_["objective"], expected.history_["objective"], rtol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"early_stopping": False, "max_iter": 2}, {"reg_w": 0.1}])
def test_a_fit_forms_the_features_once(many, settings, monkeypatch):
    X, y = clouds()
    formed = []
    features = mapping.InMemoryFeatures.__init__

    def counted(self, rows, of):
        formed.append(of)
        features(self, rows, of)

    monkeypatch.setattr(mapping.InMemoryFeatures, "__init__", counted)
    model = MAC(n_centers=60, random_state=0, **settings).fit(X, y)
    assert len(formed) == 1
    model.predict(X)
    assert len(formed) == 1
    assert not model._sample_cache.problem.workspace  # and does not keep them


def test_resumed_equals_whole_on_many_rows(many):
    X, y = clouds()
    model = MAC(n_centers=60, early_stopping=False, max_iter=4, tol=-1.0, random_state=0)
    whole = model.fit(X, y).transform(X)
    half = model.set_params(max_iter=2).fit(X, y).snapshot_
    np.testing.assert_array_equal(model.fit(X, y, start=half).transform(X), whole)


@pytest.mark.parametrize(
    ("n", "count"), [(300, 300), (1_500, 1_000), (4_000, 1_000), (10_000, 2_500), (60_000, 4_082), (10**6, 1_000)]
)
def test_a_quarter_of_the_rows_are_centres_unless_they_are_few_or_very_many(n, count):
    made = problem_of(MAC(random_state=0).fit(*clouds(60)))
    object.__setattr__(made, "pool", np.broadcast_to(np.zeros((1, 1)), (n, 1)))
    made.all_rows.n_rows = n
    assert made._default_count() == count


# --- k-means ----------------------------------------------------------------------------------------------------------


def test_centres_are_means_of_the_rows_nearest_to_them():
    rng = np.random.default_rng(0)
    rows, centers = rng.normal(size=(50, 3)), rng.normal(size=(8, 3))
    centers[3] = 100.0  # has no rows
    nearest = ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    expected = [rows[nearest == k].mean(axis=0) if (nearest == k).any() else centers[k] for k in range(8)]
    np.testing.assert_allclose(mapping._moved_centers(rows, centers), expected, atol=1e-12)


def test_centres_move_with_the_rows_where_single_precision_makes_them(monkeypatch):
    X, _ = clouds()
    with monkeypatch.context() as one_pass:
        one_pass.setattr(mapping, "KMEANS_PASSES", 1)
        exact = choose_centers(X, 20, "kmeans", np.random.default_rng(0))
    monkeypatch.setattr(mapping, "KMEANS_FLOPS", 0)
    for shift in (0.0, 1e6):
        centers = choose_centers(X + shift, 20, "kmeans", np.random.default_rng(0)) - shift
        assert centers.dtype == np.float64
        np.testing.assert_allclose(centers, exact, atol=1e-5)


@pytest.mark.parametrize(("scores", "best"), [([5, 4, 3, 4, 9], 0), ([1, 2, 3, 4, 9], -2), ([9, 8, 7, 1, 2], 1)])
def test_steps_go_down_as_long_as_the_score_falls(scores, best):
    assert lowest_nearby(lambda number: scores[number + 2], 2) == best
