"""Formats that carry their own types: Parquet, NPZ, LIBSVM."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import IO, TYPE_CHECKING

import numpy as np

from supdr.datasets._columns import EXACT_BELOW, TOO_LARGE
from supdr.datasets._tables import TARGET_NAMES, Table, check_names
from supdr.datasets.labels import NUMBER
from supdr.datasets.limits import (
    FileProblem,
    Limits,
    check_shape,
    check_unpacked,
    chosen_one,
    complete,
    listed,
    reason_of,
    shown,
)
from supdr.datasets.proposals import MERGING, Rules, sized
from supdr.engine.optional import require
from supdr.rows.stored_arrays import header

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from pyarrow import parquet

FEATURE_NAMES = "feature_names"
MAX_TEXT = 1_000
TAKEN = "which LSDR, SDRGLM and MAC(mapping='linear') take."
LARGER_LIBSVM = f"In Python, sklearn.datasets.load_svmlight_file reads it as sparse rows, {TAKEN}"
LARGER_SPARSE = f"In Python, scipy.sparse.load_npz reads it as sparse rows, {TAKEN}"
COLOURS = ("red", "green", "blue", "alpha")
MOST_COLOURS = len(COLOURS)
SMALLEST_PICTURE = 4  # pixels of a side
# What a table is called beside its labels: X_train and y_train.
X_WORD = re.compile(r"(?<![A-Za-z])[xX](?![A-Za-z])")
RISING = "in every line, indices must increase and be in range"
VALUE = rf"(?:{NUMBER.pattern}|[+-]?(?i:inf|infinity|nan))"
# A first line that no other format has.
BEGINNING = re.compile(
    rf"(?:#.*\n|\s)*{VALUE}(?:[ \t]+qid:\d+)?(?:[ \t]+\d+:{VALUE}){{3,}}[ \t]*(?:#.*)?\r?\n".encode()
)
LIBSVM_LINE = re.compile(rf"\s*({VALUE}(\s+qid:\d+)?(\s+\d+:{VALUE})*\s*)?(#.*)?")


def read_parquet(data: bytes, name: str, limits: Limits, rules: Rules) -> Table:
    """Read a Parquet file after its footer has told how large the table is and what it holds."""
    require("Reading Parquet", "pyarrow", extra="files")
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet, types

    try:
        footer = parquet.ParquetFile(io.BytesIO(data))
        _check_footer(footer, name, limits)
        # kept as a dictionary while reading: one long text in every row is stored once
        texts = [field.name for field in footer.schema_arrow if _is_text(field.type)]
        table = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts).read()
        columns: dict[str, pandas.Series] = {}
        for field, values in zip(table.schema, table.columns):
            if types.is_string_view(field.type) or types.is_binary_view(field.type):
                plain = pa.large_string() if types.is_string_view(field.type) else pa.large_binary()
                values, texts = values.cast(plain).dictionary_encode(), [*texts, field.name]
            columns |= _arrow_column(field.name, values, field.name in texts, rules)
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except (pa.ArrowException, OSError) as error:
        raise FileProblem(f"{name} is not a complete Parquet file ({reason_of(error)}).") from None
    frame = pd.DataFrame(columns)
    check_shape(limits, name, *frame.shape)
    return Table(frame, format="Parquet")


def _check_footer(footer: parquet.ParquetFile, name: str, limits: Limits) -> None:
    metadata, schema = footer.metadata, footer.schema_arrow
    if not len(schema):
        raise FileProblem(f"{name} has no columns.")
    check_shape(limits, name, metadata.num_rows, len(schema))
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    check_unpacked(limits, name, sum(group.total_byte_size for group in groups))
    cells = sum(group.column(j).num_values for group in groups for j in range(group.num_columns))
    check_shape(limits, name, cells // max(1, len(schema)), len(schema))  # of columns of lists, too
    check_names(schema.names)


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)


def _arrow_column(name: str, values: pyarrow.ChunkedArray, is_text: bool, rules: Rules) -> dict[str, pandas.Series]:
    """Return a column of Arrow as columns of pandas: several of lists of numbers, else one."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import types

    kind = values.type
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _vector(name, values)
    if types.is_dictionary(kind):
        column = _levels(name, values, is_text, rules)
        return {name: _as_numbers(column, name, rules) if is_text else column}
    if types.is_decimal(kind) or types.is_integer(kind):
        numbers, exact = values.cast(pa.float64(), safe=False), partial(_texts, values)
        if _are_codes(numbers.to_pandas(), exact, name, rules):
            return {name: exact()}
        values = numbers if types.is_decimal(kind) else values
    elif types.is_float16(kind):
        values = values.cast(pa.float64())
    elif types.is_boolean(kind):
        return {name: values.to_pandas(types_mapper={kind: pd.BooleanDtype()}.get)}
    elif not (types.is_floating(kind) or types.is_null(kind)):
        dates = types.is_date(kind) or types.is_timestamp(kind)
        return {name: values.to_pandas(date_as_object=False) if dates else _unusable(values)}
    return {name: values.to_pandas()}


