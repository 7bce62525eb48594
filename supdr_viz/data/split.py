"""Rows divided into training and test rows, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.datasets import Dataset
from supdr_viz.data.rows_on_disk import Whole

# Number of a row, and the class that the user gave it.
Label = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a data set.

    train, test: row numbers, in the order in which the method sees them.
    X_train, X_test (n, m).
    y_train (n,): NaN where a label is missing or hidden.
    y_test (n,).
    truth_train (n,): labels before any was hidden.
    stratified: the shares of the classes are the same in both parts.
    kept: rows that could not be divided and are all in the training part: unlabelled ones, and single rows of a class.
    notes: what the user should know.
    taught: labels that the user gave.
    whole: all rows, where those above are a sample of rows on disk.
    """

    train: NDArray
    test: NDArray
    X_train: NDArray
    X_test: NDArray
    y_train: NDArray
    y_test: NDArray
    truth_train: NDArray
    stratified: bool
    kept: NDArray
    notes: tuple[str, ...] = ()
    taught: tuple[Label, ...] = ()
    whole: Whole | None = None

    @property
    def n_train(self) -> int:
        """Number of rows that a method is given."""
        return len(self.train) if self.whole is None else len(self.whole.X_train)

    @property
    def n_test(self) -> int:
        """Number of rows that are held out."""
        return len(self.test) if self.whole is None else self.whole.n_rows - self.n_train

    @property
    def all_rows(self) -> NDArray:
        """Training rows, then test rows, (n, m); of rows on disk those of the sample."""
        return np.concatenate([self.X_train, self.X_test])

    @property
    def all_truth(self) -> NDArray:
        """Labels of `all_rows` (n,) before any was hidden."""
        return np.concatenate([self.truth_train, self.y_test])

    @property
    def learnt(self) -> tuple[Any, Any]:
        """The training rows and labels that a method gets, in partitions where they are on disk."""
        return (self.X_train, self.y_train) if self.whole is None else (self.whole.X_train, self.whole.y_train)


def known_targets(dataset: Dataset) -> NDArray:
    """Targets (n,), those that the data set withholds from a method included; NaN where unknown."""
    return dataset.y if dataset.truth is None else np.where(np.isnan(dataset.y), dataset.truth, dataset.y)


def divisible_rows(y: NDArray, classification: bool) -> NDArray:
    """Labelled rows, without the only row of a class; row numbers."""
    if not classification:
        return np.flatnonzero(~np.isnan(y))
    labelled = np.flatnonzero(~np.isnan(y))
    counts = np.bincount(y[labelled].astype(np.intp))
    return labelled[counts[y[labelled].astype(np.intp)] > 1]
