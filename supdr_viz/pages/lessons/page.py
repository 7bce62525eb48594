"""The lessons: an explorer that a text leads through prepared states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from supdr.engine.parameters import quoted
from supdr_viz.experiment.settings import Settings, to_query
from supdr_viz.export.progress import Progress
from supdr_viz.lessons import LESSONS, Lesson, Step, address
from supdr_viz.lessons.document import lesson_html
from supdr_viz.pages import begin, link, page_arguments
from supdr_viz.pages.explorer.page import Explorer
from supdr_viz.pages.lessons.own_lesson import OWN, LessonPanel
from supdr_viz.pages.service import Service
from supdr_viz.ui.bridge import KEYS, LESSON_KEYS

SIDEBAR_WIDTH = 310
TO_THE_END = 10**9
CURVES = ("losses", "errors")


def lessons() -> Any:
    """Build the lessons for the visitor of the current session."""
    service = begin()
    lesson, index, problems = wanted(page_arguments())
    return Lessons(service, lesson, index, problems).page


def wanted(arguments: Mapping[str, list[bytes]]) -> tuple[Lesson, int, list[str]]:
    """Read which step an address asks for.

    `arguments`: ``lesson`` and ``step``, as a web server gives them. Returns `lesson`; `index`: of the step;
    `problems`: a sentence for each value that was not taken.
    """
    texts = {name: values[-1].decode("utf-8", "replace") for name, values in arguments.items() if values}
    problems = []
    name, number = texts.get("lesson", ""), texts.get("step", "1")
    if name == OWN:
        problems.append("This was a lesson from a file: open the file again, under Make your own lesson.")
    numbered = list(LESSONS.values())
    index = _counted(name, len(numbered))  # lesson=6 is the sixth
    lesson = LESSONS.get(name) or numbered[max(index, 0)]
    if name not in ("", OWN, *LESSONS) and index < 0:
        problems.append(
            f"There is no lesson {quoted(name)}, so lesson 1 is shown. The lessons are 1 to {len(numbered)}: choose "
            "one from the list “Lesson”."
        )
    index = _counted(number, len(lesson.steps))
    if index < 0:
        problems.append(
            f"This lesson has steps 1 to {len(lesson.steps)}; there is no step {quoted(number)}, so step 1 is shown."
        )
    return lesson, max(index, 0), problems


def _counted(text: str, count: int) -> int:
    """Return the place that a number from 1 to a count means, from 0; -1: the text is no such number."""
    number = int(text) if text.isdecimal() and len(text) < 4 else 0
    return number - 1 if 0 < number <= count else -1


class Lessons:
    """Wires the text to an explorer.

    `index`: of the step to begin with; `problems`: what was wrong with the address.
    """

    def __init__(self, service: Service, lesson: Lesson, index: int, problems: list[str]) -> None:
        self.lesson, self.index = lesson, index
        self.panel = LessonPanel(
            service.files, on_step=self._go, on_answer=self._answer, on_lesson=self._open, on_zoom=self._set_zoom
        )
        self.explorer = Explorer(
            service,
            self.step.settings,
            problems,
            keys=(*KEYS, *LESSON_KEYS),
            query_of=lambda _settings: self._query(),
            link_to=self._link,
            on_key=self._key,
            on_compiled=self._prepare,
            page_name="lessons",
            title="supdr lessons: prepared states of the explorer, step by step",
            text=self.panel.parts,
            sidebar_width=SIDEBAR_WIDTH,
        )
        self.page, self._player = self.explorer.page, self.explorer.session.player
        self.explorer.share.offer("lesson", self._lesson_work)
        self._present()
        self._prepare()

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.lesson.steps[self.index]

    # --- what the explorer asks --------------------------------------------------------------------------------------

    def _lesson_work(self) -> Callable[[Progress], bytes]:
        lesson = self.lesson
        return lambda progress: lesson_html(lesson, progress=progress).encode()

    def _is_own(self) -> bool:
        return LESSONS.get(self.lesson.name) is not self.lesson

    def _query(self) -> str:
        return f"lesson={OWN}" if self._is_own() else address(self.lesson.name, self.index)

    def _link(self, settings: Settings) -> str:
        prepared = _same(settings, self.step.settings) or (self.step.then and _same(settings, self.step.then))
        if prepared and not self._is_own():
            return link("lessons", address(self.lesson.name, self.index))
        return link("explorer", to_query(settings))

    def _key(self, key: str) -> None:
        if key == "next":
            self.panel.go_on()
        elif key == "back":
            self._go(-1)
        elif key.isdecimal():
            question = self.step.question
            if self.panel.asks and question is not None and int(key) <= len(question.options):
                self._answer(int(key) - 1)

    # --- steps -------------------------------------------------------------------------------------------------------

    def _open(self, lesson: Lesson) -> None:
        self.lesson, self.index = lesson, 0
        self._show(onward=False)

    def _go(self, change: int) -> None:
        index = self.index + change
        if 0 <= index < len(self.lesson.steps):
            self.index = index
            self._show(onward=change == 1)

    def _show(self, *, onward: bool) -> None:
        step, controls = self.step, self.explorer.controls
        self._present()
        goes_on = onward and not step.fresh and _same(controls.settings, step.settings)
        if goes_on:
            self._show_marks()
            self.explorer.bridge.set_query(self._query())
            self._start(step.play == "start", step)
            return
        if step.settings == controls.settings:
            self.explorer.bridge.set_query(self._query())
        else:
            if self._player.going:
                self._player.pause()
            controls.apply(step.settings)
        self._player.reset()
        self._prepare()

    def _present(self) -> None:
        """Show the text of the step and what it speaks of."""
        step, layout = self.step, self.explorer.layout
        layout.shrink()
        self.panel.show(self.lesson, self.index, link("explorer", to_query(step.settings)))
        layout.show_controls(step.free)
        self._guide(step.look)
        self.explorer.board.show_less(data_only=not step.is_run, plain=step.is_plain)

    def _guide(self, look: tuple[str, ...]) -> None:
        """Show what a step speaks of; curves of a run that an answer starts come with the answer."""
        step = self.step
        begins = self.panel.asks and step.play == "answer" and not _done_before(self.lesson, self.index)
        plots = tuple(each for each in look if each not in CURVES) if begins else look
        shown = () if step.free else plots or look
        self.explorer.layout.guide(shown, pull=step.pull, is_run=step.is_run, goes_on=step.goes_on)
        if shown:
            self.explorer.layout.show_legend(self.explorer.board.points)
        else:
            self.explorer.show_meaning()

    def _prepare(self) -> None:
        """Take the steps that are done before the step is shown, and play if it says so."""
        step = self.step
        if self.explorer.session.settings is None:
            return
        self._show_marks()
        done = _done_before(self.lesson, self.index)
        if step.play == "start":
            self._player.run(until=step.until or None, hurry_to=done)
        elif done == TO_THE_END:
            self._player.run(hurry_to=done)
        elif done:
            self._player.run(until=done, hurry_to=done)

    def _show_marks(self) -> None:
        """Show the picture of the method that the step speaks of, and the pull of the labels or not."""
        self.explorer.show_mode(self.step.mode)
        self.explorer.layout.show_pull(self.step.pull)

    def _answer(self, option: int | None) -> None:
        step = self.step
        if not self.panel.asks:
            return
        self.panel.answer(step, option)
        self._guide(step.look)
        if step.then is not None:
            self.explorer.controls.apply(step.then)
        self._start(step.play == "answer", step)

    def _start(self, on: bool, step: Step) -> None:
        if on:
            self.explorer.transport.follow()
            self._player.run(until=step.until or None)

    def _set_zoom(self, factor: float) -> None:
        self.explorer.bridge.zoom = factor


def _same(settings: Settings, other: Settings) -> bool:
    return replace(settings, speed=other.speed) == other


def _done_before(lesson: Lesson, index: int) -> int:
    """Count the iterations that a step begins with: its own, or what the steps it goes on from have played."""
    done = 0
    for step in lesson.steps[: index + 1]:
        if step.fresh:
            done = 0
        done = max(done, step.run)
        if step is lesson.steps[index]:
            break
        if step.then is not None and step.then.needs_restart(step.settings):
            done = 0
        if step.play:
            done = step.until or TO_THE_END
    return done
