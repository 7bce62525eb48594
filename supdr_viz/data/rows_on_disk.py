"""Rows on disk: which there are, as the operator says; a fixed sample to look at, and all of them in partitions."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.datasets import Dataset, FileProblem, hide_row_labels, read_rows, split_rows
from supdr.rows.dividing import held_out, labels_kept
from supdr.rows.stored_arrays import members, shape_of
from supdr_viz.data.number_format import numeral
from supdr_viz.data.target_meaning import MOST_CLASSES, classes_of

# Names of folders and where they are, as JSON; set by the command's ``--rows``.
VARIABLE = "SUPDR_ROWS"

# Rows of the sample that is looked at.
SHOWN = 2_000

# Endings of one array each.
ARRAYS = (".npy", ".zarr")


@dataclass(frozen=True)
class Whole:
    """All rows of a run, divided, beside the sample in its `Split`.

    X_test, y_test: None: no rows are held out.
    rows: numbers of the sample's training rows among all training rows; rising.
    has_gaps: whether some rows have no label.
    truth_train: labels of the training rows before some were hidden; None: none were.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    rows: NDArray
    has_gaps: bool
    truth_train: Any = None

    @property
    def n_rows(self) -> int:
        """Number of training and test rows."""
        return len(self.X_train) + (0 if self.X_test is None else len(self.X_test))


@dataclass(frozen=True, eq=False)
class RowsOnDisk(Dataset):
    """A sample of rows on disk, as a data set; all of them are beside it.

    all_X, all_y: rows, and class numbers or, for regression, values; NaN without a label.
    numbers (n_samples,): of the sample among all rows; rising.
    has_gaps: whether some of all rows have no label.
    all_kind: kind of the labels as they are on disk: numpy's letter.
    """

    all_X: Any = None
    all_y: Any = None
    numbers: Any = None
    has_gaps: bool = False
    all_kind: str = "f"

    @property
    def n_all(self) -> int:
        """Number of all rows."""
        return int(self.all_X.shape[0])

    @property
    def sample(self) -> Dataset:
        """The rows of the sample alone, as a data set in memory."""
        return Dataset(**{each.name: getattr(self, each.name) for each in fields(Dataset)})


def offered() -> dict[str, Path]:
    """Return what the operator offers: name -> folder or file.  Nothing else on the disk can be reached."""
    return {name: Path(place) for name, place in json.loads(os.environ.get(VARIABLE, "{}")).items()}


def described(places: Sequence[str]) -> str:
    """Write what the command's ``--rows`` says as the variable; each is FOLDER or NAME=FOLDER.

    Raises ValueError if one holds no rows, or two have the same name.
    """
    paths: dict[str, str] = {}
    for text in places:
        name, equals, place = text.partition("=")
        path = Path(place if equals else text).resolve()
        name = name if equals else path.stem
        if name in paths:
            raise ValueError(f"two rows on disk are called {name!r}: write one of them as NAME=FOLDER")
        if not _kind(path):
            raise ValueError(f"{path} holds no rows: no .parquet, .npy, .npz or .zarr")
        paths[name] = str(path)
    return json.dumps(paths)


def place_of(name: str) -> Path:
    """Return where rows on disk are that are offered.

    `name`: whatever a link says. Raises FileProblem if nothing of this name is offered.
    """
    places = offered()
    if name not in places:
        names = ", ".join(sorted(places)) or "none"
        raise FileProblem(f"This server offers no rows on disk called {name[:40]!r}; it offers {names}.")
    return places[name]


