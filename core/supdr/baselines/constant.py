"""The constant predictor, the baseline of all methods."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from supdr.baselines._direct import DirectMethod
from supdr.baselines._parameters import DIRECT
from supdr.engine.parameters import of_run, without


@dataclass(frozen=True)
class _Zero:
    """The zero function."""

    n_targets: int

    def predict(self, X: NDArray) -> NDArray:
        return np.zeros((len(X), self.n_targets))


@dataclass(eq=False, repr=False)
class Constant(DirectMethod):
    """The mean of the labels, or the most frequent class, for every row.

    Parameters
    ----------
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    task : {"regression", "classification"}, default="regression"
        What y means.

    Notes
    -----
    `preprocessing`, `random_state` and `verbose` have no effect.
    """

    parameters = (of_run("preprocessing"), *without(DIRECT, "preprocessing"))

    accepts_sparse: ClassVar[bool] = True

    _: KW_ONLY
    preprocessing: str = "none"

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, _Zero]:
        model = _Zero(values.shape[1])
        return model.predict(X), model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for of_task in (tags.regressor_tags, tags.classifier_tags):
            if of_task is not None:
                of_task.poor_score = True
        return tags
