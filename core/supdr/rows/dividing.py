"""Rows in partitions divided into training and test rows, labelled and unlabelled ones: a share of each partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_number
from supdr.engine.optional import require


def split_rows(X: Any, y: Any, test_share: float, *, random_state: int = 0) -> tuple[Any, Any, Any, Any]:
    """Hold out a share of every partition; nothing is read now.

    Parameters
    ----------
    X : dask.array.Array of shape (N, D)
        Rows, in partitions of known sizes.
    y : dask.array.Array of shape (N,)
        Labels, in the partitions of X.
    test_share : float
        In (0, 1): so many rows of each partition, rounded, are test rows; which, is random.
    random_state : int, default=0
        Seed.

    Returns
    -------
    X_train, X_test, y_train, y_test : dask.array.Array
        In the partitions of X and the order of its rows; a partition without test rows has none in X_test.

    Raises
    ------
    supdr.engine.optional.PackageMissing
        If Dask is not installed.
    ValueError
        If the share is out of range, or sizes are unknown or differ.
    """
    require("split_rows", "dask", "distributed", extra="dask")
    check_number("test_share", test_share, "in (0, 1)", lambda value: 0.0 < value < 1.0)
    sizes = tuple(X.chunks[0])
    if not all(size == size for size in sizes):
        raise ValueError("X must have partitions of known sizes; call compute_chunk_sizes first")
    if sizes != tuple(y.chunks[0]):
        raise ValueError(f"y must have the partitions of X; got {len(y.chunks[0])} and {len(sizes)}")
    X = X.rechunk({1: -1})
    divided = {True: [], False: []}  # type: dict[bool, list[Any]]
    for values in (X, y):
        for tested in (False, True):
            divided[tested].append(_part(values, sizes, test_share, random_state, tested))
    (X_train, y_train), (X_test, y_test) = divided[False], divided[True]
    return X_train, X_test, y_train, y_test


def hide_row_labels(y: Any, label_share: float, *, random_state: int = 0) -> Any:
    """Withhold labels of every partition; nothing is read now.

    Parameters
    ----------
    y : dask.array.Array of shape (N,)
        Labels, in partitions of known sizes.
    label_share : float
        In (0, 1]: labels of so many rows of each partition, rounded, stay; which, is random.  Those of a smaller share
        are among those of a larger one.
    random_state : int, default=0
        Seed.

    Returns
    -------
    dask.array.Array of shape (N,)
        Floating point with NaN, or objects with None, where a label is withheld.

    Raises
    ------
    supdr.engine.optional.PackageMissing
        If Dask is not installed.
    ValueError
        If the share is out of range.
    """
    require("hide_row_labels", "dask", "distributed", extra="dask")
    check_number("label_share", label_share, "in (0, 1]", lambda value: 0.0 < value <= 1.0)
    kind = np.dtype(float if y.dtype.kind in "iufb" else object)
    return y.map_blocks(_hidden, label_share, random_state, kind, dtype=kind, meta=np.empty(0, kind))


def labels_kept(size: int, label_share: float, seed: int, partition: int) -> NDArray[np.bool_]:
    """Tell which rows of a partition keep their labels: bool (size,), the same every time."""
    rows = np.random.default_rng([seed, 1 << 23, partition]).permutation(size)[: round(label_share * size)]
    mask = np.zeros(size, dtype=bool)
    mask[rows] = True
    return mask


def held_out(size: int, test_share: float, seed: int, partition: int) -> NDArray[np.bool_]:
    """Tell which rows of a partition are test rows: bool (size,), the same every time."""
    rows = np.random.default_rng([seed, 1 << 22, partition]).permutation(size)[: round(test_share * size)]
    mask = np.zeros(size, dtype=bool)
    mask[rows] = True
    return mask


def _part(values: Any, sizes: tuple[int, ...], share: float, seed: int, tested: bool) -> Any:
    import dask.array as da
    from dask import delayed

    blocks = np.asarray(values.to_delayed(), dtype=object).ravel()
    arrays = []
    for number, (block, size) in enumerate(zip(blocks, sizes)):
        count = round(share * size)
        count = count if tested else size - count
        if count:
            part_rows = delayed(_rows_of_part, pure=False)(block, share, seed, number, tested)
            arrays.append(da.from_delayed(part_rows, (count, *values.shape[1:]), dtype=values.dtype))
    if not arrays:
        part = "test" if tested else "training"
        raise ValueError(f"test_share must leave {part} rows in some partition; got {share} of {max(sizes)} rows")
    return da.concatenate(arrays)


def _rows_of_part(block: NDArray, share: float, seed: int, partition: int, tested: bool) -> NDArray:
    return block[held_out(len(block), share, seed, partition) == tested]


def _hidden(block: NDArray, share: float, seed: int, kind: Any, block_info: Any = None) -> NDArray:
    partition = 0 if not block_info else block_info[0]["chunk-location"][0]
    labels = block.astype(kind)
    labels[~labels_kept(len(labels), share, seed, partition)] = None if kind.kind == "O" else np.nan
    return labels
