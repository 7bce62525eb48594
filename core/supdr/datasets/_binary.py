"""Formats that carry their own types: Parquet, NPZ, LIBSVM."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._tables import TARGET_NAMES, Table, check_names
from supdr.datasets.limits import FileProblem, Limits, reason_of, shown
from supdr.engine.optional import require

if TYPE_CHECKING:
    import pandas
    import pyarrow

FEATURE_NAMES = "feature_names"
MAX_TEXT = 1_000
# version (3, 0) is for structured arrays, which are not tables of numbers
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
LIBSVM_LINE = re.compile(r"\s*(#.*|[^\s:,#]+(\s+qid:\d+)?(\s+\d+:[^\s:]+)*\s*(#.*)?)?")


def read_parquet(data: bytes, name: str, limits: Limits) -> Table:
    """Read a Parquet file after its footer has told how large the table is and what it holds."""
    require("Reading Parquet", "pyarrow", extra="files")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        footer = parquet.ParquetFile(io.BytesIO(data))
        metadata, schema = footer.metadata, footer.schema_arrow
        if not len(schema):
            raise FileProblem(f"{name} has no columns.")
        limits.check_shape(name, metadata.num_rows, len(schema))
        limits.check_unpacked(name, sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups)))
        check_names(schema.names)
        texts = _text_columns(schema)
        # kept as a dictionary while reading: one long text in every row is stored once
        frame = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts).read().to_pandas().reset_index(drop=True)
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except (pa.ArrowException, OSError) as error:
        raise FileProblem(f"{name} is not a complete Parquet file ({reason_of(error)}).") from None
    for column in frame.columns[frame.dtypes == "category"]:
        longest = max((len(value) for value in frame[column].cat.categories if hasattr(value, "__len__")), default=0)
        if longest > MAX_TEXT:
            raise FileProblem(
                f"Column {shown(column)} holds a text of {longest:,} characters; at most {MAX_TEXT:,} are read."
            )
    for field in schema:
        if pa.types.is_decimal(field.type):
            frame[field.name] = frame[field.name].astype(float)
    for column in frame.columns.intersection(texts):
        text = frame[column].astype(object)
        frame[column] = text.where(text != "", None)
    return Table(frame, format="Parquet")


def _text_columns(schema: pyarrow.Schema) -> list[str]:
    """Name the columns of text; refuse columns of anything but numbers, yes/no, text and dates."""
    from pyarrow import types

    texts = []
    for field in schema:
        kind = field.type
        if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
            texts.append(field.name)
        elif (
            types.is_nested(kind)
            or types.is_fixed_size_binary(kind)
            or not (
                types.is_primitive(kind) or types.is_dictionary(kind) or types.is_decimal(kind) or types.is_null(kind)
            )
        ):
            raise FileProblem(
                f"Column {shown(field.name)} holds values of type {shown(kind)}; it must hold numbers, yes/no or text."
            )
    return texts


def read_npz(data: bytes, name: str, limits: Limits) -> Table:
    """Read the arrays of an NPZ file: one table X or several views side by side, and the targets y.

    `feature_names` may name the columns of a single table. Nothing is unpickled.
    """
    import pandas as pd

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, name, limits)
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            arrays = {key: loaded[key] for key in loaded.files}
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise FileProblem(f"{name} is not a complete NPZ file ({reason_of(error)}).") from None

    names = arrays.pop(FEATURE_NAMES, None)
    target = next((key for word in TARGET_NAMES for key in arrays if key.lower() == word), None)
    y = None if target is None else arrays.pop(target)
    n_rows = _check_views(arrays, name)
    limits.check_shape(name, n_rows, sum(array.shape[1] for array in arrays.values()))
    frame = pd.concat([_view_frame(view, array, names, len(arrays)) for view, array in arrays.items()], axis=1)
    check_names([*frame.columns, *([] if target is None else [target])])
    if y is not None:
        frame[target] = _targets(y, str(target), n_rows)
    return Table(frame, format="NPZ", target=target)


def _check_members(archive: zipfile.ZipFile, name: str, limits: Limits) -> None:
    """Check every array's header before its data are unpacked: a header alone can claim any size."""
    members = archive.infolist()
    if not members:
        raise FileProblem(f"{name} is empty.")
    if len(members) > limits.max_arrays:
        raise FileProblem(f"{name} has {len(members):,} arrays; at most {limits.max_arrays:,} are read.")
    limits.check_unpacked(name, sum(member.file_size for member in members))
    for member in members:
        array = member.filename.removesuffix(".npy")
        with archive.open(member) as file:
            try:
                shape, _, dtype = HEADERS[np.lib.format.read_magic(file)](file)
            except (ValueError, KeyError):
                raise FileProblem(f"{shown(member.filename)} in {name} is not a NumPy array.") from None
            start = file.tell()
        if dtype.hasobject:
            raise FileProblem(
                f"Array {shown(array)} holds Python objects, which are never opened; save it as numbers or text."
            )
        size = dtype.itemsize
        for side in shape:
            size *= int(side)
        limits.check_unpacked(name, size)
        if start + size != member.file_size:
            raise FileProblem(f"Array {shown(array)} in {name} is cut short or damaged.")


