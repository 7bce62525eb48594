"""Interruption of runs: solvers call `checkpoint` between slices of work of about 20 ms.

Outside of a run `checkpoint` does nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from supdr.engine.context import current_context, run_context


class Interrupted(Exception):
    """Raised by `checkpoint` when a stop of the current run is requested."""


# Seconds between two polls of the stop flag while a thread waits.
POLL_INTERVAL = 0.02

# Abandoned calls that may still run.
MAX_ABANDONED = 2

_abandoned: list[threading.Thread] = []
_abandoning = threading.Lock()


def checkpoint() -> None:
    """Raise `Interrupted` if a stop of the current run is requested."""
    stop_requested = current_context().stop_requested
    if stop_requested is not None and stop_requested():
        raise Interrupted


def lent_thread() -> AbstractContextManager[None]:
    """Return the context manager to enter while this thread only waits, see `RunContext.lend_thread`."""
    lend_thread = current_context().lend_thread
    return nullcontext() if lend_thread is None else lend_thread()


def abandonable(work: Callable[[], Any]) -> Any:
    """Return ``work()``, a long pure call; abandon it in its own thread when a stop is requested.

    SciPy's LAPACK holds the interpreter's lock: use NumPy's.  At most `MAX_ABANDONED` abandoned calls run at a time,
    since ten changes of a slider in a second would fill the memory.
    """
    if current_context().stop_requested is None:
        return work()
    outcome: dict[str, Any] = {}
    # A new thread has an empty context: an abandoned call may outlive the run, and holds no reference to it.
    is_abandoned = threading.Event()

    def run() -> None:
        """Call `work` and store its result or its error."""
        try:
            with run_context(stop_requested=is_abandoned.is_set):
                outcome["value"] = work()
        except BaseException as error:  # handed to the caller
            outcome["error"] = error

    while len(alive := [thread for thread in _abandoned if thread.is_alive()]) >= MAX_ABANDONED:
        alive[0].join(POLL_INTERVAL)
        checkpoint()
    thread = threading.Thread(target=run, name="supdr-linear-algebra", daemon=True)
    thread.start()
    try:
        _wait_until(partial(_has_ended, thread))
    except BaseException:
        is_abandoned.set()
        with _abandoning:
            _abandoned[:] = [*(each for each in _abandoned if each.is_alive()), thread]
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def result_of(future: Future) -> Any:
    """Return the result of work in another process; when a stop is requested, cancel it or drop its result."""
    try:
        _wait_until(lambda: bool(wait([future], POLL_INTERVAL).done))
    except BaseException:
        future.cancel()
        raise
    return future.result()


def _has_ended(thread: threading.Thread) -> bool:
    """Wait up to `POLL_INTERVAL` for a thread, and tell whether it has ended."""
    thread.join(POLL_INTERVAL)
    return not thread.is_alive()


def _wait_until(over: Callable[[], bool]) -> None:
    """Call ``over()``, which waits for a moment, until it returns True; lend the thread after the first call."""
    if over():
        return
    with lent_thread():
        checkpoint()
        while not over():
            checkpoint()
