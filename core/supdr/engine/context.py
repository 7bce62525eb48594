"""The context of a run: stop flag, thread, observers, cache.

`iterate` enters the context of a run around its start and around each step.  Solvers read it through `checkpoint`,
`timed_part`, `reused` and `show_partial_state`.  It is the only ambient variable of the library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from supdr.engine.reuse import ResultCache


class RunContext(NamedTuple):
    """The context of a run; a field that is None has no effect.

    stop_requested: polled by `checkpoint`; the work ends when it returns True.
    lend_thread: returns a context manager to enter while the thread only waits, so that another thread may work.
    observe: called with the snapshot of each partial state, by the thread that takes the step.
    snapshot_of: makes a partial state a snapshot; set by `iterate`.
    report_progress: called with the number of finished partitions and of all, in each round over partitions.
    part_seconds: seconds of the named parts of a step, added up by `timed_part`; set by `iterate`.
    cache: the results that `reused` returns again.
    reused_names: names of the results that came from `cache`, added by `reused`.
    """

    stop_requested: Callable[[], bool] | None = None
    lend_thread: Callable[[], AbstractContextManager[None]] | None = None
    observe: Callable[[Any], Any] | None = None
    snapshot_of: Callable[[Any], Any] | None = None
    report_progress: Callable[[int, int], Any] | None = None
    part_seconds: dict[str, float] | None = None
    cache: ResultCache | None = None
    reused_names: set[str] | None = None

    def set_fields(self) -> dict[str, Any]:
        """Return the fields that are not None, by name."""
        return {name: value for name, value in self._asdict().items() if value is not None}


_CURRENT: ContextVar[RunContext] = ContextVar("supdr run context", default=RunContext())  # noqa: B039 (immutable)


def current_context() -> RunContext:
    """Return the context that the caller runs in."""
    return _CURRENT.get()


@contextmanager
def run_context(**changes: Any) -> Iterator[None]:
    """Replace fields of the current context within the block; the other fields stay as they are."""
    token = _CURRENT.set(_CURRENT.get()._replace(**changes))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def timed_part(name: str) -> Iterator[None]:
    """Add the seconds of the block to those of the part `name` of the current step; outside of a step do nothing."""
    seconds, start_time = current_context().part_seconds, time.perf_counter()
    try:
        yield
    finally:
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start_time


def partial_states_observed() -> bool:
    """Tell whether the context has an observer of states within a step."""
    context = current_context()
    return context.observe is not None and context.snapshot_of is not None


def show_partial_state(state: Any) -> None:
    """Pass a state within a step, some fields of which may be missing, to the observer of the run."""
    context = current_context()
    if context.observe is not None and context.snapshot_of is not None:
        context.observe(context.snapshot_of(state))
