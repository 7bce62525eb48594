"""Preservation of labels on a map: the error of the neighbours' vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array

from supdr.engine.checks import check_choice, check_integer
from supdr.engine.docstrings import with_entries_of
from supdr.engine.targets import as_labels, missing_values, uniform_labels

TASKS = ("classification", "regression")
# Distances and shares that differ by less, relatively, are equal.
ROUNDING = 1e-10


def row_knn_error(
    Z: Any, y: Any, *, n_neighbors: int = 10, task: str = "classification", voters: tuple[Any, Any] | None = None
) -> NDArray:
    """Return the error of the prediction of each row's label by its nearest labelled rows on the map.

    Parameters
    ----------
    Z : array-like of shape (n, d)
        Positions on the map.
    y : array-like of shape (n,)
        Classes, or real numbers; NaN and None mark unlabelled rows.
    n_neighbors : int, default=10
        Number of neighbours that vote.
    task : {"classification", "regression"}, default="classification"
        What `y` means.
    voters : tuple of array-likes (Z, y), optional
        The rows that vote, such as those of the fit.  None: the same rows; none votes for itself.

    Returns
    -------
    array of shape (n,)
        Classes: 0 or 1, or the share of wrong classes among those with equally many votes.  Real numbers: the squared
        error of the mean, divided by their variance.  NaN if a row is unlabelled.  Equally distant rows share the last
        places among the neighbours, so that neither the order of the rows nor the names of the classes matter.
    """
    check_choice("task", task, TASKS)
    check_integer("n_neighbors", n_neighbors)
    Z, labelled, target = _labelled("Z", "y", Z, y, task)
    error = np.full(len(Z), np.nan)
    if voters is None:
        places, values, queries = Z[labelled], target, None
    else:
        if not isinstance(voters, tuple) or len(voters) != 2:
            raise ValueError(f"voters must be a tuple of places and labels; got {type(voters).__name__}")
        places, voting, values = _labelled("the voters' Z", "the voters' y", *voters, task)
        places, queries = places[voting], Z[labelled]
        if places.shape[1] != Z.shape[1]:
            raise ValueError(f"voters must have {Z.shape[1]} coordinates, as Z has; got {places.shape[1]}")
    if not labelled.any():
        return error
    others = len(places) - (voters is None)
    if n_neighbors > others:
        raise ValueError(f"n_neighbors must be at most {others}, the labelled rows that vote; got {n_neighbors}")
    classes = np.unique(np.concatenate([values, target])) if task == "classification" else None
    counted = values[:, None] if classes is None else np.equal.outer(values, classes).astype(float)
    votes = _votes(places, counted, queries, n_neighbors)
    if classes is None:
        error[labelled] = (votes[:, 0] / n_neighbors - target) ** 2 / (np.var(target) or 1.0)
    else:
        most = votes >= votes.max(axis=1, keepdims=True) - ROUNDING
        right = most[np.arange(len(target)), np.searchsorted(classes, target)]
        error[labelled] = 1.0 - right / most.sum(axis=1)
    return error


def _votes(places: NDArray, values: NDArray, queries: NDArray | None, n_neighbors: int) -> NDArray:
    """Return sums of neighbours' values (n, k), ties sharing the last places; queries None: the places themselves."""
    others = len(places) - (queries is None)
    search = NearestNeighbors().fit(places)
    distances, neighbours = search.kneighbors(queries, min(n_neighbors + 1, others))
    votes = values[neighbours[:, :n_neighbors]].sum(axis=1)
    last = distances[:, n_neighbors - 1]
    rows = places if queries is None else queries
    for row in np.flatnonzero(distances[:, -1] <= last * (1 + ROUNDING)) if others > n_neighbors else ():
        far, near = search.radius_neighbors(rows[row : row + 1], last[row] * (1 + ROUNDING))
        far, near = far[0], near[0]
        far, near = (far, near) if queries is not None else (far[near != row], near[near != row])
        level = far >= last[row] * (1 - ROUNDING)
        share = (n_neighbors - np.sum(~level)) / np.sum(level)
        votes[row] = values[near[~level]].sum(axis=0) + share * values[near[level]].sum(axis=0)
    return votes


@with_entries_of(row_knn_error)
def knn_error(
    Z: Any, y: Any, *, n_neighbors: int = 10, task: str = "classification", voters: tuple[Any, Any] | None = None
) -> float:
    """Return the mean of `row_knn_error` over the labelled rows.

    Parameters
    ----------
    Z, y, n_neighbors, task, voters
        As in `row_knn_error`.

    Returns
    -------
    float
        Classes: share of errors.  Real numbers: 1 is the error of their mean.  NaN if no row is labelled.
    """
    errors = row_knn_error(Z, y, n_neighbors=n_neighbors, task=task, voters=voters)
    errors = errors[~np.isnan(errors)]
    return float(errors.mean()) if errors.size else float("nan")


def _labelled(place_name: str, label_name: str, Z: Any, y: Any, task: str) -> tuple[NDArray, NDArray, NDArray]:
    """Return positions, a mask of the labelled ones, and their labels."""
    Z = check_array(Z, dtype=float, input_name=place_name)
    labels = as_labels(y)
    if labels.shape != (len(Z),):
        raise ValueError(f"{label_name} must hold one label for each of {len(Z)} rows; got shape {labels.shape}")
    labelled = ~missing_values(labels, None)
    if task == "classification":
        return Z, labelled, uniform_labels(labels[labelled])
    try:
        return Z, labelled, labels[labelled].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"regression needs numbers in {label_name}: {error}") from error
