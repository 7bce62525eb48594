"""Linear support vector machines on rows in partitions: the method of `linear_svm` on summed gradients and Hessians.

A head's Newton steps need sums over rows only, (d + 1)^2 numbers.  Each head is a generator that asks for sums; one
pass over the partitions answers what all heads ask for at that time.  Between passes the partitions keep the centre of
the proximal term, one number per row and head.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.rows.partitions import Partitions, spread, total
from supdr.solvers._linear_svm_kernels import LINE_TOL, MAX_LINE_TRIALS
from supdr.solvers.linear_svm import (
    BEST_ACCURACY,
    COLD_FALL,
    COLD_TAU,
    FIRST_ACCURACY,
    MARGIN_OF_BAND,
    MAX_ROUNDS,
    SMALLEST_TAU,
    STEPS_IN_BAND,
    WARM_FALL,
    WARM_ROUNDS,
    WARM_TAU,
    Heads,
)
from supdr.solvers.positive_definite import solve_in_place

Array = NDArray[np.float64]

MAX_STEPS = 1000


class Where(NamedTuple):
    """What a head asks about: a point of its proximal problem.

    Attributes
    ----------
    theta : array of shape (d + 1,)
        Coefficients and, last, the bias.
    tau : float
        Width of the proximal term.
    began : array of shape (d + 1,)
        Where the round began.
    band : float
        Rows further than this from their margin at `began` are held; infinite: none is.
    kind : {"step", "first", "end"}
        Sums for a Newton step, the same and those for the first direction of a round, or for the end of a round.
    """

    theta: Array
    tau: float
    began: Array
    band: float
    kind: str


class Move(NamedTuple):
    """A head's order to move the centres: to the shares at `theta`, or to 1/2 where that is None."""

    theta: Array | None
    tau: float


def solve_summed_heads(
    Z: Partitions, signs: Partitions, C: Partitions, n_heads: int, start: Heads | None = None, *, tol: float = 1e-6
) -> Heads:
    """Fit one support vector machine per column of `signs`; see `supdr.solvers.linear_svm.solve_heads`.

    Parameters
    ----------
    Z : Partitions of arrays of shape (n, d)
        Rows.
    signs : Partitions of arrays of shape (n, P)
        -1, +1, or 0 for a row that is not part of the problem.
    C : Partitions of arrays of shape (n,)
        Weight of the hinge, > 0.
    n_heads : int
        P.
    start : Heads, optional
        Where to start from, its multipliers in partitions.
    tol : float, default=1e-6
        Relative duality gap.

    Returns
    -------
    Heads
        The multipliers are `Partitions`.
    """
    d, sizes = total(_sizes, Z, signs, C, add=_joined_sizes)
    centres = spread(_first_centres, signs, C, None if start is None else start.alpha)
    heads = [
        _head(
            np.zeros(d + 1) if start is None else np.append(start.coef[k], start.intercept[k]),
            start is None,
            sizes[k],
            tol,
            MAX_STEPS,
        )
        for k in range(n_heads)
    ]
    asked: dict[int, Any] = {k: next(head) for k, head in enumerate(heads)}
    results: dict[int, tuple] = {}
    while asked:
        checkpoint()
        moves = {k: wish for k, wish in asked.items() if isinstance(wish, Move)}
        if moves:
            centres = spread(_moved_centres, Z, signs, centres, moves)
        questions = {k: wish for k, wish in asked.items() if isinstance(wish, Where)}
        answers = total(_answers, Z, signs, C, centres, questions, add=_joined) if questions else {}
        following = {}
        for k in asked:
            try:
                following[k] = heads[k].send(answers.get(k))
            except StopIteration as end:
                results[k] = end.value
        asked = following
    factors = np.array([results[k][1] for k in range(n_heads)])
    theta = np.array([results[k][0] for k in range(n_heads)])
    return Heads(
        np.ascontiguousarray(theta[:, :-1]),
        theta[:, -1].copy(),
        spread(_multipliers, signs, C, centres, factors),  # type: ignore[arg-type]
        float(sum(results[k][2] for k in range(n_heads))),
        sum(results[k][3] for k in range(n_heads)),
    )


# --- one head -----------------------------------------------------------------------------------------------------


