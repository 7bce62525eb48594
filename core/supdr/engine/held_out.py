"""Early stopping: labelled rows whose labels are hidden from the method, and how well it does on them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.targets import Targets


def held_out_rows(targets: Targets, share: float, seed: int) -> NDArray:
    """Choose labelled rows whose labels are hidden to watch generalisation; stratified for classification.

    `targets`: decoded targets. `share`: share of the labelled rows, in (0, 1).  Every class keeps at least one labelled
    row. `seed`: seed of the choice. Returns sorted row indices. Raises ValueError if `share` is out of range or no row
    can be spared.
    """
    if not 0.0 < share < 1.0:
        raise ValueError(f"validation_fraction must lie in (0, 1); got {share!r}")
    rng = np.random.default_rng(seed)
    chosen = []
    for code in np.unique(targets.codes[targets.labelled]):
        members = rng.permutation(np.flatnonzero(targets.labelled & (targets.codes == code)))
        chosen.append(members[: min(round(share * len(members)), len(members) - 1)])
    rows = np.sort(np.concatenate(chosen))
    if not len(rows):
        raise ValueError(
            f"early_stopping cannot hold out any of {int(targets.labelled.sum())} labelled rows "
            f"(validation_fraction={share:g})"
        )
    return rows


class HeldOut:
    """Scores states by the rows whose labels were hidden from them.

    `estimator`: whose states are scored; its training rows are those of `targets`. `targets`: with the labels of all
    rows. `rows`: which of them were hidden.
    """

    def __init__(self, estimator: Any, targets: Targets, rows: NDArray) -> None:
        self._estimator, self._rows = estimator, rows
        self._regression = targets.classes is None
        self._codes, self._values, self._weights = targets.codes[rows], targets.values[rows], targets.weights[rows]
        several = self._regression and targets.values.shape[1] > 1
        self._unit = np.nanvar(targets.values, axis=0) if several else np.ones(targets.values.shape[1])
        self._unit[self._unit == 0.0] = 1.0

    def __call__(self, state: Any) -> tuple[float, float]:
        """Return the error, then the mean hinge; for regression the mean squared error, then 0.

        Rows count by their weights, several targets as shares of their variances.
        """
        fitted = copy.copy(self._estimator)
        fitted._stand_at(state)
        scores = fitted._own_scores()[self._rows]
        if self._regression:
            errors = np.ma.masked_invalid((scores - self._values) ** 2 / self._unit)  # single targets may be missing
            return float(np.ma.average(errors.mean(axis=1), weights=self._weights)), 0.0
        guess = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        hinge = np.maximum(0.0, 1.0 - self._values * scores)
        return self._mean(guess != self._codes), self._mean(hinge.mean(axis=1))

    def _mean(self, values: NDArray) -> float:
        return float(np.average(values, weights=self._weights))
