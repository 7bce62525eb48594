"""Linear predictors on latent rows, one per class or target ("heads").

    min over w (d,), b      weight sum_i c_i loss(y_i, u_i'w + b + offset_i)  +  reg |w|^2

The weights c_i of the rows are 1 unless they are given.

The bias b is not regularised.  Squared loss: one linear system for all heads.  Logistic and smooth hinge: Newton's
method whose curvature is raised until the step descends.  Hinge: an interior-point method for the quadratic program,
whose systems have d + 1 unknowns however many rows there are and whatever ``weight / reg`` is.
No call returns a head with a larger objective than the one it is given.

Sources: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 13-27
(the objective); M. C. Ferris, T. S. Munson, "Interior-Point Methods for Massive Support Vector Machines" (hinge).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.functions.losses import HINGE, LARGEST_CURVATURE, SQUARED, loss_expansion
from supdr.solvers.positive_definite import solve_positive

ARMIJO = 1e-4
SMALLEST_SHIFT = 1e-6
"""First addition to the curvature: where all curvatures are 0 (smooth hinge, t = 1) the system is still regular."""

NEGLIGIBLE = 1e-12
"""Newton's method ends when the step promises a smaller relative fall."""

FRACTION_TO_BOUNDARY = 0.995
GAP = 1e-11
"""Relative duality gap at which the interior-point method ends."""

RIDGE_WEIGHTS = np.logspace(-4, 6, 41)

HINGE_STEPS = 60
"""Cap on the steps of the interior-point method."""

SMALLEST_SPREAD = 1e-9
"""Columns whose deviation is a smaller share of the largest one count as constant."""


def column_spread(features: NDArray) -> NDArray:
    """Return what the columns of latent rows (n, d) are divided by before a head is refitted on them.

    Parameters
    ----------
    features : array of shape (n, d)
        Latent rows.

    Returns
    -------
    array of shape (d,)
        Standard deviations; 1 where a column is constant beside the others.
    """
    spread = features.std(axis=0)
    return np.where(spread > SMALLEST_SPREAD * spread.max(), spread, 1.0)


def fit_heads(
    features: NDArray,
    targets: NDArray,
    code: int,
    coef: NDArray,
    intercept: NDArray,
    *,
    weight: float = 1.0,
    row_weights: NDArray | None = None,
    reg: float = 0.5,
    offset: NDArray | None = None,
    max_steps: int = 20,
) -> tuple[NDArray, NDArray]:
    """Minimise the objective of every head, starting from (coef, intercept).

    Parameters
    ----------
    features : array of shape (n, d)
        Latent rows U.
    targets : array of shape (n, K)
        One column per head: -1 and +1, or, for the squared loss, any numbers.
    code : int
        The loss, see `supdr.functions.losses.loss_code`.
    coef : array of shape (d, K)
        Start.
    intercept : array of shape (K,)
        Start.
    weight : float
        Weight of the losses, >= 0.  At 0 the ridge alone is left: coef is 0 and the intercepts stay.
    row_weights : array of shape (n,), optional
        What the losses of each row are multiplied by, > 0.
    reg : float
        Ridge weight, > 0.
    offset : array of shape (n,), optional
        Added to the scores of every head (LSDR's row biases, whose weight is fixed at 1).
    max_steps : int
        Cap of accepted Newton steps per head.

    Returns
    -------
    coef : array of shape (d, K)
    intercept : array of shape (K,)
    """
    if weight == 0.0:
        return np.zeros_like(coef), intercept.copy()
    n, d = features.shape
    design = np.empty((n, d + 1))  # [U, 1]
    design[:, :d] = features
    design[:, d] = 1.0
    shift = np.zeros(n) if offset is None else offset
    ridge = np.full(d + 1, 2.0 * reg)
    ridge[d] = 0.0
    weights = np.full(n, weight) if row_weights is None else weight * row_weights
    if code == SQUARED:
        pulled = 2.0 * (weights[:, None] * design).T
        solution = solve_positive(pulled @ design + np.diag(ridge), pulled @ (targets - shift[:, None]))
        return solution[:d].copy(), solution[d].copy()
    theta = np.concatenate([coef, intercept[None, :]])  # (d+1, K)
    for k in range(theta.shape[1]):
        y = np.ascontiguousarray(targets[:, k])
        start = theta[:, k].copy()
        if code == HINGE:
            theta[:, k] = _hinge_head(design, y, start, weights, reg, shift)
        else:
            theta[:, k] = _newton_head(design, y, code, start, weights, ridge, shift, max_steps)
    return theta[:d].copy(), theta[d].copy()


