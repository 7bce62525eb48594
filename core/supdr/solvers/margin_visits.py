"""Per-partition part of the distributed SVM: sums and margin rows.  See `supdr.solvers.margin_working_set`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.solvers._margin_kernels import cells, grouped, hinges_along, margins, shared_out

Array = NDArray[np.float64]
Numbers = NDArray[np.int32]

# Shares of a way to a trial that was worse.
SHORTER: Array = 0.5 ** np.arange(0.5, 12.5, 0.5)


class WorkingSet(NamedTuple):
    """Rows and group means that bound one classifier's objective from below, at a point.

    rows (m, d): rows nearest to the margin, and those kept from earlier visits.
    signs (m,).
    weight (m,).
    sums (G, d + 1): weighted sums of the other rows by group, and their weights.
    hinge: sum of the hinges of all rows.
    numbers: numbers of the rows within each of the partitions.
    """

    rows: Array
    signs: NDArray[np.int8]
    weight: Array
    sums: Array
    hinge: float
    numbers: tuple[Numbers, ...]


class PointQuery(NamedTuple):
    """Query for a classifier's `WorkingSet` at a point.

    theta (d + 1,).
    quota: rows that a partition sends: those nearest to the margin.
    held: rows of each partition that were sent before, which belong to no group and are not sent again.
    anchor (d + 1,): a partition sends as many more of the rows that are on the other side of their margin there.
    """

    theta: Array
    quota: int
    held: tuple[Numbers, ...]
    anchor: Array | None = None

    def of(self, partition: int) -> PointQuery:
        """Return the query to one partition."""
        return self._replace(held=(self.held[partition],))


class LineQuery(NamedTuple):
    """Query for the sums of hinges at `SHORTER` shares of the way from the best point to a trial that was worse."""

    theta: Array
    direction: Array

    def of(self, _partition: int) -> LineQuery:
        """Return the query to one partition, the same for all."""
        return self


class Dual(NamedTuple):
    """Multipliers of all rows as shares of their limits: one of each row of a working set, and one of each group.

    theta (d + 1,): the point of the working set.
    numbers: rows of each partition in the working set.
    near: their shares.
    groups (G,): shares of the groups.
    """

    theta: Array
    numbers: tuple[Numbers, ...]
    near: tuple[Array, ...]
    groups: Array

    def of(self, partition: int) -> Dual:
        """Return the shares of one partition."""
        return self._replace(numbers=(self.numbers[partition],), near=(self.near[partition],))


def ends(numbers: tuple[Numbers, ...]) -> NDArray[np.intp]:
    """Return where the rows of one partition end and those of the next begin."""
    return np.cumsum([len(each) for each in numbers])[:-1]


def joined_rows(held: WorkingSet, new: WorkingSet) -> WorkingSet:
    """Return the rows of two working sets, by partition, with the groups of the second."""
    order = np.argsort(np.concatenate([_homes(held), _homes(new)]), kind="stable")
    numbers = tuple(np.concatenate(pair) for pair in zip(held.numbers, new.numbers))
    return new._replace(
        rows=np.concatenate([held.rows, new.rows])[order],
        signs=np.concatenate([held.signs, new.signs])[order],
        weight=np.concatenate([held.weight, new.weight])[order],
        numbers=numbers,
    )


def selected_rows(held: WorkingSet, chosen: NDArray[np.bool_]) -> WorkingSet:
    """Return a working set with the chosen rows only."""
    parts = np.split(chosen, ends(held.numbers))
    numbers = tuple(each[part] for each, part in zip(held.numbers, parts))
    return held._replace(rows=held.rows[chosen], signs=held.signs[chosen], weight=held.weight[chosen], numbers=numbers)


def _homes(near: WorkingSet) -> NDArray[np.intp]:
    """Return the partition of each row."""
    return np.repeat(np.arange(len(near.numbers)), [len(each) for each in near.numbers])


# --- on a partition -----------------------------------------------------------------------------------------------


def _nearest(t: Array, quota: int) -> NDArray[np.intp]:
    """Return the numbers of the rows nearest to their margin, rising; t is infinite where a row has no sign."""
    count = min(quota, int(np.isfinite(t).sum()))
    if count == len(t):
        return np.arange(len(t))
    return np.sort(np.argpartition(np.abs(t), count)[:count])


def _crossing(t: Array, before: Array, quota: int) -> NDArray[np.intp]:
    """Return the numbers of the rows that lie furthest on the other side of their margin than before."""
    far = np.where(np.isfinite(t) & ((t > 0.0) != (before > 0.0)), np.abs(t), 0.0)
    count = min(quota, int((far > 0.0).sum()))
    return np.argpartition(-far, count)[:count] if count < len(t) else np.arange(len(t))


def moments_of(Z: Array) -> tuple[int, Array, Array]:
    """Return the number of rows (n, d), their sum and that of their squares, (d,)."""
    return len(Z), Z.sum(axis=0), (Z**2).sum(axis=0)


def query_results(
    Z: Array,
    columns: NDArray[np.int8],
    C: Array,
    cell: NDArray[np.int16],
    queries: dict[int, PointQuery | LineQuery],
) -> dict[int, WorkingSet | Array]:
    """Return this partition's working set, or sums of hinges, for the query of each classifier."""
    results: dict[int, WorkingSet | Array] = {}
    for k, query in queries.items():
        if isinstance(query, LineQuery):
            theta, direction = (np.array(each) for each in query)
            results[k] = hinges_along(Z, columns[k], C, theta, direction, SHORTER)
        else:
            results[k] = working_set(Z, columns[k], C, cell, query)
    return results


