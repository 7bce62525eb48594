"""MAC's solvers: passes over targets, classifiers and mapping; those that do without targets stand in `joint`.

"mac" is the paper's algorithm: mu grows from pass to pass.  "admm" keeps mu and enforces Z = F by multipliers.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import timed_part
from supdr.engine.iterate import generator
from supdr.engine.sparse_rows import SparseRows
from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.classes import class_scores
from supdr.methods.mac.joint import FixedPoint, JointLBFGS
from supdr.methods.mac.problem import MACProblem, least_ridge
from supdr.methods.mac.sparse_features import DIRECT_SIZE
from supdr.methods.mac.state import Array, MACState

# About how many rows at most are left out in turn.
MOST_JUDGED = 2000

# The same of sparse rows, whose leverages take Lanczos steps.
MOST_JUDGED_BY_STEPS = 256


class Passes(Bounded):
    """What the passes share: F is a ridge regression on the targets, so that its left-out values have a closed form."""

    @cached_property
    def judged_rows(self) -> NDArray[np.intp]:
        """Rows that are left out in turn: all, or every k-th of many and one of each class."""
        one_of_each = np.unique(self.codes, return_index=True)[1]
        large = isinstance(self.X, SparseRows) and min(self.X.shape) > DIRECT_SIZE
        most = MOST_JUDGED_BY_STEPS if large else MOST_JUDGED
        return np.union1d(np.arange(0, len(self.codes), math.ceil(len(self.codes) / most)), one_of_each)

    @cached_property
    def judged_codes(self) -> NDArray:
        """Their classes."""
        return self.all_rows.taken(self.row_codes, self.judged_rows)

    @cached_property
    def judged_weights(self) -> Array:
        """Their weights."""
        return self.row_weights[self.judged_rows]

    def left_out_images(self, state: MACState) -> Array:
        """Return the images (p, L) of the judged rows by the mapping without them, targets fixed."""
        features, rows = self.features(state.mapping), self.judged_rows
        q = features.leverages(rows, least_ridge(state.reg_w, state.mu, features))
        q = np.minimum(q, 1.0 - 1e-10)[:, None]
        return (state.latent[rows] - q * self.fitted_targets(state)[rows]) / (1.0 - q)

    def left_out_error(self, state: MACState) -> float:
        """Return the share of rows wrong by the mapping without them, targets and classifiers fixed."""
        left_out = self.left_out_images(state)
        scores = class_scores(left_out @ state.heads.coef.T + state.heads.intercept, self.n_classes, self.scheme)
        guess = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return float(np.mean(guess != self.judged_codes))

    def fitted_targets(self, state: MACState) -> Array:
        """Return what the mapping of `state` was fitted to."""
        return state.targets


class LeftOut:
    """Watches the left-out error: a pass is better only if it lowers the error by one standard error.

    The targets of the other rows have seen a row's label by way of earlier images, so that small gains mean nothing.
    """

    def __init__(self, problem: Passes) -> None:
        self._problem = problem
        self._best: float | None = None

    def __call__(self, state: MACState) -> tuple[float]:
        """Return the error, or that of the best pass where this one is not clearly better."""
        error, n = self._problem.left_out_error(state), len(self._problem.judged_rows)
        if self._best is None or error < self._best - math.sqrt(max(self._best * (1.0 - self._best), 1.0 / n) / n):
            self._best = error
        return (max(error, self._best),)


class QuadraticPenalty(MACProblem):
    """The paper's algorithm: one pass of targets, mapping, classifiers at one mu, which may grow before it."""

    def largest_mu(self, state: MACState) -> float:
        """Return the value up to which mu may grow."""
        raise NotImplementedError

    def step(self, state: MACState) -> MACState:
        """One pass.  O(n P L) and the fit of the mapping."""
        mu, passes, stage, before = state.mu, state.passes, state.stage, state.surrogate
        if passes > 0 and (passes >= self.max_inner or state.decrease < self.inner_tol):
            raised = min(mu * self.mu_factor, self.largest_mu(state))
            if raised > mu:
                mu, passes, stage = raised, 0, stage + 1
                before = self.penalised(state._replace(mu=mu))
        state = state._replace(mu=mu)
        self.show_partial(state)
        with timed_part("targets"):
            targets, multiplier, pulled = self.move_and_pull(state)
        with timed_part("map"):
            mapped = self.refitted(state, targets, pulled)
        with timed_part("classifiers"):
            heads = self.reclassified(mapped, targets, pulled)
        following = mapped._replace(
            targets=targets,
            heads=heads,
            multiplier=multiplier,
            passes=passes + 1,
            stage=stage,
            iteration=state.iteration + 1,
        )
        following = self.measured(following)
        surrogate = self.penalised(following)
        decrease = (before - surrogate) / max(abs(before), np.finfo(float).tiny)
        return following._replace(surrogate=surrogate, decrease=decrease)


