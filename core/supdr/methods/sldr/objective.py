"""SLDR's J as a function of one vector: T, V, v0 and, where projections are learnt, free matrices A_m.

A_m stands for its polar factor W_m.  For a fixed gate and the linear kernel the minimum of J over W_m equals J with the
full kernels x'x': it is reached by any orthonormal W_m whose columns span g_m.  So without projections there is no W
step, and one SVM per evaluation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supdr.methods.sldr.model import Point
from supdr.methods.sldr.state import Candidate, Solved
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.stiefel import polar, polar_gradient

if TYPE_CHECKING:
    from supdr.methods.sldr.problem import SLDRProblem

# A step that changes a gate's log-odds by more is cut: gates that close in one leap have no gradient to open again.
LARGEST_LEAP = 20.0


class FlatObjective:
    """J near a candidate: each call solves the SVMs, warm from the candidate's; `failures`: those not solved."""

    def __init__(self, problem: SLDRProblem, candidate: Candidate) -> None:
        self._problem, self._candidate = problem, candidate
        self._before = candidate.point.logits(problem.gating)
        self.failures = 0

    def __call__(self, flat: NDArray) -> tuple[float, NDArray, tuple[NDArray, Heads]]:
        """Return value and gradient at a vector, with its gate and heads."""
        candidate = self._candidate
        point = unpack(flat, candidate.point)
        if self._leaps(point):
            return math.inf, flat, (candidate.gate, candidate.heads)
        solved = self._problem.solve(point, candidate.heads)
        if not math.isfinite(solved.value):
            self.failures += 1
            return math.inf, flat, (solved.gate, solved.heads)
        return solved.value, flat_gradient(self._problem, flat, solved), (solved.gate, solved.heads)

    def _leaps(self, point: Point) -> bool:
        """Tell whether the difference of two logits of some row changes by more than `LARGEST_LEAP`."""
        change = point.logits(self._problem.gating) - self._before
        return not float(np.ptp(change, axis=1).max()) <= LARGEST_LEAP


def pack(point: Point) -> NDArray:
    """Return T, V, v0 and the projections as one vector."""
    T = () if point.gate_projection is None else point.gate_projection.ravel()
    projections = (W.ravel() for W in point.projections)
    return np.concatenate([T, point.gate_weights.ravel(), point.gate_offset, *projections])


def unpack(flat: NDArray, like: Point) -> Point:
    """Return the point, with the shapes of `like`, that a vector stands for."""
    size = 0 if like.gate_projection is None else like.gate_projection.size
    T = None if like.gate_projection is None else flat[:size].reshape(like.gate_projection.shape)
    end = size + like.gate_weights.size
    offset = flat[end : end + len(like.gate_offset)]
    projections = tuple(polar(A) for A in _free(flat, like))
    return Point(T, flat[size:end].reshape(like.gate_weights.shape), offset, projections)


def flat_gradient(problem: SLDRProblem, flat: NDArray, solved: Solved) -> NDArray:
    """Return the gradient of J by the vector, at which the SVMs are solved."""
    gradients = [part.ravel() for part in problem.gate_gradient(solved)]
    free = _free(flat, solved.point)
    if free:
        gradients += [polar_gradient(A, G).ravel() for A, G in zip(free, problem.projection_gradient(solved))]
    return np.concatenate(gradients)


def _free(flat: NDArray, like: Point) -> list[NDArray]:
    """Return the matrices A_m."""
    sizes = [W.size for W in like.projections]
    parts = np.split(flat[len(flat) - sum(sizes) :], np.cumsum(sizes)[:-1])
    return [part.reshape(W.shape) for part, W in zip(parts, like.projections)]
