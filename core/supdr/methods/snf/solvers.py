"""SNF's solvers: L-BFGS on the whole point, and the paper's descent over pairs of rows (algorithm 1).

The loop takes one dual solve per predictor, then gradient steps over pairs of rows.  Its errata, and what it
minimises: the factor 1 / (2 lambda) of eq. 6 is never undone, the target's pass runs once per predictor with a rate of
its own, and the decay stands inside the loop over pairs, so that a row decays 2 n times per predictor.  In the units of
eq. 5, with lr = eta_X,

    target_weight = eta_Y M reg_v / (eta_X reg_w)      lambda_Z = reg_z / (reg_v M (n + N T eta_Y / eta_X))

(without the second summand for unlabelled rows).  `lr_target` sets eta_Y, and with it the weight of the target; without
it `target_weight` sets eta_Y.  One epoch with a small rate moves Z by -lr / reg_v times the gradient.  The paper's
lambda_Z thus means another ridge for every n and M.

The case table of eq. 13 lacks a factor 2 for i = l; the two update lines, both applied to z_i, restore it.  The target
loop (line 12) prints i, l over all rows; omega exists for the labelled ones.  K is computed anew for every predictor,
as printed.  The random initial duals are never used.  After the last pass the duals are solved once more at the final
Z.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from supdr.engine.solver import Solver
from supdr.functions.kernels import Kernel, poly_slope, rbf_value
from supdr.methods.snf.problem import LBFGS, NO_FIT, SNFProblem, SNFState
from supdr.solvers.kernel_ridge import Dual, blocks

# Latent coordinates beyond this mean that the loop diverges.
LARGEST_COORDINATE = 1e3


class PairDescent(Solver):
    """solver="sgd": one step is one epoch, a pass over all predictors."""

    def begin(self, problem: SNFProblem, state: SNFState) -> SNFState:
        """Return `state` with its regressions, without a search."""
        without_search = problem.at_point(state, problem.first_search(state), None)
        return without_search._replace(search=None, step_size=state.step_size if state.search is None else 0.0)

    def advice(self, problem: SNFProblem) -> str:
        """Return what to do when the loop diverges."""
        rate = 0.1 * problem.lr_reconstruction
        target = "" if problem.lr_target is None else f" and lr_target (say, to {0.1 * problem.lr_target:g})"
        return (
            f"Reduce lr_reconstruction (say, to {rate:g}: its ratio to reg_v is the step){target} or raise reg_v or "
            "reg_z."
        )

    def step(self, problem: SNFProblem, state: SNFState) -> SNFState:
        """One epoch."""
        latent, filling = state.latent.copy(), state.filling
        try:
            finished = _epoch(problem, latent, problem.filled(filling))
        except LinAlgError:
            finished = False
        if not finished:
            return state._replace(predictors=NO_FIT, target=NO_FIT)
        if len(filling):
            _, residual = problem.on_all.solve(latent, problem.filled(filling))
            filling = filling - residual.ravel()[problem.missing]  # majorise-minimise: the reconstruction
        value, gradient, (predictors, target) = problem.evaluate(np.concatenate([latent.ravel(), filling]))
        norm = float(np.linalg.norm(gradient)) if np.isfinite(value) else np.nan
        rate = problem.lr_reconstruction
        return SNFState(latent, filling, predictors, target, norm, rate, None, state.seed, state.iteration)


def rates(problem: SNFProblem) -> tuple[float, NDArray]:
    """Return the rate of the target's pass and the decay of every row."""
    (n_rows, columns), targets = problem.X.shape, problem.Y.size
    rate = problem.lr_target
    if rate is None:
        rate = problem.target_weight * problem.lr_reconstruction * problem.reg_w / (columns * problem.reg_v)
    visits = np.full(n_rows, float(n_rows))
    visits[problem.rows] += targets * rate / problem.lr_reconstruction
    return rate, problem.reg_z / (problem.reg_v * columns * visits)


