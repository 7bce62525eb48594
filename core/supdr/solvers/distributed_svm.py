"""Linear support vector machines on rows in partitions: the method of `linear_svm` on summed gradients and Hessians.

It closes the gap that the working set of rows near the margins (`margin_working_set`) leaves, and begins at its end.
A head's Newton steps need sums over rows only, (d + 1)^2 numbers.  Each head is a generator that yields queries for
sums; one pass over the partitions serves the queries of all heads.  Between passes the partitions keep the
centre of the proximal term, one number per row and head.

A pass costs a message to every partition, whatever it computes.  So it brings all sums that may be needed next: those
for a step and those for the end of a round.  The line search is content with any clear descent, and no rows are held.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.rows.partitions import Partitions, spread, total
from supdr.solvers._distributed_kernels import head_sums, moved_centre, pulls_along
from supdr.solvers._linear_svm_kernels import LINE_TOL, MAX_LINE_TRIALS, between
from supdr.solvers.linear_svm import (
    BEST_ACCURACY,
    COLD_FALL,
    COLD_TAU,
    FIRST_ACCURACY,
    MAX_ROUNDS,
    SMALLEST_TAU,
    WARM_FALL,
    WARM_ROUNDS,
    WARM_TAU,
    Heads,
)
from supdr.solvers.margin_working_set import approach_optimum
from supdr.solvers.positive_definite import solve_in_place

Array = NDArray[np.float64]

MAX_STEPS = 1000

# A step that lowers the value is taken when the slope has fallen to this share.
CLEAR_DESCENT = 0.9

# Shares of a step that is too long at which a `LineQuery` asks for the slope.
SHORTER_STEPS: Array = 0.5 ** np.arange(1.0, 17.0)


class PointQuery(NamedTuple):
    """A head's query for the sums at a point of its proximal problem.

    `theta` (d + 1,): coefficients and, last, the bias; `tau`: width of the proximal term; `predicts`: whether the sums
    for the first direction of a round are needed too.
    """

    theta: Array
    tau: float
    predicts: bool


class Sums(NamedTuple):
    """Sums over the rows of a head, for a `PointQuery`; see `supdr.solvers._distributed_kernels.head_sums`."""

    totals: Array
    pulls: Array
    square: Array
    predicted: Array
    predicted_square: Array


class LineQuery(NamedTuple):
    """A head's query for its pulls at `SHORTER_STEPS` along a step that is too long.

    `theta` (d + 1,): where it begins; `tau`: width of the proximal term; `direction` (d + 1,): of ascent.
    """

    theta: Array
    tau: float
    direction: Array


class Move(NamedTuple):
    """A head's order to move the centres: to the shares at `theta`, or to 1/2 where that is None."""

    theta: Array | None
    tau: float


def solve_distributed_svms(
    Z: Partitions,
    signs: Partitions,
    C: Partitions,
    n_heads: int,
    start: Heads | None = None,
    *,
    tol: float = 1e-6,
    observe: Callable[[Array, Array], Any] | None = None,
    moments: tuple[int, Array, Array] | None = None,
) -> Heads:
    """Fit one support vector machine per column of `signs`; see `supdr.solvers.linear_svm.solve_heads`.

    `Z` (n, d): rows; `signs` (n, P): -1, +1, or 0 for a row that is not part of the problem; `C` (n,): weight of the
    hinge, > 0; `n_heads`: P; `start`: where to start from; `tol`: relative duality gap; `observe`:
    ``observe(coef, intercept)`` is called with the classifiers so far, by this thread; `moments`: see
    `supdr.solvers.margin_working_set.approach_optimum`. In what is returned the multipliers are `Partitions`.
    """
    columns = spread(_columns, signs)
    theta = (
        np.zeros((n_heads, total(_width, Z, add=max) + 1))
        if start is None
        else np.column_stack([start.coef, start.intercept])
    )
    split = None if observe is None else lambda theta: observe(np.ascontiguousarray(theta[:, :-1]), theta[:, -1].copy())
    near = approach_optimum(Z, columns, C, theta, tol, split, moments)
    theta, centres = near.theta, near.centres
    results: dict[int, tuple] = {k: (theta[k], np.ones(2), near.gaps[k], 0) for k in range(n_heads) if near.closed[k]}
    open_heads = [k for k in range(n_heads) if k not in results]
    sizes = total(_sizes, columns, C) if open_heads else []
    centres = spread(list, centres) if open_heads else centres
    heads = {k: _head(theta[k].copy(), False, sizes[k], tol, MAX_STEPS) for k in open_heads}
    queries: dict[int, PointQuery | LineQuery | Move] = {}

    def advance(k: int, result: Any) -> None:
        """Let head k take a result, and note its next query."""
        try:
            queries[k] = heads[k].send(result)
        except StopIteration as end:
            results[k] = end.value
            queries.pop(k, None)

    for k in heads:
        advance(k, None)
    while queries:
        checkpoint()
        while moves := {k: query for k, query in queries.items() if isinstance(query, Move)}:
            centres = spread(_moved_centres, Z, columns, centres, moves)
            for k in moves:
                advance(k, None)
        if queries:
            for k, result in total(_query_results, Z, columns, C, centres, dict(queries), add=_joined).items():
                advance(k, result)
    factors = np.array([results[k][1] for k in range(n_heads)])
    theta = np.array([results[k][0] for k in range(n_heads)])
    gap, steps = (sum(results[k][place] for k in range(n_heads)) for place in (2, 3))
    return _heads(theta, spread(_multipliers, columns, C, centres, factors), float(gap), near.visits + steps)


