"""Linear support vector machines on rows in partitions: the rows near their margin decide, and those are few.

    E(theta) = 1/2 |w|^2 + sum_i C_i max(0, t_i),     t_i = 1 - y_i (w'z_i + b)

A partition sends its rows with the least |t| as they are, and all others as means of groups: by their sign, by the side
of the margin that they lie on, and by the cell of the space.  As the hinge is convex, the mean of a group with the
weight of all of it costs no more than the group.  So the problem of rows and means is a lower bound of E everywhere,
and the same as E while no group crosses its margin.  Its dual is that of all rows with one multiplier a group.  At its
solution the next rows are chosen; E there and the dual meet after a few visits, whatever the number of rows.

Where more rows lie on a margin than are sent (MAC's Z step puts them there), hardly any step is short enough to be
better.  Then rows are gathered: partitions also send those that a trial takes across their margin, and rows are kept
from trial to trial, if need be until all are there.

The bound by convexity is that of bundle methods (C. Teo, S. Vishwanathan, A. Smola, Q. Le, JMLR 11, 2010), with rows
and means in place of planes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.threads import map_threads
from supdr.rows.in_memory import added
from supdr.rows.partitions import Partitions, delay, from_list, persist, total
from supdr.solvers._margin_kernels import margins
from supdr.solvers.linear_svm import Heads, solve_linear_svm
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

# Relative gap at which a search ends whose next trial is no better: rounding or groups keep the gap open.
ENOUGH = 1e-6

# Share of the tolerance to which the small problems are solved, and where rounding makes less of it useless.
INNER, FINEST = 0.1, 1e-10


class Limits(NamedTuple):
    """Numbers of rows and visits of a search.

    `near_rows`: rows of all partitions together that a visit adds to the working set of a classifier.  `visits`: most
    visits before rows are gathered.  `gathering_visits`: visits in which rows are gathered and dropped again; from then
    on all are kept, and each visit brings twice as many.  `worse_trials`: most trials of a classifier that are worse
    than its best point; then rows are gathered: groups cross their margin.  `more_rows`: factor of the rows of a visit
    after a worse trial: more of them cross their margin between two trials.
    """

    near_rows: int = 4096
    visits: int = 16
    gathering_visits: int = 24
    worse_trials: int = 4
    more_rows: int = 4


def solve_distributed_svms(
    Z: Partitions,
    signs: Partitions,
    C: Partitions,
    n_heads: int,
    start: Heads | None = None,
    *,
    tol: float = 1e-6,
    observe: Callable[[Array, Array], Any] | None = None,
    moments: tuple[int, Array, Array] | None = None,
    limits: Limits | None = None,
) -> Heads:
    """Fit one SVM per column of `signs` in partitions; see `supdr.solvers.linear_svm.solve_heads`."""
    count, sums, squares = total(moments_of, Z, add=added) if moments is None else moments
    middle = sums / count
    unit = np.sqrt(np.maximum(squares / count - middle**2, np.finfo(float).tiny))
    columns, cell = persist(_columns, signs), persist(row_cells, Z, middle, unit)
    first = np.zeros((n_heads, len(middle) + 1)) if start is None else np.column_stack([start.coef, start.intercept])
    searches = [_Search(theta, len(Z), tol, limits or Limits()) for theta in first]
    running = [search.run() for search in searches]
    queries: dict[int, PointQuery | LineQuery] = {k: next(search) for k, search in enumerate(running)}
    visits = 0
    while queries:
        checkpoint()
        visits += 1
        of_parts = from_list({k: query.of(number) for k, query in queries.items()} for number in range(len(Z)))
        results = total(query_results, Z, columns, C, cell, of_parts, add=joined)
        # The workers are idle meanwhile, so that all threads may be used.
        following = map_threads(partial(_next_query, running, results), list(results), -1)
        queries = {k: query for k, query in zip(results, following) if query is not None}
        if observe is not None and queries:
            observe(*_split(search.trial for search in searches))
    shares = from_list([search.dual.of(number) for search in searches] for number in range(len(Z)))
    centres = delay(shares_of_rows, Z, columns, cell, shares)
    alpha: Any = persist(_multipliers, columns, C, centres)
    coef, intercept = _split(search.best for search in searches)
    return Heads(coef, intercept, alpha, float(sum(search.gap for search in searches)), visits)


def _split(thetas: Iterable[Array]) -> tuple[Array, Array]:
    """Return the coefficients (P, d) and biases (P,) of classifiers."""
    theta = np.array(list(thetas))
    return np.ascontiguousarray(theta[:, :-1]), theta[:, -1].copy()


def _next_query(running: list[Any], results: dict[int, Any], k: int) -> PointQuery | LineQuery | None:
    """Send a classifier's search its result; return its next query, None where it has ended."""
    try:
        return running[k].send(results[k])
    except StopIteration:
        return None


