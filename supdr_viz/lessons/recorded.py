"""A lesson played through without a page: the films of what each step shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.export.progress import Progress, no_progress
from supdr_viz.export.replay import Replay
from supdr_viz.export.work import filming
from supdr_viz.lessons.claims import numbers_of
from supdr_viz.lessons.model import Lesson, Step
from supdr_viz.lessons.reading import MAX_RUN
from supdr_viz.pictures.methods import modes_of
from supdr_viz.run.pool import ManualPool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase

# Most iterations of a run that its film holds: a lesson has many runs, and their surfaces are what takes long.
MOMENTS = 24


@dataclass(frozen=True)
class Showing:
    """One film as a step shows it.

    `film`: index into the films; `start`: iteration to begin with; `plays`: whether it goes on by itself from there.
    """

    film: int
    start: int
    plays: bool


@dataclass
class RecordedLesson:
    """The films of a lesson.

    `films`: each once, however many steps show it; `steps`: what each step shows at first, and what after the answer,
    if that is something else.
    """

    films: list[Replay] = field(default_factory=list)
    steps: list[tuple[Showing, Showing | None]] = field(default_factory=list)


def record(
    lesson: Lesson, on_step: Callable[[int], object] | None = None, progress: Progress = no_progress
) -> RecordedLesson:
    """Play a lesson as the page would for a visitor who only presses "next", and film it.

    The free end, where the page waits for the visitor, is run to its end.  A run without an end of its own stops after
    2,000 iterations.

    `on_step`: ``on_step(index)`` is called before each step; `progress`: ``progress(done, total)``, steps, is called
    over and over. Raises ValueError: a step cannot be run; the message names it.
    """
    camera = _Camera()
    try:
        for index, step in enumerate(lesson.steps):
            if on_step is not None:
                on_step(index)
            camera.look = partial(progress, index, len(lesson.steps))
            try:
                camera.take(step)
            except ValueError as error:
                raise ValueError(f"Step {index + 1} ({step.title}): {error}") from error
    finally:
        camera.session.close()
    return camera.made


def ends(lesson: Lesson) -> Iterator[dict[str, float]]:
    """Play a lesson likewise, without a film, and measure how each step ends.

    Yields see `supdr_viz.lessons.claims.numbers_of`.
    """
    camera = _Camera(films=False)
    try:
        for step in lesson.steps:
            camera.take(step)
            yield numbers_of(camera.session)
    finally:
        camera.session.close()


class _Camera:
    def __init__(self, *, films: bool = True) -> None:
        self._films = films
        self._pool = ManualPool()
        self.session = Session(self._pool, lambda: None)
        self.made = RecordedLesson()
        self._last: tuple[object, ...] = ()
        self.look: Callable[[], object] = partial(no_progress, 0, 0)
        self._mode = ""

    def take(self, step: Step) -> None:
        """Play a step and film it."""
        if step.fresh:
            self.session.apply(Experiment(step.settings))
            self.session.player.reset()
        self._work()
        self._show(step)
        self._run(step.run)
        start = self._iteration
        if step.play == "start" or step.free:
            self._run(step.until or MAX_RUN)
        before = self._film(start, plays=step.play == "start")
        after = None
        if step.question is not None and (step.then is not None or step.play == "answer"):
            if step.then is not None:
                self.session.apply(Experiment(step.then))
                self._work()
            start = self._iteration
            if step.play == "answer":
                self._run(step.until or MAX_RUN)
            after = self._film(start, plays=step.play == "answer")
        self.made.steps.append((before, after))

    def _show(self, step: Step) -> None:
        """Choose what the step shows: its picture of the method, or the one before, or the method's first."""
        session = self.session
        assert session.scene is not None
        images = session.scene.images is not None
        modes = [mode.name for mode in modes_of(session.estimator, session.scene.task, images=images)]
        self._mode = next((mode for mode in (step.mode, self._mode, *modes) if mode in modes), "none")
        colour_by = step.settings.colour_by
        session.set_display(step.settings, method_mode=self._mode, pull=step.pull, colour_by=colour_by)

    @property
    def _iteration(self) -> int:
        return self.session.player.iteration

    def _run(self, until: int) -> None:
        if self._iteration < until:
            self.session.player.run(until=until, hurry_to=until)
            self._work()

    def _work(self) -> None:
        """Do what the threads of a server would, until all is at rest."""
        player = self.session.player
        self._pool.turn(0.0)
        while player.status.phase in (Phase.preparing, Phase.running):
            self.look()
            self._pool.turn(1.0)
        if player.status.phase is Phase.failed:
            raise ValueError(player.status.message)
        player.request_frame()
        while (wait := self._pool.due) is not None:
            self.look()
            time.sleep(max(wait, 0.0))
            self._pool.turn(1.0)
            player.request_frame()

    def _film(self, start: int, *, plays: bool) -> Showing:
        session = self.session
        if not self._films:
            return Showing(0, start, plays)
        shown = (session.player.newest, session.scene, session.options)
        if len(self._last) != len(shown) or any(old is not new for old, new in zip(self._last, shown)):
            draw = filming(session, MOMENTS)
            assert draw is not None
            self.made.films.append(draw(progress=lambda _done, _total: self.look()))
            self._last = shown
        return Showing(len(self.made.films) - 1, start, plays)
