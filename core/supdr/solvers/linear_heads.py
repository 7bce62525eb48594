"""Linear predictors on latent rows, one per class or target ("heads").

    min over w (d,), b      weight sum_i c_i loss(y_i, u_i'w + b + offset_i)  +  reg |w|^2

The weights c_i of the rows are 1 unless they are given.

The bias b is not regularised.  Squared loss: one linear system for all heads.  Logistic and smooth hinge: Newton's
method whose curvature is raised until the step descends.  Hinge: an interior-point method for the quadratic program,
whose systems have d + 1 unknowns however many rows there are and whatever ``weight / reg`` is (`hinge_heads`).
No call returns a head with a larger objective than the one it is given.

Source: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 13-27
(the objective).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.functions.losses import HINGE, LARGEST_CURVATURE, SQUARED, loss_expansion
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.hinge_heads import HingeRows, Largest, hinge_head, hinge_rows
from supdr.solvers.positive_definite import solve_positive

ARMIJO = 1e-4
# First addition to the curvature: where all curvatures are 0 (smooth hinge, t = 1) the system is still regular.
SMALLEST_SHIFT = 1e-6

# Newton's method ends when the step promises a smaller relative fall.
NEGLIGIBLE = 1e-12

RIDGE_WEIGHTS = np.logspace(-4, 6, 41)

# Columns whose deviation is a smaller share of the largest one count as constant.
SMALLEST_SPREAD = 1e-9


def column_spread(features: NDArray) -> NDArray:
    """Return standard deviations (d,) of latent columns; 1 where a column is constant beside the others."""
    spread = features.std(axis=0)
    return np.where(spread > SMALLEST_SPREAD * spread.max(), spread, 1.0)


# The search for a head: requests sums over rows, is sent them, and returns coefficients in the end.
Search = Generator[Any, Any, NDArray]


class HeadRows(NamedTuple):
    """Rows of which heads are made: [U, 1] (n, d + 1), targets (K, n), and weights and offsets (n,)."""

    design: NDArray
    targets: NDArray
    weights: NDArray
    offset: NDArray


def head_rows(
    features: NDArray, targets: NDArray, weight: float, row_weights: NDArray | None, offset: NDArray | None
) -> HeadRows:
    """Return latent rows (n, d), targets (n, K), weights and offset (n,) as heads take them."""
    n, d = features.shape
    design = np.empty((n, d + 1))
    design[:, :d] = features
    design[:, d] = 1.0
    weights = np.full(n, weight) if row_weights is None else weight * row_weights
    return HeadRows(design, np.ascontiguousarray(targets.T), weights, np.zeros(n) if offset is None else offset)


def fit_heads_over(
    rows: Any,
    part: Any,
    code: int,
    coef: NDArray,
    intercept: NDArray,
    *,
    weight: float,
    reg: float,
    max_steps: int,
) -> tuple[NDArray, NDArray]:
    """Return `coef` (d, K) and `intercept` (K,) that minimise the objective of every head, from given ones on.

    `rows`: what works on rows; `part`: `HeadRows`, or partitions of them; `code`: of the loss; `weight`: of the losses,
    >= 0; at 0 coef is 0 and the intercepts stay; `reg`: ridge, > 0; `max_steps`: most Newton steps of a head.
    """
    if weight == 0.0:
        return np.zeros_like(coef), intercept.copy()
    d = len(coef)
    ridge = np.full(d + 1, 2.0 * reg)
    ridge[d] = 0.0
    if code == SQUARED:
        square, pulled = rows.total(_squared_sums, part)
        solution = solve_positive(square + np.diag(ridge), pulled)
        return solution[:d].copy(), solution[d].copy()
    theta = np.concatenate([coef, intercept[None, :]])  # (d+1, K)
    whole = isinstance(rows, InMemoryRows)
    heads = range(theta.shape[1])
    # A visit of partitions is one of all heads; in memory one head after another takes less memory.
    for together in [[k] for k in heads] if whole else [list(heads)]:
        if code == HINGE:
            n, caps = rows.total(_caps, part, reg)
            hinged: dict[int, Search] = {k: hinge_head(theta[:, k].copy(), n, float(caps)) for k in together}
            thetas = _hinge_heads(hinged, rows, rows.each(_hinge_rows, part, reg, together))
        else:
            smooth: dict[int, Search] = {k: _newton_head(theta[:, k].copy(), code, ridge, max_steps) for k in together}
            units = None if whole else rows.total(_units, part)
            thetas = _newton_heads(smooth, rows, part, code, units)
        for k, value in thetas.items():
            theta[:, k] = value
    return theta[:d].copy(), theta[d].copy()


def _newton_heads(
    searches: dict[int, Search], rows: Any, part: Any, code: int, units: NDArray | None
) -> dict[int, NDArray]:
    """Run Newton searches to their end: each is sent the expansion at the theta that it requests.

    units is Sum weights [u, 1][u, 1]' where rows are in partitions.
    """
    thetas: dict[int, NDArray] = {}
    requests = {k: next(head) for k, head in searches.items()}
    while requests:
        if units is None:
            replies: list[Any] = [_Expansion(part, k, code, theta) for k, theta in requests.items()]
        else:
            replies = [
                _SummedExpansion(value, pull, second, units)
                for value, pull, second in rows.total(_expanded, part, code, requests)
            ]
        requests = _next_requests(searches, dict(zip(requests, replies)), thetas)
    return thetas


def _hinge_heads(searches: dict[int, Search], rows: Any, states: Any) -> dict[int, NDArray]:
    """Run hinge searches to their end: each is sent the sums of the visit that it requests."""
    thetas: dict[int, NDArray] = {}
    requests, places = {k: next(head) for k, head in searches.items()}, {k: place for place, k in enumerate(searches)}
    while requests:
        states, replies = rows.both(_visit, states, {places[k]: request for k, request in requests.items()})
        requests = _next_requests(searches, dict(zip(requests, replies)), thetas)
    return thetas


def _next_requests(searches: dict[int, Search], replies: dict[int, Any], thetas: dict[int, NDArray]) -> dict[int, Any]:
    """Send replies to the searches; return their next requests.  Writes the results of those that end into `thetas`."""
    requests = {}
    for k, reply in replies.items():
        try:
            requests[k] = searches[k].send(reply)
        except StopIteration as end:
            thetas[k] = end.value
    return requests


class _Expansion:
    """Value, gradient and curvature of a head's losses at theta, rows in memory."""

    def __init__(self, rows: HeadRows, k: int, code: int, theta: NDArray) -> None:
        self.rows = rows
        scores = rows.design @ theta + rows.offset
        self.value, self.first, self.second = loss_expansion(code, rows.targets[k], scores, rows.weights)

    def pull(self) -> NDArray:
        """Return the gradient, (d + 1,)."""
        return self.first @ self.rows.design

    def curvature(self, mu: float) -> NDArray:
        """Return the Hessian with mu added to every second derivative, (d + 1, d + 1)."""
        return (self.rows.design.T * (self.second + mu * self.rows.weights)) @ self.rows.design


