"""Linear support vector machines on rows in partitions: the rows near their margin decide, and those are few.

    E(theta) = 1/2 |w|^2 + sum_i C_i max(0, t_i),     t_i = 1 - y_i (w'z_i + b)

A partition sends its rows with the least |t| as they are, and all others as means of groups: by their sign, by the side
of the margin that they lie on, and by the cell of the space.  As the hinge is convex, the mean of a group with the
weight of all of it costs no more than the group.  So the problem of rows and means is a lower bound of E everywhere,
and the same as E while no group crosses its margin.  Its dual is that of all rows with one multiplier a group.  At its
solution the next rows are chosen; E there and the dual meet after a few visits, whatever the number of rows.

Where more rows lie on a margin than are sent (MAC's Z step puts them there), hardly any step is short enough to be
better.  Then rows are gathered: partitions also send those that a trial takes across their margin, and rows are kept
from trial to trial.

The bound by convexity is that of bundle methods (C. Teo, S. Vishwanathan, A. Smola, Q. Le, JMLR 11, 2010), with rows
and means in place of planes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.threads import map_threads
from supdr.rows.in_memory import added
from supdr.rows.partitions import Partitions, listed, planned, spread, total
from supdr.solvers._margin_kernels import margins
from supdr.solvers.linear_svm import solve_linear_svm
from supdr.solvers.margin_visits import (
    SHORTER,
    Dual,
    LineQuery,
    PointQuery,
    WorkingSet,
    ends,
    joined,
    joined_rows,
    moments_of,
    query_results,
    row_cells,
    selected_rows,
    shares_of_rows,
)

Array = NDArray[np.float64]

# Rows of all partitions together that a visit adds to the working set of a classifier.
NEAR_ROWS = 4096

# Most visits before rows are gathered.
VISITS = 16

# Most visits while rows are gathered.
GATHERING_VISITS = 24

# Most trials of a classifier that are worse than its best point; then rows are gathered: groups cross their margin.
MOST_WORSE = 4

# Factor of the rows of a visit after a worse trial: more of them cross their margin between two trials.
MORE_ROWS = 4

# Relative gap at which a search ends whose next trial is no better: rounding or groups keep the gap open.
ENOUGH = 1e-6

# Share of the tolerance to which the small problems are solved, and where rounding makes less of it useless.
INNER, FINEST = 0.1, 1e-10


class Approach(NamedTuple):
    """Classifiers at their optimum or near it.

    theta (P, d + 1): coefficients and, last, the bias.
    centres (n,): feasible multipliers as shares of their limits, a list entry a classifier; computed again each time.
    gaps (P,): value at theta less that of the multipliers.
    closed (P,): whether that is within the tolerance, or no trial was better within `ENOUGH`.
    """

    theta: Array
    centres: Partitions
    gaps: Array
    closed: NDArray[np.bool_]
    visits: int


def approach_optimum(
    Z: Partitions,
    columns: Partitions,
    C: Partitions,
    start: Array,
    tol: float,
    observe: Callable[[Array], Any] | None = None,
    moments: tuple[int, Array, Array] | None = None,
) -> Approach:
    """Bring classifiers to their optimum, or near to it.

    `Z` (n, d): rows. `columns` (P, n): signs; 0 for a row that is not part of a classifier's problem. `C` (n,): weight
    of the hinge. `start` (P, d + 1): coefficients and biases to begin at. `tol`: relative duality gap. `observe`:
    ``observe(theta)`` is called with the classifiers after every visit. `moments`: the sum of `moments_of` over the
    partitions; None: one more visit.
    """
    count, sums, squares = total(moments_of, Z, add=added) if moments is None else moments
    middle = sums / count
    unit = np.sqrt(np.maximum(squares / count - middle**2, np.finfo(float).tiny))
    cell = spread(row_cells, Z, middle, unit)
    searches = [_Search(theta, len(Z), tol) for theta in start]
    running = [search.run() for search in searches]
    queries: dict[int, PointQuery | LineQuery] = {k: next(search) for k, search in enumerate(running)}
    visits = 0
    while queries:
        checkpoint()
        visits += 1
        of_parts = listed({k: query.of(number) for k, query in queries.items()} for number in range(len(Z)))
        results = total(query_results, Z, columns, C, cell, of_parts, add=joined)
        # The workers are idle meanwhile, so that all threads may be used.
        following = map_threads(partial(_next_query, running, results), list(results), -1)
        queries = {k: query for k, query in zip(results, following) if query is not None}
        if observe is not None and queries:
            observe(np.array([search.trial for search in searches]))
    shares = listed([search.dual.of(number) for search in searches] for number in range(len(Z)))
    centres = planned(shares_of_rows, Z, columns, cell, shares)
    best, gaps, closed = zip(*((search.best, search.gap, search.closed) for search in searches))
    return Approach(np.array(best), centres, np.array(gaps), np.array(closed), visits)


def _next_query(running: list[Any], results: dict[int, Any], k: int) -> PointQuery | LineQuery | None:
    """Send a classifier's search its result; return its next query, None where it has ended."""
    try:
        return running[k].send(results[k])
    except StopIteration:
        return None


