"""The predictor of SDR-GLM's targets, fitted again on latent rows as new data have them.

A training row is embedded by loadings from which it was left out, tenth by tenth: loadings that were made with a row
remember its label, and the fewer rows there are for the columns, the better.  A predictor fitted on what they make of
it would be too sure of itself.  How strongly the predictor is shrunk is chosen by rows left out once more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import PoissonRegressor

from supdr.engine.interruption import checkpoint
from supdr.engine.sparse_rows import SparseRows, dense, has_missing
from supdr.functions.families import BERNOULLI, GAUSSIAN, SMALLEST_MEAN, curvatures, residuals
from supdr.methods.sdr_glm.features import ColumnSums
from supdr.methods.sdr_glm.prediction import embed
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers.linear_heads import loo_ridge
from supdr.solvers.low_rank import augmented, row_blocks
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.softmax_head import loo_softmax

N_FOLDS = 10
# For counts divided by their mean.
COUNT_RIDGES = np.logspace(4, -4, 17)


def left_out_latent(problem: SDRGLMProblem, latent: NDArray, loadings: NDArray, rows: NDArray) -> NDArray:
    """Return latent rows (n, L) of training `rows` by loadings made without them and their tenth of `rows`."""
    left_out = np.empty((len(rows), latent.shape[1]))
    for fold in range(min(N_FOLDS, len(rows))):
        chosen = slice(fold, None, N_FOLDS)
        others = np.delete(np.arange(len(latent)), rows[chosen])
        without = _loadings(problem, latent, loadings, others)
        new = replace(problem.weighted_features, X=problem.X[rows[chosen]])
        left_out[chosen] = embed(new, without, problem.weight, problem.reg_u, problem.nonnegative)
    return left_out


def _loadings(problem: SDRGLMProblem, latent: NDArray, loadings: NDArray, rows: NDArray) -> NDArray:
    """Return [V; b_x] made of `rows` alone, by one Newton step from `loadings`: exact for Gaussian columns."""
    X, codes, c = problem.X, problem.codes, problem.c
    gaussian = (codes == GAUSSIAN).all() and not (problem.nonnegative or has_missing(X))
    whole = gaussian and isinstance(X, SparseRows)
    blocks = [rows] if whole else [rows[block] for block in row_blocks((len(rows), X.shape[1]))]
    if gaussian:
        wide = augmented(latent)
        strength = 2.0 * c * problem.weight
        system = strength * (wide[rows].T @ wide[rows]) + problem.reg_v * np.eye(wide.shape[1])
        pulled = np.zeros((wide.shape[1], X.shape[1]))
        for block in blocks:
            checkpoint()
            pulled += wide[block].T @ X[block]
        return solve_positive(system, strength * pulled)
    sums = ColumnSums(X.shape[1], len(loadings))
    for block in blocks:
        checkpoint()
        theta = augmented(latent[block]) @ loadings
        cells = dense(X[block])
        curvature = curvatures(codes, cells, theta, c, problem.size)
        sums.add(curvature, curvature * theta + residuals(codes, cells, theta, c, problem.size), latent[block])
    return problem.solve_columns(sums, loadings)


def fit_head(features: NDArray, targets: TargetSide) -> tuple[NDArray, NDArray]:
    """Return coef (L, K) and intercept (K,) of the GLM of Y on latent rows, each ridge chosen by left-out rows."""
    # One scale for all columns: the labels made the large ones.
    scale = float(np.sqrt((features.var(axis=0)).sum())) / np.sqrt(features.shape[1]) or 1.0
    features = features / scale
    if targets.codes is None:
        coef, intercept = _softmax(features, targets.Y.argmax(axis=1), targets.weights, targets.Y.shape[1])
        return coef / scale, intercept
    weights = np.ones(len(features)) if targets.weights is None else targets.weights
    coef, intercept = np.zeros((features.shape[1], targets.Y.shape[1])), np.zeros(targets.Y.shape[1])
    for k, code in enumerate(targets.codes):
        observed = ~np.isnan(targets.Y[:, k])
        rows, values = features[observed], targets.Y[observed, k]
        fit = _fit_bits if code == BERNOULLI else _fit_numbers if code == GAUSSIAN else _fit_counts
        coef[:, k], intercept[k] = fit(rows, values, weights[observed])
    return coef / scale, intercept


def _softmax(features: NDArray, codes: NDArray, weights: NDArray | None, n_classes: int) -> tuple[NDArray, NDArray]:
    """Return the scores of all classes: two of them share one, half each."""
    coef, intercept = loo_softmax(features, codes, weights)
    if n_classes > 2:
        return coef, intercept
    return 0.5 * np.concatenate([-coef, coef], axis=1), 0.5 * np.concatenate([-intercept, intercept])


def _fit_bits(features: NDArray, values: NDArray, weights: NDArray) -> tuple[NDArray, float]:
    share = (weights @ values + 0.5) / (weights.sum() + 1.0)
    if values.min() == values.max():
        return np.zeros(features.shape[1]), float(np.log(share / (1.0 - share)))
    coef, intercept = loo_softmax(features, values.astype(np.int64), weights)
    return coef[:, 0], float(intercept[0])


def _fit_numbers(features: NDArray, values: NDArray, weights: NDArray) -> tuple[NDArray, float]:
    coef, intercept = loo_ridge(features, values[:, None], weights)
    return coef[:, 0], float(intercept[0])


def _fit_counts(features: NDArray, values: NDArray, weights: NDArray) -> tuple[NDArray, float]:
    """Fit logarithms of means from strong ridges to weak ones, as long as left-out rows gain by it.

    As in `supdr.solvers.softmax_head`: a row's parameter t without it is about t + h (m - y) / (1 - h m), m = e^t.
    """
    size = np.average(values, weights=weights)
    coef, intercept = np.zeros(features.shape[1]), 0.0
    if values.min() < values.max():
        values, best = values / size, float(weights.sum())  # of the mean alone
        design = augmented(features)
        model = PoissonRegressor(solver="newton-cholesky", warm_start=True, max_iter=300, tol=1e-6)
        for ridge in COUNT_RIDGES:
            checkpoint()
            model.set_params(alpha=ridge / weights.sum()).fit(features, values, sample_weight=weights)
            theta = features @ model.coef_ + model.intercept_
            mean = np.exp(theta)
            curvature = weights * mean
            hessian = (design.T * curvature) @ design
            hessian[np.diag_indices(features.shape[1])] += ridge
            reach = (solve_positive(hessian, np.ascontiguousarray(design.T)).T * design).sum(axis=1)
            theta = theta + reach * weights * (mean - values) / np.maximum(1.0 - reach * curvature, 1e-9)
            with np.errstate(over="ignore"):
                loss = float(weights @ (np.exp(theta) - values * theta))
            if not loss < best:
                break
            best, coef, intercept = loss, model.coef_.copy(), float(model.intercept_)
    return coef, intercept + float(np.log(size + SMALLEST_MEAN))
