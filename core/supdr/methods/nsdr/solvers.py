"""NSDR's solvers: block descent, and L-BFGS on all factors at once; the paper's own loop stands in `paper_loop`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supdr.methods.nsdr.paper_loop import PaperLoop
from supdr.methods.nsdr.problem import CAP, Factors, NSDRProblem, NSDRState
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.lbfgs import LBFGSState, lbfgs_step
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import fit_loadings, latent_system, reconstruct

SUFFICIENT_DECREASE = 1e-4
MAX_TRIALS = 40
SMALLEST_STEP = 1e-10
# Shares of a full step: below the first nothing can move, below the second little progress proves nothing.
SHORT_STEP = 0.1


class BlockDescent(NSDRProblem):
    """solver="bcd": loadings and unlabelled rows exactly, labelled rows by a backtracked step, heads solved warm."""

    precision = 1e-3

    def step(self, state: NSDRState) -> NSDRState:
        """One round.  O(N m d) and, per trial, a kernel matrix and K warm SVMs."""
        d, rows = self.n_components, self.rows
        offset = state.latent[:, d] if self.row_bias else None
        components, intercept_x = fit_loadings(
            self.X, state.latent[:, :d], self.reg_v, self.beta, row_offset=offset, observed=self.observed
        )
        target, system = self._pulled_rows(components, intercept_x, state.label_gradient)
        old = state.latent[rows]
        move = target[rows] - old
        heads, step_size, capped = self._label_step(state, old, move, system)
        latent = target  # unlabelled rows take their exact minimiser
        latent[rows] = old if heads is None else old + step_size * move
        gradient = state.label_gradient if heads is None else self.label_gradient(latent[rows], heads.alpha)
        return state._replace(
            latent=latent,
            components=components,
            intercept_x=intercept_x,
            heads=state.heads._replace(iterations=0) if heads is None else heads,
            label_gradient=gradient,
            step_size=step_size if heads is None else min(1.0, 2.0 * step_size),
            accepted=heads is not None,
            cap=2 * state.cap if capped else state.cap,
            iteration=state.iteration + 1,
        )

    def may_converge(self, previous: NSDRState, state: NSDRState) -> bool:
        """Whether little progress is due to the point, not to a rejected or a short step."""
        return state.step_size < SMALLEST_STEP or (state.accepted and state.step_size > SHORT_STEP)

    def _pulled_rows(self, components: NDArray, intercept_x: NDArray, pull: NDArray) -> tuple[NDArray, NDArray]:
        """Return the minimiser (N, D) of R + (1 - beta) <pull, Z> over the latent rows, and the systems A."""
        system, extended = latent_system(
            components, self.reg_u, self.beta, row_bias=self.row_bias, observed=self.observed
        )
        residual = self.X - intercept_x
        if self.observed is not None:
            residual *= self.observed
        right = residual @ (self.beta * extended.T)
        right[self.rows] -= 0.5 * (1.0 - self.beta) * pull
        if self.observed is None:
            return np.ascontiguousarray(solve_positive(system, right.T).T), system
        return np.ascontiguousarray(solve_positive(system, right[:, :, None])[:, :, 0]), system[self.rows]

    def _label_step(
        self, state: NSDRState, old: NDArray, move: NDArray, system: NDArray
    ) -> tuple[Heads | None, float, bool]:
        """Backtrack along `move` (n, D); return the heads of the accepted trial or None, its length, if a cap bit.

        R is a parabola along the move: with q = sum_i move_i' A_i move_i its slope at 0 is -2q - (1 - beta) <g, move>.
        """
        weight = 1.0 - self.beta
        curvature = float(np.einsum("...i,...ij,...j->...", move, system, move).sum())
        slope = -2.0 * curvature - weight * float(np.vdot(state.label_gradient, move))
        length, capped, spent = state.step_size, False, 0
        for _ in range(MAX_TRIALS):
            if length < SMALLEST_STEP or not math.isfinite(curvature):
                break
            allowed = -length * (slope + (length + 2.0 * SUFFICIENT_DECREASE) * curvature)
            ceiling = state.heads.primal + allowed / weight if weight > 0 else math.inf
            heads = self.solve_heads(old + length * move, state.heads.alpha, state.cap, ceiling)
            capped, spent = capped or heads.capped, spent + heads.iterations
            if heads.closed and heads.primal <= ceiling:
                return heads._replace(iterations=spent), length, capped
            length *= 0.5
        return None, length, capped


class QuasiNewton(NSDRProblem):
    """solver="lbfgs": all factors at once, the multipliers eliminated by warm SVM solves."""

    precision = 1e-6
    advice = "Try stronger regularisation, a smaller C or the solver 'bcd'."

    def prepared(self, factors: Factors, alpha: NDArray, bias: NDArray, seed: int, iteration: int) -> NSDRState:
        """Return a state with an L-BFGS memory that knows its point only."""
        state = super().prepared(factors, alpha, bias, seed, iteration)
        point = np.concatenate([np.ravel(factor) for factor in factors])
        value = math.fsum(self.terms(state).values())
        gradient = self._gradient(factors, state.label_gradient)
        search = LBFGSState(point, value, gradient, payload=state.heads)
        return self._from_search(state, search, CAP)

    def step(self, state: NSDRState) -> NSDRState:
        """One accepted step, or the same point if none was found."""
        capped, weight, search = False, 1.0 - self.beta, state.search
        assert search is not None

        def evaluate(point: NDArray) -> tuple[float, NDArray, Heads]:
            """Value and gradient at flattened factors, with the heads solved there."""
            nonlocal capped
            factors = self._split(point)
            labelled = factors[0][self.rows]
            known = math.fsum(self.reconstruction(*factors).values())
            ceiling = (search.value - known) / weight if weight > 0 else math.inf
            heads = self.solve_heads(labelled, state.heads.alpha, state.cap, ceiling)
            capped |= heads.capped
            if not heads.closed:
                return math.inf, point, heads
            value = known + weight * heads.primal
            return value, self._gradient(factors, self.label_gradient(labelled, heads.alpha)), heads

        following = lbfgs_step(search, evaluate)
        cap = 2 * state.cap if capped else state.cap
        return self._from_search(state, following, cap)._replace(iteration=state.iteration + 1)

    def may_converge(self, previous: NSDRState, state: NSDRState) -> bool:
        """Whether no progress is possible: a capped solve gets twice the work next time."""
        return state.accepted or state.cap == previous.cap

    def _from_search(self, state: NSDRState, search: LBFGSState, cap: int) -> NSDRState:
        latent, components, intercept_x = self._split(search.point)
        moved = search.step > 0
        heads = search.payload if moved or state.search is None else search.payload._replace(iterations=0)
        return state._replace(
            latent=latent,
            components=components,
            intercept_x=intercept_x,
            heads=heads,
            label_gradient=np.empty((0, latent.shape[1])),
            step_size=search.step,
            accepted=moved,
            cap=cap,
            search=search,
        )

    def _split(self, point: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return Z, V, bv as views of the flat point."""
        (n_rows, m), d = self.X.shape, self.n_components
        first = n_rows * (d + self.row_bias)
        second = first + d * m
        return point[:first].reshape(n_rows, -1), point[first:second].reshape(d, m), point[second:]

    def _gradient(self, factors: Factors, label_gradient: NDArray) -> NDArray:
        """Return the gradient of F in the flat point."""
        latent, components, intercept_x = factors
        d = self.n_components
        error = reconstruct(latent, components, intercept_x) - self.X
        if self.observed is not None:
            error *= self.observed
        error *= 2.0 * self.beta
        in_latent = np.empty_like(latent)
        in_latent[:, :d] = error @ components.T + 2.0 * self.reg_u * latent[:, :d]
        if self.row_bias:
            in_latent[:, d] = error.sum(axis=1)
        in_latent[self.rows] += (1.0 - self.beta) * label_gradient
        in_components = latent[:, :d].T @ error + 2.0 * self.reg_v * components
        return np.concatenate([in_latent.ravel(), in_components.ravel(), error.sum(axis=0)])


SOLVERS: dict[str, type[NSDRProblem]] = {"bcd": BlockDescent, "lbfgs": QuasiNewton, "sgd": PaperLoop}
