"""A stop flag that reaches into long solvers without being passed through them.

`iterate` raises the flag of its own thread around a step; a solver that may run for long calls `checkpoint` between
slices of work of about 20 ms.  Outside of a run `checkpoint` does nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any


class Interrupted(Exception):
    """Raised by `checkpoint` when the current thread's run was asked to stop."""


# Seconds between two looks at whether what is waited for is still wanted.
GLANCE = 0.02

# Calls that were left to themselves and are still at work.
MOST_LEFT = 2

_current = threading.local()
_left: list[threading.Thread] = []
_leaving = threading.Lock()


@contextmanager
def interruptible(requested: Callable[[], bool] | None) -> Iterator[None]:
    """Let `checkpoint` consult `requested` in this thread for the duration of the block.

    `requested`: returns True when the work should stop.  None leaves the enclosing flag, if any, in force.
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


@contextmanager
def lending(lend: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Enter ``lend()`` whenever this thread does nothing but wait for others, for the duration of the block.

    `lend`: returns a context manager: within it, whoever owns the thread may let another one work in its place.
    """
    previous = getattr(_current, "lend", None)
    _current.lend = lend
    try:
        yield
    finally:
        _current.lend = previous


def waiting() -> AbstractContextManager[None]:
    """Return what to enter while this thread only waits, see `lending`."""
    lend = getattr(_current, "lend", None)
    return nullcontext() if lend is None else lend()


def abandonable(work: Callable[[], Any]) -> Any:
    """Return ``work()``, a long call that knows nothing of the stop flag; leave it to itself when a stop is asked for.

    Parts of it that do ask then stop there.  NumPy lets other threads run during a decomposition or a product, SciPy's
    LAPACK and BLAS do not: use NumPy's.  Of calls that were left `MOST_LEFT` may be at work: the next one waits, as
    whoever changes his mind ten times a second would fill the memory.

    `work`: writes to nothing that others read.
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
        left[0].join(GLANCE)
        checkpoint()
    thread = threading.Thread(target=run, name="supdr-linear-algebra", daemon=True)
    thread.start()
    try:
        _until(partial(_ended, thread))
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
    """
    try:
        _until(lambda: bool(wait([future], GLANCE).done))
    except BaseException:
        future.cancel()
        raise
    return future.result()


def _ended(thread: threading.Thread) -> bool:
    """Wait a moment for a thread, and tell whether it has ended."""
    thread.join(GLANCE)
    return not thread.is_alive()


def _until(over: Callable[[], bool]) -> None:
    """Call ``over()``, which waits a moment, until it is true; what is soon over lends the thread to nobody."""
    if over():
        return
    with waiting():
        checkpoint()
        while not over():
            checkpoint()
