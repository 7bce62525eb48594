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

    Attributes
    ----------
    point : Point
    gate : array of shape (n, P)
        eta of the labelled rows.
    local : tuple of arrays of shape (n, R_m)
        Z_m of the labelled rows.
    kernels : array of shape (M, n, n)
        Of every local model, where the kernel is not linear; else empty.
    heads : Heads
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

    Attributes
    ----------
    point : Point
    gate : array of shape (n, P)
        eta of the labelled rows.
    heads : Heads
    steps : tuple of float
        Next trial lengths of the blocks W, T, V ("alternating").
    search : LBFGSState or None
        Memory of the quasi-Newton solvers.
    length : float
        Length of the last step; 0 if none was accepted.
    held_out : tuple of float
        Error and hinge of held-out rows; empty without early stopping.
    stalled : int
        Steps in a row whose relative change was within the tolerance.
    failures : int
        Trials of the last step that were refused because their SVMs were not solved.
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

    Attributes
    ----------
    candidates : tuple of Candidate
        One per restart, advanced together.
    shown : int
        The best of them: by J or, with early stopping, by held-out rows.
    stage : int
        How often `shown` has changed for another reason than a lower J.
    settings : tuple
        What the multipliers and memories belong to.
    seed, iteration : int
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
