"""Where matrix factorisations start: PCA, given latent rows, or random factors; see `supdr.solvers.reconstruction`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.sparse_rows import SparseRows
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.low_rank import SMALL_SIDE, leading_triplets
from supdr.solvers.reconstruction import loading_sums, solve_loadings

# Data whose covariance is the identity up to this have no leading direction.
WHITE = 1e-6


def pca_start(X: Any, n_components: int, rows: Any = None) -> Any:
    """Return U = sqrt(N) times the first left singular vectors of the centred X: unit variance, signs fixed.

    Whitened data have no leading direction: their first columns are taken, which come from the directions of largest
    variance.  Of rows in partitions the vectors are those of a triangle R with R'R = X'X.
    """
    if isinstance(X, SparseRows):
        return _sparse_start(X, n_components)
    whole = rows is None
    rows = InMemoryRows(len(X)) if whole else rows
    n_rows, mean = rows.n_rows, rows.total(np.sum, X, 0) / rows.n_rows
    m = len(mean)
    if m <= n_rows and np.abs(rows.total(_centred_gram, X, mean) / n_rows - np.eye(m)).max() < WHITE:
        return rows.each(_first_columns, X, mean, n_components)
    if whole:
        left, _, right = np.linalg.svd(X - mean, full_matrices=False)
        return np.ascontiguousarray((left * (np.sqrt(n_rows) * _signs(right)))[:, :n_components])
    triangle = rows.total(_triangle, X, mean, add=joined_triangles)
    _, singular, right = np.linalg.svd(triangle, full_matrices=False)
    scale = np.sqrt(n_rows) * _signs(right) / np.maximum(singular, np.finfo(float).eps * m * singular[0])
    return rows.each(_along, X, mean, np.ascontiguousarray((right.T * scale)[:, :n_components]))


def _sparse_start(X: SparseRows, n_components: int) -> NDArray:
    """Return the same of sparse rows; of many columns that are not whitened a covariance is not formed to see it."""
    (n_rows, m), centred = X.shape, X - X.mean(0)
    looks_white = m <= n_rows and (X.matrix is not None or m <= SMALL_SIDE)
    if looks_white and np.abs(centred.column_gram() / n_rows - np.eye(m)).max() < WHITE:
        return centred @ np.eye(m)[:, :n_components]
    left, _, right = leading_triplets(centred, min(n_components, n_rows, m))
    return left * (np.sqrt(n_rows) * _signs(right))


def _signs(right: NDArray) -> NDArray:
    """Return the signs (r,) that make the largest loading of each singular vector (r, m) positive."""
    peak = np.take_along_axis(right, np.abs(right).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(peak < 0, -1.0, 1.0)


def joined_triangles(parts: list[NDArray]) -> NDArray:
    """Return a triangle R with R'R the sum of those of some triangles."""
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


def _centred_gram(X: NDArray, mean: NDArray) -> NDArray:
    centred = X - mean
    return centred.T @ centred


def _first_columns(X: NDArray, mean: NDArray, count: int) -> NDArray:
    return (X - mean)[:, :count].copy()


def _triangle(X: NDArray, mean: NDArray) -> NDArray:
    return np.asarray(np.linalg.qr(X - mean, mode="r"))


def _along(X: NDArray, mean: NDArray, directions: NDArray) -> NDArray:
    return (X - mean) @ directions


def initial_factors(
    X: Any,
    n_components: int,
    init: str | NDArray,
    init_scale: float,
    rng: np.random.Generator,
    *,
    reg_v: float,
    beta: float,
    row_bias: bool = False,
    observed: Any = None,
    rows: Any = None,
) -> tuple[Any, NDArray, NDArray]:
    """Return the starting Z (N, d), or (N, d + 1) with a row bias, V (d, m) and bv (m,).

    "pca" and an array give U, for which V and bv are the best and bu is 0; coordinates that PCA cannot provide are
    random. "random": everything N(0, init_scale^2), as in the paper.
    """
    m, over = (X.shape[1], InMemoryRows(len(X))) if rows is None else rows
    latent = over.each(np.multiply, over.normal(rng, n_components + row_bias), init_scale)
    if isinstance(init, str) and init == "random":
        components = init_scale * rng.standard_normal((n_components, m))
        intercept_x = init_scale * rng.standard_normal((1, m))[0]
        return latent, components, intercept_x
    principal = pca_start(X, n_components, None if rows is None else over) if isinstance(init, str) else init
    latent = over.each(_replaced_coordinates, latent, principal, n_components)
    sums = over.total(_first_loadings, X, latent, n_components, observed)
    return latent, *solve_loadings(sums, reg_v / beta)


def _replaced_coordinates(latent: NDArray, coordinates: NDArray, n_components: int) -> NDArray:
    replaced = latent.copy()
    replaced[:, : coordinates.shape[1]] = coordinates
    replaced[:, n_components:] = 0.0  # the row bias
    return replaced


def _first_loadings(
    X: NDArray, latent: NDArray, n_components: int, observed: NDArray | None
) -> tuple[NDArray, NDArray]:
    return loading_sums(X, latent[:, :n_components], None, observed)
