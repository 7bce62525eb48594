"""Waiting for work on partitions: whoever waits is told how far it is, and may give it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask

from supdr.engine.context import current_context
from supdr.engine.interruption import Interrupted, checkpoint, lent_thread
from supdr.rows.tasks import Given, Part, Planned, by_threads, kept_there, submitted

# ``tell(done, count)``: how many of the partitions of a round are done.
Tell = Callable[[int, int], Any]

# Seconds between two looks at how far a cluster is, and at whether its work is still wanted.
GLANCE = 0.1


class Told(NamedTuple):
    """Who is told of values of partitions while the others are waited for.

    `shares`: small values, one per partition; `tell`: ``tell(values)``: those that are there, by the number of their
    partition.
    """

    shares: Sequence[Planned]
    tell: Callable[[dict[int, Any]], Any]


def computed(wanted: Sequence[Planned], parts: Sequence[Planned]) -> list[Any]:
    """Return the values of `wanted`, which are made of `parts`.

    `parts`: one per partition. Raises Interrupted if the run of this thread was asked to stop meanwhile; what has begun
    on a cluster is left to end by itself.
    """
    tell, client = _tell(), _client()
    if client is None:
        return by_threads(wanted, _between_tasks(parts, tell))
    if tell is None:
        return list(client.gather(submitted(client, wanted)))
    known = {each.key: each for each in (*parts, *wanted)}
    futures = dict(zip(known, submitted(client, list(known.values()))))
    ours, results = ([futures[each.key] for each in some] for some in (parts, wanted))
    return _awaited(client, ours, results, tell)


def kept_and_computed(
    parts: Sequence[Planned], wanted: Sequence[Planned] = (), told: Told | None = None
) -> tuple[list[Part], list[Any]]:
    """Return what stands for the values of `parts`, kept where they are computed, and the values of `wanted`.

    `parts`: one per partition. `wanted`: made of them.  Without any, nothing is waited for on a cluster. `told`: who
    looks on a cluster at values of partitions before all are there. Returns `kept`; `values`. Raises Interrupted: as
    for `computed`.
    """
    tell, client, count = _tell(), _client(), len(parts)
    if client is None:
        values = by_threads([*parts, *wanted], _between_tasks(parts, tell))
        return [Given(each) for each in values[:count]], values[count:]
    shares = () if told is None else told.shares
    futures = submitted(client, [*parts, *shares, *wanted])
    kept: list[Part] = [kept_there(future, part.home) for future, part in zip(futures, parts)]
    if not wanted:
        return kept, []
    small, results = futures[count : -len(wanted)], futures[-len(wanted) :]
    if tell is None:
        return kept, list(client.gather(results))
    look = None if told is None else _Arriving(client, small, told.tell)
    return kept, _awaited(client, futures[:count], results, tell, look)


def by_others() -> bool:
    """Tell whether a cluster works on partitions."""
    return _client() is not None


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
    context = current_context()
    tell = context.report_progress
    if tell is None and context.stop_requested is None:
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


def _between_tasks(parts: Sequence[Planned], tell: Tell | None) -> list[tuple] | None:
    """Return what threads of this process call between tasks: it tells how far they are; None: nobody is told."""
    if tell is None:
        return None
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
        with lent_thread():
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
