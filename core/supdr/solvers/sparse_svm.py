"""Linear support vector machine on sparse rows, its bias not regularised.

    min over w, b   1/2 |w|^2 + C sum_i max(0, 1 - y_i (w'x_i + b))

Proximal point in b: with a centre b0 and the term (b - b0)^2 / (2 u) the dual has box constraints only, and steps along
one dual variable at a time take the stored cells of one row each.  Then b0 <- b, until primal and dual meet.  Every
result carries its certificate: `objective` is the value of a feasible dual point.

Sources: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate descent method for
large-scale linear SVM", ICML 2008 (LIBLINEAR); the proximal method of multipliers (R. T. Rockafellar, Math. Oper. Res.
1, 1976).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.solvers.linear_svm import LinearSVMSolution, solve_linear_svm

Array = NDArray[np.float64]

# Passes between two updates of the centre of the bias, and between two computations of the gap.
PASSES, PASSES_TO_CHECK = 2, 10
MOST_PASSES = 2000

# Of rows that are made dense: columns, and cells (256 MB).
FEW_COLUMNS, DENSE_CELLS = 300, 1 << 25


def solve_sparse_svm(
    X: Any, y: Array, C: float, *, tol: float = 1e-6, max_passes: int = MOST_PASSES, random_state: int = 0
) -> LinearSVMSolution:
    """Fit a linear SVM to sparse rows (n, m), few columns as dense ones; `iterations` of the result are passes."""
    if X.shape[1] <= FEW_COLUMNS and X.shape[0] * X.shape[1] <= DENSE_CELLS:
        return solve_linear_svm(X.toarray(), y, C, tol=tol)
    rng = np.random.default_rng(random_state)
    squares = X.power(2).sum(axis=1)
    unit = float(squares.mean()) or 1.0
    alpha, theta = np.zeros(len(y)), np.zeros(X.shape[1] + 1)
    for passes in range(1, max_passes + 1):
        checkpoint()
        descend(X.data, X.indices, X.indptr, y, C, squares, rng.permutation(len(y)), unit, alpha, theta)
        if passes % PASSES == 0:
            theta[-1] += unit * float(alpha @ y)
        if passes % PASSES_TO_CHECK == 0 or passes == max_passes:
            solution = _certified(X, y, C, alpha, passes, tol)
            if solution.converged:
                break
    return solution


@njit(cache=True, nogil=True)
def descend(
    data: Array,
    indices: NDArray,
    indptr: NDArray,
    y: Array,
    C: float,
    squares: Array,
    order: NDArray,
    unit: float,
    alpha: Array,
    theta: Array,
) -> None:
    """Write alpha (n,) and theta = (w, b) (m + 1,) in place: one step along each alpha, in an order (n,).

    `data`, `indices`, `indptr`: of the csr array of the rows; `squares` (n,): their squared lengths; `unit`: u, the
    step of the bias.
    """
    for i in order:
        score = theta[-1]
        for k in range(indptr[i], indptr[i + 1]):
            score += theta[indices[k]] * data[k]
        new = min(max(alpha[i] + (1.0 - y[i] * score) / (squares[i] + unit), 0.0), C)
        change = (new - alpha[i]) * y[i]
        if change != 0.0:
            alpha[i] = new
            theta[-1] += unit * change
            for k in range(indptr[i], indptr[i + 1]):
                theta[indices[k]] += change * data[k]


def _certified(X: Any, y: Array, C: float, alpha: Array, passes: int, tol: float) -> LinearSVMSolution:
    """Return the feasible dual point near alpha (n,), its w, the best b for it, and the gap."""
    positive = y > 0
    up, down = alpha[positive].sum(), alpha[~positive].sum()
    feasible = alpha * np.where(positive, min(1.0, down / up) if up else 0.0, min(1.0, up / down) if down else 0.0)
    coef = X.T @ (feasible * y)
    margins = X @ coef
    bias = best_bias(margins, y)
    half = 0.5 * float(coef @ coef)
    primal = half + C * float(np.maximum(0.0, 1.0 - y * (margins + bias)).sum())
    objective = float(feasible.sum()) - half
    gap = primal - objective
    return LinearSVMSolution(feasible, bias, objective, gap, passes, gap <= tol * primal, coef)


def best_bias(margins: Array, y: Array) -> float:
    """Return the b that minimises sum max(0, 1 - y (margin + b)), the middle one of several; both (n,).

    The slope of the sum is the number of y - margin below b minus the number of positive labels.
    """
    n_positive = int((y > 0).sum())
    ends = np.partition(y - margins, [n_positive - 1, n_positive])[n_positive - 1 : n_positive + 1]
    return float(ends.mean())
