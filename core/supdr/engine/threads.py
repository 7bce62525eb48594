"""Work in threads that hear of a stop as the one that waits for them does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs

from supdr.engine.interruption import current_flag, interruptible


def map_threads(work: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Apply `work` to every item, in threads if asked for; a stop request reaches them too.

    `work`: takes an item. `items`: what to work on; the results keep their order. `n_jobs`: threads, as joblib counts
    them.
    """
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    requested = current_flag()

    def watched(item: Any) -> Any:
        """Work on one item under the caller's stop flag."""
        with interruptible(requested):
            return work(item)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(watched, items))
