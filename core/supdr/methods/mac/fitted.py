"""Attributes and predictions of a fitted MAC: latent rows, scores, and how its classes and multipliers lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from supdr.engine.fitted import as_fitted, once_per_snapshot
from supdr.engine.probabilities import class_probabilities
from supdr.methods.mac.classes import class_codes, class_means, class_scores, class_signs, simplex_numbers
from supdr.methods.mac.problem import MACProblem
from supdr.methods.mac.regressor import RegressorMapping, has_features
from supdr.methods.mac.solvers import Passes
from supdr.methods.mac.state import MACState
from supdr.methods.mac.target_step import cases
from supdr.methods.mac.two_layer import TwoLayerState
from supdr.rows.in_partitions import InPartitions, SampleCache
from supdr.solvers.leave_one_out import enough_labels
from supdr.solvers.softmax_head import loo_softmax


class FittedMAC(InPartitions):
    """Fitted attributes of `supdr.MAC`, which documents them; those that cost something are computed on demand."""

    conditional_attributes = (
        *InPartitions.conditional_attributes,
        "centers_",
        "gamma_",
        "mapping_weights_",
        "reg_w_",
        "support_",
        "n_support_",
        "support_fraction_",
        "hidden_",
        "hidden_left_out_",
        "plane_",
        "plane_left_out_",
        "widths_",
    )

    accepts_sparse: ClassVar[bool] = True

    C: float
    calibrate: bool
    mapping: Any
    scheme: str
    solver: str
    solvers: ClassVar[dict[str, type[MACProblem]]]
    n_layers: int
    latent_reference: str
    classes_: NDArray
    coef_: NDArray
    intercept_: NDArray
    snapshot_: Any
    _training: Any
    _state: Any

    def _expose(self, state: MACState | TwoLayerState) -> None:
        self.scaling_ = state.scaling
        if isinstance(state, TwoLayerState):
            self._expose_two_layers(state)
        else:
            self._expose_one_layer(state)

    @once_per_snapshot
    def _own_latent(self) -> NDArray:
        targets = self._training[1]
        if targets.labelled.all():
            return self._labelled_latent()
        labelled = self._labelled_latent()
        own = np.empty((len(targets.codes), labelled.shape[1]))
        own[targets.labelled] = labelled
        own[~targets.labelled] = self._latent(self._training[0][~targets.labelled])
        return own

    def _latent(self, X: NDArray) -> NDArray:
        return self._state.image(X)

    def _has_left_out_error(self) -> bool:
        return self.n_layers == 2 or (has_features(self.mapping) and issubclass(self.solvers[self.solver], Passes))

    def _left_out_error(self) -> float:
        if not isinstance(self._state, MACState):
            return self._state.second.error
        problem = self._problem(*self._training)
        assert isinstance(problem, Passes)
        return problem.left_out_error(self._state)

    def _latent_derivative(self, X: NDArray) -> NDArray | None:
        return self._state.derivative(X)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        return self._state.without_rows().image

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        if calibrated and self._leaves_out():
            coef, intercept = self._calibrated_head()
            return latent @ coef + intercept
        scores = latent @ self.coef_.T + self.intercept_
        return scores if self.n_layers == 2 else class_scores(scores, len(self.classes_), self.scheme)

    def _expose_one_layer(self, state: MACState) -> None:
        if isinstance(state.mapping, RegressorMapping):
            self.mapping_ = state.mapping.regressor
        else:
            self.mapping_ = state.mapping
            self.centers_, self.gamma_ = state.mapping.centers, state.mapping.gamma
            self.mapping_weights_, self.reg_w_ = state.weights.T, state.reg_w
        self.coef_, self.intercept_ = state.heads.coef, state.heads.intercept
        self._expose_support(state.heads.alpha.any(axis=1))

    def _expose_two_layers(self, state: TwoLayerState) -> None:
        first, second = state.first, state.second
        self.mapping_ = first.mapping
        self.centers_, self.gamma_ = first.mapping.centers, first.mapping.gamma
        self.mapping_weights_ = first.coef.T
        self.hidden_, self.hidden_left_out_ = first.hidden, first.left_out
        self.plane_, self.plane_left_out_ = second.plane, second.left_out
        self.widths_ = {"width": first.width, "ridge": first.ridge, "sharpness": second.sharpness}
        # |z - s_k|^2 is least where z's_k - |s_k|^2 / 2 is largest.
        corners = class_codes(len(self._training[1].classes), second.plane.shape[1])
        self.coef_, self.intercept_ = corners, -0.5 * (corners**2).sum(axis=1)
        if len(corners) == 2:
            self.coef_, self.intercept_ = self.coef_[1:] - self.coef_[:1], self.intercept_[1:] - self.intercept_[:1]

    def _labelled_latent(self) -> NDArray:
        state = self._state
        if isinstance(state, MACState):
            return state.latent
        return state.second.left_out if self.latent_reference == "loo" else state.second.plane

    def _one_layer(self, name: str) -> MACState:
        if not isinstance(self._state, MACState):
            raise AttributeError(f"{name} belongs to one layer: this MAC has n_layers=2")
        return self._state

    @property
    def targets_(self) -> NDArray:
        """Auxiliary coordinates z of the training rows, (n_samples, L); the class corners with two layers."""
        if isinstance(self._state, MACState):
            return self._scattered(self._state.targets, self._own_latent())
        targets = self._training[1]
        corners = class_codes(len(targets.classes), self._state.second.plane.shape[1])
        return self._scattered(corners[targets.codes[targets.labelled]], self._own_latent())

    @property
    def case_(self) -> NDArray:
        """Case of the last Z step for every training row, (n_samples,): 1, 2, 3, or 0 for unlabelled rows."""
        state = self._one_layer("case_")
        case = cases(state.multiplier, 2.0 * self._costs() / state.mu)
        return self._scattered(case, np.zeros(len(self._training[1].codes), dtype=case.dtype))

    @property
    @as_fitted
    def label_pull_(self) -> NDArray:
        """max_k alpha_k / (C times the row's weight) of the training rows, (n_samples,)."""
        pull = np.clip(self._one_layer("label_pull_").heads.alpha.max(axis=1) / self._costs(), 0.0, 1.0)
        return self._over_training_rows(pull)

    @property
    @as_fitted
    def dual_coef_(self) -> NDArray:
        """Signed multipliers of the support vectors, (P, n_support)."""
        targets, alpha = self._training[1], self._one_layer("dual_coef_").heads.alpha
        signs = class_signs(targets.codes[targets.labelled], len(targets.classes), self.scheme)
        support = alpha.any(axis=1)
        return (alpha[support] * signs[support]).T

    @property
    def class_means_(self) -> NDArray:
        """Mean latent row of every class, (K, L)."""
        codes = self._training[1].codes
        rows = codes >= 0
        return class_means(self._own_latent()[rows], codes[rows], len(self.classes_))

    @property
    def simplex_(self) -> dict[str, float]:
        """How close the class means are to a regular simplex: "edge_ratio", "spread", "sv_ratio"."""
        codes = self._training[1].codes
        rows = codes >= 0
        return simplex_numbers(self._own_latent()[rows], codes[rows], len(self.classes_))

    def _calibrated(self) -> bool:
        return bool(self.calibrate) and self._leaves_out()

    def _leaves_out(self) -> bool:
        """Whether left-out images have a closed form, and labels suffice for their error."""
        targets = self._training[1]
        features = isinstance(self._state, MACState) and not isinstance(self._state.mapping, RegressorMapping)
        closed = features and issubclass(self.solvers[self.solver], Passes)
        return closed and enough_labels(targets.codes[targets.labelled])

    @once_per_snapshot
    def _calibrated_head(self) -> tuple[NDArray, NDArray]:
        """Return the softmax, (L, K) and (K,), one score for two classes, fitted to left-out images."""
        problem = self._problem_in_use()
        assert isinstance(problem, Passes)
        state = self.snapshot_.state if self._partitioned else self._state
        return loo_softmax(problem.left_out_images(state), problem.judged_codes, problem.judged_weights)

    def _problem_in_use(self) -> Any:
        """Return the problem of the run while the run lasts, which has the features at hand, else a new one."""
        own = getattr(self, "_sample_cache", SampleCache()).problem  # runs saved by earlier versions have no cache
        return own if own is not None and own.workspace else self._problem(*self._training)

    def _probabilities(self, scores: NDArray) -> NDArray:
        """Return class probabilities; the scores of the calibrated head are log-odds of left-out rows."""
        return class_probabilities(scores, 1.0) if self._calibrated() else super()._probabilities(scores)

    def _left_out_scores(self) -> tuple[NDArray, NDArray]:
        """Return the scores of labelled rows without their labels; two layers have them in closed form."""
        if isinstance(self._state, MACState):
            return super()._left_out_scores()
        rows = np.flatnonzero(self._training[1].labelled)
        return self._latent_scores(self._state.second.left_out, False), rows

    def _costs(self) -> NDArray:
        """Return C times the weight of every labelled row, (n,)."""
        targets = self._training[1]
        return float(self.C) * targets.weights[targets.labelled]

    def _scattered(self, values: NDArray, rest: NDArray) -> NDArray:
        """Return values of the labelled rows among those of all rows."""
        labelled = self._training[1].labelled
        if labelled.all():
            return values
        result = rest.copy()
        result[labelled] = values
        return result
