"""Targets decoded once, at the boundary: which rows are labelled, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets


@dataclass(frozen=True)
class Targets:
    """Decoded y.

    Attributes
    ----------
    labelled : bool array of shape (n,)
    classes : array of shape (K,) or None
        Sorted class labels; None for regression.
    codes : int array of shape (n,)
        Index into `classes`, -1 where unlabelled; all -1 for regression.
    values : array of shape (n, q)
        Regression targets, NaN where unlabelled.  For classification the signs of the one-vs-rest heads:
        q = 1 for two classes (+1 for the second class), else K; 0 where unlabelled.
    """

    labelled: NDArray
    classes: NDArray | None
    codes: NDArray
    values: NDArray

    def hidden(self, rows: NDArray) -> Targets:
        """Return a copy in which `rows` (indices) are unlabelled."""
        labelled, codes, values = self.labelled.copy(), self.codes.copy(), self.values.copy()
        labelled[rows], codes[rows] = False, -1
        values[rows] = 0.0 if self.classes is not None else np.nan
        return Targets(labelled, self.classes, codes, values)


def decode_targets(y: Any, task: str, missing_label: Any = np.nan) -> Targets:
    """Decode labels or regression targets, unlabelled rows included.

    Parameters
    ----------
    y : array-like of shape (n,) or, for regression, (n, q)
        NaN and None mark an unlabelled row, whatever `missing_label` is.
    task : {"classification", "regression"}
        What the values mean.
    missing_label : object
        A further value that marks an unlabelled row, such as -1.

    Returns
    -------
    Targets

    Raises
    ------
    ValueError
        If no row is labelled, if a value is infinite, or if classification finds continuous values or one class only.
    """
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}")
    y = np.asarray(y)
    missing = missing_values(y, missing_label)
    if missing.ndim == 2:
        missing = np.asarray(missing.any(axis=1))
    labelled = ~missing
    if not labelled.any():
        raise ValueError("y has no labelled row: every value is missing")
    if task == "regression":
        return _regression(y, labelled)
    known = y[labelled]
    if known.dtype == object:
        known = np.asarray(known.tolist())
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    check_classification_targets(known)
    classes, known_codes = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"classification needs at least two classes in y; got one class: {classes[0]!r}")
    codes = np.full(len(y), -1)
    codes[labelled] = known_codes
    if len(classes) == 2:
        values = np.where(codes == 1, 1.0, -1.0)[:, None]
    else:
        values = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    values[~labelled] = 0.0
    return Targets(labelled, classes, codes, np.ascontiguousarray(values))


def _regression(y: NDArray, labelled: NDArray) -> Targets:
    values = np.full((len(y), 1 if y.ndim == 1 else y.shape[1]), np.nan)
    try:
        values[labelled] = y[labelled].astype(float).reshape(labelled.sum(), -1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"regression needs numbers in y: {error}") from error
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    return Targets(labelled, None, np.full(len(y), -1), values)


def missing_values(y: NDArray, missing_label: Any) -> NDArray:
    """Return which entries of `y` are NaN, None or `missing_label`; a bool array of its shape."""
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype == object:
        try:
            from pandas import isna  # knows None, NaN, NaT and pandas.NA
        except ImportError:  # then there is no pandas.NA
            isna = np.frompyfunc(lambda value: value is None or value != value, 1, 1)
        missing = isna(y).astype(bool)
    else:
        missing = np.zeros(y.shape, dtype=bool)
    if missing_label is not None and missing_label == missing_label:
        return np.asarray(missing) | np.asarray(y == missing_label)
    return np.asarray(missing)
