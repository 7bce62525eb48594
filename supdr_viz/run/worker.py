"""The worker: takes the steps that a run's course asks for, and paints what they led to, in the pool's threads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.engine.iterate import Snapshot, Stop
from supdr_viz.data.cluster import lost
from supdr_viz.data.split import Split
from supdr_viz.run.run_machine import Iterates, RunMachine
from supdr_viz.run.run_state import RunState
from supdr_viz.run.status import Phase

# Seconds between two words on how far the work on partitions is.
TELL_INTERVAL = 0.25

NOTHING_TO_FOLLOW = nullcontext()


class Pace(Protocol):
    """Says when a run may take its next step, where others have a say in it."""

    def wait(self, now: float) -> float | None:
        """Seconds until it may step (<= 0: now), or None until others have."""

    def stepped(self) -> None:
        """Note that it took a step."""


class Worker:
    """A job of the pool, see `supdr_viz.run.pool.Job`.

    What it has made is dropped if the state machine has another version meanwhile: it is out of date.

    `notify`: called whenever there is something new to show; `clock`: returns the time in seconds; `pace`: instead of
    the run's own speed.
    """

    def __init__(
        self, state: RunState, notify: Callable[[], None], clock: Callable[[], float], pace: Pace | None = None
    ) -> None:
        self._reel, self._notify, self._clock, self._pace = state, notify, clock, pace
        self._step_began = self._reported_at = 0.0

    def due(self, now: float) -> float | None:
        """See `Job.due`."""
        machine, painter = self._reel.machine, self._reel.painter
        if painter is None or machine.status.phase is Phase.failed:
            return None
        if machine.iterates is Iterates.wanted:
            return 0.0
        waits = [painter.due(now, self._reel.shown, not machine.steps_wanted)]
        if machine.steps_wanted:
            waits.append(self._step_due(machine, now))
        return min((wait for wait in waits if wait is not None), default=None)

    def work(self, seconds: float) -> None:
        """See `Job.work`."""
        state, deadline = self._reel, self._clock() + seconds
        with state.lock:
            # A wish to start belongs to the version it was made under: both are read at once.
            version, opens = state.machine.version, state.machine.iterates is Iterates.wanted
            if opens:
                state.become(state.machine.opening())
        try:
            if opens:
                self._open(version)
                deadline = 0.0  # after a change the visitor waits for the first frame, not for the most steps
            while self._may_step(version):
                self._steps(version, deadline)
                if self._clock() >= deadline:
                    break
            self._paint(version)
        except Exception as error:
            # Whatever goes wrong in one run is shown in its own page and harms no other.
            with state.lock:
                if version == state.machine.version:
                    state.become(state.machine.failed(_sentence(error)))
            self._notify()

    def _open(self, version: int) -> None:
        state = self._reel
        with state.lock:
            estimator, split, start = state.estimator, state.split, state.newest
            if version != state.machine.version:
                return
            assert split is not None
            if split.whole is not None:  # what is known before all rows are does not wait for the page either
                state.invalidate(surface=True)
        self._step_began = self._clock()
        if split.whole is not None and start is None:
            self._show_sample(estimator, split, version)
        try:
            with self._followed(split, "preparing", version, estimator):
                iterates = estimator.iterate(*split.learnt, start=start, interrupted=lambda: self._breaks_off(version))
                self._step_began = self._clock()
                first = next(iterates, None)
        except Interrupted:
            first = None
        with state.lock:
            if version != state.machine.version:
                return
            if first is None:
                state.become(state.machine.without_iterates())
                return
            state.recording.begin_segment(estimator, first, split.taught)
            state.invalidate(surface=True)
            state.become(state.machine.opened(first.stop), iterates)
        self._notify()

    def _steps(self, version: int, deadline: float) -> None:
        """Take a step, and all that may follow it at once; they are recorded together."""
        state, clock = self._reel, self._clock
        with state.lock:
            iterates, machine = (
                (state.iterates, state.machine) if version == state.machine.version else (None, state.machine)
            )
            estimator, split, batch = state.estimator, state.split, state.recording.batch()
        whole, at_once_until, now = split is not None and split.whole is not None, None, clock()
        # What is asked after each step is little: many take less than a millisecond.
        while iterates is not None:
            self._step_began = now
            snapshot = self._pass(iterates, batch.newest, version, estimator) if whole else next(iterates, None)
            if snapshot is None or snapshot.stop is Stop.interrupted:
                break
            batch.add(snapshot)
            now = clock()
            if at_once_until is None:
                at_once_until = -1 if self._pace is not None else machine.at_once_until(snapshot.iteration)
            goes_on = snapshot.stop is None and snapshot.iteration < at_once_until
            if not goes_on or state.machine is not machine or now >= deadline:
                iterates = None
        with state.lock:
            before = state.machine
            if version != before.version:
                return
            if batch.newest:
                state.recording.extend(batch)
                state.invalidate()
                state.become(before.stepped(batch.newest.iteration, self._step_began, batch.newest.stop))
            if iterates is not None:
                state.become(state.machine.interrupted())
            news = state.machine.status != before.status
        if news:
            self._notify()
        if self._pace is not None and batch.newest:
            self._pace.stepped()

    def _pass(
        self, iterates: Iterator[Snapshot], last: Snapshot | None, version: int, estimator: Any
    ) -> Snapshot | None:
        """Take a step over partitions, and tell the page how far it is."""
        last = last or self._reel.newest
        with self._reporting(f"pass {1 if last is None else last.iteration + 1}", version, estimator):
            return next(iterates, None)

    def _followed(self, split: Split | None, what: str, version: int, estimator: Any) -> AbstractContextManager[None]:
        """Follow the work on partitions; in memory there is nothing to follow, and steps are short."""
        if split is None or split.whole is None:
            return NOTHING_TO_FOLLOW
        return self._reporting(what, version, estimator)

    @contextmanager
    def _reporting(self, what: str, version: int, estimator: Any) -> Iterator[None]:
        """Tell the page how far the work on partitions is, show what it knows so far, and break it off if it may."""
        rounds, before = 1, 0

        def tell(done: int, count: int) -> None:
            nonlocal rounds, before
            rounds, before = rounds + (done < before), done
            now = self._clock()
            if now - self._reported_at >= TELL_INTERVAL:
                self._reported_at = now
                self._reel.progress = f"{what}: {done} of {count} partitions, round {rounds}"
                self._notify()

        try:
            look = partial(self._paint_incomplete, estimator=estimator, version=version)
            with run_context(report_progress=tell, observe=look, stop_requested=lambda: self._breaks_off(version)):
                yield
        finally:
            self._reel.progress = ""

    def _show_sample(self, estimator: Any, split: Split, version: int) -> None:
        """Show where the sample of rows on disk would begin by itself: that is known long before all rows are read."""
        alone = copy.copy(estimator)
        if (getattr(alone, "n_centers", None) or 0) > len(split.X_train):
            alone.n_centers = len(split.X_train)
        try:
            first = next(
                alone.iterate(split.X_train, split.y_train, interrupted=lambda: self._breaks_off(version)), None
            )
        except ValueError:  # too few rows of a class, for one
            return
        if first is not None:
            self._paint_incomplete(first, estimator=alone, version=version)

    def _paint_incomplete(self, incomplete: Snapshot, *, estimator: Any, version: int) -> None:
        """Show what is known of a step that is under way, unless an earlier iteration is on display."""
        state = self._reel
        with state.lock:
            painter, last, shown = state.painter, state.newest, state.machine.shown
        if painter is None or shown is not None:
            return
        with run_context(observe=None):  # the picture of a partial state may need rows, and shows no partial states
            frame = painter.paint_incomplete(incomplete, last, estimator, lambda: version == state.machine.version)
        if frame:
            self._notify()

    def _paint(self, version: int) -> None:
        state = self._reel
        with state.lock:
            painter, snapshot, machine, split = state.painter, state.shown, state.machine, state.split
        if painter is None:
            return

        def current() -> bool:
            return version == state.machine.version

        elsewhere, at_rest = split is not None and split.whole is not None, not machine.steps_wanted

        def gives_way() -> bool:
            return not current() or (at_rest and state.machine.steps_wanted)

        try:
            # Counting all rows of a cluster takes a while: after a change the visitor does not wait for it.
            with run_context(stop_requested=gives_way) if elsewhere else nullcontext():
                painter.paint(
                    snapshot,
                    live=machine.shown is None,
                    at_rest=at_rest,
                    current=current,
                    tell=self._notify,
                )
        except Interrupted:
            painter.want()
            painter.invalidate()

    def _may_step(self, version: int) -> bool:
        machine = self._reel.machine
        if machine.version != version or machine.iterates is not Iterates.open or not machine.steps_wanted:
            return False
        due = self._step_due(machine, self._clock())
        return due is not None and due <= 0

    def _step_due(self, machine: RunMachine, now: float) -> float | None:
        if self._pace is None or machine.single_steps:
            return machine.step_due(now)
        return self._pace.wait(now)

    def _breaks_off(self, version: int) -> bool:
        machine = self._reel.machine
        return machine.version != version or machine.breaks_off(self._clock() - self._step_began)


def _sentence(error: Exception) -> str:
    if lost(error):
        return "The Dask cluster cannot be reached any more; press Reset once it is there again."
    return " ".join(str(error).split()) or type(error).__name__
