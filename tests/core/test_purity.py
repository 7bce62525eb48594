"""Solvers write to nothing that they are given: one head or several, rows or columns side by side in memory."""

import numpy as np
import pytest

from supdr.engine.reuse import fingerprint
from supdr.functions.kernels import Kernel
from supdr.functions.losses import loss_code
from supdr.methods.mac.target_step import move_points
from supdr.methods.nsdr.min_max import multiplier_sweep
from supdr.solvers.kernel_heads import close_gap, heads_on_features, heads_on_kernel
from supdr.solvers.kernel_ridge import Dual, cholesky, regression
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step
from supdr.solvers.linear_heads import loo_ridge
from supdr.solvers.linear_svm import solve_heads, solve_linear_svm
from supdr.solvers.low_rank import leading_rows, packed_products, solve_systems
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import fit_loadings, fold_in
from supdr.solvers.reconstruction_start import initial_factors
from supdr.solvers.smo import solve_svm
from supdr.solvers.support_vectors import purify
from tests.core.inside import fit_heads

ROWS, COLUMNS = 30, 4


class Given:
    """What solvers are given: rows, kernel, signs and multipliers of K heads."""

    def __init__(self, n_heads, order):
        rng = np.random.default_rng(0)
        self.Z = np.array(rng.standard_normal((ROWS, COLUMNS)), order=order)
        self.K = np.array(self.Z @ self.Z.T + np.eye(ROWS), order=order)
        self.signs = np.array(np.where(rng.random((ROWS, n_heads)) < 0.5, -1.0, 1.0), order=order)
        self.signs[0], self.signs[1] = -1.0, 1.0
        alpha = rng.uniform(0.0, 0.05, (ROWS, n_heads))
        for column, y in zip(alpha.T, self.signs.T):  # feasible: sum alpha y = 0
            column[y > 0] *= column[y < 0].sum() / column[y > 0].sum()
        self.alpha = np.array(alpha, order=order)
        self.coef = np.array(rng.standard_normal((n_heads, COLUMNS)), order=order)
        self.bias = rng.standard_normal(n_heads)
        self.spd = np.array(self.Z.T @ self.Z + np.eye(COLUMNS), order=order)
        self.order = np.random.default_rng(1)


def quasi_newton(given):
    def evaluate(point):
        return (
            float(((given.K[:COLUMNS, :COLUMNS] @ point - 1.0) ** 2).sum()),
            2.0 * given.K[:COLUMNS, :COLUMNS].T @ (given.K[:COLUMNS, :COLUMNS] @ point - 1.0),
            None,
        )

    return lbfgs_step(lbfgs_step(lbfgs_start(given.Z[0], evaluate), evaluate), evaluate)


CALLS = {
    "close_gap": lambda g: close_gap(g.K, g.signs, 1.0, alpha=g.alpha),
    "close_gap, worn": lambda g: close_gap(g.K, g.signs, 1e9, alpha=1e6 * g.alpha),
    "heads_on_kernel": lambda g: heads_on_kernel(g.K, g.signs, 1.0, 1e-3, g.alpha),
    "heads_on_features": lambda g: heads_on_features(
        g.Z, g.signs, 1.0, 1e-3, heads_on_kernel(g.K, g.signs, 1.0, 1e-3, g.alpha)
    ),
    "solve_svm": lambda g: solve_svm(g.K, g.signs[:, 0], np.ones(ROWS), alpha=g.alpha[:, 0], linear=np.ones(ROWS)),
    "solve_linear_svm": lambda g: solve_linear_svm(g.Z, g.signs[:, 0], 1.0, alpha=g.alpha[:, 0], coef=g.coef[0]),
    "solve_heads": lambda g: solve_heads(g.Z, g.signs, 1.0, solve_heads(g.Z, g.signs, 0.5)),
    "purify": lambda g: purify(g.alpha[:, 0] * g.signs[:, 0], 1.0, g.Z),
    **{
        f"fit_heads, {loss}": lambda g, loss=loss: fit_heads(g.Z, g.signs, loss_code(loss), g.coef.T, g.bias)
        for loss in ("squared", "logistic", "hinge")
    },
    "loo_ridge": lambda g: loo_ridge(g.Z, g.signs),
    "multiplier_sweep": lambda g: multiplier_sweep(g.K, g.signs[:, 0], 1.0, g.alpha[:, 0], 0.0, g.order),
    "move_points": lambda g: move_points(g.Z, g.coef, g.bias, g.signs, 0.5, g.alpha),
    "solve_positive": lambda g: solve_positive(g.spd, g.Z.T),
    "solve_systems": lambda g: solve_systems(packed_products(g.Z), 1.0, g.Z),
    "leading_rows": lambda g: leading_rows(g.Z, g.Z.mean(axis=0), 2, g.order),
    "fit_loadings": lambda g: fit_loadings(g.Z, g.K[:, :2], 1.0, 0.5, row_offset=g.K[0]),
    "fold_in": lambda g: fold_in(g.Z, g.coef, g.Z[0], 1.0, 0.5, row_bias=True),
    "initial_factors": lambda g: initial_factors(g.Z, 2, g.K[:, :2], 0.1, g.order, reg_v=1.0, beta=0.5),
    "cholesky": lambda g: cholesky(g.K, 0.5),
    "regression": lambda g: regression(Kernel("poly", 2, 1.0, 1.0), 1.0, COLUMNS, ROWS).solve(g.Z, g.signs),
    "dual regression": lambda g: Dual(Kernel("rbf", 1, 0.5, 0.0), 1.0).solve(g.Z, g.signs),
    "lbfgs_step": quasi_newton,
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_heads", [1, 3])
@pytest.mark.parametrize("name", list(CALLS))
def test_nothing_given_is_written_to(name, n_heads, order):
    given = Given(n_heads, order)
    before = {key: fingerprint(value) for key, value in vars(given).items() if isinstance(value, np.ndarray)}
    CALLS[name](given)
    assert {key: fingerprint(vars(given)[key]) for key in before} == before
