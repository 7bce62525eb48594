"""Attributes and predictions of a fitted SNF: latent rows, the columns and targets they stand for, pulls of labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.checks import check_cells
from supdr.engine.fitted import as_fitted, once_per_snapshot
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.reconstruction import Reconstructing
from supdr.functions.kernels import Kernel
from supdr.methods.snf.calibration import most_likely
from supdr.methods.snf.fold_in import embedded, fold_in, fold_in_derivative
from supdr.methods.snf.problem import SNFState
from supdr.rows.in_partitions import InPartitions
from supdr.solvers.kernel_ridge import Dual, Fit, Primal
from supdr.solvers.reconstruction import split_missing

# The ridge on the target's regression in F if none is named.
TARGET_RIDGE = 0.1


class FittedSNF(InPartitions, Reconstructing):
    """Fitted attributes of `supdr.SNF`, which documents them; those that cost something are computed on demand."""

    kernel: str
    degree: int
    extrapolate: bool
    gamma: float
    coef0: float
    reg_w: float | None
    reg_z: float
    _labelled: NDArray
    _weights: NDArray | None
    _targets: NDArray
    _target_map: Preprocessing
    _on_all: Any
    _on_labelled: Any

    @property
    @as_fitted
    def dual_coef_(self) -> NDArray:
        """Dual weights (T, n_labelled) of the target's regression: weighted residuals / reg_w, preprocessed units."""
        check_is_fitted(self)
        return self._target_residual().T / self._target_ridge()

    @property
    def label_pull_(self) -> NDArray:
        """How hard each label pulls at its training row, (n,): its residual as a share of the largest; else 0."""
        check_is_fitted(self)
        residual = np.abs(self._target_residual()).max(axis=1)
        return self._over_training_rows(residual / max(residual.max(), np.finfo(float).tiny))

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _expose(self, state: SNFState) -> None:
        self.kernel_ = self._kernel()
        self.intercept_ = state.target.bias

    def _latent(self, X: NDArray) -> NDArray:
        check_cells(X)
        return self._row_map()(X)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        state = self._state
        return partial(embedded, self._on_all, state.predictors, state.latent, self._training_rows(), float(self.reg_z))

    def _latent_derivative(self, X: NDArray) -> NDArray:
        state = self._state
        fitted = self._on_all, state.predictors, state.latent, float(self.reg_z)
        return fold_in_derivative(*fitted, X, self._latent(X))

    def _reconstructed(self, latent: NDArray) -> NDArray:
        return self._on_all.predict(self._state.predictors, self._state.latent, latent)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        if calibrated:
            anchors, fit, form = self._refitted()
        else:
            anchors, fit, form = self._state.latent[self._labelled], self._state.target, self._on_labelled
        return self._target_map.inverse_transform(form.predict(fit, anchors, latent))

    def _own_scores(self) -> NDArray:
        """Score the training rows as `predict` scores new ones: the regression learnt with F has seen their labels."""
        return self._latent_scores(self._own_latent(), self._calibrated())

    def _clips_new_rows(self) -> bool:
        """Whether cells far outside of the training rows are clipped: a polynomial runs away, whatever it predicts."""
        runs_away = self.kernel == "poly" and self.degree > 1
        return not self.extrapolate if runs_away else super()._clips_new_rows()

    # --- parts --------------------------------------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.degree, self.gamma, self.coef0)

    def _target_ridge(self) -> float:
        return TARGET_RIDGE if self.reg_w is None else float(self.reg_w)

    def _training_rows(self) -> NDArray:
        """Return the preprocessed training rows, reconstructions in their missing cells."""
        X, state = self._training[0], self._state
        if not len(state.filling):
            return X
        fitted = self._on_all.predict(state.predictors, state.latent, state.latent)
        return np.where(np.isnan(X), fitted, X)

    def _target_residual(self) -> NDArray:
        """Return the residuals (N, T) of the labelled rows, times their weights."""
        state = self._state
        latent = state.latent[self._labelled]
        residual = self._targets - self._on_labelled.predict(state.target, latent, latent)
        return residual if self._weights is None else self._weights[:, None] * residual

    @once_per_snapshot
    def _refitted(self) -> tuple[NDArray, Fit, Primal | Dual]:
        """Return labelled rows embedded without their labels, and the target's regression on them."""
        state, rows = self._state, self._labelled
        filled, observed = split_missing(self._training[0][rows])
        own, ridge = state.latent[rows][:, None, :], float(self.reg_z)
        anchors = fold_in(self._on_all, state.predictors, state.latent, filled, own, ridge, observed)
        form = self._on_labelled
        if self.reg_w is None:
            form = most_likely(self._kernel(), anchors, self._targets, self._weights)
        fit, _ = form.solve(anchors, self._targets)
        return anchors, fit, form
