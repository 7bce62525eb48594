"""What MAC's items have in common: the paper's schedule, its grid of C, and choosing by validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from supdr_viz.papers.bench import Bench

# The paper's schedule: mu grows when the passes at this mu have converged, here when one lowers Q by less than 1 %.
PASSES: dict[str, Any] = {
    "max_inner": 50,
    "reg_w": 1e-3,
    "early_stopping": False,
    "calibrate": False,
    "preprocessing": "none",
}

# The paper's grid of C.
COSTS = tuple(10.0**power for power in range(-3, 4))


def thirds(y: NDArray, n: int, train: float = 0.6) -> list[tuple[NDArray, NDArray]]:
    """Return n random splits into rows to train and, half and half, rows to choose by and rows to test.

    `y` (n_samples,); `train`: share of the rows to train.
    """
    splits = StratifiedShuffleSplit(n, train_size=train, random_state=0).split(y, y)
    return [(train, test[: len(test) // 2 * 2]) for train, test in splits]


def validation_error(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the share of wrong rows in the first half."""
    return float(np.mean(model.predict(X[: len(X) // 2]) != y[: len(X) // 2]))


def test_error(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the share of wrong rows in the second half."""
    return float(np.mean(model.predict(X[len(X) // 2 :]) != y[len(X) // 2 :]))


def by_validation(
    bench: Bench,
    model: Any,
    X: NDArray,
    y: NDArray,
    splits: Sequence[tuple[NDArray, NDArray]],
    grid: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[float, ...]:
    """Return the test error of every split, with the cell of the grid with the least error on its validation rows.

    `splits`: the first half of what is held out is to choose by, the second half to test.
    """
    scoring = {"validation": validation_error, "test": test_error}
    errors = []
    for split in splits:  # one by one: values of C have the decomposition of the features in common
        cells = bench.sweep(model, X, y, grid, cv=[split], scoring=scoring).cells.values()
        errors.append(min(cells, key=lambda cell: cell.mean("validation")).mean("test"))
    return tuple(errors)