class _SummedExpansion(NamedTuple):
    """The same from sums over partitions."""

    value: float
    gradient: NDArray
    second: NDArray
    units: NDArray

    def pull(self) -> NDArray:
        """Return the gradient, (d + 1,)."""
        return self.gradient

    def curvature(self, mu: float) -> NDArray:
        """Return the Hessian with mu added to every second derivative, (d + 1, d + 1)."""
        return self.second + mu * self.units


def loo_ridge(features: NDArray, targets: NDArray, weights: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Return ridge regressions (d, q) and (q,), each ridge chosen by its exact, weighted leave-one-out error."""
    weights = np.ones(len(features)) if weights is None else weights
    n, root = weights.sum(), np.sqrt(weights)[:, None]
    centre, mean = np.average(features, axis=0, weights=weights), np.average(targets, axis=0, weights=weights)
    left, values, right = np.linalg.svd(root * (features - centre), full_matrices=False)  # (n, r), (r,), (r, d)
    response = root * (targets - mean)
    projected = left.T @ response  # (r, q)
    best = np.full(targets.shape[1], np.inf)
    coef = np.zeros((features.shape[1], targets.shape[1]))
    for ridge in RIDGE_WEIGHTS * max(values[0] ** 2 / n, np.finfo(float).tiny):
        share = values**2 / (values**2 + ridge)
        leverage = weights / n + (left**2) @ share  # (n,): the mean takes part in every fit
        residual = (response - left @ (share[:, None] * projected)) / np.maximum(1.0 - leverage, 1e-9)[:, None]
        error = (residual**2).mean(axis=0)
        better = error < best
        best[better] = error[better]
        scaled = (values / (values**2 + ridge))[:, None] * projected
        coef[:, better] = (right.T @ scaled)[:, better]
    return coef, mean - centre @ coef


def _newton_head(
    theta: NDArray, code: int, ridge: NDArray, max_steps: int
) -> Generator[NDArray, _Expansion | _SummedExpansion, NDArray]:
    """Newton's method with curvatures loss'' + mu, weighted; yields the theta whose expansion it is to be sent.

    mu grows tenfold when Armijo's condition fails and shrinks a hundredfold after a success.  At mu = max loss'' the
    step minimises a parabola above the objective, hence descends.
    """
    here = yield theta
    value = here.value + 0.5 * float(ridge @ theta**2)
    mu, accepted = SMALLEST_SHIFT, 0
    while accepted < max_steps:
        gradient = here.pull() + ridge * theta
        system = here.curvature(mu)
        system.flat[:: len(theta) + 1] += ridge
        step = solve_positive(system, gradient[:, None])[:, 0]
        decrement = float(gradient @ step)
        if not decrement > NEGLIGIBLE * abs(value):
            break
        trial = theta - step
        there = yield trial
        trial_value = there.value + 0.5 * float(ridge @ trial**2)
        if trial_value <= value - ARMIJO * decrement:
            theta, value, here = trial, trial_value, there
            mu, accepted = max(mu * 0.01, SMALLEST_SHIFT), accepted + 1
        elif mu < LARGEST_CURVATURE[code]:
            mu = min(mu * 10.0, LARGEST_CURVATURE[code])
        else:
            break  # only rounding is left
    return theta


# --- the work on rows ---------------------------------------------------------------------------------------------


def _squared_sums(rows: HeadRows) -> tuple[NDArray, NDArray]:
    pulled = 2.0 * (rows.weights[:, None] * rows.design).T
    return pulled @ rows.design, pulled @ (rows.targets.T - rows.offset[:, None])


def _units(rows: HeadRows) -> NDArray:
    return (rows.design.T * rows.weights) @ rows.design


def _expanded(rows: HeadRows, code: int, requests: dict[int, NDArray]) -> tuple:
    """Return value, gradient and curvature of each head at the theta that it requests."""
    expansions = [_Expansion(rows, k, code, theta) for k, theta in requests.items()]
    return tuple((each.value, each.pull(), each.curvature(0.0)) for each in expansions)


def _caps(rows: HeadRows, reg: float) -> tuple[int, Largest]:
    """Return the number of rows, and the largest cap of a multiplier."""
    return len(rows.weights), Largest((rows.weights / (2.0 * reg)).max(initial=0.0))


def _hinge_rows(rows: HeadRows, reg: float, heads: list[int]) -> tuple[HingeRows, ...]:
    return tuple(hinge_rows(rows.design, rows.targets[k], rows.weights, reg, rows.offset) for k in heads)


def _visit(states: tuple[HingeRows, ...], requests: dict[int, tuple[str, Any]]) -> tuple[tuple[HingeRows, ...], tuple]:
    """Return the rows of all heads after a visit, and its sums."""
    after, sums = list(states), []
    for place, (name, value) in requests.items():
        after[place], reply = getattr(states[place], name)(value)
        sums.append(reply)
    return tuple(after), tuple(sums)
