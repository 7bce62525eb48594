"""Latent rows of new data: every row maximises its own part of J without the target's, by damped Newton steps."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from supdr.engine.sparse_rows import dense, has_missing
from supdr.functions.families import BERNOULLI, GAMMA, GAUSSIAN, NEGATIVE_BINOMIAL, POISSON, curvatures
from supdr.methods.sdr_glm.features import WeightedFeatures, times
from supdr.solvers.low_rank import blocks_of, row_blocks
from supdr.solvers.nonnegative import climb_bounded
from supdr.solvers.positive_definite import solve_in_place, solve_positive

# Far above what is needed: from a parameter that is too large the steps of a count lead down by 1 at least.
NEWTON_STEPS = 200

# A Newton step that promises less than this share of the likelihood is the last one: its error is that squared.
SETTLED = 1e-12

# Added to a row's curvatures, as a share of the largest: with large counts the ridge is lost beside their rounding.
ROUNDING = 1e-13

ARMIJO = 1e-4
# Steps are halved down to this: the first one of a count may be too long by a factor of its mean.
SHORTEST = 2.0**-60


def embed(
    features: WeightedFeatures,
    loadings: NDArray,
    weight: float,
    reg_u: float,
    nonnegative: bool = False,
    max_steps: int = NEWTON_STEPS,
) -> NDArray:
    """Maximise lam l(x; u V + b_x) - reg_u / 2 |u|^2 over every row's u (n, L): unique, whatever the other rows are.

    A row without cells gets u = 0.  Warns ConvergenceWarning if rows did not get there.
    """
    X, n_components = features.X, len(loadings) - 1
    latent = np.zeros((len(X), n_components))
    if (features.codes == GAUSSIAN).all() and not (nonnegative or has_missing(X)):
        strength = 2.0 * features.c * weight
        turned = np.ascontiguousarray(times(loadings, features.weights).T)
        gram = loadings @ turned
        system = strength * gram[:-1, :-1] + reg_u * np.eye(n_components)
        for rows in blocks_of(X):
            cross = X[rows] @ turned[:, :-1] - gram[-1, :-1]
            latent[rows] = solve_positive(system, strength * cross.T).T
        return latent
    loadings = np.ascontiguousarray(loadings)
    column_weight = np.ones(X.shape[1]) if features.weights is None else features.weights
    ridge, unsettled = reg_u / weight, 0
    for rows in row_blocks(X.shape):
        unsettled += _climb(
            features.codes,
            column_weight,
            dense(X[rows]),
            loadings,
            features.c,
            features.size,
            ridge,
            n_components if nonnegative else 0,
            max_steps,
            latent[rows],
        )
    if unsettled:
        warnings.warn(
            f"the latent coordinates of {unsettled} of {len(X)} rows are not exact after {max_steps} Newton steps",
            ConvergenceWarning,
            stacklevel=2,
        )
    return latent


def embed_derivative(
    features: WeightedFeatures, loadings: NDArray, weight: float, reg_u: float, nonnegative: bool, latent: NDArray
) -> NDArray:
    """Return du / dx (n, L, D) of new rows at their `latent` (n, L) of `embed`; 0 where a cell is missing.

    The gradient at u is 0 whatever x is: with weights m of the columns, a = - d2l / dtheta2 and h = d2l / dtheta ds, s
    the cell, (lam V diag(m a) V' + reg_u I) du/dx = lam V diag(m h); under u >= 0 coordinates at 0 stay there.
    """
    X, codes, theta = features.X, features.codes, latent @ loadings[:-1] + loadings[-1]
    scale = weight if features.weights is None else weight * features.weights
    curvature = scale * curvatures(codes, X, theta, features.c, features.size)
    mixed = np.where(np.isnan(X), 0.0, scale * _mixed_derivatives(codes, theta, features.c))
    derivative = np.empty((*latent.shape, theta.shape[1]))
    for row, (a, h) in enumerate(zip(curvature, mixed)):
        free = latent[row] > 0.0 if nonnegative else np.ones(latent.shape[1], dtype=bool)
        V = loadings[:-1][free]
        derivative[row] = 0.0
        derivative[row, free] = solve_positive((V * a) @ V.T + reg_u * np.eye(len(V)), V * h)
    return derivative


def _mixed_derivatives(codes: NDArray, theta: NDArray, c: float) -> NDArray:
    """Return h = d2l / dtheta ds of every cell (n, D)."""
    mixed = np.where(codes == GAUSSIAN, 2.0 * c, np.ones_like(theta))
    gamma, counts = codes == GAMMA, codes == NEGATIVE_BINOMIAL
    mixed[:, gamma] = np.exp(-theta[:, gamma])
    mixed[:, counts] = expit(-theta[:, counts])
    return mixed


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(codes, column_weight, X, loadings, c, count_size, ridge, n_bounded, most_steps, latent):  # noqa: ANN001
    """Write the u that maximises l(x; u V + b_x) - ridge / 2 |u|^2 into every row of latent (n, L), which is 0.

    The first `n_bounded` entries of u stay >= 0.
    Returns the number of rows that need more than `most_steps` Newton steps.  O(D L^2) a row and step.
    """
    n_components, n_columns = loadings.shape[0] - 1, loadings.shape[1]
    first, second = np.empty(n_columns), np.empty(n_columns)
    theta, slope = np.empty(n_columns), np.empty(n_columns)
    system, step = np.empty((n_components, n_components)), np.empty(n_components)
    gradient, pulled = np.empty(n_components), np.empty(n_components)
    unsettled = 0
    for i in range(X.shape[0]):
        x, u = X[i], latent[i]
        for j in range(n_columns):
            theta[j] = loadings[n_components, j]  # theta[:] = ... takes four seconds to compile
        slope[:] = 0.0
        value, size = _likelihood(codes, column_weight, x, theta, slope, 0.0, c, count_size)
        settled = False
        for _ in range(most_steps):
            _derivatives(codes, column_weight, x, theta, c, count_size, first, second)
            largest = 0.0
            for left in range(n_components):
                step[left] = _dot(first, loadings[left]) - ridge * u[left]
                for right in range(left + 1):
                    system[left, right] = _weighted_dot(second, loadings[left], loadings[right])
                largest = max(largest, system[left, left])
            for left in range(n_components):
                system[left, left] += ridge + ROUNDING * largest
            for k in range(n_components):
                gradient[k] = step[k]
            if n_bounded:
                _bounded_step(system, u, n_bounded, step, pulled)
            else:
                solve_in_place(system, step, n_components)
            promise = _dot(gradient, step)
            slope[:] = 0.0
            for left in range(n_components):
                _add(slope, step[left], loadings[left])
            settled = promise <= SETTLED * (size + 0.5 * ridge * _dot(u, u))
            length = 1.0
            while not settled:
                trial_value, size = _likelihood(codes, column_weight, x, theta, slope, length, c, count_size)
                trial_value -= 0.5 * ridge * (_dot(u, u) + length * (2.0 * _dot(u, step) + length * _dot(step, step)))
                if trial_value >= value + ARMIJO * length * promise:
                    value = trial_value
                    break
                length *= 0.5
                if length < SHORTEST:
                    length = 0.0
                    settled = True  # only rounding is left
            _add(u, length, step)
            for k in range(n_bounded):
                u[k] = max(u[k], 0.0)  # of rounding
            _add(theta, length, slope)
            if settled:
                break
        unsettled += not settled
    return unsettled


@njit(cache=True, nogil=True)
def _bounded_step(system, u, n_bounded, step, pulled):  # noqa: ANN001
    """Overwrite step, the gradient at u, by the Newton step to the best point whose first entries are >= 0.

    All are of size L; the upper triangle of the system is filled, and pulled overwritten.
    """
    for left in range(len(u)):
        for right in range(left):
            system[right, left] = system[left, right]
    for left in range(len(u)):
        pulled[left] = step[left] + _dot(system[left], u)
    for k in range(len(u)):
        step[k] = u[k]
    climb_bounded(system, pulled, n_bounded, step)
    _add(step, -1.0, u)


@njit(cache=True, nogil=True, error_model="numpy")
def _likelihood(codes, column_weight, x, theta, slope, length, c, count_size):  # noqa: ANN001
    """Return the log-likelihood of a row at theta + length slope, and the size of what was added up."""
    total, size = 0.0, 0.0
    for j in range(x.shape[0]):
        s = x[j]
        if s != s:
            continue
        t = theta[j] + length * slope[j]
        if codes[j] == GAUSSIAN:
            total -= column_weight[j] * c * (s - t) * (s - t)
            size += column_weight[j] * c * (s * s + t * t)
        elif codes[j] == GAMMA:
            share = s * math.exp(-t)
            total -= column_weight[j] * (t + share)
            size += column_weight[j] * (abs(t) + share)
        else:
            if codes[j] == POISSON:
                normaliser = math.exp(t)
            else:
                trials = 1.0 if codes[j] == BERNOULLI else s + count_size
                normaliser = trials * (max(t, 0.0) + math.log1p(math.exp(-abs(t))))
            total += column_weight[j] * (s * t - normaliser)
            size += column_weight[j] * (abs(s * t) + normaliser)
    return total, size


@njit(cache=True, nogil=True, error_model="numpy")
def _derivatives(codes, column_weight, x, theta, c, count_size, first, second):  # noqa: ANN001
    """Write dl / dtheta into first and - d2l / dtheta2 into second, both (D,); 0 where a cell is missing."""
    for j in range(x.shape[0]):
        s, t = x[j], theta[j]
        if s != s:
            first[j] = 0.0
            second[j] = 0.0
        elif codes[j] == GAUSSIAN:
            first[j] = 2.0 * c * (s - t)
            second[j] = 2.0 * c
        elif codes[j] == BERNOULLI or codes[j] == NEGATIVE_BINOMIAL:
            small, trials = math.exp(-abs(t)), 1.0 if codes[j] == BERNOULLI else s + count_size
            first[j] = s - trials * (1.0 if t >= 0.0 else small) / (1.0 + small)
            second[j] = trials * small / ((1.0 + small) * (1.0 + small))
        elif codes[j] == GAMMA:
            second[j] = s * math.exp(-t)
            first[j] = second[j] - 1.0
        else:
            mean = math.exp(t)
            first[j] = s - mean
            second[j] = mean
        first[j] *= column_weight[j]
        second[j] *= column_weight[j]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _dot(a, b):  # noqa: ANN001
    """Return the sum of a b."""
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _weighted_dot(weights, a, b):  # noqa: ANN001
    """Return the sum of weights a b."""
    total = 0.0
    for j in range(a.shape[0]):
        total += weights[j] * a[j] * b[j]
    return total


@njit(cache=True, nogil=True)
def _add(a, factor, b):  # noqa: ANN001
    """Add factor b to a in place."""
    for j in range(a.shape[0]):
        a[j] += factor * b[j]
