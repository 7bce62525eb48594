"""The optimisation problem of SNF, shared by its solvers; the formulas stand in `supdr.methods.snf.estimator`.

The point that moves holds the latent rows and, if cells of X are missing, their values: a free value costs nothing at
its optimum, where it equals its reconstruction, and one factorisation still serves all columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from supdr.engine.interruption import checkpoint
from supdr.engine.iterate import generator
from supdr.engine.solver import SolvedProblem, Solver
from supdr.functions.kernels import Kernel
from supdr.solvers.kernel_ridge import Dual, Fit, Primal, regression
from supdr.solvers.lbfgs import Evaluate, LBFGSState, QuasiNewton, lbfgs_start

# F starts with negative curvature, where steps do not grow: the first trial is long.
LBFGS = QuasiNewton(memory=20, first_move=0.05)

# How long each of several starts is followed before the best is chosen.
TRIAL_STEPS, TRIAL_TOL = 100, 1e-6

# Standard deviation of starting coordinates for which there is no principal component.
RANDOM_SPREAD = 0.01


class SNFState(NamedTuple):
    """One iterate.

    latent (n, D): Z.
    filling (number of missing cells,): their current values, row by row.
    predictors, target: the regressions of all columns on Z, and of the targets on Z's labelled rows.
    gradient_norm, step_size: of the whole point; step size of the solver.
    search: memory of solver "lbfgs".
    """

    latent: NDArray
    filling: NDArray
    predictors: Fit
    target: Fit
    gradient_norm: float
    step_size: float
    search: LBFGSState | None
    seed: int
    iteration: int


@dataclass(frozen=True, eq=False)
class SNFProblem(SolvedProblem):
    """Data, hyper-parameters, objective and starting points.

    X (n, M): preprocessed data; missing cells hold column means.
    missing: flat indices of the missing cells.
    rows (N,): labelled rows.
    Y (N, T): their targets.
    weights (N,): of their squared residuals; None: 1.
    solver: takes the steps.
    lr_target: eta_Y of solver "sgd"; None: follows from `target_weight`.
    """

    X: NDArray
    missing: NDArray
    rows: NDArray
    Y: NDArray
    weights: NDArray | None
    kernel: Kernel
    n_components: int
    target_weight: float
    reg_v: float
    reg_w: float
    reg_z: float
    init: str | NDArray
    init_scale: float
    n_init: int
    lr_reconstruction: float
    solver: Solver
    lr_target: float | None = None
    on_all: Primal | Dual = field(init=False)
    on_labelled: Primal | Dual = field(init=False)

    general_advice = "Try stronger regularisation."

    def __post_init__(self) -> None:
        d = self.n_components
        object.__setattr__(self, "on_all", regression(self.kernel, self.reg_v, d, len(self.X)))
        object.__setattr__(self, "on_labelled", regression(self.kernel, self.reg_w, d, len(self.rows), self.weights))

    # --- the objective ------------------------------------------------------------------------------------------------

    def evaluate(self, point: NDArray) -> tuple[float, NDArray, tuple[Fit, Fit]]:
        """Return F, its gradient and the two regressions; F is inf where they cannot be solved."""
        latent, filling = self.split(point)
        gradient = np.empty_like(point)
        in_latent, in_filling = self.split(gradient)
        try:
            predictors, residual = self.on_all.solve(latent, self.filled(filling))
            target, target_residual = self.on_labelled.solve(latent[self.rows], self.Y)
        except LinAlgError:
            return math.inf, point, (NO_FIT, NO_FIT)
        in_latent[:] = self.on_all.gradient(latent, predictors, residual)
        in_latent += 2.0 * self.reg_z * latent
        if self.target_weight > 0.0:
            pull = self.on_labelled.gradient(latent[self.rows], target, target_residual)
            in_latent[self.rows] += self.target_weight * pull
        in_filling[:] = 2.0 * residual.ravel()[self.missing]
        return math.fsum(self.split_terms(latent, predictors, target).values()), gradient, (predictors, target)

    def split_terms(self, latent: NDArray, predictors: Fit, target: Fit) -> dict[str, float]:
        """Return the terms of F, named in words."""
        ridge = self.reg_z * float(np.vdot(latent, latent))
        return {
            "reconstruction": predictors.loss,
            "label": self.target_weight * target.loss,
            "regularisation": predictors.penalty + self.target_weight * target.penalty + ridge,
        }

    def terms(self, state: SNFState) -> dict[str, float]:
        """Return the terms of F at `state`."""
        return self.split_terms(state.latent, state.predictors, state.target)

    def readings(self, state: SNFState) -> dict[str, float]:
        """Return the norm of the gradient and the step size."""
        return {"gradient_norm": state.gradient_norm, "step_size": state.step_size}

    def split(self, point: NDArray) -> tuple[NDArray, NDArray]:
        """Return Z (n, D) and the values of the missing cells, as views of the flat point."""
        size = len(self.X) * self.n_components
        return point[:size].reshape(-1, self.n_components), point[size:]

    def filled(self, filling: NDArray) -> NDArray:
        """Return X with `filling` in its missing cells."""
        if not len(self.missing):
            return self.X
        X = self.X.copy()
        X.ravel()[self.missing] = filling
        return X

    # --- starting -----------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> SNFState:
        """Return the first of the starting points."""
        return self.solver.begin(self, self.at_latent(self.starts(seed)[0], seed))

    def at_latent(self, latent: NDArray, seed: int) -> SNFState:
        """Return the state at starting latent rows, not evaluated, with missing cells at their column means."""
        return SNFState(latent, self.X.ravel()[self.missing], NO_FIT, NO_FIT, math.nan, 0.0, None, seed, 0)

    def starts(self, seed: int) -> list[NDArray]:
        """Return `n_init` starting latent rows: principal components, all but one of D + 1 in turn, then random."""
        rng, shape = generator(seed, 0), (len(self.X), self.n_components)
        if not isinstance(self.init, str):
            return [self.init]
        spread = self.init_scale if self.init == "random" else RANDOM_SPREAD
        starts = pca_starts(self.X, self.n_components, self.init_scale, rng) if self.init == "pca" else []
        starts += [spread * rng.standard_normal(shape) for _ in range(self.n_init - len(starts))]
        return starts[: self.n_init]

    def best_start(self, seed: int) -> LBFGSState:
        """Return the start from which L-BFGS comes lowest."""
        lowest, best = math.inf, None
        for latent in self.starts(seed):
            first = search = self.first_search(self.at_latent(latent, seed))
            for _ in range(TRIAL_STEPS):
                checkpoint()
                before, search = search.value, LBFGS.searched(search, self.evaluate)
                if before - search.value <= TRIAL_TOL * before:
                    break
            if best is None or search.value < lowest:
                lowest, best = search.value, first
        assert best is not None
        return best

    def stage(self, state: SNFState) -> int:
        """With several starts the first is shown at iteration 0; the first step may go to a better one."""
        return int(self.n_init > 1 and state.iteration > 0)

    def adopt(self, state: SNFState) -> SNFState:
        """Return `state` measured by this problem's objective; raise ValueError if its shapes are others."""
        shape = (len(self.X), self.n_components)
        if state.latent.shape != shape:
            raise ValueError(f"start has latent rows of shape {state.latent.shape}, these settings need {shape}")
        if len(state.predictors.bias) != self.X.shape[1]:
            raise ValueError(f"start reconstructs {len(state.predictors.bias)} columns, X has {self.X.shape[1]}")
        if state.filling.shape != self.missing.shape:
            raise ValueError(f"start has {len(state.filling)} missing cells, X has {len(self.missing)}")
        return self.solver.begin(self, state)

    def step(self, state: SNFState) -> SNFState:
        """Return the state one step later; the first step begins at the best of several starts."""
        if self.n_init > 1 and state.iteration == 0:
            state = self.at_point(state, self.best_start(state.seed), self.evaluate)
        return super().step(state)

    # --- the hooks of `QuasiNewton` -----------------------------------------------------------------------------------

    def first_search(self, state: SNFState) -> LBFGSState:
        """Return a search at the latent rows and missing cells of a state."""
        return lbfgs_start(np.concatenate([state.latent.ravel(), state.filling]), self.evaluate)

    def objective(self, state: SNFState) -> Evaluate:
        """Return F of the flat point."""
        return self.evaluate

    def at_point(self, state: SNFState, search: LBFGSState, objective: Evaluate | None) -> SNFState:
        """Return `state` at the point of a search."""
        latent, filling = self.split(search.point)
        norm = float(np.linalg.norm(search.gradient))
        predictors, target = search.payload
        return SNFState(latent, filling, predictors, target, norm, search.step, search, state.seed, state.iteration)


# Stands where a regression could not be solved: the objective is not a number.
NO_FIT = Fit(np.empty((0, 0)), np.empty(0), math.nan, math.nan)


def pca_starts(X: NDArray, n_components: int, scale: float, rng: np.random.Generator) -> list[NDArray]:
    """Return starts (n, D): choices of D of the first D + 1 principal scores, scaled to this first deviation."""
    centred = X - X.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    rank = int((singular > 1e-10 * max(singular[0], np.finfo(float).tiny)).sum())
    scores = left[:, :rank] * singular[:rank]
    # The sign of a singular vector is arbitrary: fixed so that equal data give equal pictures.
    scores *= np.sign(scores[np.argmax(abs(scores), axis=0), np.arange(rank)])
    if rank:
        scores *= scale / scores[:, 0].std()
    if rank <= n_components:
        rest = RANDOM_SPREAD * rng.standard_normal((len(X), n_components - rank))
        return [np.ascontiguousarray(np.hstack([scores, rest]))]
    chosen = combinations(range(n_components + 1), n_components)
    return [np.ascontiguousarray(scores[:, list(columns)]) for columns in chosen]
