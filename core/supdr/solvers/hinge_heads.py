"""Linear heads with the hinge loss: an interior-point method whose sums over rows may come from partitions.

Mehrotra's predictor-corrector on 1/2 |w|^2 + C'xi, C = weights / (2 reg), subject to
s = y (design theta + offset) - 1 + xi >= 0 and xi >= 0, with multipliers alpha and t = C - alpha.

A head is a generator: it requests a visit of its rows, (name, value), and is sent sums.  The state of the rows between
visits is a `HingeRows`, which is never written to: a visit returns a new one.

Source: M. C. Ferris, T. S. Munson, "Interior-Point Methods for Massive Support Vector Machines".
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.solvers.positive_definite import solve_positive

FRACTION_TO_BOUNDARY = 0.995
# Relative duality gap at which the method ends.
GAP = 1e-11

# Cap on the steps.
HINGE_STEPS = 60


class Largest(float):
    """A number of which the largest is kept when parts are added up."""

    def __add__(self, other: float) -> Largest:
        return Largest(max(self, other))


class Least(float):
    """A number of which the smallest is kept when parts are added up."""

    def __add__(self, other: float) -> Least:
        return Least(min(self, other))


class HingeRows(NamedTuple):
    """One head's rows between two visits.

    signed (n, d + 1): rows y_i [u_i, 1].
    slack, C (n,): y offset - 1, and the cap of the multipliers.
    alpha, t, s, xi (n,): the iterate.
    inverse, residual, q (n,): weights of the system, primal residual, right-hand side.
    c_s, c_t (n,): what is aimed at in the products alpha s and t xi.
    d_alpha, d_s, d_xi (n,): the direction.
    """

    signed: NDArray
    slack: NDArray
    C: NDArray
    alpha: NDArray
    t: NDArray
    s: NDArray
    xi: NDArray
    inverse: Any = None
    residual: Any = None
    q: Any = None
    c_s: Any = None
    c_t: Any = None
    d_alpha: Any = None
    d_s: Any = None
    d_xi: Any = None

    def looked_at(self, point: NDArray) -> tuple[HingeRows, tuple]:
        """Form the system and the predictor's right-hand side at a point; sum residuals and products."""
        dual = self.alpha @ self.signed
        residual = self.signed @ point + self.slack + self.xi - self.s
        inverse = 1.0 / (self.xi / self.t + self.s / self.alpha)
        c_s, c_t = -self.alpha * self.s, -self.t * self.xi  # predictor: aim at complementarity 0
        rows = self._replace(residual=residual, inverse=inverse, c_s=c_s, c_t=c_t)
        rows, right = rows._aimed()
        system = (self.signed.T * inverse) @ self.signed
        products = float(self.alpha @ self.s + self.t @ self.xi)
        sums = dual, Largest(abs(residual).max(initial=0.0)), products, float(self.C @ self.xi), system, right
        return rows, sums

    def _aimed(self) -> tuple[HingeRows, NDArray]:
        # Linearised: alpha ds + s dalpha = c_s and t dxi - xi dalpha = c_t, both residuals to 0.
        q = self.c_s / self.alpha - self.c_t / self.t - self.residual
        return self._replace(q=q), (q * self.inverse) @ self.signed

    def directed(self, d_point: NDArray) -> tuple[HingeRows, Least]:
        """Take the direction that belongs to that of the point; find how far it may be followed."""
        d_alpha = self.inverse * (self.q - self.signed @ d_point)
        d_s, d_xi = (self.c_s - self.s * d_alpha) / self.alpha, (self.c_t + self.xi * d_alpha) / self.t
        length = _longest(self.alpha, d_alpha, self.t, -d_alpha, self.s, d_s, self.xi, d_xi)
        return self._replace(d_alpha=d_alpha, d_s=d_s, d_xi=d_xi), Least(length)

    def ahead(self, length: float) -> tuple[HingeRows, float]:
        """Sum the products alpha s and t xi so far along the direction."""
        alpha, t = self.alpha + length * self.d_alpha, self.t - length * self.d_alpha
        return self, float(alpha @ (self.s + length * self.d_s) + t @ (self.xi + length * self.d_xi))

    def corrected(self, centring: float) -> tuple[HingeRows, NDArray]:
        """Aim at products of this size, second-order terms taken off."""
        c_s = self.c_s + centring - self.d_alpha * self.d_s
        c_t = self.c_t + centring + self.d_alpha * self.d_xi
        return self._replace(c_s=c_s, c_t=c_t)._aimed()

    def moved(self, move: tuple[float, NDArray]) -> tuple[HingeRows, tuple]:
        """Follow the direction, and look at the new point."""
        length, point = move
        alpha, t = self.alpha + length * self.d_alpha, self.t - length * self.d_alpha
        there = self._replace(alpha=alpha, t=t, s=self.s + length * self.d_s, xi=self.xi + length * self.d_xi)
        return there.looked_at(point)

    def hinges(self, points: tuple[NDArray, NDArray]) -> tuple[HingeRows, NDArray]:
        """Sum C times the hinges at two points."""
        return self, np.array([self.C @ np.maximum(-(self.signed @ each + self.slack), 0.0) for each in points])


def hinge_rows(design: NDArray, y: NDArray, weights: NDArray, reg: float, offset: NDArray) -> HingeRows:
    """Return a head's rows before the first visit: design (n, d + 1), y, weights and offset (n,)."""
    C, slack = weights / (2.0 * reg), y * offset - 1.0
    s, xi = np.maximum(slack, 0.0) + 1.0, np.maximum(-slack, 0.0) + 1.0
    return HingeRows(design * y[:, None], slack, C, 0.5 * C, 0.5 * C, s, xi)


def hinge_head(theta: NDArray, n: int, largest: float) -> Generator[tuple[str, Any], Any, NDArray]:
    """Request visits until the gap is closed; return [w, b] (d + 1,), the given theta if that is as good."""
    ridge = np.ones(len(theta))
    ridge[-1] = 0.0
    point = np.zeros(len(theta))
    sums = yield "looked_at", point
    for _ in range(HINGE_STEPS):
        checkpoint()
        dual, primal_residual, products, penalty, system, right = sums
        dual_residual = ridge * point - dual  # (d+1,)
        mu = products / (2 * n)
        small = GAP * (1.0 + 0.5 * float(ridge @ point**2) + penalty)
        if mu * n <= small and primal_residual <= 1e-9 and abs(dual_residual).max() <= 1e-9 * (1.0 + largest):
            break
        system = system.copy()
        system.flat[:: len(theta) + 1] += ridge
        d_point = solve_positive(system, (right - dual_residual)[:, None])[:, 0]
        length = float((yield "directed", d_point))
        ahead = yield "ahead", length
        right = yield "corrected", mu * (float(ahead) / (2 * n * mu)) ** 3
        d_point = solve_positive(system, (right - dual_residual)[:, None])[:, 0]
        length = min(1.0, FRACTION_TO_BOUNDARY * float((yield "directed", d_point)))
        point = point + length * d_point
        sums = yield "moved", (length, point)
    values = yield "hinges", (point, theta)
    after, before = (float(value) + 0.5 * float(ridge @ each**2) for value, each in zip(values, (point, theta)))
    return point if after < before else theta


def _longest(*pairs: NDArray) -> float:
    """Return the largest step in (0, 1] that keeps every value + step * change nonnegative."""
    length = 1.0
    for value, change in zip(pairs[::2], pairs[1::2]):
        ratio = float((change / value).min(initial=0.0))
        if ratio < -1.0 / length:
            length = -1.0 / ratio
    return length
