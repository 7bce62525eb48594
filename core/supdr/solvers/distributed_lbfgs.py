"""L-BFGS on a point that is spread over partitions: the steps of `lbfgs`, with sums for its inner products.

The direction is a combination of the changes of point and gradient and of the newest gradient.  Its weights follow from
the inner products of these vectors alone: a step sums the few new ones in one round, not two rounds a pair.

Source: W. Chen, Z. Wang, J. Zhou, "Large-scale L-BFGS using MapReduce", 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.solvers.lbfgs import CURVATURE, MAX_BACKTRACKS, SUFFICIENT_DECREASE

# Maps a point in partitions to its value, its gradient in the same partitions, and a payload.
Evaluate = Callable[[Any], tuple[float, Any, Any]]


class SummedSearch(NamedTuple):
    """Where a minimisation stands.  Nothing in it is ever written to.

    pairs: changes of point and gradient, in partitions, oldest first.
    products (2 m + 1, 2 m + 1): inner products of s_1 to s_m, y_1 to y_m and the gradient.
    step: the accepted step size; 0 when no trial was accepted (or before the first step).
    payload: what the function returned beside value and gradient.
    """

    point: Any
    value: float
    gradient: Any
    pairs: tuple[tuple[Any, Any], ...]
    products: NDArray
    step: float
    payload: Any


def summed_start(rows: Any, point: Any, evaluate: Evaluate) -> SummedSearch:
    """Return the state at `point`, in partitions, with an empty memory; `evaluate`: see `Evaluate`."""
    value, gradient, payload = evaluate(point)
    return SummedSearch(point, value, gradient, (), rows.total(_products, 1, gradient), 0.0, payload)


def summed_step(
    rows: Any, search: SummedSearch, evaluate: Evaluate, *, memory: int = 10, reach: float = 1.0
) -> SummedSearch:
    """Return the state after one accepted step, whose value is lower; see `supdr.solvers.lbfgs.lbfgs_step`."""
    if search.pairs:
        following = _search(rows, search, _weights(search.products), 1.0, evaluate, memory)
        if following is not None:
            return following
    length = min(1.0, reach / max(rows.total(_size, search.gradient), np.finfo(float).tiny))
    bare = search._replace(pairs=(), products=search.products[-1:, -1:])
    following = _search(rows, bare, np.array([-1.0]), length, evaluate, memory)
    return following if following is not None else bare._replace(step=0.0)


def _weights(products: NDArray) -> NDArray:
    """Return the weights (2 m + 1,) of -H g: the two-loop recursion on inner products."""
    m = len(products) // 2
    weights = np.zeros(2 * m + 1)
    weights[-1] = -1.0
    shares = np.zeros(m)
    for k in reversed(range(m)):
        shares[k] = (products[k] @ weights) / products[k, m + k]
        weights[m + k] -= shares[k]
    weights *= products[m - 1, 2 * m - 1] / products[2 * m - 1, 2 * m - 1]
    for k in range(m):
        weights[k] += shares[k] - (products[m + k] @ weights) / products[k, m + k]
    return weights


def _search(
    rows: Any, search: SummedSearch, weights: NDArray, step: float, evaluate: Evaluate, memory: int
) -> SummedSearch | None:
    """Halve the step until the value falls enough; None if it never does."""
    slope = float(search.products[-1] @ weights)
    if not slope < 0.0:  # also catches nan
        return None
    vectors = _vectors(search)
    direction = rows.each(_combined, weights, *vectors)
    for _ in range(MAX_BACKTRACKS):
        checkpoint()
        point = rows.each(_moved, search.point, step, direction)
        value, gradient, payload = evaluate(point)
        fell = np.isfinite(value) and value <= search.value + SUFFICIENT_DECREASE * step * slope
        if fell and value < search.value:
            change = tuple(
                rows.each(np.subtract, *ends) for ends in ((point, search.point), (gradient, search.gradient))
            )
            new = rows.total(_products, 3, *change, gradient, *vectors[:-1])
            if np.isfinite(new[2, 2]):
                pairs, products = _remembered(search, change, new, memory)
                return SummedSearch(point, value, gradient, pairs, products, step, payload)
        step *= 0.5
    return None


def _vectors(search: SummedSearch) -> list[Any]:
    """Return what directions are made of, in the order of the inner products."""
    return [*(s for s, _ in search.pairs), *(y for _, y in search.pairs), search.gradient]


def _remembered(search: SummedSearch, change: tuple[Any, Any], new: NDArray, memory: int) -> tuple[tuple, NDArray]:
    """Return pairs and inner products after a step.

    new (3, 3 + 2 m) holds those of its s, y and gradient with these three and with what was remembered.
    """
    m = len(search.pairs)
    products = np.empty((2 * m + 3, 2 * m + 3))
    products[3:, 3:] = search.products[:-1, :-1]
    products[:3], products[:, :3] = new, new.T
    pairs, s, y = search.pairs, [3 + k for k in range(m)], [3 + m + k for k in range(m)]
    if new[0, 1] > CURVATURE * np.sqrt(new[0, 0] * new[1, 1]):
        pairs, s, y = (*pairs, change)[-memory:], [*s, 0][-memory:], [*y, 1][-memory:]
    numbers = [*s, *y, 2]
    return pairs, products[np.ix_(numbers, numbers)]


# --- on a partition -----------------------------------------------------------------------------------------------


def _products(count: int, *vectors: NDArray) -> NDArray:
    """Return the inner products of the first few vectors with all."""
    return np.array([[np.vdot(first, second) for second in vectors] for first in vectors[:count]])


def _size(gradient: NDArray) -> float:
    return float(np.abs(gradient).sum())


def _combined(weights: NDArray, *vectors: NDArray) -> NDArray:
    direction = weights[0] * vectors[0]
    for weight, vector in zip(weights[1:], vectors[1:]):
        direction += weight * vector
    return direction


def _moved(point: NDArray, step: float, direction: NDArray) -> NDArray:
    return point + step * direction