def _texts(values: pyarrow.ChunkedArray) -> pandas.Series:
    import pyarrow as pa

    return values.cast(pa.string()).to_pandas().astype(object)


def _are_codes(numbers: pandas.Series, exact: Callable[[], pandas.Series], name: str, rules: Rules) -> bool:
    """Tell whole numbers and decimals, `exact` as texts, some of which would become one number of double precision."""
    if (numbers.isna() | ((numbers.abs() < EXACT_BELOW) & (numbers == numbers.round()))).all():
        return False
    texts = exact()
    if texts.nunique() == numbers.nunique():
        return False
    return not rules.propose("codes", MERGING, int(texts.notna().sum()), column=name, example=texts.dropna().iloc[0])


def _unusable(values: pyarrow.ChunkedArray) -> pandas.Series:
    """Return a column that is neither numbers, text nor dates in Arrow's own type."""
    import pandas as pd

    return values.to_pandas(types_mapper=pd.ArrowDtype)


def _levels(name: str, values: pyarrow.ChunkedArray, is_text: bool, rules: Rules) -> pandas.Series:
    """Return a column of texts or of declared levels; an empty text may stand for a missing one."""
    column = values.to_pandas()
    longest = max((len(level) for level in column.cat.categories if hasattr(level, "__len__")), default=0)
    if longest > MAX_TEXT:
        raise FileProblem(
            f"Column {shown(name)} holds a text of {longest:,} characters; at most {MAX_TEXT:,} are read."
        )
    if not is_text:
        return column
    texts = column.astype(object).map(lambda text: text.decode("latin-1") if isinstance(text, bytes) else text)
    return rules.without_empty(texts)


