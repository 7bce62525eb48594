"""From settings to what a run needs: the data set and the estimator; rows are divided in `settings.splitting`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer

from supdr import datasets
from supdr.datasets import Dataset
from supdr.datasets.limits import listed
from supdr.engine.parameters import TASK
from supdr_viz.data.rows_on_disk import RowsOnDisk, offered
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.methods import MENU, METHODS_GROUP, WORDS, Method
from supdr_viz.experiment.settings import Settings


class NotAtHand(ValueError):
    """The data of these settings must first be loaded by the user; the message says how."""


class Unusable(ValueError):
    """These settings do not go together with these data; the message says why, in one sentence."""


def build_dataset(settings: Settings, uploaded: Dataset | None = None) -> Dataset:
    """Generate or load the rows of these settings, drawn points last.

    `uploaded`: what the user loaded, for the sources "openml" and "file". Raises NotAtHand if the data must be loaded
    first.
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
    gaps: bool = False,
) -> Any:
    """Make the estimator, not fitted.

    `task` (one of "classification", "regression"): of the data. `n_rows`: number of training rows: more basis functions
    than rows mean as many as rows. `views`: sizes of the column groups of the data, for methods that tell views apart.
    `gaps`: whether cells of the data are missing.  Such rows cannot be whitened, and test rows may be the only ones.
    Raises Unusable if the method does not know this task.
    """
    return MENU[settings.method].estimator(**estimator_arguments(settings, task, n_rows, views, gaps))


def check_columns(settings: Settings, dataset: Dataset) -> None:
    """Check that the method takes the columns of the data.

    Raises Unusable if the method takes bits only and a column holds something else, needs cells that are missing, or
    there are more rows than it takes; if the rows are on disk and it, or a value of one of its knobs, needs them in
    memory, or it does not predict such targets.
    """
    method = MENU[settings.method]
    if isinstance(dataset, RowsOnDisk):
        _check_for_partitions(settings, method, dataset.task)
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
            f"or choose a method that takes rows as they are: {gap_takers()}."
        )
    empty = [str(row + 1) for row in np.flatnonzero(np.isnan(dataset.X).all(axis=1))] if gaps else []
    if empty and method.takes_gaps:
        numbers = f"Row {empty[0]} has" if len(empty) == 1 else f"Rows {listed(empty)} have"
        raise Unusable(
            f"{numbers} no value in any feature, and {method.label} places rows by the values that they have: leave "
            "such rows out of the file, or choose a method that has missing cells filled, such as MAC."
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


def _check_for_partitions(settings: Settings, method: Method, task: str) -> None:
    """Raise `Unusable` if a method, or the value of a knob in the words of the form, is none for rows on disk."""
    if not method.learns_on_disk(task):
        why = "needs all rows in memory"
        if method.takes_partitions:
            why = f"predicts {WORDS[method.tasks()[0]]}"
        elif method.estimator.takes_partitions:
            why = "learns rows on disk in Python only, as it places new rows by those that it has seen"
        raise Unusable(f"{method.label} {why}. {partition_takers(task)}")
    options, accepted = settings.method_options, method.estimator.partition_support.accepted
    for spec in method.form:
        if spec.name not in accepted or not spec.applies({**options, TASK: task}):
            continue
        if any(value is options[spec.name] or value == options[spec.name] for value in accepted[spec.name]):
            continue
        if spec.kind == "bool":
            raise Unusable(f"{spec.label} needs all rows in memory: switch it off for rows on disk.")
        texts = dict(spec.choices)
        others = " or ".join(f"“{texts[value]}”" for value in accepted[spec.name] if value in texts)
        raise Unusable(
            f"{spec.label} “{texts[options[spec.name]]}” needs all rows in memory: choose {others} for rows on disk."
        )


def partition_takers(task: str) -> str:
    """Say which methods learn targets of rows that are on disk."""
    labels = [each.label for each in MENU.values() if each.learns_on_disk(task)]
    what = "Numbers of rows" if task == "regression" else "Rows"
    return f"{what} on disk are learnt by {' and '.join(filter(None, [', '.join(labels[:-1]), labels[-1]]))}."


def gap_takers() -> str:
    """Name the papers' methods that take rows with missing cells."""
    labels = [each.label for each in MENU.values() if each.group == METHODS_GROUP and each.takes_gaps]
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def has_gaps(dataset: Dataset) -> bool:
    """Whether cells of the data are missing."""
    return bool(np.isnan(dataset.X).any())


def imputation(settings: Settings, dataset: Dataset) -> str:
    """Name the strategy by which missing cells are filled for this method; empty: they are not, or there are none."""
    strategy = settings.data_options.get("impute", "none")
    if strategy == "none" or MENU[settings.method].takes_gaps or not has_gaps(dataset):
        return ""
    return strategy


def imputer(settings: Settings, dataset: Dataset) -> SimpleImputer | None:
    """Return what fills missing cells for this method, not fitted; None: nothing is to be filled."""
    strategy = imputation(settings, dataset)
    return SimpleImputer(strategy=strategy, keep_empty_features=True) if strategy else None


def estimator_arguments(
    settings: Settings,
    task: str,
    n_rows: int | None = None,
    views: Sequence[int] | None = None,
    gaps: bool = False,
) -> dict[str, Any]:
    """Give the constructor arguments that differ from the defaults, and the seed.

    `task`: one of "classification", "regression"; `n_rows`, `views`, `gaps`: see `build_estimator`. Raises Unusable if
    the method does not know this task.
    """
    method = MENU[settings.method]
    options = settings.method_options
    arguments = {
        spec.name: options[spec.name]
        for spec in method.form
        if options[spec.name] != spec.library_default and spec.applies({**options, TASK: task})
    }
    parameters = inspect.signature(method.estimator).parameters
    tasks = method.tasks()
    if task not in tasks:
        others = [each.label for each in MENU.values() if each.group == METHODS_GROUP and task in each.tasks()]
        needs, got = ("classes", "numeric") if task == "regression" else ("numbers", "a class")
        raise Unusable(
            f"{method.label} needs {needs}, but this target is {got}. Try {', '.join(others[:-1])} or {others[-1]}."
        )
    if task != tasks[0]:
        arguments["task"] = task
    if task == "regression" and "loss" in parameters:
        arguments["loss"] = "squared"
    if n_rows is not None and (arguments.get("n_centers") or 0) > n_rows:
        arguments["n_centers"] = n_rows
    if views is not None and "views" in parameters:
        arguments["views"] = tuple(views)
    if gaps and method.takes_gaps and options.get("preprocessing") == "whiten":
        arguments["preprocessing"] = "zscore"
    return {**arguments, "random_state": settings.seed}


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
        return f"Opening the rows on disk {name} …" if name else "Choose rows on disk under Data."
    if settings.data == "openml":
        if not name:
            return "Type the name or number of an OpenML data set under Data and press Load."
        return f"Press Load under Data to fetch {name} from OpenML."
    if not name:
        return 'Press "Open a file …" and choose one.'
    return f'These settings use the file {name}: press "Open a file …" and choose it.'