class Penalty(QuadraticPenalty, Passes):
    """solver="mac" with features: the mapping is a ridge regression, whose ridge 2 reg_w / mu falls while mu grows."""

    def largest_mu(self, state: MACState) -> float:
        """Return the mu beyond which rounding destroys the ridge."""
        return 2.0 * state.reg_w / max(self.features(state.mapping).smallest_ridge(), np.finfo(float).tiny)


class RegressorPenalty(QuadraticPenalty):
    """solver="mac" with a regressor as F: the mapping is its `fit`.

    The objective is Q_mu without a ridge on F, since a regressor's own regularisation has no common name.  It weighs
    the same beside the squared distances whatever mu is, hence as mu times as much in Q_mu: a growing mu would shrink
    F from pass to pass, so that mu stays.  There is no lower bound and there are no left-out values in closed form.
    """

    advice = "Try a smaller C or a smoother regressor."

    def largest_mu(self, state: MACState) -> float:
        """Return the present mu."""
        return state.mu

    def chosen(self, seed: int) -> tuple[Any, float]:
        """Return the regressor, not fitted, and 0 for the ridge."""
        return self.mapping, 0.0

    def chosen_ridge(self, mapping: Any, seed: int) -> float:
        """Return 0."""
        return 0.0

    def pulled(self, mapping: Any, targets: Array) -> None:
        """Return nothing: there are no features."""

    def refitted(self, state: MACState, targets: Array, pulled: Any) -> MACState:
        """Return `state` with the regressor fitted to targets (n, L)."""
        mapping = state.mapping.fitted(self.X, targets, generator(state.seed, state.iteration))
        state = state._replace(mapping=mapping)
        return state._replace(latent=self.images(state))

    def terms(self, state: MACState) -> dict[str, float]:
        """Return the terms of Q_mu."""
        return {
            "label": self.sums(state).target_hinge,
            "margin": 0.5 * float(np.vdot(state.heads.coef, state.heads.coef)),
            "penalty": 0.5 * state.mu * self.sums(state).distance,
        }

    def penalised(self, state: MACState) -> float:
        """Return Q_mu."""
        return math.fsum(self.terms(state).values())

    def readings(self, state: MACState) -> dict[str, float]:
        """Return mu."""
        return {"mu": state.mu}


class ADMM(Passes):
    """solver="admm": Z = F enforced by multipliers at fixed mu.  No penalty bias, one factorisation, not monotone."""

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with multipliers 0 where it has none."""
        return super().prepared(state._replace(residual=np.zeros_like(state.targets)))

    def step(self, state: MACState) -> MACState:
        """One pass; the scaled multiplier R collects Z - F.  Same cost as a pass of "mac"."""
        assert state.residual is not None
        features = self.features(state.mapping)
        with timed_part("targets"):
            targets, multiplier = self.move(state.latent - state.residual, state)
        with timed_part("classifiers"):
            heads = self.classify(targets, state.heads)
        with timed_part("map"):
            shifted = targets + state.residual
            ridge = least_ridge(state.reg_w, state.mu, features)
            weights = features.solve(shifted, features.pull_back(shifted), ridge)
            latent = features.image(weights)
        following = state._replace(
            targets=targets,
            latent=latent,
            weights=weights,
            heads=heads,
            multiplier=multiplier,
            residual=state.residual + targets - latent,
            passes=state.passes + 1,
            iteration=state.iteration + 1,
        )
        following = self.measured(following)
        return following._replace(surrogate=self.penalised(following))

    def fitted_targets(self, state: MACState) -> Array:
        """Return what the mapping of `state` was fitted to."""
        assert state.residual is not None
        return state.latent + state.residual  # residual = earlier residual + targets - latent


class Joint(Bounded, JointLBFGS):
    """solver="lbfgs"."""


class Exact(Bounded, FixedPoint):
    """solver="fixed_point"."""


SOLVERS: dict[str, type[MACProblem]] = {
    "mac": Penalty,
    "admm": ADMM,
    "lbfgs": Joint,
    "fixed_point": Exact,
}
