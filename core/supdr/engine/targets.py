"""Decoding of y: labelled rows, classes and numeric targets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from supdr.engine.checks import HUGE, check_number, check_sizes, is_convertible


@dataclass(frozen=True)
class Targets:
    """Decoded y.

    labelled (n,).
    classes (K,): sorted class labels; None for regression.
    codes (n,): index into `classes`, -1 where unlabelled; all -1 for regression.
    values (n, q): regression targets, NaN where unlabelled.  For classification the signs of the one-vs-rest heads: q =
        1 for two classes (+1 for the second class), else K; 0 where unlabelled.
    weights (n,): factors of the rows' label terms, > 0; 1 by default.
    """

    labelled: NDArray
    classes: NDArray | None
    codes: NDArray
    values: NDArray
    weights: NDArray

    def hidden(self, rows: NDArray) -> Targets:
        """Return a copy in which `rows` (indices) are unlabelled."""
        labelled, codes, values = self.labelled.copy(), self.codes.copy(), self.values.copy()
        labelled[rows], codes[rows] = False, -1
        values[rows] = 0.0 if self.classes is not None else np.nan
        return replace(self, labelled=labelled, codes=codes, values=values)


def decode_targets(
    y: Any,
    task: str,
    missing_label: Any = np.nan,
    *,
    sample_weight: NDArray | None = None,
    class_weight: Any = None,
    instead: str = "",
) -> Targets:
    """Decode labels (n,) or regression targets (n, q); NaN, None and `missing_label` mark unlabelled rows.

    `instead`: what an error advises where numbers are no classes.

    Weights of rows and classes multiply; "balanced" gives every class the same sum, and a weight of 0 hides a label.
    Raises ValueError if no row is labelled, or if values, classes or weights do not fit the task.
    """
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}")
    if np.ndim(missing_label) != 0:
        raise ValueError(f"missing_label must be a single value; got {missing_label!r}")
    y = as_labels(y)
    missing = missing_values(y, missing_label)
    if missing.ndim == 2:
        missing = np.asarray(missing.any(axis=1))
    labelled = ~missing
    if not labelled.any():
        raise ValueError("y has no labelled row: every value is missing")
    weights = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, dtype=float)
    if (weights[labelled] == 0.0).all():
        raise ValueError("sample_weight must be positive in at least one labelled row; got 0 in all of them")
    labelled &= weights > 0.0
    weights[~labelled] = 1.0
    if task == "regression":
        return _regression(y, labelled, weights)
    labels = uniform_labels(y[labelled])
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    _check_classes(labels, labelled, instead)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        rows = "" if sample_weight is None else " among the rows with a positive sample_weight"
        (only,) = classes.tolist()
        raise ValueError(f"classification needs at least two classes in y{rows}; got one class: {only!r}")
    if _is_nothing(missing_label) and missing_label is not None and _looks_unlabelled(classes):
        warnings.warn(
            f"y holds -1 beside {', '.join(map(str, classes[1:]))}, and it counts as a class. scikit-learn gives -1 to "
            "unlabelled rows: if these are, pass missing_label=-1, else missing_label=None",
            UserWarning,
            stacklevel=7,
        )
    weights[labelled] *= _class_weights(class_weight, classes, codes, weights[labelled])[codes]
    return _classification(classes, codes, labelled, weights)


def _check_classes(labels: NDArray, labelled: NDArray, instead: str) -> None:
    """Raise ValueError, which scikit-learn's checks know by its beginning, if labels are no classes but quantities."""
    try:
        check_classification_targets(labels)
    except ValueError as error:
        if labels.dtype.kind != "f":
            raise
        place = int((labels != np.round(labels)).argmax())
        raise ValueError(
            f"Unknown label type: continuous. Row {np.flatnonzero(labelled)[place]} of y holds {labels[place]:g}, which"
            f" names no class; classes are text, booleans or whole numbers. {instead}"
        ) from error


def decode_part(y: Any, classes: NDArray | None, missing_label: Any = np.nan) -> Targets:
    """Decode labels of a partition, which may lack some `classes` (K,), as `decode_targets` does."""
    missing = missing_values(y, missing_label)
    labelled = ~(np.asarray(missing.any(axis=1)) if missing.ndim == 2 else missing)
    if classes is None:
        return _regression(y, labelled, np.ones(len(y)))
    y, labelled = y.ravel(), labelled.ravel()
    codes = np.searchsorted(classes, uniform_labels(y[labelled]).astype(classes.dtype))
    return _classification(classes, codes, labelled, np.ones(len(y)))


