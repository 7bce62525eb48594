"""Work in threads that have the run context of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from joblib import effective_n_jobs


def map_threads(work: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Return ``work(item)`` of every item, in order, by `n_jobs` threads with the caller's run context."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    contexts = [copy_context() for _ in items]  # a context can be entered by one thread at a time
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda context, item: context.run(work, item), contexts, items))
