"""MAC's solvers: passes over targets, classifiers and mapping; those that do without targets stand in `joint`.

"mac" is the paper's algorithm: mu grows from pass to pass.  "admm" keeps mu and enforces Z = F by multipliers.

Neither comes near the optimum of E (the paper says they do), so the multipliers that they produce prove little about
it: often less than a tenth of the optimum.  While the data are small enough (`COMPANION_SIZE`) every pass therefore
also moves a companion that does go to the optimum, in as many dimensions as that needs: support vector machines on the
features for two classes, else quasi-Newton steps.  It takes no part in the passes; only its lower bound is used.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property

import numpy as np

from supdr.engine.timing import part
from supdr.methods.mac.certificate import Certificate, balanced
from supdr.methods.mac.joint import FixedPoint, JointLBFGS
from supdr.methods.mac.mapping import Mapping
from supdr.methods.mac.problem import SVM_TOL, Array, MACProblem, MACState
from supdr.methods.mac.target_step import move_points
from supdr.solvers.linear_svm import solve_heads

COMPANION_SIZE = 4_000_000
"""Rows times features up to which the lower bound is searched for: a few milliseconds per pass."""

COMPANION_FEATURES = 400
"""Features up to which two classes use support vector machines: a Newton step solves a system of that size."""


class Passes(MACProblem):
    """What both solvers share: the companion."""

    @cached_property
    def _companions(self) -> dict[type, MACProblem]:
        return {}

    def _companion(self, mapping: Mapping) -> MACProblem:
        """Return the problem that the companion of a run with this mapping solves."""
        few = self.n_classes == 2 and mapping.n_features <= COMPANION_FEATURES
        kind: type[MACProblem] = FixedPoint if few else JointLBFGS
        if kind not in self._companions:
            settings = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
            settings |= {"n_components": 1 if self.n_classes == 2 else self.signs.shape[1], "init": "simplex"}
            companion = kind(**{**settings, "brief": True})
            companion.__dict__["_features"] = self._features  # the same features, computed once
            self._companions[kind] = companion
        return self._companions[kind]

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with its companion where the data are small enough."""
        state = super().prepared(state)
        features = self.features(state.mapping)
        if not self.bounded or features.matrix is None or features.matrix.size > COMPANION_SIZE:
            return state._replace(companion=None)
        companion = self._companion(state.mapping).started(state.mapping, state.seed)
        return state._replace(companion=companion, certificate=_better(state.certificate, companion.certificate))

    def dual_points(self, *multipliers: Array) -> list[Array]:
        """Return the points of the dual that may prove something, from multipliers (n, P)."""
        return [balanced(each, self.signs) for each in multipliers] if self.bounded else []

    def better_bound(self, points: list[Array], pulled: Array, state: MACState) -> tuple[Certificate, MACState | None]:
        """Return the best bound that points of the dual and the companion prove, and the companion one step on.

        `pulled` is Phi'(alpha Y) of the points, side by side.
        """
        certificate, P = state.certificate, self.signs.shape[1]
        for number, point in enumerate(points):
            certificate = self.certified(pulled[:, number * P : (number + 1) * P], point, certificate)
        if state.companion is None:
            return certificate, None
        companion = self._companion(state.mapping).step(state.companion)
        return _better(certificate, companion.certificate), companion


def _better(first: Certificate, second: Certificate) -> Certificate:
    return second if second.bound > first.bound else first


class Penalty(Passes):
    """solver="mac", the paper's: one pass of targets, classifiers, mapping at one mu; mu grows."""

    def step(self, state: MACState) -> MACState:
        """One pass.  O(n M L + n P L) and a factorisation where one is needed."""
        features, L = self.features(state.mapping), self.n_components
        mu, passes, stage, before = state.mu, state.passes, state.stage, state.surrogate
        if passes > 0 and (passes >= self.max_inner or state.decrease < self.inner_tol):
            raised = min(mu * self.mu_factor, 2.0 * self.reg_w / max(features.smallest_ridge(), np.finfo(float).tiny))
            if raised > mu:
                mu, passes, stage = raised, 0, stage + 1
                before = self.penalised(state.targets, state.latent, state.weights, state.heads, mu)
        cost = 2.0 * self.C / mu
        heads = state.heads
        with part("targets"):
            targets, multiplier = move_points(
                state.latent, heads.coef, heads.intercept, self.signs, cost, state.multiplier, n_jobs=self.n_jobs
            )
        with part("classifiers"):
            heads = solve_heads(targets, self.signs, self.C, heads, tol=SVM_TOL, n_jobs=self.n_jobs)
        # Two points of the dual: the classifiers' own multipliers, and those of the Z step in the same units.
        points = self.dual_points(heads.alpha, 0.5 * mu * multiplier)
        with part("map"):
            pulled = features.pull_back(np.column_stack([targets, *(point * self.signs for point in points)]))
            weights = features.solve(targets, pulled[:, :L], self.ridge(mu, features))
            latent = features.image(weights)
        surrogate = self.penalised(targets, latent, weights, heads, mu)
        with part("bound"):
            certificate, companion = self.better_bound(points, pulled[:, L:], state)
        return state._replace(
            targets=targets,
            latent=latent,
            weights=weights,
            heads=heads,
            multiplier=multiplier,
            mu=mu,
            passes=passes + 1,
            stage=stage,
            decrease=(before - surrogate) / max(abs(before), np.finfo(float).tiny),
            surrogate=surrogate,
            certificate=certificate,
            iteration=state.iteration + 1,
            companion=companion,
        )


class ADMM(Passes):
    """solver="admm": Z = F enforced by multipliers at fixed mu.  No penalty bias, one factorisation, not monotone."""

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with multipliers 0 where it has none."""
        return super().prepared(state._replace(residual=np.zeros_like(state.targets)))

    def step(self, state: MACState) -> MACState:
        """One pass; the scaled multiplier R collects Z - F.  Same cost as a pass of "mac"."""
        assert state.residual is not None
        features, L, heads = self.features(state.mapping), self.n_components, state.heads
        with part("targets"):
            targets, multiplier = move_points(
                state.latent - state.residual,
                heads.coef,
                heads.intercept,
                self.signs,
                2.0 * self.C / state.mu,
                state.multiplier,
                n_jobs=self.n_jobs,
            )
        with part("classifiers"):
            heads = solve_heads(targets, self.signs, self.C, heads, tol=SVM_TOL, n_jobs=self.n_jobs)
        points = self.dual_points(heads.alpha)
        with part("map"):
            wanted = targets + state.residual
            pulled = features.pull_back(np.column_stack([wanted, *(point * self.signs for point in points)]))
            weights = features.solve(wanted, pulled[:, :L], self.ridge(state.mu, features))
            latent = features.image(weights)
        with part("bound"):
            certificate, companion = self.better_bound(points, pulled[:, L:], state)
        return state._replace(
            targets=targets,
            latent=latent,
            weights=weights,
            heads=heads,
            multiplier=multiplier,
            residual=state.residual + targets - latent,
            passes=state.passes + 1,
            surrogate=self.penalised(targets, latent, weights, heads, state.mu),
            certificate=certificate,
            iteration=state.iteration + 1,
            companion=companion,
        )


SOLVERS: dict[str, type[MACProblem]] = {
    "mac": Penalty,
    "admm": ADMM,
    "lbfgs": JointLBFGS,
    "fixed_point": FixedPoint,
}
