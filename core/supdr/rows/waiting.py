"""Waiting for work on partitions: whoever waits is told how far it is, and may give it up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
from dask.delayed import Delayed

from supdr.engine.interruption import Interrupted, checkpoint, current_flag

Tell = Callable[[int, int], Any]
"""``tell(done, count)``: how many of the partitions of a round are done."""

GLANCE = 0.1
"""Seconds between two looks at how far a cluster is, and at whether its work is still wanted."""

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


def computed(wanted: list[Delayed], parts: tuple[Delayed, ...]) -> list[Any]:
    """Return the values of `wanted`, which are made of `parts`.

    Parameters
    ----------
    wanted : list of Delayed
    parts : tuple of Delayed
        One per partition.

    Returns
    -------
    list

    Raises
    ------
    Interrupted
        If the run of this thread was asked to stop meanwhile; what has begun on a cluster is left to end by itself.
    """
    tell = getattr(_current, "tell", None)
    if tell is None and current_flag() is None:
        return list(dask.compute(*wanted))
    checkpoint()
    tell = tell or _to_nobody
    client = _client()
    return _in_threads(wanted, parts, tell) if client is None else _on_cluster(client, wanted, parts, tell)


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


def _in_threads(wanted: list[Delayed], parts: tuple[Delayed, ...], tell: Tell) -> list[Any]:
    keys, done = {part.key for part in parts}, set()

    def after(key: Any, *_others: Any) -> None:
        """Tell how far it is; the thread that waits calls this between tasks."""
        checkpoint()
        if key in keys:
            done.add(key)
            tell(len(done), len(keys))

    return list(dask.compute(*wanted, callbacks=[(None, None, None, after, None)]))


def _on_cluster(client: Any, wanted: list[Delayed], parts: tuple[Delayed, ...], tell: Tell) -> list[Any]:
    from distributed import wait

    known = {each.key: each for each in (*parts, *wanted)}
    futures = dict(zip(known, client.compute(list(known.values()))))
    ours, results = ([futures[each.key] for each in some] for some in (parts, wanted))
    try:
        while True:
            tell(sum(future.done() for future in ours), len(ours))
            checkpoint()
            try:
                wait(results, timeout=GLANCE)
                break
            except TimeoutError:
                continue
    except Interrupted:
        for future in futures.values():  # what nobody wants any more is not begun
            future.release()
        raise
    return list(client.gather(results))