class _Search:
    """The search for one classifier's optimum over `count` partitions, to a relative duality gap."""

    dual: Dual

    def __init__(self, start: Array, count: int, tol: float, limits: Limits) -> None:
        self.best = self.trial = start.copy()
        self.value, self.bound, self.closed = np.inf, -np.inf, False
        self._few, self._tol, self._limits = max(1, limits.near_rows // count), tol, limits
        self._none = (np.empty(0, dtype=np.int32),) * count

    @property
    def gap(self) -> float:
        """The value at the best point less the bound."""
        return self.value - self.bound

    def run(self) -> Generator[PointQuery | LineQuery, Any, None]:
        """Yield queries until the gap is closed."""
        failures, visits = 0, 0
        while visits < self._limits.visits:
            point = PointQuery(self.trial.copy(), self._few * (self._limits.more_rows if failures else 1), self._none)
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
                if least >= self.value or failures > self._limits.worse_trials:
                    break
                self.trial = self.best + share * (self.trial - self.best)
            if self.closed:
                return
        yield from self._gathering()

    def _gathering(self) -> Generator[PointQuery, Any, None]:
        """Yield queries for more and more rows until the gap is closed, or all rows are there."""
        held: WorkingSet | None = None
        quota, complete = self._few, False
        for visit in itertools.count(1):
            numbers = self._none if held is None else held.numbers
            point = PointQuery(self.trial.copy(), quota, numbers, self.best)
            near: WorkingSet = yield point
            held = near if held is None else joined_rows(held, near)
            better = self._update(near.hinge)
            if not self.closed:
                shares = self._solve(held, point.theta, warm=True)
            if self.closed or (complete and not len(near.rows)):
                return
            complete = not len(near.rows)
            if visit > self._limits.gathering_visits:
                quota *= 2  # all rows are there after so many visits that their number is at most doubled
            elif better:  # rows that no longer decide may go
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
    nonempty = np.flatnonzero(near.sums[:, -1] > 0.0)
    weight = np.concatenate([near.weight, near.sums[nonempty, -1]])
    rows = np.concatenate([near.rows, near.sums[nonempty, :-1] / near.sums[nonempty, -1:]])
    signs = np.concatenate([near.signs, np.where(nonempty >= len(near.sums) // 2, 1, -1).astype(np.int8)])
    alpha = weight * (margins(rows, signs, start) > 0.0) if warm else None
    solve = partial(solve_linear_svm, rows, signs.astype(float), weight, alpha=alpha, coef=start[:-1], bias=start[-1])
    solution = solve(tol=tol)
    if not solution.converged:  # rounding came first; on the way there it has been nearer
        solution = min(solution, solve(tol=max(tol, INNER * ENOUGH)), key=lambda each: each.gap)
    shares, groups = solution.alpha / weight, np.zeros(len(near.sums))
    groups[nonempty] = shares[len(near.rows) :]
    own = np.split(shares[: len(near.rows)], ends(near.numbers))
    return solution, Dual(theta, near.numbers, tuple(own), groups)


def _shorter(theta: Array, direction: Array, hinges: Array) -> tuple[float, float]:
    """Return the share of `SHORTER` at which E is least along a direction, and E there."""
    w = theta[:-1] + SHORTER[:, None] * direction[:-1]
    values = 0.5 * (w**2).sum(axis=1) + hinges
    return float(SHORTER[np.argmin(values)]), float(values.min())


# --- on a partition ---------------------------------------------------------------------------------------------------


def _columns(signs: Array) -> NDArray[np.int8]:
    """Return the signs (P, n), small."""
    return np.ascontiguousarray(signs.T.astype(np.int8))


def _multipliers(columns: NDArray[np.int8], C: Array, centres: list[Array]) -> NDArray[np.float32]:
    """Return the multipliers (n, P) at half the memory, rounded down so that none is above C."""
    alpha = np.empty((len(C), len(columns)), np.float32)
    for k, (signs, centre) in enumerate(zip(columns, centres)):
        alpha[:, k] = C * centre * (signs != 0)
    return np.nextafter(alpha, np.float32(0.0))
