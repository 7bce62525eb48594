"""Rows in memory, with the same methods as rows in partitions, `supdr.rows.partitioned.PartitionedRows`.

A problem that can run on partitions never loops over its rows.  It passes a function of a part of the rows and of a few
small shared values to one of three methods: `each` keeps one value per row, `total` adds values up, `both` does the two
in one pass.  In memory there is one part, and the function is called once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray


class InMemoryRows:
    """Rows in memory."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def each(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``work(*arguments)``, which has one entry per row."""
        return work(*arguments)

    def delay(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``work(*arguments)``; partitions compute it at each use."""
        return work(*arguments)

    def total(self, work: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] | None = None) -> Any:
        """Return the sum over the parts of ``work(*arguments)``, by `added` or by `add`, a function of a list."""
        return work(*arguments)

    def both(self, work: Callable[..., Any], *arguments: Any, so_far: Any = None) -> tuple[Any, Any]:
        """Return the pair ``work(*arguments)``: one entry per row, and a sum over the parts."""
        kept, summed = work(*arguments)
        return kept, summed

    def entries(self, values: tuple, count: int) -> tuple:
        """Return the `count` entries of the tuples that `each` or `both` has kept."""
        return values

    def take(self, values: NDArray, numbers: NDArray[np.intp]) -> NDArray:
        """Return the rows with these numbers, which are in rising order."""
        return values[numbers]

    def split(self, values: NDArray) -> NDArray:
        """Return rows in memory (N, q) as arrays over these rows."""
        return values

    def replaced(self, values: NDArray, numbers: NDArray[np.intp], new: NDArray) -> NDArray:
        """Return a copy of `values` in which the rows with these numbers, in rising order, are `new`."""
        values = values.copy()
        values[numbers] = new
        return values

    def normal(self, rng: np.random.Generator, width: int) -> Any:
        """Return standard normal numbers (N, width), which do not depend on the partitions."""
        return rng.standard_normal((self.n_rows, width))


def added(parts: list[Any]) -> Any:
    """Return the sum of values: numbers, arrays, objects with ``+``, or tuples of these, entry by entry."""
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
