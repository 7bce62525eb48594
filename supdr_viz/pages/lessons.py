"""The lessons: the explorer's live views, led by a text.  Everything else is the explorer's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import panel as pn

from supdr_viz.controls.lesson import OWN, LessonPanel
from supdr_viz.kit.bridge import KEYS, LESSON_KEYS, Bridge
from supdr_viz.lessons import LESSONS, Lesson, Step, address
from supdr_viz.lessons.document import lesson_html
from supdr_viz.pages.explorer import Explorer
from supdr_viz.pages.layout import ExplorerLayout
from supdr_viz.settings.knobs import quoted
from supdr_viz.settings.state import Settings, to_query

SIDEBAR_WIDTH = 310
TO_THE_END = 10**9


def lessons() -> Any:
    """Build the lessons for the visitor of the current session.

    Returns
    -------
    panel_material_ui.Page
    """
    pn.extension("filedropper", notifications=True)
    lesson, index, problems = wanted(pn.state.session_args or {})
    return Lessons(lesson, index, problems).page


def wanted(arguments: Mapping[str, list[bytes]]) -> tuple[Lesson, int, list[str]]:
    """Read which step an address asks for.

    Parameters
    ----------
    arguments : mapping of str to list of bytes
        ``lesson`` and ``step``, as a web server gives them.

    Returns
    -------
    lesson : Lesson
    index : int
        Of the step.
    problems : list of str
        A sentence for each value that was not taken.
    """
    texts = {name: values[-1].decode("utf-8", "replace") for name, values in arguments.items() if values}
    problems = []
    name, number = texts.get("lesson", ""), texts.get("step", "1")
    if name == OWN:
        problems.append("This was a lesson from a file: open the file again, under Your own lesson.")
    elif name and name not in LESSONS:
        problems.append(f"There is no lesson {quoted(name)}; known are {', '.join(LESSONS)}.")
    lesson = LESSONS.get(name) or next(iter(LESSONS.values()))
    index = int(number) - 1 if number.isdecimal() and len(number) < 4 else -1
    if not 0 <= index < len(lesson.steps):
        problems.append(f"This lesson has the steps 1 to {len(lesson.steps)}; got {quoted(number)}.")
        index = 0
    return lesson, index, problems


class Lessons(Explorer):
    """Wires the text to the explorer's views.

    Parameters
    ----------
    lesson : Lesson
    index : int
        Of the step to begin with.
    problems : list of str
        What was wrong with the address.
    """

    def __init__(self, lesson: Lesson, index: int, problems: list[str]) -> None:
        self.lesson, self.index = lesson, index
        self.panel = LessonPanel(on_step=self._go, on_answer=self._answer, on_lesson=self._open, on_zoom=self._set_zoom)
        super().__init__(self.step.settings, problems)
        self.share.offer("lesson", self._lesson_work)
        self._present()
        if not self._warming:
            self._prepare()

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.lesson.steps[self.index]

    # --- the explorer's, in another way ------------------------------------------------------------------------------

    def _make_bridge(self) -> Bridge:
        return Bridge(keys=[*KEYS, *LESSON_KEYS])

    def _make_layout(self) -> ExplorerLayout:
        return ExplorerLayout(
            self.board,
            self.bar,
            self.bridge,
            self.controls,
            self.share,
            on_option=self._set_option,
            page_name="lessons",
            title="supdr lessons: prepared states of the explorer, step by step",
            text=[self.panel.view],
            sidebar_width=SIDEBAR_WIDTH,
        )

    def _lesson_work(self) -> Callable[[], bytes]:
        lesson = self.lesson
        return lambda: lesson_html(lesson).encode()

    def _is_own(self) -> bool:
        return LESSONS.get(self.lesson.name) is not self.lesson

    def _query(self, settings: Settings) -> str:
        return f"lesson={OWN}" if self._is_own() else address(self.lesson.name, self.index)

    def _link(self) -> str:
        settings = self.controls.settings
        prepared = _same(settings, self.step.settings) or (self.step.then and _same(settings, self.step.then))
        if prepared and not self._is_own():
            return f"?{address(self.lesson.name, self.index)}"
        return f"explorer?{to_query(settings)}"

    def _compiled(self) -> None:
        super()._compiled()
        self._prepare()

    def _key(self, key: str) -> None:
        if key == "next":
            self.panel.go_on()
        elif key == "back":
            self._go(-1)
        elif key.isdecimal():
            question = self.step.question
            if self.panel.asks and question is not None and int(key) <= len(question.options):
                self._answer(int(key) - 1)
        else:
            super()._key(key)

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
        step = self.step
        self._present()
        goes_on = onward and not step.fresh and _same(self.controls.settings, step.settings)
        if goes_on:
            self.bridge.set_query(self._query(step.settings))
            self._start(step.play == "start", step)
            return
        settings = step.settings
        if settings == self.controls.settings:
            self.bridge.set_query(self._query(settings))
            self.session.player.reset()
        else:
            if self.session.player.going:
                self.session.player.pause()
            self.controls.apply(settings)
            self.session.player.reset()
        self._prepare()

    def _present(self) -> None:
        """Show the text of the step and point at its plots."""
        step = self.step
        self.layout.shrink()
        self.panel.show(self.lesson, self.index, f"explorer?{to_query(step.settings)}")
        self.controls.view.visible = step.free
        self.layout.highlight(step.look)

    def _prepare(self) -> None:
        """Take the steps that are done before the step is shown, and play if it says so."""
        step = self.step
        if self.session.settings is None:
            return
        if step.mode and self.board.method.modes and step.mode in [mode.name for mode in self.board.method.modes]:
            self._set_option("method_mode", step.mode)
            self.layout.show_method_modes(self.board.method)
        self.layout.show_pull(step.pull)
        done = _done_before(self.lesson, self.index)
        if step.play == "start":
            self.session.player.run(until=step.until or None, hurry_to=done)
        elif done == TO_THE_END:
            self.session.player.run(hurry_to=done)
        elif done:
            self.session.player.run(until=done, hurry_to=done)

    def _answer(self, option: int | None) -> None:
        step = self.step
        if not self.panel.asks:
            return
        self.panel.answer(step, option)
        if step.then is not None:
            self.controls.apply(step.then)
        self._start(step.play == "answer", step)

    def _start(self, wanted: bool, step: Step) -> None:
        if wanted:
            self._set_viewing(False)
            self.session.player.run(until=step.until or None)

    def _set_zoom(self, factor: float) -> None:
        self.bridge.zoom = factor


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
