"""Jobs mostly for a run at rest: measuring with few labels, judging the map, refining diagnostics; in slices of time.

Each waits until the page is up to date.  What it finds makes the newest frame stale, so that another one tells of it.
"""

from __future__ import annotations

from typing import Any

from supdr.engine.iterate import Snapshot
from supdr_viz.papers.few_labels import Study
from supdr_viz.pictures.map_quality import Measuring, measuring, sampled
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.run.few_labels import FewLabelStudies
from supdr_viz.run.paint_job import Display, Request, snapshot_key

# Seconds of work at a time.
SLICE = 0.01

# Seconds between two samples of a map while it runs.
PAUSE = 0.4


class StudyJob:
    """Goes on with the study that the picture on display shows."""

    def __init__(self, display: Display, studies: FewLabelStudies) -> None:
        self._display, self.studies = display, studies
        self._study: Study | None = None

    def show(self, mode: Mode | None) -> Study | None:
        """Work on the study of this mode from now on; return it, None: the mode has none."""
        self._study = self.studies.study(mode)
        return self._study

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """See `Job.due`."""
        waits = self._study is not None and not self._study.finished and at_rest and not self._display.stale
        return 0.0 if waits else None

    def work(self, request: Request) -> bool:
        """See `Job.work`."""
        if self._study is not None and self._study.work(SLICE):
            self._display.stale = True
        return False


class QualityJob:
    """Measures how true the latent plane on display is, where the user has asked for it: at rest all, else a sample."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._measuring: Measuring | None = None
        self._measuring_key: tuple[Any, ...] | None = None
        self._measured: tuple[Any, ...] | None = None
        self._next, self._samples = 0.0, 0

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """See `Job.due`."""
        display = self._display
        if display.builder.plane is None or not display.options.truth or self._key(snapshot) == self._measured:
            return None
        if at_rest:
            return None if display.stale else 0.0
        return max(0.0, self._next - now)

    def work(self, request: Request) -> bool:
        """See `Job.work`."""
        display, key = self._display, self._key(request.snapshot)
        builder, ends = display.builder, display.clock() + SLICE
        if not request.at_rest:
            assert builder.places is not None
            iteration = request.snapshot.iteration
            builder.truth = sampled(builder.input_rows, builder.places, iteration, self._samples, builder.truth)
            self._samples += 1
            self._next, display.stale = display.clock() + PAUSE, True
            return False
        if self._measuring is None or self._measuring_key != key:
            assert builder.places is not None
            self._measuring = measuring(builder.input_rows, builder.places, request.snapshot.iteration)
            self._measuring_key = key
        try:
            while display.clock() < ends:
                next(self._measuring)
        except StopIteration as end:
            builder.truth, self._measured, self._measuring, display.stale = end.value, key, None, True
        return False

    def _key(self, snapshot: Snapshot) -> tuple[Any, ...]:
        options = self._display.options
        return (*snapshot_key(snapshot), options.latent, options.latent_axes)


class RefineJob:
    """Refines the diagnostics on display until no more work changes them."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._refined: tuple[int, int] | None = None

    def due(self, now: float, snapshot: Snapshot, at_rest: bool) -> float | None:
        """See `Job.due`."""
        waits = snapshot.iteration > 0 and at_rest and not self._display.stale
        return 0.0 if waits and snapshot_key(snapshot) != self._refined else None

    def work(self, request: Request) -> bool:
        """See `Job.work`."""
        display, snapshot = self._display, request.snapshot
        ends = display.clock() + SLICE
        while snapshot.diagnostics.refine():
            if display.clock() >= ends:
                return False
        self._refined, display.stale = snapshot_key(snapshot), True
        return False
