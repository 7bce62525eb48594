"""LSDR's solvers: block descent, and the paper's loop, stochastic gradient descent; L-BFGS is `supdr.solvers.lbfgs`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import generator
from supdr.engine.solver import Solver
from supdr.methods.lsdr.kernels import label_epoch, pull_rows, row_losses, score_gradients
from supdr.methods.lsdr.problem import LSDRProblem, LSDRState
from supdr.solvers.lbfgs import QuasiNewton
from supdr.solvers.linear_heads import fit_heads_over
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import (
    latent_system,
    loading_sums,
    reconstruction_epoch,
    sgd_cells,
    sgd_shrinkage,
    solve_loadings,
)

# Sweeps of the proximal map of several heads: 2 (hinge), 7 (logistic, smooth hinge), 16 (squared) as a rule.
MAX_SWEEPS = 30

# Newton steps per head and round; the next round carries on.
HEAD_STEPS = 5


class BlockDescent(Solver):
    """solver="bcd": loadings, latent rows and heads in turn, each by its minimiser."""

    def step(self, problem: LSDRProblem, state: LSDRState) -> LSDRState:
        """Minimise over (V, bv), then over all latent rows, then over the heads; F never rises.

        O(N m d + N d^2 + n d^2 + n K^2 per sweep of the proximal map).
        """
        rows, part = problem.all_rows, problem.part
        sums = rows.total(_loading_sums, part, state.latent)
        components, intercept_x = solve_loadings(sums, problem.reg_v / problem.beta)
        latent = rows.each(latent_rows, part, state.latent, state.coef, state.intercept, components, intercept_x)
        coef, intercept = fit_heads_over(
            rows,
            problem.labelled(latent),
            problem.code,
            state.coef,
            state.intercept,
            weight=1.0 - problem.beta,
            reg=problem.reg_w,
            max_steps=HEAD_STEPS,
        )
        return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration)


def _loading_sums(part: LSDRProblem, latent: NDArray) -> tuple[NDArray, NDArray]:
    d = part.n_components
    return loading_sums(part.X, latent[:, :d], latent[:, d] if part.row_bias else None, part.observed)


def latent_rows(
    part: LSDRProblem, before: NDArray, coef: NDArray, intercept: NDArray, components: NDArray, intercept_x: NDArray
) -> NDArray:
    """Minimise F over all latent rows: the fold-in T, and for labelled rows Z = T - q A^-1 Wt g with g = loss'(z).

    q = (1 - beta) / 2 times the row's weight.  With several heads g is found by coordinate ascent; a row whose part
    of F would rise stays.
    """
    beta, rows, Y, code = part.beta, part.rows, part.Y, part.code
    system, extended = latent_system(components, part.reg_u, beta, row_bias=part.row_bias, observed=part.observed)
    wide = part.extended_coef(coef)  # Wt (D, K)
    centred = part.X - intercept_x
    if part.observed is None:
        m = centred.shape[1]
        solution = solve_positive(system, np.concatenate([beta * extended, wide], axis=1))  # (D, m + K)
        latent = centred @ solution[:, :m].T  # T
        reach = solution[None, :, m:]  # A^-1 Wt (1, D, K)
    else:
        right = np.empty((*system.shape[:2], 1 + wide.shape[1]))
        right[:, :, 0] = (part.observed * centred) @ (beta * extended.T)
        right[:, :, 1:] = wide
        solution = solve_positive(system, right)  # (N, D, 1 + K)
        latent = np.ascontiguousarray(solution[:, :, 0])
        reach, system = solution[rows, :, 1:], system[rows]
    grams = np.ascontiguousarray(wide.T @ reach)  # G = Wt' A^-1 Wt, (1 or n, K, K)
    q = 0.5 * (1.0 - beta) * part.weights
    folded, before = latent[rows], before[rows]
    free, scores = folded @ wide + intercept, before @ wide + intercept
    pull = np.empty_like(free)
    score_gradients(code, Y, scores, pull)
    pull_rows(code, Y, free, grams, q, pull, MAX_SWEEPS)
    change = -q[:, None] * (pull @ reach[0].T if len(reach) == 1 else (reach @ pull[:, :, None])[:, :, 0])
    after = folded + change
    if Y.shape[1] > 1:
        reached = _row_objectives(part, change, system, after @ wide + intercept)
        worse = reached > _row_objectives(part, before - folded, system, scores)
        after[worse] = before[worse]
    latent[rows] = after
    return latent


def _row_objectives(part: LSDRProblem, change: NDArray, system: NDArray, scores: NDArray) -> NDArray:
    """Return (Z - T)' A (Z - T) + (1 - beta) weight sum_k loss, (n,): the rows' parts of F up to a constant."""
    total = np.empty(len(change))
    row_losses(part.code, part.Y, scores, total)
    moved = change @ system if system.ndim == 2 else (system @ change[:, :, None])[:, :, 0]
    return (moved * change).sum(axis=1) + (1.0 - part.beta) * part.weights * total


class StochasticGradient(Solver):
    """solver="sgd": algorithm 1, corrected."""

    def advice(self, problem: LSDRProblem) -> str:
        """Return what to do when the run diverges."""
        return (
            f"Lower the learning rates: lr_reconstruction={problem.lr_reconstruction:g}, "
            f"lr_classification={problem.lr_classification:g}."
        )

    def step(self, problem: LSDRProblem, state: LSDRState) -> LSDRState:
        """Return the state after one epoch of the paper's algorithm 1, corrected: all cells, then all labelled rows."""
        rng = generator(state.seed, state.iteration + 1)
        shape, observed = problem.X.shape, problem.observed
        latent, intercept_x, intercept = state.latent.copy(), state.intercept_x.copy(), state.intercept.copy()
        loadings, coef = state.components.T.copy(order="C"), state.coef.T.copy(order="C")  # (m, d), (K, d)
        reconstruction_epoch(
            problem.X,
            latent,
            loadings,
            intercept_x,
            rng.permutation(sgd_cells(shape, observed)),
            problem.lr_reconstruction,
            problem.beta,
            sgd_shrinkage(problem.reg_u, shape, observed, axis=1),
            sgd_shrinkage(problem.reg_v, shape, observed, axis=0),
        )
        label_epoch(
            problem.code,
            problem.Y,
            problem.rows,
            rng.permutation(len(problem.rows)),
            latent,
            coef,
            intercept,
            problem.lr_classification,
            (1.0 - problem.beta) * problem.weights,
            problem.reg_w / len(problem.rows),
        )
        components = np.ascontiguousarray(loadings.T)
        return LSDRState(
            latent, components, intercept_x, np.ascontiguousarray(coef.T), intercept, state.seed, state.iteration
        )


SOLVERS: dict[str, Solver] = {"bcd": BlockDescent(), "sgd": StochasticGradient(), "lbfgs": QuasiNewton()}
