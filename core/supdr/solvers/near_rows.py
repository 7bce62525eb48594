"""Linear support vector machines on rows in partitions: the rows near their margin decide, and those are few.

    E(theta) = 1/2 |w|^2 + sum_i C_i max(0, t_i),     t_i = 1 - y_i (w'z_i + b)

A partition sends its rows with the least |t| as they are, and all others as means of groups: by their sign, by the side
of the margin that they lie on, and by the cell of the space.  As the hinge is convex, the mean of a group with the
weight of all of it costs no more than the group.  So the problem of rows and means is a lower bound of E everywhere,
and the same as E while no group crosses its margin.  Its dual is that of all rows with one multiplier a group.  At its
solution the next rows are chosen; E there and the dual meet after a few visits, whatever the number of rows.

The bound by convexity is that of bundle methods (C. Teo, S. Vishwanathan, A. Smola, Q. Le, JMLR 11, 2010), with rows
and means in place of planes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.rows.partitions import Partitions, listed, spread, total
from supdr.rows.whole import added
from supdr.solvers._near_kernels import cells, grouped, hinges_along, margins, shared_out
from supdr.solvers.linear_svm import map_threads, solve_linear_svm

Array = NDArray[np.float64]

NEAR_ROWS = 8192
"""Rows of all partitions together that a classifier sees one by one in a visit."""

VISITS = 16
"""At most so many."""

MOST_WORSE = 4
"""Worse trials of a classifier, after which these rows are known to be too few: groups cross their margin."""

MORE_ROWS = 4
"""Times as many rows a classifier sees after a worse trial: between two trials more of them cross their margin."""

ENOUGH = 1e-6
"""Relative gap at which a classifier is left whose next trial is no better: rounding or groups keep it open."""

SHORTER: Array = 0.5 ** np.arange(0.5, 12.5, 0.5)
"""Shares of a way to a trial that was worse."""

INNER, FINEST = 0.1, 1e-10
"""Share of the tolerance to which the small problems are solved, and where rounding makes less of it useless."""


class Near(NamedTuple):
    """What partitions say of one classifier at a point.

    Attributes
    ----------
    rows : array of shape (m, d)
        Those near the margin.
    signs : int8 array of shape (m,)
    weight : array of shape (m,)
    sums : array of shape (G, d + 1)
        Weighted sums of the other rows by group, and their weights.
    hinge : float
        Sum of the hinges of all rows.
    counts : tuple of int
        Rows near the margin of each of the partitions.
    """

    rows: Array
    signs: NDArray[np.int8]
    weight: Array
    sums: Array
    hinge: float
    counts: tuple[int, ...]


class Point(NamedTuple):
    """What is asked of a classifier at a point: see `Near`.

    Attributes
    ----------
    theta : array of shape (d + 1,)
    quota : int
        Rows of a partition that come one by one.
    """

    theta: Array
    quota: int


class Line(NamedTuple):
    """What is asked where a trial is worse than the best point: the hinges at `SHORTER` ways from there to it.

    Attributes
    ----------
    theta, direction : arrays of shape (d + 1,)
    """

    theta: Array
    direction: Array


class Dual(NamedTuple):
    """Multipliers over their limits, of all rows: one each near the margin, as it was at a point, and one a group.

    Attributes
    ----------
    at : Point
    near : tuple of arrays
        Of each partition.
    groups : array of shape (G,)
    """

    at: Point
    near: tuple[Array, ...]
    groups: Array

    def of(self, partition: int) -> Dual:
        """Return what concerns one partition."""
        return self._replace(near=(self.near[partition],))


class Approached(NamedTuple):
    """Where the classifiers stand.

    Attributes
    ----------
    theta : array of shape (P, d + 1)
        Coefficients and, last, the bias.
    centres : Partitions of lists of arrays of shape (n,)
        Multipliers over their limits, a list entry a classifier: feasible.
    gaps : array of shape (P,)
        Value at theta less that of the multipliers.
    closed : bool
        Whether they are within the tolerance, or no trial was better within `ENOUGH`.
    visits : int
    """

    theta: Array
    centres: Partitions
    gaps: Array
    closed: bool
    visits: int


def approached(
    Z: Partitions,
    columns: Partitions,
    C: Partitions,
    start: Array,
    tol: float,
    known: Callable[[Array], Any] | None = None,
    moments: tuple[int, Array, Array] | None = None,
) -> Approached:
    """Bring classifiers to their optimum, or near to it.

    Parameters
    ----------
    Z : Partitions of arrays of shape (n, d)
        Rows.
    columns : Partitions of int8 arrays of shape (P, n)
        Signs; 0 for a row that is not part of a classifier's problem.
    C : Partitions of arrays of shape (n,)
        Weight of the hinge.
    start : array of shape (P, d + 1)
        Coefficients and biases to begin at.
    tol : float
        Relative duality gap.
    known : callable, optional
        ``known(theta)`` is told of the classifiers after every visit.
    moments : tuple, optional
        The sum of `moments_of` over the partitions, where it is known: that saves a visit.

    Returns
    -------
    Approached
    """
    few = max(1, NEAR_ROWS // len(Z))
    count, sums, squares = total(moments_of, Z, add=added) if moments is None else moments
    middle = sums / count
    unit = np.sqrt(np.maximum(squares / count - middle**2, np.finfo(float).tiny))
    cell = spread(_cells, Z, middle, unit)
    trial, best = start.copy(), start.copy()
    value, bound = np.full(len(start), np.inf), np.full(len(start), -np.inf)
    duals: dict[int, Dual] = {}
    wanted, worse, visits, failures = list(range(len(start))), set[int](), 0, np.zeros(len(start), dtype=int)
    while wanted and visits < VISITS and failures.max() <= MOST_WORSE:
        checkpoint()
        visits += 1
        points = {k: Point(trial[k].copy(), few * (MORE_ROWS if failures[k] else 1)) for k in wanted}
        questions = {k: Line(best[k], trial[k] - best[k]) if k in worse else points[k] for k in wanted}
        answers = total(_answers, Z, columns, C, cell, questions, add=_joined)
        better = []
        for k, found in answers.items():
            if k in worse:
                worse.remove(k)
                trial[k] = best[k] + _shorter(best[k], trial[k] - best[k], found) * (trial[k] - best[k])
                continue
            there = 0.5 * float(trial[k, :-1] @ trial[k, :-1]) + found.hinge
            if there >= value[k]:
                if value[k] - bound[k] <= max(tol, ENOUGH) * value[k]:
                    wanted.remove(k)
                else:
                    worse.add(k)
                    failures[k] += 1
                continue
            value[k], best[k] = there, trial[k]
            if value[k] - bound[k] > tol * value[k]:
                better.append(k)
            else:
                wanted.remove(k)
        small = partial(_small, answers, points, max(INNER * tol, min(tol, FINEST)), visits > 1)
        for k, (solution, dual) in zip(better, map_threads(small, better, -1)):  # the workers have nothing to do now
            if solution.objective > bound[k]:
                bound[k], duals[k] = solution.objective, dual
            trial[k] = np.append(solution.coef, solution.bias)
            if value[k] - bound[k] <= tol * value[k]:  # where it began was good enough
                wanted.remove(k)
        if known is not None and wanted:
            known(trial)
    own = listed([duals[k].of(number) for k in range(len(start))] for number in range(len(Z)))
    centres = spread(_centres, Z, columns, cell, own)
    return Approached(best, centres, value - bound, not wanted, visits)


def _small(answers: dict[int, Near], points: dict[int, Point], tol: float, warm: bool, k: int) -> tuple[Any, Dual]:
    """Return the solution of a classifier's problem of rows and means, and its multipliers over their limits."""
    near, theta = answers[k], points[k].theta
    used = np.flatnonzero(near.sums[:, -1] > 0.0)
    weight = np.concatenate([near.weight, near.sums[used, -1]])
    rows = np.concatenate([near.rows, near.sums[used, :-1] / near.sums[used, -1:]])
    signs = np.concatenate([near.signs, np.where(used >= len(near.sums) // 2, 1, -1)]).astype(float)
    above = 1.0 - signs * (rows @ theta[:-1] + theta[-1]) > 0.0
    alpha = weight * above if warm else None
    solve = partial(solve_linear_svm, rows, signs, weight, alpha=alpha, coef=theta[:-1], bias=theta[-1])
    solution = solve(tol=tol)
    if not solution.converged:  # rounding came first; on the way there it has been nearer
        solution = min(solution, solve(tol=max(tol, INNER * ENOUGH)), key=lambda each: each.gap)
    shares, groups = solution.alpha / weight, np.zeros(len(near.sums))
    groups[used] = shares[len(near.rows) :]
    return solution, Dual(points[k], tuple(np.split(shares[: len(near.rows)], np.cumsum(near.counts)[:-1])), groups)


def _shorter(theta: Array, direction: Array, hinges: Array) -> float:
    """Return the share of a direction at which E is least, of those that were looked at."""
    w = theta[:-1] + SHORTER[:, None] * direction[:-1]
    return float(SHORTER[np.argmin(0.5 * (w**2).sum(axis=1) + hinges)])


# --- on a partition -----------------------------------------------------------------------------------------------


def _nearest(t: Array, quota: int) -> NDArray[np.intp]:
    """Return the numbers of the rows nearest to their margin, rising; t is infinite where a row has no sign."""
    count = min(quota, int(np.isfinite(t).sum()))
    if count == len(t):
        return np.arange(len(t))
    return np.sort(np.argpartition(np.abs(t), count)[:count])


def moments_of(Z: Array) -> tuple[int, Array, Array]:
    """Return the number of rows (n, d), their sum and that of their squares, (d,)."""
    return len(Z), Z.sum(axis=0), (Z**2).sum(axis=0)


def _answers(
    Z: Array,
    columns: NDArray[np.int8],
    C: Array,
    cell: NDArray[np.int16],
    questions: dict[int, Point | Line],
) -> dict[int, Near | Array]:
    """Return what this partition says of each classifier."""
    found: dict[int, Near | Array] = {}
    for k, asked in questions.items():
        if isinstance(asked, Line):
            theta, direction = (np.array(each) for each in asked)
            found[k] = hinges_along(Z, columns[k], C, theta, direction, SHORTER)
        else:
            found[k] = _near(Z, columns[k], C, cell, np.array(asked.theta), asked.quota)
    return found


def _cells(Z: Array, middle: Array, unit: Array) -> NDArray[np.int16]:
    return cells(Z, np.array(middle), np.array(unit))


def _near(Z: Array, signs: NDArray[np.int8], C: Array, cell: NDArray[np.int16], theta: Array, quota: int) -> Near:
    """Return what this partition says of a classifier at a point."""
    t = margins(Z, signs, theta)
    near = _nearest(t, quota)
    apart = np.zeros(len(t), dtype=bool)
    apart[near] = True
    return Near(Z[near], signs[near], C[near], *grouped(Z, signs, C, t, cell, apart), (len(near),))


def _joined(parts: list[dict[int, Any]]) -> dict[int, Any]:
    """Return what several partitions say together."""
    return {k: _together([part[k] for part in parts]) for k in parts[0]}


def _together(parts: list[Any]) -> Any:
    if not isinstance(parts[0], Near):
        return np.sum(parts, axis=0)
    rows, signs, weight, sums, hinges, counts = zip(*parts)
    return Near(
        np.concatenate(rows),
        np.concatenate(signs),
        np.concatenate(weight),
        np.sum(sums, axis=0),
        sum(hinges),
        sum(counts, ()),
    )


def _centres(Z: Array, columns: NDArray[np.int8], cell: NDArray[np.int16], duals: list[Dual]) -> list[Array]:
    """Return the multipliers over their limits of every row."""
    found = []
    for signs, dual in zip(columns, duals):
        t = margins(Z, signs, np.array(dual.at.theta))
        shares = shared_out(signs, t, cell, np.array(dual.groups))
        shares[_nearest(t, dual.at.quota)] = dual.near[0]
        found.append(shares)
    return found