def _heads(theta: Array, alpha: Any, gap: float, steps: int) -> Heads:
    return Heads(np.ascontiguousarray(theta[:, :-1]), theta[:, -1].copy(), alpha, gap, steps)


# --- one head -----------------------------------------------------------------------------------------------------


def _head(theta: Array, cold: bool, size: Array, tol: float, max_steps: int) -> Generator[Any, Any, tuple]:
    """Yield queries until the gap is closed; return theta, the factors of the multipliers, the gap and the steps.

    size holds the number of rows and their summed weight.
    """
    unit = min(1.0, float(size[1]))
    tau, fall = (COLD_TAU, COLD_FALL) if cold else (WARM_TAU, WARM_FALL)
    accuracy, steps = FIRST_ACCURACY, 0
    for _ in range(MAX_ROUNDS if cold else WARM_ROUNDS):
        theta, sums, made = yield from _newton(theta, tau, accuracy, unit, max_steps - steps)
        steps += made
        yield Move(theta, tau)
        primal = 0.5 * float(theta[:-1] @ theta[:-1]) + float(sums.totals[3])
        factors, gap = _gap(sums, primal)
        near = primal - float(sums.totals[2]) - theta[:-1] @ theta[:-1] / 2 <= tol * primal
        if (near and gap <= tol * abs(primal)) or steps >= max_steps:
            return theta, factors, gap, steps
        tau, accuracy = max(fall * tau, SMALLEST_TAU), max(fall * accuracy, BEST_ACCURACY)
    if cold or gap <= tol * abs(primal):
        return theta, factors, gap, steps
    yield Move(None, 1.0)
    theta, factors, gap, more = yield from _head(np.zeros_like(theta), True, size, tol, max_steps - steps)
    return theta, factors, gap, steps + more


def _newton(
    theta: Array, tau: float, accuracy: float, unit: float, max_steps: int
) -> Generator[Any, Any, tuple[Array, Sums, int]]:
    """Yield queries along Newton steps; return theta where the gradient vanishes, its sums, and the steps made."""
    sums = yield PointQuery(theta, tau, True)
    for step in range(max_steps):
        g = _gradient(theta, sums.pulls.sum(axis=0))
        small = 1e-3 * unit
        size = float(np.abs(theta[:-1]).max())
        level = 0.1 * accuracy * (small + float(sums.totals[:2].sum()))
        if np.abs(g[:-1]).max() <= accuracy * max(small, size) and abs(g[-1]) <= level:
            return theta, sums, step
        slope = 0.0
        if step == 0:
            direction = _gradient(theta, sums.predicted)
            solve_in_place(_hessian(sums.predicted_square, sums.totals[6], tau, unit), direction, len(theta))
            slope = -float(g @ direction)
        if not slope < 0.0:
            direction = g.copy()
            solve_in_place(_hessian(sums.square, sums.totals[5], tau, unit), direction, len(theta))
            slope = -float(g @ direction)
        if not -np.inf < slope < 0.0:
            return theta, sums, step
        lower = yield from _searched(theta, direction, tau, slope, _value(theta, sums))
        if lower is None:
            return theta, sums, step
        theta, sums = lower
    return theta, sums, max_steps


def _searched(
    theta: Array, direction: Array, tau: float, slope: float, value: float
) -> Generator[Any, Any, tuple[Array, Sums] | None]:
    """Yield queries along a direction; return a point that is lower, and the sums there, if there is one."""
    low, high, s = 0.0, np.inf, 1.0
    for trial in range(MAX_LINE_TRIALS + 1):
        if not s < np.inf:
            return None
        there = theta - s * direction
        sums = yield PointQuery(there, tau, False)
        rise = -float(direction @ _gradient(there, sums.pulls.sum(axis=0)))
        lower = abs(rise) <= CLEAR_DESCENT * abs(slope) and _value(there, sums) <= value
        if lower or abs(rise) <= LINE_TOL * abs(slope) or trial == MAX_LINE_TRIALS:
            return there, sums
        low, high = (s, high) if rise < 0.0 else (low, s)
        if trial == 0 and rise > 0.0:
            low, high, s = _crossing(slope, rise, direction, (yield LineQuery(theta, tau, direction)), theta)
            continue
        curvature = float(direction @ sums.square @ direction) / tau + float(direction[:-1] @ direction[:-1])
        s = s - rise / curvature if curvature > 0.0 else np.inf
        if not low < s < high:
            s = 2.0 * low if high == np.inf else between(low, high)
    return None


