"""What a method does with rows that it never sees all at once: work on every partition, and sums over them.

Every piece of work is a pure function of a partition's arrays and of a few small shared ones.  So Dask can repeat it
elsewhere when a worker is lost, and what travels is independent of the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import dask
from dask.delayed import Delayed, delayed

FAN_IN = 8
"""Partial sums that one addition takes."""


class Partitions:
    """References to one value per partition, in the order of the rows.

    Parameters
    ----------
    parts : iterable of Delayed
        Each yields the value of a partition.
    """

    def __init__(self, parts: Iterable[Delayed]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def item(self, number: int) -> Partitions:
        """Return the entries `number` of values that are tuples."""
        return planned(itemgetter(number), self)


def listed(values: Iterable[Any]) -> Partitions:
    """Return given small values, one per partition."""
    return Partitions(delayed(value, pure=False) for value in values)


def planned(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, to be computed when it is needed, each time.

    Parameters
    ----------
    function : callable
        Pure.
    *arguments
        `Partitions` are passed partition by partition, everything else as it is.
    """
    count = next(len(argument) for argument in arguments if isinstance(argument, Partitions))
    work = delayed(function, pure=False)
    return Partitions(
        work(*(each.parts[number] if isinstance(each, Partitions) else each for each in arguments))
        for number in range(count)
    )


def spread(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, computed now and kept where it was computed.

    Parameters
    ----------
    function : callable
        Pure.
    *arguments
        As for `planned`.
    """
    return Partitions(dask.persist(*planned(function, *arguments).parts))


def gathered(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the list of what `function` gives for the partitions.

    Parameters
    ----------
    function : callable
        Pure; its values are small.
    *arguments
        As for `planned`.
    """
    return list(dask.compute(*planned(function, *arguments).parts))


def total(function: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] = sum) -> Any:
    """Return the sum of what `function` gives for the partitions, added up in a tree, in a fixed order.

    Parameters
    ----------
    function : callable
        Pure.
    *arguments
        As for `planned`.
    add : callable, default=sum
        Maps a list of at most `FAN_IN` values to their sum.
    """
    level = list(planned(function, *arguments).parts)
    join = delayed(add, pure=False)
    while len(level) > 1:
        level = [join(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
    return dask.compute(level[0])[0]
