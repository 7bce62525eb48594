"""Support vector machines by the rows near their margins: the optimum of all rows, whatever the partitions."""

import numpy as np
import pytest

from supdr.rows.partitions import from_list, gather
from supdr.solvers import margin_visits
from supdr.solvers._margin_kernels import cells, grouped, margins
from supdr.solvers.linear_svm import Heads, solve_heads
from supdr.solvers.margin_working_set import Limits, solve_distributed_svms

N, D, COST = 3_000, 3, 0.05
FEW = Limits(near_rows=900)

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    Z = rng.normal(size=(3, D))[codes] + 0.9 * rng.normal(size=(N, D))
    signs = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    signs[rng.random(N) < 0.1, 2] = 0.0
    return Z, signs, COST * rng.uniform(0.5, 1.5, N)


def in_partitions(values, count=5):
    return from_list(np.array_split(values, count))


def value(rows, coef, intercept):
    Z, signs, C = rows
    missing = np.where(signs != 0.0, np.maximum(1.0 - signs * (Z @ coef.T + intercept), 0.0), 0.0)
    return 0.5 * (coef**2).sum(axis=1) + C @ missing


def dual(rows, alpha):
    Z, signs, _ = rows
    return alpha.sum(axis=0) - 0.5 * (((alpha * signs).T @ Z) ** 2).sum(axis=1)


def solved(rows, start=None, limits=FEW, **settings):
    found = solve_distributed_svms(*map(in_partitions, rows), 3, start, limits=limits, **settings)
    return found, np.concatenate(gather(np.asarray, found.alpha)).astype(float)


@pytest.mark.parametrize("visits", [16, 1])
def test_it_ends_at_the_optimum_of_all_rows_with_multipliers_that_prove_it(rows, visits):
    found, alpha = solved(rows, limits=FEW._replace(visits=visits))  # after one, rows are gathered
    expected = solve_heads(*rows)
    reached = value(rows, found.coef, found.intercept)
    np.testing.assert_allclose(reached, value(rows, expected.coef, expected.intercept), rtol=2e-6)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-3)
    _, signs, C = rows
    assert (alpha >= 0.0).all()
    assert (alpha <= C[:, None]).all()
    assert (alpha[signs == 0.0] == 0.0).all()
    np.testing.assert_allclose((alpha * signs).sum(axis=0), 0.0, atol=1e-4)
    np.testing.assert_allclose(dual(rows, alpha), reached, rtol=1e-5)


def test_a_warm_start_takes_fewer_visits_and_whoever_wants_to_is_told(rows):
    seen = []
    cold, _ = solved(rows, observe=lambda coef, intercept: seen.append((coef, intercept)))
    warm, _ = solved(rows, cold)
    assert warm.iterations < cold.iterations
    best = value(rows, cold.coef, cold.intercept).sum()
    values = [value(rows, *each).sum() for each in seen]
    assert best <= min(values) * (1 + 1e-6)
    assert values[-1] < values[0]


def test_where_groups_cross_their_margin_more_rows_are_asked_for(rows, monkeypatch):
    asked, original = [], margin_visits.working_set
    monkeypatch.setattr(margin_visits, "working_set", lambda *a: asked.append(a[-1].quota) or original(*a))
    visits = []
    for factor in (1, 4):
        asked.clear()
        limits = Limits(near_rows=60, worse_trials=12, more_rows=factor)
        visits.append(solved(rows, limits=limits)[0].iterations)
        assert set(asked) == {12, 12 * factor}
    assert visits[1] < visits[0]


@pytest.fixture(scope="module")
def rows_on_their_margins():
    """Rows on the margins of a classifier that is not the best, as after MAC's Z step: far more than come singly."""
    w, aside, b = np.array([0.6, 0.0, 0.0]), np.array([0.0, 0.8, 0.6]), 0.2
    Z = np.random.default_rng(3).normal(size=(20_000, D))
    signs = np.where(Z @ w + b > 0.0, 1.0, -1.0)
    kept = signs * (Z @ aside) > 0.2
    Z, signs = Z[kept], signs[kept]
    missing = np.maximum(1.0 - signs * (Z @ w + b), 0.0)
    Z += (missing * signs)[:, None] * w / (w @ w)
    theta = np.array([w]), np.array([b])
    return (Z, signs[:, None], np.ones(len(Z))), Heads(*theta, None, 0.0, 0)


@pytest.mark.parametrize("gathering", [24, 0])
def test_where_more_rows_lie_on_a_margin_than_come_they_are_gathered(rows_on_their_margins, gathering):
    rows, start = rows_on_their_margins
    limits = Limits(near_rows=60, gathering_visits=gathering)
    found = solve_distributed_svms(*map(in_partitions, rows), 1, start, tol=1e-9, limits=limits)
    alpha = np.concatenate(gather(np.asarray, found.alpha)).astype(float)
    reached = value(rows, found.coef, found.intercept)
    np.testing.assert_allclose(dual(rows, alpha), reached, rtol=1e-5)
    assert (alpha >= 0.0).all()
    assert (alpha <= rows[2][:, None]).all()
    assert found.iterations <= 8  # three visits, then four that gather: too few for a doubled quota to matter


def test_a_gap_that_rounding_keeps_open_ends_the_search(rows):
    Z, signs, C = (values[:200] for values in rows)  # every row is near
    assert solved((Z, signs, C), tol=1e-15)[0].iterations <= 4


def test_means_of_groups_never_cost_more_than_their_rows(rows):
    Z, signs, C = rows
    column, rng = signs[:, 0].astype(np.int8), np.random.default_rng(1)
    t = margins(Z, column, rng.normal(size=D + 1))
    cell = cells(Z, Z.mean(axis=0), Z.std(axis=0))
    assert len(np.unique(cell)) > 100
    sums, hinge = grouped(Z, column, C, t, cell, np.zeros(N, dtype=bool))
    assert hinge == pytest.approx(C @ np.maximum(t, 0.0))
    used = sums[:, -1] > 0.0
    means, side = sums[used, :-1] / sums[used, -1:], np.where(np.flatnonzero(used) >= len(sums) // 2, 1.0, -1.0)
    for _ in range(20):
        theta = rng.normal(size=D + 1)
        below = sums[used, -1] @ np.maximum(1.0 - side * (means @ theta[:-1] + theta[-1]), 0.0)
        assert below <= C @ np.maximum(margins(Z, column, theta), 0.0) + 1e-9


def test_what_a_visit_brings_does_not_grow_with_the_rows(rows):
    sizes = []
    for count in (1, 2):
        Z, columns, C = (np.tile(values, (count, *(1,) * (values.ndim - 1))) for values in rows)
        cell = cells(Z, Z.mean(axis=0), Z.std(axis=0))
        point = margin_visits.PointQuery(np.ones(D + 1), 50, (np.arange(40, dtype=np.int32),), np.zeros(D + 1))
        found = margin_visits.working_set(Z, columns[:, 0].astype(np.int8), C, cell, point)
        sizes.append([np.size(values) for values in (*found[:-1], *found.numbers)])
    assert sizes[0] == sizes[1]
