"""L-BFGS as a map from state to next state, so that a run can be paused, resumed and branched bit for bit.

`QuasiNewton` is the solver "lbfgs" of every problem that is smooth in all its variables at once.

The state holds the point, its value and gradient, and the curvature pairs.  Steps never raise the value: the line
search backtracks until Armijo's condition holds, and a value that is not finite counts as a rejected trial, so the
function may refuse a point by returning ``inf``.

Source: J. Nocedal, S. J. Wright, "Numerical Optimization", algorithms 3.1 and 7.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.solver import Solver

# Maps a point (p,) to its value, its gradient (p,) and a payload; the gradient is ignored when the value is inf.
Evaluate = Callable[[NDArray], tuple[float, NDArray, Any]]

SUFFICIENT_DECREASE = 1e-4
# Trials per direction, each half as long as the one before.
MAX_BACKTRACKS = 40

# A pair enters the memory only if s'y > CURVATURE |s| |y|; else it would spoil positive definiteness.
CURVATURE = 1e-10


class LBFGSState(NamedTuple):
    """Where a minimisation stands.  Nothing in it is ever written to.

    `point` (p,), `value`, `gradient` (p,); `pairs`: changes of point and gradient, each (p,), oldest first; `step`: the
    accepted step size, 0 when no trial was accepted (or before the first step); `payload`: what the function returned
    beside value and gradient, such as an inner solver's dual variables at this point.
    """

    point: NDArray
    value: float
    gradient: NDArray
    pairs: tuple[tuple[NDArray, NDArray], ...] = ()
    step: float = 0.0
    payload: Any = None


def lbfgs_start(point: NDArray, evaluate: Evaluate) -> LBFGSState:
    """Return the state at `point`, with an empty memory.

    `point` (p,): where to start; `evaluate`: see `Evaluate`.
    """
    value, gradient, payload = evaluate(point)
    return LBFGSState(point, value, gradient, payload=payload)


def lbfgs_adopt(state: LBFGSState, evaluate: Evaluate) -> LBFGSState:
    """Return `state` if `evaluate` still is the function it belongs to, else a start at its point without memory.

    The function is the same if value and gradient are, exactly: curvature learnt from another objective misleads.

    `state`: a state, possibly of a run under other hyper-parameters; `evaluate`: the function to be minimised from now
    on.
    """
    fresh = lbfgs_start(state.point, evaluate)
    same = fresh.value == state.value and np.array_equal(fresh.gradient, state.gradient)
    # What belongs to the point may depend on what the value does not: a regression of weight 0, for instance.
    if not same:
        return fresh
    return state if fresh.payload is state.payload else state._replace(payload=fresh.payload)


def lbfgs_step(state: LBFGSState, evaluate: Evaluate, *, memory: int = 10, reach: float = 1.0) -> LBFGSState:
    """Return the state after one accepted step, whose value is lower.

    If no trial along the quasi-Newton direction is accepted, the memory is dropped and steepest descent is tried; if
    that fails too the same point comes back, with ``step`` 0.

    `state`: where to go from; `evaluate`: see `Evaluate`; `memory`: number of curvature pairs kept, >= 1; `reach`: how
    far, in the sum over all coordinates, steepest descent goes at first, without an estimate of the scale.
    """
    if state.pairs:
        following = _search(state, _direction(state), 1.0, evaluate, memory)
        if following is not None:
            return following
    # Without an estimate of the scale the first trial moves no coordinate by more than `reach` in total.
    length = min(1.0, reach / max(float(np.abs(state.gradient).sum()), np.finfo(float).tiny))
    bare = state._replace(pairs=())
    following = _search(bare, -state.gradient, length, evaluate, memory)
    return following if following is not None else bare._replace(step=0.0)


def _direction(state: LBFGSState) -> NDArray:
    """Return -H g by the two-loop recursion; H starts from the scaled identity s'y / y'y."""
    direction = -state.gradient
    weights = [-_shift(direction, y, s, 0.0) for s, y in reversed(state.pairs)]
    s, y = state.pairs[-1]
    direction *= (s @ y) / (y @ y)
    for (s, y), weight in zip(state.pairs, reversed(weights)):
        _shift(direction, s, y, weight)
    return direction


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")
def _shift(direction: NDArray, along: NDArray, by: NDArray, weight: float) -> float:
    """Add weight - by'direction / by'along times `along` to direction (p,) in place; return the factor."""
    product, curvature = 0.0, 0.0
    for i in range(len(direction)):
        product += by[i] * direction[i]
        curvature += by[i] * along[i]
    factor = weight - product / curvature
    for i in range(len(direction)):
        direction[i] += factor * along[i]
    return factor


def _search(state: LBFGSState, direction: NDArray, step: float, evaluate: Evaluate, memory: int) -> LBFGSState | None:
    """Halve the step until the value falls enough; None if it never does."""
    slope = float(state.gradient @ direction)
    if not slope < 0.0:  # also catches nan
        return None
    for _ in range(MAX_BACKTRACKS):
        checkpoint()
        point = state.point + step * direction
        value, gradient, payload = evaluate(point)
        fell = np.isfinite(value) and value <= state.value + SUFFICIENT_DECREASE * step * slope and value < state.value
        if fell and np.isfinite(gradient).all():
            s, y = point - state.point, gradient - state.gradient
            pairs = state.pairs
            if s @ y > CURVATURE * np.sqrt((s @ s) * (y @ y)):
                pairs = (*pairs, (s, y))[-memory:]
            return LBFGSState(point, value, gradient, pairs, step, payload)
        step *= 0.5
    return None


@dataclass(frozen=True)
class QuasiNewton(Solver):
    """solver="lbfgs": one accepted L-BFGS step on all variables of a problem.

    A state (SLDR: a candidate) has a field `search`, and the problem three methods:

    - ``first_search(state)``: the search at the point of a state, with an empty memory;
    - ``objective(state)``: the function to be minimised, see `Evaluate`; inner solvers begin as in the state;
    - ``at_point(state, search, objective)``: `state` at the point of a search that has evaluated this objective; at the
      begin of a run the objective is None.

    memory: number of curvature pairs, >= 1.
    first_move: mean change of a coordinate in the first trial; None: at most 1 in the sum over all coordinates.
    """

    memory: int = 10
    first_move: float | None = None

    def begin(self, problem: Any, state: Any) -> Any:
        """Return `state` with a search; its memory stays where the objective is the same."""
        if state.search is None:
            search = problem.first_search(state)
        else:
            search = lbfgs_adopt(state.search, problem.objective(state))
        return problem.at_point(state, search, None)

    def step(self, problem: Any, state: Any) -> Any:
        """Return the state after one accepted step, or at the same point if no trial was accepted."""
        objective = problem.objective(state)
        search = problem.first_search(state) if state.search is None else state.search
        return problem.at_point(state, self.searched(search, objective), objective)

    def searched(self, search: LBFGSState, objective: Evaluate) -> LBFGSState:
        """Return the search one step further."""
        reach = 1.0 if self.first_move is None else self.first_move * search.point.size
        return lbfgs_step(search, objective, memory=self.memory, reach=reach)

    def may_converge(self, problem: Any, previous: Any, state: Any) -> bool:
        """Tell what the problem says of a standstill."""
        return bool(problem.may_rest(previous, state))
