"""Columns made symmetric: each by the power that makes its values most like draws from a Gaussian, labels unseen.

    u = (x - m) / s      v = ((1 + u)^a - 1) / a, u >= 0;   -((1 - u)^(2 - a) - 1) / (2 - a), u < 0

a maximises -n / 2 log var(v) + (a - 1) sum sign(u) log(1 + |u|) on a grid; for a = 0 and 2 the logarithms that are the
limits.  Source: I. Yeo, R. Johnson, "A new family of power transformations to improve normality or symmetry",
Biometrika 87 (2000).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint

Array = NDArray[np.float64]

POWERS = np.arange(-3.0, 5.25, 0.25)
"""a; 1 changes nothing, and a column turned over has 2 - a."""


class Symmetric(NamedTuple):
    """x -> v, each column with mean 0 and variance 1.

    Attributes
    ----------
    middle, spread : array of shape (D,)
        m and s.
    power : array of shape (D,)
        a.
    low, high : array of shape (D,)
        Ends of u; beyond them nothing is known, and powers would run away.
    mean, deviation : array of shape (D,)
        Of v.
    """

    middle: Array
    spread: Array
    power: Array
    low: Array
    high: Array
    mean: Array
    deviation: Array

    def apply(self, X: Array) -> Array:
        """Return new rows (n, D), their columns symmetric."""
        within = np.clip((X - self.middle) / self.spread, self.low, self.high)
        return (_powers(within, self.power) - self.mean) / self.deviation


def fit_symmetric(X: Array) -> Symmetric:
    """Choose the power of every column of X (n, D).  O(n D) for each that is tried."""
    middle, spread = X.mean(axis=0), X.std(axis=0)
    spread[spread == 0.0] = 1.0
    u = (X - middle) / spread
    logs = (np.sign(u) * np.log1p(np.abs(u))).sum(axis=0)
    best, power = np.full(X.shape[1], -np.inf), np.ones(X.shape[1])
    for each in POWERS:
        checkpoint()
        variance = _powers(u, np.full(X.shape[1], each)).var(axis=0)
        likelihood = -0.5 * len(X) * np.log(np.maximum(variance, np.finfo(float).tiny)) + (each - 1.0) * logs
        better = likelihood > best
        best[better], power[better] = likelihood[better], each
    power[((u == u.min(axis=0)) | (u == u.max(axis=0))).all(axis=0)] = 1.0  # two values have no shape
    v = _powers(u, power)
    deviation = v.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return Symmetric(middle, spread, power, u.min(axis=0), u.max(axis=0), v.mean(axis=0), deviation)


def _powers(u: Array, power: Array) -> Array:
    """Return v of u (n, D), one power a column."""
    steep, logs = np.where(u < 0.0, 2.0 - power, power), np.log1p(np.abs(u))
    grown = np.where(steep == 0.0, logs, np.expm1(steep * logs) / np.where(steep == 0.0, 1.0, steep))
    return np.copysign(grown, u)
