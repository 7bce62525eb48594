"""Makes the frames and surfaces of one run: when they are wanted, and no more often than they are worth."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.types import Frame, Surface
from supdr_viz.run.few_labels import FewLabelStudies
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.run.frame_job import FrameJob, IncompleteStepJob
from supdr_viz.run.paint_job import Display, Job, Request
from supdr_viz.run.recording import Recording
from supdr_viz.run.rest_jobs import QualityJob, RefineJob, StudyJob
from supdr_viz.run.surface_job import SurfaceJob


class Painter:
    """Frames and surfaces of one run; made in worker threads, taken by the page.

    `lock`: guards the recording; held only while it is read or written. `clock`: returns the time in seconds.
    `studies`: of the same rows; None: none were begun.
    """

    def __init__(
        self,
        builder: FrameBuilder,
        recording: Recording,
        options: DisplayOptions,
        lock: threading.RLock,
        clock: Callable[[], float],
        studies: FewLabelStudies | None = None,
    ) -> None:
        self.builder = builder
        self.studies = studies or FewLabelStudies(builder.scene, builder.split)
        self._display = display = Display(builder, recording, options, lock, clock)
        study = StudyJob(display, self.studies)
        self._surfaces = SurfaceJob(display, lambda: self._frames.framed)
        self._frames = FrameJob(display, study, self._surfaces)
        self._incomplete = IncompleteStepJob(display, self._frames, self._surfaces)
        self._jobs: tuple[Job, ...] = (self._frames, self._surfaces, study, QualityJob(display), RefineJob(display))

    # --- what the page and the player say ------------------------------------------------------------------------

    def want(self) -> None:
        """Ask for the next frame: the page has drawn the last one."""
        self._frames.want()

    def invalidate(self, *, surface: bool = False) -> None:
        """Note that what was shown last is out of date; with `surface`, also that the user has changed something.

        Then the next frame waits neither for its turn nor for the page to have drawn the one before.
        """
        self._display.stale = True
        if surface:
            self._frames.hurry()
            self._surfaces.hurry()

    def set_options(self, options: DisplayOptions) -> None:
        """Change what frames show."""
        before, self._display.options = self._display.options, options
        # The method's view and the pull of the labels leave the surfaces as they are.
        same = before.latent == options.latent and before.latent_axes == options.latent_axes
        self.invalidate(surface=not same)

    @property
    def frame(self) -> Frame | None:
        """The newest frame that was not taken yet."""
        return self._frames.frame

    def take_frame(self) -> Frame | None:
        """Return the newest frame that was not taken yet."""
        with self._display.lock:
            frame, self._frames.frame = self._frames.frame, None
            return frame

    def take_surface(self) -> Surface | None:
        """Return the newest surface that was not taken yet."""
        with self._display.lock:
            surface, self._surfaces.surface = self._surfaces.surface, None
            return surface

    @property
    def hurries(self) -> bool:
        """Whether the frame that was not taken yet is the first one after a change."""
        return self._frames.frame is not None and self._frames.hurried

    @property
    def untaken(self) -> bool:
        """Whether something was made that the page has not taken yet."""
        return self._frames.frame is not None or self._surfaces.surface is not None

    # --- the work -------------------------------------------------------------------------------------------------

    def due(self, now: float, snapshot: Snapshot | None, at_rest: bool) -> float | None:
        """Seconds until `paint` has something to do, None if nothing is in sight.

        `now`: by the painter's clock; `snapshot`: the one on display; `at_rest`: whether no step is wanted, so that
        surfaces may be fine.
        """
        if snapshot is None:
            return None
        waits = (job.due(now, snapshot, at_rest) for job in self._jobs)
        return min((wait for wait in waits if wait is not None), default=None)

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
        request = Request(snapshot, live, at_rest, current)
        for job in self._jobs:
            due = job.due(self._display.clock(), snapshot, at_rest)
            if due is not None and due <= 0 and job.work(request):
                tell()

    def paint_incomplete(
        self, incomplete: Snapshot, last: Snapshot | None, estimator: Any, current: Callable[[], bool]
    ) -> bool:
        """Make a frame of a step that is under way, see `IncompleteStepJob.work`."""
        return self._incomplete.work(incomplete, last, estimator, current)
