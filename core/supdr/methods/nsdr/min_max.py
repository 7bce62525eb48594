"""The min-max alternation of NSDR's paper (Algorithms 2 and 3), with its errata corrected.

c = alpha * Y are the signed multipliers of one head, E_i = f_i - Y_i the error of row i, f the decision with its bias.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.iterate import generator
from supdr.engine.solver import Solver
from supdr.functions.kernels import Kernel, poly_slope, rbf_value
from supdr.methods.nsdr.problem import NSDRProblem, NSDRState
from supdr.solvers.kernel_heads import Heads
from supdr.solvers.reconstruction import reconstruction_epoch, sgd_cells, sgd_shrinkage
from supdr.solvers.smo import duality_gap

# Elementary operations between two checks of the stop flag, some 10 ms.
SLICE = 10_000_000

# Rows that meet the optimality conditions of their SVM up to this are left alone by a sweep.
SWEEP_TOL = 1e-3

# Pairs put into random order at once.
PAIRS = 1 << 20

SMALLEST_CURVATURE = 1e-12
SMALLEST_MOVE = 1e-12


class MinMaxAlternation(Solver):
    """solver="sgd": one epoch over cells, one over pairs of rows, one sweep over multipliers.

    A min-max alternation: the multipliers ascend what the rows descend, so the objective need not fall (the paper's
    guarantee of convergence is an erratum).  The multipliers are not optimal for the rows; the reported label term is
    the primal value of the decision as it stands, an upper bound, and "dual" a lower bound.
    """

    def advice(self, problem: NSDRProblem) -> str:
        """Return what to do when the run diverges."""
        return "Try smaller learning rates (lr_reconstruction, lr_classification) or the solver 'bcd'."

    def begin(self, problem: NSDRProblem, state: NSDRState) -> NSDRState:
        """Return `state` with the bounds of its multipliers as they are."""
        alpha, bias = state.heads.alpha, state.heads.bias
        scores = problem.kernel.matrix(state.latent[problem.rows]) @ (alpha * problem.signs)
        heads = _bounds(problem, alpha, bias, scores, 0)
        return state._replace(heads=heads, step_size=problem.lr_classification)

    def step(self, problem: NSDRProblem, state: NSDRState) -> NSDRState:
        """One epoch.  O(N m d + s^2 (d + K) + n^2 d) plus the sweeps; s support rows."""
        rng = generator(state.seed, state.iteration + 1)
        latent, loadings = state.latent.copy(), state.components.T.copy()
        intercept_x = state.intercept_x.copy()
        _reconstruction_epoch(problem, latent, loadings, intercept_x, rng)
        duals = state.heads.alpha * problem.signs
        support = np.flatnonzero(duals.any(axis=1))
        rate = problem.lr_classification * (1.0 - problem.beta)
        pair_epoch(latent, problem.rows[support], duals[support], problem.kernel, rate, rng)
        return state._replace(
            latent=latent,
            components=np.ascontiguousarray(loadings.T),
            intercept_x=intercept_x,
            heads=_swept(problem, latent[problem.rows], state.heads, rng),
            step_size=problem.lr_classification,
        )

    def may_converge(self, problem: NSDRProblem, previous: NSDRState, state: NSDRState) -> bool:
        """Whether the multipliers are at rest too."""
        return state.heads.gap <= problem.precision * (1.0 + state.heads.primal)


def _reconstruction_epoch(
    problem: NSDRProblem, latent: NDArray, loadings: NDArray, intercept_x: NDArray, rng: np.random.Generator
) -> None:
    """Write one epoch over the observed cells into latent (N, D), loadings (m, d), intercept_x (m,)."""
    shape = problem.X.shape
    shrink_u = sgd_shrinkage(problem.reg_u, shape, problem.observed, axis=1)
    shrink_v = sgd_shrinkage(problem.reg_v, shape, problem.observed, axis=0)
    order = rng.permutation(sgd_cells(shape, problem.observed))
    step = max(1, SLICE // (8 * problem.n_components))
    for start in range(0, len(order), step):
        cells = order[start : start + step]
        reconstruction_epoch(
            problem.X, latent, loadings, intercept_x, cells, problem.lr_reconstruction, problem.beta, shrink_u, shrink_v
        )
        checkpoint()


def _swept(problem: NSDRProblem, labelled: NDArray, heads: Heads, rng: np.random.Generator) -> Heads:
    """Return the heads after one sweep over each one's multipliers, at labelled latent rows (n, D)."""
    K = problem.kernel.matrix(labelled)
    alpha, bias, scores = np.empty_like(heads.alpha), heads.bias.copy(), np.empty_like(heads.alpha)
    for k in range(len(bias)):
        y, old = np.ascontiguousarray(problem.signs[:, k]), np.ascontiguousarray(heads.alpha[:, k])
        alpha[:, k], bias[k], scores[:, k] = multiplier_sweep(K, y, problem.costs, old, bias[k], rng)
    return _bounds(problem, alpha, bias, scores, int(np.count_nonzero(alpha != heads.alpha)))


