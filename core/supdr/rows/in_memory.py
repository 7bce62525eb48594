"""Rows in one piece: what a problem does with its rows, written once for memory and for partitions.

A problem that can run on partitions never loops over its rows itself.  It names a piece of work, a function of a part
of the rows and of a few small shared values, and asks its rows to do it: `each` keeps one value a row, `total` adds
values up, `both` does the two in one visit.  In memory there is one part, and the work is called.
`supdr.rows.partitioned.PartitionedRows` has the same methods.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray


class InMemoryRows:
    """Rows in memory.

    `n_rows`: how many there are.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def each(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the work gives, one entry a row."""
        return work(*arguments)

    def total(self, work: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] | None = None) -> Any:
        """Return the sum of what the work gives, see `added`; or what `add` makes of the list of all parts' values."""
        return work(*arguments)

    def both(self, work: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
        """Return two things that the work gives: one entry a row, and a sum."""
        kept, summed = work(*arguments)
        return kept, summed

    def entries(self, values: tuple, count: int) -> tuple:
        """Return the entries of a tuple of so many, which `each` or `both` has kept."""
        return values

    def taken(self, values: NDArray, numbers: NDArray[np.intp]) -> NDArray:
        """Return some rows, by their numbers in rising order."""
        return values[numbers]

    def normal(self, rng: np.random.Generator, width: int) -> Any:
        """Return normally distributed numbers (N, width), the same whatever the partitions."""
        return rng.standard_normal((self.n_rows, width))


def added(parts: list[Any]) -> Any:
    """Return the sum of values: numbers, arrays, what has a sum of its own, or tuples of these, entry by entry."""
    first = parts[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        entries = [added(list(each)) for each in zip(*parts, strict=True)]
        return type(first)(*entries) if hasattr(first, "_fields") else tuple(entries)
    return reduce(operator.add, parts)


def largest(parts: list[NDArray]) -> NDArray:
    """Return the largest of the parts' values, entry by entry."""
    return np.max(parts, axis=0)
