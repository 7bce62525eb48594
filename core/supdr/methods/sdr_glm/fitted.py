"""Attributes and predictions of a fitted SDR-GLM: latent rows, predictions, loadings, pulls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supdr.engine.fitted import as_fitted, once_per_snapshot, predicts_classes
from supdr.engine.reconstruction import Reconstructing
from supdr.engine.sparse_rows import dense
from supdr.functions.families import BERNOULLI, check_values, means
from supdr.methods.sdr_glm.features import WeightedFeatures, times
from supdr.methods.sdr_glm.heads import fit_head, left_out_latent
from supdr.methods.sdr_glm.prediction import embed, embed_derivative
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.state import SDRGLMState
from supdr.rows.in_partitions import InPartitions
from supdr.solvers.low_rank import leading_singular_values


class FittedSDRGLM(InPartitions, Reconstructing):
    """The half of `supdr.SDRGLM` that reads a state."""

    accepts_missing_cells: ClassVar[bool] = True
    accepts_sparse: ClassVar[bool] = True

    family_y: Any
    gaussian_c: float
    negative_binomial_size: float
    nonnegative: bool
    bound: str

    # --- use ----------------------------------------------------------------------------------------------------------

    @available_if(predicts_classes)
    @as_fitted
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return class probabilities; with several labels, the probability of each being 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        theta = self._theta(self._latent(self._prepare(X)), self._calibrated())
        probability = self._targets.expected(theta)
        if self._several_labels:
            return probability
        if probability.shape[1] == 1:
            return np.concatenate([1.0 - probability, probability], axis=1)
        return probability / probability.sum(axis=1, keepdims=True)  # one-vs-rest heads do not add up to 1

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy (with several labels: of all of them at once), or R² for regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            True labels or values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
        """
        if not self._several_labels:
            return super().score(X, y, sample_weight)
        return float(accuracy_score(np.asarray(y).astype(int), self.predict(X), sample_weight=sample_weight))

    @property
    def components_(self) -> NDArray:
        """Loadings V, (n_components, m)."""
        return self._loadings()[0]

    @property
    def intercept_x_(self) -> NDArray:
        """Biases b_x, (m,)."""
        return self._loadings()[1] + self._shift

    @property
    def label_pull_(self) -> NDArray:
        """Largest pull of a target on each training row, (n_samples,), in [0, 1]."""
        check_is_fitted(self)
        pull = np.abs(self._targets.residuals(self._theta(self._own_latent(), False))).max(axis=1)
        labels = self._targets.codes is None or (self._targets.codes == BERNOULLI).all()
        return pull if labels else pull / max(float(pull.max()), np.finfo(float).tiny)

    @property
    def null_losses_(self) -> dict[str, float]:
        """By how much ``"reconstruction"`` and ``"label"`` can fall, from the means of columns and targets."""
        check_is_fitted(self)
        label_loss, feature_loss = self._balance
        return {"reconstruction": self.recon_weight_ * feature_loss, "label": label_loss}

    @property
    def data_singular_values_(self) -> NDArray:
        """Largest singular values of preprocessed X minus its column means, (n_components,); missing cells count as 0.

        Columns count by their weights.  Without targets, components exceed ``history_["rank_threshold"]``.
        """
        check_is_fitted(self)
        X = self._training[0]
        root = None if self._column_weight is None else np.sqrt(self._column_weight)
        return leading_singular_values(times(X, root), self._state.latent.shape[1])

    @property
    def _size(self) -> float:
        return float(self.negative_binomial_size)

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _expose(self, state: SDRGLMState) -> None:
        self.coef_ = state.coef.T * self._target_scale[:, None]
        self.intercept_ = state.intercept * self._target_scale + self._target_mean

    def _latent(self, X: NDArray) -> NDArray:
        return self._row_map()(X)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        return partial(_embedded, self._of_cells(), self._of_rows())

    def _latent_derivative(self, X: NDArray) -> NDArray:
        return embed_derivative(WeightedFeatures(dense(X), *self._of_cells()), *self._of_rows(), self._latent(X))

    def _of_cells(self) -> tuple[NDArray, float, str, NDArray | None, float]:
        return self._codes, float(self.gaussian_c), self.bound, self._column_weight, self._size

    def _of_rows(self) -> tuple[NDArray, float, float, bool]:
        components, intercept_x = self._loadings()
        loadings = np.concatenate([components, intercept_x[None]])
        return loadings, self.recon_weight_, self._reg_u, bool(self.nonnegative)

    def _target_settings(self) -> dict[str, Any]:
        return {
            "family_y": self.family_y,
            "several_labels": self._several_labels,
            "c": float(self.gaussian_c),
            "bound": self.bound,
            "column_weight": self._column_weight,
            "size": self._size,
        }

    def _reconstructed(self, latent: NDArray) -> NDArray:
        """Return the families' means of U V + b_x."""
        components, intercept_x = self._loadings()
        theta = latent @ components
        theta += intercept_x
        return means(self._codes, theta, self._size)

    def _theta(self, latent: NDArray, calibrated: bool) -> NDArray:
        """Return the natural parameters of the targets of latent rows, (n, K)."""
        coef, intercept = self._calibrated_head() if calibrated else (self._state.coef, self._state.intercept)
        return latent @ coef + intercept

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        theta = self._theta(latent, calibrated)
        if not predicts_classes(self):
            return self._targets.expected(theta) * self._target_scale + self._target_mean
        if self._targets.codes is None and theta.shape[1] == 2:
            return theta[:, 1:] - theta[:, :1]
        return theta

    def _decide(self, scores: NDArray) -> NDArray:
        return (scores > 0.0).astype(int) if self._several_labels else super()._decide(scores)

    @once_per_snapshot
    def _loadings(self) -> tuple[NDArray, NDArray]:
        check_is_fitted(self)
        state = self._state
        if not state.in_rows:
            return state.components, state.intercept_x
        X = self._training[0]
        return state.components @ X, state.intercept_x @ X

    @once_per_snapshot
    def _calibrated_head(self) -> tuple[NDArray, NDArray]:
        """Return W and b_y refitted on left-out latent rows of the labelled ones."""
        targets = self._targets
        rows = np.flatnonzero(targets.observed)
        loadings = np.concatenate([each.reshape(-1, len(self._codes)) for each in self._loadings()])
        latent = left_out_latent(
            cast("SDRGLMProblem", self._problem(*self._training)), self._state.latent, loadings, rows
        )
        weights = None if targets.weights is None else targets.weights[rows]
        return fit_head(latent, replace(targets, Y=targets.Y[rows], weights=weights))


def _embedded(
    of_cells: tuple[NDArray, float, str, NDArray | None, float],
    of_rows: tuple[NDArray, float, float, bool],
    X: NDArray,
) -> NDArray:
    check_values(of_cells[0], X, "X")
    return embed(WeightedFeatures(X, *of_cells), *of_rows)
