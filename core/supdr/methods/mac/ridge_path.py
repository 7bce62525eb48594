"""Ridge regression of class codes on Gaussian features, at many ridges, by sums over rows in memory or in partitions.

One visit of the rows sums Phi'Phi (M, M) and Phi'T (M, q), the other the errors of the left-out codes at every ridge.
Partitions keep no codes but those of the best ridge, by a third visit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    SQUARE_WEIGHT,
    Spectrum,
    feature_blocks,
    judged_sums,
    kernel_spectrum,
    leave_one_out,
    nystroem_spectrum,
)

Array = NDArray[np.float64]


class RidgePath:
    """Ridge regression of class codes on the features of rows, at many ridges.

    `rows`: with their classes, see `supdr.methods.mac.labelled_rows`. `mapping`: of X (n, D) to the features. `corners`
    (K, q): codes of the classes. `ridges` (R,). `exact`: whether the rows, in memory, are the centres. `scores`: error
    and mean square of the left-out codes at each ridge.
    """

    def __init__(
        self, rows: Any, mapping: Mapping, X: Any, corners: Array, ridges: Array, *, exact: bool = False
    ) -> None:
        codes = rows.codes
        gram, pulled = rows.total(_feature_sums, mapping, X, codes, corners, exact)
        inner = mapping.features(mapping.centers)
        self.spectrum = kernel_spectrum(inner) if exact else nystroem_spectrum(gram, inner)
        self.mapping, self.ridges, self.pulled = mapping, ridges, self.spectrum.back.T @ pulled
        self._rows, self._work = rows, (mapping, X, codes, corners, self.spectrum, self.pulled)
        self._at_all_ridges = None
        if isinstance(rows, InMemoryRows):  # a second visit for the codes of one ridge would take as long as this one
            self._at_all_ridges = _ridge_codes(*self._work, ridges)
            sums = np.array([judged_sums(left, codes, corners) for left in self._at_all_ridges[1]])
        else:
            sums = rows.total(_left_out_sums, *self._work, ridges)
        wrong, squares = sums.T / rows.n_rows
        self.scores = list(zip(wrong.tolist(), squares.tolist()))

    def best(self) -> tuple[float, int]:
        """Return the least score, and the number of its ridge."""
        return min((error + SQUARE_WEIGHT * square, number) for number, (error, square) in enumerate(self.scores))

    def coef(self, number: int) -> Array:
        """Return the weights (M, q) of the features at a ridge."""
        return self.spectrum.back @ (self.pulled / (self.spectrum.e + self.ridges[number])[:, None])

    def codes(self, number: int) -> tuple[Any, Any]:
        """Return fitted and left-out codes (n, q) at a ridge."""
        if self._at_all_ridges is not None:
            fits, lefts = self._at_all_ridges
            return fits[number], lefts[number]
        both = self._rows.each(_codes_at_ridge, *self._work, self.ridges[number : number + 1])
        fitted, left_out = self._rows.entries(both, 2)
        return fitted, left_out

    def left_out_codes(self, number: int) -> Any:
        """Return left-out codes (n, q) at a ridge."""
        if self._at_all_ridges is not None:
            return self.codes(number)[1]
        return self._rows.each(_left_out_codes, *self._work, self.ridges[number : number + 1])


# --- of rows, or of those of a partition ------------------------------------------------------------------------------


def _feature_sums(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, exact: bool
) -> tuple[Array | None, Array]:
    """Return Phi'Phi (M, M), None where rows are the centres, and Phi'T (M, q)."""
    gram = None if exact else np.zeros((mapping.n_features,) * 2)
    pulled = np.zeros((mapping.n_features, corners.shape[1]))
    for part, block in feature_blocks(X, mapping):
        if gram is not None:
            gram += block.T @ block
        pulled += block.T @ corners[codes[part]]
    return gram, pulled


def _left_out_sums(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridges: Array
) -> Array:
    """Return the number of wrong left-out codes and the sum of their squares (R, 2)."""
    sums = np.zeros((len(ridges), 2))
    for part, block in feature_blocks(X, mapping):
        targets = corners[codes[part]]
        _, lefts = leave_one_out(block @ spectrum.back, pulled, spectrum.e, ridges, targets)
        sums += [judged_sums(left, codes[part], corners) for left in lefts]
    return sums


def _ridge_codes(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridges: Array
) -> tuple[Array, Array]:
    """Return fitted and left-out codes (R, n, q) at ridges (R,)."""
    shape = len(ridges), len(X), corners.shape[1]
    fits, lefts = np.empty(shape), np.empty(shape)
    for part, block in feature_blocks(X, mapping):
        basis, targets = block @ spectrum.back, corners[codes[part]]
        fits[:, part], lefts[:, part] = leave_one_out(basis, pulled, spectrum.e, ridges, targets)
    return fits, lefts


def _codes_at_ridge(*arguments: Any) -> tuple[Array, Array]:
    fits, lefts = _ridge_codes(*arguments)
    return fits[0], lefts[0]


def _left_out_codes(*arguments: Any) -> Array:
    return _codes_at_ridge(*arguments)[1]
