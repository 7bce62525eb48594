"""ClassAtlas's solver: L-BFGS, while the weight of the gate rises until the plane obeys it."""

from __future__ import annotations

import math

import numpy as np

from supdr.methods.class_atlas.neighbours import Embedding
from supdr.methods.class_atlas.problem import AtlasProblem, AtlasState, Passed, share_of
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step

# The path: beyond, the picture loses more than the labels gain.
LAMBDAS = (1.0, 3.0, 10.0)

# At most, at each weight.
STEPS = 100

MEMORY = 20

# Towards the neighbour map, in one iteration of the run.
EMBEDDING_STEPS = 5


class GatePath(AtlasProblem):
    """Steps of L-BFGS at each weight of the gate; the smallest weight whose plane does as well as any is kept.

    Each begins where the path began.  It is done with when E falls by less than `tol` of itself, or after so many
    steps.  The path ends when the left-out error in the plane is within one standard error of the gate's on the same
    rows, when a weight has not lowered it, or with the last weight.  Kept is the smallest weight whose error is within
    one standard error of the least; that of a difference, since it is the same rows that err or not.
    """

    @property
    def path(self) -> tuple[float, ...]:
        """Weights of the gate, in turn; a number fixes it."""
        return LAMBDAS if isinstance(self.lam, str) else (float(self.lam),)

    def step(self, state: AtlasState) -> AtlasState:
        """Take one step of L-BFGS; at the end of a weight see whether it was the last one."""
        if state.complete:
            return state._replace(iteration=state.iteration + 1)
        if state.embedding is not None:
            return self._embedded_further(state._replace(iteration=state.iteration + 1), state.embedding)
        if len(state.passed) and state.passed[-1].lam == state.lam:
            state = self._raised(state)
        atlas, basis, lam = state.atlas, state.basis, state.lam
        search = lbfgs_step(state.search, lambda point: self.evaluate(atlas, basis, lam, point), memory=MEMORY)
        fall = state.search.value - search.value
        state = state._replace(search=search, steps=state.steps + 1, iteration=state.iteration + 1)
        if state.steps < STEPS and search.step > 0.0 and fall > self.tol * abs(search.value):
            return state
        return self._judged(state)

    def _embedded_further(self, state: AtlasState, embedding: Embedding) -> AtlasState:
        """Return the state after some steps towards the neighbour map."""
        for _ in range(EMBEDDING_STEPS):
            if not embedding.complete:
                embedding = embedding.after()
        return self.embedded(state, embedding)

    def _raised(self, state: AtlasState) -> AtlasState:
        """Return the state under the next weight: back where the path began.

        Confused classes have come to lie on each other; from there no larger weight would part them.
        """
        atlas, basis, lam = state.atlas, state.basis, self.path[len(state.passed)]
        search = lbfgs_start(state.origin, lambda point: self.evaluate(atlas, basis, lam, point))
        return state._replace(search=search, lam=lam, steps=0, stage=state.stage + 1)

    def _judged(self, state: AtlasState) -> AtlasState:
        """Return the state at the end of a weight; at the end of the path that of the weight that is kept."""
        state = state._replace(passed=(*state.passed, Passed(state.lam, self.wrong_in_plane(state), state.search)))
        errors, gate = [each.error for each in state.passed], self.wrong_by_gate(state)
        obeys = errors[-1] <= share_of(gate) + standard_error(share_of(gate), max(len(gate), 1))
        helped = len(errors) == 1 or errors[-1] < errors[-2]
        if not obeys and helped and len(errors) < len(self.path):
            return state
        best = state.passed[int(np.argmin(errors))]
        best_passed = next(each for each in state.passed if each.error <= best.error + error_of_difference(each, best))
        if best_passed is state.passed[-1]:
            return state._replace(complete=True)
        return state._replace(complete=True, search=best_passed.search, lam=best_passed.lam, stage=state.stage + 1)


def standard_error(error: float, n: int) -> float:
    """Return the standard error of a share of n rows, that of one row at least."""
    return math.sqrt(max(error * (1.0 - error), 1.0 / n) / n)


def error_of_difference(one: Passed, other: Passed) -> float:
    """Return the standard error of the difference between two shares of the same rows that err."""
    return math.sqrt(np.count_nonzero(one.wrong != other.wrong)) / max(len(one.wrong), 1)
