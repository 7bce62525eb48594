"""Kernel ridge regression of many columns on latent rows, with its gradient in the rows.

    P(Z) = min over v, b of  sum_i w_i |T_i - psi(z_i) v - b|^2 + reg |v|^2

T (n, Q) columns to be explained   Z (n, D) latent rows   psi the features of a kernel k   w_i weights of rows, or 1

Two forms give the same value and gradient: `Primal` has one weight per feature, `Dual` one per row; neither regularises
the bias.  The derivative of P in K = k(Z, Z) is -reg a a' (a: dual weights); it needs no derivative of a or b, since
both are optimal.

Source: J. Grabocka, E. Bedalli, L. Schmidt-Thieme, "Supervised Nonlinear Factorizations Excel In Semi-supervised
Regression", eq. 6-11.  Erratum: the factor 1 / (2 lambda) of eq. 6 is called lambda_U, means lambda_V, and is never
undone; here P is in the units of eq. 5.  The sign of eq. 13 is right for minimising P, although the text speaks of
optimising eq. 8, a maximum.  The bordered (n + 1) system is solved by Cholesky's method and block elimination.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrf

from supdr.engine.interruption import checkpoint
from supdr.functions.kernels import Kernel
from supdr.solvers.monomials import Monomials, monomials, n_monomials

# Explicit features pay when there are fewer than this share of the rows.
PRIMAL_SHARE = 0.6

# Work between two polls of the stop flag: a few milliseconds.
FLOPS_PER_BLOCK = 1e8

# Columns that the blocked Cholesky factorisation finishes at a time.
PANEL = 128

# Share of the mean diagonal entry that is added when a matrix is not numerically positive definite.
JITTER = 1e-10


class Fit(NamedTuple):
    """The solution of one regression.

    coef (F, Q) or (n, Q): weights of the features (primal) or of the rows (dual).
    bias (Q,).
    loss: sum of squared residuals, weighted.
    penalty: reg |v|^2.
    """

    coef: NDArray
    bias: NDArray
    loss: float
    penalty: float


def regression(
    kernel: Kernel, reg: float, n_components: int, n_rows: int, weights: NDArray | None = None
) -> Primal | Dual:
    """Return the cheaper of the two forms for `n_rows` rows with D latent coordinates."""
    if kernel.name != "rbf" and n_monomials(n_components, kernel.exponent) < PRIMAL_SHARE * n_rows:
        return Primal(monomials(n_components, kernel.exponent, kernel.constant), reg, weights)
    return Dual(kernel, reg, weights)


class Primal:
    """One weight per monomial: O(n F (F + Q + degree)), memory n (F + Q)."""

    def __init__(self, features: Monomials, reg: float, weights: NDArray | None = None) -> None:
        self.features, self.reg, self.weights = features, reg, weights

    def solve(self, Z: NDArray, T: NDArray) -> tuple[Fit, NDArray]:
        """Return the solution and the residuals (n, Q), times the weights of the rows."""
        psi = self.features.features(Z)  # (n, F)
        mean, level = (np.average(part, axis=0, weights=self.weights) for part in (psi, T))
        psi -= mean
        T = T - level
        if self.weights is not None:  # as if rows were scaled by the roots of their weights
            root = np.sqrt(self.weights)[:, None]
            psi *= root
            T *= root
        (n_rows, size), columns = psi.shape, T.shape[1]
        gram, right = np.zeros((size, size)), np.zeros((size, columns))
        for rows in blocks(n_rows, 2.0 * size * (size + columns)):
            gram += psi[rows].T @ psi[rows]
            right += psi[rows].T @ T[rows]
        fit = self.solved(mean, level, gram, right)
        residual = np.empty_like(T)
        for rows in blocks(n_rows, 2.0 * size * columns):
            np.matmul(psi[rows], fit.coef, out=residual[rows])
        np.subtract(T, residual, out=residual)
        fit = fit._replace(loss=float(np.vdot(residual, residual)))
        return fit, residual if self.weights is None else residual * root

    def solved(self, mean: NDArray, level: NDArray, gram: NDArray, right: NDArray) -> Fit:
        """Return the solution, without its loss, from means and products about the means over all rows."""
        coef = solve_cholesky(cholesky(gram, self.reg), right)  # (F, Q)
        return Fit(coef, level - mean @ coef, np.nan, self.reg * float(np.vdot(coef, coef)))

    def gradient(self, Z: NDArray, fit: Fit, residual: NDArray) -> NDArray:
        """Return dP/dZ, (n, D)."""
        gradient = np.empty_like(Z)
        for rows in blocks(len(Z), 2.0 * fit.coef.size):
            gradient[rows] = self.features.pull_back(Z[rows], residual[rows] @ fit.coef.T)
        gradient *= -2.0
        return gradient

    def predict(self, fit: Fit, anchors: NDArray, Z: NDArray) -> NDArray:
        """Return the fitted columns at the rows of `Z`, (p, Q); `anchors` are the rows of the fit."""
        return self.features.features(Z) @ fit.coef + fit.bias

    def jacobian(self, fit: Fit, anchors: NDArray, Z: NDArray) -> NDArray:
        """Return their derivatives in z, (p, D, Q)."""
        return self.features.jacobian(Z, fit.coef)

    def hessian(self, fit: Fit, anchors: NDArray, Z: NDArray, weights: NDArray) -> NDArray:
        """Return sum_q weights_iq d2f_q / dz2 at the rows of `Z`, (p, D, D), from weights (p, Q)."""
        return self.features.hessian(Z, weights @ fit.coef.T)


class Dual:
    """One weight per row: O(n^3 / 3 + n^2 (2 Q + D)), memory 3 n^2."""

    def __init__(self, kernel: Kernel, reg: float, weights: NDArray | None = None) -> None:
        self.kernel, self.reg, self.weights = kernel, reg, weights

    def solve(self, Z: NDArray, T: NDArray) -> tuple[Fit, NDArray]:
        """Return the solution and the residuals (n, Q) times the weights: reg times the dual weights."""
        factor = cholesky(self.kernel.matrix(Z), self.reg if self.weights is None else self.reg / self.weights)
        # (K + reg / w) a + 1 b' = T and 1'a = 0
        solved = solve_cholesky(factor, np.column_stack([np.ones(len(Z)), T]))
        u, S = solved[:, 0], solved[:, 1:]
        bias = S.sum(axis=0) / u.sum()
        coef = S - u[:, None] * bias
        loss = self.reg**2 * float(np.vdot(coef, coef if self.weights is None else coef / self.weights[:, None]))
        value = self.reg * float(np.vdot(coef, T - T.mean(axis=0)))  # centred: less cancellation
        return Fit(coef, bias, loss, max(value - loss, 0.0)), self.reg * coef

    def gradient(self, Z: NDArray, fit: Fit, residual: NDArray) -> NDArray:
        """Return dP/dZ, (n, D)."""
        return -2.0 * self.kernel.gradient(Z, np.sqrt(self.reg) * fit.coef)

    def predict(self, fit: Fit, anchors: NDArray, Z: NDArray) -> NDArray:
        """Return the fitted columns at the rows of `Z`, (p, Q); `anchors` are the rows of the fit."""
        return self.kernel.matrix(Z, anchors) @ fit.coef + fit.bias

    def jacobian(self, fit: Fit, anchors: NDArray, Z: NDArray) -> NDArray:
        """Return their derivatives in z, (p, D, Q)."""
        slopes = np.empty((len(Z), Z.shape[1], fit.coef.shape[1]))
        if self.kernel.name == "rbf":
            pull = 2.0 * self.kernel.gamma * self.kernel.matrix(Z, anchors)  # dk/dz = pull (anchor - z)
            total = pull @ fit.coef
            for k in range(Z.shape[1]):
                slopes[:, k] = pull @ (anchors[:, k : k + 1] * fit.coef) - Z[:, k : k + 1] * total
            return slopes
        degree = self.kernel.exponent
        pull = degree * (Z @ anchors.T + self.kernel.constant) ** (degree - 1)  # dk/dz = pull anchor
        for k in range(Z.shape[1]):
            slopes[:, k] = pull @ (anchors[:, k : k + 1] * fit.coef)
        return slopes

    def hessian(self, fit: Fit, anchors: NDArray, Z: NDArray, weights: NDArray) -> NDArray:
        """Return sum_q weights_iq d2f_q / dz2 at the rows of `Z`, (p, D, D), from weights (p, Q)."""
        pull, identity = weights @ fit.coef.T, np.eye(Z.shape[1])  # (p, n), of the second derivatives of k(z, anchor)
        if self.kernel.name == "rbf":
            gamma, apart = self.kernel.gamma, Z[:, None, :] - anchors
            pull *= self.kernel.matrix(Z, anchors)
            bent = np.einsum("in,ink,inl->ikl", 4.0 * gamma**2 * pull, apart, apart, optimize=True)
            return bent - 2.0 * gamma * pull.sum(axis=1)[:, None, None] * identity
        degree = self.kernel.exponent
        if degree == 1:
            return np.zeros((*Z.shape, Z.shape[1]))
        pull *= degree * (degree - 1) * (Z @ anchors.T + self.kernel.constant) ** (degree - 2)
        return np.einsum("in,nk,nl->ikl", pull, anchors, anchors, optimize=True)


def explicit(form: Primal | Dual, fit: Fit, anchors: NDArray) -> tuple[Primal | Dual, Fit]:
    """Return the same regression with a weight for every monomial, where its derivatives are cheaper then."""
    (n_rows, d), kernel = anchors.shape, form.kernel if isinstance(form, Dual) else None
    if kernel is None or kernel.name == "rbf" or kernel.exponent * n_monomials(d, kernel.exponent) > d * n_rows:
        return form, fit
    features = monomials(d, kernel.exponent, kernel.constant)
    # Dual weights add up to 0: the constant monomial plays no part.
    return Primal(features, form.reg), fit._replace(coef=features.features(anchors).T @ fit.coef)


def blocks(n_rows: int, flops_per_row: float) -> Iterator[slice]:
    """Yield consecutive rows in blocks of bounded work; the stop flag is polled before each."""
    size = max(1, int(FLOPS_PER_BLOCK / max(flops_per_row, 1.0)))
    for start in range(0, n_rows, size):
        checkpoint()
        yield slice(start, min(start + size, n_rows))


def cholesky(matrix: NDArray, reg: float | NDArray) -> NDArray:
    """Return the lower factor of ``matrix`` (n, n) with `reg` (n,) on its diagonal; ignore what stands above its own.

    Where rounding makes the sum indefinite, `JITTER` times the mean diagonal entry is added.  Raises LinAlgError if
    that does not help.
    """
    mean = float(matrix.trace()) / len(matrix)
    for shift in (reg, reg + JITTER * mean):
        factor = matrix.copy()
        factor.flat[:: len(matrix) + 1] += shift
        if _factorise(factor):
            return factor
    raise LinAlgError("a kernel matrix is not positive definite")


def _factorise(matrix: NDArray) -> bool:
    """Write the lower Cholesky factor into the lower triangle of `matrix`, panel by panel; False if there is none."""
    n_rows = len(matrix)
    for start in range(0, n_rows, PANEL):
        stop = min(start + PANEL, n_rows)
        done = matrix[start:stop, :start]
        for rows in blocks(n_rows - start, 2.0 * start * (stop - start)):
            below = slice(rows.start + start, rows.stop + start)
            matrix[below, start:stop] -= matrix[below, :start] @ done.T
        corner, failed = dpotrf(matrix[start:stop, start:stop], lower=1)
        if failed or not np.isfinite(corner[-1, -1]):
            return False
        matrix[start:stop, start:stop] = corner
        if stop < n_rows:
            matrix[stop:, start:stop] = solve_triangular(
                corner, matrix[stop:, start:stop].T, lower=True, check_finite=False
            ).T
    return True


def solve_cholesky(factor: NDArray, right: NDArray) -> NDArray:
    """Solve L L' x = right for the factor that `cholesky` returns; right (n, Q)."""
    solution = np.empty_like(right)
    # Columns in blocks: one of them costs 2 n^2 operations.
    for columns in blocks(right.shape[1], 2.0 * len(factor) ** 2):
        half = solve_triangular(factor, right[:, columns], lower=True, check_finite=False)
        solution[:, columns] = solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
    return solution
