"""Makes the frames and surfaces of one run: when they are wanted, and no more often than they are worth."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.pictures.map_quality import Measuring, measuring
from supdr_viz.pictures.surface import COARSE, FINE, evaluate
from supdr_viz.pictures.types import Curves, Frame, Surface
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder, fitted_at
from supdr_viz.run.recording import Recording

# Time between two frames: the browser moves the rows between them, and the processor is left to the run. One that was
# late by up to half of it does not make the next ones late. After one that was later, hurried or the first after a
# rest, the next one may come after half of it.
FRAME_INTERVAL = 0.09

# Shortest time between two frames of a run that goes on with curves of their own: ends move by a pixel.
CURVES_INTERVAL = 0.1

# Shortest time between two frames within a pass over rows on disk.
GLIMPSE_INTERVAL = 0.2

# Counting all rows that are on disk takes about this share of a run's time; at rest they are counted at once.
COUNT_SHARE = 0.15

# Seconds for which an experiment is worked on at a time.
STUDY_SLICE = 0.01

# Surfaces take about this share of a run's time …
SURFACE_SHARE = 0.07

# … but come neither more often than the first nor, while anything changes, more rarely than the second (seconds). One
# that takes longer than that, as with many rows, is followed by a pause of its own length.
SURFACE_INTERVAL = (0.22, 0.25)


class Painter:
    """Frames and surfaces of one run; made in worker threads, taken by the page.

    `lock`: guards the recording; held only while it is read or written. `clock`: returns the time in seconds.
    """

    def __init__(
        self,
        builder: FrameBuilder,
        recording: Recording,
        options: DisplayOptions,
        lock: threading.RLock,
        clock: Callable[[], float],
    ) -> None:
        self.builder, self._recording, self._lock, self._clock = builder, recording, lock, clock
        self._options = options
        self._frame: Frame | None = None
        self._surface: Surface | None = None
        self._wanted, self._stale, self._next_frame = True, False, 0.0
        self._hurried = self._frame_hurried = False
        self._curves: tuple[Curves, Curves] | None = None
        self._next_curves = 0.0
        self._framed: tuple[Any, ...] | None = None
        self._painted: tuple[Any, ...] | None = None
        self._next_surface = self._next_glimpse = self._next_count = 0.0
        self._version = 0
        self._measuring: Measuring | None = None
        self._measured: tuple[Any, ...] | None = None
        self._measured_of: tuple[Any, ...] | None = None
        self._sharpened: tuple[Any, ...] | None = None

    # --- what the page and the player say ------------------------------------------------------------------------

    def want(self) -> None:
        """Ask for the next frame: the page has drawn the last one."""
        self._wanted = True

    def invalidate(self, *, surface: bool = False) -> None:
        """Note that what was shown last is out of date; with `surface`, also that the user has changed something.

        Then the next frame waits neither for its turn nor for the page to have drawn the one before.
        """
        self._stale = True
        if surface:
            self._version += 1
            self._wanted = self._hurried = True
            self._next_frame = self._next_surface = 0.0

    def set_options(self, options: DisplayOptions) -> None:
        """Change what frames show."""
        before, self._options = self._options, options
        # The method's view and the pull of the labels leave the surfaces as they are.
        same = before.latent == options.latent and before.latent_axes == options.latent_axes
        self.invalidate(surface=not same)

    def take_frame(self) -> Frame | None:
        """Return the newest frame that was not taken yet."""
        with self._lock:
            frame, self._frame = self._frame, None
            return frame

    def take_surface(self) -> Surface | None:
        """Return the newest surface that was not taken yet."""
        with self._lock:
            surface, self._surface = self._surface, None
            return surface

    @property
    def hurries(self) -> bool:
        """Whether the frame that was not taken yet is the first one after a change."""
        return self._frame is not None and self._frame_hurried

    @property
    def untaken(self) -> bool:
        """Whether something was made that the page has not taken yet."""
        return self._frame is not None or self._surface is not None

    # --- the work -------------------------------------------------------------------------------------------------

    def due(self, now: float, snapshot: Snapshot | None, at_rest: bool) -> float | None:
        """Seconds until `paint` has something to do, None if nothing is in sight.

        `now`: by the painter's clock; `snapshot`: the one on display; `at_rest`: whether no step is wanted, so that
        surfaces may be fine.
        """
        waits = []
        if self._wanted and self._stale:
            waits.append(self._next_frame - now)
        if self._surface_due(snapshot, at_rest):
            waits.append(self._next_surface - now)
        if self._study_due(at_rest) or self._truth_due(snapshot, at_rest) or self._sharpening_due(snapshot, at_rest):
            waits.append(0.0)
        return min(waits, default=None)

    def paint(
        self,
        snapshot: Snapshot | None,
        *,
        live: bool,
        at_rest: bool,
        current: Callable[[], bool],
        tell: Callable[[], None],
    ) -> None:
        """Make what is due.

        `snapshot`: the one on display; `live`: whether it is the newest; `at_rest`: see `due`; `current`: whether the
        result is still wanted; `tell`: called as soon as there is something new to take: a frame does not wait for the
        surface that may be next.
        """
        if snapshot is None:
            return
        if self._paint_frame(snapshot, live, at_rest, current):
            tell()
        if self._paint_surface(snapshot, at_rest, current):
            tell()
        study = self.builder.study
        if study is not None and self._study_due(at_rest) and study.work(STUDY_SLICE):
            self._stale = True
        if self._truth_due(snapshot, at_rest):
            self._measure(snapshot)
        if self._sharpening_due(snapshot, at_rest):
            self._sharpen(snapshot)

    def _paint_frame(self, snapshot: Snapshot, live: bool, at_rest: bool, current: Callable[[], bool]) -> bool:
        now = self._clock()
        with self._lock:
            if not (current() and self._wanted and self._stale and now >= self._next_frame):
                return False
            self._wanted = self._stale = False
            hurried, self._hurried = self._hurried, False
        if self.builder.split.whole is None:  # else they are computed with what is counted of all rows
            len(snapshot.diagnostics)  # computed now if they were not: it may take a while, and the lock is not held
        with self._lock:
            if not current():
                self._wanted = self._stale = True
                self._hurried |= hurried
                return False
            if snapshot.diagnostics.complete:
                self._recording.watch(snapshot)
            options, recorded = self._options, self._recording.ring.iterations
            if self._curves is None or at_rest or hurried or now >= self._next_curves:
                self._curves = self._recording.losses.curves(), self._recording.errors.curves()
                self._next_curves = now + CURVES_INTERVAL
            losses, errors = self._curves
            numbers = self._recording.numbers(snapshot, at_rest=at_rest)
            estimator = self._recording.estimator_of(snapshot)
            segments = tuple(segment.first_iteration for segment in self._recording.segments)
        frame = self.builder.build(
            fitted_at(estimator, snapshot, self.builder.split),
            snapshot,
            options,
            span=(recorded[0], recorded[-1]),
            live=live,
            losses=losses,
            errors=errors,
            numbers=numbers,
            segments=segments,
        )
        with self._lock:
            if not current():
                self._wanted = self._stale = True
                self._hurried |= hurried
                return False
            self._frame, self._frame_hurried = frame, hurried
            self._next_frame = max(self._next_frame, now - FRAME_INTERVAL / 2) + FRAME_INTERVAL
            self._framed = self._snapshot_key(snapshot)
        return True

    def glimpse(self, incomplete: Snapshot, last: Snapshot | None, estimator: Any, current: Callable[[], bool]) -> bool:
        """Make a frame of a partial state of a step, if it is time for one; return whether one was made.

        `incomplete`: see `supdr.engine.context.RunContext.observe`; with losses it belongs to a run on the sample
        alone. `last`: the newest complete snapshot, of which numbers and curves are; None: the run has not begun.
        `estimator`: whose step it is. `current`: whether the frame is still needed.
        """
        now = self._clock()
        with self._lock:
            if not (current() and self._wanted and (self._hurried or now >= self._next_glimpse)):
                return False
            recording = self._recording
            self._wanted, hurried, self._hurried = False, self._hurried, False
            recorded = recording.ring.iterations or [0]
            options, losses, errors = self._options, recording.losses.curves(), recording.errors.curves()
            numbers = {} if last is None else recording.numbers(last)
            segments = tuple(segment.first_iteration for segment in recording.segments)
        alone = bool(incomplete.losses)
        fitted = estimator.at(incomplete) if alone else fitted_at(estimator, incomplete, self.builder.split)
        frame = self.builder.build(
            fitted,
            incomplete,
            options,
            span=(recorded[0], recorded[-1]),
            live=True,
            losses=losses,
            errors=errors,
            numbers=numbers,
            segments=segments,
            incomplete="the sample alone" if alone else f"within pass {incomplete.iteration + 1}",
        )
        surface = self.builder.glimpsed(fitted) if now >= self._next_surface else None
        with self._lock:
            if not current():
                self._wanted, self._hurried = True, self._hurried or hurried
                return False
            self._frame, self._frame_hurried = frame, hurried
            if surface is not None:
                self._surface, self._next_surface = surface, self._clock() + SURFACE_INTERVAL[0]
            self._next_glimpse = self._clock() + GLIMPSE_INTERVAL
        return True

    def _paint_surface(self, snapshot: Snapshot, at_rest: bool, current: Callable[[], bool]) -> bool:
        now = self._clock()
        with self._lock:
            plane = self.builder.plane
            if plane is None or now < self._next_surface or not self._surface_due(snapshot, at_rest) or not current():
                return False
            key, estimator = self._surface_key(snapshot, at_rest), self._recording.estimator_of(snapshot)
        fitted = fitted_at(estimator, snapshot, self.builder.split)
        surface = evaluate(
            fitted,
            self.builder.scene,
            self.builder.split,
            plane,
            iteration=snapshot.iteration,
            resolution=FINE if at_rest else COARSE,
        )
        cost, counts = self._clock() - now, at_rest or now >= self._next_count
        surface = self.builder.counted(surface, fitted, snapshot, everywhere=counts)
        rates = error_rates(surface, self.builder.scene, snapshot)
        with self._lock:
            if not current():
                return False
            self._surface, self._painted = surface, key
            self.builder.surface = surface
            shortest, longest = SURFACE_INTERVAL
            ended = self._clock()
            self._next_surface = ended + min(max(cost / SURFACE_SHARE, shortest), max(longest, cost))
            if counts:
                self._next_count = ended + (ended - now) * (1.0 / COUNT_SHARE - 1.0)
            if rates:
                self._recording.errors.insert(snapshot.iteration, rates)
            self._stale = True
        return True

    def _measure(self, snapshot: Snapshot) -> None:
        """Work for a while on how true the plane on display is; a frame tells the page of the result."""
        key, places, ends = self._truth_key(snapshot), self.builder.places, self._clock() + STUDY_SLICE
        assert places is not None
        if self._measuring is None or self._measured_of != key:
            self._measuring = measuring(self.builder.yardstick, places, snapshot.iteration)
            self._measured_of = key
        try:
            while self._clock() < ends:
                next(self._measuring)
        except StopIteration as end:
            self.builder.truth, self._measured, self._measuring, self._stale = end.value, key, None, True

    def _sharpen(self, snapshot: Snapshot) -> None:
        """Work for a while on the diagnostics on display; a frame tells the page when they stand."""
        ends = self._clock() + STUDY_SLICE
        while snapshot.diagnostics.sharpen():
            if self._clock() >= ends:
                return
        self._sharpened, self._stale = self._snapshot_key(snapshot), True

    def _sharpening_due(self, snapshot: Snapshot | None, at_rest: bool) -> bool:
        """Whether diagnostics may not stand yet: at rest after steps, and with the page up to date."""
        if snapshot is None or snapshot.iteration == 0 or not at_rest or self._stale:
            return False
        return self._snapshot_key(snapshot) != self._sharpened

    def _truth_due(self, snapshot: Snapshot | None, at_rest: bool) -> bool:
        """Whether it is asked how true the plane is, and not known: at rest, and with the page up to date."""
        if snapshot is None or self.builder.plane is None:
            return False
        wanted = self._options.truth and at_rest and not self._stale
        return wanted and self._truth_key(snapshot) != self._measured

    def _truth_key(self, snapshot: Snapshot) -> tuple[Any, ...]:
        return (*self._snapshot_key(snapshot), self._options.latent, self._options.latent_axes)

    def _snapshot_key(self, snapshot: Snapshot) -> tuple[Any, ...]:
        return (id(snapshot.state), snapshot.iteration)

    def _study_due(self, at_rest: bool) -> bool:
        """Whether an experiment is on display and may go on: at rest, and with the page up to date."""
        study = self.builder.study
        return study is not None and not study.finished and at_rest and not self._stale

    def _surface_due(self, snapshot: Snapshot | None, at_rest: bool) -> bool:
        """Whether a surface is wanted: while a run goes on only of what a frame shows, for somebody who looks at it."""
        if snapshot is None or self.builder.plane is None:
            return False
        if not at_rest and self._framed != self._snapshot_key(snapshot):
            return False
        return self._surface_key(snapshot, at_rest) != self._painted

    def _surface_key(self, snapshot: Snapshot, at_rest: bool) -> tuple[Any, ...]:
        assert self.builder.plane is not None
        return (self._version, id(snapshot.state), snapshot.iteration, self.builder.plane.extent, at_rest)