def _head(theta: Array, cold: bool, size: Array, tol: float, max_steps: int) -> Generator[Any, Any, tuple]:
    """Ask for sums until the gap is closed; return theta, the factors of the multipliers, the gap and the steps.

    size holds the number of rows and their summed weight.
    """
    count, unit = size[0], min(1.0, float(size[1]))
    tau, fall = (COLD_TAU, COLD_FALL) if cold else (WARM_TAU, WARM_FALL)
    band, accuracy, steps = np.inf, FIRST_ACCURACY, 0
    for _ in range(MAX_ROUNDS if cold else WARM_ROUNDS):
        began, made, end = theta, 0, None
        if band < np.inf:
            limit = min(max_steps - steps, STEPS_IN_BAND)
            theta, made, finished = yield from _newton(began, tau, band + tau, accuracy, unit, limit, count)
            end = (yield Where(theta, tau, began, band + tau, "end")) if finished else None
        if end is None or end["crossed"]:
            theta, more, _ = yield from _newton(
                began, tau, np.inf, accuracy, unit, max(max_steps - steps - made, 1), count
            )
            made += more
            end = yield Where(theta, tau, began, np.inf, "end")
        steps += made
        yield Move(theta, tau)
        primal = 0.5 * float(theta[:-1] @ theta[:-1]) + end["hinge"]
        factors, gap = _gap(theta, end, primal)
        near = primal - end["product"] - theta[:-1] @ theta[:-1] / 2 <= tol * primal
        converged = near and gap <= tol * abs(primal)
        if converged or steps >= max_steps:
            return theta, factors, gap, steps
        if made:
            band = MARGIN_OF_BAND * end["furthest"]
        tau, accuracy = max(fall * tau, SMALLEST_TAU), max(fall * accuracy, BEST_ACCURACY)
    if cold or gap <= tol * abs(primal):
        return theta, factors, gap, steps
    yield Move(None, 1.0)
    theta, factors, gap, more = yield from _head(np.zeros_like(theta), True, size, tol, max_steps - steps)
    return theta, factors, gap, steps + more


def _newton(
    theta: Array, tau: float, band: float, accuracy: float, unit: float, max_steps: int, count: float
) -> Generator[Any, Any, tuple[Array, int, bool]]:
    """Ask for sums along Newton steps; return theta, the steps made, and whether the gradient vanished."""
    began = theta
    sums = yield Where(theta, tau, began, band, "first")
    if band < np.inf and 4 * sums["kept"] > 3 * count:
        return theta, 0, False
    for step in range(max_steps + 1):
        g = _gradient(theta, sums["pull"])
        small = 1e-3 * unit
        size = float(np.abs(theta[:-1]).max())
        level = 0.1 * accuracy * (small + sums["weight"])
        if np.abs(g[:-1]).max() <= accuracy * max(small, size) and abs(g[-1]) <= level:
            return theta, step, True
        if step == max_steps:
            break
        slope = 0.0
        if step == 0:
            direction = _gradient(theta, sums["first_pull"])
            solve_in_place(_hessian(sums["first_square"], sums["first_free"], tau, unit), direction, len(theta))
            slope = -float(g @ direction)
        if not slope < 0.0:
            direction = g.copy()
            solve_in_place(_hessian(sums["square"], sums["free"], tau, unit), direction, len(theta))
            slope = -float(g @ direction)
        if not -np.inf < slope < 0.0:
            return theta, step, True
        low, high, s = 0.0, np.inf, 1.0
        for trial in range(MAX_LINE_TRIALS + 1):
            if not s < np.inf:
                return theta, step, True
            sums = yield Where(theta - s * direction, tau, began, band, "step")
            rise = -float(direction @ _gradient(theta - s * direction, sums["pull"]))
            if abs(rise) <= LINE_TOL * abs(slope) or trial == MAX_LINE_TRIALS:
                break
            low, high = (s, high) if rise < 0.0 else (low, s)
            curvature = float(direction @ sums["square"] @ direction) / tau + float(direction[:-1] @ direction[:-1])
            s = s - rise / curvature if curvature > 0.0 else np.inf
            if not low < s < high:
                s = 2.0 * low if high == np.inf else 0.5 * (low + high)
        theta = theta - s * direction
    return theta, max_steps, False


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


def _gap(theta: Array, end: dict[str, Any], primal: float) -> tuple[Array, float]:
    """Return what multipliers of either sign are multiplied by to balance them, and the duality gap then."""
    up, down = end["up"], end["down"]
    factors = np.array([down / up, 1.0]) if up > down else np.array([1.0, up / down if down > 0.0 else 1.0])
    image = factors[0] * end["image_up"] + factors[1] * end["image_down"]
    dual = factors[0] * up + factors[1] * down - 0.5 * float(image[:-1] @ image[:-1])
    return factors, primal - dual


# --- on a partition -----------------------------------------------------------------------------------------------


