"""LSDR's solvers: block descent, the paper's stochastic gradient loop, and L-BFGS on all factors at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import generator
from supdr.methods.lsdr.kernels import label_epoch, pull_rows, row_losses, score_gradients
from supdr.methods.lsdr.problem import LSDRProblem, LSDRState
from supdr.solvers.lbfgs import lbfgs_adopt, lbfgs_start, lbfgs_step
from supdr.solvers.linear_heads import fit_heads
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import fit_loadings, latent_system, reconstruction_epoch, sgd_cells, sgd_shrinkage

MAX_SWEEPS = 30
"""Sweeps of the proximal map of several heads: 2 (hinge), 7 (logistic, smooth hinge), 16 (squared) as a rule."""

HEAD_STEPS = 5
"""Newton steps per head and round; the next round carries on."""


class BlockDescent(LSDRProblem):
    """solver="bcd": loadings, latent rows and heads in turn, each by its minimiser."""

    def step(self, state: LSDRState) -> LSDRState:
        """Minimise over (V, bv), then over all latent rows, then over the heads; F never rises.

        O(N m d + N d^2 + n d^2 + n K^2 per sweep of the proximal map).
        """
        d = self.n_components
        offset = state.latent[:, d] if self.row_bias else None
        components, intercept_x = fit_loadings(
            self.X, state.latent[:, :d], self.reg_v, self.beta, row_offset=offset, observed=self.observed
        )
        latent = self.latent_rows(state, components, intercept_x)
        labelled = latent[self.rows]
        coef, intercept = fit_heads(
            labelled[:, :d],
            self.Y,
            self.code,
            state.coef,
            state.intercept,
            weight=1.0 - self.beta,
            row_weights=self.weights,
            reg=self.reg_w,
            offset=labelled[:, d] if self.row_bias else None,
            max_steps=HEAD_STEPS,
        )
        return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration + 1)

    def latent_rows(self, state: LSDRState, components: NDArray, intercept_x: NDArray) -> NDArray:
        """Minimise F over all latent rows: the fold-in T, and for labelled rows Z = T - q A^-1 Wt g with g = loss'(z).

        q = (1 - beta) / 2 times the row's weight.  With several heads g is found by coordinate ascent; a row whose part
        of F would rise stays.
        """
        beta, rows, Y, code = self.beta, self.rows, self.Y, self.code
        system, extended = latent_system(components, self.reg_u, beta, row_bias=self.row_bias, observed=self.observed)
        wide = self.extended_coef(state.coef)  # Wt (D, K)
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
        folded, before = latent[rows], state.latent[rows]
        free, scores = folded @ wide + state.intercept, before @ wide + state.intercept
        pull = np.empty_like(free)
        score_gradients(code, Y, scores, pull)
        pull_rows(code, Y, free, grams, q, pull, MAX_SWEEPS)
        change = -q[:, None] * (pull @ reach[0].T if len(reach) == 1 else (reach @ pull[:, :, None])[:, :, 0])
        after = folded + change
        if Y.shape[1] > 1:
            reached = self._row_objectives(change, system, after @ wide + state.intercept)
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

    def settled(self, previous: LSDRState, state: LSDRState) -> bool:
        """Tell that a standstill is convergence, unless it is the first, cautious step."""
        return state.search is None or previous.search is None or bool(previous.search.pairs) or state.search.step == 0


SOLVERS: dict[str, type[LSDRProblem]] = {"bcd": BlockDescent, "sgd": PaperLoop, "lbfgs": QuasiNewton}
