"""Explicit features of the polynomial kernel: weighted monomials of the latent coordinates.

    psi(z).psi(z') + coef0^degree = (z.z' + coef0)^degree

The constant monomial is left out: every regression has a bias.  All loops share two tables: each monomial is the
product of an earlier one and one coordinate, and each partial derivative is a multiple of an earlier monomial.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Monomials(NamedTuple):
    """Tables of the F monomials of degree 1 to `degree` in D coordinates; entry 0 of `parent`, `axis` is the constant.

    parent, axis (F + 1,): monomial e is monomial ``parent[e]`` times coordinate ``axis[e]``.
    weight (F,): square roots of the coefficients with which the monomials stand in the kernel.
    feature, coordinate, source (T,): the derivative of feature ``feature[t]`` in ``coordinate[t]`` is ``factor[t]``
        times monomial ``source[t]``.
    factor (T,).
    """

    parent: NDArray
    axis: NDArray
    weight: NDArray
    feature: NDArray
    coordinate: NDArray
    source: NDArray
    factor: NDArray

    def features(self, Z: NDArray) -> NDArray:
        """Return psi of every row of `Z` (n, D), shape (n, F)."""
        psi = np.empty((len(Z), len(self.weight)))
        _features(Z, self.parent, self.axis, self.weight, psi)
        return psi

    def pull_back(self, Z: NDArray, weights: NDArray) -> NDArray:
        """Return sum_e weights_ie dpsi_e(z_i)/dz_i of every row, (n, D), from weights (n, F)."""
        gradient = np.zeros_like(Z)
        _pull_back(
            Z, self.parent, self.axis, self.feature, self.coordinate, self.source, self.factor, weights, gradient
        )
        return gradient

    def jacobian(self, Z: NDArray, coef: NDArray) -> NDArray:
        """Return the derivative of psi(z)'coef in z at every row, (n, D, M), from coef (F, M).  O(n F degree M).

        All partial derivatives of all features are multiples of the lower monomials, which a feature and a coordinate
        decide and which decide the feature: one matrix product does.
        """
        lower = int(self.source.max()) + 1
        slopes = np.zeros((lower, Z.shape[1], coef.shape[1]))
        slopes[self.source, self.coordinate] = self.factor[:, None] * coef[self.feature]
        raw = np.empty((len(Z), lower - 1))
        _features(Z, self.parent[:lower], self.axis[:lower], np.ones(lower - 1), raw)
        return (raw @ slopes[1:].reshape(lower - 1, slopes[0].size)).reshape(len(Z), *slopes[0].shape) + slopes[0]

    def hessian(self, Z: NDArray, weights: NDArray) -> NDArray:
        """Return sum_e weights_ie d2psi_e / dz2 at every row, (n, D, D), from weights (n, F).  O(n F D^3).

        The second derivative of z^a is a_k (a_l - [k = l]) z^(a - e_k - e_l).
        """
        powers = np.zeros((len(self.parent), Z.shape[1]), dtype=np.int64)
        for e in range(1, len(self.parent)):
            powers[e] = powers[self.parent[e]]
            powers[e, self.axis[e]] += 1
        hessian, powers = np.zeros((*Z.shape, Z.shape[1])), powers[1:]
        for k, first in enumerate(np.eye(Z.shape[1], dtype=np.int64)):
            for other, second in enumerate(np.eye(Z.shape[1], dtype=np.int64)):
                factor = self.weight * powers[:, k] * (powers[:, other] - (k == other))
                rest = np.maximum(powers - first - second, 0)
                hessian[:, k, other] = ((Z[:, None, :] ** rest).prod(axis=2) * weights) @ factor
        return hessian


def n_monomials(n_components: int, degree: int) -> int:
    """Return F = C(D + degree, degree) - 1, without making the tables."""
    return comb(n_components + degree, degree) - 1


@lru_cache(maxsize=8)
def monomials(n_components: int, degree: int, coef0: float) -> Monomials:
    """Return the tables for (z.z' + coef0)^degree in D coordinates; without coef0 lower monomials weigh 0."""
    index: dict[tuple[int, ...], int] = {(): 0}
    for size in range(1, degree + 1):
        for factors in combinations_with_replacement(range(n_components), size):
            index[factors] = len(index)
    parent, axis, weight = np.zeros(len(index), np.int64), np.zeros(len(index), np.int64), np.zeros(len(index))
    derivatives = []
    for factors, e in index.items():
        if not factors:
            continue
        parent[e], axis[e] = index[factors[:-1]], factors[-1]
        size, distinct = len(factors), sorted(set(factors))
        ways = factorial(size) // prod(factorial(factors.count(k)) for k in distinct)
        weight[e] = np.sqrt(comb(degree, size) * coef0 ** (degree - size) * ways)
        for k in distinct:
            position = factors.index(k)
            rest = factors[:position] + factors[position + 1 :]
            derivatives.append((e - 1, k, index[rest], weight[e] * factors.count(k)))
    feature, coordinate, source, factor = zip(*derivatives)
    return Monomials(
        parent,
        axis,
        weight[1:].copy(),
        feature=np.array(feature, dtype=np.int64),
        coordinate=np.array(coordinate, dtype=np.int64),
        source=np.array(source, dtype=np.int64),
        factor=np.array(factor),
    )


@njit(cache=True, nogil=True)
def _expand(z, parent, axis, raw):  # noqa: ANN001
    """Write the unweighted monomials of the row z (D,) into raw (F + 1,), the constant first."""
    raw[0] = 1.0
    for e in range(1, len(parent)):
        raw[e] = raw[parent[e]] * z[axis[e]]


@njit(cache=True, nogil=True)
def _features(Z, parent, axis, weight, psi):  # noqa: ANN001
    """Write the weighted monomials of the rows of Z (n, D) into psi (n, F).  O(n F)."""
    raw = np.empty(len(parent))
    for i in range(len(Z)):
        _expand(Z[i], parent, axis, raw)
        for e in range(len(weight)):
            psi[i, e] = weight[e] * raw[e + 1]


@njit(cache=True, nogil=True)
def _pull_back(Z, parent, axis, feature, coordinate, source, factor, weights, gradient):  # noqa: ANN001
    """Add sum_e weights_ie dpsi_e/dz_i to gradient (n, D); Z (n, D), weights (n, F).  O(n F degree)."""
    raw = np.empty(len(parent))
    for i in range(len(Z)):
        _expand(Z[i], parent, axis, raw)
        for t in range(len(feature)):
            gradient[i, coordinate[t]] += factor[t] * raw[source[t]] * weights[i, feature[t]]
