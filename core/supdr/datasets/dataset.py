"""The one container that every source of data returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supdr.datasets.labels import hide_labels

TASKS = ("classification", "regression")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of numbers, its targets, and what a picture of it needs to know.

    Targets have one representation for both tasks: a float64 vector in which NaN marks an unlabelled row. In
    classification its entries are the class numbers 0, 1, …, n_classes − 1, that is, positions in `target_names`
    (`labels` gives the names); in regression they are the values themselves. Every estimator of this library takes
    the pair `to_xy()` as it is, and so does scikit-learn once no row is unlabelled.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Stored as C-contiguous float64. NaN marks a missing cell, infinite values are refused.
    y : array-like of shape (n_samples,)
        Class numbers or values; NaN or None marks an unlabelled row. Stored as float64.
    feature_names : sequence of str, optional
        One distinct name per column; "x1", "x2", … if left out.
    target_names : sequence of str, optional
        Classification: the names of the classes, in the order of their numbers; "0", "1", … if left out.
        Regression: the name of the quantity as a single entry, or nothing.
    task : {"classification", "regression"}
        What `y` means.
    views : sequence of int, optional
        Numbers of columns of consecutive groups (views) that together make up X.
    image_shape : (int, int), optional
        Height and width of the picture held by the first height · width columns of a row.
    name : str
        A short name for menus.
    description : str
        Where the data come from and what was done to them, in plain sentences.
    truth : array-like of shape (n_samples,), optional
        The targets before some were withheld, coded like `y`.
    metadata : mapping of str to array-like of shape (n_samples,), optional
        Columns that describe the rows and that no method learns from, such as names, by their own names. Numbers are
        stored as float64 (NaN where missing), anything else as texts (None where missing).
    target_name : str
        What the target is called, if it has a name.

    Raises
    ------
    ValueError
        If anything above does not hold; the message names the field.
    """

    X: Any
    y: Any
    feature_names: Sequence[str] = ()
    target_names: Sequence[str] = ()
    task: str = "classification"
    views: Sequence[int] | None = None
    image_shape: tuple[int, int] | None = None
    name: str = "data"
    description: str = ""
    truth: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    target_name: str = ""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"task must be 'classification' or 'regression', got {self.task!r}")
        X = _checked_features(self.X)
        y = _checked_targets("y", self.y, len(X))
        truth = None if self.truth is None else _checked_targets("truth", self.truth, len(X))
        classes = self.task == "classification"
        names = _checked_feature_names(self.feature_names, X.shape[1])
        fields: dict[str, Any] = {
            "X": X,
            "y": y,
            "truth": truth,
            "feature_names": names,
            "target_names": (_checked_classes if classes else _checked_quantity)(self.target_names, y, truth),
            "views": _checked_views(self.views, X.shape[1]),
            "image_shape": _checked_image(self.image_shape, X.shape[1]),
            "metadata": _checked_metadata(self.metadata, len(X), names),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return len(self.target_names) if self.task == "classification" else 0

    @property
    def labelled(self) -> np.ndarray:
        """Mask of the labelled rows, bool (n_samples,)."""
        return ~np.isnan(self.y)

    @property
    def labels(self) -> np.ndarray:
        """Class names (None where unlabelled) as an object array (n_samples,); for regression `y` itself."""
        if self.task == "regression":
            return self.y
        names = np.array([*self.target_names, None], dtype=object)
        return names[np.where(self.labelled, self.y, self.n_classes).astype(int)]

    def to_xy(self) -> tuple[np.ndarray, np.ndarray]:
        """Give X (n_samples, n_features) and y (n_samples,), both float64, without copying."""
        return self.X, self.y

    def hide_labels(self, share: float, *, random_state: Any = None) -> Dataset:
        """Withhold labels: a data set in which only `share` of them is left in `y` and all are kept in `truth`.

        Parameters
        ----------
        share : float in (0, 1]
            Share of the labels that stays, see `supdr.datasets.hide_labels`.
        random_state : int, Generator or None
            Decides which.

        Returns
        -------
        Dataset
        """
        y = hide_labels(self.y, share, task=self.task, random_state=random_state)
        return replace(self, y=y, truth=self.y if self.truth is None else self.truth)

    def __repr__(self) -> str:
        kind = f"{self.n_classes} classes" if self.task == "classification" else "regression"
        return f"Dataset({self.name!r}: {self.n_samples} rows, {self.n_features} features, {kind})"


def _checked_features(X: Any) -> np.ndarray:
    try:
        X = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only: {error}") from None
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (rows, columns), got shape {X.shape}")
    if X.size == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise ValueError(f"X must be finite (NaN where missing), got {X[row, column]} at row {row}, column {column}")
    return X


def _checked_targets(field: str, y: Any, n_samples: int) -> np.ndarray:
    try:
        y = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{field} must hold numbers (class numbers 0, 1, … for classification) or None; encode_labels turns names"
            " into class numbers"
        ) from None
    if y.shape != (n_samples,):
        raise ValueError(f"{field} must have one entry per row of X, shape ({n_samples},), got shape {y.shape}")
    if np.isinf(y).any():
        raise ValueError(f"{field} must be finite (NaN where unlabelled), got {y[np.isinf(y)][0]}")
    return y