def _as_numbers(column: pandas.Series, name: str, rules: Rules) -> pandas.Series:
    """Read text as numbers, if that is accepted: the file says that it is text."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    count = int(column.notna().sum())
    if not count or numbers.notna().sum() < count:
        return column
    example = str(column.dropna().iloc[0])
    return numbers if rules.propose("numbers", "Read text as numbers", count, column=name, example=example) else column


def _vector(name: str, values: pyarrow.ChunkedArray) -> dict[str, pandas.Series]:
    """Return the columns of a column of lists of equally many numbers; otherwise one that cannot be used."""
    import pandas as pd
    import pyarrow.compute as pc
    from pyarrow import types

    lengths = pc.list_value_length(values).drop_null().unique()
    inside = values.type.value_type
    if len(lengths) != 1 or not lengths[0].as_py() or not (types.is_integer(inside) or types.is_floating(inside)):
        return {name: _unusable(values)}
    size, present = lengths[0].as_py(), values.is_valid().to_numpy()
    numbers = np.full((len(values), size), np.nan)
    numbers[present] = pc.list_flatten(values).to_numpy().reshape(-1, size)
    return {f"{name}:{j + 1}": pd.Series(numbers[:, j]) for j in range(size)}


def read_npz(data: bytes, name: str, limits: Limits, rules: Rules, sheet: str | None = None) -> Table:
    """Read the arrays of an NPZ file: one table X or several views side by side, and the targets y.

    Of tables with the same columns and other rows, as X_train and X_test, `sheet` names one, else the first within the
    limits is read.
    """
    import pandas as pd

    with complete(name, "NPZ file", zipfile.BadZipFile, EOFError, OSError, ValueError):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, name, limits)
        with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
            arrays = {key: loaded[key] for key in loaded.files}
    if {"indptr", "indices", "shape"} <= set(arrays):
        raise FileProblem(f"{name} holds a sparse matrix of SciPy. {LARGER_SPARSE}")
    names = arrays.pop(FEATURE_NAMES, None)
    arrays, sizes = flattened(arrays)
    arrays, chosen, parts, notes = _one_part(arrays, sheet, name, limits)
    tables = {key: array for key, array in arrays.items() if array.ndim != 1}
    target = _target_among(arrays, tables)
    y = None if target is None else arrays.pop(target)
    views = {key: array for key, array in arrays.items() if key in tables or not tables}
    n_rows = _check_views(views, name)
    check_shape(limits, name, n_rows, sum(array.shape[1] for array in views.values()))
    frames, shape, told = framed(views, sizes, names)
    beside = {key: _entries(arrays[key], key, n_rows, rules) for key in arrays if key not in views}
    frame = pd.concat([*frames, pd.DataFrame(beside)], axis=1)
    check_names([*frame.columns, *([] if target is None else [target])])
    if y is not None:
        frame[target] = _entries(y, str(target), n_rows, rules)
    for column in frame.select_dtypes("integer"):
        exact = partial(frame[column].astype, str)
        if _are_codes(frame[column].astype(float), exact, str(column), rules):
            frame[column] = exact()
    notes = (*notes, *told)
    return Table(frame, format="NPZ", target=target, sheets=parts, sheet=chosen, notes=notes, image_shape=shape)


def flattened(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, tuple[int, int, int]]]:
    """Return arrays of images as rows, one colour after the other, and of each its colours, height and width.

    They are (n, height, width), or have up to four colours, as the last axis or the second; others stay as they are.
    """
    rows, sizes = dict(arrays), {}
    for key, array in arrays.items():
        if array.ndim == 4 and array.shape[3] <= MOST_COLOURS:
            array = np.moveaxis(array, 3, 1)
        if array.ndim == 3 or (array.ndim == 4 and array.shape[1] <= MOST_COLOURS):
            colours, height, width = array.shape[1:] if array.ndim == 4 else (1, *array.shape[1:])
            sizes[key] = (colours, height, width)
            rows[key] = array.reshape(len(array), colours * height * width)
    return rows, sizes


def framed(
    views: Mapping[str, np.ndarray], sizes: Mapping[str, tuple[int, int, int]], names: np.ndarray | None = None
) -> tuple[list[pandas.DataFrame], tuple[int, int] | None, list[str]]:
    """Return the columns of every view, the height and width of the picture that the first ones are, and notes.

    Each colour of an image is a view.
    """
    parts: dict[str, np.ndarray] = {}
    notes = []
    for key, array in views.items():
        colours, height, width = sizes.get(key, (1, 0, 0))
        words = COLOURS if colours in (3, 4) else tuple(f"channel {k + 1}" for k in range(colours))
        labels = [key] if colours == 1 else [word if len(views) == 1 else f"{key} {word}" for word in words]
        parts |= dict(zip(labels, np.split(array, colours, axis=1)))
        if key in sizes:
            each = f"{colours} of " * (colours > 1)
            notes.append(f"A row of {shown(key)} is {each}{height} × {width} cells, line by line.")
    _, *shape = sizes.get(next(iter(views)), (1, 0, 0))
    picture = (shape[0], shape[1]) if min(shape) >= SMALLEST_PICTURE else None
    return [view_frame(part, array, names, len(parts)) for part, array in parts.items()], picture, notes


def _one_part(
    arrays: dict[str, np.ndarray], sheet: str | None, name: str, limits: Limits
) -> tuple[dict[str, np.ndarray], str, tuple[str, ...], tuple[str, ...]]:
    """Return the arrays of one part of the rows, the name of its table, those of all tables, and a note.

    All rows are one part unless each table has labels of its own, or tables have the same columns and other rows.
    """
    tables = {key: array.shape for key, array in arrays.items() if array.ndim == 2 and array.shape[1] > 1}
    sizes = {rows for rows, _ in tables.values()}
    twins = {key: [X_WORD.sub(y, key) for y in "Yy" if X_WORD.search(key)] for key in tables}
    labels = {key: label for key, each in twins.items() for label in each if label in arrays}
    paired = len(labels) == len(tables)  # equally many rows in X_train and X_test are other rows all the same
    alike = len({columns for _, columns in tables.values()}) == 1 and len(sizes) > 1
    if len(tables) < 2 or not (paired or alike):
        if sheet is not None:
            raise FileProblem(f"{name} is one table; there is no table {shown(sheet)} to choose.")
        return arrays, "", (), ()
    fitting = sorted(tables, key=lambda key: prod(tables[key]) > limits.max_cells)
    chosen = chosen_one(sheet, fitting, name)
    own = {chosen, labels.get(chosen, chosen)}
    others = [
        key
        for key, array in arrays.items()
        if (paired and key in {*labels, *labels.values()} - own)
        or (array.ndim and len(array) in sizes and len(array) != tables[chosen][0])
    ]
    note = f"Table {shown(chosen)} is read; of other rows, and left out, are {listed(others)}."
    return {key: array for key, array in arrays.items() if key not in others}, chosen, tuple(tables), (note,)


def _target_among(arrays: dict[str, np.ndarray], tables: dict[str, np.ndarray]) -> str | None:
    """Name the array of targets: one of a usual name, or the only one that is no table."""
    usual = [key for word in TARGET_NAMES for key in arrays if key.lower() in (word, f"{word}s", f"{word}es")]
    vectors = [key for key in arrays if key not in tables]
    return usual[0] if usual else vectors[0] if len(vectors) == 1 and tables else None


def _check_members(archive: zipfile.ZipFile, name: str, limits: Limits) -> None:
    """Check every array's header before its data are unpacked: a header alone can claim any size."""
    members = archive.infolist()
    if not members:
        raise FileProblem(f"{name} is empty.")
    if len(members) > limits.max_arrays:
        raise FileProblem(f"{name} has {len(members):,} arrays; at most {limits.max_arrays:,} are read.")
    check_unpacked(limits, name, sum(member.file_size for member in members))
    for member in members:
        with archive.open(member) as file:
            _check_array(file, member.file_size, member.filename.removesuffix(".npy"), name, limits)


