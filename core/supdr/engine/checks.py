"""Checks of hyper-parameters and cells: each error names the argument, what came and what is accepted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from supdr.engine.sparse_rows import SparseRows

# Largest accepted cell of X and y: squares of larger numbers are not finite.
LARGEST = 1e150

# An error of a computation names the hyper-parameters outside of this range; weights of rows and classes lie within it.
TINY, HUGE = 1e-30, 1e30


class FileProblem(ValueError):
    """What is wrong with a data file, uploaded or downloaded, in one sentence for the person who chose it."""


def check_integer(name: str, value: Any, low: int = 1) -> None:
    """Raise ValueError unless `value` is an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {value!r}")


def check_number(name: str, value: Any, accepted: str, holds: Callable[[Any], bool]) -> None:
    """Raise ValueError unless `value` is a finite number for which `holds` is true, that is, `accepted` in words."""
    if not _is_number(value) or not holds(value):
        raise ValueError(f"{name} must be a number {accepted}; got {value!r}")


def check_seed(name: str, value: Any) -> None:
    """Raise ValueError unless scikit-learn's `check_random_state` takes `value`."""
    try:
        check_random_state(value)
    except (TypeError, ValueError) as error:
        accepted = "None, an integer from 0 to 2**32 - 1 or a RandomState"
        raise ValueError(f"{name} must be {accepted}; got {value!r}") from error


def numbers_in(name: str, value: Any) -> NDArray:
    """Return a copy of `value` as an array of floats; raise ValueError if it holds anything but numbers."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers; got {value!r}") from error


def is_convertible(value: Any) -> bool:
    """Whether a cell can be made a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def check_sizes(name: str, values: NDArray) -> None:
    """Raise ValueError for a number whose square is not finite; NaN is accepted."""
    if isinstance(values, SparseRows):
        largest = values.largest()
        if not np.isfinite(largest) or largest > LARGEST:
            raise ValueError(f"{name} must hold numbers from {-LARGEST:g} to {LARGEST:g}; got {largest:g}")
        return
    flat = values.ravel()
    if flat.size and max(np.fmax.reduce(flat), -np.fmin.reduce(flat)) > LARGEST:
        cell = np.unravel_index(np.nanargmax(np.abs(values)), values.shape)
        place = f"column {cell[1]} of row {cell[0]}" if values.ndim > 1 else f"row {cell[0]}"
        raise ValueError(f"{name} must hold numbers from {-LARGEST:g} to {LARGEST:g}; got {values[cell]:g} in {place}")


def check_weights(sample_weight: Any, X: NDArray) -> NDArray:
    """Return the weights of the rows (n,); raise ValueError unless they are numbers from 0 to `HUGE`."""
    try:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold one number >= 0 per row: {error}") from error
    if weights.max() > HUGE:
        raise ValueError(f"sample_weight must hold numbers up to {HUGE:g}; got {weights.max():g}")
    return weights


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise ValueError unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def warn_of_many_components(n_components: int, n_columns: int) -> None:
    """Warn the caller of `fit` of more latent coordinates than preprocessed columns."""
    if n_components > n_columns:
        warnings.warn(
            f"n_components={n_components} exceeds the {n_columns} columns of the preprocessed data",
            UserWarning,
            stacklevel=5,
        )


def check_start(init: Any, names: Collection[str], shape: tuple[int, int | None]) -> None:
    """Raise ValueError unless `init` is one of `names` or a finite array of latent rows of this shape; None: any."""
    if isinstance(init, str):
        check_choice("init", init, names)
        return
    actual, (n_rows, n_columns) = np.shape(init), shape
    if len(actual) != 2 or actual[0] != n_rows or not actual[1] or n_columns not in (None, actual[1]):
        quoted = ", ".join(map(repr, names))
        expected = f"({n_rows}, {'n_components' if n_columns is None else n_columns})"
        raise ValueError(f"init must be {quoted} or an array of shape {expected}; got shape {actual}")
    if not np.isfinite(numbers_in("init", init)).all():
        raise ValueError("init must be finite; got NaN or infinity")


@contextmanager
def naming_extremes(parameters: Mapping[str, Any]) -> Iterator[None]:
    """Add the hyper-parameters outside of `TINY` to `HUGE` to the message of an error in the block."""
    try:
        yield
    except (ArithmeticError, ValueError) as error:
        sizes = {name: abs(value) for name, value in parameters.items() if _is_number(value) and value != 0}
        extreme = [f"{name}={parameters[name]:g}" for name, size in sizes.items() if not TINY < size < HUGE]
        if not extreme:
            raise
        raise ValueError(f"{', '.join(extreme)}: the computation fails with numbers of this size: {error}") from error


def check_snapshot(start: Any, estimator: Any) -> None:
    """Raise ValueError unless `start` is a snapshot that a run of `estimator` can resume from."""
    run = getattr(start, "run", None)
    related = run is None or isinstance(run, type(estimator)) or isinstance(estimator, type(run))
    if not related or not all(hasattr(start, name) for name in ("state", "fixed")):
        raise ValueError(f"start must be a snapshot that {type(estimator).__name__}.iterate has made; got {start!r}")


def check_shapes(state: Any, **expected: tuple[int, int]) -> None:
    """Raise ValueError unless the arrays of a state to go on from have these shapes; partitions have none."""
    for name, shape in expected.items():
        actual = getattr(getattr(state, name), "shape", shape)
        if actual != shape:
            raise ValueError(f"start does not fit: its {name} has shape {actual}, this run needs {shape}")


def check_unchanged(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise ValueError for a hyper-parameter whose value `now` is not the value `before`, at the start of the run."""
    for name, value in before.items():
        other = now.get(name)
        if not same_value(value, other):
            raise ValueError(f"{name} cannot change within a run: start was made with {value!r}, now it is {other!r}")


def check_cells(X: NDArray) -> None:
    """Raise ValueError if a row of `X` has no observed cell (all NaN)."""
    if isinstance(X, SparseRows):
        return
    empty = np.isnan(X).all(axis=1)
    if empty.any():
        raise ValueError(
            f"X has no observed cell in row {int(np.flatnonzero(empty)[0])} of {len(X)}: leave such rows out, or fill "
            "their cells, for example with sklearn.impute.SimpleImputer"
        )


def check_rows_differ(name: str, X: NDArray) -> None:
    """Raise ValueError if all rows of `X` are equal; `name`: the method, which needs rows that differ."""
    if not np.ptp(X, axis=0).any():
        raise ValueError(f"{name} needs rows that differ; all {len(X)} labelled rows are equal")


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))


def same_value(one: Any, other: Any) -> bool:
    """Whether two hyper-parameters are equal: arrays by value, sequences (which may be ragged) entry by entry.

    Estimators are equal if their classes and hyper-parameters are.
    """
    if one is other:
        return True
    if isinstance(one, BaseEstimator):
        values = one.get_params(deep=False)
        return type(one) is type(other) and all(same_value(values[k], v) for k, v in other.get_params(False).items())
    both_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    if both_nan or np.array_equal(one, other):
        return True
    both_sequences = isinstance(one, (list, tuple)) and isinstance(other, (list, tuple))
    return both_sequences and len(one) == len(other) and all(map(same_value, one, other))
