"""How settings divide the rows of a data set into training and test rows, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from supdr.datasets import Dataset, hide_labels
from supdr_viz.data.number_format import per_cent
from supdr_viz.data.rows_on_disk import RowsOnDisk, divided
from supdr_viz.data.sources import SOURCES
from supdr_viz.data.split import Split, divisible_rows, known_targets
from supdr_viz.experiment.build import Unusable, gap_takers, imputer, usable_drawn
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings


def split(dataset: Dataset, settings: Settings) -> Split:
    """Divide the rows with ``train_test_split`` and hide labels, all with the one seed.

    Drawn points, unlabelled rows and the only row of a class always train.

    `dataset`: of `build_dataset` with the same settings. Raises Unusable if nothing is labelled, or a class would have
    no training row.
    """
    if isinstance(dataset, RowsOnDisk):
        return _split_on_disk(dataset, settings)
    y, targets, classification = dataset.y, known_targets(dataset), dataset.task == "classification"
    n_drawn = len(usable_drawn(settings, dataset)) if settings.drawn and SOURCES[settings.data].planar else 0
    n_base = dataset.n_samples - n_drawn
    base, drawn = targets[:n_base], np.arange(n_base, dataset.n_samples)
    if np.isnan(y).all():
        raise Unusable("None of the rows has a label.")
    divisible = divisible_rows(base, classification)
    alone = np.ones(n_base, dtype=bool)
    alone[divisible] = False
    kept = np.flatnonzero(alone)
    if settings.test_share > 0:
        if len(divisible) < 2:
            raise Unusable("There are too few labelled rows to set some aside for testing: lower the test share to 0.")
        stratified = classification and _can_stratify(base[divisible], settings.test_share)
        train, test = train_test_split(
            divisible,
            test_size=settings.test_share,
            random_state=settings.seed,
            stratify=base[divisible] if stratified else None,
        )
        train = np.concatenate([train, kept, drawn])
    else:
        stratified, train, test = False, np.arange(dataset.n_samples), np.arange(0)
        kept = np.arange(0)
    if classification:
        _check_classes(dataset, y[train])
    y_train = y[train]
    if settings.label_share < 1 and not SOURCES[settings.data].labels:
        y_train = hide_labels(y_train, settings.label_share, task=dataset.task, random_state=settings.seed)
    notes = _notes(dataset, settings, kept, stratified)
    X = dataset.X
    return Split(train, test, X[train], X[test], y_train, targets[test], targets[train], stratified, kept, notes)


def _split_on_disk(dataset: RowsOnDisk, settings: Settings) -> Split:
    if settings.taught:
        raise Unusable("Rows on disk cannot be taught: remove the taught labels.")
    whole, is_test, is_hidden = divided(dataset, settings.test_share, settings.label_share, settings.seed)
    train, test, X, y = np.flatnonzero(~is_test), np.flatnonzero(is_test), dataset.X, dataset.y
    notes = [f"{len(X):,} of {dataset.n_all:,} rows are drawn as points, the same every time; shading shows all."]
    if settings.test_share > 0:
        notes.append(f"Of every partition {per_cent(settings.test_share)} of the rows are held out for testing.")
    if settings.label_share < 1:
        notes.append(f"Of every partition {per_cent(settings.label_share)} of the training rows keep their labels.")
    return Split(
        dataset.numbers[train],
        dataset.numbers[test],
        X[train],
        X[test],
        np.where(is_hidden, np.nan, y)[train],
        y[test],
        y[train],
        False,
        np.arange(0),
        tuple(notes),
        whole=whole,
    )


def filled(parts: Split, settings: Settings, dataset: Dataset) -> Split:
    """Fill missing cells with what the training rows have in their columns, for a method that needs every cell.

    `dataset`: what was divided. Returns the same one where nothing is to be filled.
    """
    fills = imputer(settings, dataset)
    if fills is None:
        return parts
    fills.fit(parts.X_train)
    count = int(np.isnan(dataset.X).sum())
    note = (
        f"{count:,} missing cells are filled with the {fills.strategy}s of the training rows: "
        f"{MENU[settings.method].label} needs every cell; {gap_takers()} do not."
    )
    X_test = fills.transform(parts.X_test) if len(parts.X_test) else parts.X_test
    return replace(parts, X_train=fills.transform(parts.X_train), X_test=X_test, notes=(*parts.notes, note))


def _can_stratify(y: NDArray, share: float) -> bool:
    n_test = int(np.ceil(share * len(y)))
    return min(n_test, len(y) - n_test) >= len(_classes_in(y))


def _classes_in(y: NDArray) -> NDArray:
    """Return the class numbers that occur among labels (n,); NaN: none."""
    return np.flatnonzero(np.bincount(y[~np.isnan(y)].astype(np.intp)))


def _check_classes(dataset: Dataset, y: NDArray) -> None:
    present = _classes_in(y)
    missing = np.setdiff1d(_classes_in(dataset.y), present)
    if missing.size:
        name = dataset.target_names[int(missing[0])]
        count = int((dataset.y == missing[0]).sum())
        raise Unusable(f"Class {name!r} has only {count} rows and none is left for training: lower the test share.")
    if len(present) < 2:
        raise Unusable("Only one class is labelled; a classifier needs at least two.")


def _notes(dataset: Dataset, settings: Settings, kept: NDArray, stratified: bool) -> tuple[str, ...]:
    notes = []
    unlabelled = int(np.isnan(known_targets(dataset)).sum())
    if unlabelled:
        notes.append(f"{unlabelled:,} rows without a label train without it.")
    single = len(kept) - int(np.isnan(known_targets(dataset)[kept]).sum())
    if single:
        notes.append(f"{single:,} rows are the only ones of their class and stay in the training part.")
    if settings.test_share > 0 and dataset.task == "classification" and not stratified:
        notes.append("There are too few rows to keep the classes' shares equal in the training and the test part.")
    return tuple(notes)
