"""Early stopping: labelled rows whose labels are hidden from the method, and its errors on them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.fitted import winning_codes
from supdr.engine.targets import Targets


def held_out_rows(targets: Targets, share: float, seed: int) -> NDArray:
    """Return the sorted indices of labelled rows to hide, a share of each class but one row; ValueError if none."""
    if not 0.0 < share < 1.0:
        raise ValueError(f"validation_fraction must lie in (0, 1); got {share!r}")
    rng = np.random.default_rng(seed)
    parts = []
    for code in np.unique(targets.codes[targets.labelled]):
        members = rng.permutation(np.flatnonzero(targets.labelled & (targets.codes == code)))
        parts.append(members[: min(round(share * len(members)), len(members) - 1)])
    rows = np.sort(np.concatenate(parts))
    if not len(rows):
        raise ValueError(
            f"early_stopping cannot hold out any of {int(targets.labelled.sum())} labelled rows "
            f"(validation_fraction={share:g})"
        )
    return rows


class HeldOut:
    """A monitor: the errors of a state on `rows` whose labels, those of `targets`, are hidden from the run."""

    def __init__(self, estimator: Any, targets: Targets, rows: NDArray) -> None:
        self._estimator, self._rows = estimator, rows
        self._regression = targets.classes is None
        self._codes, self._values, self._weights = targets.codes[rows], targets.values[rows], targets.weights[rows]
        several = self._regression and targets.values.shape[1] > 1
        self._unit = np.nanvar(targets.values, axis=0) if several else np.ones(targets.values.shape[1])
        self._unit[self._unit == 0.0] = 1.0

    def __call__(self, state: Any) -> tuple[float, float]:
        """Return the weighted error and mean hinge; for regression the mean of squared errors over variances, and 0."""
        fitted = copy.copy(self._estimator)
        fitted._set_state(state)
        scores = fitted._own_scores()[self._rows]
        if self._regression:
            errors = np.ma.masked_invalid((scores - self._values) ** 2 / self._unit)  # single targets may be missing
            return float(np.ma.average(errors.mean(axis=1), weights=self._weights)), 0.0
        hinge = np.maximum(0.0, 1.0 - self._values * scores)
        return self._mean(winning_codes(scores) != self._codes), self._mean(hinge.mean(axis=1))

    def _mean(self, values: NDArray) -> float:
        return float(np.average(values, weights=self._weights))
