"""Work on rows that are never in one place: a function of every partition, and sums over partitions.

Every function is pure and takes a partition's arrays and a few small shared values.  So Dask can repeat it elsewhere
when a worker is lost, and what travels is independent of the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain, count, groupby
from operator import getitem
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from supdr.rows.waiting import Arrivals, Given, Part, computed, kept_and_computed, on_cluster

if TYPE_CHECKING:  # Dask is an extra
    from dask.delayed import Delayed

# Partial sums that one addition takes.
FAN_IN = 8

# Pieces, of all partitions together, into which the work between rounds is divided.
PIECES = 32

# Least rows of such a piece: with fewer, Dask takes longer than the work.
LEAST_ROWS = 30_000

# Names of tasks: a random number each would take longer than the rest of a graph.
_PROCESS, _numbers = uuid4().hex, count()


class Work:
    """A function with the arguments that partitions share, under the function's name for Dask's dashboard.

    `function`: the function. `arguments`: its arguments; those that are `Partitions` are given in the call.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function = function
        self.places = [(number, each.entry) for number, each in enumerate(arguments) if isinstance(each, Partitions)]
        self.shared = [None if isinstance(each, Partitions) else each for each in arguments]
        self.__name__ = getattr(function, "__name__", type(function).__name__).lstrip("_")

    def __call__(self, *values: Any) -> Any:
        """Return the function's value for a partition."""
        arguments = list(self.shared)
        for (place, entry), value in zip(self.places, values):
            arguments[place] = reduce(getitem, entry, value.value if isinstance(value, Given) else value)
        return self.function(*arguments)