def targets_of(name: str) -> list[str]:
    """Return what can be the target: columns of Parquet, or files and columns beside an array; the likeliest first.

    `name`: of rows on disk that are offered. Raises FileProblem if they are not offered, or cannot be read.
    """
    path = place_of(name)
    if _kind(path) == "parquet":
        import pyarrow.parquet as pq

        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        try:
            columns = list(pq.ParquetFile(files[0]).schema_arrow.names)
        except (OSError, ValueError) as error:
            raise FileProblem(f"{files[0].name} cannot be read: {error}") from None
        likely = [each for each in columns if each.lower() in ("label", "target", "class", "y")]
        return [*likely, *reversed([each for each in columns if each not in likely])]
    shape, others = _beside(path)
    return [*others, *(f"column {k}" for k in reversed(range(shape[1])))]


def reading_of(name: str, target: str) -> tuple[Path, Any]:
    """Return what `read_rows` is told: a path, and the target.

    `name`, `target`: whatever a link says. Returns `path`; `target`. Raises FileProblem if they are not offered, or
    have no such target.
    """
    path, targets = place_of(name), targets_of(name)
    if target not in targets:
        raise FileProblem(f"{name} has no target called {target[:40]!r}; it has {', '.join(targets[:8])}.")
    if _kind(path) == "parquet":
        return path, target
    _, others = _beside(path)
    rows = path if _kind(path) == "npz" else _arrays(path)[0]
    return rows, others[target] if target in others else int(target.removeprefix("column "))


def relative_reading(name: str, target: str) -> tuple[str, str | int]:
    """Return what `read_rows` is told by a program that is run where the rows are, and is not told where that is.

    `name`, `target`: as for `reading_of`. Returns `path`; `target`.
    """
    path, labels = reading_of(name, target or targets_of(name)[0])
    within = path.suffix in ARRAYS and place_of(name) != path
    beside = path.parent if path.suffix in ARRAYS else path
    base = Path(name) / path.name if within else Path(path.name)
    if isinstance(labels, Path):
        return base.as_posix(), (base.parent / labels.relative_to(beside)).as_posix()
    return base.as_posix(), labels


def open_rows(name: str, target: str, task: str = "auto") -> RowsOnDisk:
    """Look at every partition once: its labels, and the rows of the sample.

    `name`, `target`: whatever a link says; an empty target is the likeliest one. `task` (one of "auto",
    "classification", "regression"): what the target means; "auto": classes if it can, else numbers. Raises FileProblem
    if they are not offered, cannot be read, or the target cannot mean that; PackageMissing if Dask is not installed.
    """
    from supdr.rows.partitions import at_home, delay, from_list, gather
    from supdr.rows.reading import class_numbers, numbers, row_partitions, summarise, target_numbers

    target = target or targets_of(name)[0]
    X, y = read_rows(*reading_of(name, target))
    sizes, n = X.chunks[0], X.shape[0]
    sampled = np.sort(np.random.default_rng(0).choice(n, SHOWN, replace=False)) if n > SHOWN else np.arange(n)
    ends = np.cumsum(sizes)
    local = np.split(sampled, np.searchsorted(sampled, ends)[:-1])
    rows, labels = row_partitions(X, y)
    parts = delay(numbers, at_home(rows), False), delay(np.asarray, at_home(labels))
    chosen = from_list([each - end + size for each, end, size in zip(local, ends, sizes)])
    looks = gather(summarise, *parts, chosen, MOST_CLASSES)
    values = np.unique(np.concatenate([each.values for each in looks]))
    classes = classes_of(values, task, target)
    if classes is None:
        coded, names = target_numbers, [target]
        low, high = float(values[0]), float(values[-1])
        content = f"numbers from {numeral(low, high - low, 4)} to {numeral(high, high - low, 4)}"
    else:
        coded = partial(class_numbers, classes=classes)
        names = [f"{value:g}" if isinstance(value, float) else str(value) for value in classes.tolist()]
        content = f"{len(classes)} classes"
    return RowsOnDisk(
        X=np.concatenate([each.rows for each in looks]),
        y=coded(np.concatenate([each.labels for each in looks])),
        target_names=names,
        task="regression" if classes is None else "classification",
        name=name,
        description=f"{n:,} rows on disk in {len(sizes)} partitions, {X.shape[1]} columns, {content}.",
        all_X=X,
        all_y=y.map_blocks(coded, dtype=float),
        numbers=sampled,
        all_kind=y.dtype.kind,
        has_gaps=any(each.has_gaps for each in looks),
    )


