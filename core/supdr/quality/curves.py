"""Trust over the number of neighbours, and class by class: what is false and what is lost, within classes and across.

Of a supervised map it matters which neighbours are false or lost.  False ones of another class are a lie about classes,
those of the own class say that the class was pressed together; lost ones of the own class say that the class was torn,
those of another class that classes were drawn apart, which is what a supervised map is made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import checkpoint
from supdr.quality.checking import check_map, check_neighbors, labelled_classes, sampled_rows
from supdr.quality.near import Near, batches, excess_ranks, nearest_of, shared

# Numbers of neighbours of a curve whose numbers are not given.
POINTS = 12


@dataclass(frozen=True)
class TrustCurve:
    """How true a map is at several numbers of neighbours.

    Attributes
    ----------
    n_neighbors : int array of shape (m,)
        k, rising.
    trustworthiness, continuity, overlap : arrays of shape (m,)
        In [0, 1].
    chance : array of shape (m,)
        Overlap of a map that knows nothing: k / (n - 1).
    n_measured, n_rows : int
        Rows that the means are over so far, and when all are done.
    """

    n_neighbors: NDArray
    trustworthiness: NDArray
    continuity: NDArray
    overlap: NDArray
    chance: NDArray
    n_measured: int
    n_rows: int


@dataclass(frozen=True)
class ClassTrust:
    """How true a map is in each class.

    Attributes
    ----------
    classes : array of shape (K,)
        Sorted.
    n_rows : int array of shape (K,)
        Rows of each class that were measured.
    trustworthiness, continuity : arrays of shape (K,)
        Means over the rows of each class; NaN where none was measured.
    false : array of shape (K, K)
        Of the k neighbours on the map of a row of one class, the share that is false and of another class, or of its
        own on the diagonal.
    lost : array of shape (K, K)
        Of the k neighbours in the input of a row of one class, the share that is lost and of another class, or of its
        own on the diagonal.
    """

    classes: NDArray
    n_rows: NDArray
    trustworthiness: NDArray
    continuity: NDArray
    false: NDArray
    lost: NDArray

    @property
    def false_own(self) -> NDArray:
        """Share of false neighbours of the own class, (K,): how far each class was pressed together."""
        return np.diagonal(self.false)

    @property
    def false_other(self) -> NDArray:
        """Share of false neighbours of other classes, (K,): strangers beside rows that they are not near to."""
        return self.false.sum(axis=1) - self.false_own

    @property
    def lost_own(self) -> NDArray:
        """Share of lost neighbours of the own class, (K,): how far each class was torn."""
        return np.diagonal(self.lost)

    @property
    def lost_other(self) -> NDArray:
        """Share of lost neighbours of other classes, (K,): how far each class was drawn away from others."""
        return self.lost.sum(axis=1) - self.lost_own


def iterate_trust_curve(
    X: Any, Z: Any, *, n_neighbors: Sequence[int] | None = None, sample_size: int | None = None, random_state: Any = 0
) -> Iterator[TrustCurve]:
    """Check the arguments at once and yield the curve over the rows so far, whenever some more are measured.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells, in the unit in which they are near or far.
    Z : array-like of shape (n, d)
        Their places on the map.
    n_neighbors : sequence of int, optional
        Numbers of neighbours, each less than n / 2.  None: 12 from 1 to a quarter of the rows, evenly by their
        logarithms.
    sample_size : int, optional
        Number of rows that are measured.  None: all of up to 5,000 rows, else 1,000.
    random_state : int, RandomState or None, default=0
        Seed of the draw.

    Returns
    -------
    iterator of TrustCurve
        The last one is over all rows that are measured.

    Raises
    ------
    ValueError
        If X and Z are not the same rows, or a number of neighbours is out of range.
    """
    X, Z = check_map(X, Z)
    if n_neighbors is None:
        n_neighbors = np.unique(np.geomspace(1, max(1, (len(X) - 1) // 4), POINTS).astype(int)).tolist()
    given = list(n_neighbors) if np.iterable(n_neighbors) and not isinstance(n_neighbors, str) else []
    if not given:
        raise ValueError(f"n_neighbors must be a list of integers, at least one; got {n_neighbors!r}")
    for k in given:
        check_neighbors(k, len(X))
    return _curves(X, Z, np.unique(given), sampled_rows(len(X), sample_size, random_state))


@with_entries_of(iterate_trust_curve)
def trust_curve(
    X: Any, Z: Any, *, n_neighbors: Sequence[int] | None = None, sample_size: int | None = None, random_state: Any = 0
) -> TrustCurve:
    """Return trustworthiness, continuity and overlap at several numbers of neighbours.

    Parameters
    ----------
    X, Z, n_neighbors, sample_size, random_state
        As in `iterate_trust_curve`.

    Returns
    -------
    TrustCurve

    Raises
    ------
    ValueError
        As `iterate_trust_curve`.
    """
    *_, last = iterate_trust_curve(X, Z, n_neighbors=n_neighbors, sample_size=sample_size, random_state=random_state)
    return last


@with_entries_of(iterate_trust_curve)
def class_trust(
    X: Any, Z: Any, y: Any, *, n_neighbors: int = 10, sample_size: int | None = None, random_state: Any = 0
) -> ClassTrust:
    """Return trust and continuity class by class, and of which classes false and lost neighbours are.

    Parameters
    ----------
    X, Z
        As in `iterate_trust_curve`.
    y : array-like of shape (n,)
        Classes; NaN and None mark unlabelled rows, which are not measured and count for no class as neighbours.
    n_neighbors : int, default=10
        k, less than n / 2.
    sample_size, random_state
        As in `iterate_trust_curve`.

    Returns
    -------
    ClassTrust

    Raises
    ------
    ValueError
        If X and Z are not the same rows, y does not fit or labels none, or `n_neighbors` is out of range.
    """
    X, Z = check_map(X, Z)
    check_neighbors(n_neighbors, len(X))
    labelled, labels = labelled_classes(y, len(X))
    if not labelled.any():
        raise ValueError("y has no labelled row: there is no class to measure")
    classes, numbers = np.unique(labels, return_inverse=True)
    codes = np.full(len(X), -1)
    codes[labelled] = numbers
    rows = sampled_rows(len(X), sample_size, random_state)
    return _by_class(X, Z, classes, codes, rows[labelled[rows]], n_neighbors)


def _curves(X: NDArray, Z: NDArray, numbers: NDArray, rows: NDArray) -> Iterator[TrustCurve]:
    """Yield the means over the rows so far."""
    n, total, done = len(X), np.zeros((3, len(numbers))), 0
    for some, there, here in batches(X, Z, rows, 1):
        for place, k in enumerate(numbers):
            checkpoint()
            both = nearest_of(there.distance, k), nearest_of(here.distance, k)
            total[:, place] += [measure.sum() for measure in _measures(*both, k, n)]
        done += some.stop - some.start
        trust, continuity, overlap = total / done
        yield TrustCurve(numbers, trust, continuity, overlap, numbers / (n - 1), done, len(rows))


def _measures(there: Near, here: Near, k: int, n: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return trustworthiness, continuity and overlap of some rows, (b,) each."""
    most = 0.5 * k * (2 * n - 3 * k - 1)
    return 1.0 - excess_ranks(here, there, k) / most, 1.0 - excess_ranks(there, here, k) / most, shared(there, here) / k


