"""How the latent rows of new data move with the columns of SDR-GLM.

A row's u maximises lam l(x; u V + b_x) - reg_u / 2 |u|^2.  There its gradient is 0 whatever x is, so that

    (lam V diag(m a) V' + reg_u I) du/dx = lam V diag(m h),   a = - d2l / dtheta2,   h = d2l / dtheta ds

    family               a                               h
    gaussian             2 c                             2 c
    bernoulli            sigma(t) (1 - sigma(t))         1
    poisson              e^t                             1
    gamma                s e^-t                          e^-t
    negative_binomial    (s + r) sigma(t) (1 - sigma(t)) 1 - sigma(t)

m weight of a column   s its cell   t its natural parameter.  Under u >= 0 coordinates at 0 stay there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from supdr.functions.families import BERNOULLI, GAMMA, GAUSSIAN, NEGATIVE_BINOMIAL, POISSON
from supdr.methods.sdr_glm.features import WeightedFeatures
from supdr.solvers.positive_definite import solve_positive


def embed_derivative(
    features: WeightedFeatures, loadings: NDArray, weight: float, reg_u: float, nonnegative: bool, latent: NDArray
) -> NDArray:
    """Return du / dx (n, L, D); 0 where a cell is missing.

    `latent` (n, L): what `embed` returns for the other arguments.
    """
    theta = latent @ loadings[:-1] + loadings[-1]
    curvature, mixed = _second_derivatives(features, theta)
    scale = weight if features.weights is None else weight * features.weights
    seen = np.where(np.isnan(features.X), 0.0, scale)
    derivative = np.empty((*latent.shape, theta.shape[1]))
    for row, (a, h) in enumerate(zip(seen * curvature, seen * mixed)):
        free = latent[row] > 0.0 if nonnegative else np.ones(latent.shape[1], dtype=bool)
        V = loadings[:-1][free]
        derivative[row] = 0.0
        derivative[row, free] = solve_positive((V * a) @ V.T + reg_u * np.eye(len(V)), V * h)
    return derivative


def _second_derivatives(features: WeightedFeatures, theta: NDArray) -> tuple[NDArray, NDArray]:
    """Return a and h of every cell (n, D), any finite numbers where a cell is missing."""
    s = np.where(np.isnan(features.X), 1.0, features.X)
    a, h = np.full(theta.shape, 2.0 * features.c), np.full(theta.shape, 2.0 * features.c)
    for code in set(features.codes.tolist()) - {GAUSSIAN}:
        columns = features.codes == code
        t, p = theta[:, columns], expit(theta[:, columns])
        trials = s[:, columns] + features.size if code == NEGATIVE_BINOMIAL else 1.0
        if code == GAMMA:
            a[:, columns], h[:, columns] = s[:, columns] * np.exp(-t), np.exp(-t)
        elif code == POISSON:
            a[:, columns], h[:, columns] = np.exp(t), 1.0
        else:
            a[:, columns], h[:, columns] = trials * p * (1.0 - p), 1.0 if code == BERNOULLI else 1.0 - p
    return a, h
