"""AnnData files (`.h5ad`): cells by genes, a layer or coordinates of the cells, and what is noted of each cell.

The layout is that of https://anndata.readthedocs.io/en/stable/fileformat-prose.html, of versions since 0.7.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from supdr.datasets._tables import Table, check_names
from supdr.datasets.limits import FileProblem, Limits, check_shape, check_unpacked, chosen_one, complete
from supdr.engine.optional import require

SPARSE = ("csr_matrix", "csc_matrix")
# Groups of tables beside X: layers have its columns, the others have columns of their own.
LAYERS, COORDINATES = "layers", "obsm"


def read_h5ad(data: bytes, name: str, limits: Limits, rules: Any, sheet: str | None = None) -> Table:
    """Read X, or the table that `sheet` names, such as "layers/counts" or "obsm/X_pca", and the columns of obs."""
    require("Reading AnnData", "h5py", extra="anndata")
    import h5py
    import pandas as pd

    with complete(name, "AnnData file", OSError, KeyError, RuntimeError), h5py.File(io.BytesIO(data), "r") as file:
        tables = _tables(file)
        if not tables or not isinstance(file.get("obs"), h5py.Group):
            raise FileProblem(f"{name} is no AnnData file of version 0.7 or later: it has no X or no obs.")
        table = chosen_one(sheet, list(tables), name)
        values = _numbers(tables[table], table, name, limits)
        genes = _index(file["var"], limits) if table == "X" or table.startswith(LAYERS) else None
        annotations = {key: _column(file["obs"], key, limits) for key in _order(file["obs"])}
    coordinate = table.rpartition("/")[2]
    names = genes if genes is not None else [f"{coordinate}{j + 1}" for j in range(values.shape[1])]
    check_names([*names, *annotations])
    frame = pd.DataFrame(values, columns=list(names))
    if any(len(column) != len(frame) for column in annotations.values()):
        raise FileProblem(f"The columns of obs in {name} must have {len(frame):,} rows, as {table} has.")
    categorical = {key: column for key, column in annotations.items() if isinstance(column, pd.Categorical)}
    levels = [key for key, column in categorical.items() if len(column.categories) > 1]
    frame = pd.concat([frame, pd.DataFrame(annotations)], axis=1)
    return Table(
        frame,
        format=f"{table} of an AnnData file",
        target=levels[-1] if levels else None,
        sheets=tuple(tables),
        sheet=table,
        annotations=tuple(annotations),
    )


def _tables(file: Any) -> dict[str, Any]:
    """Return X, the layers and the coordinates of the cells, where they are numbers."""
    elements = {"X": file["X"]} if "X" in file else {}
    for group in (LAYERS, COORDINATES):
        elements |= {f"{group}/{key}": each for key, each in file.get(group, {}).items()}
    return {key: each for key, each in elements.items() if _is_sparse(each) or getattr(each, "ndim", 0) == 2}


def _is_sparse(element: Any) -> bool:
    return element.attrs.get("encoding-type") in SPARSE


def _numbers(element: Any, key: str, name: str, limits: Limits) -> np.ndarray:
    """Return a table of numbers, after a check of its size."""
    from scipy import sparse

    stored = element["data"] if _is_sparse(element) else element
    shape = tuple(int(side) for side in (element.attrs["shape"] if _is_sparse(element) else element.shape))
    if stored.dtype.kind not in "biuf" or len(shape) != 2:
        raise FileProblem(f"{key} in {name} must be a table of numbers; it holds {stored.dtype}.")
    check_shape(limits, name, *shape)
    if not _is_sparse(element):
        return element[()]
    parts = [_vector(element[part], limits) for part in ("data", "indices", "indptr")]
    kind = sparse.csr_array if element.attrs["encoding-type"] == SPARSE[0] else sparse.csc_array
    rows = kind(tuple(parts), shape=shape)
    rows.check_format()
    return rows.toarray()


def _vector(stored: Any, limits: Limits) -> np.ndarray:
    """Return an array of one dimension, text as str, after a check of its size."""
    import h5py

    check_unpacked(limits, stored.name, stored.size * stored.dtype.itemsize)
    if stored.ndim != 1:
        raise FileProblem(f"{stored.name} must have one dimension, its shape is {stored.shape}.")
    text = h5py.check_string_dtype(stored.dtype) is not None
    return np.asarray(stored.asstr(errors="replace")[()] if text else stored[()])


def _order(obs: Any) -> list[str]:
    return [str(key) for key in obs.attrs.get("column-order", ())]


def _index(table: Any, limits: Limits) -> list[str]:
    """Return the names of the rows of obs or var."""
    return [str(each) for each in _vector(table[str(table.attrs.get("_index", "_index"))], limits)]


def _column(obs: Any, key: str, limits: Limits) -> Any:
    """Return a column of obs: numbers, text, declared levels or nullable numbers."""
    import pandas as pd

    stored = obs[key]
    parts = () if hasattr(stored, "dtype") else tuple(stored)  # of a group
    if "codes" in parts:
        categories = _vector(stored["categories"], limits)
        return pd.Categorical.from_codes(_vector(stored["codes"], limits), pd.Index(categories).astype(str))
    if "values" in parts and "mask" in parts:
        values, mask = (_vector(stored[part], limits) for part in ("values", "mask"))
        return pd.Series(values).astype(object if values.dtype.kind in "OUb" else float).mask(mask)
    values = _vector(stored, limits)
    if "categories" in stored.attrs:  # of versions 0.7
        levels = _vector(obs.file[stored.attrs["categories"]], limits)
        return pd.Categorical.from_codes(values, pd.Index(levels).astype(str))
    return pd.Series(values, dtype=str) if values.dtype.kind in "OU" else pd.Series(values)
