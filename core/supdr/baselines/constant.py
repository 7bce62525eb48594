"""The constant predictor: what every method must beat."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from supdr.baselines._direct import DirectMethod
from supdr.baselines._parameters import DIRECT
from supdr.engine.parameters import Parameter, of_run, without


@dataclass(frozen=True)
class _Nothing:
    """The zero function."""

    n_targets: int

    def predict(self, X: NDArray) -> NDArray:
        return np.zeros((len(X), self.n_targets))


@dataclass(eq=False, repr=False)
class Constant(DirectMethod):
    """The mean of the labels, or the most frequent class, for every row.

    Parameters
    ----------
    task : {"regression", "classification"}, default="regression"
        What y means.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`; only `missing_label` has an effect.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (of_run("preprocessing"), *without(DIRECT, "preprocessing"))

    _: KW_ONLY
    task: str = "regression"
    preprocessing: str = "none"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, _Nothing]:
        model = _Nothing(values.shape[1])
        return model.predict(X), model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True
        return tags
