"""SVDM: a linear factorisation whose latent rows also have margins.

    F = lam |X - U V - 1 b_x'|^2 + sum_nk max(0, 1 - y_nk (u_n'w_k + b_k))
        + reg_u/2 |U|^2 + reg_v/2 (|V|^2 + |b_x|^2) + reg_w/2 |W|^2

V: ridge regression.  W: linear support vector machines.  A row u = u0 + M sum_k tau_k y_k w_k with
M = (2 lam V V' + reg_u I)^-1, u0 = 2 lam M V (x - b_x) and tau in [0, 1]^K, which maximises a concave quadratic: for
one machine tau = clip((1 - y (u0'w + b)) / w'M w, 0, 1), for several that coordinate by coordinate.

Source: F. Pereira, G. Gordon, "The Support Vector Decomposition Machine", ICML 2006, in a form with ridges; that paper
may constrain norms instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.baselines._parameters import SEEDED
from supdr.engine.checks import check_cells, check_shapes
from supdr.engine.common_parameters import CALIBRATE, COMPONENTS, LIMITS, PREPROCESSING
from supdr.engine.fitted import once_per_snapshot
from supdr.engine.interruption import checkpoint
from supdr.engine.iterate import Problem, generator
from supdr.engine.parameters import subset
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted
from supdr.methods.sdr_glm.parameters import PARAMETERS as OF_SDR_GLM
from supdr.solvers.linear_heads import column_spread
from supdr.solvers.linear_svm import Heads, solve_heads
from supdr.solvers.low_rank import augmented, leading_rows
from supdr.solvers.positive_definite import solve_positive

# Sweeps over the machines of a row at most.
ASCENTS = 50

SVM_TOL = 1e-8
SLICE = 4096


class SVDMState(NamedTuple):
    """Iterate of SVDM, whose arrays never change: U (N, L), V (L, m), b_x (m,) and the labelled rows' machines."""

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    heads: Heads
    seed: int
    iteration: int


@njit(cache=True, nogil=True)
def _ascend(free: NDArray, signs: NDArray, gram: NDArray, tau: NDArray, ascents: int) -> None:
    """Write tau (n, K), the maximiser of sum_k tau_k (1 - y_k f_k) - 1/2 |sum_k tau_k y_k w_k|^2_M, row by row.

    free (n, K) are the scores f of u0, gram (K, K) is W'M W, signs (n, K) are -1, +1 or 0.
    """
    n_heads = free.shape[1]
    for i in range(free.shape[0]):
        for _ in range(ascents):
            change = 0.0
            for k in range(n_heads):
                if signs[i, k] == 0.0 or gram[k, k] <= 0.0:
                    continue
                score = free[i, k]
                for j in range(n_heads):
                    if j != k:
                        score += gram[k, j] * tau[i, j] * signs[i, j]
                best = min(max((1.0 - signs[i, k] * score) / gram[k, k], 0.0), 1.0)
                change = max(change, abs(best - tau[i, k]))
                tau[i, k] = best
            if change <= 1e-12:
                break


