"""MKL: multiple kernel learning, one convex combination of the views' kernels for all rows.

    J(eta) = sum_k max over beta_k of  y_k'beta_k - 1/2 sum_m eta_m beta_k'K_m beta_k,   minimised over the simplex

Each step solves the SVMs and sets eta_m to eta_m sqrt(q_m), normalised, with q_m = sum_k beta_k'K_m beta_k: the exact
minimiser of 1/2 sum |w_m|^2 / eta_m for the current w_m.  Since J is convex in eta with dJ/d eta_m = -q_m / 2,

    J - min J <= 1/2 (max q - sum eta_m q_m),  which ends the run.

Source: G. Lanckriet et al., "Learning the kernel matrix with semidefinite programming", JMLR 5 (2004); the update:
M. Kloft et al., "lp-norm multiple kernel learning", JMLR 12 (2011), p = 1.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.baselines.view_svm import OnViews
from supdr.engine.common_parameters import LIMITS, MISSING_LABEL, RANDOM_STATE, SVM_TOL, SVM_WEIGHT, UNWHITENED, VERBOSE
from supdr.engine.iterate import Problem
from supdr.engine.parameters import of_run
from supdr.engine.targets import Targets
from supdr.solvers.gated_kernels import gram, mixture
from supdr.solvers.kernel_heads import Heads, heads_on_kernel
from supdr.solvers.support_vectors import AT_BOUND


class MKLState(NamedTuple):
    """State of a run: eta, the `weights` (P,), their SVMs, q, the `pulls` (P,), and what the multipliers belong to."""

    weights: NDArray
    heads: Heads
    pulls: NDArray
    settings: tuple
    seed: int
    iteration: int


@dataclass(frozen=True)
class MKLProblem(Problem):
    """Kernels (P, n, n), signs (n, K), C, the SVMs' tolerance and the relative duality gap that ends a run."""

    kernels: NDArray
    signs: NDArray
    C: float
    svm_tol: float
    tol: float
    settings: tuple = field(init=False)

    def __post_init__(self) -> None:
        digest = zlib.crc32(self.signs.tobytes()), zlib.crc32(self.kernels.tobytes())
        object.__setattr__(self, "settings", (self.C, self.svm_tol, *digest))

    def start(self, seed: int) -> MKLState:
        """Return equal weights."""
        n_views = len(self.kernels)
        return self._at(np.full(n_views, 1.0 / n_views), np.zeros_like(self.signs), seed, 0)

    def step(self, state: MKLState) -> MKLState:
        """One update of the weights and one solve."""
        weights = state.weights * np.sqrt(np.maximum(state.pulls, 0.0))
        total = weights.sum()
        weights = weights / total if total > 0.0 else state.weights
        return self._at(weights, state.heads.alpha, state.seed, state.iteration + 1)

    def terms(self, state: MKLState) -> dict[str, float]:
        """Return 1/2 sum eta_m q_m and C times the slacks."""
        regularisation = float(state.heads.alpha.sum()) - state.heads.dual
        return {"regularisation": regularisation, "label": state.heads.primal - regularisation}

    def readings(self, state: MKLState) -> dict[str, float]:
        """Return the duality gap over weights, the support fraction and the weights."""
        readings = {"gap": self.gap(state), "support_fraction": float((state.heads.alpha > 0.0).any(axis=1).mean())}
        return readings | {f"weight_{m}": float(weight) for m, weight in enumerate(state.weights, 1)}

    def gap(self, state: MKLState) -> float:
        """Return 1/2 (max q - sum eta q) >= J - min J."""
        return 0.5 * float(state.pulls.max() - state.weights @ state.pulls)

    def may_converge(self, previous: MKLState, state: MKLState) -> bool:
        """Whether the relative duality gap is at most `tol`."""
        return self.gap(state) <= self.tol * max(state.heads.primal, np.finfo(float).tiny)

    def adopt(self, state: MKLState) -> MKLState:
        """Return `state` with SVMs of these data and hyper-parameters."""
        if len(state.weights) != len(self.kernels):
            raise ValueError(
                f"the snapshot to start from has {len(state.weights)} views; these data have {len(self.kernels)}"
            )
        if state.settings == self.settings:
            return state
        alpha = np.zeros_like(self.signs)
        if state.settings[2] == self.settings[2]:
            alpha = np.minimum(state.heads.alpha * (self.C / state.settings[0]), self.C)
        return self._at(state.weights, alpha, state.seed, state.iteration)

    def _at(self, weights: NDArray, alpha: NDArray, seed: int, iteration: int) -> MKLState:
        n_views, n = self.kernels.shape[:2]
        gate = np.tile(np.sqrt(weights), (n, 1))  # equal in every row: eta_m = (sqrt eta_m)^2
        K = mixture(self.kernels, np.arange(n_views), gate)
        heads = heads_on_kernel(K, self.signs, self.C, self.svm_tol, alpha)
        if not heads.closed:
            raise ValueError(f"the support vector machine with C={self.C:g} did not reach svm_tol={self.svm_tol:g}")
        duals = heads.alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        rows = duals[support]
        pulls = np.array([math.fsum((rows * (K[np.ix_(support, support)] @ rows)).ravel()) for K in self.kernels])
        return MKLState(weights, heads, pulls, self.settings, seed, iteration)


