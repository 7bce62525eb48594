"""Solvers that minimise MAC's E over the mapping and the classifiers at once, without auxiliary coordinates.

"lbfgs": the hinge is rounded off over a width delta that shrinks in stages (t^2 / (2 delta) up to delta, then
t - delta / 2), so that E_delta is smooth; quasi-Newton steps on (W, U, b).

"fixed_point", two classes: E is  sqrt(2 reg_w) |v| + C sum hinge  with v = W'u, which lies under
sqrt(2 reg_w) (|v|^2 / (2 |v0|) + |v0| / 2).  Minimising that is an ordinary support vector machine on the features with
C' = C |v0| / sqrt(2 reg_w), so E never rises; the fixed point is the optimum.  Not in the paper.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import generator
from supdr.methods.mac.problem import SVM_TOL, MACProblem
from supdr.methods.mac.state import MACState
from supdr.solvers.lbfgs import Evaluate, LBFGSState, lbfgs_start, lbfgs_step
from supdr.solvers.linear_svm import Heads, solve_linear_svm

Array = NDArray[np.float64]

# Widths over which the hinge is rounded off, one per stage.
WIDTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)

MEMORY = 60
# The next width comes when a quasi-Newton step lowers the surrogate by a smaller share than this, on average.
SETTLED = 2e-6

# Noise after each of the first stages, as a share of the root mean square of what it is added to.
SHAKE = 0.1

SHAKEN_STAGES = 3

# Quasi-Newton steps per visible step.
STEPS, BRIEF_STEPS = 20, 4

# Cap on the Newton steps of a support vector machine.
NEWTON_STEPS, BRIEF_NEWTON_STEPS = 1000, 8


def _unit(reg_w: float) -> float:
    """Return a power of 2 near sqrt(2 reg_w): for W in this unit both ridges of E are alike; the search is faster."""
    return 2.0 ** round(0.5 * math.log2(2.0 * reg_w))


class JointLBFGS(MACProblem):
    """solver="lbfgs": the rounded E over (W, U, b); the targets are the images."""

    @property
    def inner_steps(self) -> int:
        """Quasi-Newton steps per visible step."""
        return BRIEF_STEPS if self.brief else STEPS

    def work(self, n_features: int) -> float:
        """Return about how many multiply-adds a step takes."""
        L, P = self.n_components, self.signs.shape[1]
        return (
            1.2 * self.inner_steps * (2.0 * len(self.codes) * (n_features * L + P * L) + 4.0 * MEMORY * n_features * L)
        )

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with an empty memory, at the first width."""
        stage = state.stage % len(WIDTHS) if state.search is not None else 0
        return self._entered(state._replace(mu=self.mu), stage)

    def adopt(self, state: MACState) -> MACState:
        """Return `state` made consistent with this problem; other settings start from the first width again."""
        adopted = super().adopt(state)
        return adopted if adopted.search is not None else self.prepared(adopted)

    def stage(self, state: MACState) -> int:
        """Return the number of the width in use."""
        return state.stage

    def may_converge(self, previous: MACState, state: MACState) -> bool:
        """Whether the last width is in use."""
        return state.stage == len(WIDTHS) - 1

    def step(self, state: MACState) -> MACState:
        """Up to `inner_steps` quasi-Newton steps, at the next width if the last one has done its part.

        O(n M (L + P)) each.
        """
        if state.decrease < SETTLED * self.inner_steps and state.stage + 1 < len(WIDTHS):
            shaken = self._shaken(state) if state.stage < SHAKEN_STAGES else state
            state = self._entered(shaken, state.stage + 1)
        search = state.search
        assert search is not None
        before = search.value
        evaluate = self._evaluate(state, WIDTHS[state.stage])
        for _ in range(self.inner_steps):
            search = lbfgs_step(search, evaluate, memory=MEMORY)
            if search.step == 0.0:
                break
        return self._exposed(state, search)._replace(
            passes=state.passes + 1, decrease=(before - search.value) / before, iteration=state.iteration + 1
        )

    def _shaken(self, state: MACState) -> MACState:
        """Return `state` with a little noise on W and U.

        Where all rows of U lie in a subspace the gradient never leaves it: a saddle if the optimum has a larger rank.
        """
        rng = generator(state.seed, state.iteration)
        weights, coef = (
            factor + SHAKE * np.sqrt(np.mean(factor**2)) * rng.standard_normal(factor.shape)
            for factor in (state.weights, state.heads.coef)
        )
        return state._replace(weights=weights, heads=state.heads._replace(coef=coef))

    def _entered(self, state: MACState, stage: int) -> MACState:
        """Return `state` at a width, without curvature pairs."""
        weights = _unit(state.reg_w) * state.weights.ravel()
        point = np.concatenate([weights, state.heads.coef.ravel(), state.heads.intercept])
        search = lbfgs_start(point, self._evaluate(state, WIDTHS[stage]))
        return self._exposed(state._replace(stage=stage), search)

    def _split(self, point: Array, state: MACState) -> tuple[Array, Array, Array]:
        """Return W' (M, L), U (P, L), b (P,) of the flat point."""
        M, P, L = len(state.weights), self.signs.shape[1], self.n_components
        first, second = M * L, M * L + P * L
        return point[:first].reshape(M, L) / _unit(state.reg_w), point[first:second].reshape(P, L), point[second:]

    def _evaluate(self, state: MACState, width: float) -> Evaluate:
        features = self.features(state.mapping)
        signs, costs, reg_w, unit = self.signs, self.costs[:, None], state.reg_w, _unit(state.reg_w)

        def evaluate(point: Array) -> tuple[float, Array, tuple[Array, Array]]:
            """Return E_delta, its gradient, and what it was made of: the images and the slopes of the hinge."""
            weights, coef, intercept = self._split(point, state)
            latent = features.image(weights)
            t = np.where(signs != 0.0, 1.0 - signs * (latent @ coef.T + intercept), 0.0)
            slope = np.clip(t / width, 0.0, 1.0)
            value = float(self.costs @ (slope * (t - 0.5 * width * slope)).sum(axis=1))
            value += reg_w * float(np.vdot(weights, weights)) + 0.5 * float(np.vdot(coef, coef))
            pull = -costs * signs * slope  # dE / d score, (n, P)
            by_weights = 2.0 * reg_w * weights + features.pull_back(pull @ coef)
            by_coef = coef + pull.T @ latent
            return (
                value,
                np.concatenate([by_weights.ravel() / unit, by_coef.ravel(), pull.sum(axis=0)]),
                (latent, slope),
            )

        return evaluate

    def _exposed(self, state: MACState, search: LBFGSState) -> MACState:
        """Return `state` at the point of `search`; the slopes of the rounded hinge are multipliers."""
        weights, coef, intercept = self._split(search.point, state)
        latent, slope = search.payload
        multipliers = self.costs[:, None] * slope
        return state._replace(
            targets=latent,
            latent=latent,
            weights=weights,
            heads=Heads(coef, intercept, multipliers, 0.0, 0),
            multiplier=np.zeros_like(self.signs),
            surrogate=search.value,
            search=search,
        )


