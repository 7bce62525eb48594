"""Statistics of the columns of rows in partitions, exact, by sums over all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.preprocessing import Columns
from supdr.rows.in_memory import added
from supdr.rows.partitions import Partitions, delay, gather, total


class SummedColumns(Columns):
    """`Columns` of rows in partitions: a statistic takes a pass and m numbers a partition (m² for whitening)."""

    def __init__(self, parts: Partitions, shape: tuple[int, int]) -> None:
        self.parts, self._shape = parts, shape
        self._counts: NDArray | None = None

    @property
    def may_be_whitened(self) -> bool:
        """True: rows in partitions are dense."""
        return True

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    def map_parts(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the values of a function of rows (n, m) for each partition."""
        return gather(work, self.parts, *arguments)

    def select(self, mask: NDArray) -> Columns:
        """Return the columns of a mask (m,)."""
        return SummedColumns(delay(_selected_columns, self.parts, mask), (self.shape[0], int(mask.sum())))

    def counts(self) -> NDArray:
        """Return the number of observed cells of every column, (m,)."""
        if self._counts is None:
            self._counts = total(_counted, self.parts)
        return self._counts

    def extremes(self) -> tuple[NDArray, NDArray]:
        """Return the smallest and the largest value of every column, (m,) each."""
        negative, high = total(_largest_both_ways, self.parts, add=_largest_of)
        return -negative, high

    def moments(self, unit: NDArray) -> tuple[NDArray, NDArray]:
        """Return mean and standard deviation of every column over its unit, (m,) each."""
        counts = self.counts()
        mean = total(_summed, self.parts, unit) / counts
        return mean, np.sqrt(total(_squared, self.parts, unit, mean) / counts)

    def mean_minus(self, offset: NDArray) -> NDArray:
        """Return the mean of every column minus an offset, (m,)."""
        return total(_beyond, self.parts, offset) / self.counts()

    def directions(self, offset: NDArray, scale: NDArray, varies: NDArray) -> tuple[NDArray, NDArray, float]:
        """Return singular values (r,) and right singular vectors (r, m) of the scaled columns, and sum_n |x_n|^4.

        They are those of a triangle R with R'R = X'X; small singular values are as exact as in memory.
        """
        triangle, fourth = total(_triangle, self.parts, offset, scale, varies, add=joined_triangles)
        _, singular, rows = np.linalg.svd(triangle, full_matrices=False)
        return singular, rows, float(fourth)


def joined_triangles(parts: list[tuple[NDArray, float]]) -> tuple[NDArray, float]:
    """Return a triangle R with R'R the sum of those of some triangles, and the sum of the numbers beside them."""
    triangle = np.asarray(np.linalg.qr(np.concatenate([each for each, _ in parts]), mode="r"))
    return triangle, added([number for _, number in parts])


# --- on a partition -----------------------------------------------------------------------------------------------


def _selected_columns(X: NDArray, mask: NDArray) -> NDArray:
    return X[:, mask]


def _counted(X: NDArray) -> NDArray:
    return (~np.isnan(X)).sum(axis=0)


def _largest_both_ways(X: NDArray) -> NDArray:
    return np.array([-np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])


def _largest_of(parts: list[NDArray]) -> NDArray:
    return np.fmax.reduce(parts, axis=0)


def _summed(X: NDArray, unit: NDArray) -> NDArray:
    return np.nansum(X / unit, axis=0)


def _squared(X: NDArray, unit: NDArray, mean: NDArray) -> NDArray:
    return np.nansum((X / unit - mean) ** 2, axis=0)


def _beyond(X: NDArray, offset: NDArray) -> NDArray:
    return np.nansum(X - offset, axis=0)


def _triangle(X: NDArray, offset: NDArray, scale: NDArray, varies: NDArray) -> tuple[NDArray, float]:
    scaled = np.where(varies, (X - offset) * scale, 0.0)
    lengths = (scaled**2).sum(axis=1)
    return np.asarray(np.linalg.qr(scaled, mode="r")), float(lengths @ lengths)
