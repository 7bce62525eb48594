"""A lower bound on MAC's optimum, without reaching it.

With V = W'U' the least of  reg_w |W|^2 + 1/2 |U|^2  over the factors of V is sqrt(2 reg_w) |V|_* (nuclear norm), so

    min E  >=  min over V, b of  sqrt(2 reg_w) |V|_* + C sum hinge,        with equality if L >= rank V

which is convex.  Its dual: every alpha in [0, C] with sum_n alpha_nk Y_nk = 0 for every k gives

    min E  >=  t sum alpha,     t = min(1, sqrt(2 reg_w) / |Phi'(alpha Y)|_2)     (spectral norm).

Not in the paper.  With two classes V has rank one, so equality holds for every L >= 1.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def signed_sums(signs: Array, alpha: NDArray) -> Array:
    """Return the sums (2, P) of the multipliers (n, P) of positive and of negative rows, of all or of a part."""
    return np.array([(alpha * side).sum(axis=0, dtype=float) for side in (signs > 0.0, signs < 0.0)])


def balance_factors(sums: Array) -> Array:
    """Return the factors (2, P) of the multipliers of either sign that make both `signed_sums` the smaller one."""
    return np.divide(sums.min(axis=0), sums, out=np.zeros_like(sums), where=sums > 0.0)


def signed_multipliers(signs: Array, alpha: NDArray, factors: Array) -> Array:
    """Return alpha Y (n, P) with the `balance_factors`: a point of the dual, whose columns add up to 0."""
    return alpha * np.where(signs > 0.0, factors[0], factors[1]) * signs


class Certificate(NamedTuple):
    """A balanced point of the dual, as sum alpha and phi'(alpha Y) (M, P), and the lower bound on E that it proves."""

    total: float
    pulled: Array
    bound: float


# Proves that the objective is not negative.
NOTHING = Certificate(0.0, np.zeros((0, 0)), 0.0)


class BoundSearch:
    """The search for a lower bound on E for one mapping, rows, C and reg_w: the best bound, and the companion's state.

    All states of a run share it; several threads may read their diagnostics. `lock` is held while it changes.
    A copy, or a state that is saved, has a search that begins anew.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.best: Certificate = NOTHING
        self.companion: Any = None  # a MACState
        self.spent = 0.0  # multiply-adds on closing the bound

    def __reduce__(self) -> tuple[type, tuple]:
        return BoundSearch, ()

    def __repr__(self) -> str:
        return "BoundSearch()"


MIXTURES = np.concatenate([[0.0, 1e-3, 3e-3, 0.01, 0.03], np.linspace(0.1, 1.0, 10)])


def certify(total: float, pulled: Array, reg_w: float, earlier: Certificate | None = None) -> Certificate:
    """Return what a balanced alpha in [0, C] proves, or its best mixture with an `earlier` point of the same problem.

    Such alpha are a convex set, and the multipliers of successive iterates swing around the optimal ones: mixtures
    prove much more than any one of them.
    """
    limit = math.sqrt(2.0 * reg_w)
    if earlier is None:
        norm = math.sqrt(max(float(np.linalg.eigvalsh(pulled.T @ pulled)[-1]), 0.0))
        return Certificate(total, pulled, total * (limit / max(norm, limit)))
    old, cross, new = earlier.pulled.T @ earlier.pulled, earlier.pulled.T @ pulled, pulled.T @ pulled
    share = MIXTURES[:, None, None]
    grams = (1.0 - share) ** 2 * old + share * (1.0 - share) * (cross + cross.T) + share**2 * new
    norms = np.sqrt(np.maximum(np.linalg.eigvalsh(grams)[:, -1], 0.0))
    bounds = ((1.0 - MIXTURES) * earlier.total + MIXTURES * total) * (limit / np.maximum(norms, limit))
    best = int(np.argmax(bounds))
    if bounds[best] <= earlier.bound:
        return earlier
    share_ = float(MIXTURES[best])
    mixed = (1.0 - share_) * earlier.pulled + share_ * pulled
    return Certificate((1.0 - share_) * earlier.total + share_ * total, mixed, float(bounds[best]))
