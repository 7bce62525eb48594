"""NSDR by L-BFGS on the latent rows, components and biases at once; the objective stands in `_nsdr_problem`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supdr.methods.nsdr.problem import CAP, Factors, NSDRProblem, NSDRState
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.lbfgs import LBFGSState, lbfgs_step
from supdr.solvers.reconstruction import reconstruct


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

    def settled(self, previous: NSDRState, state: NSDRState) -> bool:
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
