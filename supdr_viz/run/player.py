"""The player: runs, pauses, steps, resets, changes and scrubs one session's training run.

Commands come from the page's thread and return at once; the work is done in slices by the shared pool.  The page asks
for a frame when it has drawn the last one, so a slow page gets fewer frames, never older ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from supdr.engine.iterate import Snapshot, Stop
from supdr_viz.frames.types import Curves, Frame, Scene, Surface
from supdr_viz.run.builder import DisplayOptions, FrameBuilder
from supdr_viz.run.painter import Painter
from supdr_viz.run.pool import Pool
from supdr_viz.run.recording import Leg, Recording
from supdr_viz.run.status import STOP_SENTENCES, Phase, Status
from supdr_viz.settings.making import Split

STEPS_PER_SECOND = {"slow": 3.0, "normal": 15.0, "fast": None}
SLOW_START = 4.0
"""Steps per second at the slow start of an example."""

LONG_STEP = 0.05
"""A command interrupts a step that has taken longer than this (seconds); shorter steps are left to finish."""


class Gate(Protocol):
    """Decides which of several runs may take its next step."""

    def wait(self, trainer: Trainer, now: float) -> float | None:
        """Seconds until `trainer` may step (<= 0: now), or None until others have."""

    def stepped(self, trainer: Trainer) -> None:
        """Note that `trainer` took a step."""


class Trainer:
    """One session's run.

    Parameters
    ----------
    pool : Pool
        Where the work is done.
    notify : callable
        Called from worker threads whenever `frame`, `surface` or `status` has something new; must return at once.
    gate : Gate, optional
        Sets the pace instead of the run's own speed.
    """

    def __init__(self, pool: Pool, notify: Callable[[], None], gate: Gate | None = None) -> None:
        self._pool, self._notify, self._gate = pool, notify, gate
        self._lock = threading.RLock()
        self._token = 0
        self._estimator: Any = None
        self._split: Split | None = None
        self._options = DisplayOptions()
        self._speed, self._slow_start = "normal", 0
        self._suspended = False
        self._closed = False
        self._step_began = 0.0
        self._forget()

    def _forget(self) -> None:
        self._snapshots: Iterator[Snapshot] | None = None
        self._restart: Snapshot | None = None
        self._wants_start = self._starting = False
        self._running = False
        self._single_steps = 0
        self._until: int | None = None
        self._hurry_to = 0
        self._next_step = 0.0
        self._recording = Recording()
        self._painter: Painter | None = None
        self._shown: int | None = None
        self._status = Status(Phase.empty)

    # --- commands (any thread) ------------------------------------------------------------------------------------

    def load(self, estimator: Any, split: Split, scene: Scene) -> None:
        """Prepare a new run; it waits at its starting point.

        Parameters
        ----------
        estimator : estimator
            Not shared with anybody else.
        split : Split
        scene : Scene
        """
        with self._lock:
            self._token += 1
            self._forget()
            self._estimator, self._split = estimator, split
            self._painter = Painter(FrameBuilder(scene, split), self._recording, self._options, self._lock)
            self._wants_start = True
            self._status = Status(Phase.preparing)
        self._pool.add(self)
        self._wake()

    def set_scene(self, scene: Scene) -> None:
        """Show the run in another scene of the same rows and split; the run goes on.

        Parameters
        ----------
        scene : Scene
        """
        with self._lock:
            if self._split is None:
                return
            studies = self._painter.builder.studies if self._painter is not None else None
            builder = FrameBuilder(scene, self._split, studies)
            self._painter = Painter(builder, self._recording, self._options, self._lock)
            self._spoil(surface=True)
        self._wake()

    def unload(self) -> None:
        """Forget the run and its data."""
        with self._lock:
            self._token += 1
            self._forget()
            self._split = self._estimator = None
        self._notify()

    def change(self, estimator: Any) -> None:
        """Carry on from the current iteration with other (live) hyper-parameters.

        Parameters
        ----------
        estimator : estimator
            Same class and shapes as the one it replaces.
        """
        with self._lock:
            if self._painter is None:
                return
            self._token += 1
            self._estimator = estimator
            self._restart = self._recording.ring.newest
            self._snapshots, self._wants_start, self._starting = None, True, False
            if self._status.phase in (Phase.failed, Phase.diverged, Phase.finished):
                self._status = Status(Phase.paused)
            self._shown = None
        self._wake()

    def run(self, until: int | None = None, *, hurry_to: int = 0) -> None:
        """Run until told otherwise; a finished run goes on for another `max_iter` steps.

        Parameters
        ----------
        until : int, optional
            Pause at this iteration.
        hurry_to : int
            Take the steps up to this iteration as fast as they go, whatever the speed.
        """
        with self._lock:
            if self._status.phase in (Phase.empty, Phase.failed):
                return
            self._until, self._hurry_to = until, hurry_to
            self._branch()
            self._ensure_start()
            self._running, self._next_step = True, 0.0
            self._recording.forget_rate()
            if self._status.phase is not Phase.preparing:
                self._status = Status(Phase.running)
        self._wake()

    def pause(self) -> None:
        """Stop after the step that is under way; a long step is interrupted and taken anew on `run`."""
        with self._lock:
            self._halt()
            self._spoil()
        self._wake()

    def _halt(self) -> None:
        self._running, self._single_steps, self._until, self._hurry_to = False, 0, None, 0
        if self._status.phase is Phase.running:
            self._status = Status(Phase.paused)

    def step(self) -> None:
        """Take one step and pause."""
        with self._lock:
            if self._status.phase in (Phase.empty, Phase.failed):
                return
            self._branch()
            self._ensure_start()
            self._running = False
            self._single_steps += 1
            if self._status.phase is not Phase.preparing:
                self._status = Status(Phase.paused)
        self._wake()

    def reset(self) -> None:
        """Go back to the starting point and wait there."""
        with self._lock:
            if self._painter is None:
                return
            estimator, split, scene = self._estimator, self._split, self._painter.builder.scene
            assert split is not None
            self.load(estimator, split, scene)

    def set_speed(self, speed: str) -> None:
        """Set ``"slow"``, ``"normal"`` or ``"fast"`` (as fast as it goes)."""
        with self._lock:
            self._speed, self._next_step = speed, 0.0
        self._wake()

    def set_slow_start(self, steps: int) -> None:
        """Show so many first steps at no more than `SLOW_START` a second, whatever the speed."""
        with self._lock:
            self._slow_start = steps

    def set_options(self, options: DisplayOptions) -> None:
        """Change what frames show."""
        with self._lock:
            self._options = options
            if self._painter is not None:
                self._painter.set_options(options)
        self._wake()

    def show(self, iteration: int | None) -> None:
        """Show a recorded iteration, or None for the newest; the run goes on meanwhile."""
        with self._lock:
            self._shown = iteration
            self._spoil(surface=True)
        self._wake()

    def request_frame(self) -> None:
        """Ask for the next frame; the page does so when it has drawn the last one."""
        with self._lock:
            if self._painter is not None:
                self._painter.want()
        self._wake()

    def suspend(self, suspended: bool) -> None:
        """Hold the run while nobody can see it (hidden tab), and let it go on."""
        with self._lock:
            if suspended == self._suspended:
                return
            self._suspended = suspended
        self._wake()

    def close(self) -> None:
        """Stop for good and let go of all memory."""
        self._closed = True
        self.unload()
        self._pool.remove(self)

    # --- what the page reads ----------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """The current phase."""
        return self._status

    @property
    def going(self) -> bool:
        """Whether it runs, or will as soon as it is prepared."""
        return self._running

    @property
    def pending(self) -> bool:
        """Whether single steps are yet to be taken."""
        return self._single_steps > 0

    @property
    def seconds(self) -> float:
        """Seconds spent inside the steps up to the newest iteration; drawing does not count."""
        newest = self._recording.ring.newest
        return 0.0 if newest is None else self._recording.seconds(newest)

    def take_frame(self) -> Frame | None:
        """Return the newest frame that was not taken yet."""
        painter = self._painter
        return None if painter is None else painter.take_frame()

    def take_surface(self) -> Surface | None:
        """Return the newest surface that was not taken yet."""
        painter = self._painter
        return None if painter is None else painter.take_surface()

    @property
    def legs(self) -> list[Leg]:
        """The stretches that led to the newest iteration."""
        return list(self._recording.legs)

    @property
    def newest(self) -> Snapshot | None:
        """The newest snapshot."""
        return self._recording.ring.newest

    @property
    def shown(self) -> Snapshot | None:
        """The snapshot on display."""
        ring, shown = self._recording.ring, self._shown
        return ring.newest if shown is None else ring.nearest(shown)

    @property
    def recorded(self) -> list[tuple[Snapshot, Any]]:
        """Every recorded snapshot with the estimator it was made under, in order."""
        with self._lock:
            recording = self._recording
            return [(snapshot, recording.estimator_of(snapshot)) for snapshot in recording.ring.snapshots]

    def curves(self, limit: int | None = None) -> tuple[Curves, Curves]:
        """Return losses and errors by iteration: all points, or at most `limit` of each."""
        with self._lock:
            logs = self._recording.losses, self._recording.errors
            losses, errors = (log.table() if limit is None else log.curves(limit) for log in logs)
        return losses, errors

    @property
    def fitted(self) -> Any:
        """The estimator as of the iteration on display, or None before the start."""
        with self._lock:
            snapshot = self.shown
            if snapshot is None:
                return None
            estimator = self._recording.estimator_of(snapshot)
        return estimator.at(snapshot)

    # --- the job (worker threads) -----------------------------------------------------------------------------------

    def due(self, now: float) -> float | None:
        """See `Job.due`."""
        painter = self._painter
        if self._closed or painter is None or self._status.phase is Phase.failed:
            return None
        if self._wants_start:
            return 0.0
        paint = painter.due(now, self.shown, not self._steps_wanted())
        if not self._steps_wanted():
            return paint
        waits = [wait for wait in (paint, self._step_due(now)) if wait is not None]
        return min(waits, default=None)

    def work(self, seconds: float) -> None:
        """See `Job.work`."""
        deadline = time.monotonic() + seconds
        with self._lock:
            # A wish to start belongs to the token it was made under: both are read at once.
            token, self._starting, self._wants_start = self._token, self._wants_start, False
        try:
            if self._starting:
                self._begin(token)
            while self._snapshots is not None and self._steps_wanted() and self._may_step() and token == self._token:
                self._advance(token)
                if time.monotonic() >= deadline:
                    break
            self._paint(token)
        except Exception as error:
            # Whatever goes wrong in one run is shown in its own page and harms no other.
            with self._lock:
                if token == self._token:
                    self._running, self._single_steps, self._snapshots = False, 0, None
                    self._status = Status(Phase.failed, _sentence(error))
            self._notify()

    def _begin(self, token: int) -> None:
        with self._lock:
            estimator, split, start = self._estimator, self._split, self._restart
            if token != self._token:
                return
        assert split is not None
        snapshots = estimator.iterate(
            split.X_train, split.y_train, start=start, interrupted=lambda: self._must_stop(token)
        )
        self._step_began = time.monotonic()
        first = next(snapshots, None)
        with self._lock:
            if token != self._token:
                return
            self._starting = False
            if first is None:
                self._running, self._single_steps = False, 0
                return
            self._snapshots = snapshots if first.stop is None else None
            self._recording.begin_leg(estimator, first)
            self._spoil(surface=True)
            if self._status.phase is Phase.preparing:
                self._status = Status(Phase.running if self._running else Phase.ready)
            if first.stop is not None:
                self._end(first.stop)
        self._notify()

    def _advance(self, token: int) -> None:
        with self._lock:
            snapshots = self._snapshots if token == self._token else None
            if snapshots is None:
                return
        self._step_began = time.monotonic()
        snapshot = next(snapshots, None)
        with self._lock:
            if token != self._token:
                return
            if snapshot is None or snapshot.stop is Stop.interrupted:
                self._snapshots = None
                if self._running or self._single_steps:
                    self._ensure_start()
                return
            self._single_steps = max(0, self._single_steps - 1)
            hurry = snapshot.iteration < self._hurry_to
            pace = None if hurry else STEPS_PER_SECOND[self._speed]
            if snapshot.iteration <= self._slow_start and not hurry:
                pace = min(SLOW_START, pace or SLOW_START)
            self._next_step = 0.0 if pace is None else max(self._next_step, self._step_began - 1 / pace) + 1 / pace
            self._recording.add(snapshot)
            self._spoil()
            if snapshot.stop is not None:
                self._end(snapshot.stop)
            elif self._until is not None and snapshot.iteration >= self._until:
                self._halt()
                self._notify()
        if self._gate is not None:
            self._gate.stepped(self)
            self._wake()  # the others may step now

    def _end(self, stop: Stop) -> None:
        self._halt()
        self._snapshots = None
        diverged = stop is Stop.diverged
        self._status = Status(Phase.diverged if diverged else Phase.finished, STOP_SENTENCES[stop], stop)
        self._notify()

    def _ensure_start(self) -> None:
        """Ask for a start from the newest iterate, unless one is under way or asked for."""
        if self._snapshots is None and not self._starting and not self._wants_start:
            self._wants_start, self._restart = True, self._recording.ring.newest

    def _branch(self) -> None:
        """Make the iteration on display the newest: running on starts from what is seen."""
        if self._shown is None:
            return
        snapshot = self._recording.ring.nearest(self._shown)
        self._shown = None
        if snapshot is None or snapshot is self._recording.ring.newest:
            return
        self._token += 1
        self._recording.go_back(snapshot)
        self._restart, self._snapshots, self._wants_start, self._starting = snapshot, None, True, False

    def _paint(self, token: int) -> None:
        with self._lock:
            painter, snapshot, live = self._painter, self.shown, self._shown is None
            at_rest = not self._steps_wanted()
        if painter is not None and painter.paint(
            snapshot, live=live, at_rest=at_rest, current=lambda: token == self._token
        ):
            self._notify()

    def _spoil(self, *, surface: bool = False) -> None:
        if self._painter is not None:
            self._painter.spoil(surface=surface)

    def _steps_wanted(self) -> bool:
        return self._single_steps > 0 or (self._running and not self._suspended)

    def _step_due(self, now: float) -> float | None:
        if self._single_steps:
            return 0.0
        return self._next_step - now if self._gate is None else self._gate.wait(self, now)

    def _may_step(self) -> bool:
        due = self._step_due(time.monotonic())
        return due is not None and due <= 0

    def _must_stop(self, token: int) -> bool:
        if token != self._token:
            return True
        too_long = time.monotonic() - self._step_began > LONG_STEP
        return too_long and not self._starting and not self._steps_wanted()

    def _wake(self) -> None:
        self._pool.wake()


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