def row_cells(Z: Array, middle: Array, unit: Array) -> NDArray[np.int16]:
    """Return the cell of each row (n, d), of those around the middle in the given units."""
    return cells(Z, np.array(middle), np.array(unit))


def working_set(Z: Array, signs: NDArray[np.int8], C: Array, cell: NDArray[np.int16], point: PointQuery) -> WorkingSet:
    """Return this partition's working set of a classifier at a point."""
    t = margins(Z, signs, np.array(point.theta))
    held = point.held[0]
    new = t.copy()
    new[held] = np.inf
    near = _nearest(new, point.quota)
    if point.anchor is not None:
        new[near] = np.inf
        crossing = _crossing(new, margins(Z, signs, np.array(point.anchor)), point.quota)
        near = np.sort(np.concatenate([near, crossing]))
    apart = np.zeros(len(t), dtype=bool)
    apart[held] = apart[near] = True
    return WorkingSet(Z[near], signs[near], C[near], *grouped(Z, signs, C, t, cell, apart), (near.astype(np.int32),))


def joined(parts: list[dict[int, Any]]) -> dict[int, Any]:
    """Return the results of several partitions as one, by classifier."""
    return {k: _together([part[k] for part in parts]) for k in parts[0]}


def _together(parts: list[Any]) -> Any:
    if not isinstance(parts[0], WorkingSet):
        return np.sum(parts, axis=0)
    rows, signs, weight, sums, hinges, numbers = zip(*parts)
    return WorkingSet(
        np.concatenate(rows),
        np.concatenate(signs),
        np.concatenate(weight),
        np.sum(sums, axis=0),
        sum(hinges),
        sum(numbers, ()),
    )


def shares_of_rows(Z: Array, columns: NDArray[np.int8], cell: NDArray[np.int16], duals: list[Dual]) -> list[Array]:
    """Return the multipliers of every row as shares of their limits, a list entry a classifier."""
    result = []
    for signs, dual in zip(columns, duals):
        shares = shared_out(signs, margins(Z, signs, np.array(dual.theta)), cell, np.array(dual.groups))
        shares[dual.numbers[0]] = dual.near[0]
        result.append(shares)
    return result
