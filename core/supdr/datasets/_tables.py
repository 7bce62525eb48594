"""A parsed file, and the one way from it to a `Dataset`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._columns import (
    MAX_LEVELS,
    Feature,
    days_of,
    encode_feature,
    encode_target,
    kind_of,
    numbers_from,
    reads_as_numbers,
)
from supdr.datasets.dataset import Dataset
from supdr.datasets.labels import guess_task
from supdr.datasets.limits import ColumnProblem, FileProblem, Limits, check_shape, listed, shown

if TYPE_CHECKING:
    import pandas

# View of the columns that no group names.
OTHERS = "other"

TARGET_NAMES = ("target", "survived", "churn", "class", "label", "y", "outcome", "response", "diagnosis", "species")

# What a column of numbers is called that are names of classes, however many.
CLASS_NAME = re.compile(r"(.*[\W_])?(class|label|category|cluster)([\W_].*)?", re.IGNORECASE)

# Classes that numbers may name; rows of each, on average.
MOST_NUMBERED, FEWEST_OF_A_CLASS = 100, 3
DIFFERENT = "Target {} holds few whole numbers that hardly recur: a quantity; task='classification' makes them classes."

# What is said of columns of a kind.
ENCODED = {
    "text": "Text columns were one-hot encoded (two levels give one column)",
    "mixed": "Texts among numbers have 0/1 columns of their own",
    "date": "Dates were converted to days since 1970",
}


@dataclass(frozen=True, eq=False)
class Table:
    """What a reader found in a file.

    Columns have distinct names and hold numbers, booleans, text or declared levels (categories). `target` is the
    target column if the format marks one; `notes` are sentences for the description. Of a workbook, `sheets` are all
    sheets and `sheet` is the one that was read. `texts` are the columns as they are written, where they are text.
    `annotations` are columns that describe the rows beside the features: one may be the target, the others are left out
    unless the user says otherwise. `image_shape` is the height and width of the picture that the first columns are.
    """

    frame: pandas.DataFrame
    format: str
    target: str | None = None
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    texts: pandas.DataFrame | None = None
    annotations: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None


def check_names(names: Iterable[str]) -> None:
    """Refuse repeated column names."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise FileProblem(f"Column names must be distinct; repeated: {listed(repeated)}.")


def choose_target(table: Table, target: str | None) -> str:
    """Name the target column: the one asked for, the one the format marks, a usual name, or the last.

    Empty columns, names and dates are passed over. Where the last holds fractions, it is the only column that holds
    classes, if there is one.
    """
    columns = [str(column) for column in table.frame.columns]
    if target is not None:
        matches = [column for column in columns if column == target]
        matches = matches or [column for column in columns if column.lower() == target.lower()]
        if len(matches) != 1:
            raise FileProblem(f"There is no column {shown(target)} to predict; the columns are {listed(columns)}.")
        return matches[0]
    names = [column.lower() for column in columns]
    usual = [
        columns[names.index(word)] for word in TARGET_NAMES if word in names and not (word == "y" and "x" in names)
    ]
    if table.target or usual:
        return table.target or usual[0]
    last = next((column for column in reversed(columns) if not _is_no_target(table.frame[column])), columns[-1])
    fractions = _fractions(table.frame[last].dropna())
    classes = [column for column in columns if _may_be_classes(table.frame[column])] if fractions else []
    return classes[0] if len(classes) == 1 else last


def _is_no_target(column: pandas.Series) -> bool:
    """Whether a column is empty, or holds dates, or texts most of which do not come again."""
    levels = column.nunique() if kind_of(column) == "text" and not reads_as_numbers(column) else 0
    many = levels > MAX_LEVELS and 2 * levels > len(column)
    return bool(column.isna().all()) or kind_of(column) == "date" or many


def _fractions(last: pandas.Series) -> bool:
    """Whether a column without missing cells holds numbers that are not all whole."""
    return last.dtype.kind == "f" and not (last == np.floor(last)).all()


