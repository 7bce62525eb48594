"""Labels: encode them as class numbers, tell classes from quantities, withhold some."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from supdr.engine.targets import as_labels, missing_values, uniform_labels

MAX_GUESSED_CLASSES = 20
# There is one way to match a text: with two, a long one that is no number would take forever.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
DIGITS = re.compile(r"([0-9]{1,300})")


def guess_task(y: Any) -> str:
    """Guess what a target means.

    Parameters
    ----------
    y : array-like of shape (n,)
        Targets; missing ones are passed over.

    Returns
    -------
    {"classification", "regression"}
        "classification" for text, booleans and at most 20 distinct whole numbers, "regression" for other numbers.
    """
    y = as_labels(y)
    present = y[~missing_values(y, None)]
    if present.dtype.kind == "O":
        if any(isinstance(value, (str, bytes, bool, np.bool_)) for value in present):
            return "classification"
        present = present.astype(np.float64)
    if present.dtype.kind not in "iuf":
        return "classification"
    distinct = np.unique(present)
    few_whole_numbers = len(distinct) <= MAX_GUESSED_CLASSES and bool(np.all(distinct == np.round(distinct)))
    return "classification" if few_whole_numbers else "regression"


def encode_labels(labels: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Turn labels of any kind into class numbers.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Text, numbers or booleans; None, NaN and pandas.NA mark unlabelled rows.

    Returns
    -------
    y : ndarray of shape (n,)
        Class numbers 0, 1, … as float64, NaN where unlabelled.
    target_names : tuple of str
        Name of each class: numbers in increasing order, text as `in_order` puts it.

    Raises
    ------
    ValueError
        If labels are of several kinds: text and numbers, say.
    """
    labels = as_labels(labels)
    present = ~missing_values(labels, None)
    values = uniform_labels(labels[present])
    distinct, numbers = np.unique(values, return_inverse=True)
    names = [label_name(value) for value in distinct]
    if values.dtype.kind not in "biuf":
        order = in_order(names)
        numbers = np.array([order.index(name) for name in names], dtype=int)[numbers]
        names = order
    y = np.full(len(labels), np.nan)
    y[present] = numbers
    return y, tuple(names)


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names as people do: what is a number by its value, and numbers within text likewise.

    Returns numbers first: "-1", "2", "10", then "class 2" before "class 10".
    """
    return sorted(names, key=_place_in_order)


def _place_in_order(name: str) -> tuple[Any, ...]:
    if NUMBER.fullmatch(name):
        return 0, float(name), (), name
    # Words stand at even places, digits at odd ones: like is compared with like.
    parts = DIGITS.split(name)
    return 1, 0.0, tuple(int(part) if k % 2 else part for k, part in enumerate(parts)), name


def label_name(value: Any) -> str:
    """Name of a class: whole numbers without a decimal point, everything else as it prints."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def hide_labels(y: Any, share: float, *, task: str | None = None, random_state: Any = None) -> np.ndarray:
    """Withhold labels, as in semi-supervised learning.

    Parameters
    ----------
    y : array-like of shape (n,)
        Targets; entries that are missing already stay so and do not count.
    share : float in (0, 1]
        Share of the labels that stays. Classification: that share of each class, rounded, and at least one row of each.
    task : {"classification", "regression"}, optional
        Decides whether classes are treated one by one; guessed from `y` if left out, see `guess_task`.
    random_state : int, Generator or None
        Decides which labels stay. For one seed, the labels of a smaller share are among those of a larger one.

    Returns
    -------
    ndarray of shape (n,)
        A copy: float64 with NaN where `y` holds numbers, otherwise object with None.

    Raises
    ------
    ValueError
        If `share` is not in (0, 1], `y` is not a vector, or it has no label at all.
    """
    y = as_labels(y)
    if y.ndim != 1:
        raise ValueError(f"y must be a vector, got shape {y.shape}")
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1], got {share!r}")
    present = np.flatnonzero(~missing_values(y, None))
    if not present.size:
        raise ValueError("y has no label to keep: every entry is NaN or None")
    groups = np.zeros(len(y))
    if (task or guess_task(y)) == "classification":
        groups, _ = encode_labels(y)

    rng = np.random.default_rng(random_state)
    shown = np.zeros(len(y), dtype=bool)
    for group in np.unique(groups[present]):
        rows = rng.permutation(present[groups[present] == group])
        shown[rows[: max(1, int(share * len(rows) + 0.5))]] = True
    hidden = y.astype(np.float64 if y.dtype.kind in "iufb" else object)
    hidden[~shown] = np.nan if hidden.dtype.kind == "f" else None
    return hidden
