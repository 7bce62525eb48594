"""Interior-point method for the dual of the kernel SVM: the way out when pair steps and conjugate gradients crawl.

    min 1/2 beta'K beta - target'beta,   lower <= beta <= upper,   sum beta = 0

Mehrotra's predictor-corrector [1]_.  One Cholesky factorisation of K + diagonal per step, some 20 steps whatever the
condition of K: overlapping classes with a polynomial kernel of large entries need them.  It cannot start warm and
leaves no variable exactly at a bound, so it precedes SMO rather than replaces it.

.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2 (1992);
       for support vector machines: S. Fine, K. Scheinberg, JMLR 2 (2001).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from supdr.engine.interruption import checkpoint

Array = NDArray[np.float64]

MAX_STEPS = 60
ACCURACY = 1e-7  # of the complementarity: what is left of it times the entries of K is the error SMO must remove
BACK_OFF = 0.995  # share of the way to the nearest bound


def interior_point(K: Array, target: Array, lower: Array, upper: Array, tol: float) -> Array:
    """Return beta (n,), strictly inside its bounds with sum beta = 0 up to rounding, near the optimum.

    `K` (n, n): symmetric positive semi-definite, C-contiguous; `target`, `lower`, `upper` (n,): lower = 0 < upper for
    one class, lower < 0 = upper for the other; `tol`: aimed-at violation of the optimality conditions.
    """
    positive, negative = upper.sum(), -lower.sum()
    beta = 0.5 * np.where(upper > 0.0, upper * min(1.0, negative / positive), lower * min(1.0, positive / negative))
    # Rows: distances from the lower and the upper bound, and the multipliers of the two.
    room = np.stack([beta - lower, upper - beta])
    push = np.maximum(1e-3, np.abs(K @ beta - target).mean()) * 0.1 * (upper - lower).mean() / room
    shift = 0.0  # multiplier of sum beta = 0
    for _ in range(MAX_STEPS):
        checkpoint()
        gradient = K @ beta - target
        residual = gradient + shift - push[0] + push[1]
        complementarity = np.sum(room * push)
        value = abs(0.5 * beta @ (gradient - target))
        if complementarity < ACCURACY * tol * max(1.0, value) and np.abs(residual).max() < 0.1 * tol:
            break
        try:
            newton = _Newton(K, room, push, residual, beta.sum())
        except LinAlgError:  # K + diagonal is singular to rounding: as near as it gets
            break
        mean = complementarity / (2 * len(beta))
        step, multiplier_step, _ = newton.direction(-room * push)
        length = min(_longest(room, step), _longest(push, multiplier_step))
        reached = np.mean((room + length * step) * (push + length * multiplier_step))
        centre = (reached / mean) ** 3 * mean
        step, multiplier_step, shift_step = newton.direction(centre - room * push - step * multiplier_step)
        length = min(1.0, BACK_OFF * min(_longest(room, step), _longest(push, multiplier_step)))
        beta = beta + length * step[0]
        room = room + length * step
        push = push + length * multiplier_step
        shift += length * shift_step
    return beta


class _Newton:
    """The Newton system at one iterate, factorised once for the predictor and the corrector."""

    def __init__(self, K: Array, room: Array, push: Array, residual: Array, excess: float) -> None:
        matrix = K.copy()
        matrix.flat[:: len(K) + 1] += (push / room).sum(0)
        # The transpose of a symmetric C-contiguous matrix is what LAPACK factorises without a further copy.
        self.factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        self.ones = cho_solve(self.factor, np.ones(len(K)), check_finite=False)
        self.room, self.push, self.residual, self.excess = room, push, residual, excess

    def direction(self, change_of_product: Array) -> tuple[Array, Array, float]:
        """Return the changes of `room` (2, n), `push` (2, n) and the multiplier of the sum.

        `change_of_product` (2, n) is the change of room * push to first order.
        """
        pull = change_of_product / self.room
        free = cho_solve(self.factor, pull[0] - pull[1] - self.residual, check_finite=False)
        shift = float((free.sum() + self.excess) / self.ones.sum())
        change = free - shift * self.ones
        step = np.stack([change, -change])
        return step, pull - self.push / self.room * step, shift


def _longest(values: Array, step: Array) -> float:
    """Return the largest length <= 1 that keeps values + length * step >= 0."""
    shrinking = step < 0.0
    return min(1.0, float((-values[shrinking] / step[shrinking]).min())) if shrinking.any() else 1.0
