"""What SDR-GLM needs after a fit: latent rows of new data, and the predictor refitted on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.functions.families import GAUSSIAN, POISSON
from supdr.methods.sdr_glm.features import WeightedFeatures
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step
from supdr.solvers.linear_heads import column_spread
from supdr.solvers.low_rank import augmented, row_blocks, solve_systems
from supdr.solvers.positive_definite import solve_positive

EMBEDDING_STEPS, EMBEDDING_TOL = 200, 1e-7
HEAD_RIDGE, BIAS_RIDGE = 1.0, 1e-6
HEAD_STEPS, HEAD_TOL = 300, 1e-10

SMALLEST_MEAN = 1e-9
"""Added to the mean of a column of counts before its logarithm is taken: all may be 0."""


def embed(features: WeightedFeatures, loadings: NDArray, weight: float, reg_u: float) -> NDArray:
    """Maximise lam l(x; u V + b_x) - reg_u / 2 |u|^2 over every row's u: unique, whatever the other rows are.

    Parameters
    ----------
    features : WeightedFeatures
        The rows; missing cells are left out, and a row without cells gets u = 0.
    loadings : array of shape (L + 1, D)
        [V; b_x].
    weight, reg_u : float
        lam and the ridge.

    Returns
    -------
    array of shape (n, L)
    """
    X, n_components = features.X, len(loadings) - 1
    latent = np.zeros((len(X), n_components))
    gaussian = bool((features.codes == GAUSSIAN).all())
    if gaussian and not np.isnan(X).any():
        strength = 2.0 * features.c * weight
        turned = np.ascontiguousarray(loadings.T)
        gram = loadings @ turned
        system = strength * gram[:-1, :-1] + reg_u * np.eye(n_components)
        for rows in row_blocks(X.shape):
            cross = X[rows] @ turned[:, :-1] - gram[-1, :-1]
            latent[rows] = solve_positive(system, strength * cross.T).T
        return latent
    factors = features.row_factors(loadings, weight)
    active = np.arange(len(X))
    for _ in range(1 if gaussian else EMBEDDING_STEPS):
        moving = []
        for part in row_blocks((len(active), X.shape[1])):
            chosen = active[part]
            before = latent[chosen]
            system, right = features.row_systems(*features.expand(chosen, before, loadings), factors, n_components)
            found = solve_systems(system, reg_u, right)
            share = 1.0 / np.maximum(1.0, features.row_shares(chosen, found - before, loadings))
            change = share[:, None] * (found - before)
            latent[chosen] = before + change
            size = 1.0 + np.abs(latent[chosen]).max(axis=1)
            moving.append(chosen[np.abs(change).max(axis=1) > EMBEDDING_TOL * size])
        active = np.concatenate(moving) if moving else active[:0]
        if not len(active):
            break
    return latent


def fit_head(features: NDArray, targets: TargetSide) -> tuple[NDArray, NDArray]:
    """Fit the GLM of Y on latent rows: columns scaled to unit deviation, ridge 1 on the weights.

    Parameters
    ----------
    features : array of shape (N, L)
        Latent rows.
    targets : TargetSide
        Rows without observed targets take no part.

    Returns
    -------
    coef : array of shape (L, K)
    intercept : array of shape (K,)
    """
    rows = targets.observed
    own = TargetSide(targets.Y[rows], targets.codes, targets.c, targets.bound)
    spread = column_spread(features[rows])
    wide = augmented(features[rows] / spread)
    ridge = np.full((wide.shape[1], 1), HEAD_RIDGE)
    ridge[-1] = BIAS_RIDGE
    shape = (wide.shape[1], own.Y.shape[1])

    def evaluate(point: NDArray) -> tuple[float, NDArray, None]:
        """Value and gradient at flattened heads."""
        head = point.reshape(shape)
        theta = wide @ head
        with np.errstate(over="ignore", invalid="ignore"):
            value = 0.5 * float((ridge * head**2).sum()) - own.value(theta)
            gradient = ridge * head - wide.T @ own.pull(theta)
        return value, gradient.ravel(), None

    head = np.zeros(shape)
    if own.codes is not None:
        counts = np.flatnonzero(own.codes == POISSON)
        head[-1, counts] = np.log(np.nanmean(own.Y[:, counts], axis=0) + SMALLEST_MEAN)
    search = lbfgs_start(head.ravel(), evaluate)
    enough = HEAD_TOL * max(1, len(wide))
    for _ in range(HEAD_STEPS):
        if np.abs(search.gradient).max(initial=0.0) <= enough:
            break
        checkpoint()
        search = lbfgs_step(search, evaluate)
        if search.step == 0.0:
            break
    found = search.point.reshape(shape)
    return found[:-1] / spread[:, None], found[-1]