def _by_class(X: NDArray, Z: NDArray, classes: NDArray, codes: NDArray, rows: NDArray, k: int) -> ClassTrust:
    """Return the measures of labelled rows, by the classes of both."""
    count = np.bincount(codes[rows], minlength=len(classes))
    sums, false, lost = np.zeros((2, len(classes))), *np.zeros((2, len(classes), len(classes)))
    for some, there, here in batches(X, Z, rows, k):
        checkpoint()
        own = codes[rows[some]]
        for each, measure in zip(sums, _measures(there, here, k, len(X))):
            np.add.at(each, own, measure)
        for matrix, first, second in ((false, here, there), (lost, there, here)):
            row, other, share = _only_in(first, second)
            labelled = codes[other] >= 0
            np.add.at(matrix, (own[row[labelled]], codes[other[labelled]]), share[labelled])
    with np.errstate(invalid="ignore"):
        trust, continuity = sums / count
        return ClassTrust(classes, count, trust, continuity, *(each / (k * count[:, None]) for each in (false, lost)))


def _only_in(first: Near, second: Near) -> tuple[NDArray, NDArray, NDArray]:
    """Return pairs of a row and a neighbour by one distance, and the share by which it is none by another."""
    row, other = np.nonzero(first.members)
    share = first.weights(row, other)
    inside = second.members[row, other]
    share = share - np.where(inside, np.minimum(share, second.weights(row, other)), 0.0)
    return row, other, share
