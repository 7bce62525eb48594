"""Linear support vector machine in few dimensions, its bias not regularised.

    min over w, b   1/2 |w|^2 + sum_i C_i max(0, t_i),     t_i = 1 - y_i (w'z_i + b + offset_i)

Proximal point outside, semismooth Newton inside.  With beta = alpha / C in [0, 1] and a centre beta0 the loss of a row
becomes psi(t) = max_beta beta t - tau / 2 (beta - beta0)^2, once differentiable and attained at
beta = clip(beta0 + t / tau, 0, 1).  Newton's method with an exact line search finds the minimum in a few steps of
O(n d + n_free d^2); then beta0 <- beta, tau falls, until primal and dual meet.  A round is left as soon as its
gradient is small, to an accuracy that rises with the rounds: an early one is only on the way.  From the second round on
only rows near their margin take part; the others, whose beta is 0 or 1, enter as one constant vector and are checked
after.

Every result carries its certificate: `objective` is the value of a feasible dual point.

Sources: the proximal method of multipliers (R. T. Rockafellar, Math. Oper. Res. 1, 1976); semismooth Newton inside it
for sparse problems (X. Li, D. Sun, K.-C. Toh, SIAM J. Optim. 28, 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.threads import map_threads
from supdr.solvers._linear_svm_kernels import hinge_arguments, inner, newton_steps, shares, weighted_sum
from supdr.solvers.smo import check_limits, checked_labels, checked_vector

Array = NDArray[np.float64]

COLD_TAU, WARM_TAU, SMALLEST_TAU = 1.0, 0.03, 1e-10
FIRST_ACCURACY, BEST_ACCURACY = 0.3, 1e-8
# Of tau and of the accuracy from round to round.
COLD_FALL, WARM_FALL = 0.15, 0.3

# After so many rounds a warm start is given up for a cold one: it can be far from everything when C is huge.
MAX_ROUNDS, WARM_ROUNDS = 40, 15

# Numbers read between two checks of the stop flag: a few milliseconds.
SLICE = 2e6

# Rows further from their margin than this many times the last movement (plus tau) are held.
MARGIN_OF_BAND = 3.0

# Newton steps after which the rows in the band are taken to have no minimum of their own.
STEPS_IN_BAND = 40


class LinearSVMSolution(NamedTuple):
    """Result of `solve_linear_svm`.

    alpha (n,): dual variables, 0 <= alpha <= C, with sum alpha y = 0.
    bias: b.
    objective: the dual value at `alpha`: a lower bound on the optimum.
    gap: primal value at (`coef`, `bias`) minus `objective`.
    iterations: Newton steps.
    converged: whether the gap is at most tol times the primal value.
    coef (d,): w.
    """

    alpha: Array
    bias: float
    objective: float
    gap: float
    iterations: int
    converged: bool
    coef: Array


def solve_linear_svm(
    Z: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    tol: float = 1e-6,
    alpha: ArrayLike | None = None,
    coef: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    bias: float | None = None,
    fit_bias: bool = True,
    max_iter: int = 1000,
) -> LinearSVMSolution:
    """Fit a linear support vector machine.

    Z (n, d): rows.  Meant for d up to some hundreds: a Newton step solves a (d + 1) x (d + 1) system.
    y (n,): labels -1 and +1, both present unless `fit_bias` is False.
    C: number or (n,): weight of the hinge, > 0.
    tol: relative duality gap, > 0.
    alpha (n,): dual variables to start from, clipped to [0, C].
    coef (d,): w to start from.
    offset (n,): fixed numbers added to the scores; 0 by default.
    bias: b to start from; with ``fit_bias=False`` the b that is kept.  0 by default.
    fit_bias: whether b is fitted.
    max_iter: cap on the Newton steps of this call, >= 1.  Passing `alpha`, `coef`, `bias` back continues.

    In the result `converged` is False when the cap, or rounding, came before `tol`. Raises ValueError: wrong shapes,
    labels other than -1 and +1, a single class, C <= 0, tol <= 0, max_iter < 1, non-finite input; Interrupted: the run
    of the current thread was asked to stop.
    """
    Z = np.asarray(Z, dtype=np.float64)
    if Z.ndim != 2 or 0 in Z.shape:
        raise ValueError(f"Z must have shape (n, d) with n, d >= 1, got {Z.shape}.")
    if not np.isfinite(Z).all():
        raise ValueError("Z contains NaN or infinity.")
    n, d = Z.shape
    y, weight = checked_labels(y, C, n, fit_bias)
    check_limits(tol, max_iter)
    theta = np.zeros(d + 1)
    if coef is not None:
        theta[:d] = checked_vector(coef, "coef", d)
    theta[d] = 0.0 if bias is None else bias
    if not np.isfinite(theta[d]):
        raise ValueError(f"bias must be finite, got {bias!r}.")
    beta = None if alpha is None else np.clip(checked_vector(alpha, "alpha", n) / weight, 0.0, 1.0)
    linear = np.ones(n) if offset is None else 1.0 - y * checked_vector(offset, "offset", n)
    return _Proximal(Z, y, weight, linear, fit_bias).solve(theta, beta, tol, max_iter)


class Heads(NamedTuple):
    """Linear classifiers on the same rows, one per column of the signs.

    coef (P, d).
    intercept (P,).
    alpha (n, P): 0 where the sign is 0.
    gap: sum of the duality gaps.
    iterations: newton steps of all heads.
    """

    coef: Array
    intercept: Array
    alpha: Array
    gap: float
    iterations: int


def solve_heads(
    Z: Array,
    signs: Array,
    C: Array | float,
    start: Heads | None = None,
    *,
    tol: float = 1e-6,
    n_jobs: int | None = None,
) -> Heads:
    """Fit one support vector machine per column of `signs` (n, P), -1, +1 or 0 for a row that has no part."""
    n, P = signs.shape
    weight = np.full(n, C, dtype=np.float64)  # a copy: the kernels are not compiled for arrays that are read only

    def solve(k: int) -> LinearSVMSolution:
        """Fit classifier k."""
        y = signs[:, k]
        rows = slice(None) if y.all() else np.flatnonzero(y)
        chosen = np.ascontiguousarray(weight[rows])
        problem = _Proximal(Z[rows], np.ascontiguousarray(y[rows]), chosen, np.ones(len(chosen)), True)
        if start is None:
            return problem.solve(np.zeros(Z.shape[1] + 1), None, tol, 1000)
        theta = np.append(start.coef[k], start.intercept[k])
        return problem.solve(theta, np.clip(start.alpha[rows, k] / chosen, 0.0, 1.0), tol, 1000)

    solutions = map_threads(solve, range(P), n_jobs)
    alpha = np.zeros((n, P))
    for k, solution in enumerate(solutions):
        alpha[signs[:, k] != 0, k] = solution.alpha
    return Heads(
        np.array([solution.coef for solution in solutions]),
        np.array([solution.bias for solution in solutions]),
        alpha,
        float(sum(solution.gap for solution in solutions)),
        sum(solution.iterations for solution in solutions),
    )


class _Proximal:
    """One problem in the kernels' layout: A (D, n) holds y z and, last, y."""

    def __init__(self, Z: Array, y: Array, weight: Array, linear: Array, fit_bias: bool) -> None:
        n, d = Z.shape
        self.A = np.empty((d + 1, n))
        np.multiply(Z.T, y, out=self.A[:d])
        self.A[d] = y
        self.weight, self.linear, self.fit_bias = weight, linear, fit_bias
        self.unit = min(1.0, float(weight.sum()))

    def solve(self, theta: Array, beta: Array | None, tol: float, max_iter: int) -> LinearSVMSolution:
        """Minimise from theta (D,), which is written in place, and beta (n,)."""
        cold, given_bias = beta is None, theta[-1]
        tau, fall = (COLD_TAU, COLD_FALL) if cold else (WARM_TAU, WARM_FALL)
        centre = np.full(len(self.weight), 0.5) if beta is None else beta
        t = np.empty_like(self.weight)
        hinge_arguments(self.A, theta, self.linear, t)
        band, accuracy, iterations, converged = np.inf, FIRST_ACCURACY, 0, False
        for _ in range(MAX_ROUNDS if cold else WARM_ROUNDS):
            before = t
            steps, t = self._round(theta, centre, tau, accuracy, band + tau, before, max_iter - iterations)
            iterations += steps
            beta = np.empty_like(t)
            shares(t, centre, tau, beta)
            centre = beta
            primal = self._primal(theta, t)
            if primal - inner(self.weight, beta * t) - theta[:-1] @ theta[:-1] / 2 <= tol * primal:
                converged = self._solution(theta, t, beta, iterations, tol).converged
            if converged or iterations >= max_iter:
                break
            if steps:  # a round without steps gives no estimate of how far the rows will move
                band = MARGIN_OF_BAND * float(np.abs(t - before).max())
            tau, accuracy = max(fall * tau, SMALLEST_TAU), max(fall * accuracy, BEST_ACCURACY)
        solution = self._solution(theta, t, centre, iterations, tol)
        if cold or solution.converged or iterations >= max_iter:
            return solution
        theta[:-1], theta[-1] = 0.0, 0.0 if self.fit_bias else given_bias
        again = self.solve(theta, None, tol, max_iter - iterations)
        return again._replace(iterations=iterations + again.iterations)

    def _round(
        self, theta: Array, centre: Array, tau: float, accuracy: float, band: float, t: Array, max_iter: int
    ) -> tuple[int, Array]:
        """Minimise at one centre; return the Newton steps and the new t (n,).  Writes theta in place."""
        near = np.flatnonzero(np.abs(t) <= band)
        if 4 * len(near) > 3 * len(t):
            return self._newton(theta, centre, tau, accuracy, None, t, max_iter)[:2]
        first_theta = theta.copy()
        steps, after, finished = self._newton(theta, centre, tau, accuracy, near, t, min(max_iter, STEPS_IN_BAND))
        outside = np.ones(len(t), dtype=bool)
        outside[near] = False
        if finished and not (outside & (np.sign(t) * after <= tau)).any():
            return steps, after
        # A row outside of the band came to its margin, or those in it have no minimum of their own: all rows take part.
        theta[:] = first_theta
        more_steps, after, _ = self._newton(theta, centre, tau, accuracy, None, t, max(max_iter - steps, 1))
        return steps + more_steps, after

    def _newton(
        self, theta: Array, centre: Array, tau: float, accuracy: float, kept: NDArray | None, t: Array, max_iter: int
    ) -> tuple[int, Array, bool]:
        """Write theta in place: Newton steps on the rows kept; return their number, the new t (n,), and the end."""
        A, weight, constant = self.A, self.weight, np.zeros(len(theta))
        if kept is not None:
            above = (t > 0.0).astype(float)
            above[kept] = 0.0
            weighted_sum(A, weight, above, constant)
            A, weight, centre, t = np.ascontiguousarray(A[:, kept]), weight[kept], centre[kept], t[kept]
        t, beta = t.copy(), np.empty_like(t)
        portion = max(1, int(SLICE / max(A.size, 1)))
        steps, finished = 0, False
        while not finished and steps < max_iter:
            checkpoint()
            most_steps = min(portion, max_iter - steps)
            n_steps, finished = newton_steps(
                A,
                weight,
                constant,
                centre,
                tau,
                self.unit,
                self.fit_bias,
                most_steps,
                accuracy,
                steps == 0,
                theta,
                t,
                beta,
            )
            steps += n_steps
        after = np.empty_like(self.weight)
        hinge_arguments(self.A, theta, self.linear, after)  # afresh: updates add rounding up
        return steps, after, finished

    def _primal(self, theta: Array, t: Array) -> float:
        return float(0.5 * theta[:-1] @ theta[:-1] + inner(self.weight, np.maximum(t, 0.0)))

    def _solution(self, theta: Array, t: Array, beta: Array, iterations: int, tol: float) -> LinearSVMSolution:
        """Return the result with the dual value of a point that satisfies sum alpha y = 0."""
        alpha = self.weight * beta
        if self.fit_bias:
            positive = self.A[-1] > 0
            up, down = alpha[positive].sum(), alpha[~positive].sum()
            heavier, ratio = (positive, down / up) if up > down else (~positive, up / down if down > 0.0 else 1.0)
            alpha[heavier] *= ratio
        image = np.empty(len(theta))
        weighted_sum(self.A, alpha, np.ones_like(alpha), image)
        # sum alpha y b vanishes with a fitted bias; one that is not fitted has a term.
        bias_term = 0.0 if self.fit_bias else theta[-1] * image[-1]
        objective = float(inner(alpha, self.linear) - bias_term - 0.5 * image[:-1] @ image[:-1])
        primal = self._primal(theta, t)
        gap = primal - objective
        return LinearSVMSolution(
            alpha, float(theta[-1]), objective, gap, iterations, gap <= tol * abs(primal), theta[:-1].copy()
        )
