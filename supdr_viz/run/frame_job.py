"""The jobs that make frames: of complete steps, and of a step over partitions that is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.types import Curves, Frame
from supdr_viz.run.few_labels import errors_of
from supdr_viz.run.frame_builder import fitted_at
from supdr_viz.run.paint_job import Display, Request, snapshot_key
from supdr_viz.run.rest_jobs import StudyJob
from supdr_viz.run.surface_job import SurfaceJob

# Time between two frames: the browser moves the rows between them, and the processor is left to the run. One that was
# late by up to half of it does not make the next ones late. After one that was later, hurried or the first after a
# rest, the next one may come after half of it.
FRAME_INTERVAL = 0.09

# Shortest time between two frames of a run that goes on with curves of their own: ends move by a pixel.
CURVES_INTERVAL = 0.1

# Shortest time between two frames within a pass over rows on disk.
INCOMPLETE_INTERVAL = 0.2


class FrameJob:
    """Makes a frame when the page has drawn the last one and there is something new to see.

    frame: the newest one that was not taken yet.
    hurried: whether `frame` is the first one after a change by the user.
    framed: the snapshot of the newest frame, see `snapshot_key`.
    """

    def __init__(self, display: Display, study: StudyJob, surfaces: SurfaceJob) -> None:
        self._display, self._study, self._surfaces = display, study, surfaces
        self.frame: Frame | None = None
        self.hurried = False
        self.framed: tuple[int, int] | None = None
        self._page_waits, self._hurry = True, False
        self._next = self._next_curves = 0.0
        self._curves: tuple[Curves, Curves] | None = None

    def want(self) -> None:
        """Ask for the next frame: the page has drawn the last one."""
        self._page_waits = True

    def hurry(self) -> None:
        """Make the next frame neither wait for its turn nor for the page to have drawn the one before."""
        self._page_waits = self._hurry = True
        self._next = 0.0

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """See `Job.due`."""
        needed = self._display.stale or (at_rest and not self._display.builder.complete)
        return self._next - now if self._page_waits and needed else None

    def work(self, request: Request) -> bool:
        """See `Job.work`."""
        display, snapshot, now = self._display, request.snapshot, self._display.clock()
        with display.lock:
            needed = display.stale or (request.at_rest and not display.builder.complete)
            if not (request.current() and self._page_waits and needed and now >= self._next):
                return False
            hurried = self.begin()
            display.stale = False
        if display.builder.split.whole is None:  # else they are computed with what is counted of all rows
            len(snapshot.diagnostics)  # computed now if they were not: it may take a while, and the lock is not held
        with display.lock:
            if not request.current():
                return self._put_back(hurried)
            recorded = self._recorded(request, now, hurried)
            estimator, options = display.recording.estimator_of(snapshot), display.options
        study = self._study.show(display.builder.mode(estimator, options.method_mode))
        fitted = fitted_at(estimator, snapshot, display.builder.split)
        frame = display.builder.build(
            fitted,
            snapshot,
            options,
            live=request.live,
            study=None if study is None else errors_of(study),
            everyone=request.at_rest,
            **recorded,
        )
        surface = display.builder.reframed_surface(fitted)
        with display.lock:
            if not request.current():
                return self._put_back(hurried)
            self.put(frame, hurried)
            if surface is not None:
                self._surfaces.surface = surface
            self._next = max(self._next, now - FRAME_INTERVAL / 2) + FRAME_INTERVAL
            self.framed = snapshot_key(snapshot)
        return True

    def may_begin(self, earliest: float) -> bool:
        """Whether the page waits for a frame, and one may be made from the time `earliest` on."""
        return self._page_waits and (self._hurry or self._display.clock() >= earliest)

    def begin(self) -> bool:
        """Note that the frame that the page waits for is being made; return whether it is a hurried one."""
        hurried, self._page_waits, self._hurry = self._hurry, False, False
        return hurried

    def put(self, frame: Frame, hurried: bool) -> None:
        """Offer a frame to be taken."""
        self.frame, self.hurried = frame, hurried

    def give_up(self, hurried: bool) -> None:
        """Note that the frame that was begun was not made."""
        self._page_waits, self._hurry = True, self._hurry or hurried

    def _put_back(self, hurried: bool) -> bool:
        self.give_up(hurried)
        self._display.stale = True
        return False

    def _recorded(self, request: Request, now: float, hurried: bool) -> dict[str, Any]:
        """Return what a frame says of the steps so far: arguments of `FrameBuilder.build`."""
        recording, snapshot = self._display.recording, request.snapshot
        if snapshot.diagnostics.complete:
            recording.watch(snapshot)
        if self._curves is None or request.at_rest or hurried or now >= self._next_curves:
            self._curves = recording.losses.curves(), recording.errors.curves()
            self._next_curves = now + CURVES_INTERVAL
        losses, errors = self._curves
        return {
            "span": (recording.ring.iterations[0], recording.ring.iterations[-1]),
            "losses": losses,
            "errors": errors,
            "numbers": recording.numbers(snapshot, at_rest=request.at_rest),
            "segments": tuple(segment.first_iteration for segment in recording.segments),
        }


class IncompleteStepJob:
    """Makes frames of a step over partitions while it is under way."""

    def __init__(self, display: Display, frames: FrameJob, surfaces: SurfaceJob) -> None:
        self._display, self._frames, self._surfaces = display, frames, surfaces
        self._next = 0.0

    def work(self, incomplete: Snapshot, last: Snapshot | None, estimator: Any, current: Callable[[], bool]) -> bool:
        """Make a frame of a partial state of a step, if it is time for one; return whether one was made.

        `incomplete`: see `supdr.engine.context.RunContext.observe`; with losses it belongs to a run on the sample
        alone. `last`: the newest complete snapshot, of which numbers and curves are; None: the run has not begun.
        `estimator`: whose step it is. `current`: whether the frame is still needed.
        """
        display, builder, now = self._display, self._display.builder, self._display.clock()
        with display.lock:
            if not (current() and self._frames.may_begin(self._next)):
                return False
            hurried, recorded, options = self._frames.begin(), self._recorded(last), display.options
        alone = bool(incomplete.losses)
        fitted = estimator.at(incomplete) if alone else fitted_at(estimator, incomplete, builder.split)
        within = "the sample alone" if alone else f"within pass {incomplete.iteration + 1}"
        frame = builder.build(fitted, incomplete, options, live=True, incomplete=within, **recorded)
        surface = builder.incomplete_surface(fitted) if self._surfaces.has_turn(now) else None
        with display.lock:
            if not current():
                self._frames.give_up(hurried)
                return False
            self._frames.put(frame, hurried)
            if surface is not None:
                self._surfaces.put_incomplete(surface)
            self._next = display.clock() + INCOMPLETE_INTERVAL
        return True

    def _recorded(self, last: Snapshot | None) -> dict[str, Any]:
        """Return what a frame says of the complete steps: arguments of `FrameBuilder.build`."""
        recording = self._display.recording
        iterations = recording.ring.iterations or [0]
        return {
            "span": (iterations[0], iterations[-1]),
            "losses": recording.losses.curves(),
            "errors": recording.errors.curves(),
            "numbers": {} if last is None else recording.numbers(last),
            "segments": tuple(segment.first_iteration for segment in recording.segments),
        }
