"""Functions applied to every partition, and sums over partitions.

Every function is pure and takes a partition's arrays and a few small shared values.  Dask can therefore repeat it on
another worker when one is lost, and the size of messages does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain, count, groupby
from operator import getitem
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from supdr.rows.waiting import Arrivals, LocalValue, Part, compute, on_cluster, persist_and_compute

if TYPE_CHECKING:  # Dask is an extra
    from dask.delayed import Delayed

# Number of partial sums that are added at a time.
FAN_IN = 8

# Number of pieces, of all partitions together, into which the work between rounds is divided.
PIECES = 32

# Smallest number of rows of a piece: Dask's overhead exceeds the work on fewer.
LEAST_ROWS = 30_000

# Names of tasks are numbered: a random name for each would take longer than building the graph.
_PROCESS, _numbers = uuid4().hex, count()


class Work:
    """A function under its own name for Dask's dashboard; arguments that are `Partitions` become the call's."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.places = [(number, each.entry) for number, each in enumerate(arguments) if isinstance(each, Partitions)]
        self.shared = [None if isinstance(each, Partitions) else each for each in arguments]
        self.__name__ = getattr(function, "__name__", type(function).__name__).lstrip("_")

    def __call__(self, *values: Any) -> Any:
        """Return the function's value for a partition."""
        arguments = list(self.shared)
        for (place, entry), value in zip(self.places, values):
            arguments[place] = reduce(getitem, entry, value.value if isinstance(value, LocalValue) else value)
        return self.function(*arguments)


