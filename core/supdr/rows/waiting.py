"""Waiting for work on partitions: whoever waits is told how far it is, and may give it up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask
from dask.delayed import Delayed

from supdr.engine.interruption import Interrupted, checkpoint, current_flag

Tell = Callable[[int, int], Any]
"""``tell(done, count)``: how many of the partitions of a round are done."""

GLANCE = 0.1
"""Seconds between two looks at how far a cluster is, and at whether its work is still wanted."""


class Told(NamedTuple):
    """Who is told of values of partitions while the others are waited for.

    Attributes
    ----------
    shares : sequence of Delayed
        Small values, one per partition.
    tell : callable
        ``tell(values)``: those that are there, by the number of their partition.
    """

    shares: Sequence[Delayed]
    tell: Callable[[dict[int, Any]], Any]


_current = threading.local()


@contextmanager
def followed(tell: Tell) -> Iterator[None]:
    """Let ``tell(done, count)`` know how far each round over the partitions is, in this thread, within the block.

    Parameters
    ----------
    tell : callable
        Called often, by the thread that waits; must return at once.
    """
    before = getattr(_current, "tell", None)
    _current.tell = tell
    try:
        yield
    finally:
        _current.tell = before


def computed(wanted: list[Delayed], parts: Sequence[Delayed]) -> list[Any]:
    """Return the values of `wanted`, which are made of `parts`.

    Parameters
    ----------
    wanted : list of Delayed
    parts : sequence of Delayed
        One per partition.

    Returns
    -------
    list

    Raises
    ------
    Interrupted
        If the run of this thread was asked to stop meanwhile; what has begun on a cluster is left to end by itself.
    """
    tell = _tell()
    if tell is None:
        return list(dask.compute(*wanted))
    client = _client()
    if client is None:
        return list(dask.compute(*wanted, callbacks=_between_tasks(parts, tell)))
    known = {each.key: each for each in (*parts, *wanted)}
    futures = dict(zip(known, client.compute(list(known.values()))))
    ours, results = ([futures[each.key] for each in some] for some in (parts, wanted))
    return _awaited(client, ours, results, tell)


def kept_and_computed(
    parts: Sequence[Delayed], wanted: Delayed | None, told: Told | None = None
) -> tuple[Sequence[Delayed], Any]:
    """Return references to the values of `parts`, kept where they are computed, and the value of `wanted`.

    Parameters
    ----------
    parts : sequence of Delayed
        One per partition.
    wanted : Delayed or None
        Made of them.  None: on a cluster nothing is waited for.
    told : Told, optional
        Who looks on a cluster at values of partitions before all are there.

    Returns
    -------
    kept : sequence of Delayed
    value : object

    Raises
    ------
    Interrupted
        As for `computed`.
    """
    tell, client = _tell(), _client()
    if client is None:
        between = {} if tell is None else {"callbacks": _between_tasks(parts, tell)}
        *kept, last = dask.persist(*parts, wanted, **between)
        return kept, None if wanted is None else last.compute(scheduler="synchronous")
    from distributed import futures_of

    if wanted is None:
        return client.persist([*parts]), None
    shares = () if told is None else told.shares
    kept = client.persist([*parts, *shares, wanted])
    futures = [futures_of(each)[0] for each in kept]
    ours, small, result = futures[: len(parts)], futures[len(parts) : -1], futures[-1]
    if tell is None:
        return kept[: len(parts)], client.gather(result)
    look = None if told is None else _Arriving(client, small, told.tell)
    return kept[: len(parts)], _awaited(client, ours, [result], tell, look)[0]


class _Arriving:
    """Tells of the values of futures as they arrive."""

    def __init__(self, client: Any, futures: list[Any], tell: Callable[[dict[int, Any]], Any]) -> None:
        self._client, self._tell = client, tell
        self._open, self._values = dict(enumerate(futures)), dict[int, Any]()

    def look(self) -> None:
        """Fetch what has come, and tell of it."""
        done = {number: future for number, future in self._open.items() if future.status == "finished"}
        if done:
            self._values |= zip(done, self._client.gather(list(done.values())))
            for number in done:
                del self._open[number]
            self._tell(self._values)


def _tell() -> Tell | None:
    """Return who is to be told; None: nobody, and nothing can be given up.  Raises `Interrupted` if it is already."""
    tell = getattr(_current, "tell", None)
    if tell is None and current_flag() is None:
        return None
    checkpoint()
    return tell or _to_nobody


def _to_nobody(_done: int, _count: int) -> None:
    """Tell nobody."""


def _client() -> Any:
    """Return the client that Dask uses in this thread, or None."""
    from distributed import get_client

    if dask.config.get("scheduler", None) in ("threads", "threading", "sync", "synchronous", "single-threaded"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _between_tasks(parts: Sequence[Delayed], tell: Tell) -> list[tuple]:
    """Return what threads of this process call between tasks: it tells how far they are."""
    keys, done = {part.key for part in parts}, set()

    def after(key: Any, *_others: Any) -> None:
        """Tell how far it is; the thread that waits calls this."""
        checkpoint()
        if key in keys:
            done.add(key)
            tell(len(done), len(keys))

    return [(None, None, None, after, None)]


def _awaited(
    client: Any, parts: list[Any], wanted: list[Any], tell: Tell, arriving: _Arriving | None = None
) -> list[Any]:
    """Return the values of the futures `wanted`, which are made of `parts`."""
    from distributed import wait

    try:
        while True:
            tell(sum(future.done() for future in parts), len(parts))
            checkpoint()
            try:
                wait(wanted, timeout=GLANCE)
                break
            except TimeoutError:
                if arriving is not None:
                    arriving.look()
        if arriving is not None:
            arriving.look()
    except Interrupted:
        for future in (*parts, *wanted):  # what nobody wants any more is not begun
            future.release()
        raise
    return list(client.gather(wanted))
