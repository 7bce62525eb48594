"""The player: runs, pauses, steps, resets, changes and scrubs one session's training run.

Commands come from the page's thread and return at once; the work is done in slices by the shared pool.  The page asks
for a frame when it has drawn the last one, so a slow page gets fewer frames, never older ones.  What is wanted, and
when, is decided by `supdr_viz.run.run_machine.RunMachine`; the work is done by `supdr_viz.run.worker.Worker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import NDArray

from supdr.baselines.one_shot import OneShot
from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.pictures.types import Curves, Frame, Scene, Surface
from supdr_viz.run.few_labels import FewLabelStudies
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder, fitted_at
from supdr_viz.run.painter import Painter
from supdr_viz.run.pool import Pool
from supdr_viz.run.recording import Segment
from supdr_viz.run.run_state import RunState
from supdr_viz.run.status import Status
from supdr_viz.run.worker import Worker


class Gate(Protocol):
    """Decides which of several runs may take its next step."""

    def wait(self, player: Player, now: float) -> float | None:
        """Seconds until `player` may step (<= 0: now), or None until others have."""

    def stepped(self, player: Player) -> None:
        """Note that `player` took a step."""


class Player:
    """One session's run.

    `pool`: where the work is done, and whose clock counts. `notify`: called from worker threads whenever `frame`,
    `surface` or `status` has something new; must return at once. `gate`: sets the pace instead of the run's own speed.
    """

    def __init__(self, pool: Pool, notify: Callable[[], None], gate: Gate | None = None) -> None:
        self._pool, self._notify = pool, notify
        self._reel = RunState(lambda: pool.n_jobs)
        self._worker = Worker(self._reel, notify, pool.clock, None if gate is None else _Turns(self, gate, pool.wake))
        self._options = DisplayOptions()
        self._closed = False

    # --- commands (any thread) ------------------------------------------------------------------------------------

    def load(self, estimator: Any, split: Split, scene: Scene) -> None:
        """Prepare a new run; it waits at its starting point.

        `estimator`: not shared.
        """
        with self._command() as state:
            if self._closed:
                return
            state.empty()
            state.estimator, state.split = estimator, split
            if split.whole is not None:
                state.recording.hold_elsewhere(split.whole.n_rows, max(1, len(scene.class_names)))
            state.painter = self._painter(FrameBuilder(scene, split))
            state.become(state.machine.load())
            self._pool.add(self._worker)

    def set_scene(self, scene: Scene) -> None:
        """Show the run in another scene of the same rows and split; the run goes on."""
        with self._command() as state:
            if state.split is not None and state.painter is not None:
                state.painter = self._painter(FrameBuilder(scene, state.split), state.painter.studies)
                state.invalidate(surface=True)

    def unload(self) -> None:
        """Forget the run and its data."""
        with self._command() as state:
            state.empty()
        self._notify()

    def change(self, estimator: Any) -> None:
        """Carry on from the current iteration with other (live) hyper-parameters.

        `estimator`: same class and shapes as the one it replaces.
        """
        with self._command() as state:
            if state.painter is not None:
                state.estimator = estimator
                state.become(state.machine.change())

    def teach(self, estimator: Any, split: Split, scene: Scene) -> None:
        """Carry on from the iteration on display with other labels of the same rows.

        `estimator`: as for `change`, and another object than before: its snapshots are of other labels.
        """
        with self._command() as state:
            if state.painter is not None:
                self._branch()
                state.estimator, state.split = estimator, split
                state.painter = self._painter(state.painter.builder.with_labels(scene, split))
                state.become(state.machine.change())

    def run(self, until: int | None = None, *, hurry_to: int = 0) -> bool:
        """Run until told otherwise; a finished run goes on for another `max_iter` steps.

        `until`: pause at this iteration; `hurry_to`: take the steps up to this iteration as fast as they go, whatever
        the speed. Returns False if there is nothing to run.
        """
        with self._command() as state:
            if not state.machine.usable:
                return False
            self._branch()
            state.become(state.machine.run(until, hurry_to))
            state.recording.forget_rate()
            return True

    def pause(self) -> None:
        """Stop after the step that is under way; a long step is interrupted and taken anew on `run`."""
        with self._command() as state:
            state.become(state.machine.pause())
            state.invalidate()

    def step(self) -> bool:
        """Take one step and pause.

        Returns False if there is nothing to run.
        """
        with self._command() as state:
            if not state.machine.usable:
                return False
            self._branch()
            state.become(state.machine.step())
            return True

    def reset(self) -> None:
        """Go back to the starting point and wait there."""
        state = self._reel
        with state.lock:
            if state.painter is not None and state.split is not None:
                self.load(state.estimator, state.split, state.painter.builder.scene)

    def set_speed(self, speed: str) -> None:
        """Set ``"slow"``, ``"normal"`` or ``"fast"`` (as fast as it goes)."""
        with self._command() as state:
            state.become(state.machine.at_speed(speed))

    def set_slow_start(self, steps: int) -> None:
        """Show so many first steps at no more than `SLOW_START` a second, whatever the speed."""
        with self._command() as state:
            state.become(state.machine.start_slowly(steps))

    def set_options(self, options: DisplayOptions) -> None:
        """Change what frames show."""
        with self._command() as state:
            self._options = options
            if state.painter is not None:
                state.painter.set_options(options)

    def show(self, iteration: int | None) -> None:
        """Show a recorded iteration, or None for the newest; the run goes on meanwhile."""
        with self._command() as state:
            state.become(state.machine.show(iteration))
            state.invalidate(surface=True)

    def request_frame(self) -> None:
        """Ask for the next frame; the page does so when it has drawn the last one."""
        with self._command() as state:
            if state.painter is not None:
                state.painter.want()

    def suspend(self, suspended: bool) -> None:
        """Pause the run while its tab is hidden, and let it go on."""
        if suspended != self._reel.machine.suspended:
            with self._command() as state:
                state.become(state.machine.suspend(suspended))

    def close(self) -> None:
        """Stop for good and let go of all memory."""
        self._closed = True
        self.unload()
        self._pool.remove(self._worker)

    @contextmanager
    def _command(self) -> Iterator[RunState]:
        with self._reel.lock:
            yield self._reel
        self._pool.wake()

    def _branch(self) -> None:
        """Make the iteration on display the newest: running on starts from what is seen."""
        state = self._reel
        shown = state.shown
        if shown is not None and shown is not state.newest:
            state.recording.go_back(shown)
            state.become(state.machine.branch())

    def _painter(self, builder: FrameBuilder, studies: FewLabelStudies | None = None) -> Painter:
        state = self._reel
        return Painter(builder, state.recording, self._options, state.lock, self._pool.clock, studies)

    # --- what the page reads ----------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """The current phase, and how far a long step is."""
        status, progress = self._reel.machine.status, self._reel.progress
        return replace(status, progress=progress) if progress else status

    @property
    def going(self) -> bool:
        """Whether it runs, or will as soon as it is prepared."""
        return self._reel.machine.running

    @property
    def iterates(self) -> bool:
        """Whether there is a run; else one fit is all, and no iteration tells how far it is."""
        return not isinstance(self._reel.estimator, OneShot)

    @property
    def pending(self) -> bool:
        """Whether single steps are yet to be taken."""
        return self._reel.machine.single_steps > 0

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left to do: no step is wanted, all is drawn, and the page has taken it."""
        with self._reel.lock:
            machine, painter = self._reel.machine, self._reel.painter
            if machine.running or machine.single_steps or self._pool.works_on(self._worker):
                return False
            return painter is None or not (painter.untaken or self._worker.due(self._pool.clock()) is not None)

    @property
    def untaken(self) -> bool:
        """Whether a frame or a surface was made that the page has not taken yet."""
        painter = self._reel.painter
        return painter is not None and painter.untaken

    @property
    def newest(self) -> Snapshot | None:
        """The newest snapshot."""
        return self._reel.newest

    @property
    def iteration(self) -> int:
        """The newest iteration; 0 before the start."""
        newest = self.newest
        return 0 if newest is None else newest.iteration

    @property
    def shown(self) -> Snapshot | None:
        """The snapshot on display."""
        return self._reel.shown

    @property
    def latent_plane(self) -> LatentPlane | None:
        """The plane of the latent space on display; None before the first frame."""
        painter = self._reel.painter
        return None if painter is None else painter.builder.plane

    @property
    def seconds(self) -> float:
        """Seconds spent inside the steps up to the newest iteration; drawing does not count."""
        newest = self.newest
        return 0.0 if newest is None else self._reel.recording.seconds(newest)

    @property
    def segments(self) -> list[Segment]:
        """The stretches that led to the newest iteration."""
        return list(self._reel.recording.segments)

    @property
    def recorded(self) -> list[tuple[Snapshot, Any]]:
        """Every recorded snapshot with the estimator it was made under, in order."""
        with self._reel.lock:
            recording = self._reel.recording
            return [(snapshot, recording.estimator_of(snapshot)) for snapshot in recording.ring.snapshots]

    @property
    def fitted(self) -> Any:
        """The estimator as of the iteration on display, or None before the start."""
        with self._reel.lock:
            snapshot = self.shown
            if snapshot is None:
                return None
            estimator, split = self._reel.recording.estimator_of(snapshot), self._reel.split
        return fitted_at(estimator, snapshot, split)

    def count_within(self, view: str, corners: NDArray) -> int | None:
        """Count all rows within a polygon of a view: those that are not drawn too.

        May take a while: not to be called in a page's thread.

        `view`: one of "input", "latent"; `corners` (k, 2). Returns None: there are no such rows yet.
        """
        with self._reel.lock:
            painter = self._reel.painter
        if painter is None:
            return None
        fitted = self.fitted if painter.builder.split.whole is not None else None
        return painter.builder.count_within(view, corners, fitted)

    def curves(self, limit: int | None = None) -> tuple[Curves, Curves]:
        """Return losses and errors by iteration: all points, or at most `limit` of each."""
        with self._reel.lock:
            logs = self._reel.recording.losses, self._reel.recording.errors
            losses, errors = (log.table() if limit is None else log.curves(limit) for log in logs)
        return losses, errors

    @property
    def hurries(self) -> bool:
        """Whether `take_frame` would return the first frame after a change."""
        painter = self._reel.painter
        return painter is not None and painter.hurries

    @property
    def frame(self) -> Frame | None:
        """The newest frame that was not taken yet."""
        painter = self._reel.painter
        return None if painter is None else painter.frame

    def take_frame(self) -> Frame | None:
        """Return the newest frame that was not taken yet."""
        painter = self._reel.painter
        return None if painter is None else painter.take_frame()

    def take_surface(self) -> Surface | None:
        """Return the newest surface that was not taken yet."""
        painter = self._reel.painter
        return None if painter is None else painter.take_surface()


class _Turns:
    """The answers of a gate to one player."""

    def __init__(self, player: Player, gate: Gate, wake: Callable[[], None]) -> None:
        self._player, self._gate, self._wake = player, gate, wake

    def wait(self, now: float) -> float | None:
        return self._gate.wait(self._player, now)

    def stepped(self) -> None:
        self._gate.stepped(self._player)
        self._wake()  # the others may step now