def _epoch(problem: SNFProblem, latent: NDArray, X: NDArray) -> bool:
    """Write one epoch into `latent`; False if it leaves all bounds."""
    all_rows, (target_rate, decay) = np.arange(len(X)), rates(problem)
    on_all, on_labelled = Dual(problem.kernel, problem.reg_v), Dual(problem.kernel, problem.reg_w, problem.weights)
    for j in range(X.shape[1]):
        fit, _ = on_all.solve(latent, X[:, j : j + 1])
        _pass(problem.kernel, latent, all_rows, fit.coef[:, 0], problem.lr_reconstruction, decay)
        if target_rate > 0.0:
            fit, _ = on_labelled.solve(latent[problem.rows], problem.Y)
            for weights in fit.coef.T:
                _pass(problem.kernel, latent, problem.rows, weights, target_rate, decay)
        if not np.abs(latent).max() <= LARGEST_COORDINATE:  # also catches nan
            return False
    return True


def _pass(kernel: Kernel, latent: NDArray, rows: NDArray, weights: NDArray, rate: float, decay: NDArray) -> None:
    """Write one pass over all pairs of `rows` into `latent`."""
    weights = np.ascontiguousarray(weights)
    for block in blocks(len(rows), 20.0 * latent.shape[1] * len(rows)):
        if kernel.name == "rbf":
            _rbf_pairs(latent, rows, block.start, block.stop, weights, float(kernel.gamma), rate, decay)
        else:
            exponent, constant = kernel.exponent, kernel.constant
            _poly_pairs(latent, rows, block.start, block.stop, weights, exponent, constant, rate, decay)


@njit(cache=True, nogil=True)
def _poly_pairs(latent, rows, start, stop, weights, degree, coef0, rate, decay):  # noqa: ANN001
    """Write the updates of all pairs (i, l), i from rows[start:stop], l from rows, into latent (n, D).

    z_i += rate (c z_l - decay_i z_i) and z_l += rate (c z_i - decay_l z_l) from the values before the pair, with
    c = a_i a_l degree (z_i.z_l + coef0)^(degree - 1); a = weights (N,), decay (n,).  O((stop - start) N D).
    """
    d = latent.shape[1]
    for first in range(start, stop):
        i = rows[first]
        for second in range(len(rows)):
            l = rows[second]  # noqa: E741
            inner = 0.0
            for k in range(d):
                inner += latent[i, k] * latent[l, k]
            c = rate * weights[first] * weights[second] * poly_slope(inner, degree, coef0)
            if i == l:
                for k in range(d):
                    latent[i, k] *= 1.0 + 2.0 * (c - rate * decay[i])
            else:
                for k in range(d):
                    z, other = latent[i, k], latent[l, k]
                    latent[i, k] = z + c * other - rate * decay[i] * z
                    latent[l, k] = other + c * z - rate * decay[l] * other


@njit(cache=True, nogil=True)
def _rbf_pairs(latent, rows, start, stop, weights, gamma, rate, decay):  # noqa: ANN001
    """Write into latent as `_poly_pairs` does, for the Gaussian kernel.

    c = 2 gamma a_i a_l k(z_i, z_l) pulls by z_l - z_i; no term i = l.
    """
    d = latent.shape[1]
    for first in range(start, stop):
        i = rows[first]
        for second in range(len(rows)):
            l = rows[second]  # noqa: E741
            if i == l:
                for k in range(d):
                    latent[i, k] *= 1.0 - 2.0 * rate * decay[i]
                continue
            squared = 0.0
            for k in range(d):
                squared += (latent[i, k] - latent[l, k]) ** 2
            c = 2.0 * gamma * rate * weights[first] * weights[second] * rbf_value(squared, gamma)
            for k in range(d):
                z, other = latent[i, k], latent[l, k]
                latent[i, k] = z + c * (other - z) - rate * decay[i] * z
                latent[l, k] = other + c * (z - other) - rate * decay[l] * other


SOLVERS: dict[str, Solver] = {"lbfgs": LBFGS, "sgd": PairDescent()}
