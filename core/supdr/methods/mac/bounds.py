"""The search for a lower bound on the optimum of E, apart from the run that it is about.

The multipliers that passes produce prove little: they end far from the optimum of E (the paper says that they do not),
so that the bound is often less than a tenth of it.  A companion does go to the optimum, in as many dimensions as that
needs: support vector machines on the features for two classes, else quasi-Newton steps.  It depends on the features,
the labels, C and reg_w, not on an iterate; only its multipliers are used.

Nothing of this happens in a pass.  Each computation of a snapshot's diagnostics moves the companion by one step.  When
the passes are over, or a page keeps showing a snapshot, the search goes on until the bound is closed.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import cast

from supdr.engine.interruption import checkpoint
from supdr.methods.mac.certificate import (
    NOTHING,
    BoundSearch,
    balance_factors,
    certify,
    signed_multipliers,
    signed_sums,
)
from supdr.methods.mac.joint import FixedPoint, JointLBFGS
from supdr.methods.mac.mapping import InMemoryFeatures
from supdr.methods.mac.problem import MACProblem
from supdr.methods.mac.state import MACState

# Rows times features up to which there is a companion; beyond, only the multipliers of snapshots are used.
COMPANION_SIZE = 4_000_000

# Main directions of the features that the companion moves in, where they are at hand: a Newton step of a support vector
# machine solves a system of that size. What it proves holds for all features.
COMPANION_FEATURES = 300

# The bound counts as closed when the companion's objective is above it by at most this share.
CLOSED = 0.01

# Multiply-adds after which the bound is left as it is: about a second.
CLOSING_WORK = 4e9

# What a step counts at least: there is more to it than multiply-adds.
LEAST_WORK = 1e7


class Bounded(MACProblem):
    """A problem whose diagnostics include a lower bound on the optimum of E."""

    def diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the numbers that describe the latent space, and the bound: one step of its search."""
        if not self.bounded:
            return super().diagnostics(state)
        search = self._search_of(state)
        with search.lock:
            self._certify(state, search)
            self._advance(state, search)
        return {**super().diagnostics(state), **self._bound_and_gap(state, search)}

    def refined_diagnostics(self, state: MACState) -> dict[str, float] | None:
        """Return the bound after one more step of its search, or None if it is closed or the work is done."""
        if not self.bounded:
            return None
        search = self._search_of(state)
        with search.lock:
            return self._bound_and_gap(state, search) if self._close(state, search) else None

    def closed_bound(self, state: MACState) -> float:
        """Return the bound after a search until it is closed (`CLOSED`) or the work is done.

        Without a companion, as on partitions, it is what multipliers of snapshots with computed diagnostics prove.
        """
        search = self._search_of(state)
        with search.lock:
            if self._has_companion(state):
                self._certify(state, search)
                while self._close(state, search):
                    checkpoint()
        return search.best.bound

    def _close(self, state: MACState, search: BoundSearch) -> bool:
        """Move the companion by a step if the bound is not closed yet; False if nothing was to be done."""
        if search.spent > CLOSING_WORK or not self._has_companion(state):
            return False
        companion = self._companion(state)
        if search.companion is not None:
            above = math.fsum(companion.terms(search.companion).values())
            if search.best.bound >= (1.0 - CLOSED) * above:
                return False
        search.spent += max(companion.work(companion.features(state.mapping).n_features), LEAST_WORK)
        return self._advance(state, search)

    def _bound_and_gap(self, state: MACState, search: BoundSearch) -> dict[str, float]:
        bound = search.best.bound
        return {"bound": bound, "gap": math.fsum(self.terms(state).values()) - bound}

    def _search_of(self, state: MACState) -> BoundSearch:
        """Return the search for the mapping, rows, C and reg_w of a state, which states from step to step share."""
        return BoundSearch() if state.bound_search is None else state.bound_search

    def _certify(self, state: MACState, search: BoundSearch) -> None:
        """Let the multipliers of a state prove what they can."""
        sums = self.all_rows.total(signed_sums, self.signs, state.heads.alpha)
        balanced = self.all_rows.delay(signed_multipliers, self.signs, state.heads.alpha, balance_factors(sums))
        pulled = self.features_of(state).pull_back(balanced)
        earlier = search.best if search.best is not NOTHING else None
        search.best = certify(2.0 * float(sums.min(axis=0).sum()), pulled, state.reg_w, earlier)

    def _advance(self, state: MACState, search: BoundSearch) -> bool:
        """Move the companion by a step; False if the data are too large for one or it has arrived."""
        if not self._has_companion(state):
            return False
        companion = self._companion(state)
        if search.companion is None:
            following = companion.started(state.mapping, state.reg_w, state.seed)
        else:
            following = companion.step(search.companion)
        self._certify(following, search)
        search.companion = following
        return True

    def _has_companion(self, state: MACState) -> bool:
        """Whether the features are few enough for one."""
        matrix = self.features(state.mapping).matrix
        return matrix is not None and matrix.size <= COMPANION_SIZE

    def _companion(self, state: MACState) -> FixedPoint | JointLBFGS:
        """Return the problem that the companion of a run with this mapping solves."""
        mapping, companion = self.workspace.get("companion", (None, None))
        if mapping is not state.mapping:
            features = cast(InMemoryFeatures, self.features(state.mapping)).compressed(COMPANION_FEATURES)
            few = self.n_classes == 2 and features.n_features <= COMPANION_FEATURES
            kind: type[MACProblem] = FixedPoint if few else JointLBFGS
            settings = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
            settings |= {"n_components": 1 if self.n_classes == 2 else self.signs.shape[1], "init": "simplex"}
            companion = kind(**{**settings, "brief": True, "given_features": features})
            self.workspace["companion"] = state.mapping, companion
        return cast("FixedPoint | JointLBFGS", companion)