@dataclass(eq=False, repr=False)
class MKL(OnViews):
    """Multiple kernel learning: one SVM on the best convex combination of the views' linear kernels.

    Its latent space is the line, or space, of decision values.  On one view it is a linear SVM; other kernels enter
    through `supdr.KernelViews`.

    Parameters
    ----------
    C, views, preprocessing
        As in `OnViews`.
    max_iter : int, default=200
        Steps, >= 1.
    tol : float, default=1e-3
        Relative duality gap over the weights at which a run ends.
    svm_tol : float, default=1e-3
        Tolerance of the support vector machines, in [1e-8, 0.1].
    random_state : int or None, default=None
        Nothing is random.
    verbose, missing_label
        As in `SupervisedReducer`.

    Attributes
    ----------
    view_weights_ : array of shape (P,)
        eta; they sum to 1.
    support_, n_support_, support_fraction_, intercept_, label_pull_
        As in `supdr.SLDR`.
    """

    parameters = (
        SVM_WEIGHT,
        of_run("views", restart=True),
        UNWHITENED,
        *LIMITS,
        SVM_TOL,
        replace(RANDOM_STATE, restart=False),
        VERBOSE,
        MISSING_LABEL,
    )

    C: float = 1.0
    _: KW_ONLY
    views: Any = None
    preprocessing: str = "zscore"
    max_iter: int = 200
    tol: float = 1e-3
    svm_tol: float = 1e-3
    random_state: Any = None
    verbose: int = 0
    missing_label: Any = np.nan

    @property
    def label_pull_(self) -> NDArray:
        """Influence of each training row's label, (n,): the largest multiplier over the heads, as a share of C."""
        check_is_fitted(self)
        return self._over_training_rows(self._state.heads.alpha.max(axis=1) / self.C)

    def _problem(self, X: NDArray, targets: Targets) -> MKLProblem:
        rows = targets.labelled
        views = self._layout().views(X[rows])
        kernels = np.stack([gram(view) for view in views])
        return MKLProblem(kernels, targets.values[rows], float(self.C), float(self.svm_tol), float(self.tol))

    def _expose(self, state: MKLState) -> None:
        X, targets = self._training
        self.view_weights_, self.intercept_ = state.weights, state.heads.bias
        support = (state.heads.alpha > AT_BOUND * self.C).any(axis=1)
        self._expose_support(support)
        duals = state.heads.alpha[support] * targets.values[self.support_]
        rows = self._layout().views(X[self.support_])
        self._normals = [weight * (view.T @ duals) for weight, view in zip(state.weights, rows)]

    def _latent(self, X: NDArray) -> NDArray:
        parts = (view @ normal for view, normal in zip(self._layout().views(X), self._normals))
        return sum(parts) + self.intercept_

    def _own_latent(self) -> NDArray:
        return self._latent(self._training[0])

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return latent

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2}
