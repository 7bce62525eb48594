"""Partial least squares: directions of the inputs that covary with the targets, by scikit-learn."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cross_decomposition import PLSRegression

from supdr.baselines._parameters import HEAD, SEEDED, SHELL
from supdr.baselines.one_shot import SingleTarget
from supdr.baselines.projections import Projection
from supdr.engine.checks import check_rows_differ
from supdr.engine.common_parameters import COMPONENTS, EXTRAPOLATE
from supdr.engine.targets import Targets


@dataclass(eq=False)
class Scores(BaseEstimator):
    """Scores of partial least squares on one column of zeros and ones per class, as a transformer."""

    n_components: int

    def fit(self, X: NDArray, y: NDArray) -> Scores:
        """Learn the directions from rows (n, m) and class codes (n,), 0 to K - 1."""
        check_rows_differ("PLSProjection", X)
        bits = (y[:, None] == np.unique(y)).astype(float)
        self.model_ = PLSRegression(min(self.n_components, *X.shape)).fit(X, bits)
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return the scores (n, d) of rows (n, m)."""
        return self.model_.transform(X)


@dataclass(eq=False, repr=False)
class PLSProjection(Projection):
    """Partial least squares on the classes, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    """

    parameters = (COMPONENTS, *HEAD, *SEEDED)

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return Scores(n_components)


@dataclass(eq=False, repr=False)
class PLS(SingleTarget):
    """Partial least squares regression; its latent rows are the scores.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension; no more than rows or columns allow is used.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there, and `predict` warns.
    """

    prepared_attributes = (*SingleTarget.prepared_attributes, "_mean")
    parameters = (COMPONENTS, EXTRAPOLATE, *SHELL)

    n_components: int = 2
    _: KW_ONLY
    extrapolate: bool = False

    def _learn(self, X: NDArray, rows: NDArray, targets: Targets) -> tuple[Any, float, dict[str, float]]:
        y = targets.values[rows, 0]
        check_rows_differ("PLS", X[rows])
        # scikit-learn fails on a constant target.
        model = None
        if np.ptp(y) > 0.0 and len(rows) > 1:
            model = PLSRegression(min(self.n_components, len(rows), X.shape[1])).fit(X[rows], y)
        self._mean = float(y.mean())
        return model, float(np.mean((self._predicted(model, self._scores(model, X[rows])) - y) ** 2)), {}

    def _scores(self, model: Any, X: NDArray) -> NDArray:
        return np.zeros((len(X), 1)) if model is None else model.transform(X)

    def _predicted(self, model: Any, scores: NDArray) -> NDArray:
        if model is None:
            return np.full(len(scores), self._mean)
        return scores @ model.y_loadings_[0] * model._y_std[0] + self._mean

    def _latent(self, X: NDArray) -> NDArray:
        return self._scores(self.model_, X)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return self._predicted(self.model_, latent)[:, None]
