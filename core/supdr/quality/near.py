"""The nearest rows of each row, in the input and on the map.

Equal distances: rows that tie for the last place among a row's k neighbours count as neighbours with equal shares, so
that the order of the rows does not matter.  The rank of a row in the other space is one more than the number of rows
that are strictly nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

# Fills a list of neighbours behind its last one.
NO_ROW = -1

# Squared distances that differ by less, relatively, are equal: the order in which columns are summed changes them.
ROUNDING = 1e-10

# Number of distances in memory at a time.
BATCH = 1 << 20


class Near(NamedTuple):
    """Squared distances (b, n) of some rows, that of the k-th neighbour (b, 1), and the share of its ties (b, 1)."""

    distance: NDArray
    reach: NDArray
    share: NDArray

    @property
    def members(self) -> NDArray:
        """Whether each row is at most as far as the k-th neighbour, (b, n)."""
        return self.distance <= self.reach * (1 + ROUNDING)

    def weights(self, row: NDArray, other: NDArray) -> NDArray:
        """Return the shares with which members, given by pairs of numbers, count as neighbours."""
        return np.where(self.distance[row, other] < self.reach[row, 0] * (1 - ROUNDING), 1.0, self.share[row, 0])

    def ranks(self, row: NDArray, other: NDArray) -> NDArray:
        """Return the ranks of rows by distance, given by pairs of numbers in the order of `row`; the nearest has 1."""
        ranks, ends = np.empty(len(row)), np.searchsorted(row, np.arange(len(self.distance) + 1))
        for place in np.unique(row):
            some = slice(ends[place], ends[place + 1])
            distance = self.distance[place]
            ranks[some] = np.searchsorted(np.sort(distance), distance[other[some]] * (1 - ROUNDING)) + 1
        return ranks


def near(X: NDArray, rows: NDArray, k: int) -> Near:
    """Return the neighbours of rows; the distances are not expanded, so that copies of a row have distance 0."""
    distance = cdist(X[rows], X, "sqeuclidean")
    distance[np.arange(len(rows)), rows] = np.inf
    return nearest_of(distance, k)


def nearest_of(distance: NDArray, k: int) -> Near:
    """Return the k neighbours of rows by their squared distances (b, n) to all rows, infinite to themselves."""
    reach = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    nearer = (distance < reach * (1 - ROUNDING)).sum(axis=1)
    reached = (distance <= reach * (1 + ROUNDING)).sum(axis=1)
    return Near(distance, reach, ((k - nearer) / (reached - nearer))[:, None])


def batches(
    X: NDArray, Z: NDArray, rows: NDArray, k: int, batch: int | None = None
) -> Iterator[tuple[slice, Near, Near]]:
    """Yield the neighbours of rows in the input and on the map in batches, in memory O(n)."""
    for some in gen_batches(len(rows), batch or max(1, BATCH // len(X))) if len(rows) else ():
        yield some, near(X, rows[some], k), near(Z, rows[some], k)


def excess_ranks(members: Near, judge: Near, k: int) -> NDArray:
    """Return, for each row, the sum over its neighbours of the excess over k of their rank by another distance."""
    row, other = np.nonzero(members.members & ~judge.members)
    excess = (judge.ranks(row, other) - k) * members.weights(row, other)
    return np.bincount(row, excess, minlength=len(members.distance))


def shared(first: Near, second: Near) -> NDArray:
    """Count the neighbours of each row by both distances; of two shares of a tie the smaller one counts."""
    row, other = np.nonzero(first.members & second.members)
    both = np.minimum(first.weights(row, other), second.weights(row, other))
    return np.bincount(row, both, minlength=len(first.distance))


def only_in_first(first: Near, second: Near, k: int) -> NDArray:
    """Return the neighbours by one distance that are none by another, (b, k), padded with `NO_ROW`."""
    only = np.full((len(first.distance), k), NO_ROW)
    for place, members in enumerate(first.members):
        nearest = np.flatnonzero(members)
        nearest = nearest[np.argsort(first.distance[place, nearest], kind="stable")][:k]
        others = nearest[second.distance[place, nearest] > second.reach[place] * (1 + ROUNDING)]
        only[place, : len(others)] = others
    return only
