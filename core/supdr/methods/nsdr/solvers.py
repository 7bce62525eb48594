"""NSDR's solvers: block descent; the paper's alternation is in `min_max`, L-BFGS in `supdr.solvers.lbfgs`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supdr.engine.solver import Solver
from supdr.methods.nsdr.min_max import MinMaxAlternation
from supdr.methods.nsdr.problem import NSDRProblem, NSDRState
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.lbfgs import QuasiNewton
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import fit_loadings, latent_system

SUFFICIENT_DECREASE = 1e-4
SMALLEST_STEP = 1e-10
# Shares of a full step: below the first nothing can move, below the second little progress proves nothing.
SHORT_STEP = 0.1


@dataclass(frozen=True)
class BlockDescent(Solver):
    """solver="bcd": loadings and unlabelled rows exactly, labelled rows by a backtracked step, heads solved warm.

    max_trials: steps of halved lengths that are tried in a round.
    """

    max_trials: int = 40

    def begin(self, problem: NSDRProblem, state: NSDRState) -> NSDRState:
        """Return `state` with solved heads."""
        return problem.solved(state)

    def step(self, problem: NSDRProblem, state: NSDRState) -> NSDRState:
        """One round.  O(N m d) and, per trial, a kernel matrix and K warm SVMs."""
        d, rows = problem.n_components, problem.rows
        offset = state.latent[:, d] if problem.row_bias else None
        components, intercept_x = fit_loadings(
            problem.X, state.latent[:, :d], problem.reg_v, problem.beta, row_offset=offset, observed=problem.observed
        )
        target, system = self._pulled_rows(problem, components, intercept_x, state.label_gradient)
        old = state.latent[rows]
        move = target[rows] - old
        heads, step_size, capped = self._label_step(problem, state, old, move, system)
        latent = target  # unlabelled rows take their exact minimiser
        latent[rows] = old if heads is None else old + step_size * move
        gradient = state.label_gradient if heads is None else problem.label_gradient(latent[rows], heads.alpha)
        return state._replace(
            latent=latent,
            components=components,
            intercept_x=intercept_x,
            heads=state.heads._replace(iterations=0) if heads is None else heads,
            label_gradient=gradient,
            step_size=step_size if heads is None else min(1.0, 2.0 * step_size),
            accepted=heads is not None,
            cap=2 * state.cap if capped else state.cap,
        )

    def advice(self, problem: NSDRProblem) -> str:
        """Return what to do when the run diverges."""
        return "Try stronger regularisation or a smaller C."

    def may_converge(self, problem: NSDRProblem, previous: NSDRState, state: NSDRState) -> bool:
        """Whether little progress is due to the point, not to a rejected or a short step."""
        return state.step_size < SMALLEST_STEP or (state.accepted and state.step_size > SHORT_STEP)

    def _pulled_rows(
        self, problem: NSDRProblem, components: NDArray, intercept_x: NDArray, pull: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Return the minimiser (N, D) of R + (1 - beta) <pull, Z> over the latent rows, and the systems A."""
        system, extended = latent_system(
            components, problem.reg_u, problem.beta, row_bias=problem.row_bias, observed=problem.observed
        )
        residual = problem.X - intercept_x
        if problem.observed is not None:
            residual *= problem.observed
        right = residual @ (problem.beta * extended.T)
        right[problem.rows] -= 0.5 * (1.0 - problem.beta) * pull
        if problem.observed is None:
            return np.ascontiguousarray(solve_positive(system, right.T).T), system
        return np.ascontiguousarray(solve_positive(system, right[:, :, None])[:, :, 0]), system[problem.rows]

    def _label_step(
        self, problem: NSDRProblem, state: NSDRState, old: NDArray, move: NDArray, system: NDArray
    ) -> tuple[Heads | None, float, bool]:
        """Backtrack along `move` (n, D); return the heads of the accepted trial or None, its length, if a cap bit.

        R is a parabola along the move: with q = sum_i move_i' A_i move_i its slope at 0 is -2q - (1 - beta) <g, move>.
        """
        weight = 1.0 - problem.beta
        curvature = float(np.einsum("...i,...ij,...j->...", move, system, move).sum())
        slope = -2.0 * curvature - weight * float(np.vdot(state.label_gradient, move))
        length, capped, spent = state.step_size, False, 0
        for _ in range(self.max_trials):
            if length < SMALLEST_STEP or not math.isfinite(curvature):
                break
            allowed = -length * (slope + (length + 2.0 * SUFFICIENT_DECREASE) * curvature)
            ceiling = state.heads.primal + allowed / weight if weight > 0 else math.inf
            heads = problem.solve_heads(old + length * move, state.heads.alpha, state.cap, ceiling)
            capped, spent = capped or heads.capped, spent + heads.iterations
            if heads.closed and heads.primal <= ceiling:
                return heads._replace(iterations=spent), length, capped
            length *= 0.5
        return None, length, capped


SOLVERS: dict[str, Solver] = {"bcd": BlockDescent(), "lbfgs": QuasiNewton(), "sgd": MinMaxAlternation()}

# Relative duality gap of the support vector machines where it is not that of `NSDRProblem`: L-BFGS needs gradients.
PRECISIONS = {"lbfgs": 1e-6}
