"""Comparison methods for few labels that solve one linear system, for values or for classes coded as +-1."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from supdr.baselines.one_shot import Fitted, OneShot
from supdr.engine.fitted import winning_codes
from supdr.engine.targets import Targets
from supdr.functions.kernels import Kernel


class Predictor(Protocol):
    """A function of preprocessed rows."""

    def predict(self, X: NDArray) -> NDArray:
        """Return the values at the rows of `X`, (p, T)."""


@dataclass(eq=False, repr=False)
class DirectMethod(OneShot):
    """Base of methods with a ``task``: one column of values, or one column of +-1 per class (one for two classes).

    They learn no latent space: `transform` returns the predicted columns, the scores of the classes.
    Subclasses define ``_solve(X, rows, values)``, which returns the values (n, T) of the training rows and a
    `Predictor` for new ones; `values` are those of the labelled rows, minus their means.

    Parameters
    ----------
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    task : {"regression", "classification"}, default="regression"
        Classes are coded as +-1.
    """

    prepared_attributes = (*OneShot.prepared_attributes, "_mean")
    embedding_note: ClassVar[str] = "predicted values"
    takes_several_targets: ClassVar[bool] = True

    _: KW_ONLY
    task: str = "regression"
    preprocessing: str = "minmax"

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, Predictor]:
        raise NotImplementedError

    def _learn(self, X: NDArray, rows: NDArray, targets: Targets) -> tuple[Any, float, dict[str, float]]:
        self._mean = targets.values[rows].mean(axis=0)
        # Centred: rows that no label reaches get the mean of the labels.
        values, model = self._solve(X, rows, targets.values[rows] - self._mean)
        values = values + self._mean
        return (values, model), self._error(values[rows], targets, rows), {}

    def _error(self, scores: NDArray, targets: Targets, rows: NDArray) -> float:
        """Return the mean squared error, or the share of wrong classes, of labelled rows."""
        if targets.classes is None:
            return float(np.mean((scores - targets.values[rows]) ** 2))
        return float(np.mean(winning_codes(scores) != targets.codes[rows]))

    def _expose(self, state: Fitted) -> None:
        self.values_, self.model_ = state.model

    def _own_latent(self) -> NDArray:
        return self.values_

    def _latent(self, X: NDArray) -> NDArray:
        return self.model_.predict(X) + self._mean

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return latent


def check_neighbours(n_neighbors: int, least: int, dimension: int, X: NDArray) -> None:
    """Raise ValueError unless each row of `X` has at least `least` neighbours, which tangents of `dimension` need."""
    if min(n_neighbors, len(X) - 1) < least:
        raise ValueError(
            f"n_neighbors must be at least {least} for dimension={dimension}, and n_samples larger; got "
            f"n_neighbors={n_neighbors}, n_samples = {len(X)}"
        )


def input_kernel(name: str, X: NDArray, degree: int, gamma: Any, coef0: float) -> Kernel:
    """Return a kernel between rows of `X`; gamma "scale" is 1 / (number of columns times their variance)."""
    if isinstance(gamma, str):
        variance = float(X.var())
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
    return Kernel(name, degree, gamma, coef0)
