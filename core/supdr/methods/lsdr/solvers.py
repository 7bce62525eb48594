"""LSDR's solvers: block descent, the paper's stochastic gradient loop, and L-BFGS on all factors at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import generator
from supdr.methods.lsdr.kernels import label_epoch, pull_rows, row_losses, score_gradients
from supdr.methods.lsdr.problem import LSDRProblem, LSDRState
from supdr.solvers.lbfgs import lbfgs_adopt, lbfgs_start, lbfgs_step
from supdr.solvers.linear_heads import HeadRows, fit_heads_over, head_rows
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


class BlockDescent(LSDRProblem):
    """solver="bcd": loadings, latent rows and heads in turn, each by its minimiser."""

    def step(self, state: LSDRState) -> LSDRState:
        """Minimise over (V, bv), then over all latent rows, then over the heads; F never rises.

        O(N m d + N d^2 + n d^2 + n K^2 per sweep of the proximal map).
        """
        rows, part = self.all_rows, self.part
        sums = rows.total(_loading_sums, part, state.latent)
        components, intercept_x = solve_loadings(sums, self.reg_v / self.beta)
        latent = rows.each(_latent_rows, part, state.latent, state.coef, state.intercept, components, intercept_x)
        coef, intercept = fit_heads_over(
            rows,
            self.labelled(latent),
            self.code,
            state.coef,
            state.intercept,
            weight=1.0 - self.beta,
            reg=self.reg_w,
            max_steps=HEAD_STEPS,
        )
        return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration + 1)

    def labelled(self, latent: Any) -> Any:
        """Return the labelled rows as heads take them, `supdr.solvers.linear_heads.HeadRows`."""
        return labelled_rows(Labels(self.rows, self.Y, self.weights), latent, self.n_components, 1.0 - self.beta)

    def latent_rows(
        self, before: NDArray, coef: NDArray, intercept: NDArray, components: NDArray, intercept_x: NDArray
    ) -> NDArray:
        """Minimise F over all latent rows: the fold-in T, and for labelled rows Z = T - q A^-1 Wt g with g = loss'(z).

        q = (1 - beta) / 2 times the row's weight.  With several heads g is found by coordinate ascent; a row whose part
        of F would rise stays.
        """
        beta, rows, Y, code = self.beta, self.rows, self.Y, self.code
        system, extended = latent_system(components, self.reg_u, beta, row_bias=self.row_bias, observed=self.observed)
        wide = self.extended_coef(coef)  # Wt (D, K)
        centred = self.X - intercept_x
        if self.observed is None:
            m = centred.shape[1]
            solution = solve_positive(system, np.concatenate([beta * extended, wide], axis=1))  # (D, m + K)
            latent = centred @ solution[:, :m].T  # T
            reach = solution[None, :, m:]  # A^-1 Wt (1, D, K)
        else:
            right = np.empty((*system.shape[:2], 1 + wide.shape[1]))
            right[:, :, 0] = (self.observed * centred) @ (beta * extended.T)
            right[:, :, 1:] = wide
            solution = solve_positive(system, right)  # (N, D, 1 + K)
            latent = np.ascontiguousarray(solution[:, :, 0])
            reach, system = solution[rows, :, 1:], system[rows]
        grams = np.ascontiguousarray(wide.T @ reach)  # G = Wt' A^-1 Wt, (1 or n, K, K)
        q = 0.5 * (1.0 - beta) * self.weights
        folded, before = latent[rows], before[rows]
        free, scores = folded @ wide + intercept, before @ wide + intercept
        pull = np.empty_like(free)
        score_gradients(code, Y, scores, pull)
        pull_rows(code, Y, free, grams, q, pull, MAX_SWEEPS)
        change = -q[:, None] * (pull @ reach[0].T if len(reach) == 1 else (reach @ pull[:, :, None])[:, :, 0])
        after = folded + change
        if Y.shape[1] > 1:
            reached = self._row_objectives(change, system, after @ wide + intercept)
            worse = reached > self._row_objectives(before - folded, system, scores)
            after[worse] = before[worse]
        latent[rows] = after
        return latent

    def _row_objectives(self, change: NDArray, system: NDArray, scores: NDArray) -> NDArray:
        """Return (Z - T)' A (Z - T) + (1 - beta) weight sum_k loss, (n,): the rows' parts of F up to a constant."""
        total = np.empty(len(change))
        row_losses(self.code, self.Y, scores, total)
        moved = change @ system if system.ndim == 2 else (system @ change[:, :, None])[:, :, 0]
        return (moved * change).sum(axis=1) + (1.0 - self.beta) * self.weights * total


class Labels(NamedTuple):
    """What is known of labelled rows.

    `rows` (n,): which rows these are; `Y` (n, K): targets; `weights` (n,): of the losses.
    """

    rows: NDArray
    Y: NDArray
    weights: NDArray


def labelled_rows(labels: Labels, latent: NDArray, n_components: int, weight: float) -> HeadRows:
    """Return the labelled of latent rows (N, D) as heads take them; a row bias is their offset."""
    labelled = latent[labels.rows]
    offset = labelled[:, n_components] if latent.shape[1] > n_components else None
    return head_rows(labelled[:, :n_components], labels.Y, weight, labels.weights, offset)


def _loading_sums(part: LSDRProblem, latent: NDArray) -> tuple[NDArray, NDArray]:
    d = part.n_components
    return loading_sums(part.X, latent[:, :d], latent[:, d] if part.row_bias else None, part.observed)


def _latent_rows(part: BlockDescent, *values: NDArray) -> NDArray:
    return part.latent_rows(*values)


class PaperLoop(LSDRProblem):
    """solver="sgd": algorithm 1, corrected."""

    @property
    def advice(self) -> str:  # type: ignore[override]
        """What to do when the run diverges."""
        return (
            f"Lower the learning rates: lr_reconstruction={self.lr_reconstruction:g}, "
            f"lr_classification={self.lr_classification:g}."
        )

    def step(self, state: LSDRState) -> LSDRState:
        """Return the state after one epoch of the paper's algorithm 1, corrected: all cells, then all labelled rows."""
        rng = generator(state.seed, state.iteration + 1)
        shape, observed = self.X.shape, self.observed
        latent, intercept_x, intercept = state.latent.copy(), state.intercept_x.copy(), state.intercept.copy()
        loadings, coef = state.components.T.copy(order="C"), state.coef.T.copy(order="C")  # (m, d), (K, d)
        reconstruction_epoch(
            self.X,
            latent,
            loadings,
            intercept_x,
            rng.permutation(sgd_cells(shape, observed)),
            self.lr_reconstruction,
            self.beta,
            sgd_shrinkage(self.reg_u, shape, observed, axis=1),
            sgd_shrinkage(self.reg_v, shape, observed, axis=0),
        )
        label_epoch(
            self.code,
            self.Y,
            self.rows,
            rng.permutation(len(self.rows)),
            latent,
            coef,
            intercept,
            self.lr_classification,
            (1.0 - self.beta) * self.weights,
            self.reg_w / len(self.rows),
        )
        components = np.ascontiguousarray(loadings.T)
        return LSDRState(
            latent, components, intercept_x, np.ascontiguousarray(coef.T), intercept, state.seed, state.iteration + 1
        )