class WithoutTargets(MACProblem):
    """Base of solvers that descend E itself, a mapping and classifiers at a time: the targets are the images."""

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with E as its surrogate: a step never raises it."""
        state = state._replace(targets=state.latent, multiplier=np.zeros_like(self.signs))
        return state._replace(surrogate=math.fsum(self.terms(state).values()))

    def moved(self, state: MACState, weights: Array, latent: Array, heads: Heads) -> MACState:
        """Return the state after a step from `state` to a mapping, its images (n, L) and classifiers."""
        following = state._replace(
            targets=latent,
            latent=latent,
            weights=weights,
            heads=heads,
            passes=state.passes + 1,
            iteration=state.iteration + 1,
        )
        return following._replace(surrogate=math.fsum(self.terms(following).values()))


class FixedPoint(WithoutTargets):
    """solver="fixed_point": the global optimum for two classes, by a few support vector machines on the features."""

    def work(self, n_features: int) -> float:
        """Return about how many multiply-adds a step takes."""
        return (
            0.5
            * BRIEF_NEWTON_STEPS
            * (4.0 * len(self.codes) * n_features + 0.1 * len(self.codes) * n_features**2 + n_features**3 / 6)
        )

    def step(self, state: MACState) -> MACState:
        """One support vector machine on the features (n, M)."""
        features = self.features(state.mapping)
        if features.matrix is None:
            raise ValueError(
                "solver='fixed_point' keeps all features in memory: raise working_memory (sklearn.set_config) or lower "
                "n_centers"
            )
        coef, signs = state.heads.coef[0], self.signs[:, 0]
        v = state.weights @ coef
        limit = math.sqrt(2.0 * state.reg_w)
        size = float(np.linalg.norm(v))
        if size < 1e-12 * limit:  # from 0 no weight of the hinge would lead away
            size = limit
        solution = solve_linear_svm(
            features.matrix,
            signs,
            self.costs * (size / limit),
            tol=SVM_TOL,
            alpha=state.heads.alpha[:, 0] * (size / limit),
            coef=v,
            bias=float(state.heads.intercept[0]),
            max_iter=BRIEF_NEWTON_STEPS if self.brief else NEWTON_STEPS,
        )
        v, size_after = solution.coef, float(np.linalg.norm(solution.coef))
        # The factors of v with the least  reg_w |W|^2 + 1/2 |u|^2:  |u|^2 = sqrt(2 reg_w) |v|.
        length = float(np.linalg.norm(coef))
        direction = coef / length if length > 0.0 else np.eye(len(coef))[0]
        scale = max(math.sqrt(limit * size_after), np.finfo(float).tiny)
        weights = np.outer(v / scale, direction)
        alpha = np.minimum(solution.alpha[:, None] * (limit / size), self.costs[:, None])
        heads = Heads((scale * direction)[None, :], np.array([solution.bias]), alpha, solution.gap, solution.iterations)
        return self.moved(state, weights, features.image(weights), heads)