def _may_be_classes(column: pandas.Series) -> bool:
    levels = column.nunique()
    return 1 < levels <= min(MAX_LEVELS, len(column) // 2) and guess_column_task(column) == "classification"


def to_dataset(
    table: Table,
    *,
    name: str,
    target: str | None,
    task: str | None,
    limits: Limits,
    ignore: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    tolerated: type[FileProblem] = ColumnProblem,
) -> Dataset:
    """Turn a parsed file into a `Dataset`; see `supdr.datasets.read_file` for the rules.

    A column with a problem of the `tolerated` kind is left out and named in the description; others are refused.
    """
    why = "as asked for" if ignore is not None else "as they describe rows"
    if ignore is None:
        predicted = choose_target(table, target) if table.annotations else ""
        ignore = [column for column in table.annotations if column != predicted]
    pixels = [str(column) for column in table.frame.columns[: prod(table.image_shape or (0,))]]
    whole = table.frame
    table = without(table, ignore, target)
    target = choose_target(table, target)
    column = table.frame[target]
    guessed = task is None
    if task is None:
        task = guess_column_task(column)
        if reads_as_numbers(column):
            # a stray text among numbers is a mistake, unless classes were asked for
            numbers_from(column, target)
    texts = None if table.texts is None else table.texts[target]
    y, target_names = encode_target(column, texts, target, task, limits)
    features, unusable = _encode_features(table.frame.drop(columns=target), ignore, tolerated)
    features, views = _group_views(features, view_of(features) if groups is None else grouped_by(groups, table))
    names = [name for feature in features.values() for name in feature.names]
    check_names(names)
    check_shape(limits, name, len(y), len(names))
    X = np.column_stack([feature.values for feature in features.values()])
    empty = np.isnan(X).all(axis=1) & np.isnan(y)
    X, y = X[~empty], y[~empty]
    learnt = {target, *names, *(each for each, feature in features.items() if feature.kind in ("number", "date"))}
    described = _metadata(whole[[each for each in whole if str(each) not in learnt]])
    size = f"{len(target_names)} classes" if task == "classification" else "regression"
    notes = [
        f"{len(y):,} rows, {len(names):,} features, target {shown(target)} ({size}), read from {table.format}.",
        *table.notes,
        *([f"Left out {why}: {listed(ignore)}."] if ignore else []),
        *([DIFFERENT.format(shown(target))] if guessed and task == "regression" and guess_task(y) != task else []),
        *([f"Rows left out that have neither a target nor a value: {empty.sum():,}."] if empty.any() else []),
        *_notes(X, y, names, features, unusable, views),
    ]
    return Dataset(
        X,
        y,
        feature_names=names,
        target_names=target_names,
        task=task,
        views=None if views is None else tuple(views.values()),
        image_shape=table.image_shape if names[: len(pixels)] == pixels else None,
        name=name,
        description=" ".join(notes),
        metadata={each: values[~empty] for each, values in described.items()},
        target_name=target,
    )


def _metadata(frame: pandas.DataFrame) -> dict[str, np.ndarray]:
    """Return columns as they are looked at: numbers and dates (days since 1970) as float64, anything else as texts."""
    columns: dict[str, np.ndarray] = {}
    for name, column in frame.items():
        kind = kind_of(column)
        if kind == "date":
            columns[str(name)] = days_of(column)
        elif kind in ("number", "yes/no"):
            columns[str(name)] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            texts = column.astype(object)
            texts = texts.map(str) if kind == "other" else texts
            columns[str(name)] = texts.where(column.notna(), None).to_numpy()
    return columns


def guess_column_task(column: pandas.Series) -> str:
    """Guess the task from a target column; text that mostly reads as numbers counts as numbers.

    Whole numbers in a column that is called a class are classes, also if they are more than a column of another name
    may have, or hardly occur again.
    """
    import pandas as pd

    if not reads_as_numbers(column):
        return "classification"
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    finite = values[np.isfinite(values)]
    named, count = CLASS_NAME.fullmatch(str(column.name)), len(np.unique(finite))
    if not named:
        return "regression" if count > 2 and len(finite) < 2 * count else guess_task(values)
    many = (finite == np.floor(finite)).all() and count <= MOST_NUMBERED and count * FEWEST_OF_A_CLASS <= len(finite)
    return "classification" if many else guess_task(values)


def without(table: Table, ignore: Sequence[str], target: str | None) -> Table:
    """Leave columns out; the target cannot be one of them."""
    _check_known(table, ignore, "to leave out")
    if target is not None and target in ignore:
        raise FileProblem(f"Column {shown(target)} is to be predicted and cannot be left out.")
    if not ignore:
        return table
    marked_target = None if table.target in ignore else table.target
    return replace(table, frame=table.frame.drop(columns=list(dict.fromkeys(ignore))), target=marked_target)


def grouped_by(groups: Mapping[str, Sequence[str]], table: Table) -> dict[str, str]:
    """Column -> view, for those that are named; each may be in one."""
    columns = [column for group in groups.values() for column in group]
    _check_known(table, columns, "to group")
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise FileProblem(f"A column can be in one group only; in several: {listed(twice)}.")
    return {column: view for view, group in groups.items() for column in group}


def view_of(names: Iterable[str]) -> dict[str, str]:
    """Column -> view, for those that are called `view:feature`; none unless all are."""
    views = {name: name.partition(":")[0] for name in names if ":" in name[1:] and not name.startswith(":")}
    return views if len(views) == len(list(names)) else {}


def _check_known(table: Table, names: Sequence[str], purpose: str) -> None:
    columns = [str(column) for column in table.frame.columns]
    for name in names:
        if name not in columns:
            raise FileProblem(f"There is no column {shown(name)} {purpose}; the columns are {listed(columns)}.")


def _encode_features(
    frame: pandas.DataFrame, ignore: Sequence[str], tolerated: type[FileProblem]
) -> tuple[dict[str, Feature], list[str]]:
    if not frame.shape[1]:
        why = (
            f"All columns but the target are left out: {listed(ignore)}"
            if ignore
            else "There is only one column, the target"
        )
        raise FileProblem(f"{why}; at least one feature is needed.")
    features, unusable, problems = {}, [], []
    for name, column in frame.items():
        try:
            features[str(name)] = encode_feature(column, str(name))
        except tolerated as problem:
            unusable.append(str(name))
            problems.append(str(problem))
    if not features:
        raise FileProblem(f"None of the columns can be used as a feature: {listed(unusable)}. {problems[0]}")
    return features, unusable


def _group_views(
    features: dict[str, Feature], groups: Mapping[str, str]
) -> tuple[dict[str, Feature], dict[str, int] | None]:
    """Order columns by view and count those of each, if there are several."""
    prefixes = [groups.get(name, OTHERS) for name in features]
    views = dict.fromkeys(prefixes, 0)
    if len(views) < 2:
        return features, None
    # The names say which view a column is of, as in a file whose columns are called so.
    features = {
        name: each if name.startswith(f"{view}:") else each._replace(names=[f"{view}:{part}" for part in each.names])
        for view, (name, each) in zip(prefixes, features.items())
    }
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
    for kind, words in ENCODED.items():
        alike = [name for name, feature in features.items() if feature.kind == kind]
        if alike:
            notes.append(f"{words}: {listed(alike)}.")
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
