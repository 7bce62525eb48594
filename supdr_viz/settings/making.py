"""From settings to what a run needs: the data set, the estimator, the split into training and test rows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split

from supdr import datasets
from supdr.datasets import Dataset, hide_labels
from supdr_viz.settings.knobs import TASK
from supdr_viz.settings.menu import MENU, METHODS_GROUP
from supdr_viz.settings.on_disk import RowsOnDisk, Whole, divided, offered
from supdr_viz.settings.sources import SOURCES
from supdr_viz.settings.state import Label, Settings


class NotAtHand(ValueError):
    """The data of these settings must first be loaded by the user; the message says how."""


class Unusable(ValueError):
    """These settings do not go together with these data; the message says why, in one sentence."""


def build_dataset(settings: Settings, uploaded: Dataset | None = None) -> Dataset:
    """Generate or load the rows of these settings, drawn points last.

    Parameters
    ----------
    settings : Settings
    uploaded : Dataset, optional
        What the user loaded, for the sources "openml" and "file".

    Returns
    -------
    Dataset

    Raises
    ------
    NotAtHand
        If the data must be loaded first.
    """
    source = SOURCES[settings.data]
    if not source.at_hand:
        if uploaded is None:
            raise NotAtHand(_how_to_get(settings))
        return uploaded
    options = {**source.fixed, **settings.data_options}
    if source.seeded:
        options["random_state"] = settings.seed
    if source.labels:
        options[source.labels] = settings.label_share
    dataset = getattr(datasets, source.loader)(**options)
    return _with_drawn(dataset, settings) if settings.drawn and source.planar else dataset


def usable_drawn(settings: Settings, dataset: Dataset) -> NDArray:
    """Drawn points whose class exists in the data set, as rows (x, y, class) of shape (k, 3)."""
    points = np.array(settings.drawn, dtype=float).reshape(-1, 3)
    return points[points[:, 2] < dataset.n_classes]


def build_estimator(
    settings: Settings,
    task: str = "classification",
    n_rows: int | None = None,
    views: Sequence[int] | None = None,
) -> Any:
    """Make the estimator, not fitted.

    Parameters
    ----------
    settings : Settings
    task : {"classification", "regression"}
        Of the data.
    n_rows : int, optional
        Number of training rows: more basis functions than rows mean as many as rows.
    views : sequence of int, optional
        Sizes of the column groups of the data, for methods that tell views apart.

    Returns
    -------
    estimator

    Raises
    ------
    Unusable
        If the method does not know this task.
    """
    return MENU[settings.method].estimator(**estimator_arguments(settings, task, n_rows, views))


def check_columns(settings: Settings, dataset: Dataset) -> None:
    """Check that the method takes the columns of the data.

    Parameters
    ----------
    settings : Settings
    dataset : Dataset

    Raises
    ------
    Unusable
        If the method takes bits only and a column holds something else, needs cells that are missing, or there are more
        rows than it takes.
    """
    method = MENU[settings.method]
    if isinstance(dataset, RowsOnDisk) and not method.takes_partitions:
        raise Unusable(f"{method.label} needs all rows in memory. {partition_takers()}")
    if dataset.n_samples > method.most_rows:
        takers = [each.label for each in MENU.values() if each.most_rows > method.most_rows]
        others = f"; {', '.join(takers[:-1])} and {takers[-1]} take more" if takers else ""
        raise Unusable(
            f"{method.label} takes up to {method.most_rows:,} rows here and these are {dataset.n_samples:,}{others}."
        )
    gaps = int(np.isnan(dataset.X).sum())
    if gaps and not method.takes_gaps and not imputation(settings, dataset):
        raise Unusable(
            f"{method.label} needs every cell and {gaps:,} are missing: have them filled (Missing cells, under Data) "
            f"or choose a method that takes rows as they are: {_takers()}."
        )
    if not method.bits_only:
        return
    X = dataset.X
    other = np.isfinite(X) & (X != 0.0) & (X != 1.0)
    if other.any():
        row, column = np.argwhere(other)[0]
        raise Unusable(
            f"{method.label} takes columns of 0 and 1 only; {dataset.feature_names[column]} is {X[row, column]:.3g} in "
            f"row {row}: choose {MENU['LogisticUDR'].label} for these data."
        )


def partition_takers() -> str:
    """Say which methods take rows that are on disk."""
    labels = [each.label for each in MENU.values() if each.takes_partitions]
    return f"Rows on disk are learnt by {' and '.join(filter(None, [', '.join(labels[:-1]), labels[-1]]))}."


def imputation(settings: Settings, dataset: Dataset) -> str:
    """Name the strategy by which missing cells are filled for this method; empty: they are not, or there are none.

    Parameters
    ----------
    settings : Settings
    dataset : Dataset

    Returns
    -------
    str
    """
    strategy = settings.data_options.get("impute", "none")
    if strategy == "none" or MENU[settings.method].takes_gaps or not np.isnan(dataset.X).any():
        return ""
    return strategy


def imputer(settings: Settings, dataset: Dataset) -> SimpleImputer | None:
    """Return what fills missing cells for this method, not fitted; None: nothing is to be filled.

    Parameters
    ----------
    settings : Settings
    dataset : Dataset

    Returns
    -------
    SimpleImputer or None
    """
    strategy = imputation(settings, dataset)
    return SimpleImputer(strategy=strategy, keep_empty_features=True) if strategy else None


def filled(parts: Split, settings: Settings, dataset: Dataset) -> Split:
    """Fill missing cells with what the training rows have in their columns, for a method that needs every cell.

    Parameters
    ----------
    parts : Split
    settings : Settings
    dataset : Dataset
        What was divided.

    Returns
    -------
    Split
        The same one where nothing is to be filled.
    """
    fills = imputer(settings, dataset)
    if fills is None:
        return parts
    fills.fit(parts.X_train)
    count = int(np.isnan(dataset.X).sum())
    note = (
        f"{count:,} missing cells are filled with the {fills.strategy}s of the training rows: "
        f"{MENU[settings.method].label} needs every cell; {_takers()} do not."
    )
    X_test = fills.transform(parts.X_test) if len(parts.X_test) else parts.X_test
    return replace(parts, X_train=fills.transform(parts.X_train), X_test=X_test, notes=(*parts.notes, note))


def _takers() -> str:
    """Name the papers' methods that take rows with missing cells."""
    labels = [each.label for each in MENU.values() if each.group == METHODS_GROUP and each.takes_gaps]
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def estimator_arguments(
    settings: Settings, task: str, n_rows: int | None = None, views: Sequence[int] | None = None
) -> dict[str, Any]:
    """Give the constructor arguments that differ from the defaults, and the seed.

    Parameters
    ----------
    settings : Settings
    task : {"classification", "regression"}
    n_rows, views : optional
        See `build_estimator`.

    Returns
    -------
    dict

    Raises
    ------
    Unusable
        If the method does not know this task.
    """
    method = MENU[settings.method]
    options = settings.method_options
    arguments = {
        spec.name: options[spec.name]
        for spec in method.form
        if options[spec.name] != spec.library_default and spec.applies({**options, TASK: task})
    }
    known = inspect.signature(method.estimator).parameters
    tasks = method.tasks()
    if task not in tasks:
        others = [each.label for each in MENU.values() if each.group == METHODS_GROUP and task in each.tasks()]
        predicted = "classes" if task == "regression" else "numbers"
        raise Unusable(
            f"{method.label} predicts {predicted}; these data are for {task}: "
            f"choose {', '.join(others[:-1])} or {others[-1]} for them."
        )
    if task != tasks[0]:
        arguments["task"] = task
    if task == "regression" and "loss" in known:
        arguments["loss"] = "squared"
    if n_rows is not None and (arguments.get("n_centers") or 0) > n_rows:
        arguments["n_centers"] = n_rows
    if views is not None and "views" in known:
        arguments["views"] = tuple(views)
    return {**arguments, "random_state": settings.seed}


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a data set.

    Attributes
    ----------
    train, test : int arrays
        Row numbers, in the order in which the method sees them.
    X_train, X_test : arrays of shape (n, m)
    y_train : array of shape (n,)
        NaN where a label is missing or hidden.
    y_test : array of shape (n,)
    truth_train : array of shape (n,)
        Labels before any was hidden.
    stratified : bool
        The shares of the classes are the same in both parts.
    kept : int array
        Rows that could not be divided and are all in the training part: unlabelled ones, and single rows of a class.
    notes : tuple of str
        What the user should know.
    taught : tuple of (row, class)
        Labels that the user gave.
    whole : Whole or None
        All rows, where those above are a sample of rows on disk.
    """

    train: NDArray
    test: NDArray
    X_train: NDArray
    X_test: NDArray
    y_train: NDArray
    y_test: NDArray
    truth_train: NDArray
    stratified: bool
    kept: NDArray
    notes: tuple[str, ...] = ()
    taught: tuple[Label, ...] = ()
    whole: Whole | None = None

    @property
    def n_train(self) -> int:
        """Number of rows that a method is given."""
        return len(self.train) if self.whole is None else len(self.whole.X_train)

    @property
    def n_test(self) -> int:
        """Number of rows that are held out."""
        return len(self.test) if self.whole is None else self.whole.n_rows - self.n_train

    @property
    def learnt(self) -> tuple[Any, Any]:
        """What a method is given: training rows and labels, in partitions where they are on disk."""
        return (self.X_train, self.y_train) if self.whole is None else (self.whole.X_train, self.whole.y_train)


def split(dataset: Dataset, settings: Settings) -> Split:
    """Divide the rows with ``train_test_split`` and hide labels, all with the one seed.

    Drawn points, unlabelled rows and the only row of a class always train.

    Parameters
    ----------
    dataset : Dataset
        Of `build_dataset` with the same settings.
    settings : Settings

    Returns
    -------
    Split

    Raises
    ------
    Unusable
        If nothing is labelled, or a class would have no training row.
    """
    if isinstance(dataset, RowsOnDisk):
        return _split_on_disk(dataset, settings)
    y, truth, classification = dataset.y, known_targets(dataset), dataset.task == "classification"
    n_drawn = len(usable_drawn(settings, dataset)) if settings.drawn and SOURCES[settings.data].planar else 0
    n_base = dataset.n_samples - n_drawn
    base, drawn = truth[:n_base], np.arange(n_base, dataset.n_samples)
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
    return Split(train, test, X[train], X[test], y_train, truth[test], truth[train], stratified, kept, notes)


def _split_on_disk(dataset: RowsOnDisk, settings: Settings) -> Split:
    if settings.label_share < 1:
        raise Unusable("Labels of rows on disk cannot be hidden: set the labelled share to 1.")
    if settings.taught:
        raise Unusable("Rows on disk cannot be taught: remove the taught labels.")
    whole, is_test = divided(dataset, settings.test_share, settings.seed)
    train, test, X, y = np.flatnonzero(~is_test), np.flatnonzero(is_test), dataset.X, dataset.y
    notes = [f"{len(X):,} of {dataset.n_all:,} rows are drawn as points, the same every time; shading shows all."]
    if settings.test_share > 0:
        notes.append(f"Of every partition {settings.test_share:.0%} of the rows are held out for testing.")
    return Split(
        dataset.numbers[train],
        dataset.numbers[test],
        X[train],
        X[test],
        y[train],
        y[test],
        y[train],
        False,
        np.arange(0),
        tuple(notes),
        whole=whole,
    )


def known_targets(dataset: Dataset) -> NDArray:
    """Targets (n,), those that the data set withholds from a method included; NaN where nobody knows them."""
    return dataset.y if dataset.truth is None else np.where(np.isnan(dataset.y), dataset.truth, dataset.y)


def divisible_rows(y: NDArray, classification: bool) -> NDArray:
    """Labelled rows, without the only row of a class; row numbers."""
    if not classification:
        return np.flatnonzero(~np.isnan(y))
    known = np.flatnonzero(~np.isnan(y))
    counts = np.bincount(y[known].astype(np.intp))
    return known[counts[y[known].astype(np.intp)] > 1]


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


def _with_drawn(dataset: Dataset, settings: Settings) -> Dataset:
    points = usable_drawn(settings, dataset)
    rows = np.zeros((len(points), dataset.n_features))
    rows[:, :2] = points[:, :2]
    return replace(
        dataset,
        X=np.concatenate([dataset.X, rows]),
        y=np.concatenate([dataset.y, points[:, 2]]),
        description=f"{dataset.description} {len(points)} points were drawn by hand.",
    )


def _how_to_get(settings: Settings) -> str:
    name = settings.data_options["name"]
    if settings.data == "rows":
        if not offered():
            return "This server offers no rows on disk: its operator names them with --rows."
        if name and name not in offered():
            return f"This server offers no rows on disk called {name[:40]!r}; it offers {', '.join(sorted(offered()))}."
        return (
            f"Opening the rows on disk {name}: the explorer shows them." if name else "Choose rows on disk under Data."
        )
    if settings.data == "openml":
        if not name:
            return "Type the name or number of an OpenML data set under Data and press Load."
        return f"Press Load under Data to fetch {name} from OpenML."
    if not name:
        return "Choose a file under Data."
    return f"These settings use the file {name}: choose it under Data."
