"""Rows as they are given: arrays, and tables of pandas, Polars or Arrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import is_convertible
from supdr.engine.targets import missing_values

# How every library calls the types of dates, times and durations.
TIMES = re.compile("date|time|duration", re.IGNORECASE)

# The estimators with `accepts_missing_cells`.
MISSING_TAKERS = "LSDR, NSDR, SDRGLM, SNF and the baselines LogisticUDR, SVMUDR and LLR"
MOST_NAMED = 5  # columns of an error


def with_nan(X: Any) -> Any:
    """Return rows whose missing cells are all NaN, whether masked, None or pandas.NA; raise ValueError for dates."""
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, np.asarray(X.data, dtype=float))
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise ValueError(f"X must be a table in memory; got a {type(X).__name__}: call its collect method first")
    for name, kind in _types(X):
        if TIMES.search(str(kind)):
            raise ValueError(
                f"X must hold numbers; {name} holds {kind}: turn it into numbers first, days since 1970 say"
            )
    if getattr(X, "ndim", 0) == 2 and hasattr(X, "dtypes") and hasattr(X, "mask"):
        return X.mask(X.isna(), np.nan) if X.dtypes.eq(object).any() else X
    if isinstance(X, np.ndarray) and X.dtype == object:
        return np.where(missing_values(X, None), np.nan, X)
    return X


def check_finite(X: Any, rows: NDArray, taker: str, *, accepts_missing: bool) -> None:
    """Raise ValueError if `rows` (n, m), read from `X`, hold NaN or infinity; the columns are named, and what to do.

    `taker`: the estimator, which may accept NaN.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum()):
            return
    names = _names(X)
    for what, bad, advice in (
        ("infinity", np.isinf(rows), "write numbers or, where a value is not known, NaN"),
        (
            "NaN",
            np.isnan(rows) & (not accepts_missing),
            f"{taker} takes complete rows: fill the cells, for example with sklearn.impute.SimpleImputer; "
            f"{MISSING_TAKERS} take missing cells",
        ),
    ):
        counts = bad.sum(axis=0)
        where = np.flatnonzero(counts)
        if len(where):
            columns = [f"{names[k]!r} ({counts[k]:,})" if names else f"{k} ({counts[k]:,})" for k in where[:MOST_NAMED]]
            more = f" and {len(where) - MOST_NAMED:,} more" if len(where) > MOST_NAMED else ""
            raise ValueError(
                f"Input X contains {what}, cells of columns {', '.join(columns)}{more}, the first in row "
                f"{int(bad.any(axis=1).argmax())}: {advice}"
            )


def _types(X: Any) -> list[tuple[str, Any]]:
    """Return what the columns of a table, or an array, are called in errors, and their types."""
    if isinstance(X, np.ndarray):
        return [("it", X.dtype)]
    names = _names(X)
    types = X.schema.types if hasattr(X, "column_names") else X.dtypes if names else ()
    return [(f"column {name!r}", kind) for name, kind in zip(names, types)]


def _names(X: Any) -> list[Any]:
    """Return the names of the columns of a table; none of an array or a list."""
    return list(getattr(X, "column_names", X.columns if getattr(X, "ndim", 2) == 2 and hasattr(X, "columns") else ()))


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Name, in an error of the block, the first column of a table that does not hold numbers."""
    try:
        yield
    except (TypeError, ValueError) as error:
        for k, name in enumerate(_names(X)):
            cells = np.asarray(X.iloc[:, k] if hasattr(X, "iloc") else X[name])
            if cells.dtype.kind in "biuf":
                continue
            for value in cells[~missing_values(cells, None)].tolist():
                if not is_convertible(value):
                    raise ValueError(
                        f"X must hold numbers; column {name!r} holds {value!r}: encode it first, for example with "
                        "sklearn.preprocessing.OneHotEncoder"
                    ) from error
        raise
