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

from supdr.rows.waiting import computed

FAN_IN = 8
"""Partial sums that one addition takes."""


class Work:
    """A function with the arguments that partitions share, named as it is in Dask's dashboard.

    Parameters
    ----------
    function : callable
        What is called.
    arguments : tuple
        Its arguments; those that are `Partitions` are given in the call.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.places = [number for number, each in enumerate(arguments) if isinstance(each, Partitions)]
        self.shared = [None if isinstance(each, Partitions) else each for each in arguments]
        self.__name__ = getattr(function, "__name__", type(function).__name__).lstrip("_")

    def __call__(self, *values: Any) -> Any:
        """Return what the function gives for a partition."""
        arguments = list(self.shared)
        for place, value in zip(self.places, values):
            arguments[place] = value
        return self.function(*arguments)


class Partitions:
    """References to one value per partition, in the order of the rows.

    Parameters
    ----------
    parts : iterable of Delayed
        Each yields the value of a partition.
    homes : tuple of str, optional
        Addresses of the workers that should work on the partitions: all that belongs to one stays together.  Another
        worker does it if that one is lost.
    """

    def __init__(self, parts: Iterable[Delayed], homes: tuple[str, ...] = ()) -> None:
        self.parts, self.homes = tuple(parts), homes

    def __len__(self) -> int:
        return len(self.parts)

    def some(self, numbers: list[int]) -> Partitions:
        """Return some of the partitions, by their numbers."""
        homes = tuple(self.homes[number] for number in numbers) if self.homes else ()
        return Partitions((self.parts[number] for number in numbers), homes)

    def item(self, number: int) -> Partitions:
        """Return the entries `number` of values that are tuples, kept where those are."""
        return spread(itemgetter(number), self)


def listed(values: Iterable[Any]) -> Partitions:
    """Return given small values, one per partition."""
    return Partitions(delayed(value, pure=False) for value in values)


def at_home(parts: list[Delayed]) -> Partitions:
    """Return partitions shared out among the workers of the current client, if there is one, neighbours together.

    Parameters
    ----------
    parts : list of Delayed
        Each yields the value of a partition.

    Returns
    -------
    Partitions
    """
    from distributed import get_client

    try:
        workers = sorted(get_client().nthreads())
    except ValueError:  # no client: threads of this process
        return Partitions(parts)
    return Partitions(parts, tuple(workers[number * len(workers) // len(parts)] for number in range(len(parts))))


def planned(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, to be computed when it is needed, each time.

    Parameters
    ----------
    function : callable
        Pure.
    *arguments
        `Partitions` are passed partition by partition, everything else as it is.
    """
    # Shared arguments travel with the function: as arguments of their own Dask would search each for collections.
    work = delayed(Work(function, arguments), pure=False, traverse=False)
    columns = [argument.parts for argument in arguments if isinstance(argument, Partitions)]
    homes = next((each.homes for each in arguments if isinstance(each, Partitions) and each.homes), ())
    parts = []
    for number, values in enumerate(zip(*columns, strict=True)):
        place = {"workers": [homes[number]], "allow_other_workers": True} if homes else {}
        with dask.annotate(**place):
            parts.append(work(*values))
    return Partitions(parts, homes)


def spread(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, computed now and kept where it was computed.

    Parameters
    ----------
    function : callable
        Pure.
    *arguments
        As for `planned`.
    """
    plan = planned(function, *arguments)
    return Partitions(dask.persist(*plan.parts), plan.homes)


def gathered(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the list of what `function` gives for the partitions.

    Parameters
    ----------
    function : callable
        Pure; its values are small.
    *arguments
        As for `planned`.
    """
    parts = planned(function, *arguments).parts
    return computed(list(parts), parts)


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
    parts = planned(function, *arguments).parts
    return computed([_tree(parts, add)], parts)[0]


def spread_and_total(function: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] = sum) -> Any:
    """Return two things that `function` gives for every partition: what is kept there, and the sum of the second.

    Parameters
    ----------
    function : callable
        Pure; gives a pair.
    *arguments
        As for `planned`.
    add : callable, default=sum
        As for `total`.

    Returns
    -------
    kept : Partitions
    summed : object
    """
    plan = planned(function, *arguments)
    first, second = (planned(itemgetter(number), plan) for number in (0, 1))
    *kept, summed = dask.persist(*first.parts, _tree(second.parts, add))
    return Partitions(kept, plan.homes), computed([summed], tuple(kept))[0]


def _tree(parts: Iterable[Delayed], add: Callable[[list[Any]], Any]) -> Delayed:
    """Return the sum of the parts, at most `FAN_IN` at a time."""
    level, join = list(parts), delayed(add, pure=False)
    while len(level) > 1:
        level = [join(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
    return level[0]
