"""What a method does with rows that it never sees all at once: work on every partition, and sums over them.

Every piece of work is a pure function of a partition's arrays and of a few small shared ones.  So Dask can repeat it
elsewhere when a worker is lost, and what travels is independent of the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import getitem
from typing import Any

import dask
from dask.delayed import Delayed, delayed

from supdr.rows.waiting import Told, computed, kept_and_computed

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
        self.places = [(number, each.entry) for number, each in enumerate(arguments) if isinstance(each, Partitions)]
        self.shared = [None if isinstance(each, Partitions) else each for each in arguments]
        self.__name__ = getattr(function, "__name__", type(function).__name__).lstrip("_")

    def __call__(self, *values: Any) -> Any:
        """Return what the function gives for a partition."""
        arguments = list(self.shared)
        for (place, entry), value in zip(self.places, values):
            arguments[place] = reduce(getitem, entry, value)
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
    entry : tuple of int, optional
        Which entry of each value is meant, where values are tuples, which entry of that, and so on.
    """

    def __init__(self, parts: Iterable[Delayed], homes: tuple[str, ...] = (), entry: tuple[int, ...] = ()) -> None:
        self.parts, self.homes, self.entry = tuple(parts), homes, entry

    def __len__(self) -> int:
        return len(self.parts)

    def some(self, numbers: list[int]) -> Partitions:
        """Return some of the partitions, by their numbers."""
        homes = tuple(self.homes[number] for number in numbers) if self.homes else ()
        return Partitions((self.parts[number] for number in numbers), homes, self.entry)

    def item(self, number: int) -> Partitions:
        """Return the entries `number` of values that are tuples; they stay within these."""
        return Partitions(self.parts, self.homes, (*self.entry, number))


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
        with dask.annotate(**_at(homes[number] if homes else "")):
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
    return Partitions(kept_and_computed(plan.parts, None)[0], plan.homes)


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
    plan = planned(function, *arguments)
    return computed([_tree(plan, add)], plan.parts)[0]


def spread_and_total(
    function: Callable[..., Any],
    *arguments: Any,
    add: Callable[[list[Any]], Any] = sum,
    so_far: Callable[[dict[int, Any]], Any] | None = None,
) -> Any:
    """Return two things that `function` gives for every partition: what is kept there, and the sum of the second.

    Parameters
    ----------
    function : callable
        Pure; gives a pair.
    *arguments
        As for `planned`.
    add : callable, default=sum
        As for `total`.
    so_far : callable, optional
        On a cluster told now and then, while it is waited for: the second things by the number of their partition, of
        those partitions that are done.

    Returns
    -------
    kept : Partitions
    summed : object
    """
    pairs = planned(function, *arguments)
    if so_far is None:
        kept, summed = kept_and_computed(pairs.parts, _tree(pairs.item(1), add))
    else:
        shares = planned(_itself, pairs.item(1))
        kept, summed = kept_and_computed(pairs.parts, _tree(shares, add), Told(shares.parts, so_far))
    return Partitions(kept, pairs.homes, (0,)), summed


def _tree(values: Partitions, add: Callable[[list[Any]], Any]) -> Delayed:
    """Return the sum of the values, at most `FAN_IN` at a time; what they are entries of does not travel."""
    join = delayed(add, pure=False)
    level = []
    for start in range(0, len(values), FAN_IN):
        few = slice(start, start + FAN_IN)
        parts, homes = values.parts[few], values.homes[few]
        if not values.entry:
            level.append(join(list(parts)))
        elif len(set(homes)) <= 1:
            with dask.annotate(**_at(homes[0] if homes else "")):
                level.append(delayed(_entries_added, pure=False)(list(parts), values.entry, add))
        else:
            level.append(join(list(planned(_itself, Partitions(parts, homes, values.entry)).parts)))
    while len(level) > 1:
        level = [join(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
    return level[0]


def _itself(value: Any) -> Any:
    return value


def _entries_added(values: list[Any], entry: tuple[int, ...], add: Callable[[list[Any]], Any]) -> Any:
    return add([reduce(getitem, entry, value) for value in values])


def _at(home: str) -> dict[str, Any]:
    """Return what Dask is told of where a task belongs; it may be done elsewhere if that worker is lost."""
    return {"workers": [home], "allow_other_workers": True} if home else {}