def _checked_feature_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    names = tuple(str(name) for name in names) or tuple(f"x{j + 1}" for j in range(n_features))
    if len(names) != n_features:
        raise ValueError(f"feature_names must name {n_features} columns, got {len(names)} names")
    if len(set(names)) < n_features:
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"feature_names must be distinct, got {repeated!r} more than once")
    return names


def _checked_classes(names: Sequence[str], y: np.ndarray, truth: np.ndarray | None) -> tuple[str, ...]:
    seen = y if truth is None else np.concatenate([y, truth])
    seen = np.unique(seen[~np.isnan(seen)])
    if len(names) == 0:
        names = [str(k) for k in range(int(seen.max(initial=-1)) + 1)]
    names = tuple(str(name) for name in names)
    if len(names) < 2:
        raise ValueError(f"target_names: classification needs at least 2 classes, got {len(names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"target_names must be distinct, got {names}")
    wrong = seen[~np.isin(seen, np.arange(len(names)))]
    if wrong.size:
        raise ValueError(
            f"y must hold class numbers 0 to {len(names) - 1} (positions in target_names) or NaN, got {wrong[0]:g};"
            " encode_labels turns other labels into class numbers"
        )
    return names


def _checked_quantity(names: Sequence[str], y: np.ndarray, truth: np.ndarray | None) -> tuple[str, ...]:
    if len(names) > 1:
        raise ValueError(f"target_names: regression has one target, got {len(names)} names")
    return tuple(str(name) for name in names)


def _checked_views(views: Sequence[int] | None, n_features: int) -> tuple[int, ...] | None:
    if views is None:
        return None
    views = tuple(int(size) for size in views)
    if min(views, default=0) < 1 or sum(views) != n_features:
        raise ValueError(f"views must be positive numbers of columns that add up to {n_features}, got {views}")
    return views


def _checked_image(shape: tuple[int, int] | None, n_features: int) -> tuple[int, int] | None:
    if shape is None:
        return None
    shape = tuple(int(side) for side in shape)  # type: ignore[assignment]
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] > n_features:
        raise ValueError(f"image_shape must be (height, width) with at most {n_features} pixels, got {shape}")
    return shape


def _checked_metadata(metadata: Mapping[str, Any], n_samples: int, features: Sequence[str]) -> dict[str, np.ndarray]:
    columns = {str(name): np.asarray(values) for name, values in metadata.items()}
    for name, values in columns.items():
        if values.shape != (n_samples,):
            raise ValueError(f"metadata must have one entry per row of X; column {name!r} has shape {values.shape}")
        if name in features:
            raise ValueError(f"metadata must not be called as a feature is, got {name!r}")
    return {name: _plain_column(values) for name, values in columns.items()}


def _plain_column(values: np.ndarray) -> np.ndarray:
    """Write numbers as float64 and anything else as texts, None where there is none."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    texts = [None if value is None or value != value else str(value) for value in values.tolist()]
    return np.array(texts, dtype=object)