def _check_views(arrays: dict[str, np.ndarray], name: str) -> int:
    """Check that the views are tables of numbers with equally many rows; return that number."""
    if not arrays:
        raise FileProblem(f"{name} has no two-dimensional array of features.")
    n_rows = 0
    for view, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise FileProblem(f"Array {shown(view)} must hold numbers, it holds {array.dtype}.")
        if array.ndim != 2:
            raise FileProblem(
                f"Array {shown(view)} must have two dimensions (rows, columns), its shape is {array.shape}."
            )
        n_rows = n_rows or len(array)
        if len(array) != n_rows:
            first = next(iter(arrays))
            raise FileProblem(f"Array {shown(view)} has {len(array)} rows, array {shown(first)} has {n_rows}.")
    return n_rows


def _view_frame(view: str, array: np.ndarray, names: np.ndarray | None, n_views: int) -> pandas.DataFrame:
    import pandas as pd

    if n_views > 1:
        columns = [f"{view.replace(':', '_')}:{j + 1}" for j in range(array.shape[1])]
    elif names is None:
        columns = [f"x{j + 1}" for j in range(array.shape[1])]
    elif names.shape == (array.shape[1],):
        columns = [str(column) for column in names]
    else:
        raise FileProblem(f"Array 'feature_names' must name {array.shape[1]} columns, its shape is {names.shape}.")
    return pd.DataFrame(array, columns=columns)


def _targets(y: np.ndarray, target: str, n_rows: int) -> np.ndarray:
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise FileProblem(f"Array {shown(target)} must have one dimension, its shape is {y.shape}.")
    if len(y) != n_rows:
        raise FileProblem(f"Array {shown(target)} has {len(y)} entries for {n_rows} rows.")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "latin-1")
    if y.dtype.kind == "U":
        # empty text marks an unlabelled row
        y = np.array([value or None for value in y.tolist()], dtype=object)
    return y


def read_libsvm(data: bytes, name: str, limits: Limits) -> Table:
    """Read LIBSVM (svmlight) text: `label index:value …` per line, absent entries being zero."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        sparse, y = load_svmlight_file(io.BytesIO(data), zero_based="auto")
    except (ValueError, OverflowError, IndexError):
        raise FileProblem(_libsvm_complaint(data, name)) from None
    if not len(y):
        raise FileProblem(f"{name} is empty.")
    limits.check_shape(name, *sparse.shape)
    frame = pd.DataFrame(sparse.toarray(), columns=[f"x{j + 1}" for j in range(sparse.shape[1])])
    return Table(frame.assign(label=y), format="LIBSVM", target="label")


def _libsvm_complaint(data: bytes, name: str) -> str:
    for number, line in enumerate(data.decode("latin-1").splitlines(), start=1):
        if not LIBSVM_LINE.fullmatch(line) or not _all_numbers(line):
            return f"Line {number} is not in LIBSVM format (label index:value index:value …): {shown(line)}."
    return f"{name} is not in LIBSVM format: in every line, indices must increase and be in range."


def _all_numbers(line: str) -> bool:
    label, *pairs = line.split("#")[0].split() or ["0"]
    try:
        for cell in [label, *(pair.split(":")[1] for pair in pairs if not pair.startswith("qid:"))]:
            float(cell)
    except ValueError:
        return False
    return True
