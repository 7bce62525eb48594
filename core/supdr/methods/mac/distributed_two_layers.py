"""Two layers of MAC on rows in partitions: the same formulas, with sums over partitions where all rows are needed.

Widths are tried on random rows of the sample; the codes of all rows follow from the map.  The complete first layer, and
the second at each of its widths, take two looks at all rows: one sums Phi'Phi (M, M) and Phi'T (M, q), the other what
the left-out codes at every ridge err.  Then the codes of the best ridge are formed, and stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.methods.mac.classes import simplex_codes, simplex_shape
from supdr.methods.mac.state import Array
from supdr.methods.mac.two_layer import (
    SECOND_RIDGES,
    FirstLayer,
    SecondLayer,
    TwoLayerProblem,
    TwoLayerState,
    log_losses,
    mixed,
)
from supdr.rows.partitions import Partitions, listed, planned, spread, total
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    RIDGES,
    SQUARE_WEIGHT,
    Spectrum,
    feature_blocks,
    judged_sums,
    leave_one_out,
    nystroem_spectrum,
)


@dataclass(frozen=True, eq=False)
class PartitionedTwoLayers(TwoLayerProblem):
    """n_layers=2 on rows in partitions; X and codes are those of the sample.

    `rows`: all labelled rows.
    """

    rows: Any = None

    @property
    def n_rows(self) -> int:
        """Return the number of labelled rows."""
        return self.rows.n_rows

    def adopt(self, state: TwoLayerState) -> TwoLayerState:
        """Return `state`; that rows, labels and the number of latent coordinates are the same is known."""
        return state

    # --- the first layer ----------------------------------------------------------------------------------------------

    def _complete(self, width: float, seed: int) -> FirstLayer:
        centers = self._centers(seed)
        if len(centers) == self.n_rows:
            return super()._complete(width, seed)  # all rows are centres: the sample is all there is
        mapping = self._around(centers, width, seed)
        ridges = _Ridges(mapping, self.rows.X, self.rows.codes, simplex_codes(self.n_classes), RIDGES, self.n_rows)
        best = int(np.argmin([error + SQUARE_WEIGHT * square for error, square in ridges.scores]))
        both = spread(_codes, *ridges.asked(best))
        hidden: Any = both.item(0)
        left_out: Any = both.item(1)
        return FirstLayer(
            mapping, ridges.coef(best), hidden, left_out, *ridges.scores[best], width, float(RIDGES[best])
        )

    def _among_all(self, first: FirstLayer, rows: NDArray) -> FirstLayer:
        """Return a first layer fitted to rows of the sample with codes of all rows, in partitions."""
        numbers, ends = self.rows.sampled[rows], np.cumsum(self.rows.sizes)
        cuts = np.searchsorted(numbers, ends)[:-1]
        local = [each - end + size for each, end, size in zip(np.split(numbers, cuts), ends, self.rows.sizes)]
        hidden: Any = spread(_image, first.mapping, self.rows.X, first.coef)
        left_out: Any = spread(_replaced, hidden, listed(local), listed(np.split(first.left_out, cuts)))
        if len(rows) == self.n_rows:
            hidden = spread(_replaced, hidden, listed(local), listed(np.split(first.hidden, cuts)))
        return first._replace(hidden=hidden, left_out=left_out)

    # --- the second layer ---------------------------------------------------------------------------------------------

    def _seen(self, hidden: Any) -> Array:
        """Return the codes of the sample."""
        return self.rows.taken(hidden, self.rows.sampled)

    def _second_fits(self, hidden: Any, mapping: Mapping, corners: Array) -> Iterator[tuple[float, float, Array, Any]]:
        """Yield error, mean square, weights and left-out images, not yet computed, at every ridge."""
        ridges = _Ridges(mapping, hidden, self.rows.codes, corners, SECOND_RIDGES, self.n_rows)
        for number, (error, square) in enumerate(ridges.scores):
            yield error, square, ridges.coef(number), planned(_left_out_codes, *ridges.asked(number))

    def _ridged(self, first: FirstLayer, error: float, mapping: Mapping, coef: Array, left: Any) -> SecondLayer:
        hidden: Any = first.hidden
        plane: Any = spread(_image, mapping, hidden, coef)
        left = spread(_same, left)
        return SecondLayer(mapping, coef, 0.0, plane, left, error)

    def _log_losses(self, hidden: Any) -> Array:
        """Return the mean log loss of "mix" at every sharpness."""
        return total(log_losses, hidden, self.rows.codes) / self.n_rows

    def _mixture(self, first: FirstLayer, corners: Array, sharpness: float) -> SecondLayer:
        codes: tuple[Any, Any] = first.left_out, first.hidden
        left, plane = (self.rows.each(_placed, hidden, sharpness, corners) for hidden in codes)
        wrong = total(_wrong, left, self.rows.codes, corners)
        return SecondLayer(None, corners, sharpness, plane, left, float(wrong) / self.n_rows)

    def _shape(self, latent: Any) -> dict[str, float]:
        """Return how the classes lie to each other."""
        sums = total(_class_sums, latent, self.rows.codes, self.n_classes)
        means = sums[:, 1:] / np.maximum(sums[:, :1], 1.0)
        squares = total(_squares, latent, self.rows.codes, means)
        return simplex_shape(means, float(np.sqrt(squares / self.n_rows)))


class _Ridges:
    """Ridge regression of class codes on Gaussian features of rows in partitions, at many ridges.

    `scores`: of the left-out codes at each ridge.

    X (n, D).
    codes (n,): classes.
    corners (K, q): codes of the classes.
    ridges (R,).
    n_rows: of all partitions.
    """

    def __init__(
        self, mapping: Mapping, X: Partitions, codes: Partitions, corners: Array, ridges: Array, n_rows: int
    ) -> None:
        sums = total(_moments, mapping, X, codes, corners)
        M = mapping.n_features
        self.spectrum = nystroem_spectrum(sums[:, :M], mapping.features(mapping.centers))
        self.pulled, self.ridges = self.spectrum.back.T @ sums[:, M:], ridges
        self._rows = mapping, X, codes, corners, self.spectrum, self.pulled
        wrong, squares = total(_left_out_sums, *self._rows, ridges).T / n_rows
        self.scores = list(zip(wrong.tolist(), squares.tolist()))

    def coef(self, number: int) -> Array:
        """Return the weights (M, q) of the features at a ridge."""
        return self.spectrum.back @ (self.pulled / (self.spectrum.e + self.ridges[number])[:, None])

    def asked(self, number: int) -> tuple:
        """Return the arguments of `_codes` for a ridge."""
        return *self._rows, self.ridges[number : number + 1]


# --- on a partition -----------------------------------------------------------------------------------------------


def _moments(mapping: Mapping, X: Array, codes: NDArray, corners: Array) -> Array:
    """Return Phi'[Phi, T] (M, M + q)."""
    M, wanted = mapping.n_features, corners[codes]
    sums = np.zeros((M, M + wanted.shape[1]))
    for part, block in feature_blocks(X, mapping):
        sums[:, :M] += block.T @ block
        sums[:, M:] += block.T @ wanted[part]
    return sums


