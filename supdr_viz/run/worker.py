"""The worker: takes the steps that a run's course asks for, and paints what they led to, in the pool's threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from supdr.engine.iterate import Snapshot, Stop
from supdr_viz.run.course import Course, Iterates
from supdr_viz.run.reel import Reel
from supdr_viz.run.status import Phase


class Pace(Protocol):
    """Says when a run may take its next step, where others have a say in it."""

    def wait(self, now: float) -> float | None:
        """Seconds until it may step (<= 0: now), or None until others have."""

    def stepped(self) -> None:
        """Note that it took a step."""


class Worker:
    """A job of the pool, see `supdr_viz.run.pool.Job`.

    What it has made is dropped if the course has got another version meanwhile: nobody wants it any more.

    Parameters
    ----------
    reel : Reel
    notify : callable
        Called whenever there is something new to show.
    clock : callable
        Returns the time in seconds.
    pace : Pace, optional
        Instead of the run's own speed.
    """

    def __init__(
        self, reel: Reel, notify: Callable[[], None], clock: Callable[[], float], pace: Pace | None = None
    ) -> None:
        self._reel, self._notify, self._clock, self._pace = reel, notify, clock, pace
        self._step_began = 0.0

    def due(self, now: float) -> float | None:
        """See `Job.due`."""
        course, painter = self._reel.course, self._reel.painter
        if painter is None or course.status.phase is Phase.failed:
            return None
        if course.iterates is Iterates.wanted:
            return 0.0
        waits = [painter.due(now, self._reel.shown, not course.steps_wanted)]
        if course.steps_wanted:
            waits.append(self._step_due(course, now))
        return min((wait for wait in waits if wait is not None), default=None)

    def work(self, seconds: float) -> None:
        """See `Job.work`."""
        reel, deadline = self._reel, self._clock() + seconds
        with reel.lock:
            # A wish to start belongs to the version it was made under: both are read at once.
            version, opens = reel.course.version, reel.course.iterates is Iterates.wanted
            if opens:
                reel.become(reel.course.opening())
        try:
            if opens:
                self._open(version)
                deadline = 0.0  # whoever has changed something waits for the first frame, not for the most steps
            while self._may_step(version):
                self._steps(version, deadline)
                if self._clock() >= deadline:
                    break
            self._paint(version)
        except Exception as error:
            # Whatever goes wrong in one run is shown in its own page and harms no other.
            with reel.lock:
                if version == reel.course.version:
                    reel.become(reel.course.failed(_sentence(error)))
            self._notify()

    def _open(self, version: int) -> None:
        reel = self._reel
        with reel.lock:
            estimator, split, start = reel.estimator, reel.split, reel.newest
            if version != reel.course.version:
                return
        assert split is not None
        iterates = estimator.iterate(
            split.X_train, split.y_train, start=start, interrupted=lambda: self._breaks_off(version)
        )
        self._step_began = self._clock()
        first = next(iterates, None)
        with reel.lock:
            if version != reel.course.version:
                return
            if first is None:
                reel.become(reel.course.without_iterates())
                return
            reel.recording.begin_leg(estimator, first, split.taught)
            reel.spoil(surface=True)
            reel.become(reel.course.opened(first.stop), iterates)
        self._notify()

    def _steps(self, version: int, deadline: float) -> None:
        """Take a step, and all that may follow it at once; they are recorded together."""
        reel = self._reel
        with reel.lock:
            iterates, course = (reel.iterates, reel.course) if version == reel.course.version else (None, reel.course)
        taken: list[Snapshot] = []
        while iterates is not None:
            self._step_began = self._clock()
            snapshot = next(iterates, None)
            if snapshot is None or snapshot.stop is Stop.interrupted:
                break
            taken.append(snapshot)
            goes_on = self._pace is None and course.goes_on_at_once(snapshot.iteration, snapshot.stop)
            if not goes_on or reel.course is not course or self._clock() >= deadline:
                iterates = None
        with reel.lock:
            before = reel.course
            if version != before.version:
                return
            if taken:
                reel.recording.extend(taken)
                reel.spoil()
                reel.become(before.stepped(taken[-1].iteration, self._step_began, taken[-1].stop))
            if iterates is not None:
                reel.become(reel.course.interrupted())
            news = reel.course.status != before.status
        if news:
            self._notify()
        if self._pace is not None and taken:
            self._pace.stepped()

    def _paint(self, version: int) -> None:
        reel = self._reel
        with reel.lock:
            painter, snapshot, course = reel.painter, reel.shown, reel.course
        if painter is not None:
            painter.paint(
                snapshot,
                live=course.shown is None,
                at_rest=not course.steps_wanted,
                current=lambda: version == reel.course.version,
                tell=self._notify,
            )

    def _may_step(self, version: int) -> bool:
        course = self._reel.course
        if course.version != version or course.iterates is not Iterates.open or not course.steps_wanted:
            return False
        due = self._step_due(course, self._clock())
        return due is not None and due <= 0

    def _step_due(self, course: Course, now: float) -> float | None:
        if self._pace is None or course.single_steps:
            return course.step_due(now)
        return self._pace.wait(now)

    def _breaks_off(self, version: int) -> bool:
        course = self._reel.course
        return course.version != version or course.breaks_off(self._clock() - self._step_began)


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