def _classification(classes: NDArray, label_codes: NDArray, labelled: NDArray, weights: NDArray) -> Targets:
    codes = np.full(len(labelled), -1)
    codes[labelled] = label_codes
    if len(classes) == 2:
        values = np.where(codes == 1, 1.0, -1.0)[:, None]
    else:
        values = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    values[~labelled] = 0.0
    return Targets(labelled, classes, codes, np.ascontiguousarray(values), weights)


def _class_weights(class_weight: Any, classes: NDArray, codes: NDArray, weights: NDArray) -> NDArray:
    """Return the factor of every class (K,), given the codes and the weights of the labelled rows."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weights.sum() / (len(classes) * np.bincount(codes, weights))
    if class_weight is not None and not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of class to weight; got {class_weight!r}")
    for label, weight in (class_weight or {}).items():
        check_number(f"class_weight[{label!r}]", weight, f"> 0, up to {HUGE:g}", lambda value: 0.0 < value <= HUGE)
    return compute_class_weight(class_weight, classes=classes, y=classes)


def _regression(y: NDArray, labelled: NDArray, weights: NDArray) -> Targets:
    values = np.full((len(y), 1 if y.ndim == 1 else y.shape[1]), np.nan)
    try:
        values[labelled] = y[labelled].astype(float).reshape(-1, values.shape[1])
    except (TypeError, ValueError) as error:
        example = next((repr(value) for value in y[labelled].ravel().tolist() if not is_convertible(value)), str(error))
        raise ValueError(f"regression needs numbers in y; got {example}") from error
    if np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    check_sizes("y", values)
    return Targets(labelled, None, np.full(len(y), -1), values, weights)


def as_labels(y: Any) -> NDArray:
    """Return `y` as an array; a list keeps its types, while NumPy would turn NaN into text and True into a number.

    Masked entries become None, and text of variable length, `numpy.dtypes.StringDType`, objects.
    """
    if isinstance(y, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(y), np.array(None), y.data)
    labels = np.asarray(y)
    if labels.dtype.kind == "T":
        return labels.astype(object)
    if not isinstance(y, (list, tuple)) or labels.dtype.kind not in "USiuf":
        return labels
    objects = np.array(y, dtype=object)
    text = labels.dtype.kind in "US"
    return objects if text or any(isinstance(value, (bool, np.bool_)) for value in objects.flat) else labels


def uniform_labels(labels: NDArray) -> NDArray:
    """Return labels, none of them missing, in one dtype; raise ValueError if they mix text and numbers, for example."""
    if labels.dtype != object:
        return labels
    samples: dict[str, Any] = {}
    for value in labels.tolist():
        samples.setdefault(_kind(value), value)
    if len(samples) > 1:
        (first, one), (second, other) = list(samples.items())[:2]
        raise ValueError(
            f"y mixes {first} ({one!r}) and {second} ({other!r}): the labels must all be text or all be numbers"
        )
    return np.asarray(labels.tolist())


def _kind(value: Any) -> str:
    """Return the kind of a label, in the plural."""
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    for kind, word in ((str, "text"), (bytes, "bytes"), (Number, "numbers")):
        if isinstance(value, kind):
            return word
    return f"values of type {type(value).__name__}"


def _looks_unlabelled(classes: NDArray) -> bool:
    """Whether the classes are whole numbers, -1 and at least two others that are larger."""
    if classes.dtype.kind not in "if" or len(classes) < 3 or classes[0] != -1:
        return False
    return bool((classes == np.round(classes)).all())


def _is_nothing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    different = value != value
    return different is True or different is np.True_ or type(different).__name__ == "NAType"


def missing_values(y: NDArray, missing_label: Any) -> NDArray:
    """Return which entries of `y` are NaN, None or `missing_label`; a bool array of its shape."""
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype == object:
        try:
            from pandas import isna  # knows None, NaN, NaT and pandas.NA
        except ImportError:  # then there is no pandas.NA
            isna = np.frompyfunc(_is_nothing, 1, 1)
        missing = isna(y).astype(bool)
    elif y.dtype.kind in "mM":
        missing = np.isnat(y)
    else:
        missing = np.zeros(y.shape, dtype=bool)
    missing = np.asarray(missing)
    if not _is_nothing(missing_label):
        missing[~missing] = y[~missing] == missing_label
    return missing
