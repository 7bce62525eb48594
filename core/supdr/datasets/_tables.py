"""A parsed file, and the one way from it to a `Dataset`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._columns import Feature, encode_feature, encode_target, numbers_from, reads_as_numbers
from supdr.datasets.dataset import Dataset
from supdr.datasets.labels import guess_task
from supdr.datasets.limits import FileProblem, Limits, listed, shown

if TYPE_CHECKING:
    import pandas

TARGET_NAMES = ("target", "class", "label", "y")


@dataclass(frozen=True, eq=False)
class Table:
    """What a reader found in a file.

    Columns have distinct names and hold numbers, booleans, text or declared levels (categories). `target` is the
    target column if the format marks one; `notes` are sentences for the description.
    """

    frame: pandas.DataFrame
    format: str
    target: str | None = None
    notes: tuple[str, ...] = ()


def check_names(names: Iterable[str]) -> None:
    """Refuse repeated column names."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise FileProblem(f"Column names must be distinct; repeated: {listed(repeated)}.")


def choose_target(table: Table, target: str | None) -> str:
    """Name the target column: the one asked for, the one the format marks, a usual name, or the last.

    Raises
    ------
    FileProblem
        If the one asked for does not exist.
    """
    columns = [str(column) for column in table.frame.columns]
    if target is not None:
        matches = [column for column in columns if column == target]
        matches = matches or [column for column in columns if column.lower() == target.lower()]
        if len(matches) != 1:
            raise FileProblem(f"There is no column {shown(target)} to predict; the columns are {listed(columns)}.")
        return matches[0]
    usual = [column for word in TARGET_NAMES for column in columns if column.lower() == word]
    return table.target or (usual or columns[-1:])[0]


def to_dataset(
    table: Table,
    *,
    name: str,
    target: str | None,
    task: str | None,
    limits: Limits,
    leave_out_unusable: bool = False,
) -> Dataset:
    """Turn a parsed file into a `Dataset`; see `supdr.datasets.read_file` for the rules.

    With `leave_out_unusable` a column that cannot become numbers is left out and named in the description, otherwise
    it is refused.
    """
    target = choose_target(table, target)
    column = table.frame[target]
    if task is None:
        task = guess_column_task(column)
        if reads_as_numbers(column):
            # a stray text among numbers is a mistake, unless classes were asked for
            numbers_from(column, target)
    y, target_names = encode_target(column, target, task, limits)
    features, unusable = _encode_features(table.frame.drop(columns=target), leave_out_unusable)
    features, views = _group_views(features)
    names = [name for feature in features.values() for name in feature.names]
    check_names(names)
    limits.check_shape(name, len(y), len(names))
    X = np.column_stack([feature.values for feature in features.values()])
    size = f"{len(target_names)} classes" if task == "classification" else "regression"
    notes = [
        f"{len(y):,} rows, {len(names):,} features, target {shown(target)} ({size}), read from {table.format}.",
        *table.notes,
        *_notes(X, y, names, features, unusable, views),
    ]
    return Dataset(
        X,
        y,
        feature_names=names,
        target_names=target_names,
        task=task,
        views=None if views is None else tuple(views.values()),
        name=name,
        description=" ".join(notes),
    )


def guess_column_task(column: pandas.Series) -> str:
    """Guess the task from a target column; text that mostly reads as numbers counts as numbers."""
    import pandas as pd

    if not reads_as_numbers(column):
        return "classification"
    return guess_task(pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))


def _encode_features(frame: pandas.DataFrame, leave_out_unusable: bool) -> tuple[dict[str, Feature], list[str]]:
    if not frame.shape[1]:
        raise FileProblem("There is only one column, the target; at least one feature is needed.")
    features, unusable = {}, []
    for name, column in frame.items():
        try:
            features[str(name)] = encode_feature(column, str(name))
        except FileProblem:
            if not leave_out_unusable:
                raise
            unusable.append(str(name))
    if not features:
        raise FileProblem(f"None of the columns can be used as a feature: {listed(unusable)}.")
    return features, unusable


def _group_views(features: dict[str, Feature]) -> tuple[dict[str, Feature], dict[str, int] | None]:
    """Order columns called `view:feature` by view and count the columns of each, if all are called so."""
    prefixes = [name.partition(":")[0] if ":" in name[1:] else "" for name in features]
    views = dict.fromkeys(prefixes, 0)
    if "" in views or len(views) < 2:
        return features, None
    order = list(views)
    grouped = sorted(zip(prefixes, features), key=lambda item: order.index(item[0]))
    for prefix, name in grouped:
        views[prefix] += len(features[name].names)
    return {name: features[name] for _, name in grouped}, views


def _notes(
    X: np.ndarray,
    y: np.ndarray,
    names: list[str],
    features: dict[str, Feature],
    unusable: list[str],
    views: dict[str, int] | None,
) -> list[str]:
    """Say what was done to the columns and what is odd about them."""
    notes = []
    text = [name for name, feature in features.items() if feature.was_text]
    if text:
        notes.append(f"Text turned into 0/1 columns, one per level (one in all for two levels): {listed(text)}.")
    if unusable:
        notes.append(f"Left out, because they are empty, not numbers or text of too many values: {listed(unusable)}.")
    if views is not None:
        notes.append(f"Views: {listed((f'{view} ({size})' for view, size in views.items()), most=20)}.")
    missing = np.isnan(X)
    if missing.any():
        where = [name for name, any_missing in zip(names, missing.any(axis=0)) if any_missing]
        notes.append(f"Missing cells: {missing.sum():,}, in {listed(where)}.")
    constant = [name for name, fixed in zip(names, _constant(X)) if fixed]
    if constant:
        notes.append(f"Constant columns, kept: {listed(constant)}.")
    if np.isnan(y).any():
        notes.append(f"Unlabelled rows: {np.isnan(y).sum():,}.")
    return notes


def _constant(X: np.ndarray) -> np.ndarray:
    """Mask of the columns in which all present values are equal, bool (m,)."""
    return np.fmin.reduce(X) == np.fmax.reduce(X)
