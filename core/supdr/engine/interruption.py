"""A stop flag that reaches into long solvers without being passed through them.

`iterate` raises the flag of its own thread around a step; a solver that may run for long calls `checkpoint` between
slices of work of about 20 ms.  Outside of a run `checkpoint` does nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any


class Interrupted(Exception):
    """Raised by `checkpoint` when the current thread's run was asked to stop."""


MOST_LEFT = 2
"""Calls that were left to themselves and are still at work."""

_current = threading.local()
_left: list[threading.Thread] = []
_leaving = threading.Lock()


@contextmanager
def interruptible(requested: Callable[[], bool] | None) -> Iterator[None]:
    """Let `checkpoint` consult `requested` in this thread for the duration of the block.

    Parameters
    ----------
    requested : callable or None
        Returns True when the work should stop.  None leaves the enclosing flag, if any, in force.
    """
    if requested is None:
        yield
        return
    previous = current_flag()
    _current.requested = requested
    try:
        yield
    finally:
        _current.requested = previous


def current_flag() -> Callable[[], bool] | None:
    """Return the flag in force in this thread, to be handed to threads that work for it."""
    return getattr(_current, "requested", None)


def checkpoint() -> None:
    """Raise `Interrupted` if the current thread's run was asked to stop."""
    requested = current_flag()
    if requested is not None and requested():
        raise Interrupted


def abandonable(work: Callable[[], Any]) -> Any:
    """Return ``work()``, a long call that knows nothing of the stop flag; leave it to itself when a stop is asked for.

    Parts of it that do ask then stop there.  NumPy lets other threads run during a decomposition or a product, SciPy's
    LAPACK and BLAS do not: use NumPy's.  Of calls that were left `MOST_LEFT` may be at work: the next one waits, as
    whoever changes his mind ten times a second would fill the memory.

    Parameters
    ----------
    work : callable
        Writes to nothing that others read.

    Returns
    -------
    object
    """
    if current_flag() is None:
        return work()
    outcome: dict[str, Any] = {}
    alone = threading.Event()  # a flag that refers to nothing of the run, which may be gone before the work is

    def run() -> None:
        """Do the work and keep what came of it."""
        try:
            with interruptible(alone.is_set):
                outcome["value"] = work()
        except BaseException as error:  # handed to the caller
            outcome["error"] = error

    while len(left := [thread for thread in _left if thread.is_alive()]) >= MOST_LEFT:
        left[0].join(0.02)
        checkpoint()
    thread = threading.Thread(target=run, name="supdr-linear-algebra", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.02)
            checkpoint()
    except BaseException:
        alone.set()
        with _leaving:
            _left[:] = [*(each for each in _left if each.is_alive()), thread]
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def awaited(future: Future) -> Any:
    """Return what comes of work in another process; let go of it when a stop is asked for.

    Work that has not begun never does then; what has begun ends unheard.

    Parameters
    ----------
    future : Future

    Returns
    -------
    object
    """
    try:
        while not wait([future], 0.02).done:
            checkpoint()
    except BaseException:
        future.cancel()
        raise
    return future.result()
