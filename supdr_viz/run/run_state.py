"""One run with its data: what the player, which commands, and the worker, which obeys, share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.run.painter import Painter
from supdr_viz.run.recording import Recording
from supdr_viz.run.run_machine import Iterates, RunMachine


class RunState:
    """A run: where it stands, what it runs on, what it has recorded.

    lock: held during every change.
    painter: None where nothing is loaded.
    iterates: at hand while the course says that they are open.
    progress: how far the work on rows in partitions is; empty while there is none.
    n_runs: see `Recording`.
    """

    def __init__(self, n_runs: Callable[[], int]) -> None:
        self._n_runs = n_runs
        self.lock = threading.RLock()
        self.machine = RunMachine()
        self.estimator: Any = None
        self.split: Split | None = None
        self.recording = Recording(n_runs)
        self.painter: Painter | None = None
        self.iterates: Iterator[Snapshot] | None = None
        self.progress = ""

    def become(self, machine: RunMachine, iterates: Iterator[Snapshot] | None = None) -> None:
        """Take another course, and the iterates that were opened for it, if they were."""
        self.machine = machine
        if iterates is not None:
            self.iterates = iterates
        if machine.iterates is not Iterates.open:
            self.iterates = None

    def empty(self) -> None:
        """Forget the run and its data."""
        self.become(self.machine.unload())
        self.estimator = self.split = self.painter = None
        self.recording = Recording(self._n_runs)

    def invalidate(self, *, surface: bool = False) -> None:
        """Note that what is on display is out of date; see `Painter.invalidate`."""
        if self.painter is not None:
            self.painter.invalidate(surface=surface)

    @property
    def newest(self) -> Snapshot | None:
        """The newest snapshot."""
        return self.recording.ring.newest

    @property
    def shown(self) -> Snapshot | None:
        """The snapshot on display."""
        ring, shown = self.recording.ring, self.machine.shown
        return ring.newest if shown is None else ring.nearest(shown)