@dataclass(frozen=True, eq=False)
class SVDMProblem(Problem):
    """Preprocessed data X (N, m), labelled `rows` (n,) with `signs` (n, K), and the hyper-parameters of SVDM."""

    X: NDArray
    rows: NDArray
    signs: NDArray
    n_components: int
    weight: float
    reg_u: float
    reg_v: float
    reg_w: float

    def start(self, seed: int) -> SVDMState:
        """Return U from the singular vectors, then one V-step and one W-step."""
        latent = leading_rows(self.X, self.X.mean(axis=0), self.n_components, generator(seed, 0))
        loadings = self._loadings(latent)
        return SVDMState(latent, loadings[:-1], loadings[-1], self._heads(latent, None), seed, 0)

    def adopt(self, state: SVDMState) -> SVDMState:
        """Check the shapes; fit new machines if the labels are others."""
        latent, components = (len(self.X), self.n_components), (self.n_components, self.X.shape[1])
        check_shapes(state, latent=latent, components=components)
        if state.heads.alpha.shape != self.signs.shape:
            state = state._replace(heads=self._heads(state.latent, None))
        return state

    def step(self, state: SVDMState) -> SVDMState:
        """Return the state after U-, W- and V-step; F never rises."""
        checkpoint()
        latent = self._latent(state)
        heads = self._heads(latent, state.heads)
        if self._head_value(latent, heads) > self._head_value(latent, state.heads):
            heads = state.heads._replace(alpha=heads.alpha)  # within the solver's tolerance
        loadings = self._loadings(latent)
        return SVDMState(latent, loadings[:-1], loadings[-1], heads, state.seed, state.iteration + 1)

    def terms(self, state: SVDMState) -> dict[str, float]:
        """Return the terms of F."""
        error = self.X - state.latent @ state.components - state.intercept_x
        ridge = (
            self.reg_u * np.vdot(state.latent, state.latent)
            + self.reg_v * (np.vdot(state.components, state.components) + np.vdot(state.intercept_x, state.intercept_x))
            + self.reg_w * np.vdot(state.heads.coef, state.heads.coef)
        )
        return {
            "reconstruction": self.weight * float(np.vdot(error, error)),
            "label": self._hinge(state.latent, state.heads),
            "regularisation": 0.5 * float(ridge),
        }

    def _hinge(self, latent: NDArray, heads: Heads) -> float:
        scores = latent[self.rows] @ heads.coef.T + heads.intercept
        return float(np.maximum(0.0, 1.0 - self.signs * scores).sum())

    def _head_value(self, latent: NDArray, heads: Heads) -> float:
        return self._hinge(latent, heads) + 0.5 * self.reg_w * float(np.vdot(heads.coef, heads.coef))

    def _loadings(self, latent: NDArray) -> NDArray:
        wide = augmented(latent)
        strength = 2.0 * self.weight
        system = strength * (wide.T @ wide) + self.reg_v * np.eye(wide.shape[1])
        return np.ascontiguousarray(solve_positive(system, strength * (wide.T @ self.X)))

    def _heads(self, latent: NDArray, start: Heads | None) -> Heads:
        return solve_heads(latent[self.rows], self.signs, 1.0 / self.reg_w, start, tol=SVM_TOL)

    def _latent(self, state: SVDMState) -> NDArray:
        latent, inverse = fold_in(self.X, state.components, state.intercept_x, self.weight, self.reg_u)
        coef = state.heads.coef  # (K, L)
        reach = coef @ inverse
        free = latent[self.rows] @ coef.T + state.heads.intercept
        tau = np.zeros_like(free)
        for begin in range(0, len(free), SLICE):
            checkpoint()
            part = slice(begin, begin + SLICE)
            _ascend(free[part], self.signs[part], reach @ coef.T, tau[part], ASCENTS)
        latent[self.rows] += (tau * self.signs) @ reach
        return latent


def fold_in(
    X: NDArray, components: NDArray, intercept_x: NDArray, weight: float, reg_u: float
) -> tuple[NDArray, NDArray]:
    """Return u0 = 2 lam M V (x - b_x) of every row, (n, L), and M, (L, L)."""
    identity = np.eye(len(components))
    inverse = solve_positive(2.0 * weight * (components @ components.T) + reg_u * identity, identity)
    return (2.0 * weight) * ((X - intercept_x) @ components.T) @ inverse, inverse


