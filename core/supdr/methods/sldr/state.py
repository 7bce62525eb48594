"""What SLDR's runs consist of: solved points, candidates, states."""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import NDArray

from supdr.engine.column_groups import Views
from supdr.methods.sldr.model import Point
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.lbfgs import LBFGSState

FIRST_STEPS = (1.0, 1.0, 1.0)


class Solved(NamedTuple):
    """A point with its support vector machines.

    `gate` (n, P): eta of the labelled rows. `local` (n, R_m): Z_m of the labelled rows. `kernels` (M, n, n): of every
    local model, where the kernel is not linear; else empty.
    """

    point: Point
    gate: NDArray
    local: Views
    kernels: NDArray
    heads: Heads

    @property
    def value(self) -> float:
        """J, or inf if the SVMs were not solved."""
        return self.heads.primal if self.heads.closed else math.inf


class Candidate(NamedTuple):
    """Where one of `n_init` runs stands.

    gate (n, P): eta of the labelled rows.
    steps: next trial lengths of the blocks W, T, V ("alternating").
    search: memory of the quasi-Newton solvers.
    length: length of the last step; 0 if none was accepted.
    held_out: error and hinge of held-out rows; empty without early stopping.
    stalled: steps in a row whose relative change was within the tolerance.
    failures: trials of the last step that were refused because their SVMs were not solved.
    """

    point: Point
    gate: NDArray
    heads: Heads
    steps: tuple[float, float, float] = FIRST_STEPS
    search: LBFGSState | None = None
    length: float = 0.0
    held_out: tuple[float, ...] = ()
    stalled: int = 0
    failures: int = 0


class SLDRState(NamedTuple):
    """Where a run stands.  Nothing in it is ever written to.

    candidates: one per restart, advanced together.
    shown: the best of them: by J or, with early stopping, by held-out rows.
    stage: how often `shown` has changed for another reason than a lower J.
    settings: what the multipliers and memories belong to.
    """

    candidates: tuple[Candidate, ...]
    shown: int
    stage: int
    settings: tuple
    seed: int
    iteration: int

    @property
    def best(self) -> Candidate:
        """The candidate that is shown."""
        return self.candidates[self.shown]


class HeldOut(NamedTuple):
    """Rows whose labels were hidden: their views, gating columns, signs (n, K) and weights (n,)."""

    views: Views
    gating: NDArray
    signs: NDArray
    weights: NDArray
