"""One-vs-rest kernel SVMs on one kernel matrix, or on its features: to a tolerance, or until the gap is closed.

    S = sum_k max over alpha_k of  sum alpha - 1/2 sum_il alpha_i alpha_l y_i y_l K_il,   0 <= alpha <= C, alpha'y = 0

The dual value of an unfinished solve is a LOWER bound on S: a line search on it accepts false descent.  The primal
value is an upper bound, and once primal - dual <= precision (1 + primal) a fall of the primal value proves a fall of S,
up to the gap of one solve; errors do not add up.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from supdr.engine.interruption import checkpoint
from supdr.engine.threads import map_threads
from supdr.functions.kernels import Kernel
from supdr.solvers.linear_svm import solve_linear_svm
from supdr.solvers.smo import duality_gap, minimising_bias, solve_svm

# Pair updates per head of a first solve.
FIRST_CAP = 3_000_000

# Stopping tolerances of the successive solves, each warm from the one before.
TOLERANCES = tuple(10.0**-exponent for exponent in range(2, 10))

# Warm multipliers are discarded when a multiple of them below this is better: the problem has changed too much.
WORN = 0.5

# Numbers gathered between two checks of the stop flag, some 10 ms.
PORTION = 2_000_000

# A relative gap below which a comparison with the ceiling is as good as it gets.
SHARP = 1e-7

# Relative duality gap of the linear solver, in units of tol²: it is of second order in the violation.
GAP = 10.0


class Heads(NamedTuple):
    """Solved heads.

    alpha (n, K): multipliers, 0 <= alpha <= C.
    bias (K,): the best for these multipliers, which `primal` takes.
    primal, dual: upper and lower bound of S, summed over the heads.
    iterations: pair updates spent.
    closed: whether the gap is small enough for `primal` to stand for S.
    capped: whether a head ran out of its work cap.
    """

    alpha: NDArray
    bias: NDArray
    primal: float
    dual: float
    iterations: int
    closed: bool
    capped: bool

    @property
    def gap(self) -> float:
        """Primal minus dual value."""
        return self.primal - self.dual


def close_gap(
    K: NDArray,
    signs: NDArray,
    C: NDArray | float,
    *,
    alpha: NDArray | None = None,
    precision: float = 1e-3,
    cap: int = FIRST_CAP,
    ceiling: float = math.inf,
    n_jobs: int | None = None,
) -> Heads:
    """Solve every head on K (n, n) until the gap of their sum is at most ``precision * (1 + primal)``.

    Work ends when the lower bound exceeds the `ceiling`, with which the primal value is to be compared, or when the gap
    is closed and the comparison decided; `closed` is False above the ceiling, after `cap` pair updates per head, and
    where values are not finite.
    """
    n_samples, n_heads = signs.shape
    columns = np.zeros((n_heads, n_samples)) if alpha is None else np.array(alpha.T, order="C")  # a copy: written to
    ys = np.ascontiguousarray(signs.T)
    _discard_worn(K, columns, ys)
    bias, primal, dual = np.zeros(n_heads), np.full(n_heads, np.nan), np.zeros(n_heads)
    spent = np.zeros(n_heads, dtype=np.int64)

    def solve(k: int, tol: float) -> bool:
        """Carry head k on to a tolerance; writes its column of each array.  False: the cap came first."""
        result = solve_svm(K, ys[k], C, tol=tol, alpha=columns[k], max_iter=max(int(cap - spent[k]), 1))
        columns[k], bias[k], dual[k] = result.alpha, result.best_bias, result.objective
        primal[k] = result.objective + result.gap
        spent[k] += result.iterations
        return bool(result.converged)

    level = precision
    for tol in TOLERANCES:
        # A head whose gap is within its share is left alone (shares add up to the total); nan: not solved yet.
        open_heads = [k for k in range(n_heads) if not primal[k] - dual[k] <= level * (1.0 / n_heads + primal[k])]
        converged = all(map_threads(partial(solve, tol=tol), open_heads, n_jobs))
        upper, lower = math.fsum(primal), math.fsum(dual)
        closed = upper - lower <= precision * (1.0 + upper) < math.inf  # nan and inf are not closed
        decided = lower > ceiling or (closed and (upper <= ceiling or upper - lower <= SHARP * (1.0 + upper)))
        if decided or not converged or not math.isfinite(upper):
            break
        level = SHARP if closed else precision
    return Heads(columns.T.copy(), bias, upper, lower, int(spent.sum()), closed and lower <= ceiling, not converged)


def _discard_worn(K: NDArray, columns: NDArray, ys: NDArray) -> None:
    """Set warm multipliers (K, n) to zero in place where a much smaller multiple of them is better.

    After a move that spreads the latent rows the multipliers of the old kernel matrix are far too large, and pair
    updates need longer to shrink them all than to find the few that are needed.
    """
    for alpha, y in zip(columns, ys):
        support = np.flatnonzero(alpha)
        duals = alpha[support] * y[support]
        step = max(1, PORTION // max(len(support), 1))
        quadratic = 0.0
        for start in range(0, len(support), step):
            checkpoint()
            rows = slice(start, start + step)
            quadratic += duals[rows] @ (K[np.ix_(support[rows], support)] @ duals)
        if alpha.sum() < WORN * quadratic:
            alpha[:] = 0.0


class KernelHead(NamedTuple):
    """A fitted decision: f_k(z) = sum_i weights_ik k(rows_i, z / scale) + bias_k.

    rows (s, d): support rows, already divided by `scale`.
    weights (s, K): signed multipliers.
    bias (K,).
    scale (d,): divides the columns of latent rows; None is 1.
    """

    kernel: Kernel
    rows: NDArray
    weights: NDArray
    bias: NDArray
    scale: NDArray | None = None

    def scores(self, latent: NDArray) -> NDArray:
        """Return the decisions (n, K) of latent rows (n, d), in blocks within scikit-learn's working memory."""
        if self.scale is not None:
            latent = latent / self.scale
        scores = np.empty((len(latent), len(self.bias)))
        step = max(1, int(get_config()["working_memory"] * 2**20 / (8 * max(len(self.rows), 1))))
        for start in range(0, len(latent), step):
            rows = slice(start, start + step)
            np.matmul(self.kernel.matrix(latent[rows], self.rows), self.weights, out=scores[rows])
        scores += self.bias
        return scores


