"""Common parts of the jobs of a painter: the state of the display, and a request for what to paint."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from supdr.engine.iterate import Snapshot
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder, fitted_at
from supdr_viz.run.recording import Recording


@dataclass
class Display:
    """The state of the display.

    recording: guarded by `lock`, which is held only while it is read or written.
    clock: returns the time in seconds.
    stale: whether the newest frame does not show what there is to see.
    """

    builder: FrameBuilder
    recording: Recording
    options: DisplayOptions
    lock: threading.RLock
    clock: Callable[[], float]
    stale: bool = False

    def fitted(self, snapshot: Snapshot) -> Any:
        """Return the estimator as of a recorded snapshot."""
        with self.lock:
            estimator = self.recording.estimator_of(snapshot)
        return fitted_at(estimator, snapshot, self.builder.split)


@dataclass(frozen=True)
class Request:
    """A request to paint a snapshot.

    snapshot: the one on display.
    live: whether it is the newest.
    at_rest: whether no step is wanted.
    current: whether the result is still wanted.
    """

    snapshot: Snapshot
    live: bool
    at_rest: bool
    current: Callable[[], bool]


class Job(Protocol):
    """One kind of work for what is on display."""

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """Seconds until there is something to do, None if nothing is in sight.

        `now`: by the clock of the display; `snapshot`, `at_rest`: see `Request`.
        """

    def work(self, request: Request) -> bool:
        """Do what is due; return whether there is something new to take."""


def snapshot_key(snapshot: Snapshot) -> tuple[int, int]:
    """Return what tells a snapshot from others that are held at the same time."""
    return id(snapshot.state), snapshot.iteration