def _bounds(problem: NSDRProblem, alpha: NDArray, bias: NDArray, scores: NDArray, moved: int) -> Heads:
    """Return heads with the primal and dual value of multipliers whose scores (n, K) exclude the bias."""
    quadratic = 0.5 * float(np.vdot(alpha * problem.signs, scores))
    dual = float(alpha.sum()) - quadratic
    gap = duality_gap(alpha, problem.costs[:, None], 1.0 - problem.signs * (scores + bias))
    return Heads(alpha, bias, dual + gap, dual, moved, False, False)


def pair_epoch(
    Z: NDArray, rows: NDArray, duals: NDArray, kernel: Kernel, rate: float, rng: np.random.Generator
) -> None:
    """Move the support rows of `Z` (n, d) in place, pair by pair in random order (eqs. 36-39).  O(s^2 (d + K)).

    Every ordered pair of `rows` (s,) moves BOTH its rows, from their old values: the sum is the gradient of the
    envelope. Erratum: eq. 32 prints min over U of (quadratic - sum alpha), which is the other sign; the steps descend
    S, as eq. 36 does.
    """
    step = max(1, SLICE // (8 * (Z.shape[1] + duals.shape[1])))
    for order in pair_orders(len(rows), rng):
        for start in range(0, len(order), step):
            move_pairs(Z, rows, duals, order[start : start + step], kernel, rate)
            checkpoint()


def pair_orders(n_rows: int, rng: np.random.Generator, block: int = PAIRS) -> Iterator[NDArray]:
    """Yield the numbers first * n_rows + second of all ordered pairs, each once, in random order.

    Beyond `block` pairs the first rows are dealt into random groups, one after the other, so that memory stays bounded.
    """
    firsts = rng.permutation(n_rows)
    group = max(1, block // max(n_rows, 1))
    for start in range(0, n_rows, group):
        yield rng.permutation((firsts[start : start + group, None] * n_rows + np.arange(n_rows)).ravel())


def move_pairs(Z: NDArray, rows: NDArray, duals: NDArray, order: NDArray, kernel: Kernel, rate: float) -> None:
    """Move the rows of the pairs in `order` (see `pair_orders`), one pair after the other, in place."""
    if kernel.name == "rbf":
        _pairs_rbf(Z, rows, duals, order, kernel.gamma, 0.5 * rate)
    else:
        _pairs_poly(Z, rows, duals, order, kernel.exponent, kernel.constant, 0.5 * rate)


@njit(cache=True, nogil=True)
def _pairs_poly(Z, rows, duals, order, degree, coef0, rate):  # noqa: ANN001
    """Write Z (n, d) in place.  rows (s,), duals (s, K), order (p,) of pair numbers first * s + second."""
    n_rows, n_heads = duals.shape
    for pair in order:
        first, second = pair // n_rows, pair % n_rows
        weight = 0.0
        for k in range(n_heads):
            weight += duals[first, k] * duals[second, k]
        a, b = Z[rows[first]], Z[rows[second]]
        inner = 0.0
        for j in range(a.shape[0]):
            inner += a[j] * b[j]
        move = rate * weight * poly_slope(inner, degree, coef0)
        for j in range(a.shape[0]):
            old_a, old_b = a[j], b[j]
            a[j] += move * old_b
            b[j] += move * old_a


@njit(cache=True, nogil=True)
def _pairs_rbf(Z, rows, duals, order, gamma, rate):  # noqa: ANN001
    """Write Z (n, d) in place.  rows (s,), duals (s, K), order (p,) of pair numbers first * s + second."""
    n_rows, n_heads = duals.shape
    for pair in order:
        first, second = pair // n_rows, pair % n_rows
        weight = 0.0
        for k in range(n_heads):
            weight += duals[first, k] * duals[second, k]
        a, b = Z[rows[first]], Z[rows[second]]
        distance = 0.0
        for j in range(a.shape[0]):
            distance += (a[j] - b[j]) ** 2
        move = rate * weight * 2.0 * gamma * rbf_value(distance, gamma)
        for j in range(a.shape[0]):
            pull = move * (b[j] - a[j])
            a[j] += pull
            b[j] -= pull


def multiplier_sweep(
    K: NDArray, y: NDArray, C: NDArray | float, alpha: NDArray, bias: float, rng: np.random.Generator
) -> tuple[NDArray, float, NDArray]:
    """Return alpha (n,), bias and scores (n,) after one sweep of Algorithm 2.  O(violating rows * n) pairs."""
    alpha, C = alpha.copy(), np.full(len(y), C, dtype=float)
    scores = K @ (alpha * y)
    order = rng.permutation(len(y))
    position = 0
    while position < len(y):
        bias, position = _sweep(K, y, C, alpha, scores, bias, order, SWEEP_TOL, position, SLICE)
        checkpoint()
    return alpha, bias, scores


@njit(cache=True, nogil=True)
def _snapped(value, C):  # noqa: ANN001
    """Return `value`, or the bound it misses by rounding: a residue would count as a free multiplier."""
    if value < SMALLEST_MOVE * C:
        return 0.0
    if value > C - SMALLEST_MOVE * C:
        return C
    return value


@njit(cache=True, nogil=True)
def _sweep(K, y, C, alpha, scores, bias, order, tol, position, budget):  # noqa: ANN001
    """Write alpha and scores (n,) in place; return the bias and the row to go on with once `budget` is spent.

    Errata of Algorithm 2 corrected here:
    - alpha_i moves by -s (the printed + leaves the box and breaks sum alpha y = 0);
    - the errors compare decision values, not their signs (eq. 40), and the biases follow the "+ bias" convention, with
      K_ij and K_jj in b_j (printed: the "- bias" convention and the same K's in both, which diverges);
    - the bias of a free multiplier wins over the mean of the two;
    - j = i, flat pairs (duplicate rows) and empty intervals are skipped.
    """
    n = y.shape[0]
    work = 0
    for i in range(position, n):
        if work > budget:
            return bias, i
        margin = y[i] * (scores[i] + bias) - 1.0
        if not ((margin < -tol and alpha[i] < C[i]) or (margin > tol and alpha[i] > 0.0)):
            continue
        for shift in range(n):
            j = order[(i + shift) % n]  # one random order a sweep, entered elsewhere for every row
            curvature = 2.0 * K[i, j] - K[i, i] - K[j, j]
            sign = y[i] * y[j]
            if sign < 0.0:
                low, high = max(0.0, alpha[j] - alpha[i]), min(C[j], C[i] + alpha[j] - alpha[i])
            else:
                low, high = max(0.0, alpha[i] + alpha[j] - C[i]), min(C[j], alpha[i] + alpha[j])
            work += 8
            if j == i or curvature > -SMALLEST_CURVATURE or high - low < SMALLEST_MOVE:
                continue
            error_i, error_j = scores[i] + bias - y[i], scores[j] + bias - y[j]
            target = alpha[j] - y[j] * (error_i - error_j) / curvature
            move_j = min(max(target, low), high) - alpha[j]
            if abs(move_j) < SMALLEST_MOVE:
                continue
            move_i = -sign * move_j
            alpha[j] = _snapped(alpha[j] + move_j, C[j])
            alpha[i] = _snapped(alpha[i] + move_i, C[i])
            change_i, change_j = y[i] * move_i, y[j] * move_j
            bias_i = bias - error_i - change_i * K[i, i] - change_j * K[i, j]
            bias_j = bias - error_j - change_i * K[i, j] - change_j * K[j, j]
            if 0.0 < alpha[i] < C[i]:
                bias = bias_i
            elif 0.0 < alpha[j] < C[j]:
                bias = bias_j
            else:
                bias = 0.5 * (bias_i + bias_j)
            for k in range(n):
                scores[k] += change_i * K[i, k] + change_j * K[j, k]
            work += n
    return bias, n
