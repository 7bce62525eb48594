"""Work in threads that belongs to the run of the thread that waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from joblib import effective_n_jobs


def map_threads(work: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Apply `work` to every item, in threads if asked for; each sees the context of the caller, its stop flag too.

    `work`: takes an item. `items`: what to work on; the results keep their order. `n_jobs`: threads, as joblib counts
    them.
    """
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    contexts = [copy_context() for _ in items]  # a context can be entered by one thread at a time
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda context, item: context.run(work, item), contexts, items))
