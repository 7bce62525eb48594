"""A linear softmax on latent rows whose ridge is chosen by approximate leave-one-out log loss.

    min over W (d, K), b (K,)     sum_i c_i (log sum_l exp(z_il) - z_iy)  +  ridge / 2 |W|²,      z_i = W'u_i + b

The log loss of a row that is left out is that of the scores after one Newton step away from the fit, class by class:

    z_ik + h_ik c_i (p_ik - y_ik) / (1 - h_ik c_i q_ik),    h_ik = ũ_i' (Ũ' diag(c q_k) Ũ + ridge D)^-1 ũ_i

with q = p (1 - p), ũ = [u, 1] and D = diag(1, .., 1, 0).  For two classes, one score, this is the usual approximation;
with more, the curvature between classes is left out.

Source: K. R. Rad, A. Maleki, "A scalable estimate of the out-of-sample prediction error via approximate leave-one-out
cross-validation" (2020).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from supdr.engine.interruption import checkpoint
from supdr.solvers.positive_definite import solve_positive

WEAKEST_RIDGE = 1e-3
SMALLEST_CURVATURE = 1e-9
# Largest entry of the mean loss's gradient: while ridges are compared, and at the end.
TOLERANCES = 1e-3, 1e-6


def loo_softmax(features: NDArray, codes: NDArray, weights: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Return coef (d, K) and intercept (K,) of the softmax, its ridge chosen by approximate leave-one-out log loss.

    Of two classes there is one score, that of the second against the first.  Ridges fall from n by a decade as long as
    it gets better: the stronger, the quicker to fit.
    """
    weights = np.ones(len(codes)) if weights is None else weights
    total = float(weights.sum())
    n_ridges = int(np.ceil(np.log10(max(total, 1.0) / WEAKEST_RIDGE))) + 1  # a decade apart: the loss is flat there
    n_classes = int(codes.max()) + 1
    head = np.zeros((features.shape[1] + 1, 1 if n_classes == 2 else n_classes))
    best, chosen = np.inf, total
    for ridge in np.geomspace(total, WEAKEST_RIDGE, n_ridges):
        checkpoint()
        head = fitted_head(features, codes, weights, head, ridge, TOLERANCES[0])
        error = float(weights @ left_out_losses(features, codes, weights, head[:-1].T, head[-1], ridge))
        if not error < best:
            break
        best, chosen = error, ridge
    head = fitted_head(features, codes, weights, head, chosen, TOLERANCES[1])
    return head[:-1], head[-1]


def fitted_head(
    features: NDArray, codes: NDArray, weights: NDArray, start: NDArray, ridge: float, tolerance: float
) -> NDArray:
    """Minimise the log loss with one ridge by L-BFGS, from `start` (d + 1, K) on, intercepts in its last row.

    scikit-learn's logistic regression does the same; its checks take most of the time on small data.
    """
    design = np.column_stack([features, np.ones(len(features))])
    shares = weights / weights.sum()
    penalty, single = ridge / weights.sum(), start.shape[1] == 1
    own = codes - 1 if single else codes

    def loss(flat: NDArray) -> tuple[float, NDArray]:
        """Return the penalised mean loss and its gradient."""
        checkpoint()
        head = flat.reshape(start.shape)
        rests = design @ head
        value = _log_loss(rests, own, shares)
        slope = design.T @ rests
        slope[:-1] += penalty * head[:-1]
        return float(value + 0.5 * penalty * (head[:-1] ** 2).sum()), slope.ravel()

    options = {"maxiter": 1000, "maxls": 50, "gtol": tolerance, "ftol": 64.0 * np.finfo(float).eps}
    return minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(start.shape)


@njit(cache=True, nogil=True, error_model="numpy")
def _log_loss(scores: NDArray, own: NDArray, shares: NDArray) -> float:
    """Return the log loss of scores (n, K), rows counting by `shares` (n,), and write its slopes over the scores.

    own (n,) is the column of the own class.  A single column is that of the second of two classes, against a score of
    0 of the first, which is number -1.
    """
    n, n_columns = scores.shape
    value = 0.0
    for i in range(n):
        top = scores[i, 0]
        for k in range(1, n_columns):
            top = max(top, scores[i, k])
        baseline = 0.0
        if n_columns == 1:
            top = max(top, 0.0)
            baseline = math.exp(-top)
        mine = scores[i, own[i]] if own[i] >= 0 else 0.0
        total = baseline
        for k in range(n_columns):
            scores[i, k] = math.exp(scores[i, k] - top)
            total += scores[i, k]
        value += shares[i] * (math.log(total) + top - mine)
        for k in range(n_columns):
            scores[i, k] *= shares[i] / total
        if own[i] >= 0:
            scores[i, own[i]] -= shares[i]
    return value


def left_out_losses(
    features: NDArray, codes: NDArray, weights: NDArray, coef: NDArray, intercept: NDArray, ridge: float
) -> NDArray:
    """Approximate the log loss (n,) of every row as if it had been left out of the fit at this ridge."""
    design = np.column_stack([features, np.ones(len(features))])
    scores = features @ coef.T + intercept
    single = scores.shape[1] == 1
    own = codes[:, None] == (1 if single else np.arange(scores.shape[1]))
    share = expit(scores) if single else softmax(scores, axis=1)
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = SMALLEST_CURVATURE  # where a class is sure of every row the intercept has no curvature
    for k in range(scores.shape[1]):
        curvature = weights * share[:, k] * (1.0 - share[:, k])
        hessian = (design.T * curvature) @ design + np.diag(penalty)
        reach = ((design @ solve_positive(hessian, np.eye(len(hessian)))) * design).sum(axis=1)
        scores[:, k] += reach * weights * (share[:, k] - own[:, k]) / np.maximum(1.0 - reach * curvature, 1e-9)
    if single:
        return np.logaddexp(0.0, np.where(own, -scores, scores))[:, 0]
    return -log_softmax(scores, axis=1)[np.arange(len(codes)), codes]
