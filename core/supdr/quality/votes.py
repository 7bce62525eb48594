"""Whether a map keeps the labels: the error of its neighbours' vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import check_array

from supdr.engine.checks import check_choice, check_integer
from supdr.engine.docstrings import with_entries_of
from supdr.engine.targets import as_labels, missing_values, uniform_labels

TASKS = ("classification", "regression")


def row_knn_error(
    Z: Any, y: Any, *, n_neighbors: int = 10, task: str = "classification", voters: tuple[Any, Any] | None = None
) -> NDArray:
    """Return the error of each row's label as its nearest labelled rows on the map predict it.

    Parameters
    ----------
    Z : array-like of shape (n, d)
        Places on the map.
    y : array-like of shape (n,)
        Classes, or real numbers; NaN and None mark unlabelled rows.
    n_neighbors : int, default=10
        Number of neighbours that vote.
    task : {"classification", "regression"}, default="classification"
        What `y` means.
    voters : tuple of array-likes (Z, y), optional
        The rows that vote, such as those of the fit.  None: the same rows, but none of them for itself.

    Returns
    -------
    array of shape (n,)
        Classes: 1 where the majority errs, else 0.  Real numbers: the squared error of the mean, in units of their
        variance.  NaN where a row is unlabelled.
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
    kind = KNeighborsClassifier if task == "classification" else KNeighborsRegressor
    votes = kind(n_neighbors=n_neighbors).fit(places, values).predict(queries)
    if task == "classification":
        error[labelled] = votes != target
    else:
        error[labelled] = (votes - target) ** 2 / (np.var(target) or 1.0)
    return error


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
        Classes: share of errors.  Real numbers: 1 is what their mean would do.  NaN where no row is labelled.
    """
    errors = row_knn_error(Z, y, n_neighbors=n_neighbors, task=task, voters=voters)
    errors = errors[~np.isnan(errors)]
    return float(errors.mean()) if errors.size else float("nan")


def _labelled(place_name: str, label_name: str, Z: Any, y: Any, task: str) -> tuple[NDArray, NDArray, NDArray]:
    """Return places, which of them are labelled, and the labels of those."""
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