@dataclass(eq=False, repr=False)
class SVDM(Unweighted):
    """Support vector decomposition machine: a factorisation of X with linear SVMs on the latent rows.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension L, from 1 to the number of rows or columns.
    recon_weight : float or "auto", default="auto"
        Weight lam of the squared reconstruction error, > 0.  ``"auto"``: 0.1 times the hinge at score 0, one per label
        and machine, over the squared deviations of X.
    reg_u, reg_v, reg_w : float, default=0.01
        Ridges of latent rows, loadings and machines, > 0.
    reg_scaling : {"lam", "none"}, default="lam"
        Whether reg_u and reg_v are multiplied by lam.
    preprocessing : {"zscore", "minmax", "whiten", "none"}, default="zscore"
        Fitted inside.
    calibrate : bool, default=True
        Whether `predict` uses machines refitted on ``transform`` of the labelled rows (columns of unit deviation,
        hinge weight 1).
    max_iter : int, default=100
        Number of sweeps.
    tol : float, default=1e-6
        Relative change of F that counts as convergence.
    random_state : int or None, default=None
        Seed of random directions, where the data have fewer than `n_components`.
    verbose, missing_label
        As in `SupervisedReducer`.
    """

    parameters = (
        COMPONENTS,
        *subset(OF_SDR_GLM, "recon_weight", "reg_scaling", "reg_u", "reg_v", "reg_w"),
        PREPROCESSING,
        CALIBRATE,
        *LIMITS,
        *SEEDED,
    )

    n_components: int = 2
    _: KW_ONLY
    recon_weight: float | str = "auto"
    reg_u: float = 0.01
    reg_v: float = 0.01
    reg_w: float = 0.01
    reg_scaling: str = "lam"
    preprocessing: str = "zscore"
    calibrate: bool = True
    max_iter: int = 100
    tol: float = 1e-6
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    prepared_attributes = (*Unweighted.prepared_attributes, "recon_weight_", "_reg_u")

    @property
    def reconstruction_(self) -> NDArray:
        """U V + b_x of the training rows, (n_samples, n_features), in input units."""
        rows = self._state.latent @ self.components_ + self.intercept_x_
        return self._preprocessing.inverse_transform(rows)

    @property
    def label_pull_(self) -> NDArray:
        """Largest multiplier of each training row as a share of its bound, (n_samples,)."""
        return self._over_training_rows(np.clip(self._state.heads.alpha.max(axis=1) * float(self.reg_w), 0.0, 1.0))

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        check_cells(X)

    def _problem(self, X: NDArray, targets: Targets) -> SVDMProblem:
        if self.n_components > min(X.shape):
            raise ValueError(
                f"n_components={self.n_components} exceeds n_samples = {len(X)} or n_features = {X.shape[1]}"
            )
        rows = np.flatnonzero(targets.labelled)
        weight: Any = self.recon_weight
        if weight == "auto":
            spread = float(((X - X.mean(axis=0)) ** 2).sum())
            weight = 0.1 * len(rows) * targets.values.shape[1] / spread if spread > 0.0 else 1.0
        self.recon_weight_ = float(weight)
        scaling = self.recon_weight_ if self.reg_scaling == "lam" else 1.0
        self._reg_u = scaling * float(self.reg_u)
        return SVDMProblem(
            X=X,
            rows=rows,
            signs=np.ascontiguousarray(targets.values[rows]),
            n_components=int(self.n_components),
            weight=self.recon_weight_,
            reg_u=self._reg_u,
            reg_v=scaling * float(self.reg_v),
            reg_w=float(self.reg_w),
        )

    def _expose(self, state: SVDMState) -> None:
        self.components_, self.intercept_x_ = state.components, state.intercept_x
        self.coef_, self.intercept_ = state.heads.coef, state.heads.intercept

    def _latent(self, X: NDArray) -> NDArray:
        return fold_in(X, self.components_, self.intercept_x_, self.recon_weight_, self._reg_u)[0]

    def _own_latent(self) -> NDArray:
        return self._state.latent

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        coef, intercept = self._calibrated_heads() if calibrated else (self.coef_, self.intercept_)
        return latent @ coef.T + intercept

    @once_per_snapshot
    def _calibrated_heads(self) -> tuple[NDArray, NDArray]:
        """Return machines refitted on the fold-in of the labelled rows."""
        X, targets = self._training
        features = self._latent(X[targets.labelled])
        spread = column_spread(features)
        heads = solve_heads(features / spread, targets.values[targets.labelled], 1.0)
        return heads.coef / spread, heads.intercept

    def _finish(self) -> None:
        if self.calibrate:
            self._calibrated_heads()

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters; fitting each on a small data set compiles every kernel."""
        yield {"max_iter": 2}