def _left_out_sums(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridges: Array
) -> Array:
    """Return the number of wrong left-out codes and the sum of their squares (R, 2)."""
    sums = np.zeros((len(ridges), 2))
    for part, block in feature_blocks(X, mapping):
        wanted = corners[codes[part]]
        _, lefts = leave_one_out(block @ spectrum.back, pulled, spectrum.e, ridges, wanted)
        sums += [judged_sums(left, codes[part], corners) for left in lefts]
    return sums


def _codes(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridge: Array
) -> tuple[Array, Array]:
    """Return fitted and left-out codes (n, q) at one ridge."""
    fits, lefts = np.empty((len(X), corners.shape[1])), np.empty((len(X), corners.shape[1]))
    for part, block in feature_blocks(X, mapping):
        (fits[part],), (lefts[part],) = leave_one_out(
            block @ spectrum.back, pulled, spectrum.e, ridge, corners[codes[part]]
        )
    return fits, lefts


def _left_out_codes(*arguments: Any) -> Array:
    return _codes(*arguments)[1]


def _same(values: Array) -> Array:
    return values


def _image(mapping: Mapping, X: Array, weights: Array) -> Array:
    return mapping.apply(X, weights)


def _replaced(hidden: Array, rows: NDArray, values: Array) -> Array:
    replaced = hidden.copy()
    replaced[rows] = values
    return replaced


def _placed(hidden: Array, sharpness: float, corners: Array) -> Array:
    return mixed(hidden, sharpness) @ corners


def _wrong(latent: Array, codes: NDArray, corners: Array) -> float:
    return judged_sums(latent, codes, corners)[0]


def _class_sums(latent: Array, codes: NDArray, n_classes: int) -> Array:
    """Return the number of rows and the sum of the latent rows of every class (K, 1 + L)."""
    columns = [np.ones(len(codes)), *latent.T]
    return np.column_stack([np.bincount(codes, weights=column, minlength=n_classes) for column in columns])


def _squares(latent: Array, codes: NDArray, means: Array) -> float:
    return float(((latent - means[codes]) ** 2).sum())
