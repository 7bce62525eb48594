"""The comparison with few labels as an estimator, for sweeps: see `supdr_viz.studies.few_labels`."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from supdr.engine.reuse import reused
from supdr_viz.studies.few_labels import DEGREES, Factorised, factorisations, finished, predictions


class Chosen(RegressorMixin, BaseEstimator):
    """A method with its settings chosen on the labelled rows; it predicts the unlabelled rows of its training data.

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
        """Choose, then fit.

        Parameters
        ----------
        X : array of shape (n, m)
        y : array of shape (n,)
            NaN where unlabelled.

        Returns
        -------
        self
        """
        factorised = {degree: _factorised(X, degree) for degree in DEGREES.get(self.method, ())}
        self._predicted = finished(predictions(self.method, X, np.asarray(y, dtype=float), factorised))
        return self


def _factorised(X: NDArray, degree: int) -> Factorised:
    return reused("few labels", lambda: (X, degree), lambda: finished(factorisations(X, degree)))
