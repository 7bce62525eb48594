"""Whether a map keeps the labels: the error of its neighbours' vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array

from supdr.engine.checks import check_choice, check_integer
from supdr.engine.targets import as_labels, missing_values, uniform_labels

TASKS = ("classification", "regression")
# Distances and shares that differ by less, relatively, are equal.
ROUNDING = 1e-10


def row_knn_error(
    Z: Any, y: Any, *, n_neighbors: int = 10, task: str = "classification", voters: tuple[Any, Any] | None = None
) -> NDArray:
    """Return by how much each row's nearest labelled rows on the map are wrong about it.

    Parameters
    ----------
    Z : array-like of shape (n, d)
        Places on the map.
    y : array-like of shape (n,)
        Classes, or real numbers; NaN and None mark unlabelled rows.
    n_neighbors : int, default=10
        How many vote.
    task : {"classification", "regression"}, default="classification"
        What `y` means.
    voters : tuple of array-likes (Z, y), optional
        The rows that vote, such as those of the fit.  None: the same rows, but none of them for itself.

    Returns
    -------
    array of shape (n,)
        Classes: the share of those with most votes that are wrong: 0 or 1, or a fraction where some have equally many.
        Real numbers: the squared error of the mean, in units of their variance.  NaN where a row is unlabelled.  Rows
        that are equally far share the last places among the neighbours evenly, so that neither the order of the rows
        nor the names of the classes matter.
    """
    check_choice("task", task, TASKS)
    check_integer("n_neighbors", n_neighbors)
    Z, known, target = _labelled("Z", "y", Z, y, task)
    error = np.full(len(Z), np.nan)
    if voters is None:
        places, values, asked = Z[known], target, None
    else:
        if not isinstance(voters, tuple) or len(voters) != 2:
            raise ValueError(f"voters must be a tuple of places and labels; got {type(voters).__name__}")
        places, labelled, values = _labelled("the voters' Z", "the voters' y", *voters, task)
        places, asked = places[labelled], Z[known]
        if places.shape[1] != Z.shape[1]:
            raise ValueError(f"voters must have {Z.shape[1]} coordinates, as Z has; got {places.shape[1]}")
    if not known.any():
        return error
    others = len(places) - (voters is None)
    if n_neighbors > others:
        raise ValueError(f"n_neighbors must be at most {others}, the labelled rows that vote; got {n_neighbors}")
    classes = np.unique(np.concatenate([values, target])) if task == "classification" else None
    counted = values[:, None] if classes is None else np.equal.outer(values, classes).astype(float)
    votes = _votes(places, counted, asked, n_neighbors)
    if classes is None:
        error[known] = (votes[:, 0] / n_neighbors - target) ** 2 / (np.var(target) or 1.0)
    else:
        most = votes >= votes.max(axis=1, keepdims=True) - ROUNDING
        right = most[np.arange(len(target)), np.searchsorted(classes, target)]
        error[known] = 1.0 - right / most.sum(axis=1)
    return error


def _votes(places: NDArray, values: NDArray, asked: NDArray | None, n_neighbors: int) -> NDArray:
    """Return the sum of the neighbours' values (n, k); those that are equally far share the last places evenly.

    `asked`: None: the places themselves, none of which is its own neighbour.
    """
    others = len(places) - (asked is None)
    search = NearestNeighbors().fit(places)
    distances, neighbours = search.kneighbors(asked, min(n_neighbors + 1, others))
    votes = values[neighbours[:, :n_neighbors]].sum(axis=1)
    last = distances[:, n_neighbors - 1]
    rows = places if asked is None else asked
    for row in np.flatnonzero(distances[:, -1] <= last * (1 + ROUNDING)) if others > n_neighbors else ():
        far, near = search.radius_neighbors(rows[row : row + 1], last[row] * (1 + ROUNDING))
        far, near = far[0], near[0]
        far, near = (far, near) if asked is not None else (far[near != row], near[near != row])
        level = far >= last[row] * (1 - ROUNDING)
        share = (n_neighbors - np.sum(~level)) / np.sum(level)
        votes[row] = values[near[~level]].sum(axis=0) + share * values[near[level]].sum(axis=0)
    return votes


def knn_error(
    Z: Any, y: Any, *, n_neighbors: int = 10, task: str = "classification", voters: tuple[Any, Any] | None = None
) -> float:
    """Return the mean of `row_knn_error` over the labelled rows.

    Parameters
    ----------
    Z : array-like of shape (n, d)
        Places on the map.
    y : array-like of shape (n,)
        Classes, or real numbers; NaN and None mark unlabelled rows.
    n_neighbors : int, default=10
        How many vote.
    task : {"classification", "regression"}, default="classification"
        What `y` means.
    voters : tuple of array-likes (Z, y), optional
        The rows that vote.  None: the same rows, but none of them for itself.

    Returns
    -------
    float
        Classes: share of errors.  Real numbers: 1 is what their mean would do.  NaN where no row is labelled.
    """
    errors = row_knn_error(Z, y, n_neighbors=n_neighbors, task=task, voters=voters)
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if known.size else float("nan")


def _labelled(place_name: str, label_name: str, Z: Any, y: Any, task: str) -> tuple[NDArray, NDArray, NDArray]:
    """Return places, which of them are labelled, and the labels of those."""
    Z = check_array(Z, dtype=float, input_name=place_name)
    labels = as_labels(y)
    if labels.shape != (len(Z),):
        raise ValueError(f"{label_name} must hold one label for each of {len(Z)} rows; got shape {labels.shape}")
    known = ~missing_values(labels, None)
    if task == "classification":
        return Z, known, uniform_labels(labels[known])
    try:
        return Z, known, labels[known].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"regression needs numbers in {label_name}: {error}") from error