class Piece:
    """A function of one of several pieces of its rows, under the function's name.

    `function`: its first argument are the rows. `number`, `count`: number of the piece, and of pieces.
    """

    def __init__(self, function: Callable[..., Any], number: int, count: int) -> None:
        self.function, self.number, self.count = function, number, count
        self.__name__ = function.__name__

    def __call__(self, rows: Any, *arguments: Any) -> Any:
        """Return the function's value for the piece."""
        begin, end = (len(rows) * each // self.count for each in (self.number, self.number + 1))
        return self.function(rows[begin:end], *arguments)


class Partitions:
    """References to one value per partition, in the order of the rows.

    `parts`: what stands for the values. `homes`: address of the worker of each partition; "": any. `entry`: which
    entry of each value is meant, where values are tuples, which entry of that, and so on.
    """

    def __init__(self, parts: Iterable[Part], homes: Iterable[str], entry: tuple[int, ...] = ()) -> None:
        self.parts, self.homes, self.entry = tuple(parts), tuple(homes), entry

    def __len__(self) -> int:
        return len(self.parts)

    def some(self, numbers: list[int]) -> Partitions:
        """Return some of the partitions, by their numbers."""
        parts, homes = ([values[number] for number in numbers] for values in (self.parts, self.homes))
        return Partitions(parts, homes, self.entry)

    def item(self, number: int) -> Partitions:
        """Return the entries `number` of values that are tuples; they stay within these."""
        return Partitions(self.parts, self.homes, (*self.entry, number))


def listed(values: Iterable[Any]) -> Partitions:
    """Return given small values, one per partition."""
    parts = [Given(value) for value in values]
    return Partitions(parts, [""] * len(parts))


def at_home(blocks: list[Delayed]) -> Partitions:
    """Return partitions shared out among the workers of the current client, if there is one, neighbours together.

    `blocks`: each yields the value of a partition.
    """
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
    from dask.optimization import cull
    from distributed import get_client

    try:
        workers = sorted(get_client().nthreads())
    except ValueError:  # no client: threads of this process
        workers = [""]
    homes = [workers[number * len(workers) // len(blocks)] for number in range(len(blocks))]
    graphs: dict[int, dict] = {}  # the blocks of a collection share its graph, of which each needs a part
    parts = []
    for block in blocks:
        tasks, _ = cull(graphs.setdefault(id(block.dask), dict(block.dask)), [block.key])
        # Any worker may read it: where all workers were lost at once, Dask does not repeat tasks that have a home.
        parts.append(Delayed(block.key, HighLevelGraph.from_collections(block.key, tasks)))
    return Partitions(parts, homes)


def planned(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, to be computed when it is needed, each time.

    `function`: pure; `*arguments`: `Partitions` are passed partition by partition, everything else as it is.
    """
    homes = _homes(arguments)
    return Partitions(_calls(function, arguments, homes), homes)


def spread(function: Callable[..., Any], *arguments: Any) -> Partitions:
    """Return what `function` gives for every partition, computed now and kept where it was computed.

    `function`: pure; `*arguments`: as for `planned`.
    """
    homes = _homes(arguments)
    return Partitions(kept_and_computed(_calls(function, arguments, homes))[0], homes)


def spread_meanwhile(function: Callable[..., Any], rows: Partitions, *arguments: Any, n_rows: int) -> Partitions:
    """Return what `function` gives for every partition, kept there; workers do it while they wait for messages.

    A cluster does it in pieces and at a low priority, after what is needed earlier.

    `function`: pure; gives an array with an entry a row, whatever other rows there are. `rows`: its first argument, of
    which a piece gets some rows. `*arguments`: shared by all partitions, and small: they are sent with every piece.
    `n_rows`: of all partitions.
    """
    from dask import annotate

    n_pieces = min(PIECES, n_rows // LEAST_ROWS) // len(rows)
    if n_pieces < 2 or not on_cluster():
        return spread(function, rows, *arguments)
    with annotate(priority=-1):
        pieces = [
            _calls(Piece(function, number, n_pieces), (rows, *arguments), rows.homes) for number in range(n_pieces)
        ]
        whole = [_call(_joined_rows, some, home) for some, home in zip(zip(*pieces), rows.homes)]
        return Partitions(kept_and_computed(whole)[0], rows.homes)


def gathered(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the list of what `function` gives for the partitions.

    `function`: pure; its values are small. `*arguments`: as for `planned`.
    """
    parts = _calls(function, arguments, _homes(arguments))
    return computed(parts, parts)


def total(function: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] = sum) -> Any:
    """Return the sum of what `function` gives for the partitions, added up in a tree, in a fixed order.

    `function`: pure; `*arguments`: as for `planned`; `add`: maps a list of at most `FAN_IN` values to their sum.
    """
    parts = _calls(function, arguments, _homes(arguments))
    return add(computed(_few(parts, add), parts))


def spread_and_total(
    function: Callable[..., Any],
    *arguments: Any,
    add: Callable[[list[Any]], Any] = sum,
    so_far: Callable[[dict[int, Any]], Any] | None = None,
) -> Any:
    """Return two things that `function` gives for every partition: what is kept there, and the sum of the second.

    `function`: pure; gives a pair. `*arguments`: as for `planned`. `add`: as for `total`. `so_far`: called on a cluster
    now and then, while this waits, with the second things of the partitions that are done, by their number. Returns
    `kept`; `summed`.
    """
    homes = _homes(arguments)
    pairs = _calls(function, arguments, homes)
    if so_far is not None:
        shares = [_call(_second, [pair], home) for pair, home in zip(pairs, homes)]
        kept, sums = kept_and_computed(pairs, _few(shares, add), Arrivals(shares, so_far))
    elif len(pairs) > FAN_IN:
        some = zip(_neighbours(pairs), _neighbours(homes))
        kept, sums = kept_and_computed(pairs, _few([_seconds_added(*each, add) for each in some], add))
    else:
        groups = [list(some) for _, some in groupby(zip(pairs, homes), lambda each: each[1])]
        lists = [_call(_seconds, [pair for pair, _ in some], some[0][1]) for some in groups]
        kept, lists = kept_and_computed(pairs, lists)
        sums = list(chain.from_iterable(lists))
    return Partitions(kept, homes, (0,)), add(sums)


def _homes(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the home of each partition: that of the first argument which has one."""
    columns = [argument.homes for argument in arguments if isinstance(argument, Partitions)]
    return tuple(next(filter(None, homes), "") for homes in zip(*columns, strict=True))


def _calls(function: Callable[..., Any], arguments: tuple[Any, ...], homes: Iterable[str]) -> list[Delayed]:
    """Return a call for every partition, to be made at its home."""
    work = Work(function, arguments)
    columns = [argument.parts for argument in arguments if isinstance(argument, Partitions)]
    return [_call(work, values, home) for values, home in zip(zip(*columns, strict=True), homes)]


def _call(function: Any, values: Iterable[Part], home: str = "") -> Delayed:
    """Return the call of a function on a worker; another one makes it if that one is lost."""
    from dask import annotate, delayed

    name = getattr(function, "__name__", type(function).__name__)
    call = delayed(function, name=name, pure=False, traverse=False)
    key = f"{name}-{_PROCESS}-{next(_numbers)}"
    if not home:
        return call(*values, dask_key_name=key)
    with annotate(workers=[home], allow_other_workers=True):
        return call(*values, dask_key_name=key)


class Sum:
    """The addition of values, under this name in Dask's dashboard.

    `add`: maps a list of values to their sum. `seconds`: whether values are pairs whose second entries are added.
    """

    __name__ = "sum"

    def __init__(self, add: Callable[[list[Any]], Any], seconds: bool = False) -> None:
        self.add, self.seconds = add, seconds

    def __call__(self, *values: Any) -> Any:
        """Return the sum."""
        return self.add(_seconds(*values) if self.seconds else list(values))


def _few(values: list[Delayed], add: Callable[[list[Any]], Any]) -> list[Delayed]:
    """Return at most `FAN_IN` values with the same sum, which the client adds in place of waiting for another task."""
    while len(values) > FAN_IN:
        values = [_call(Sum(add), some) for some in _neighbours(values)]
    return values


def _seconds_added(pairs: list[Delayed], homes: tuple[str, ...], add: Callable[[list[Any]], Any]) -> Delayed:
    """Return the sum of the second things of neighbours; the first do not travel."""
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
