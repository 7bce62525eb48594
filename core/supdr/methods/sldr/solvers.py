"""SLDR's solvers: the paper's alternation, and quasi-Newton on the gate alone or on all blocks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.methods.sldr.model import Point
from supdr.methods.sldr.problem import SLDRProblem
from supdr.methods.sldr.state import Candidate, Solved
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.lbfgs import LBFGSState, lbfgs_step
from supdr.solvers.stiefel import orthonormal_gauge, polar, polar_gradient

MAX_HALVINGS = 25
ARMIJO = 1e-4

# A step that changes a gate's log-odds by more is cut: gates that close in one leap have no gradient to open again.
LARGEST_LEAP = 20.0


class Alternating(SLDRProblem):
    """solver="alternating": Algorithm 1.  A step in W, one in T, one in V and v0, the SVMs solved after each.

    Erratum: the paper makes T orthonormal without changing V, which moves the gate.  T'T = 1 is only a gauge, since V
    is free: T = QR, V <- V R'.

    Appendix A.4 allows constant steps in place of line searches: `step_size`.
    """

    def advance(self, candidate: Candidate) -> Candidate:
        """One outer iteration: a step in each of three blocks."""
        solved = self.again(candidate)
        first, second, third = candidate.steps

        downhill = self.projection_gradient(solved)
        point = solved.point

        def projected(step: float) -> Point:
            """W_m after a step along the Stiefel manifold."""
            moved = (polar(W - step * gradient) for W, gradient in zip(point.projections, downhill))
            return point._replace(projections=tuple(moved))

        failures = 0
        solved, first, length, failed = self._move(solved, projected, 0, first, 0.0)
        failures += failed
        if solved.point.gate_projection is not None:
            before, old = solved.point, solved.point.gate_projection
            in_projection, _, _ = self.gate_gradient(solved)

            def turned(step: float) -> Point:
                """T and V after a step, in the orthonormal gauge."""
                T, V = orthonormal_gauge(old - step * in_projection, before.gate_weights)
                return before._replace(gate_projection=T, gate_weights=V)

            solved, second, moved, failed = self._move(solved, turned, 1, second, 0.0)
            length, failures = max(length, moved), failures + failed
        _, in_weights, in_offset = self.gate_gradient(solved)
        last = solved.point

        def gated(step: float) -> Point:
            """V and v0 after a step."""
            weights, offset = last.gate_weights - step * in_weights, last.gate_offset - step * in_offset
            return last._replace(gate_weights=weights, gate_offset=offset)

        slope = float((in_weights**2).sum() + (in_offset**2).sum())
        solved, third, moved, failed = self._move(solved, gated, 2, third, ARMIJO * slope)
        steps, length = (first, second, third), max(length, moved)
        return Candidate(solved.point, solved.gate, solved.heads, steps, length=length, failures=failures + failed)

    def _move(
        self, solved: Solved, move: Callable[[float], Point], block: int, step: float, decrease: float
    ) -> tuple[Solved, float, float, int]:
        """Take the constant step of a block, or search along the line from `step` on; returns what `_search` does."""
        if self.step_size is None:
            return self._search(solved, move, step, decrease)
        length = self.step_size[block]
        moved = self.solve(move(length), solved.heads)
        return (moved, step, length, 0) if moved.heads.closed else (solved, step, 0.0, 1)

    def _search(
        self, solved: Solved, move: Callable[[float], Point], step: float, decrease: float
    ) -> tuple[Solved, float, float, int]:
        """Halve the step until J falls by more than ``decrease * step``.

        Returns what was accepted, the first trial of the next search, the length of this step (0 if none was), and how
        many trials had SVMs that were not solved.
        """
        failures = 0
        for _ in range(MAX_HALVINGS):
            checkpoint()
            trial = self.solve(move(step), solved.heads)
            if trial.value < solved.value - decrease * step:
                return trial, 2.0 * step, step, failures
            failures += not trial.heads.closed
            step *= 0.5
        return solved, step, 0.0, failures


class QuasiNewton(SLDRProblem):
    """solver="lbfgs": the gate (T, V, v0) by L-BFGS on J with full linear kernels; W_m follows in closed form.

    For a fixed gate the minimum of J over W_m equals J with the full kernels x'x': it is reached by any orthonormal
    W_m whose columns span g_m.  So there is no W step, and one SVM per evaluation.
    """

    learns_projections = False

    def advance(self, candidate: Candidate) -> Candidate:
        """One accepted step of L-BFGS."""
        search = candidate.search
        heads, failures = candidate.heads, 0
        before = candidate.point.logits(self.gating)

        def evaluate(flat: NDArray) -> tuple[float, NDArray, tuple[NDArray, Heads]]:
            """Value and gradient of J at a flattened gate, with its heads."""
            nonlocal failures
            point = self._point(flat, candidate.point)
            if self._leaps(before, point):
                return math.inf, flat, (candidate.gate, heads)
            solved = self.solve(point, heads)
            if not math.isfinite(solved.value):
                failures += 1
                return math.inf, flat, (solved.gate, solved.heads)
            return solved.value, self._gradient(flat, solved), (solved.gate, solved.heads)

        if search is None:
            flat = self._flat(candidate.point)
            gradient = self._gradient(flat, self.again(candidate))
            search = LBFGSState(flat, heads.primal, gradient, payload=(candidate.gate, heads))
        following = lbfgs_step(search, evaluate)
        gate, found = following.payload
        point = self._point(following.point, candidate.point)
        return Candidate(point, gate, found, search=following, length=following.step, failures=failures)

    def _leaps(self, before: NDArray, point: Point) -> bool:
        """Whether the difference of two logits of some row changes by more than `LARGEST_LEAP`."""
        change = point.logits(self.gating) - before
        return not float(np.ptp(change, axis=1).max()) <= LARGEST_LEAP

    def _flat(self, point: Point) -> NDArray:
        """Return T, V, v0 as one vector."""
        T = () if point.gate_projection is None else point.gate_projection.ravel()
        return np.concatenate([T, point.gate_weights.ravel(), point.gate_offset])

    def _point(self, flat: NDArray, like: Point) -> Point:
        """Return the point that a flat vector stands for."""
        size = 0 if like.gate_projection is None else like.gate_projection.size
        T = None if like.gate_projection is None else flat[:size].reshape(like.gate_projection.shape)
        end = size + like.gate_weights.size
        return Point(T, flat[size:end].reshape(like.gate_weights.shape), flat[end : end + len(like.gate_offset)], ())

    def _gradient(self, flat: NDArray, solved: Solved) -> NDArray:
        return np.concatenate([part.ravel() for part in self.gate_gradient(solved)])


class Joint(QuasiNewton):
    """solver="joint": gate and projections together; the projections as polar factors of free matrices."""

    learns_projections = True

    def _flat(self, point: Point) -> NDArray:
        return np.concatenate([super()._flat(point), *(W.ravel() for W in point.projections)])

    def _free(self, flat: NDArray, like: Point) -> list[NDArray]:
        """Return the matrices A_m whose polar factors are the W_m."""
        sizes = [W.size for W in like.projections]
        parts = np.split(flat[len(flat) - sum(sizes) :], np.cumsum(sizes)[:-1])
        return [part.reshape(W.shape) for part, W in zip(parts, like.projections)]

    def _point(self, flat: NDArray, like: Point) -> Point:
        projections = tuple(polar(A) for A in self._free(flat, like))
        return super()._point(flat, like)._replace(projections=projections)

    def _gradient(self, flat: NDArray, solved: Solved) -> NDArray:
        free = self._free(flat, solved.point)
        pairs = zip(free, self.projection_gradient(solved))
        return np.concatenate([super()._gradient(flat, solved), *(polar_gradient(A, G).ravel() for A, G in pairs)])


SOLVERS: dict[str, type[SLDRProblem]] = {"alternating": Alternating, "lbfgs": QuasiNewton, "joint": Joint}
