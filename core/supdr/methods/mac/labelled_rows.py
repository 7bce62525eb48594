"""Labelled rows in memory, with the methods and fields of `supdr.methods.mac.distributed.LabelledRows`."""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.reuse import fingerprint, reused
from supdr.engine.sparse_rows import SparseRows
from supdr.methods.mac.mapping import Features, InMemoryFeatures
from supdr.methods.mac.sparse_features import DIRECT_SIZE, SparseFeatures, may_be_formed
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.gaussians import Mapping
from supdr.solvers.linear_svm import Heads, solve_heads

Array = NDArray[np.float64]

# About how many rows at most are left out in turn.
MOST_JUDGED = 2000

# The same of sparse rows whose leverages take Lanczos steps.
MOST_JUDGED_BY_STEPS = 256


def judged_numbers(n_rows: int, one_of_each: NDArray[np.intp], most: int = MOST_JUDGED) -> NDArray[np.intp]:
    """Return the numbers of the rows that are left out in turn: all, or every k-th of many and one of each class."""
    return np.union1d(np.arange(0, n_rows, -(-n_rows // most)), one_of_each)


class LabelledInMemory(InMemoryRows):
    """Labelled, preprocessed rows X (n, D) in memory, with their classes (n,) and weights (n,)."""

    def __init__(self, X: Array, codes: NDArray, weights: Array | None = None) -> None:
        super().__init__(len(X))
        self.X, self.codes = X, codes
        self.weights = np.ones(len(X)) if weights is None else weights

    @property
    def sampled(self) -> NDArray[np.intp]:
        """Numbers of the rows of the sample: all."""
        return np.arange(self.n_rows)

    @cached_property
    def judged(self) -> NDArray[np.intp]:
        """Numbers of the rows that are left out in turn."""
        large = isinstance(self.X, SparseRows) and min(self.X.shape) > DIRECT_SIZE
        most = MOST_JUDGED_BY_STEPS if large else MOST_JUDGED
        return judged_numbers(self.n_rows, np.unique(self.codes, return_index=True)[1], most)

    @property
    def checksums(self) -> tuple:
        """Of rows, and of labels with their weights."""
        labels = self.codes.tobytes() + self.weights.tobytes()
        rows = fingerprint(self.X).encode() if isinstance(self.X, SparseRows) else np.ascontiguousarray(self.X).data
        return zlib.crc32(rows), zlib.crc32(labels)

    def features(self, mapping: Mapping) -> Features:
        """Return the features of these rows."""
        inputs = (mapping.kind, mapping.centers, mapping.gamma, self.X)
        return reused("MAC features", lambda: inputs, lambda: self._new_features(mapping))

    def _new_features(self, mapping: Mapping) -> Features:
        if isinstance(self.X, SparseRows) and not may_be_formed(self.X):
            return SparseFeatures(self.X, mapping)
        return InMemoryFeatures(self.X, mapping)

    def svm_moments(self, targets: Array) -> None:
        """Return None: classifiers in memory need no moments of the targets."""

    def partial_states_observed(self) -> bool:
        """Return False: a step in memory is too short to show what it has before it is complete."""
        return False

    def fit_svms(
        self, targets: Array, signs: Array, costs: Array, start: Heads | None, *, tol: float, n_jobs: Any, **_: Any
    ) -> Heads:
        """Return a support vector machine per column of `signs`, see `supdr.solvers.linear_svm.solve_heads`."""
        return solve_heads(targets, signs, costs, start, tol=tol, n_jobs=n_jobs)
