"""Kernel support vector machine on a precomputed Gram matrix: SMO, conjugate gradients, decomposition.

    max_alpha  sum_i p_i alpha_i - 1/2 sum_il alpha_i alpha_l y_i y_l K_il,   0 <= alpha <= C,   sum_i alpha_i y_i = 0

Pairs of variables are chosen by second-order working-set selection [1]_; between bursts of pair steps the variables
strictly inside their bounds are solved for by conjugate gradients, which SMO alone approaches slowly when the kernel
has low rank or C is large.  Beyond `DIRECT_SIZE` rows both run on a gathered submatrix: all free variables and as many
of the worst bound variables that should rise as of those that should fall.  The choice must be balanced: on a cold
start all scores tie, and rows sorted by class would put a single class into the block, which has no feasible pair.
Where both crawl, an interior-point method takes over once (`svm_interior`); SMO finishes from its solution.

.. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for training support
       vector machines", JMLR 6 (2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.engine.interruption import checkpoint
from supdr.solvers._smo_kernels import BLOCKED, add_rows, descend, gather, pair_steps
from supdr.solvers.svm_interior import interior_point

Array = NDArray[np.float64]

DIRECT_SIZE = 500  # up to here gathering a submatrix does not pay
SLICE = 8e6  # multiply-adds between two checkpoints, about 10 ms
MAX_REFRESHES = 10
INTERIOR_SIZE = 1200  # one factorisation must fit between two checkpoints


class SVMSolution(NamedTuple):
    """Result of `solve_svm`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Dual variables, 0 <= alpha <= C; exactly 0 or C at a bound.
    bias : float
        Mean of y p - f over the free support vectors (0 < alpha < C), as LIBSVM computes it; without a free one the
        middle of the interval that the optimality conditions leave.
    objective : float
        Dual value at `alpha`: a lower bound on the optimum of the primal.
    gap : float
        Primal value at `alpha` and `best_bias` minus `objective`, >= 0; see `duality_gap`.
    iterations : int
        Pair steps and conjugate gradient products made.
    converged : bool
        Whether the optimality conditions hold to `tol`.
    decision : ndarray of shape (n,)
        f = K (alpha y), without a bias.
    best_bias : float
        The bias that minimises the primal for this `alpha`, see `minimising_bias`.
    """

    alpha: Array
    bias: float
    objective: float
    gap: float
    iterations: int
    converged: bool
    decision: Array
    best_bias: float


class _State(NamedTuple):
    """Signed variables beta = alpha y with bounds, masks and gradient, all (n,), in the order the kernels take them."""

    diagonal: Array
    gradient: Array
    beta: Array
    lower: Array
    upper: Array
    rise: Array
    fall: Array

    def take(self, rows: NDArray[np.intp]) -> _State:
        """Return copies of the listed rows."""
        return _State(*(array[rows] for array in self))

    def spread(self) -> float:
        """Return max g over what may fall - min g over what may rise: the violation of the optimality conditions."""
        return float((self.gradient + self.fall).max() - (self.gradient + self.rise).min())


def solve_svm(
    K: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    tol: float = 1e-3,
    alpha: ArrayLike | None = None,
    linear: ArrayLike | None = None,
    max_iter: int = 1_000_000,
) -> SVMSolution:
    """Solve the dual of the support vector machine with hinge loss on a precomputed kernel.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric positive semi-definite Gram matrix. C-contiguous float64 is used as it is; symmetry is not checked.
        NaN or infinity is noticed in the rows that the solver reads.
    y : array-like of shape (n,)
        Labels -1 and +1, both present.
    C : float or array-like of shape (n,)
        Upper bound of alpha, > 0.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, > 0, in units of the decision function (LIBSVM's criterion).
    alpha : array-like of shape (n,), default=None
        Warm start: any finite values. Clipped to [0, C]; the heavier class is scaled down until sum alpha y = 0.
    linear : array-like of shape (n,), default=None
        p, the linear term; None: ones. The loss of row i is C_i max(0, p_i - y_i (f_i + b)).
    max_iter : int, default=1_000_000
        Cap on the iterations of this call, >= 1. Passing the returned `alpha` back continues. A cap below n^2 / 4 also
        rules out the interior-point method, which is tried after that many iterations when n <= 1200.

    Returns
    -------
    SVMSolution
        `converged` is False when the cap, or rounding, came before `tol`; every other field is valid all the same.

    Raises
    ------
    ValueError
        If shapes are wrong, labels are other than -1 and +1 or of a single class, C, tol or max_iter is not positive,
        or input is not finite.
    Interrupted
        If the run of the current thread is asked to stop, which is looked at about every 10 ms.
    """
    K, y, C = _check_problem(K, y, C)
    p = np.ones(len(y)) if linear is None else checked_vector(linear, "linear", len(y))
    check_limits(tol, max_iter)
    target = y * p
    lower, upper = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    beta = np.zeros(len(y)) if alpha is None else _feasible(checked_vector(alpha, "alpha", len(y)), y, C)
    state = _State(
        diagonal=np.ascontiguousarray(K.diagonal()),
        gradient=_gradient(K, beta, target),
        beta=beta,
        lower=lower,
        upper=upper,
        rise=np.where(beta < upper, 0.0, BLOCKED),
        fall=np.where(beta > lower, 0.0, -BLOCKED),
    )
    iterations = _minimise(K, state, target, tol, max_iter)
    _repair_sum(K, state)
    return _solution(state, y, C, p, iterations, tol)


def minimising_bias(decision: Array, y: Array, C: Array | float, linear: Array | float = 1.0) -> float:
    """Return the bias b that minimises sum_i C_i max(0, p_i - y_i (f_i + b)), in O(n log n).

    With r_i = y_i p_i - f_i the slope in b is sum of C_i over r_i < b minus the sum of C_i over the positive class.
    So b is the weighted quantile of r at which the cumulated C reaches that of the positives; where it is reached
    exactly, every b up to the next r is a minimiser and the middle is returned.  With equal C that is any b between
    the n+-th and the next of the sorted r, n+ the number of positives.

    `decision` (n,): f, decision values without a bias; `y` (n,): labels -1 and +1, both present; `C` (n,): weights of
    the losses, > 0; `linear` (n,): p, the margins asked for.
    """
    r = y * linear - decision
    order = np.argsort(r)
    cumulated = np.cumsum(np.broadcast_to(C, r.shape)[order])
    positive_weight = np.sum(np.broadcast_to(C, r.shape)[y > 0])
    rounding = 1e-12 * cumulated[-1]
    k = min(int(np.searchsorted(cumulated, positive_weight - rounding)), len(r) - 1)
    if cumulated[k] <= positive_weight + rounding and k + 1 < len(r):
        return float(0.5 * (r[order[k]] + r[order[k + 1]]))
    return float(r[order[k]])


def duality_gap(alpha: Array, C: Array | float, slacks: Array) -> float:
    """Return sum_i C_i max(0, t_i) - alpha_i t_i, the primal minus the dual value at a feasible alpha (n,).

    t (n,), the `slacks`: p_i - y_i (f_i + b).  No term is negative, rounded or not, since 0 <= alpha <= C; a difference
    of the two values may be.
    """
    return float((C * np.maximum(0.0, slacks) - alpha * slacks).sum())


def checked_vector(values: ArrayLike, name: str, n: int) -> Array:
    """Return finite, contiguous float64 values of shape (n,)."""
    vector = np.ascontiguousarray(values, dtype=np.float64)
    if vector.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {vector.shape}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    return vector


def checked_labels(y: ArrayLike, C: ArrayLike, n: int, both_classes: bool = True) -> tuple[Array, Array]:
    """Return labels -1 and +1, (n,), and the weights of their hinges, (n,), > 0."""
    y = checked_vector(y, "y", n)
    positives = np.count_nonzero(y == 1.0)
    if positives + np.count_nonzero(y == -1.0) != n:
        raise ValueError(f"y must contain -1 and +1 only, got {np.unique(y)[:5]}.")
    if both_classes and positives in (0, n):
        raise ValueError("y holds one class only: a support vector machine needs two classes.")
    C = np.asarray(C, dtype=np.float64)
    C = checked_vector(np.full(n, C) if C.ndim == 0 else C, "C", n)
    if C.min() <= 0.0:
        raise ValueError(f"C must be positive, got {C.min()}.")
    return y, C


def check_limits(tol: float, max_iter: int) -> None:
    """Raise ValueError unless the tolerance is positive and at least one iteration is allowed."""
    if not 0.0 < tol < np.inf:
        raise ValueError(f"tol must be positive and finite, got {tol!r}.")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}.")


def _check_problem(K: ArrayLike, y: ArrayLike, C: ArrayLike) -> tuple[Array, Array, Array]:
    """Return K (n, n), y (n,) and C (n,) as float64, K C-contiguous."""
    K = np.ascontiguousarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square matrix, got shape {K.shape}.")
    y, C = checked_labels(y, C, len(K))
    if not np.isfinite(K.diagonal()).all():
        raise ValueError("K contains NaN or infinity.")
    return K, y, C


def _feasible(alpha: Array, y: Array, C: Array) -> Array:
    """Return beta = alpha y, clipped to the box and with the heavier class scaled down so that sum beta = 0.

    A difference within rounding is left to `_repair_sum`: scaling would move every variable off its bound.
    """
    beta = np.clip(alpha, 0.0, C) * y
    positive, negative = beta[beta > 0.0].sum(), -beta[beta < 0.0].sum()
    if abs(positive - negative) <= 1e-12 * positive:
        return beta
    if positive > negative:
        beta[beta > 0.0] *= negative / positive
    elif negative > positive:
        beta[beta < 0.0] *= positive / negative
    return beta


def _add_rows(K: Array, rows: NDArray[np.intp], coef: Array, out: Array) -> None:
    """Add coef[rows] @ K[rows] to `out` in place, in interruptible portions."""
    portion = max(1, int(SLICE / len(out)))
    for start in range(0, len(rows), portion):
        checkpoint()
        add_rows(K, rows[start : start + portion], coef, out)


def _gather(K: Array, rows: NDArray[np.intp]) -> Array:
    """Return K[rows, rows], copied in interruptible portions."""
    block = np.empty((len(rows), len(rows)))
    portion = max(1, int(SLICE / 4 / len(rows)))
    for start in range(0, len(rows), portion):
        checkpoint()
        gather(K, rows, start, min(start + portion, len(rows)), block)
    return block


def _gradient(K: Array, beta: Array, target: Array) -> Array:
    """Return K beta - target from the non-zeros of beta."""
    gradient = -target
    _add_rows(K, np.flatnonzero(beta), beta, gradient)
    return gradient


def _minimise(K: Array, state: _State, target: Array, tol: float, max_iter: int) -> int:
    """Write `state` in place: reach spread < tol if `max_iter` iterations allow.  Return the iterations.

    The gradient is updated, never recomputed, so that rounding adds up; when its bound comes near `tol` the gradient is
    computed afresh and the result verified.  After as much work as an interior-point solve costs, one is tried.
    """
    n = len(K)
    method = _descend if n <= DIRECT_SIZE else _decompose
    interior_after = n * n // 4 if n <= INTERIOR_SIZE else max_iter
    iterations = 0
    for _ in range(MAX_REFRESHES):
        n_steps = method(K, state, tol, min(interior_after, max_iter) - iterations)
        iterations += n_steps
        scale = float(state.diagonal.max() * np.abs(state.beta).sum())
        if np.finfo(float).eps * n_steps * scale > 0.01 * tol:
            state.gradient[:] = _gradient(K, state.beta, target)
        if state.spread() < tol or iterations >= max_iter:
            break
        if iterations >= interior_after:
            _jump_inside(K, state, target, tol)
            interior_after = max_iter
    return iterations


def _jump_inside(K: Array, state: _State, target: Array, tol: float) -> None:
    """Write `state` in place: go to the solution of the interior-point method, unless its objective is higher."""
    beta = interior_point(K, target, state.lower, state.upper, tol)
    near = 1e-9 * (state.upper - state.lower)
    beta = np.where(beta < state.lower + near, state.lower, np.where(beta > state.upper - near, state.upper, beta))
    gradient = _gradient(K, beta, target)
    if beta @ (gradient - target) < state.beta @ (state.gradient - target):
        state.beta[:], state.gradient[:] = beta, gradient
        _repair_sum(K, state)
        state.rise[:] = np.where(state.beta < state.upper, 0.0, BLOCKED)
        state.fall[:] = np.where(state.beta > state.lower, 0.0, -BLOCKED)


def _check_finite(state: _State) -> None:
    if not np.isfinite(state.gradient).all():
        raise ValueError("K contains NaN or infinity, or values too large to add up.")


def _descend(K: Array, state: _State, tol: float, max_iter: int) -> int:
    """Write `state` in place: pair steps and conjugate gradients on all of K, in interruptible slices."""
    burst = len(K)
    iterations = 0
    while iterations < max_iter:
        checkpoint()
        n_steps, spread, burst = descend(K, *state, tol, burst, max_iter - iterations, SLICE)
        iterations += n_steps
        _check_finite(state)
        if spread < tol:
            break
    return iterations


def _decompose(K: Array, state: _State, tol: float, max_iter: int) -> int:
    """Write `state` in place: solve for one working set after another, refreshing the whole gradient in between."""
    n = len(K)
    iterations = 0
    if not state.beta.any():
        iterations += _plain_steps(K, state, tol, min(n, max_iter))
    while iterations < max_iter:
        free, risers, fallers = _violators(state, tol)
        if state.spread() < tol:
            break
        each = max(128, len(free) // 10)
        if len(risers) > each:
            risers = risers[np.argpartition(state.gradient[risers], each)[:each]]
        if len(fallers) > each:
            fallers = fallers[np.argpartition(-state.gradient[fallers], each)[:each]]
        rows = np.sort(np.concatenate([free, risers, fallers]))
        block = state.take(rows)
        iterations += _descend(_gather(K, rows), block, 0.5 * tol, max_iter - iterations)
        change = np.zeros(n)
        change[rows] = block.beta - state.beta[rows]
        state.beta[rows], state.rise[rows], state.fall[rows] = block.beta, block.rise, block.fall
        changed = np.flatnonzero(change)
        _add_rows(K, changed, change, state.gradient)
        if len(changed) == 0:  # lost in rounding inside the block
            iterations += 1 + _plain_steps(K, state, tol, min(n, max_iter - iterations - 1))
    return iterations


def _violators(state: _State, tol: float) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the free variables, and the variables at a bound that should rise and that should fall."""
    up, down = state.gradient + state.rise, state.gradient + state.fall
    free = (state.rise == 0.0) & (state.fall == 0.0)
    risers = (up < down.max() - tol) & ~free
    fallers = (down > up.min() + tol) & ~free
    return np.flatnonzero(free), np.flatnonzero(risers), np.flatnonzero(fallers)


def _plain_steps(K: Array, state: _State, tol: float, max_steps: int) -> int:
    """Write `state` in place: pair steps on all of K, in interruptible slices, until few bound variables violate."""
    few = len(K) // 8
    portion = max(1, min(few, int(SLICE / len(K))))
    done = 0
    while done < max_steps:
        checkpoint()
        most_steps = min(portion, max_steps - done)
        n_steps, _ = pair_steps(K, *state, tol, most_steps)
        done += n_steps
        _check_finite(state)
        _, risers, fallers = _violators(state, tol)
        if n_steps < most_steps or len(risers) + len(fallers) <= few:
            break
    return done


def _repair_sum(K: Array, state: _State) -> None:
    """Write `state` in place: take what rounding has added to sum beta from the free variable with most room."""
    excess = float(state.beta.sum())
    room = np.minimum(state.beta - state.lower, state.upper - state.beta)  # 0 at a bound
    k = int(room.argmax())
    if excess != 0.0 and room[k] > abs(excess):
        state.beta[k] -= excess
        state.gradient[:] -= excess * K[k]


def _solution(state: _State, y: Array, C: Array, p: Array, iterations: int, tol: float) -> SVMSolution:
    """Collect the result; the dual value is 1/2 beta'(target - gradient)."""
    target = y * p
    decision = state.gradient + target
    free = (state.beta > state.lower) & (state.beta < state.upper)
    if free.any():
        bias = -float(state.gradient[free].mean())
    else:
        bias = -0.5 * float((state.gradient + state.rise).min() + (state.gradient + state.fall).max())
    best_bias = minimising_bias(decision, y, C, p)
    objective = 0.5 * float(state.beta @ (target - state.gradient))
    alpha = np.abs(state.beta)
    return SVMSolution(
        alpha=alpha,
        bias=bias,
        objective=objective,
        gap=duality_gap(alpha, C, p - y * (decision + best_bias)),
        iterations=iterations,
        converged=bool(state.spread() < tol),
        decision=decision,
        best_bias=best_bias,
    )