class Piece:
    """A function applied to one of `count` pieces of its first argument, the rows, under the function's name."""

    def __init__(self, function: Callable[..., Any], number: int, count: int) -> None:
        self.function, self.number, self.count = function, number, count
        self.__name__ = function.__name__

    def __call__(self, rows: Any, *arguments: Any) -> Any:
        """Return the function's value for the piece."""
        begin, end = (len(rows) * each // self.count for each in (self.number, self.number + 1))
        return self.function(rows[begin:end], *arguments)


class Partitions:
    """References to one value per partition, in the order of the rows.

    `parts`: a `LocalValue` or a Delayed for each value. `homes`: address of the worker of each partition; "": any.
    `entry`: indices, applied one after another, of the referenced entry of values that are nested tuples.
    """

    def __init__(self, parts: Iterable[Part], homes: Iterable[str], entry: tuple[int, ...] = ()) -> None:
        self.parts, self.homes, self.entry = tuple(parts), tuple(homes), entry

    def __len__(self) -> int:
        return len(self.parts)

    def some(self, numbers: list[int]) -> Partitions:
        """Return the partitions with these numbers."""
        parts, homes = ([values[number] for number in numbers] for values in (self.parts, self.homes))
        return Partitions(parts, homes, self.entry)

    def item(self, number: int) -> Partitions:
        """Return references to the entries `number` of values that are tuples."""
        return Partitions(self.parts, self.homes, (*self.entry, number))


def from_list(values: Iterable[Any]) -> Partitions:
    """Return `Partitions` of small values in this process."""
    parts = [LocalValue(value) for value in values]
    return Partitions(parts, [""] * len(parts))


def at_home(blocks: list[Delayed]) -> Partitions:
    """Return `Partitions` of delayed values; consecutive ones have the same worker of the current client."""
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
    from dask.optimization import cull
    from distributed import get_client

    try:
        workers = sorted(get_client().nthreads())
    except ValueError:  # no client: threads of this process
        workers = [""]
    homes = [workers[number * len(workers) // len(blocks)] for number in range(len(blocks))]
    graphs: dict[int, dict] = {}  # the blocks of a collection share one graph; each needs a part of it
    parts = []
    for block in blocks:
        tasks, _ = cull(graphs.setdefault(id(block.dask), dict(block.dask)), [block.key])
        # Any worker may read it: Dask does not repeat tasks that are bound to a worker when all workers are lost.
        parts.append(Delayed(block.key, HighLevelGraph.from_collections(block.key, tasks)))
    return Partitions(parts, homes)


def delay(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return the values of a pure function for every partition, computed at each use.

    `*arguments`: `Partitions` are passed partition by partition, all others unchanged.
    """
    homes = _homes(arguments)
    return Partitions(_calls(function, arguments, homes), homes)


def persist(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return the values of a pure function for every partition, see `delay`, computed now and kept on the workers."""
    homes = _homes(arguments)
    return Partitions(persist_and_compute(_calls(function, arguments, homes))[0], homes)


def persist_in_background(function: Callable[..., Any], rows: Partitions, *arguments: Any, n_rows: int) -> Partitions:
    """Return the values of a pure function for every partition, computed while workers wait for messages.

    A cluster computes them in pieces of the `rows`, at a low priority; each entry depends on its own row only, and the
    `*arguments` are small.
    """
    from dask import annotate

    n_pieces = min(PIECES, n_rows // LEAST_ROWS) // len(rows)
    if n_pieces < 2 or not on_cluster():
        return persist(function, rows, *arguments)
    with annotate(priority=-1):
        pieces = [
            _calls(Piece(function, number, n_pieces), (rows, *arguments), rows.homes) for number in range(n_pieces)
        ]
        whole = [_call(_joined_rows, some, home) for some, home in zip(zip(*pieces), rows.homes)]
        return Partitions(persist_and_compute(whole)[0], rows.homes)


def gather(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the list of the small values of a pure function for the partitions, see `delay`."""
    parts = _calls(function, arguments, _homes(arguments))
    return compute(parts, parts)


def total(function: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] = sum) -> Any:
    """Return the sum of a pure function's values for the partitions, see `delay`, added in a tree, in a fixed order."""
    parts = _calls(function, arguments, _homes(arguments))
    return add(compute(_few(parts, add), parts))


def persist_and_total(
    function: Callable[..., Any],
    *arguments: Any,
    add: Callable[[list[Any]], Any] = sum,
    so_far: Callable[[dict[int, Any]], Any] | None = None,
) -> Any:
    """Return the first entries of a function's pairs, kept on the workers, and the sum of the second entries.

    `function`: pure; returns a pair. `*arguments`: as for `delay`. `add`: as for `total`. `so_far`: called on a
    cluster from time to time with the second entries of the finished partitions, by partition number.
    """
    homes = _homes(arguments)
    pairs = _calls(function, arguments, homes)
    if so_far is not None:
        shares = [_call(_second, [pair], home) for pair, home in zip(pairs, homes)]
        kept, sums = persist_and_compute(pairs, _few(shares, add), Arrivals(shares, so_far))
    elif len(pairs) > FAN_IN:
        some = zip(_neighbours(pairs), _neighbours(homes))
        kept, sums = persist_and_compute(pairs, _few([_seconds_added(*each, add) for each in some], add))
    else:
        groups = [list(some) for _, some in groupby(zip(pairs, homes), lambda each: each[1])]
        lists = [_call(_seconds, [pair for pair, _ in some], some[0][1]) for some in groups]
        kept, lists = persist_and_compute(pairs, lists)
        sums = list(chain.from_iterable(lists))
    return Partitions(kept, homes, (0,)), add(sums)


def _homes(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the worker of each partition: that of the first argument with one."""
    columns = [argument.homes for argument in arguments if isinstance(argument, Partitions)]
    return tuple(next(filter(None, homes), "") for homes in zip(*columns, strict=True))


def _calls(function: Callable[..., Any], arguments: tuple[Any, ...], homes: Iterable[str]) -> list[Delayed]:
    """Return a delayed call for every partition, on its worker."""
    work = Work(function, arguments)
    columns = [argument.parts for argument in arguments if isinstance(argument, Partitions)]
    return [_call(work, values, home) for values, home in zip(zip(*columns, strict=True), homes)]


def _call(function: Any, values: Iterable[Part], home: str = "") -> Delayed:
    """Return a delayed call of a function on a worker, or on another one if that one is lost."""
    from dask import annotate, delayed

    name = getattr(function, "__name__", type(function).__name__)
    call = delayed(function, name=name, pure=False, traverse=False)
    key = f"{name}-{_PROCESS}-{next(_numbers)}"
    if not home:
        return call(*values, dask_key_name=key)
    with annotate(workers=[home], allow_other_workers=True):
        return call(*values, dask_key_name=key)


class Sum:
    """The addition of values, or of the second entries of pairs, named "sum" in Dask's dashboard."""

    __name__ = "sum"

    def __init__(self, add: Callable[[list[Any]], Any], seconds: bool = False) -> None:
        self.add, self.seconds = add, seconds

    def __call__(self, *values: Any) -> Any:
        """Return the sum."""
        return self.add(_seconds(*values) if self.seconds else list(values))


def _few(values: list[Delayed], add: Callable[[list[Any]], Any]) -> list[Delayed]:
    """Return at most `FAN_IN` values with the same sum, which the client adds, to save the round trip of a task."""
    while len(values) > FAN_IN:
        values = [_call(Sum(add), some) for some in _neighbours(values)]
    return values


def _seconds_added(pairs: list[Delayed], homes: tuple[str, ...], add: Callable[[list[Any]], Any]) -> Delayed:
    """Return the sum of the second entries of neighbouring pairs; the first entries are not sent."""
    if len(set(homes)) == 1:
        return _call(Sum(add, seconds=True), pairs, homes[0])
    return _call(Sum(add), [_call(_second, [pair], home) for pair, home in zip(pairs, homes)])


def _neighbours(values: Any) -> list[Any]:
    return [values[start : start + FAN_IN] for start in range(0, len(values), FAN_IN)]


def _joined_rows(*pieces: Any) -> Any:
    return np.concatenate(pieces)


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _seconds(*pairs: tuple[Any, Any]) -> list[Any]:
    return [second for _, second in pairs]
