"""Labels that the user gives to rows while a run goes on: what they make of a data set and its split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from supdr.datasets import Dataset
from supdr_viz.data.split import Label, Split
from supdr_viz.experiment.build import Unusable
from supdr_viz.experiment.settings import MAX_TAUGHT, UNLABELLED

MAX_NEW_CLASSES = 6


def taught_dataset(dataset: Dataset, taught: Iterable[Label]) -> Dataset:
    """Name the classes that the user has added.

    `dataset`: without them. Returns the same one where no class is new.
    """
    last = max((code for _row, code in taught), default=-1)
    if dataset.task != "classification" or last < dataset.n_classes:
        return dataset
    return replace(dataset, target_names=(*dataset.target_names, *new_names(dataset, last + 1 - dataset.n_classes)))


def new_names(dataset: Dataset, count: int) -> list[str]:
    """Name classes that a data set does not have."""
    return [f"new class {number}" if number > 1 else "new class" for number in range(1, count + 1)]


def taught_split(parts: Split, dataset: Dataset, taught: Sequence[Label]) -> Split:
    """Give the training rows the labels that they were taught; for the method they are the truth.

    A row that was made unlabelled keeps its truth, like one whose label is hidden.

    `dataset`: without new classes. Returns the same one where nothing was taught. Raises Unusable if less than two
    classes would have a label.
    """
    labels = {row: code for row, code in taught if code < dataset.n_classes + MAX_NEW_CLASSES}
    if not labels or dataset.task != "classification":
        return parts
    places = {int(row): place for place, row in enumerate(parts.train)}
    y_train, targets = parts.y_train.copy(), parts.truth_train.copy()
    for row in labels.keys() & places.keys():
        code = labels[row]
        y_train[places[row]] = np.nan if code == UNLABELLED else code
        if code != UNLABELLED:
            targets[places[row]] = code
    if len(np.unique(y_train[~np.isnan(y_train)])) < 2:
        raise Unusable("At least two classes must keep a labelled training row.")
    waiting = len(labels.keys() - places.keys())
    notes = [f"{len(labels) - waiting:,} training rows have labels that were taught."]
    if waiting:
        notes.append(f"{waiting:,} labels that were taught are of rows that do not train here.")
    return replace(parts, y_train=y_train, truth_train=targets, notes=(*parts.notes, *notes), taught=tuple(taught))


def taught_further(taught: Iterable[Label], rows: Iterable[int], code: int) -> tuple[Label, ...]:
    """Return what is taught once these rows have this label too, in the order of rows.

    `rows`: of the data set; `code`: a class, or `UNLABELLED`. Returns tuple of (row, class). Raises Unusable if there
    are more than a link can carry.
    """
    further = tuple(sorted({**dict(taught), **dict.fromkeys(map(int, rows), code)}.items()))
    if len(further) > MAX_TAUGHT:
        raise Unusable(
            f"{len(further):,} rows would be taught; {MAX_TAUGHT:,} are the most: the link has to hold them all."
        )
    return further
