"""Computation of delayed values, by threads of this process or on a cluster, with progress and a stop flag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from supdr.engine.context import current_context
from supdr.engine.interruption import Interrupted, checkpoint, lent_thread

if TYPE_CHECKING:  # Dask is an extra
    from dask.delayed import Delayed

# ``progress(done, count)``: number of finished partitions of a round, and of all.
Progress = Callable[[int, int], Any]

# Seconds between two polls of a cluster and of the stop flag.
POLL = 0.1


class LocalValue:
    """A value in this process, wrapped so that Dask does not traverse it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# The value of a partition: `LocalValue` or a Delayed of Dask.
Part = Any


class Arrivals(NamedTuple):
    """A callback for the small values of finished partitions, by number, while the others are computed."""

    shares: Sequence[Delayed]
    receive: Callable[[dict[int, Any]], Any]


def persist_and_compute(
    parts: Sequence[Delayed], results: Sequence[Delayed] = (), arrivals: Arrivals | None = None
) -> tuple[list[Part], list[Any]]:
    """Compute a round: keep the values of `parts` on their workers, and return those of `results`.

    `parts`: one per partition. `results`: computed from them; if empty, the function does not wait for a cluster.
    `arrivals`: only used on a cluster. Raises `Interrupted` if a stop of the run is requested.
    """
    progress, client = _progress(), _client()
    if client is None:
        values = _by_threads([*parts, *results], _between_tasks(parts, progress))
        return [LocalValue(value) for value in values[: len(parts)]], values[len(parts) :]
    shares = () if arrivals is None else arrivals.shares
    needed = {part.key: part for part in (*parts, *shares, *results)}
    persisted = dict(zip(needed, client.persist(list(needed.values()), optimize_graph=False)))
    parts_persisted = [persisted[part.key] for part in parts]
    if not results:
        return parts_persisted, []
    futures = {future.key: future for future in client.futures_of(list(persisted.values()))}
    if progress is not None:
        _await(client, [[futures[each.key] for each in some] for some in (parts, shares, results)], progress, arrivals)
    return parts_persisted, list(client.gather([futures[result.key] for result in results]))


def compute(results: Sequence[Delayed], parts: Sequence[Delayed]) -> list[Any]:
    """Return the values of `results`, which are computed from `parts`; raises as `persist_and_compute` does."""
    # Parts are only needed to count those that are finished.
    return persist_and_compute(() if _progress() is None else parts, results)[1]


def on_cluster() -> bool:
    """Tell whether partitions are on a cluster."""
    return _client() is not None


def _progress() -> Progress | None:
    """Return the progress callback of the run, None without callback and stop flag; `Interrupted` after a stop."""
    context = current_context()
    progress = context.report_progress
    if progress is None and context.stop_requested is None:
        return None
    checkpoint()
    return progress or _ignore


def _ignore(_done: int, _count: int) -> None:
    """Do nothing."""


def _client() -> Any:
    """Return the client that Dask uses in this thread, or None."""
    import dask
    from distributed import get_client

    if dask.config.get("scheduler", None) in ("threads", "threading", "sync", "synchronous", "single-threaded"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _by_threads(results: Sequence[Delayed], callbacks: list[tuple] | None) -> list[Any]:
    """Return the values of `results`, computed by threads of this process, or by Dask's configured ``scheduler``."""
    from dask.base import get_scheduler
    from dask.threaded import get as get_by_threads

    # dask.compute also names and optimises tasks, which takes longer than a short round.
    graph = {key: task for result in results for key, task in result.dask.items()}
    get = get_scheduler() or get_by_threads
    return list(get(graph, [result.key for result in results], callbacks=callbacks))


def _between_tasks(parts: Sequence[Delayed], progress: Progress | None) -> list[tuple] | None:
    """Return callbacks for Dask's threads, which report the progress and check the stop flag."""
    if progress is None:
        return None
    keys, finished = {part.key for part in parts}, set()

    def after(key: Any, *_others: Any) -> None:
        """Report a finished task; the waiting thread calls this."""
        checkpoint()
        if key in keys:
            finished.add(key)
            progress(len(finished), len(keys))

    return [(None, None, None, after, None)]


def _await(client: Any, futures: list[list[Any]], progress: Progress, arrivals: Arrivals | None) -> None:
    """Wait for the results, the last of three lists of futures: parts, shares of `arrivals`, results."""
    from distributed import wait

    parts, shares, results = futures
    pending, values = dict(enumerate(shares)), dict[int, Any]()

    def pass_on() -> None:
        """Pass the shares of newly finished partitions to `arrivals`."""
        finished = {number: future for number, future in pending.items() if future.status == "finished"}
        if finished and arrivals is not None:
            values.update(zip(finished, client.gather(list(finished.values()))))
            for number in finished:
                del pending[number]
            arrivals.receive(values)

    try:
        with lent_thread():
            while True:
                progress(sum(future.done() for future in parts), len(parts))
                checkpoint()
                try:
                    wait(results, timeout=POLL)
                    break
                except TimeoutError:
                    pass_on()
        pass_on()
    except Interrupted:
        for future in (*parts, *shares, *results):  # the cluster drops tasks that have not begun
            future.release()
        raise