def _check_array(file: IO[bytes], length: int, array: str, name: str, limits: Limits) -> None:
    """Check that an array of so many bytes is what its header says."""
    try:
        shape, _, dtype = header(file)
    except (ValueError, KeyError):
        raise FileProblem(f"{shown(array)} in {name} is not a NumPy array.") from None
    if dtype.hasobject:
        raise FileProblem(
            f"Array {shown(array)} holds Python objects, which are never opened; save it as numbers or text."
        )
    size = dtype.itemsize
    for side in shape:
        size *= int(side)
    check_unpacked(limits, name, size)
    if file.tell() + size != length:
        raise FileProblem(f"Array {shown(array)} in {name} is cut short or damaged.")


def opened_array(content: bytes, array: str, name: str, limits: Limits) -> np.ndarray:
    """Return the array of a `.npy` file that is a member of an archive."""
    file = io.BytesIO(content)
    _check_array(file, len(content), array, name, limits)
    file.seek(0)
    return np.load(file, allow_pickle=False)


def _check_views(arrays: dict[str, np.ndarray], name: str) -> int:
    """Check that the views are tables of numbers with equally many rows; return that number."""
    if not arrays:
        raise FileProblem(f"{name} has no two-dimensional array of features.")
    n_rows = 0
    for view, array in arrays.items():
        if array.dtype.kind not in "biuf":
            words = ": save it with array.astype(float), if its texts are numbers" * (array.dtype.kind in "US")
            raise FileProblem(f"Array {shown(view)} must hold numbers, it holds {array.dtype}{words}.")
        if array.ndim != 2:
            raise FileProblem(
                f"Array {shown(view)} must have two dimensions (rows, columns), or three or four for images, its shape "
                f"is {array.shape}; array.reshape(len(array), -1) makes rows of it."
            )
        n_rows = n_rows or len(array)
        if len(array) != n_rows:
            first = next(iter(arrays))
            raise FileProblem(f"Array {shown(view)} has {len(array)} rows, array {shown(first)} has {n_rows}.")
    return n_rows


