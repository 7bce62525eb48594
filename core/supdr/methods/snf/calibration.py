"""The regression by which SNF predicts: of several degrees and ridges those of the highest marginal likelihood.

A kernel ridge regression with a bias is the mean of a Gaussian process with covariance s^2 (K + reg I) around an
unknown level.  With the level integrated out and s^2 at its best, the N labels of one target have

    -2 log p = (N - 1) log q + sum_i log(l_i + reg) + const.,   q = sum_i c_i^2 / (l_i + reg)

l_i, i = 1 to N - 1: the eigenvalues of K without its part along the constant vector   c_i: the labels in their
eigenvectors.  One decomposition per kernel serves all ridges.  Several targets share kernel and ridge.  Weights w of
rows stand for noise of variance s^2 reg / w: rows, and with them the constant vector, are scaled by their roots.

Unlike a left-out error it does not prefer, of many candidates, one that fits few labels by chance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import abandonable
from supdr.functions.kernels import Kernel
from supdr.solvers.kernel_ridge import Dual, Primal, regression
from supdr.solvers.monomials import n_monomials

DEGREES = (1, 2, 3)
RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)

# Higher degrees are left out where rows and monomials are both more than this: a decomposition takes a second.
MOST_UNKNOWNS = 1000

# Eigenvalues below this share of the largest are 0.
RANK_TOLERANCE = 1e-12


def most_likely(kernel: Kernel, Z: NDArray, Y: NDArray, weights: NDArray | None = None) -> Primal | Dual:
    """Return the form of the regression of Y (N, T) on Z (N, D), over some degrees, under which Y is most likely."""
    best, lowest = None, np.inf
    for candidate in _kernels(kernel, *Z.shape):
        values, squares = _spectrum(candidate, Z, Y, weights)
        for reg in RIDGES:
            misfit = (squares / (values + reg)[:, None]).sum(axis=0)  # (T,)
            cost = (len(values) * np.log(np.maximum(misfit, np.finfo(float).tiny)) + np.log(values + reg).sum()).sum()
            if cost < lowest:
                best, lowest = (candidate, reg), cost
    assert best is not None
    return regression(*best, Z.shape[1], len(Z), weights)


def _kernels(kernel: Kernel, n_rows: int, n_components: int) -> Iterator[Kernel]:
    """Yield the kernels to choose from."""
    if kernel.name != "poly":
        yield kernel
        return
    for degree in DEGREES:
        if degree == 1 or min(n_rows, n_monomials(n_components, degree)) <= MOST_UNKNOWNS:
            yield Kernel("poly", degree, coef0=kernel.coef0)


def _spectrum(kernel: Kernel, Z: NDArray, Y: NDArray, weights: NDArray | None) -> tuple[NDArray, NDArray]:
    """Return the eigenvalues (N - 1,) beside the constant vector's, and the squared parts (N - 1, T) of the labels."""
    n_rows = len(Z)
    form = regression(kernel, 1.0, Z.shape[1], n_rows)
    root = np.ones((n_rows, 1)) if weights is None else np.sqrt(weights)[:, None]
    level = root / np.linalg.norm(root)
    labels = root * Y
    labels -= level * (level.T @ labels)
    if isinstance(form, Primal):
        psi = root * form.features.features(Z)
        psi -= level * (level.T @ psi)
        matrix, right = psi.T @ psi, psi.T @ labels
    else:
        matrix, right = kernel.matrix(Z), labels
        matrix *= root * root.T
        matrix -= level * (level.T @ matrix)
        matrix -= (matrix @ level) * level.T
    values, vectors = abandonable(lambda: np.linalg.eigh(matrix))
    significant = values > RANK_TOLERANCE * max(values[-1], np.finfo(float).tiny)
    values, squares = values[significant], (vectors[:, significant].T @ right) ** 2
    if isinstance(form, Primal):
        squares /= values[:, None]
    # Outside of their span, the constant vector apart, eigenvalues are 0: only the sum of the squares matters.
    rest = n_rows - 1 - len(values)
    if rest > 0:
        left = np.maximum((labels**2).sum(axis=0) - squares.sum(axis=0), 0.0) / rest
        values = np.concatenate([np.zeros(rest), values])
        squares = np.concatenate([np.tile(left, (rest, 1)), squares])
    return values, squares
