"""Rows on disk that are never all in memory: each partition is read when it is worked on."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import FileProblem
from supdr.engine.optional import require
from supdr.rows.stored_arrays import Stored, members, opened, unchecked

PARTITION_ROWS = 100_000

# A number of rows, what reads them, and what reads their labels.
Part = tuple[int, Callable[[], NDArray], Callable[[], NDArray]]


def read_rows(
    path: str | os.PathLike[str], target: str | int | os.PathLike[str], *, partition_rows: int = PARTITION_ROWS
) -> tuple[Any, Any]:
    """Return rows and labels on disk as Dask arrays; nothing but sizes and names is read now.

    Parameters
    ----------
    path : path
        A folder of Parquet files, taken in the order of their names, or one; or a ``.npy`` file or a ``.zarr`` folder
        of shape (N, D); or an ``.npz`` file as `numpy.savez` writes it, whose first array of two dimensions is taken.
    target : str, int or path
        What is predicted.  Parquet: the name of a column; every other column must hold numbers.  ``.npz``: the name of
        an array of shape (N,), or the number of a column.  Others: the number of a column, or a ``.npy`` file or a
        ``.zarr`` folder of shape (N,).
    partition_rows : int, default=100000
        Rows of a partition.  Parquet is read by whole row groups, and Zarr by whole chunks: a partition has as many as
        fit, at least one.  None crosses the end of a Parquet file.

    Returns
    -------
    X : dask.array.Array of shape (N, D)
        In the type of number that is stored.
    y : dask.array.Array of shape (N,)
        In the partitions of X.

    Raises
    ------
    supdr.engine.optional.PackageMissing
        If Dask is not installed, or pyarrow for Parquet, or zarr for Zarr.
    FileProblem
        If there is no such file or it does not hold such rows.
    ValueError
        If `partition_rows` is less than 1.
    """
    require("read_rows", "dask", "distributed", extra="dask")
    if isinstance(partition_rows, bool) or not isinstance(partition_rows, int) or partition_rows < 1:
        raise ValueError(f"partition_rows must be an integer of at least 1; got {partition_rows!r}")
    place = Path(path)
    if not place.exists():
        raise FileProblem(f"There is no file or folder {place}.")
    if place.suffix == ".npz" and place.is_file():
        tables = [name for name, shape in members(place).items() if len(shape) == 2]
        if not tables:
            raise FileProblem(f"{place.name} has no array of two dimensions.")
        labels = Stored(place, target) if isinstance(target, str) else target
        return _from_array(Stored(place, tables[0]), labels, partition_rows)
    if place.suffix == ".zarr" or (place.suffix == ".npy" and place.is_file()):
        labels = target if isinstance(target, (int, np.integer)) else Stored(Path(target))
        return _from_array(Stored(place), labels, partition_rows)
    files = sorted(place.glob("*.parquet")) if place.is_dir() else [place] * (place.suffix == ".parquet")
    if not files:
        what = "the folder has no .parquet file" if place.is_dir() else f"its name ends in {place.suffix or 'nothing'}"
        raise FileProblem(
            f"path must be a folder of Parquet files, a .npy or .npz file or a .zarr folder; got {place}: {what}."
        )
    require("Reading Parquet", "pyarrow", extra="dask")
    return _from_parquet(files, target, partition_rows)


def _from_array(place: Stored, target: Any, partition_rows: int) -> tuple[Any, Any]:
    rows = opened(place, 2)
    n, width = rows.shape
    columns = np.arange(width)
    if isinstance(target, Stored):
        beside, labels, label_column = target, opened(target, 1), None
        if labels.shape != (n,):
            raise FileProblem(f"{place.name} has {n} rows, but {beside.name} has {labels.shape[0]} labels.")
    else:
        if not 0 <= target < width:
            raise FileProblem(f"target must be the number of a column, 0 to {width - 1}; got {target}.")
        columns = np.delete(columns, target)
        beside, labels, label_column = place, rows, int(target)
    whole = slice(None) if len(columns) == width else columns
    chunk = getattr(rows, "chunks", (1,))[0]
    step = max(partition_rows // chunk, 1) * chunk
    parts: list[Part] = []
    for start in range(0, n, step):
        end = min(start + step, n)
        rows_read = partial(_array_rows, place, start, end, whole)
        parts.append((end - start, rows_read, partial(_array_rows, beside, start, end, label_column)))
    return _arrays(parts, (len(columns), rows.dtype, labels.dtype))


def _array_rows(place: Stored, start: int, end: int, columns: Any) -> NDArray:
    rows = unchecked(place)[start:end]
    return np.array(rows if columns is None else rows[:, columns])


def _from_parquet(files: list[Path], target: Any, partition_rows: int) -> tuple[Any, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts: list[Part] = []
    schema: Any = None
    for path in files:
        try:
            file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            raise FileProblem(f"{path} is no Parquet file that can be read: {error}") from None
        if schema is None:
            schema, names = file.schema_arrow, [name for name in file.schema_arrow.names if name != target]
            _check_columns(path, schema, names, target)
        elif not file.schema_arrow.equals(schema):
            raise FileProblem(f"{path.name} has other columns than {files[0].name}.")
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        for groups in _together(sizes, partition_rows):
            count = sum(sizes[group] for group in groups)
            rows_read = partial(_parquet_rows, path, groups, names)
            parts.append((count, rows_read, partial(_parquet_labels, path, groups, target)))
    if not parts:
        raise FileProblem(f"{files[0].parent} has no rows.")
    kinds = (
        np.result_type(*(schema.field(name).type.to_pandas_dtype() for name in names)),
        _label_type(schema, target),
    )
    return _arrays(parts, (len(names), *kinds))


def _check_columns(path: Path, schema: Any, names: list[str], target: Any) -> None:
    import pyarrow.types as types

    if target not in schema.names:
        raise FileProblem(
            f"target must be a column of {path.name}; got {target!r}, it has {', '.join(schema.names[:8])}."
        )
    if not names:
        raise FileProblem(f"{path.name} has no column beside {target}.")
    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise FileProblem(f"Column {name} of {path.name} must hold numbers; it holds {kind}.")


def _label_type(schema: Any, target: str) -> np.dtype:
    import pyarrow.types as types

    kind = schema.field(target).type
    return np.dtype(float if types.is_integer(kind) or types.is_floating(kind) else object)


def _together(sizes: list[int], most: int) -> list[list[int]]:
    """Return row groups, neighbours together up to a number of rows; empty ones are left out."""
    together: list[list[int]] = []
    count = most
    for number, size in enumerate(sizes):
        if not size:
            continue
        if count + size > most:
            together.append([])
            count = 0
        together[-1].append(number)
        count += size
    return together


def _parquet_rows(path: Path, groups: list[int], names: list[str]) -> NDArray:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read_row_groups(groups, columns=names, use_threads=False)
    return np.column_stack([table[name].to_numpy() for name in names])


def _parquet_labels(path: Path, groups: list[int], target: str) -> NDArray:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    values = file.read_row_groups(groups, columns=[target], use_threads=False)[target].to_numpy()
    return values.astype(_label_type(file.schema_arrow, target))


def _arrays(parts: list[Part], kinds: tuple[int, Any, Any]) -> tuple[Any, Any]:
    """Return Dask arrays; `kinds` are the width of the rows, their type and that of the labels."""
    import dask.array as da
    from dask import delayed

    width, row_type, label_type = kinds
    rows, labels = [], []
    for count, rows_read, labels_read in parts:
        rows.append(da.from_delayed(delayed(rows_read, pure=False)(), (count, width), dtype=row_type))
        labels.append(da.from_delayed(delayed(labels_read, pure=False)(), (count,), dtype=label_type))
    return da.concatenate(rows), da.concatenate(labels)
