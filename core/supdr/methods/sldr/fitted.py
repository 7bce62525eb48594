"""Attributes and predictions of a fitted SLDR: latent rows, scores, gate, projections, usage of its views."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.checks import check_choice
from supdr.engine.estimator import SupervisedReducer
from supdr.engine.fitted import as_fitted, once_per_snapshot
from supdr.engine.targets import Targets
from supdr.engine.view_layout import Layout
from supdr.methods.sldr.model import GatedModel, Point, closed_form_projections, gated_derivative
from supdr.methods.sldr.problem import SLDRProblem
from supdr.methods.sldr.state import SLDRState
from supdr.solvers.stiefel import orthonormal_gauge
from supdr.solvers.support_vectors import AT_BOUND, support_share


class FittedSLDR(SupervisedReducer):
    """Base of SLDR: reads the state of its latest problem, ``_made``, through the column groups of X, ``_layout``."""

    kernel: str
    C: float
    starts: str
    gate_projection_: NDArray | None
    intercept_: NDArray
    _layout: Layout
    _sizes: tuple[int, ...]
    _made: SLDRProblem

    def gate(self, X: ArrayLike) -> NDArray:
        """Return eta: how much each local model counts in every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, P)
            Rows sum to 1.
        """
        rows = self._prepare(X)
        return self._point().gate(self._layout.gating_columns(rows))

    def gating_transform(self, X: ArrayLike) -> NDArray:
        """Return Z_G = T'x^G: the space in which the gate's regions are bounded by straight lines.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, R_G)
        """
        rows = self._layout.gating_columns(self._prepare(X))
        return rows if self.gate_projection_ is None else rows @ self.gate_projection_

    def local_transform(self, X: ArrayLike) -> tuple[NDArray, ...]:
        """Return Z_m = W_m'x^m of every local model, without the gate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        tuple of arrays of shape (n_samples, R_m)
        """
        views = self._layout.views(self._prepare(X))
        return tuple(view @ W for view, W in zip(views, self.projections_))

    def local_decision_function(self, local: ArrayLike, model: int) -> NDArray:
        """Return the scores that one local model would give alone, with its gate fully open.

        Parameters
        ----------
        local : array-like of shape (n_samples, R_m)
            Rows of ``local_transform(X)[model]``, or any others of its space.
        model : int
            Its number m, from 0 to P - 1.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, K)
            For the linear kernel w_m'z + b: zero on the local hyperplane.
        """
        check_is_fitted(self)
        Z = np.ascontiguousarray(local, dtype=float)
        sizes = [W.shape[1] for W in self.projections_]
        if not 0 <= model < len(sizes):
            raise ValueError(f"model must be the number of a local model, 0 to {len(sizes) - 1}; got {model!r}")
        if Z.ndim != 2 or Z.shape[1] != sizes[model]:
            raise ValueError(f"local must have the {sizes[model]} columns of local model {model}; got shape {Z.shape}")
        if self.kernel == "linear":
            start = sum(sizes[:model])
            scores = Z @ self.coef_[:, start : start + sizes[model]].T + self.intercept_
        else:
            gated = self._model()
            scores = gated.kernel.matrix(Z, gated.support[model]) @ gated.weights[model] + gated.bias
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def gate_(self) -> NDArray:
        """Eta of the training rows, (n, P)."""
        check_is_fitted(self)
        return self._point().gate(self._layout.gating_columns(self._training[0]))

    @property
    def gating_embedding_(self) -> NDArray:
        """Z_G of the training rows, (n, R_G): equal to ``gating_transform`` of them."""
        check_is_fitted(self)
        rows = self._layout.gating_columns(self._training[0])
        return rows if self.gate_projection_ is None else rows @ self.gate_projection_

    @property
    def local_embedding_(self) -> tuple[NDArray, ...]:
        """Z_m of the training rows, (n, R_m) each: equal to ``local_transform`` of them."""
        check_is_fitted(self)
        views = self._layout.views(self._training[0])
        return tuple(view @ W for view, W in zip(views, self.projections_))

    @property
    def projections_(self) -> tuple[NDArray, ...]:
        """W_m, (D_m, R_m) each; computed when asked for where they follow from the multipliers."""
        check_is_fitted(self)
        return self._state.best.point.projections or self._closed_form_projections()

    @once_per_snapshot
    def _closed_form_projections(self) -> tuple[NDArray, ...]:
        best, rows = self._state.best, self._training[0]
        gate = best.point.gate(self._layout.gating_columns(rows))
        return closed_form_projections(self._made.pulls(best), self._layout.views(rows), gate, self._sizes)

    @property
    def coef_(self) -> NDArray:
        """w_m stacked, (K, sum of R_m): the head on `transform`; linear kernel only."""
        check_is_fitted(self)
        if self.kernel != "linear":
            raise AttributeError(f"coef_ needs kernel='linear'; got {self.kernel!r}")
        best = self._state.best
        if best.point.projections:
            return np.vstack(self._model().normals()).T
        return np.vstack([W.T @ g for W, g in zip(self.projections_, self._made.pulls(best))]).T

    @property
    def support_fraction_min_(self) -> float:
        """Share of the labelled rows that the same model needs as support vectors; nan unless the kernel is linear."""
        check_is_fitted(self)
        if self.kernel != "linear":
            return float("nan")
        return self._fewest_support()

    @once_per_snapshot
    def _fewest_support(self) -> float:
        return support_share(self._made.fewest(self._state.best, self._model()), self._costs())

    @property
    def usage_(self) -> NDArray:
        """Share of the training rows in which each local model wins, (P,)."""
        gate = self.gate_
        return np.bincount(gate.argmax(axis=1), minlength=gate.shape[1]) / len(gate)

    @property
    def pull_(self) -> NDArray:
        """Lengths of w_m over all heads, (P,)."""
        check_is_fitted(self)
        return self._model().lengths()

    @property
    @as_fitted
    def label_pull_(self) -> NDArray:
        """How hard each label pulls at its training row, (n,): the largest multiplier over the heads by its bound."""
        check_is_fitted(self)
        return self._over_training_rows(self._state.best.heads.alpha.max(axis=1) / self._costs())

    def latent_decision_function(self, latent: ArrayLike, *, head: str = "fitted") -> NDArray:
        """Return the scores that the start that is shown gives to rows of `transform`.

        Exact for the linear kernel with no more heads than `n_components`.  The decisions of other kernels need gate
        and projections apart; a row is then read as if the gate of its longest part were open and the others closed,
        which most rows are near to.

        Parameters
        ----------
        latent : array-like of shape (n_samples, sum of R_m)
            [eta_m * z_m] stacked.
        head : {"fitted", "calibrated"}
            Both are the same head here.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, K)
        """
        check_is_fitted(self)
        check_choice("head", head, ("fitted", "calibrated"))
        latent = np.asarray(latent, dtype=float)
        if self.kernel == "linear":
            scores = latent @ self.coef_.T + self.intercept_
        else:
            sizes = [W.shape[1] for W in self.projections_]
            parts = np.split(latent, np.cumsum(sizes)[:-1], axis=1)
            scores = self._model().scores_of_winners(tuple(np.ascontiguousarray(part) for part in parts))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _expose(self, state: SLDRState) -> None:
        targets: Targets = self._training[1]
        point, heads = state.best.point, state.best.heads
        self.kernel_ = self._kernel()
        self.gate_projection_, self.gate_weights_ = point.gate_projection, point.gate_weights
        if point.gate_projection is not None:
            self.gate_projection_, self.gate_weights_ = orthonormal_gauge(point.gate_projection, point.gate_weights)
        self.gate_offset_, self.intercept_ = point.gate_offset, heads.bias
        support = (heads.alpha > AT_BOUND * self._costs()[:, None]).any(axis=1)
        self._expose_support(support)
        self.dual_coef_ = (heads.alpha[support] * targets.values[self.support_]).T

    def _latent(self, X: NDArray) -> NDArray:
        """Rows stay as they are inside: a non-linear kernel needs gate and projections apart, see `_visible`."""
        return X

    def _own_latent(self) -> NDArray:
        return self._training[0]

    def _visible(self, latent: NDArray) -> NDArray:
        gate = self._point().gate(self._layout.gating_columns(latent))
        views = self._layout.views(latent)
        return np.hstack([gate[:, m, None] * (X @ W) for m, (X, W) in enumerate(zip(views, self.projections_))])

    def _latent_derivative(self, X: NDArray) -> NDArray:
        return gated_derivative(X, self._point(), self.projections_, self._layout)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        views, gating = self._layout.views(latent), self._layout.gating_columns(latent)
        return np.mean([model.scores(views, gating) for model in self._deciding()], axis=0)

    def _costs(self) -> NDArray:
        """Return the upper bounds of the multipliers of the labelled rows, (n,)."""
        targets: Targets = self._training[1]
        return float(self.C) * targets.weights[targets.labelled]

    def _point(self) -> Point:
        return self._state.best.point

    @once_per_snapshot
    def _model(self) -> GatedModel:
        return self._made.model(self._state.best)

    @once_per_snapshot
    def _deciding(self) -> list[GatedModel]:
        """Return the models whose mean score decides: of all starts, or of the one that is shown."""
        if self.starts == "best":
            return [self._model()]
        return [self._made.model(candidate) for candidate in self._state.candidates]
