"""The comparison with few labels as an estimator, for sweeps: see `supdr_viz.studies.few_labels`."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from supdr_viz.studies.few_labels import finished, predictions


class Chosen(RegressorMixin, BaseEstimator):
    """A method as the comparison takes it, some with settings chosen on the labelled rows; it predicts training rows.

    Parameters
    ----------
    method : str
        Of `supdr_viz.studies.few_labels.CORE` and `GRAPHS`.
    """

    _predicted: NDArray

    def __init__(self, method: str = "SNF") -> None:
        self.method = method

    @property
    def transduction_(self) -> NDArray:
        """Predictions of all training rows, (n,)."""
        return self._predicted

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Choose settings, where there is a choice, then fit.

        Parameters
        ----------
        X : array of shape (n, m)
        y : array of shape (n,)
            NaN where unlabelled.

        Returns
        -------
        self
        """
        self._predicted = finished(predictions(self.method, X, np.asarray(y, dtype=float)))
        return self
