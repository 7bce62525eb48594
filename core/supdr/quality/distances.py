"""Whether a map keeps the distances, between rows and between classes: by rank, since a map has no unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import rankdata
from sklearn.utils import check_random_state, gen_batches

from supdr.engine.checks import check_integer, check_seed
from supdr.engine.targets import as_labels, missing_values, uniform_labels
from supdr.quality.checking import MOST_EXACT, check_map, chosen_rows
from supdr.quality.near import batches

# Of more rows than `MOST_EXACT`, so many pairs are looked at.
PAIRS = 1_000_000

# Pairs whose differences are held at once.
BATCH = 1 << 16


def distance_pairs(X: Any, Z: Any, *, n_pairs: int | None = None, random_state: Any = 0) -> tuple[NDArray, NDArray]:
    """Return the distances of pairs of rows, in the input and on the map: the two axes of a Shepard diagram.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their places on the map.
    n_pairs : int, optional
        How many pairs, each drawn at random from all pairs of different rows.  None: all pairs of up to 5,000 rows,
        else a million.
    random_state : int, RandomState or None, default=0
        Decides which.

    Returns
    -------
    apart : array of shape (p,)
        Distances in the input.
    away : array of shape (p,)
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
    apart, away = np.empty(n_pairs), np.empty(n_pairs)
    for some in gen_batches(n_pairs, BATCH):
        apart[some] = np.linalg.norm(X[first[some]] - X[second[some]], axis=1)
        away[some] = np.linalg.norm(Z[first[some]] - Z[second[some]], axis=1)
    return apart, away


def distance_correlation(X: Any, Z: Any, *, n_pairs: int | None = None, random_state: Any = 0) -> float:
    """Return Spearman's correlation of the distances of pairs in the input and on the map.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their places on the map.
    n_pairs : int, optional
        See `distance_pairs`.
    random_state : int, RandomState or None, default=0
        Decides which pairs.

    Returns
    -------
    float
        In [-1, 1]; NaN where all distances are equal.
    """
    return rank_correlation(*distance_pairs(X, Z, n_pairs=n_pairs, random_state=random_state))


def row_distance_correlation(X: Any, Z: Any, *, rows: Any = None) -> NDArray:
    """Return Spearman's correlation of each row's distances from all others, in the input and on the map.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their places on the map.
    rows : int array of shape (m,), optional
        Which rows are asked for.  None: all.

    Returns
    -------
    array of shape (m,)
        In [-1, 1]; NaN where all distances are equal.
    """
    X, Z = check_map(X, Z)
    chosen = chosen_rows(rows, len(X))
    found = np.empty(len(chosen))
    for some, there, here in batches(X, Z, chosen, 1):
        for place, row in enumerate(chosen[some], some.start):
            both = (np.delete(each.distance[place - some.start], row) for each in (there, here))
            found[place] = rank_correlation(*both)
    return found


def class_centre_correlation(X: Any, Z: Any, y: Any) -> float:
    """Return Spearman's correlation of the distances between class means, in the input and on the map.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells.
    Z : array-like of shape (n, d)
        Their places on the map.
    y : array-like of shape (n,)
        Classes; NaN and None mark unlabelled rows, which belong to no class.

    Returns
    -------
    float
        In [-1, 1]; NaN for fewer than three classes: two have one distance.
    """
    X, Z = check_map(X, Z)
    labels = as_labels(y)
    if labels.shape != (len(X),):
        raise ValueError(f"y must hold one class for each of the {len(X)} rows; got shape {labels.shape}")
    known = ~missing_values(labels, None)
    if not known.any():
        return math.nan
    classes, code = np.unique(uniform_labels(labels[known]), return_inverse=True)
    if len(classes) < 3:
        return math.nan
    members = np.eye(len(classes))[code].T / np.bincount(code)[:, None]
    return rank_correlation(pdist(members @ X[known]), pdist(members @ Z[known]))


def rank_correlation(first: NDArray, second: NDArray) -> float:
    """Return Spearman's correlation; NaN where one of them is constant."""
    one, two = (rankdata(each) - 0.5 * (len(each) + 1) for each in (first, second))
    size = math.sqrt(float(one @ one) * float(two @ two))
    return float(one @ two) / size if size > 0.0 else math.nan
