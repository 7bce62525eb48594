"""SNF's regressions: primal and dual, their derivatives, and the most likely of them."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.stats import multivariate_normal

from supdr.functions.kernels import Kernel
from supdr.methods.snf.calibration import DEGREES, RIDGES, most_likely
from supdr.solvers.kernel_ridge import Dual, Primal, cholesky, explicit, regression, solve_cholesky
from supdr.solvers.monomials import monomials
from tests.core.snf_cases import POLYNOMIALS, every_kernel

# --- the regressions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_monomials_multiply_to_the_kernel(kernel):
    Z = np.random.default_rng(0).standard_normal((7, 3))
    psi = monomials(3, kernel.exponent, kernel.constant).features(Z)
    np.testing.assert_allclose(psi @ psi.T + kernel.constant**kernel.exponent, kernel.matrix(Z), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_primal_and_dual_agree(kernel, weighted):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((60, 3)), rng.standard_normal((60, 5)) + 3.0, rng.standard_normal((4, 3))
    weights = rng.uniform(0.1, 5.0, 60) if weighted else None
    primal, dual = Primal(monomials(3, kernel.exponent, kernel.constant), 0.7, weights), Dual(kernel, 0.7, weights)
    (first, first_residual), (second, second_residual) = primal.solve(Z, T), dual.solve(Z, T)
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose([first.loss, first.penalty], [second.loss, second.penalty], **close)
    np.testing.assert_allclose(first_residual, second_residual, **close)
    np.testing.assert_allclose(
        primal.gradient(Z, first, first_residual), dual.gradient(Z, second, second_residual), **close
    )
    np.testing.assert_allclose(primal.predict(first, Z, new), dual.predict(second, Z, new), **close)
    np.testing.assert_allclose(primal.jacobian(first, Z, new), dual.jacobian(second, Z, new), **close)


@every_kernel
def test_dual_solves_the_bordered_system(kernel):
    rng = np.random.default_rng(0)
    Z, T = 0.5 * rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    fit, residual = Dual(kernel, 0.3).solve(Z, T)
    bordered = np.block([[kernel.matrix(Z) + 0.3 * np.eye(20), np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.vstack([T, np.zeros((1, 2))]))
    np.testing.assert_allclose(np.vstack([fit.coef, fit.bias]), solution, atol=1e-11)
    np.testing.assert_allclose(residual, T - Dual(kernel, 0.3).predict(fit, Z, Z), atol=1e-11)
    np.testing.assert_allclose(fit.penalty, 0.3 * np.trace(fit.coef.T @ kernel.matrix(Z) @ fit.coef), rtol=1e-9)


@every_kernel
def test_a_weight_of_two_is_a_row_twice(kernel):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((20, 2)), rng.standard_normal((20, 3)), rng.standard_normal((4, 2))
    counts = np.arange(20) % 3 + 1
    weighted, repeated = regression(kernel, 0.5, 2, 20, counts.astype(float)), regression(kernel, 0.5, 2, counts.sum())
    again = np.repeat(np.arange(20), counts)
    (first, _), (second, _) = weighted.solve(Z, T), repeated.solve(Z[again], T[again])
    np.testing.assert_allclose([first.loss, first.penalty], [second.loss, second.penalty], rtol=1e-9)
    predictions = weighted.predict(first, Z, new), repeated.predict(second, Z[again], new)
    np.testing.assert_allclose(*predictions, rtol=1e-8, atol=1e-8)


@every_kernel
def test_jacobians_are_derivatives(kernel):
    rng = np.random.default_rng(0)
    Z, T, new, h = 0.5 * rng.standard_normal((20, 2)), rng.standard_normal((20, 3)), rng.standard_normal((4, 2)), 1e-6
    form = regression(kernel, 0.5, 2, 20)
    fit, _ = form.solve(Z, T)
    for k, step in enumerate(h * np.eye(2)):
        slope = (form.predict(fit, Z, new + step) - form.predict(fit, Z, new - step)) / (2 * h)
        np.testing.assert_allclose(form.jacobian(fit, Z, new)[:, k], slope, rtol=1e-6, atol=1e-6)


@every_kernel
def test_weights_of_monomials_say_what_weights_of_rows_say(kernel):
    rng = np.random.default_rng(0)
    Z, T, new = 0.5 * rng.standard_normal((40, 2)), rng.standard_normal((40, 3)), rng.standard_normal((4, 2))
    form = Dual(kernel, 0.5)
    fit, _ = form.solve(Z, T)
    other, same = explicit(form, fit, Z)
    assert isinstance(other, Dual if kernel.name == "rbf" else Primal)
    np.testing.assert_allclose(other.predict(same, Z, new), form.predict(fit, Z, new), atol=1e-10)
    np.testing.assert_allclose(other.jacobian(same, Z, new), form.jacobian(fit, Z, new), atol=1e-10)
    many = Dual(Kernel("poly", 6), 0.5)
    assert explicit(many, fit, np.zeros((40, 200)))[0] is many  # 9e10 monomials are not listed


def test_the_cheaper_form_is_taken():
    assert isinstance(regression(Kernel("poly", 2), 1.0, 2, 9), Primal)  # 5 monomials < 0.6 n
    assert isinstance(regression(Kernel("poly", 2), 1.0, 2, 8), Dual)
    assert isinstance(regression(Kernel("rbf"), 1.0, 2, 1000), Dual)
    assert isinstance(regression(Kernel("poly", 6), 1.0, 200, 1000), Dual)  # 9e10 monomials are not listed


@pytest.mark.parametrize("size", [1, 60, 300])
def test_blocked_cholesky(size):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((size, size))
    A, right = A @ A.T, rng.standard_normal((size, 3))
    factor = cholesky(A, 0.5)
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, A + 0.5 * np.eye(size), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((A + 0.5 * np.eye(size)) @ solve_cholesky(factor, right), right, atol=1e-8)


def test_singular_matrices_get_a_jitter_and_bad_ones_an_error():
    ones = np.ones((200, 200))
    assert np.isfinite(np.tril(cholesky(ones, 0.0))).all()
    for bad in (-np.eye(3), np.full((3, 3), np.nan)):
        with pytest.raises(LinAlgError):
            cholesky(bad, 0.0)


@pytest.mark.parametrize("kernel", [Kernel("poly", 2), Kernel("rbf", gamma=0.3), Kernel("linear")], ids=str)
@pytest.mark.parametrize("n_rows", [9, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_most_likely_regression_is_found_by_trying_all(kernel, n_rows, weighted):
    """Level integrated out, scale at its best: contrasts of the labels are normal."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 5.0, n_rows) if weighted else np.ones(n_rows)
    Z = rng.standard_normal((n_rows, 2))
    Y = np.column_stack([Z[:, 0] + Z[:, 1] ** 2, Z[:, 0] * Z[:, 1]]) + 0.3 * rng.standard_normal((n_rows, 2))
    contrasts = np.linalg.svd(np.ones((1, n_rows)))[2][1:]
    costs = {}
    for degree in DEGREES if kernel.name == "poly" else (None,):
        each = kernel if degree is None else Kernel("poly", degree)
        for reg in RIDGES:
            covariance = contrasts @ (each.matrix(Z) + reg * np.diag(1.0 / weights)) @ contrasts.T
            cost = 0.0
            for y in (contrasts @ Y).T:
                scale = y @ np.linalg.solve(covariance, y) / len(y)
                cost -= 2.0 * multivariate_normal(cov=scale * covariance).logpdf(y)
            costs[each, reg] = cost
    best, reg = min(costs, key=costs.get)
    found, expected = most_likely(kernel, Z, Y, weights), regression(best, reg, 2, n_rows, weights)
    (first, _), (second, _) = found.solve(Z, Y), expected.solve(Z, Y)
    np.testing.assert_allclose(found.predict(first, Z, Z), expected.predict(second, Z, Z), rtol=1e-9)
