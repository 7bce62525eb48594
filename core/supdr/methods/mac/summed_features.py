"""MAC's features of rows in partitions: what is needed of them are products, summed over the partitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.methods.mac.mapping import Features
from supdr.methods.mac.state import Array
from supdr.rows.in_memory import added
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, taken
from supdr.rows.partitions import Partitions, spread, spread_and_total, spread_meanwhile, total
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import feature_blocks

# Phi'Phi with the rows that it belongs to: summed once a mapping, also when a run goes on.
GRAMS: WeakKeyDictionary[Mapping, tuple[tuple, Array]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LabelledRows(PartitionedRows):
    """Labelled, preprocessed rows in partitions.

    codes (n,): classes.
    judged (p,): numbers of the rows that are left out in turn.
    judged_X (p, D): those rows.
    all_sizes: rows of each partition, unlabelled ones included.
    places: the number of each of them among the labelled rows.
    """

    codes: Partitions
    judged: NDArray[np.intp]
    judged_X: Array
    all_sizes: tuple[int, ...]
    places: Partitions

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the numbers among the labelled rows of those of some rows that are labelled."""
        if self.sizes == self.all_sizes:
            return numbers[labelled]
        return taken(self.places, self.all_sizes, numbers[labelled])


class SummedFeatures(Features):
    """Features of rows in partitions: only their products are here; `X` are the rows that are left out in turn.

    `rows`: all labelled rows.
    """

    def __init__(self, rows: LabelledRows, mapping: Mapping) -> None:
        super().__init__(rows.judged_X, mapping)
        self.matrix, self.symmetric = None, False
        self._fingerprint, self._all_rows = rows.fingerprint, rows.X
        self._n_rows = rows.n_rows
        self._fits = fits_in_memory(rows.n_rows, mapping.n_features)

    @cached_property
    def _Phi(self) -> Partitions | None:
        """The features, where workers have room for them; who only asks for leverages has no need of them."""
        return spread(_features, self.mapping, self._all_rows) if self._fits else None

    def image(self, weights: Array) -> Any:
        """Return F in partitions."""
        if self._Phi is not None:
            return spread_meanwhile(np.matmul, self._Phi, weights, n_rows=self._n_rows)
        return spread(_image, self._all_rows, self.mapping, weights)  # in pieces, each would be sent the mapping

    def pull_back(self, values: Any) -> Array:
        """Return the sum of Phi' values (M, q)."""
        checkpoint()
        if self._Phi is not None:
            return total(product, self._Phi, values)
        return total(product_with_rows, self.mapping, self._all_rows, values)

    def visited(self, work: Any, *arguments: Any, so_far: Any = None) -> tuple[Any, Any]:
        """Let `work` look at the features and at its arguments; return what is kept of it, and the sum of the rest."""
        if self._Phi is not None:
            return spread_and_total(work, None, self._Phi, *arguments, add=added, so_far=so_far)
        return spread_and_total(work, self.mapping, self._all_rows, *arguments, add=added, so_far=so_far)

    def gram(self) -> Array:
        """Return the sum of Phi'Phi (M, M)."""
        if self._gram is None:
            known = GRAMS.get(self.mapping)
            if known is None or known[0] != self._fingerprint:
                known = GRAMS[self.mapping] = (self._fingerprint, self._summed_gram())
            self._gram = known[1]
        return self._gram

    def _summed_gram(self) -> Array:
        if self._Phi is not None:
            return total(product, self._Phi, self._Phi)
        return total(_gram_from_rows, self.mapping, self._all_rows)


# --- on a partition -----------------------------------------------------------------------------------------------


def _features(mapping: Mapping, X: Array) -> Array:
    return mapping.features(X)


def product(Phi: Array, values: Array) -> Array:
    """Return Phi' values (M, q) of a partition."""
    return Phi.T @ values


def _image(X: Array, mapping: Mapping, weights: Array) -> Array:
    return mapping.apply(X, weights)


def product_with_rows(mapping: Mapping, X: Array, values: Array) -> Array:
    """Return Phi' values (M, q) of the rows of a partition, block by block: its features need not fit in memory."""
    pulled = np.zeros((mapping.n_features, values.shape[1]))
    for part, block in feature_blocks(X, mapping):
        pulled += block.T @ values[part]
    return pulled


def _gram_from_rows(mapping: Mapping, X: Array) -> Array:
    gram = np.zeros((mapping.n_features,) * 2)
    for _part, block in feature_blocks(X, mapping):
        gram += block.T @ block
    return gram
