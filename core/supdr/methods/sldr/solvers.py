"""SLDR's solvers: the paper's alternation, and quasi-Newton: on the gate alone ("lbfgs") or on all blocks ("joint")."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supdr.engine.interruption import checkpoint
from supdr.engine.solver import Solver
from supdr.methods.sldr.model import Point
from supdr.methods.sldr.problem import SLDRProblem
from supdr.methods.sldr.state import Candidate, Solved
from supdr.solvers.lbfgs import QuasiNewton
from supdr.solvers.stiefel import orthonormal_gauge, polar

MAX_HALVINGS = 25
ARMIJO = 1e-4


class Alternating(Solver):
    """solver="alternating": Algorithm 1.  A step in W, one in T, one in V and v0, the SVMs solved after each.

    Erratum: the paper makes T orthonormal without changing V, which moves the gate.  T'T = 1 is only a gauge, since V
    is free: T = QR, V <- V R'.

    Appendix A.4 allows constant steps in place of line searches: `step_size`.
    """

    def step(self, problem: SLDRProblem, candidate: Candidate) -> Candidate:
        """One outer iteration: a step in each of three blocks."""
        solved = problem.again(candidate)
        first, second, third = candidate.steps

        downhill = problem.projection_gradient(solved)
        point = solved.point

        def projected(step: float) -> Point:
            """W_m after a step along the Stiefel manifold."""
            moved = (polar(W - step * gradient) for W, gradient in zip(point.projections, downhill))
            return point._replace(projections=tuple(moved))

        failures = 0
        solved, first, length, failed = _move(problem, solved, projected, 0, first, 0.0)
        failures += failed
        if solved.point.gate_projection is not None:
            before, old = solved.point, solved.point.gate_projection
            in_projection, _, _ = problem.gate_gradient(solved)

            def turned(step: float) -> Point:
                """T and V after a step, in the orthonormal gauge."""
                T, V = orthonormal_gauge(old - step * in_projection, before.gate_weights)
                return before._replace(gate_projection=T, gate_weights=V)

            solved, second, moved, failed = _move(problem, solved, turned, 1, second, 0.0)
            length, failures = max(length, moved), failures + failed
        _, in_weights, in_offset = problem.gate_gradient(solved)
        last = solved.point

        def gated(step: float) -> Point:
            """V and v0 after a step."""
            weights, offset = last.gate_weights - step * in_weights, last.gate_offset - step * in_offset
            return last._replace(gate_weights=weights, gate_offset=offset)

        slope = float((in_weights**2).sum() + (in_offset**2).sum())
        solved, third, moved, failed = _move(problem, solved, gated, 2, third, ARMIJO * slope)
        steps, length = (first, second, third), max(length, moved)
        return Candidate(solved.point, solved.gate, solved.heads, steps, length=length, failures=failures + failed)


def _move(
    problem: SLDRProblem, solved: Solved, move: Callable[[float], Point], block: int, step: float, decrease: float
) -> tuple[Solved, float, float, int]:
    """Take the constant step of a block, or search along the line from `step` on; returns what `_search` does."""
    if problem.step_size is None:
        return _search(problem, solved, move, step, decrease)
    length = problem.step_size[block]
    try:
        moved = problem.solve(move(length), solved.heads)
    except np.linalg.LinAlgError:  # a step so long that it overflows
        return solved, step, 0.0, 1
    return (moved, step, length, 0) if moved.heads.closed else (solved, step, 0.0, 1)


def _search(
    problem: SLDRProblem, solved: Solved, move: Callable[[float], Point], step: float, decrease: float
) -> tuple[Solved, float, float, int]:
    """Halve the step until J falls by more than ``decrease * step``.

    Returns what was accepted, the first trial of the next search, the length of this step (0 if none was), and how
    many trials had SVMs that were not solved.
    """
    failures = 0
    for _ in range(MAX_HALVINGS):
        checkpoint()
        trial = problem.solve(move(step), solved.heads)
        if trial.value < solved.value - decrease * step:
            return trial, 2.0 * step, step, failures
        failures += not trial.heads.closed
        step *= 0.5
    return solved, step, 0.0, failures


SOLVERS: dict[str, Solver] = {"alternating": Alternating(), "lbfgs": QuasiNewton(), "joint": QuasiNewton()}