def _crossing(slope: float, rise: float, direction: Array, pulls: Array, theta: Array) -> tuple[float, float, float]:
    """Return two lengths between which the slope changes its sign, and where it vanishes if it is straight there."""
    w, along = direction[:-1] @ theta[:-1], direction[:-1] @ direction[:-1]
    lengths = np.concatenate([[0.0], SHORTER_STEPS[::-1], [1.0]])
    slopes = np.concatenate([[slope], (pulls - w)[::-1] + lengths[1:-1] * along, [rise]])
    after = int(np.argmax(slopes > 0.0))
    (low, high), (below, above) = lengths[after - 1 : after + 1], slopes[after - 1 : after + 1]
    return float(low), float(high), float(low + (high - low) * below / (below - above))


def _value(theta: Array, sums: Sums) -> float:
    return 0.5 * float(theta[:-1] @ theta[:-1]) + float(sums.totals[4])


def _gradient(theta: Array, pull: Array) -> Array:
    return np.append(theta[:-1], 0.0) - pull


def _hessian(square: Array, free: float, tau: float, unit: float) -> Array:
    """Return I + A_free W A_free' / tau, a little above it for the bias."""
    H = square / tau
    last = len(H) - 1
    H[np.arange(last), np.arange(last)] += 1.0
    trace = float(np.trace(H[:last, :last]))
    H[last, last] += 1e-10 * (unit + H[last, last])
    if free == 0:
        H[last, last] += 1e-3 * unit * trace / max(last, 1)
    return H


def _gap(sums: Sums, primal: float) -> tuple[Array, float]:
    """Return what multipliers of either sign are multiplied by to balance them, and the duality gap then."""
    up, down = (float(side) for side in sums.totals[:2])
    factors = np.array([down / up, 1.0]) if up > down else np.array([1.0, up / down if down > 0.0 else 1.0])
    image = factors @ sums.pulls
    dual = factors[0] * up + factors[1] * down - 0.5 * float(image[:-1] @ image[:-1])
    return factors, primal - dual


# --- on a partition -----------------------------------------------------------------------------------------------


def _columns(signs: Array) -> NDArray[np.int8]:
    """Return the signs (P, n), small."""
    return np.ascontiguousarray(signs.T.astype(np.int8))


def _width(Z: Array) -> int:
    return Z.shape[1]


def _sizes(columns: NDArray[np.int8], C: Array) -> Array:
    """Return, for every head, its rows and their weight (P, 2)."""
    part = columns != 0
    return np.column_stack([part.sum(axis=1), part @ C])


def _moved_centres(Z: Array, columns: NDArray[np.int8], centres: list[Array], moves: dict[int, Move]) -> list[Array]:
    """Return the centres, moved where a head moves; those of the others are the same arrays."""
    moved = list(centres)
    for k, (theta, tau) in moves.items():
        still = np.full_like(centres[k], 0.5)
        moved[k] = still if theta is None else moved_centre(Z, columns[k], centres[k], theta, tau)
    return moved


def _multipliers(columns: NDArray[np.int8], C: Array, centres: list[Array], factors: Array) -> NDArray[np.float32]:
    """Return the multipliers (n, P) at half the memory, rounded down so that none is above C."""
    alpha = np.empty((len(C), len(columns)), np.float32)
    for k, (signs, centre, (up, down)) in enumerate(zip(columns, centres, factors)):
        alpha[:, k] = C * centre * np.where(signs > 0, up, down) * (signs != 0)
    return np.nextafter(alpha, np.float32(0.0))


def _query_results(
    Z: Array, columns: NDArray[np.int8], C: Array, centres: list[Array], queries: dict[int, PointQuery | LineQuery]
) -> dict[int, Any]:
    """Return this partition's part of the sums for the queries of all heads."""
    results: dict[int, Any] = {}
    for k, query in queries.items():
        rows = (Z, columns[k], C, centres[k])
        if isinstance(query, PointQuery):
            results[k] = Sums(*head_sums(*rows, *query))
        else:
            results[k] = pulls_along(*rows, *query, SHORTER_STEPS)
    return results


def _joined(parts: list[dict[int, Any]]) -> dict[int, Any]:
    return {k: _sum([part[k] for part in parts]) for k in parts[0]}


def _sum(parts: list[Any]) -> Any:
    return Sums(*(np.sum(each, axis=0) for each in zip(*parts))) if isinstance(parts[0], Sums) else sum(parts)