def heads_on_kernel(K: NDArray, signs: NDArray, C: NDArray | float, tol: float, alpha: NDArray) -> Heads:
    """Solve one SVM per column of `signs` (n, K) on a kernel matrix (n, n), warm from `alpha` (n, K)."""
    parts = [solve_svm(K, signs[:, k], C, tol=tol, alpha=alpha[:, k]) for k in range(signs.shape[1])]
    return _collect(
        np.column_stack([part.alpha for part in parts]),
        [part.best_bias for part in parts],
        [part.objective + part.gap for part in parts],
        [part.objective for part in parts],
        sum(part.iterations for part in parts),
        all(part.converged for part in parts),
    )


def heads_on_features(features: NDArray, signs: NDArray, C: NDArray | float, tol: float, start: Heads | None) -> Heads:
    """Solve one SVM per column of `signs` (n, K) on the kernel of features (n, d), warm from `start`."""
    alpha, biases, upper, lower, spent, converged = np.empty(signs.shape), [], [], [], 0, True
    for k in range(signs.shape[1]):
        y = np.ascontiguousarray(signs[:, k])
        warm = {}
        if start is not None:
            coef = features.T @ (start.alpha[:, k] * y)
            warm = {"alpha": start.alpha[:, k], "coef": coef, "bias": float(start.bias[k])}
        part = solve_linear_svm(features, y, C, tol=GAP * tol**2, **warm)
        # The multipliers define the model: w is recomputed from them.
        decision = features @ (features.T @ (part.alpha * y))
        bias = minimising_bias(decision, y, C)
        quadratic = float((part.alpha * y) @ decision)
        alpha[:, k] = part.alpha
        biases.append(bias)
        lower.append(float(part.alpha.sum()) - 0.5 * quadratic)
        upper.append(lower[-1] + duality_gap(part.alpha, C, 1.0 - y * (decision + bias)))
        spent += part.iterations
        converged &= part.converged
    return _collect(alpha, biases, upper, lower, spent, converged)


def _collect(
    alpha: NDArray, biases: list[float], upper: list[float], lower: list[float], spent: int, converged: bool
) -> Heads:
    return Heads(alpha, np.array(biases), math.fsum(upper), math.fsum(lower), spent, converged, not converged)
