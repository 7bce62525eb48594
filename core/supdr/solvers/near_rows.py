"""Linear support vector machines on rows in partitions: the rows near their margin decide, and those are few.

    E(theta) = 1/2 |w|^2 + sum_i C_i max(0, t_i),     t_i = 1 - y_i (w'z_i + b)

A partition sends its rows with the least |t| as they are, and all others as means of groups: by their sign, by the side
of the margin that they lie on, and by how far.  As the hinge is convex, the mean of a group with the weight of all of it
costs no more than the group.  So the problem of rows and means is a lower bound of E everywhere, and the same as E
while no group crosses its margin.  Its dual is that of all rows with one multiplier a group.  At its solution the next
rows are chosen; E there and the dual meet after a few visits, whatever the number of rows.

The bound by convexity is that of bundle methods (C. Teo, S. Vishwanathan, A. Smola, Q. Le, JMLR 11, 2010), with rows
and means in place of planes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.rows.partitions import Partitions, listed, spread, total
from supdr.solvers._near_kernels import grouped, margins, shared_out
from supdr.solvers.linear_svm import solve_linear_svm

Array = NDArray[np.float64]

NEAR_ROWS = 8192
"""Rows of all partitions together that a classifier sees one by one in a visit."""

VISITS = 12
"""At most so many."""

INNER = 0.1
"""Share of the tolerance to which the small problems are solved."""


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


class Dual(NamedTuple):
    """Multipliers over their limits, of all rows: one each near the margin, as it was at a point, and one a group.

    Attributes
    ----------
    at : array of shape (d + 1,)
    near : tuple of arrays
        Of each partition.
    groups : array of shape (G,)
    """

    at: Array
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
        Whether they are within the tolerance.
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

    Returns
    -------
    Approached
    """
    quota = max(1, NEAR_ROWS // len(Z))
    trial, best = start.copy(), start.copy()
    value, bound = np.full(len(start), np.inf), np.full(len(start), -np.inf)
    duals: dict[int, Dual] = {}
    wanted, visits = list(range(len(start))), 0
    while wanted and visits < VISITS:
        checkpoint()
        visits += 1
        for k, near in total(_near, Z, columns, C, {k: trial[k] for k in wanted}, quota, add=_joined).items():
            there = 0.5 * float(trial[k, :-1] @ trial[k, :-1]) + near.hinge
            better = there < value[k]
            if better:
                value[k], best[k] = there, trial[k]
            if value[k] - bound[k] <= tol * value[k]:
                wanted.remove(k)
                continue
            solution, dual = _small(near, trial[k], INNER * tol, warm=visits > 1)
            if solution.objective > bound[k]:
                bound[k], duals[k] = solution.objective, dual
            # The rows chosen here say little of where E is lower if groups have crossed their margin on the way.
            trial[k] = np.append(solution.coef, solution.bias) if better else 0.5 * (best[k] + trial[k])
        if known is not None and wanted:
            known(trial)
    own = listed([duals[k].of(number) for k in range(len(start))] for number in range(len(Z)))
    centres = spread(_centres, Z, columns, own, quota)
    return Approached(best, centres, value - bound, not wanted, visits)


def _small(near: Near, theta: Array, tol: float, warm: bool) -> tuple[Any, Dual]:
    """Return the solution of the problem of rows and means, and its multipliers over their limits."""
    used = np.flatnonzero(near.sums[:, -1] > 0.0)
    weight = np.concatenate([near.weight, near.sums[used, -1]])
    rows = np.concatenate([near.rows, near.sums[used, :-1] / near.sums[used, -1:]])
    signs = np.concatenate([near.signs, np.where(used >= len(near.sums) // 2, 1, -1)]).astype(float)
    above = 1.0 - signs * (rows @ theta[:-1] + theta[-1]) > 0.0
    alpha = weight * above if warm else None
    solution = solve_linear_svm(rows, signs, weight, tol=tol, alpha=alpha, coef=theta[:-1], bias=theta[-1])
    shares, groups = solution.alpha / weight, np.zeros(len(near.sums))
    groups[used] = shares[len(near.rows) :]
    return solution, Dual(theta.copy(), tuple(np.split(shares[: len(near.rows)], np.cumsum(near.counts)[:-1])), groups)


# --- on a partition -----------------------------------------------------------------------------------------------


def _nearest(t: Array, quota: int) -> NDArray[np.intp]:
    """Return the numbers of the rows nearest to their margin, rising; t is infinite where a row has no sign."""
    count = min(quota, int(np.isfinite(t).sum()))
    if count == len(t):
        return np.arange(len(t))
    return np.sort(np.argpartition(np.abs(t), count)[:count])


def _near(Z: Array, columns: NDArray[np.int8], C: Array, points: dict[int, Array], quota: int) -> dict[int, Near]:
    """Return what this partition says of each classifier at a point."""
    found = {}
    for k, theta in points.items():
        t = margins(Z, columns[k], theta)
        near = _nearest(t, quota)
        apart = np.zeros(len(t), dtype=bool)
        apart[near] = True
        found[k] = Near(Z[near], columns[k][near], C[near], *grouped(Z, columns[k], C, t, apart), (len(near),))
    return found


def _joined(parts: list[dict[int, Near]]) -> dict[int, Near]:
    """Return what several partitions say together."""
    return {
        k: Near(
            *(np.concatenate([getattr(part[k], name) for part in parts]) for name in ("rows", "signs", "weight")),
            np.sum([part[k].sums for part in parts], axis=0),
            sum(part[k].hinge for part in parts),
            sum((part[k].counts for part in parts), ()),
        )
        for k in parts[0]
    }


def _centres(Z: Array, columns: NDArray[np.int8], duals: list[Dual], quota: int) -> list[Array]:
    """Return the multipliers over their limits of every row."""
    found = []
    for signs, dual in zip(columns, duals):
        t = margins(Z, signs, dual.at)
        shares = shared_out(signs, t, dual.groups)
        shares[_nearest(t, quota)] = dual.near[0]
        found.append(shares)
    return found
