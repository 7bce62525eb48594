"""Computing the values of partitions: by threads of this process or on a cluster, with progress and a stop flag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from supdr.engine.context import current_context
from supdr.engine.interruption import Interrupted, checkpoint, lent_thread

if TYPE_CHECKING:  # Dask is an extra
    from dask.delayed import Delayed

# ``progress(done, count)``: how many of the partitions of a round are done.
Progress = Callable[[int, int], Any]

# Seconds between two polls of a cluster and of the stop flag.
POLL = 0.1


class Given:
    """A value in this process, as an argument that Dask does not look into."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# What stands for the value of a partition: `Given` or a Delayed of Dask.
Part = Any


class Arrivals(NamedTuple):
    """A reader of values of partitions while the others are computed.

    `shares`: small values, one per partition; `receive`: ``receive(values)`` takes those that have arrived, by the
    number of their partition.
    """

    shares: Sequence[Delayed]
    receive: Callable[[dict[int, Any]], Any]


def kept_and_computed(
    parts: Sequence[Delayed], results: Sequence[Delayed] = (), arrivals: Arrivals | None = None
) -> tuple[list[Part], list[Any]]:
    """Compute a round: keep the values of `parts` where they are computed, and return those of `results`.

    `parts`: one per partition. `results`: made of them; without any, a cluster is not waited for. `arrivals`: only
    used on a cluster. Raises Interrupted if the run of this thread was asked to stop meanwhile.
    """
    progress, client = _progress(), _client()
    if client is None:
        values = _by_threads([*parts, *results], _between_tasks(parts, progress))
        return [Given(value) for value in values[: len(parts)]], values[len(parts) :]
    shares = () if arrivals is None else arrivals.shares
    needed = {part.key: part for part in (*parts, *shares, *results)}
    persisted = dict(zip(needed, client.persist(list(needed.values()), optimize_graph=False)))
    kept = [persisted[part.key] for part in parts]
    if not results:
        return kept, []
    futures = {future.key: future for future in client.futures_of(list(persisted.values()))}
    if progress is not None:
        _await(client, [[futures[each.key] for each in some] for some in (parts, shares, results)], progress, arrivals)
    return kept, list(client.gather([futures[result.key] for result in results]))


def computed(results: Sequence[Delayed], parts: Sequence[Delayed]) -> list[Any]:
    """Return the values of `results`, which are made of `parts`, one per partition.  Raises as `kept_and_computed`."""
    # Of parts nothing is needed but how many of them are done.
    return kept_and_computed(() if _progress() is None else parts, results)[1]


def on_cluster() -> bool:
    """Return whether a cluster works on partitions."""
    return _client() is not None


def _progress() -> Progress | None:
    """Return the function that is told of the progress; None: there is none, and no stop flag either.

    Raises Interrupted if the run of this thread was asked to stop.
    """
    context = current_context()
    progress = context.report_progress
    if progress is None and context.stop_requested is None:
        return None
    checkpoint()
    return progress or _ignore


def _ignore(_done: int, _count: int) -> None:
    """Ignore the progress."""


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


def _by_threads(wanted: Sequence[Delayed], callbacks: list[tuple] | None) -> list[Any]:
    """Return values, computed by threads of this process, or as Dask's setting ``scheduler`` says."""
    from dask.base import get_scheduler
    from dask.threaded import get as get_by_threads

    # What dask.compute does besides, naming and optimising, takes longer than a round of little work.
    graph = {key: task for each in wanted for key, task in each.dask.items()}
    get = get_scheduler() or get_by_threads
    return list(get(graph, [each.key for each in wanted], callbacks=callbacks))


def _between_tasks(parts: Sequence[Delayed], progress: Progress | None) -> list[tuple] | None:
    """Return Dask's callbacks for threads of this process: they report the progress and look at the stop flag."""
    if progress is None:
        return None
    keys, done = {part.key for part in parts}, set()

    def after(key: Any, *_others: Any) -> None:
        """Report a task that is done; the thread that waits calls this."""
        checkpoint()
        if key in keys:
            done.add(key)
            progress(len(done), len(keys))

    return [(None, None, None, after, None)]


def _await(client: Any, futures: list[list[Any]], progress: Progress, arrivals: Arrivals | None) -> None:
    """Wait for the last of three lists of futures: parts, shares for `arrivals`, and results."""
    from distributed import wait

    parts, shares, results = futures
    missing, values = dict(enumerate(shares)), dict[int, Any]()

    def look() -> None:
        """Hand on the shares that have arrived since."""
        done = {number: future for number, future in missing.items() if future.status == "finished"}
        if done and arrivals is not None:
            values.update(zip(done, client.gather(list(done.values()))))
            for number in done:
                del missing[number]
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
                    look()
        look()
    except Interrupted:
        for future in (*parts, *shares, *results):  # tasks that have not begun never do
            future.release()
        raise