def view_frame(view: str, array: np.ndarray, names: np.ndarray | None, n_views: int) -> pandas.DataFrame:
    """Return a view as columns: called by the view where there are several, else by `names` or x1, x2, ...."""
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


def _entries(y: np.ndarray, target: str, n_rows: int, rules: Rules) -> np.ndarray:
    """Return an array of one dimension as a column."""
    import pandas as pd

    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise FileProblem(f"Array {shown(target)} must have one dimension, its shape is {y.shape}.")
    if len(y) != n_rows:
        raise FileProblem(f"Array {shown(target)} has {len(y)} entries for {n_rows} rows.")
    if y.dtype.kind == "S":
        y = np.char.decode(y, "latin-1")
    return rules.without_empty(pd.Series(y, dtype=object)).to_numpy() if y.dtype.kind == "U" else y


def read_libsvm(data: bytes, name: str, limits: Limits, rules: Rules) -> Table:
    """Read LIBSVM (svmlight) text: `label index:value …` per line, absent entries being zero, with or without qid."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    try:
        sparse, y, queries = load_svmlight_file(io.BytesIO(data), zero_based=True, query_id=True)
    except (ValueError, OverflowError, IndexError):
        raise FileProblem(_complaint(data) or f"{name} is not in LIBSVM format: {RISING}.") from None
    if not len(y):
        raise FileProblem(f"{name} is empty.")
    beyond = "" if np.isfinite(sparse.data).all() and np.isfinite(y).all() else _complaint(data)
    if beyond:
        raise FileProblem(beyond)  # scikit-learn makes such a number an infinite one
    from_zero = sparse.nnz == 0 or sparse.indices.min() == 0
    sparse = sparse if from_zero else sparse[:, 1:]
    try:
        check_shape(limits, name, *sparse.shape)
    except FileProblem as problem:
        raise FileProblem(f"{problem} {LARGER_LIBSVM}") from None
    frame = pd.DataFrame(sparse.toarray(), columns=[f"x{j + 1}" for j in range(sparse.shape[1])])
    notes = [f"{sparse.nnz:,} of the {frame.size:,} cells are written; the others are 0, and the table holds them all."]
    if from_zero and sparse.nnz:
        notes.append("Indices begin with 0: index 0 is column x1.")
    remarks = sum(b"#" in line and not line.lstrip().startswith(b"#") for line in data.splitlines())
    if remarks:
        notes.append(f"Remarks behind rows are left out: {remarks:,}.")
    several = len(queries) == len(y)
    if len(queries) and not several:
        raise FileProblem(f"{name} has a qid in {sized(len(queries), 'rows')} of {len(y):,}: all have one, or none.")
    beside = {"qid": queries} if several else {}
    return Table(
        frame.assign(**beside, label=y), format="LIBSVM", target="label", notes=tuple(notes), annotations=tuple(beside)
    )


def _complaint(data: bytes) -> str:
    """Say which line is not in LIBSVM format or holds a number beyond the range; empty: none."""
    for number, line in enumerate(data.decode("latin-1").splitlines(), start=1):
        if not LIBSVM_LINE.fullmatch(line):
            return f"Line {number} is not in LIBSVM format (label index:value index:value …): {shown(line)}."
        for value in re.split(r"[\s:]+", line.partition("#")[0].strip()):
            if NUMBER.fullmatch(value) and not np.isfinite(float(value)):
                return f"Line {number} holds {shown(value)}, {TOO_LARGE}."
    return ""
