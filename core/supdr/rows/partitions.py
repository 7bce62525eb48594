"""What a method does with rows that it never sees all at once: work on every partition, and sums over them.

Every piece of work is a pure function of a partition's arrays and of a few small shared ones.  So Dask can repeat it
elsewhere when a worker is lost, and what travels is independent of the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain, groupby
from operator import attrgetter, getitem
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from supdr.rows.tasks import Given, Part, Planned, called, read_at
from supdr.rows.waiting import Told, by_others, computed, kept_and_computed

# Partial sums that one addition takes.
FAN_IN = 8

# Into about so many pieces, of all partitions together, goes what is done between rounds.
PIECES = 32

# Rows of such a piece: with fewer, Dask takes longer than the work.
LEAST_ROWS = 30_000


class Work:
    """A function with the arguments that partitions share, named as it is in Dask's dashboard.

    `function`: what is called. `arguments`: its arguments; those that are `Partitions` are given in the call.
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
            arguments[place] = reduce(getitem, entry, value.value if isinstance(value, Given) else value)
        return self.function(*arguments)


class Piece:
    """A function of one of some pieces of its rows, named as it is.

    `function`: what is called; its first argument are the rows. `number`, `count`: which of how many pieces.
    """

    def __init__(self, function: Callable[..., Any], number: int, count: int) -> None:
        self.function, self.number, self.count = function, number, count
        self.__name__ = function.__name__

    def __call__(self, rows: Any, *arguments: Any) -> Any:
        """Return what the function gives for the piece."""
        begin, end = (len(rows) * each // self.count for each in (self.number, self.number + 1))
        return self.function(rows[begin:end], *arguments)


class Partitions:
    """References to one value per partition, in the order of the rows.

    `parts`: what stands for the values.  All that belongs to a partition has the same home. `entry`: which entry of
    each value is meant, where values are tuples, which entry of that, and so on.
    """

    def __init__(self, parts: Iterable[Part], entry: tuple[int, ...] = ()) -> None:
        self.parts, self.entry = tuple(parts), entry

    def __len__(self) -> int:
        return len(self.parts)

    def some(self, numbers: list[int]) -> Partitions:
        """Return some of the partitions, by their numbers."""
        return Partitions((self.parts[number] for number in numbers), self.entry)

    def item(self, number: int) -> Partitions:
        """Return the entries `number` of values that are tuples; they stay within these."""
        return Partitions(self.parts, (*self.entry, number))


def listed(values: Iterable[Any]) -> Partitions:
    """Return given small values, one per partition."""
    return Partitions(map(Given, values))


def at_home(blocks: list[Delayed]) -> Partitions:
    """Return partitions shared out among the workers of the current client, if there is one, neighbours together.

    `blocks`: each yields the value of a partition.
    """
    from distributed import get_client

    try:
        workers = sorted(get_client().nthreads())
    except ValueError:  # no client: threads of this process
        workers = [""]
    return Partitions(read_at(blocks, [workers[number * len(workers) // len(blocks)] for number in range(len(blocks))]))


def planned(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, to be computed when it is needed, each time.

    `function`: pure; `*arguments`: `Partitions` are passed partition by partition, everything else as it is.
    """
    return Partitions(_calls(function, arguments))


def spread(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, computed now and kept where it was computed.

    `function`: pure; `*arguments`: as for `planned`.
    """
    return Partitions(kept_and_computed(_calls(function, arguments))[0])


def spread_meanwhile(function: Callable[..., Any], rows: Partitions, *arguments: Any, n_rows: int) -> Partitions:
    """Return what `function` gives for every partition, kept there; workers do it where they would wait for others.

    A cluster does it in pieces, after all that is asked for before it is needed: between two rounds of messages.

    `function`: pure; gives an array with an entry a row, whatever other rows there are. `rows`: its first argument, of
    which a piece gets some rows. `*arguments`: shared by all partitions, and small: they are sent with every piece.
    `n_rows`: of all partitions.
    """
    count = min(PIECES, n_rows // LEAST_ROWS) // len(rows)
    if count < 2 or not by_others():
        return spread(function, rows, *arguments)
    pieces = [_calls(Piece(function, number, count), (rows, *arguments)) for number in range(count)]
    whole = [called(_joined_rows, some, some[0].home) for some in zip(*pieces)]
    with dask.annotate(priority=-1):
        return Partitions(kept_and_computed(whole)[0])


def gathered(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the list of what `function` gives for the partitions.

    `function`: pure; its values are small. `*arguments`: as for `planned`.
    """
    parts = _calls(function, arguments)
    return computed(parts, parts)


def total(function: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] = sum) -> Any:
    """Return the sum of what `function` gives for the partitions, added up in a tree, in a fixed order.

    `function`: pure; `*arguments`: as for `planned`; `add`: maps a list of at most `FAN_IN` values to their sum.
    """
    parts = _calls(function, arguments)
    return add(computed(_few(parts, add), parts))


def spread_and_total(
    function: Callable[..., Any],
    *arguments: Any,
    add: Callable[[list[Any]], Any] = sum,
    so_far: Callable[[dict[int, Any]], Any] | None = None,
) -> Any:
    """Return two things that `function` gives for every partition: what is kept there, and the sum of the second.

    `function`: pure; gives a pair. `*arguments`: as for `planned`. `add`: as for `total`. `so_far`: on a cluster told
    now and then, while it is waited for: the second things by the number of their partition, of those partitions that
    are done. Returns `kept`; `summed`.
    """
    pairs = _calls(function, arguments)
    if so_far is not None:
        shares = [called(_second, [pair], pair.home) for pair in pairs]
        kept, sums = kept_and_computed(pairs, _few(shares, add), Told(shares, so_far))
    elif len(pairs) > FAN_IN:
        kept, sums = kept_and_computed(pairs, _few([_seconds_added(some, add) for some in _neighbours(pairs)], add))
    else:
        by_home = [called(_seconds, some, home) for home, some in groupby(pairs, attrgetter("home"))]
        kept, lists = kept_and_computed(pairs, by_home)
        sums = list(chain.from_iterable(lists))
    return Partitions(kept, (0,)), add(sums)


def _calls(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Planned]:
    """Return a call for every partition, to be made where the partition is."""
    work = Work(function, arguments)
    columns = [argument.parts for argument in arguments if isinstance(argument, Partitions)]
    return [
        called(work, values, next((each.home for each in values if each.home), ""))
        for values in zip(*columns, strict=True)
    ]


class Sum:
    """What adds values up, named as it is in Dask's dashboard.

    `add`: maps a list of values to their sum.
    """

    __name__ = "sum"

    def __init__(self, add: Callable[[list[Any]], Any]) -> None:
        self.add = add

    def __call__(self, *values: Any) -> Any:
        """Return the sum."""
        return self.add(list(values))


class SumOfSeconds(Sum):
    """What adds up the second things of pairs."""

    def __call__(self, *pairs: tuple[Any, Any]) -> Any:
        """Return their sum."""
        return self.add(_seconds(*pairs))


def _few(values: list[Planned], add: Callable[[list[Any]], Any]) -> list[Planned]:
    """Return at most `FAN_IN` values with the same sum: the client adds these, which saves it from waiting for it."""
    while len(values) > FAN_IN:
        values = [called(Sum(add), some) for some in _neighbours(values)]
    return values


def _seconds_added(pairs: list[Planned], add: Callable[[list[Any]], Any]) -> Planned:
    """Return the sum of the second things of neighbours; the first do not travel."""
    homes = {pair.home for pair in pairs}
    if len(homes) == 1:
        return called(SumOfSeconds(add), pairs, homes.pop())
    return called(Sum(add), [called(_second, [pair], pair.home) for pair in pairs])


def _neighbours(values: list[Planned]) -> list[list[Planned]]:
    return [values[start : start + FAN_IN] for start in range(0, len(values), FAN_IN)]


def _joined_rows(*pieces: Any) -> Any:
    return np.concatenate(pieces)


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _seconds(*pairs: tuple[Any, Any]) -> list[Any]:
    return [second for _, second in pairs]