class QuasiNewton(LSDRProblem):
    """solver="lbfgs": all factors and heads at once."""

    def start(self, seed: int) -> LSDRState:
        """Return the starting point with a search that knows its point only."""
        state = super().start(seed)
        return state._replace(search=lbfgs_start(self.pack(state), self.evaluate))

    def adopt(self, state: LSDRState) -> LSDRState:
        """Check the shapes; start heads of other classes anew; keep the memory only for the same objective."""
        state = self.fitting(state)
        if state.search is None:
            return state._replace(search=lbfgs_start(self.pack(state), self.evaluate))
        return state._replace(search=lbfgs_adopt(state.search, self.evaluate))

    def step(self, state: LSDRState) -> LSDRState:
        """Return the state after one accepted L-BFGS step on all blocks at once."""
        assert state.search is not None  # start and adopt see to it
        search = lbfgs_step(state.search, self.evaluate)
        latent, components, intercept_x, coef, intercept = self.unpack(search.point)
        return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration + 1, search)

    def may_converge(self, previous: LSDRState, state: LSDRState) -> bool:
        """Tell that a standstill is convergence, unless it is the first, cautious step."""
        return state.search is None or previous.search is None or bool(previous.search.pairs) or state.search.step == 0


SOLVERS: dict[str, type[LSDRProblem]] = {"bcd": BlockDescent, "sgd": PaperLoop, "lbfgs": QuasiNewton}
