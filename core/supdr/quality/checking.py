"""Checks of the arguments of all measures, and the sample of rows to measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from supdr.engine.checks import check_integer, check_seed, check_sizes
from supdr.engine.sparse_rows import is_sparse
from supdr.engine.targets import as_labels, missing_values, uniform_labels

# Largest number of rows of which all are measured.
MOST_EXACT = 5000

# Number of measured rows of larger data.
SAMPLE = 1000

# Most cells of sparse rows that are made dense: 800 MB.
MOST_CELLS = 100_000_000


def check_rows(X: Any, name: str = "X", *, made_dense: bool = True, **settings: Any) -> Any:
    """Return rows (n, D) as floats; sparse ones as csr or made dense, TypeError where they are too many for that."""
    if is_sparse(X):
        X = check_array(X, dtype=float, accept_sparse="csr", input_name=name)
        if not made_dense:
            return X
        cells = X.shape[0] * X.shape[1]
        if cells > MOST_CELLS:
            raise TypeError(
                f"{name} is sparse, and this measure takes dense rows of at most {MOST_CELLS:,} cells; these would "
                f"have {cells:,}. Measure some of the rows, or their principal components: "
                "PCAProjection(n_components=50).fit(X, y).transform(X)"
            )
        X = X.toarray()
    return check_array(X, dtype=float, input_name=name, **settings)


def check_map(X: Any, Z: Any) -> tuple[NDArray, NDArray]:
    """Return rows and map positions as arrays of floats; raise ValueError for missing cells or different lengths."""
    X, Z = (check_rows(rows, name, order="C", ensure_min_samples=3) for name, rows in (("X", X), ("Z", Z)))
    check_sizes("X", X)
    check_sizes("Z", Z)
    if len(X) != len(Z):
        raise ValueError(f"X and Z must be the same rows; X has {len(X)}, Z has {len(Z)}")
    return X, Z


def labelled_classes(y: Any, n_rows: int) -> tuple[NDArray, NDArray]:
    """Return which rows have a label, (n,), and the classes of those; raise ValueError unless `y` has n entries."""
    labels = as_labels(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must hold one class for each of the {n_rows} rows; got shape {labels.shape}")
    labelled = ~missing_values(labels, None)
    return labelled, uniform_labels(labels[labelled])


def check_neighbors(n_neighbors: Any, n_rows: int) -> None:
    """Raise ValueError unless `n_neighbors` is an integer from 1 to less than half of the rows."""
    check_integer("n_neighbors", n_neighbors)
    if 2 * n_neighbors >= n_rows:
        raise ValueError(f"n_neighbors must be less than half of the {n_rows} rows; got {n_neighbors}")


def usable_neighbors(n_rows: int) -> int:
    """Return 10, or the largest number of neighbours that is less than half of the rows."""
    return max(1, min(10, (n_rows - 1) // 2))


def row_numbers(rows: Any, n_rows: int) -> NDArray:
    """Return row numbers as an array, None for all rows; raise ValueError if one is out of range."""
    if rows is None:
        return np.arange(n_rows)
    numbers = np.atleast_1d(np.asarray(rows))
    if numbers.size == 0:  # NumPy makes floats of an empty list
        return np.empty(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= n_rows)).any():
        raise ValueError(f"rows must be row numbers from 0 to {n_rows - 1}; got {rows!r}")
    return numbers.astype(np.int64)


def sampled_rows(n_rows: int, sample_size: int | None, random_state: Any) -> NDArray:
    """Return the numbers of the rows to measure, in order; None: all of up to `MOST_EXACT`, else `SAMPLE` of them."""
    check_seed("random_state", random_state)
    if sample_size is None:
        sample_size = n_rows if n_rows <= MOST_EXACT else SAMPLE
    check_integer("sample_size", sample_size)
    if sample_size >= n_rows:
        return np.arange(n_rows)
    return np.sort(check_random_state(random_state).choice(n_rows, sample_size, replace=False))
