"""Training and test rows of each repetition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from supdr.engine.targets import missing_values, uniform_labels

Parts = list[tuple[NDArray, NDArray]]


def splits_of(cv: Any, X: NDArray, y: NDArray, seed: int, *, classification: bool) -> Parts:
    """Return (train, test) of every fold of one repetition; raise ValueError if `cv` or the labels do not allow it.

    `cv`: a number of shuffled folds, a share to hold out, a cross-validator or pairs.  Rows without a label, and
    classes with too few rows, are never in a test part.
    """
    labelled = np.flatnonzero(~missing_values(y, np.nan))
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return _folds(int(cv), y, labelled, seed, classification)
    if isinstance(cv, (float, np.floating)):
        return _held_out(float(cv), y, labelled, seed, classification)
    if isinstance(cv, BaseCrossValidator) or (hasattr(cv, "split") and not isinstance(cv, str)):
        parts = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, y)]
    elif isinstance(cv, Iterable) and not isinstance(cv, (str, bytes)):
        parts = [(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in cv]
    else:
        raise ValueError(
            f"cv must be a number of folds, a share in (0, 1), a cross-validator, or (train, test) pairs; got {cv!r}"
        )
    if not parts:
        raise ValueError("cv must have at least one split; got none")
    for _, test in parts:
        if not np.isin(test, labelled).all():
            raise ValueError("cv must have labelled rows only in its test parts; got rows without a label")
    return parts


def _folds(count: int, y: NDArray, labelled: NDArray, seed: int, classification: bool) -> Parts:
    if count < 2 or count > len(labelled):
        raise ValueError(f"cv must be 2 to {len(labelled)} folds for these {len(labelled)} labelled rows; got {count}")
    splitter: Any = KFold(count, shuffle=True, random_state=seed)
    if classification:
        labelled = _plentiful(y, labelled, count)
        if not len(labelled):
            raise ValueError(f"cv={count}: every class has fewer than {count} labelled rows")
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed)
    return _spread(splitter, y, labelled)


def _held_out(share: float, y: NDArray, labelled: NDArray, seed: int, classification: bool) -> Parts:
    if not 0.0 < share < 1.0:
        raise ValueError(f"cv as a share must lie in (0, 1); got {share!r}")
    enough = classification and round(share * len(labelled)) >= len(np.unique(y[labelled].astype(str)))
    if enough:
        labelled = _plentiful(y, labelled, 2)
    kind: Any = StratifiedShuffleSplit if enough else ShuffleSplit
    return _spread(kind(1, test_size=share, random_state=seed), y, labelled)


def _plentiful(y: NDArray, labelled: NDArray, least: int) -> NDArray:
    """Return the labelled rows of classes with at least `least` of them."""
    _, codes, counts = np.unique(uniform_labels(y[labelled]), return_inverse=True, return_counts=True)
    return labelled[counts[codes] >= least]


def _spread(splitter: Any, y: NDArray, rows: NDArray) -> Parts:
    """Divide `rows`; all others are training rows of every part."""
    others = np.setdiff1d(np.arange(len(y)), rows)
    parts = []
    for train, test in splitter.split(np.zeros(len(rows)), uniform_labels(y[rows])):
        parts.append((np.sort(np.concatenate([rows[train], others])), rows[test]))
    return parts


def hide_labels(y: NDArray, rows: NDArray) -> NDArray:
    """Return a copy of y in which `rows` are unlabelled: NaN, or None in an array of objects or text."""
    if y.dtype.kind in "fiub":
        y = y.astype(float)
        y[rows] = np.nan
        return y
    y = y.astype(object)
    y[rows] = None
    return y