def divided(
    dataset: RowsOnDisk, test_share: float, label_share: float, seed: int
) -> tuple[Whole, NDArray[np.bool_], NDArray[np.bool_]]:
    """Hold out a share of every partition, and hide labels of the others.

    `test_share`, `label_share`: of the rows, and of the labels of training rows that stay. Returns `whole`; `is_test`
    (n_samples,): rows of the sample that are held out; `is_hidden` (n_samples,): those whose labels are hidden.
    """
    X_train, X_test, y_train, y_test = dataset.all_X, None, dataset.all_y, None
    if test_share > 0:
        X_train, X_test, y_train, y_test = split_rows(X_train, y_train, test_share, random_state=seed)
    numbers, is_test, is_hidden = dataset.numbers, *np.zeros((2, len(dataset.numbers)), dtype=bool)
    among, before, start, place = [], 0, 0, 0
    for partition, size in enumerate(dataset.all_X.chunks[0]):
        mine = (numbers >= start) & (numbers < start + size)
        tested = held_out(size, test_share, seed, partition) if test_share > 0 else np.zeros(size, dtype=bool)
        local, n_train = numbers[mine] - start, int((~tested).sum())
        own = (np.cumsum(~tested) - 1)[local[~tested[local]]]
        is_test[mine] = tested[local]
        among.append(before + own)
        if label_share < 1 and n_train:  # without training rows the labels are in no partition
            is_hidden[np.flatnonzero(mine)[~tested[local]]] = ~labels_kept(n_train, label_share, seed, place)[own]
        start, before, place = start + size, before + n_train, place + (n_train > 0)
    targets, rows = None, np.concatenate(among)
    if label_share < 1:
        targets, y_train = y_train, hide_row_labels(y_train, label_share, random_state=seed)
    has_gaps = dataset.has_gaps or label_share < 1
    return Whole(X_train, y_train, X_test, y_test, rows, has_gaps, targets), is_test, is_hidden


def _kind(path: Path) -> str:
    """Name what a place holds: "parquet", "npz", "array", or nothing."""
    if path.suffix in (".parquet", ".npz") and path.is_file():
        return path.suffix[1:]
    if path.is_dir() and any(path.glob("*.parquet")):
        return "parquet"
    return "array" if _stored(path) else ""


def _stored(path: Path) -> list[Path]:
    """Return the arrays of a place, `ARRAYS`, in the order of their names."""
    if path.suffix in ARRAYS and path.exists():
        return [path]
    return sorted(each for ending in ARRAYS for each in path.glob(f"*{ending}")) if path.is_dir() else []


def _arrays(path: Path) -> tuple[Path, tuple[int, ...], list[Path]]:
    """Return the array of rows of a place, the first with two dimensions, its shape, and those of one number a row."""
    shapes = {each: shape_of(each) for each in _stored(path)}
    tables = [each for each in shapes if len(shapes[each]) == 2]
    if not tables:
        raise FileProblem(f"{path.name} has no array of two dimensions.")
    rows = tables[0]
    return rows, shapes[rows], [each for each in shapes if shapes[each] == shapes[rows][:1]]


def _beside(path: Path) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Return the shape of the array of rows, and what can be the target beside it, by name, as `read_rows` is told."""
    if _kind(path) != "npz":
        _, shape, others = _arrays(path)
        return shape, {each.name: each for each in others}
    shapes = members(path)
    tables = [each for each in shapes.values() if len(each) == 2]
    if not tables:
        raise FileProblem(f"{path.name} has no array of two dimensions.")
    shape = tables[0]
    return shape, {name: name for name in shapes if shapes[name] == shape[:1]}