class _Search:
    """The search for one classifier's optimum.

    `start` (d + 1,); `count`: number of partitions; `tol`: relative duality gap.
    """

    dual: Dual

    def __init__(self, start: Array, count: int, tol: float) -> None:
        self.best = self.trial = start.copy()
        self.value, self.bound, self.closed = np.inf, -np.inf, False
        self._few, self._tol = max(1, NEAR_ROWS // count), tol
        self._none = (np.empty(0, dtype=np.int32),) * count

    @property
    def gap(self) -> float:
        """The value at the best point less the bound."""
        return self.value - self.bound

    def run(self) -> Generator[PointQuery | LineQuery, Any, None]:
        """Yield queries until the gap is closed, or until neither trials nor gathered rows lower it."""
        failures, visits = 0, 0
        while visits < VISITS:
            point = PointQuery(self.trial.copy(), self._few * (MORE_ROWS if failures else 1), self._none)
            near: WorkingSet = yield point
            visits += 1
            if self._update(near.hinge):
                if not self.closed:
                    self._solve(near, point.theta, warm=visits > 1)
            elif not self.closed:
                failures += 1
                hinges = yield LineQuery(self.best, self.trial - self.best)
                visits += 1
                share, least = _shorter(self.best, self.trial - self.best, hinges)
                if least >= self.value or failures > MOST_WORSE:
                    yield from self._gathering()
                    return
                self.trial = self.best + share * (self.trial - self.best)
            if self.closed:
                return

    def _gathering(self) -> Generator[PointQuery, Any, None]:
        """Yield queries for more and more rows until the gap is closed."""
        held: WorkingSet | None = None
        for _ in range(GATHERING_VISITS):
            point = PointQuery(self.trial.copy(), self._few, self._none if held is None else held.numbers, self.best)
            near: WorkingSet = yield point
            held = near if held is None else joined_rows(held, near)
            better = self._update(near.hinge)
            if not self.closed:
                shares = self._solve(held, point.theta, warm=True)
            if self.closed:
                return
            if better:  # rows that no longer decide may go
                held = selected_rows(held, (shares > 0.0) & (shares < 1.0))

    def _update(self, hinge: float) -> bool:
        """Take the hinges of all rows at the trial; return whether it is better than the best point so far."""
        value = 0.5 * float(self.trial[:-1] @ self.trial[:-1]) + hinge
        better = value < self.value
        if better:
            self.value, self.best = value, self.trial
        self.closed = self.gap <= (self._tol if better else max(self._tol, ENOUGH)) * self.value
        return better

    def _solve(self, near: WorkingSet, theta: Array, warm: bool) -> Array:
        """Solve the problem of rows and means, whose solution is the next trial; return the shares of the rows."""
        solution, dual = _small(near, theta, self.best, max(INNER * self._tol, min(self._tol, FINEST)), warm)
        if solution.objective > self.bound:
            self.bound, self.dual = solution.objective, dual
        self.trial = np.append(solution.coef, solution.bias)
        self.closed = self.gap <= self._tol * self.value  # where it began was good enough
        return np.concatenate(dual.near)


def _small(near: WorkingSet, theta: Array, start: Array, tol: float, warm: bool) -> tuple[Any, Dual]:
    """Return the solution of a classifier's problem of rows and means, and its multipliers over their limits."""
    used = np.flatnonzero(near.sums[:, -1] > 0.0)
    weight = np.concatenate([near.weight, near.sums[used, -1]])
    rows = np.concatenate([near.rows, near.sums[used, :-1] / near.sums[used, -1:]])
    signs = np.concatenate([near.signs, np.where(used >= len(near.sums) // 2, 1, -1).astype(np.int8)])
    alpha = weight * (margins(rows, signs, start) > 0.0) if warm else None
    solve = partial(solve_linear_svm, rows, signs.astype(float), weight, alpha=alpha, coef=start[:-1], bias=start[-1])
    solution = solve(tol=tol)
    if not solution.converged:  # rounding came first; on the way there it has been nearer
        solution = min(solution, solve(tol=max(tol, INNER * ENOUGH)), key=lambda each: each.gap)
    shares, groups = solution.alpha / weight, np.zeros(len(near.sums))
    groups[used] = shares[len(near.rows) :]
    own = np.split(shares[: len(near.rows)], ends(near.numbers))
    return solution, Dual(theta, near.numbers, tuple(own), groups)


def _shorter(theta: Array, direction: Array, hinges: Array) -> tuple[float, float]:
    """Return the share of `SHORTER` at which E is least along a direction, and E there."""
    w = theta[:-1] + SHORTER[:, None] * direction[:-1]
    values = 0.5 * (w**2).sum(axis=1) + hinges
    return float(SHORTER[np.argmin(values)]), float(values.min())
