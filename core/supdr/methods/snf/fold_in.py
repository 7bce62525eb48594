"""Latent rows of new data under fixed regressions: many small nonlinear least squares problems at once.

    z = argmin |x - f(z)|^2 + reg_z |z|^2       f: the reconstruction, x: the observed cells of one row

by damped Gauss-Newton (Levenberg-Marquardt) from the latent rows of the nearest training rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.reuse import reused
from supdr.solvers.kernel_ridge import Dual, Fit, Primal, blocks, explicit
from supdr.solvers.reconstruction import split_missing

# Training rows from which each new row starts; the best end wins.
N_STARTS = 3

MAX_STEPS = 100
SMALLEST_STEP = 1e-11
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e12


def fold_in(
    form: Primal | Dual,
    fit: Fit,
    anchors: NDArray,
    X: NDArray,
    starts: NDArray,
    reg_z: float,
    observed: NDArray | None = None,
) -> NDArray:
    """Return latent rows (p, D) of new rows X (p, M), the lowest ends of their `starts` (p, S, D), labels unseen."""
    kernel = form.kernel if isinstance(form, Dual) else tuple(form.features)
    return reused(
        "SNF fold-in",
        lambda: (type(form).__name__, kernel, form.reg, tuple(fit), anchors, X, starts, reg_z, observed),
        lambda: _folded_in(form, fit, anchors, X, starts, reg_z, observed),
    )


def _folded_in(
    form: Primal | Dual,
    fit: Fit,
    anchors: NDArray,
    X: NDArray,
    starts: NDArray,
    reg_z: float,
    observed: NDArray | None,
) -> NDArray:
    n_rows, n_starts, d = starts.shape
    latent = np.empty((n_rows, d))
    if observed is None:
        fit, X = _turned(fit, X)
    form, fit = explicit(form, fit, anchors)
    if observed is None:
        fit, X = _turned(fit, X)
    slopes = d * len(anchors) if isinstance(form, Dual) else len(form.features.feature)
    for rows in blocks(n_rows, 2.0 * n_starts * X.shape[1] * (slopes + d * d)):  # of one step
        repeated = np.repeat(X[rows], n_starts, axis=0)
        mask = None if observed is None else np.repeat(observed[rows], n_starts, axis=0)
        ends, costs = _descend(form, fit, anchors, repeated, starts[rows].reshape(-1, d), reg_z, mask)
        best = costs.reshape(-1, n_starts).argmin(axis=1)
        latent[rows] = ends.reshape(-1, n_starts, d)[np.arange(len(best)), best]
    return latent


def _turned(fit: Fit, X: NDArray) -> tuple[Fit, NDArray]:
    """Return regression and rows in coordinates of the span of the weights, if that has fewer dimensions than columns.

    What lies outside of it is out of reach: it adds a constant to every cost.
    """
    if len(fit.coef) >= X.shape[1]:
        return fit, X
    basis, coef = np.linalg.qr(fit.coef.T)
    return fit._replace(coef=coef.T, bias=np.zeros(len(coef))), (X - fit.bias) @ basis


def nearest_rows(X: NDArray, training: NDArray, count: int, observed: NDArray | None = None) -> NDArray:
    """Return the indices (p, count) of the training rows nearest to each row of X (p, M), over its observed cells."""
    count = min(count, len(training))
    if count == len(training):
        return np.tile(np.arange(count), (len(X), 1))
    centre = training.mean(axis=0)  # distances do not change, cancellation shrinks
    X, training = X - centre, training - centre
    squares = training**2
    nearest = np.empty((len(X), count), dtype=np.intp)
    for rows in blocks(len(X), 4.0 * training.size):
        if observed is None:
            distances = squares.sum(axis=1) - 2.0 * X[rows] @ training.T
        else:
            distances = observed[rows] @ squares.T - 2.0 * (observed[rows] * X[rows]) @ training.T
        nearest[rows] = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return nearest


def _descend(
    form: Primal | Dual, fit: Fit, anchors: NDArray, X: NDArray, Z: NDArray, reg_z: float, observed: NDArray | None
) -> tuple[NDArray, NDArray]:
    """Return the ends (p, D) and costs (p,) of damped Gauss-Newton from `Z`; every row has a damping of its own."""

    def residuals(Z: NDArray, rows: NDArray) -> tuple[NDArray, NDArray]:
        residual = X[rows] - form.predict(fit, anchors, Z)  # (p, M)
        if observed is not None:
            residual *= observed[rows]
        return residual, (residual**2).sum(axis=1) + reg_z * (Z**2).sum(axis=1)

    Z = Z.copy()
    active = np.arange(len(Z))
    residual, cost = residuals(Z, active)
    damping = np.full(len(Z), FIRST_DAMPING)
    identity = np.eye(Z.shape[1])
    for _ in range(MAX_STEPS):
        checkpoint()
        slopes = form.jacobian(fit, anchors, Z[active])  # (p, D, M)
        if observed is not None:
            slopes *= observed[active][:, None, :]
        system = slopes @ slopes.transpose(0, 2, 1) + reg_z * identity  # (p, D, D)
        scale = np.trace(system, axis1=1, axis2=2)[:, None, None] / len(identity)
        down = (slopes @ residual[active][:, :, None])[:, :, 0] - reg_z * Z[active]  # (p, D)
        step = np.linalg.solve(system + damping[active][:, None, None] * scale * identity, down[:, :, None])[:, :, 0]
        trial_residual, trial_cost = residuals(Z[active] + step, active)
        better = trial_cost < cost[active]
        moved = active[better]
        Z[moved] += step[better]
        residual[moved], cost[moved] = trial_residual[better], trial_cost[better]
        damping[active] = np.clip(damping[active] * np.where(better, 0.1, 10.0), LEAST_DAMPING, MOST_DAMPING)
        size = np.abs(step).max(axis=1)
        going = (size > SMALLEST_STEP * (1.0 + np.abs(Z[active]).max(axis=1))) & (damping[active] < MOST_DAMPING)
        active = active[going]
        if not len(active):
            break
    return Z, cost


def embedded(form: Primal | Dual, fit: Fit, anchors: NDArray, training: NDArray, reg_z: float, X: NDArray) -> NDArray:
    """Return the latent rows (p, D) of new rows X (p, M), from the starts that the nearest training rows give."""
    filled, observed = split_missing(X)
    nearest = nearest_rows(filled, training, N_STARTS, observed)
    return fold_in(form, fit, anchors, filled, anchors[nearest], reg_z, observed)


def fold_in_derivative(
    form: Primal | Dual, fit: Fit, anchors: NDArray, reg_z: float, X: NDArray, latent: NDArray
) -> NDArray:
    """Return dz / dx (p, D, M), how latent rows of new data move with the columns; 0 where a cell is missing.

    The gradient reg_z z - J e, with J = df/dz (D, M) and e = x - f(z), is 0 whatever x is, so that over observed cells
    (J J' + reg_z I - sum_m e_m d2f_m / dz2) dz/dx = J.
    """
    filled, observed = split_missing(X)
    weights = np.ones_like(filled) if observed is None else observed
    form, fit = explicit(form, fit, anchors)
    slopes = form.jacobian(fit, anchors, latent) * weights[:, None, :]
    residual = (filled - form.predict(fit, anchors, latent)) * weights
    bent = form.hessian(fit, anchors, latent, residual)
    system = slopes @ slopes.transpose(0, 2, 1) + reg_z * np.eye(latent.shape[1]) - bent
    return np.linalg.solve(system, slopes)
