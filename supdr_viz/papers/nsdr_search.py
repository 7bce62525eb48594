"""NSDR and LSDR with hyper-parameters chosen by a validation split, drawn at random from the paper's grid."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import ParameterSampler, train_test_split

from supdr import LSDR, NSDR

RIDGES = [10.0**power for power in range(-6, 2)]
SHARED: dict[str, list[Any]] = {
    "reg_u": RIDGES,
    "reg_v": RIDGES,
    "share": [0.25, 0.5, 0.75, 1.0],
    "beta": [0.1, 0.5, 0.9],
}
# Values of section 4.1; "share" is the number of latent dimensions by that of the columns. Times the two values of each
# learning rate, which block descent does not have, NSDR's are the paper's 36,864 combinations.
GRIDS: dict[str, dict[str, list[Any]]] = {
    "NSDR": {**SHARED, "C": [0.1, 1.0, 10.0], "degree": [1, 2, 3, 4]},
    "LSDR": {**SHARED, "reg_w": [0.1, 1.0, 10.0]},
}

# Share of the labelled rows that chooses: with five folds as many rows as one fold has.
VALIDATION = 0.25


class Searched(ClassifierMixin, BaseEstimator):
    """NSDR or LSDR by block descent: the drawn combination with the least validation error, refitted to all labels.

    `best_`: the fit to all labels.

    method: one of "NSDR", "LSDR".
    n_draws: number of combinations.
    max_iter: rounds of block descent of each fit.
    random_state: of the draws, the validation rows and the starts.
    """

    best_: LSDR | NSDR

    def __init__(self, method: str = "NSDR", n_draws: int = 40, max_iter: int = 15, random_state: int = 0) -> None:
        self.method = method
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def transduction_(self) -> NDArray:
        """Classes of all rows, (n,)."""
        return self.best_.transduction_

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Choose on the validation rows, then fit to all labels.

        `X` (n, m); `y` (n,): class numbers, NaN where unlabelled.
        """
        y = np.asarray(y, dtype=float)
        labelled = np.flatnonzero(~np.isnan(y))
        _, held_out = train_test_split(
            labelled, test_size=VALIDATION, stratify=y[labelled], random_state=self.random_state
        )
        fewer = y.copy()
        fewer[held_out] = np.nan
        models = [
            self._model(X.shape[1], **drawn)
            for drawn in ParameterSampler(GRIDS[self.method], self.n_draws, random_state=self.random_state)
        ]
        errors = [np.mean(model.fit(X, fewer).transduction_[held_out] != y[held_out]) for model in models]
        self.best_ = models[int(np.argmin(errors))].fit(X, y)
        return self

    def _model(self, n_columns: int, share: float, **drawn: Any) -> LSDR | NSDR:
        common: dict[str, Any] = {
            "n_components": max(1, round(share * n_columns)),
            "max_iter": self.max_iter,
            "random_state": self.random_state,
            **{"row_bias": True, "init": "random", "init_scale": 0.1, "preprocessing": "zscore", "calibrate": False},
        }
        return NSDR(kernel="poly", **common, **drawn) if self.method == "NSDR" else LSDR(**common, **drawn)
