"""MAC's solvers: passes over targets, classifiers and mapping; those that do without targets stand in `joint`.

"mac" is the paper's algorithm: mu grows from pass to pass.  "admm" keeps mu and enforces Z = F by multipliers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import timed_part
from supdr.engine.iterate import generator
from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.classes import class_scores
from supdr.methods.mac.joint import FixedPoint, JointLBFGS
from supdr.methods.mac.mapping import Features
from supdr.methods.mac.problem import MACProblem, least_ridge
from supdr.methods.mac.state import Array, MACState, PulledTargets
from supdr.methods.mac.target_step import moved_rows
from supdr.solvers.linear_svm import Heads


class Passes(Bounded):
    """What the passes share: F is a ridge regression on the targets, so that its left-out values have a closed form."""

    @cached_property
    def judged_codes(self) -> NDArray:
        """Classes of the rows that are left out in turn."""
        return self.all_rows.take(self.all_rows.codes, self.all_rows.judged)

    @cached_property
    def judged_weights(self) -> Array:
        """Their weights."""
        return self.all_rows.take(self.all_rows.weights, self.all_rows.judged)

    def left_out_images(self, state: MACState) -> Array:
        """Return the images (p, L) of the judged rows by the mapping without them, targets fixed."""
        features, rows = self.features_of(state), self.all_rows
        latent, targets = (rows.take(each, rows.judged) for each in (state.latent, self.fitted_targets(state)))
        return features.left_out(rows.judged, least_ridge(state.reg_w, state.mu, features), latent, targets)

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
        error, n = self._problem.left_out_error(state), len(self._problem.judged_codes)
        if self._best is None or error < self._best - math.sqrt(max(self._best * (1.0 - self._best), 1.0 / n) / n):
            self._best = error
        return (max(error, self._best),)


class QuadraticPenalty(MACProblem):
    """The paper's algorithm: one pass of targets, mapping, classifiers at one mu, which may grow before it."""

    def move_and_pull(self, state: MACState) -> tuple[Array, Array, PulledTargets]:
        """Return targets (n, L) and multipliers (n, P) of the Z step, and Phi' targets."""
        targets, multiplier = self.move(state.latent, state)
        return targets, multiplier, self.pulled(state.mapping, targets)

    def reclassified(self, state: MACState, targets: Array, pulled: PulledTargets) -> Heads:
        """Return classifiers fitted to new targets (n, L), from those of `state` on, which observers see change."""
        show = partial(self._show_classifiers, state) if self.all_rows.partial_states_observed() else None
        return self.classify(targets, state.heads, observe=show, moments=pulled.moments)

    def _show_classifiers(self, state: MACState, coef: Array, intercept: Array) -> None:
        self.show_partial(state._replace(heads=state.heads._replace(coef=coef, intercept=intercept)))

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
        return 2.0 * state.reg_w / max(self.features_of(state).smallest_ridge(), np.finfo(float).tiny)

    def move_and_pull(self, state: MACState) -> tuple[Array, Array, PulledTargets]:
        """Return targets (n, L) and multipliers (n, P) of the Z step, and Phi' targets: one visit of the rows."""
        features, rows = self.features_of(state), self.all_rows
        partial_map = PartialMap(self, features, state) if rows.partial_states_observed() else None
        arguments = *self._of_move(state), self.n_jobs
        kept, (pulled, moments) = rows.both(
            moved_and_pulled, features.part, rows.svm_moments, *arguments, so_far=partial_map
        )
        targets, multiplier = rows.entries(kept, 2)
        return targets, multiplier, PulledTargets(pulled, moments, None if partial_map is None else partial_map.pulls)


def moved_and_pulled(part: Any, moments: Callable[[Array], Any], *arguments: Any) -> tuple[tuple, tuple]:
    """Return targets with multipliers of a part of the rows, and Phi' targets with the moments of the targets."""
    targets, multiplier = moved_rows(*arguments)
    return (targets, multiplier), (part.pull_back(targets), moments(targets))


class PartialMap:
    """Shows the map while targets move: partitions that are done count with their new targets, others with the old.

    `start`: where the pass begins, at its mu. `pulls`: Phi' targets of the partitions that are done.
    """

    def __init__(self, problem: Penalty, features: Features, start: MACState) -> None:
        self._problem, self._features, self._start = problem, features, start
        self.pulls: dict[int, Array] = {}

    def __call__(self, shares: dict[int, tuple[Array, Any]]) -> None:
        """Take Phi' targets and moments of the partitions that are done."""
        self.pulls = {number: pulled for number, (pulled, _moments) in shares.items()}
        start, features, before = self._start, self._features, self._start.pulls or {}
        if len(shares) < len(before):
            pulled = sum((self.pulls.get(number, old) for number, old in before.items()), np.zeros(1))
            weights = features.solve(None, pulled, least_ridge(start.reg_w, start.mu, features))  # type: ignore[arg-type]
            self._problem.show_partial(start._replace(weights=weights))


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

    def pulled(self, mapping: Any, targets: Array) -> PulledTargets:
        """Return nothing: there are no features."""
        return PulledTargets(np.empty((0, targets.shape[1])))

    def refitted(self, state: MACState, targets: Array, pulled: PulledTargets) -> MACState:
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
