"""Preservation of distances between rows and between classes, by rank, since a map has no unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import rankdata
from sklearn.utils import check_random_state, gen_batches

from supdr.engine.checks import check_integer, check_seed
from supdr.engine.docstrings import with_entries_of
from supdr.quality.checking import MOST_EXACT, check_map, labelled_classes, row_numbers
from supdr.quality.near import batches

# Number of pairs drawn from more than `MOST_EXACT` rows.
PAIRS = 1_000_000

# Number of pairs whose differences are in memory at a time.
BATCH = 1 << 16


def distance_pairs(X: Any, Z: Any, *, n_pairs: int | None = None, random_state: Any = 0) -> tuple[NDArray, NDArray]:
    """Return the distances of pairs of rows, in the input and on the map: the two axes of a Shepard diagram.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their positions on the map.
    n_pairs : int, optional
        Number of pairs, each drawn at random from all pairs of different rows.  None: all pairs of up to 5,000 rows,
        else a million.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    input_distances : array of shape (p,)
        Distances in the input.
    map_distances : array of shape (p,)
        Distances on the map.
    """
    X, Z = check_map(X, Z)
    check_seed("random_state", random_state)
    if n_pairs is None and len(X) <= MOST_EXACT:
        return pdist(X), pdist(Z)
    n_pairs = PAIRS if n_pairs is None else n_pairs
    check_integer("n_pairs", n_pairs)
    rng = check_random_state(random_state)
    first = rng.randint(len(X), size=n_pairs)
    second = (first + rng.randint(1, len(X), size=n_pairs)) % len(X)
    input_distances, map_distances = np.empty(n_pairs), np.empty(n_pairs)
    for batch in gen_batches(n_pairs, BATCH):
        input_distances[batch] = np.linalg.norm(X[first[batch]] - X[second[batch]], axis=1)
        map_distances[batch] = np.linalg.norm(Z[first[batch]] - Z[second[batch]], axis=1)
    return input_distances, map_distances


@with_entries_of(distance_pairs)
def distance_correlation(X: Any, Z: Any, *, n_pairs: int | None = None, random_state: Any = 0) -> float:
    """Return Spearman's correlation of the distances of pairs in the input and on the map.

    Parameters
    ----------
    X, Z, n_pairs, random_state
        As in `distance_pairs`.

    Returns
    -------
    float
        In [-1, 1]; NaN where all distances are equal.
    """
    return rank_correlation(*distance_pairs(X, Z, n_pairs=n_pairs, random_state=random_state))


@with_entries_of(distance_pairs)
def row_distance_correlation(X: Any, Z: Any, *, rows: Any = None) -> NDArray:
    """Return Spearman's correlation of each row's distances from all others, in the input and on the map.

    Parameters
    ----------
    X, Z
        As in `distance_pairs`.
    rows : int array of shape (m,), optional
        Numbers of the rows to measure.  None: all.

    Returns
    -------
    array of shape (m,)
        In [-1, 1]; NaN where all distances are equal.
    """
    X, Z = check_map(X, Z)
    numbers = row_numbers(rows, len(X))
    correlations = np.empty(len(numbers))
    for batch, in_input, on_map in batches(X, Z, numbers, 1):
        for place, row in enumerate(numbers[batch], batch.start):
            distances = (np.delete(near.distance[place - batch.start], row) for near in (in_input, on_map))
            correlations[place] = rank_correlation(*distances)
    return correlations


@with_entries_of(distance_pairs)
def class_centre_correlation(X: Any, Z: Any, y: Any) -> float:
    """Return Spearman's correlation of the distances between class means, in the input and on the map.

    Parameters
    ----------
    X, Z
        As in `distance_pairs`.
    y : array-like of shape (n,)
        Classes; NaN and None mark unlabelled rows, which are left out.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than three classes, since two have one distance only.
    """
    X, Z = check_map(X, Z)
    labelled, labels = labelled_classes(y, len(X))
    classes, code = np.unique(labels, return_inverse=True)
    if len(classes) < 3:
        return math.nan
    members = np.eye(len(classes))[code].T / np.bincount(code)[:, None]
    return rank_correlation(pdist(members @ X[labelled]), pdist(members @ Z[labelled]))


def rank_correlation(first: NDArray, second: NDArray) -> float:
    """Return Spearman's correlation; NaN if one argument is constant."""
    # Relative to the largest: numbers that differ by rounding only are equal.
    levels = (np.round(values / (np.max(np.abs(values), initial=0.0) or 1.0), 12) for values in (first, second))
    one, two = (rankdata(values) - 0.5 * (len(values) + 1) for values in levels)
    size = math.sqrt(float(one @ one) * float(two @ two))
    return float(one @ two) / size if size > 0.0 else math.nan