def loo_ridge(features: NDArray, targets: NDArray, weights: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Ridge regression, the ridge of each target chosen by its exact leave-one-out error.

    Parameters
    ----------
    features : array of shape (n, d)
        Latent rows.
    targets : array of shape (n, q)
        Values.
    weights : array of shape (n,), optional
        What the squared error of each row is multiplied by, > 0; a row is left out whole, whatever it weighs.

    Returns
    -------
    coef : array of shape (d, q)
    intercept : array of shape (q,)
    """
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
    design: NDArray,
    y: NDArray,
    code: int,
    theta: NDArray,
    weights: NDArray,
    ridge: NDArray,
    offset: NDArray,
    max_steps: int,
) -> NDArray:
    """Newton's method with curvatures loss'' + mu, weighted.

    mu grows tenfold when Armijo's condition fails and shrinks a hundredfold after a success.  At mu = max loss'' the
    step minimises a parabola above the objective, hence descends.
    """

    def expand(theta: NDArray) -> tuple[float, NDArray, NDArray]:
        total, first, second = loss_expansion(code, y, design @ theta + offset, weights)
        return total + 0.5 * float(ridge @ theta**2), first, second

    value, first, second = expand(theta)
    mu, accepted = SMALLEST_SHIFT, 0
    while accepted < max_steps:
        gradient = first @ design + ridge * theta
        system = (design.T * (second + mu * weights)) @ design
        system.flat[:: len(theta) + 1] += ridge
        step = solve_positive(system, gradient[:, None])[:, 0]
        decrement = float(gradient @ step)
        if not decrement > NEGLIGIBLE * abs(value):
            break
        trial = theta - step
        trial_value, trial_first, trial_second = expand(trial)
        if trial_value <= value - ARMIJO * decrement:
            theta, value, first, second = trial, trial_value, trial_first, trial_second
            mu, accepted = max(mu * 0.01, SMALLEST_SHIFT), accepted + 1
        elif mu < LARGEST_CURVATURE[code]:
            mu = min(mu * 10.0, LARGEST_CURVATURE[code])
        else:
            break  # only rounding is left
    return theta


def _hinge_head(design: NDArray, y: NDArray, theta: NDArray, weights: NDArray, reg: float, offset: NDArray) -> NDArray:
    """Minimise weights'max(0, 1 - y (design theta + offset)) + reg |w|^2; theta = [w, b] is kept if it is as good.

    Mehrotra's predictor-corrector on 1/2 |w|^2 + C'xi, C = weights / (2 reg), subject to
    s = y (design theta + offset) - 1 + xi >= 0 and xi >= 0, with multipliers alpha and t = C - alpha.
    """

    def objective(theta: NDArray) -> float:
        hinge = np.maximum(1.0 - y * (design @ theta + offset), 0.0)
        return float(weights @ hinge) + reg * float(theta[:-1] @ theta[:-1])

    n, size = design.shape
    C = weights / (2.0 * reg)
    largest = float(C.max())
    ridge = np.ones(size)
    ridge[-1] = 0.0
    signed = design * y[:, None]  # rows y_i [u_i, 1]
    point = np.zeros(size)
    slack = y * offset - 1.0
    alpha, t = 0.5 * C, 0.5 * C
    s, xi = np.maximum(slack, 0.0) + 1.0, np.maximum(-slack, 0.0) + 1.0
    for _ in range(HINGE_STEPS):
        checkpoint()
        dual_residual = ridge * point - alpha @ signed  # (d+1,)
        primal_residual = signed @ point + slack + xi - s  # (n,)
        mu = float(alpha @ s + t @ xi) / (2 * n)
        small = GAP * (1.0 + 0.5 * float(ridge @ point**2) + float(C @ xi))
        if (
            mu * n <= small
            and abs(primal_residual).max() <= 1e-9
            and abs(dual_residual).max() <= 1e-9 * (1.0 + largest)
        ):
            break
        inverse = 1.0 / (xi / t + s / alpha)
        system = (signed.T * inverse) @ signed
        system.flat[:: size + 1] += ridge
        c_s, c_t = -alpha * s, -t * xi  # predictor: aim at complementarity 0
        for corrector in (False, True):
            # Linearised: alpha ds + s dalpha = c_s and t dxi - xi dalpha = c_t, both residuals to 0.
            q = c_s / alpha - c_t / t - primal_residual
            d_point = solve_positive(system, ((q * inverse) @ signed - dual_residual)[:, None])[:, 0]
            d_alpha = inverse * (q - signed @ d_point)
            d_s, d_xi = (c_s - s * d_alpha) / alpha, (c_t + xi * d_alpha) / t
            length = _longest(alpha, d_alpha, t, -d_alpha, s, d_s, xi, d_xi)
            if not corrector:
                ahead = (alpha + length * d_alpha) @ (s + length * d_s) + (t - length * d_alpha) @ (xi + length * d_xi)
                centring = mu * (float(ahead) / (2 * n * mu)) ** 3
                c_s, c_t = c_s + centring - d_alpha * d_s, c_t + centring + d_alpha * d_xi
        length = min(1.0, FRACTION_TO_BOUNDARY * length)
        point = point + length * d_point
        alpha, t = alpha + length * d_alpha, t - length * d_alpha
        s, xi = s + length * d_s, xi + length * d_xi
    return point if objective(point) < objective(theta) else theta


def _longest(*pairs: NDArray) -> float:
    """Return the largest step in (0, 1] that keeps every value + step * change nonnegative."""
    length = 1.0
    for value, change in zip(pairs[::2], pairs[1::2]):
        ratio = float((change / value).min())
        if ratio < -1.0 / length:
            length = -1.0 / ratio
    return length
