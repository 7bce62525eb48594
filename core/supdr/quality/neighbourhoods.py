"""Preservation of neighbours on a map.

With N_i the k nearest rows of row i in the input, M_i those on the map, r and s the ranks of rows by their distance
from i in the input and on the map:

    trustworthiness  1 - c sum_i sum_{j in M_i} max(0, r_ij - k)      false neighbours, by their rank in the input
    continuity       1 - c sum_i sum_{j in N_i} max(0, s_ij - k)      lost neighbours, by their rank on the map
    overlap          sum_i |N_i and M_i| / nk

    c = 2 / (n k (2n - 3k - 1))

A measure is the mean of the same measure of every row, so a sample of rows estimates it without bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.docstrings import with_entries_of
from supdr.quality.checking import check_map, check_neighbors, row_numbers, sampled_rows
from supdr.quality.near import batches, excess_ranks, only_in_first, shared


class ChangedNeighbours(NamedTuple):
    """Lost and false neighbours of the rows of a map.

    Attributes
    ----------
    lost : int array of shape (m, n_neighbors)
        Near in the input and far on the map, the nearest in the input first; -1 behind the last one.
    false : int array of shape (m, n_neighbors)
        Near on the map and far in the input, the nearest on the map first; -1 behind the last one.
    """

    lost: NDArray
    false: NDArray


def row_trustworthiness(X: Any, Z: Any, *, n_neighbors: int = 10, rows: Any = None) -> NDArray:
    """Return the trustworthiness of each row: its neighbours on the map are near in the input.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their positions on the map.
    n_neighbors : int, default=10
        k, less than n / 2.
    rows : int array of shape (m,), optional
        Numbers of the rows to measure; all rows can be neighbours.  None: all.

    Returns
    -------
    array of shape (m,)
        In [0, 1]; 1: no neighbour on the map is false.
    """
    return row_measures(X, Z, n_neighbors, rows)[:, 0]


@with_entries_of(row_trustworthiness)
def row_continuity(X: Any, Z: Any, *, n_neighbors: int = 10, rows: Any = None) -> NDArray:
    """Return the continuity of each row: its neighbours in the input are near on the map.

    Parameters
    ----------
    X, Z, n_neighbors, rows
        As in `row_trustworthiness`.

    Returns
    -------
    array of shape (m,)
        In [0, 1]; 1: no neighbour is lost.
    """
    return row_measures(X, Z, n_neighbors, rows)[:, 1]


@with_entries_of(row_trustworthiness)
def row_neighbourhood_overlap(X: Any, Z: Any, *, n_neighbors: int = 10, rows: Any = None) -> NDArray:
    """Return the share of its neighbours in the input that each row also has on the map.

    Parameters
    ----------
    X, Z, n_neighbors, rows
        As in `row_trustworthiness`.

    Returns
    -------
    array of shape (m,)
        In [0, 1].
    """
    return row_measures(X, Z, n_neighbors, rows)[:, 2]


@with_entries_of(row_trustworthiness)
def trustworthiness(
    X: Any, Z: Any, *, n_neighbors: int = 10, sample_size: int | None = None, random_state: Any = 0
) -> float:
    """Return the mean of `row_trustworthiness`: 1 where all neighbours on the map are neighbours in the input.

    The same as `sklearn.manifold.trustworthiness` where no two distances are equal, in memory that grows with n only.

    Parameters
    ----------
    X, Z, n_neighbors
        As in `row_trustworthiness`.
    sample_size : int, optional
        Number of rows to measure, drawn at random; all rows can be neighbours.  None: all of up to 5,000 rows, else
        1,000.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    float
    """
    return _mean_measure(X, Z, n_neighbors, sample_size, random_state, 0)


@with_entries_of(trustworthiness)
def continuity(
    X: Any, Z: Any, *, n_neighbors: int = 10, sample_size: int | None = None, random_state: Any = 0
) -> float:
    """Return the mean of `row_continuity`: trustworthiness with input and map exchanged.

    Parameters
    ----------
    X, Z, n_neighbors, sample_size, random_state
        As in `trustworthiness`.

    Returns
    -------
    float
    """
    return _mean_measure(X, Z, n_neighbors, sample_size, random_state, 1)


@with_entries_of(trustworthiness)
def neighbourhood_overlap(
    X: Any, Z: Any, *, n_neighbors: int = 10, sample_size: int | None = None, random_state: Any = 0
) -> float:
    """Return the mean of `row_neighbourhood_overlap`: k / (n - 1) for a map at random.

    Parameters
    ----------
    X, Z, n_neighbors, sample_size, random_state
        As in `trustworthiness`.

    Returns
    -------
    float
    """
    return _mean_measure(X, Z, n_neighbors, sample_size, random_state, 2)


@with_entries_of(row_trustworthiness)
def changed_neighbours(X: Any, Z: Any, *, n_neighbors: int = 10, rows: Any = None) -> ChangedNeighbours:
    """Return the lost and the false neighbours of rows.

    Of equally distant rows the first ones count as neighbours; a row at the distance of the farthest neighbour is
    neither lost nor false.

    Parameters
    ----------
    X, Z, n_neighbors, rows
        As in `row_trustworthiness`.

    Returns
    -------
    ChangedNeighbours
    """
    parts = [changed for _, _, changed in row_batches(X, Z, n_neighbors=n_neighbors, rows=rows)]
    if not parts:
        return ChangedNeighbours(*(np.empty((0, n_neighbors), dtype=int) for _ in range(2)))
    return ChangedNeighbours(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@with_entries_of(row_trustworthiness)
def row_batches(
    X: Any, Z: Any, *, n_neighbors: int = 10, rows: Any = None, batch: int | None = None
) -> Iterator[tuple[slice, NDArray, ChangedNeighbours]]:
    """Yield all measures of the neighbours of rows in batches.

    Parameters
    ----------
    X, Z, n_neighbors, rows
        As in `row_trustworthiness`.
    batch : int, optional
        Number of rows at a time.  None: as many as fit into 8 MB of distances.

    Yields
    ------
    some : slice
        Positions of the batch among the rows.
    measures : array of shape (b, 3)
        Their trustworthiness, continuity and overlap.
    changed : ChangedNeighbours
    """
    X, Z = check_map(X, Z)
    check_neighbors(n_neighbors, len(X))
    numbers, k = row_numbers(rows, len(X)), n_neighbors
    most = 0.5 * k * (2 * len(X) - 3 * k - 1)  # all neighbours are the farthest rows
    for some, in_input, on_map in batches(X, Z, numbers, k, batch):
        false, lost = excess_ranks(on_map, in_input, k), excess_ranks(in_input, on_map, k)
        measures = np.column_stack([1.0 - false / most, 1.0 - lost / most, shared(in_input, on_map) / k])
        changed = ChangedNeighbours(only_in_first(in_input, on_map, k), only_in_first(on_map, in_input, k))
        yield some, measures, changed


def row_measures(X: Any, Z: Any, n_neighbors: int, rows: Any) -> NDArray:
    """Return trustworthiness, continuity and overlap of rows, (m, 3)."""
    parts = (measures for _, measures, _ in row_batches(X, Z, n_neighbors=n_neighbors, rows=rows))
    return np.concatenate([np.empty((0, 3)), *parts])


def _mean_measure(X: Any, Z: Any, n_neighbors: int, sample_size: int | None, random_state: Any, measure: int) -> float:
    """Return the mean over a sample of rows of one column of `row_measures`."""
    X, Z = check_map(X, Z)
    rows = sampled_rows(len(X), sample_size, random_state)
    return float(row_measures(X, Z, n_neighbors, rows)[:, measure].mean())