def _sizes(Z: Array, signs: Array, C: Array) -> tuple[int, Array]:
    """Return d and, for every head, its rows and their weight (P, 2)."""
    part = signs != 0.0
    return Z.shape[1], np.column_stack([part.sum(axis=0), C @ part])


def _joined_sizes(parts: list[tuple[int, Array]]) -> tuple[int, Array]:
    return parts[0][0], sum(size for _, size in parts)  # type: ignore[return-value]


def _first_centres(signs: Array, C: Array, alpha: Array | None) -> Array:
    return np.full(signs.shape, 0.5) if alpha is None else np.clip(alpha / C[:, None], 0.0, 1.0)


def _arguments(Z: Array, y: Array, theta: Array) -> Array:
    return 1.0 - y * (Z @ theta[:-1] + theta[-1])


def _moved_centres(Z: Array, signs: Array, centres: Array, moves: dict[int, Move]) -> Array:
    moved = centres.copy()
    for k, (theta, tau) in moves.items():
        if theta is None:
            moved[:, k] = 0.5
        else:
            moved[:, k] = np.clip(centres[:, k] + _arguments(Z, signs[:, k], theta) / tau, 0.0, 1.0)
    return moved


def _multipliers(signs: Array, C: Array, centres: Array, factors: Array) -> Array:
    return C[:, None] * centres * np.where(signs > 0.0, factors[:, 0], factors[:, 1]) * (signs != 0.0)


def _answers(
    Z: Array, signs: Array, C: Array, centres: Array, questions: dict[int, Where]
) -> dict[int, dict[str, Any]]:
    """Return this partition's part of the sums that the heads ask for."""
    answers = {}
    for k, where in questions.items():
        y = signs[:, k]
        rows = slice(None) if y.all() else np.flatnonzero(y)
        answer = _ended if where.kind == "end" else _stepped
        answers[k] = answer(Z[rows], y[rows], C[rows], centres[rows, k], where)
    return answers


def _stepped(Z: Array, y: Array, weight: Array, centre: Array, where: Where) -> dict[str, Any]:
    held_pull, kept = np.zeros(Z.shape[1] + 1), len(y)
    if where.band < np.inf:
        t = _arguments(Z, y, where.began)
        near = np.abs(t) <= where.band
        above = ~near & (t > 0.0)
        held_pull, kept = _pull(Z[above], y[above] * weight[above]), int(near.sum())
        Z, y, weight, centre = Z[near], y[near], weight[near], centre[near]
    raw = centre + _arguments(Z, y, where.theta) / where.tau
    share = np.clip(raw, 0.0, 1.0)
    square, free = _square(Z, weight, (share > 0.0) & (share < 1.0))
    sums = {
        "pull": held_pull + _pull(Z, y * weight * share),
        "weight": float(weight @ share),
        "square": square,
        "free": free,
        "kept": kept,
    }
    if where.kind == "first":
        inside = (centre > 0.0) & (centre < 1.0)
        sums["first_pull"] = held_pull + _pull(Z, y * weight * np.where(inside, raw, share))
        sums["first_square"], sums["first_free"] = _square(Z, weight, inside)
    return sums


def _ended(Z: Array, y: Array, weight: Array, centre: Array, where: Where) -> dict[str, Any]:
    before, t = _arguments(Z, y, where.began), _arguments(Z, y, where.theta)
    share = np.clip(centre + t / where.tau, 0.0, 1.0)
    held = np.abs(before) > where.band
    alpha, positive = weight * share, y > 0.0
    return {
        "crossed": int((held & (np.sign(before) * t <= where.tau)).sum()),
        "furthest": float(np.abs(t - before).max(initial=0.0)),
        "hinge": float(weight @ np.maximum(t, 0.0)),
        "product": float(alpha @ t),
        "up": float(alpha[positive].sum()),
        "down": float(alpha[~positive].sum()),
        "image_up": _pull(Z[positive], (alpha * y)[positive]),
        "image_down": _pull(Z[~positive], (alpha * y)[~positive]),
    }


def _pull(Z: Array, coefficient: Array) -> Array:
    return np.append(coefficient @ Z, coefficient.sum())


def _square(Z: Array, weight: Array, free: NDArray) -> tuple[Array, int]:
    rows = np.column_stack([Z[free], np.ones(int(free.sum()))])
    return rows.T @ (weight[free, None] * rows), len(rows)


def _joined(parts: list[dict[int, dict[str, Any]]]) -> dict[int, dict[str, Any]]:
    """Return the sums of answers; of "furthest" the largest."""
    return {
        k: {name: (max if name == "furthest" else sum)(part[k][name] for part in parts) for name in parts[0][k]}
        for k in parts[0]
    }
