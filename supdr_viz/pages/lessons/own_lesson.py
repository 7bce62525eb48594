"""The text beside the plots of a lesson: which step, what it says, its question and the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from supdr_viz.lessons import LESSONS, Lesson, LessonError, Question, Step, read_lesson
from supdr_viz.lessons.reading import MAX_OPTIONS
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.bridge import CHOOSES
from supdr_viz.ui.dropper import file_dropper
from supdr_viz.ui.lazy import Fold
from supdr_viz.ui.markup import markdown
from supdr_viz.ui.visitor import HeldFiles

LARGE = 1.35
# Name in links of a lesson from a file.
OWN = "own"

KEYS_HINT = '<p class="quiet small keyboard">Keys: Page Up goes back, Page Down goes on.</p>'

LESSON_CSS = """
@media (hover: none) { .keyboard { display: none; } }
h2 { font-size: calc(17px * var(--supdr-zoom, 1)); letter-spacing: 0; text-transform: none; line-height: 1.25;
margin: 0 0 6px 0; }
.lesson { font-size: calc(14px * var(--supdr-zoom, 1)); line-height: 1.5; }
.lesson p { margin: 0 0 8px 0; } .lesson ul { margin: 0 0 8px 0; padding-left: 18px; }
.lesson code { font-size: .92em; } .lesson a, a { color: var(--supdr-primary); }
.asked { font-weight: 600; } .verdict { font-weight: 700; }
dl { margin: 4px 0 8px 0; padding: 8px 10px; border: 1px solid var(--supdr-border); border-radius: 8px;
background: var(--supdr-page); font-size: calc(13px * var(--supdr-zoom, 1)); }
dt { font-size: .88em; text-transform: uppercase; letter-spacing: .05em; color: var(--supdr-secondary); }
dd { color: var(--supdr-text); } dd p { margin: 0 0 4px 0; } dd:last-child { margin-bottom: 0; }
"""
OPTION_SX = {
    "justifyContent": "flex-start",
    "textAlign": "left",
    "color": "text.primary",
    "borderColor": "divider",
    "fontSize": "calc(13px * var(--supdr-zoom, 1))",
    "lineHeight": 1.35,
}

# The buttons stand below what is to be read before, and in view however long that is.
AT_HAND = {
    "position": "sticky",
    "bottom": "0",
    "z-index": "2",
    "padding": "4px 5px",
    "background": "var(--ground, var(--supdr-card))",
}
ONWARD = "chevron_right"

Act = Callable[[], Any]


class LessonPanel:
    """Shows a step and reports what the visitor does.

    parts: the text with its buttons, and what is offered besides.

    held: by the server.
    on_step: ``on_step(change)`` with -1 or 1.
    on_answer: ``on_answer(option)`` with an index, or None to see the answer without choosing.
    on_lesson: ``on_lesson(lesson)``: another one was chosen, or opened from a file.
    on_zoom: ``on_zoom(factor)``: size of the texts.
    """

    def __init__(
        self,
        held: HeldFiles,
        *,
        on_step: Callable[[int], Any],
        on_answer: Callable[[int | None], Any],
        on_lesson: Callable[[Lesson], Any],
        on_zoom: Callable[[float], Any],
    ) -> None:
        self._held, self._on_lesson, self._on_answer, self._on_step = held, on_lesson, on_answer, on_step
        self._open_question = False
        self.menu = widgets.select("Lesson", self._entries(None), next(iter(LESSONS), ""))
        self._menu = Bound(self.menu, self._chosen)
        self.back = widgets.button("Back", lambda: on_step(-1), icon="chevron_left", width=88, height=34)
        self.next = widgets.button("Next", self.go_on, end_icon=ONWARD, kind="contained", height=34, **widgets.WIDE)
        self.zoom = widgets.switch("Large text", False, margin=(0, 8))
        self._zoom = Bound(self.zoom, lambda large: on_zoom(LARGE if large else 1.0))
        self.head = widgets.html(css=LESSON_CSS, margin=(2, 8, 0, 8))
        self.text = widgets.html(css=LESSON_CSS, margin=(0, 8))
        self.asked = widgets.html(css=LESSON_CSS, visible=False, margin=(4, 8, 2, 8))
        self.options = [self._option(number) for number in range(MAX_OPTIONS)]
        self.told = widgets.html(css=LESSON_CSS, visible=False, margin=(4, 8))
        self.facts = widgets.html(css=LESSON_CSS, visible=False, margin=(2, 8))
        self.link = widgets.html(css=LESSON_CSS, margin=(2, 8))
        own = Fold("Make your own lesson", self._build_own)
        buttons = pn.Row(self.back, self.next, margin=0, styles=AT_HAND, **widgets.WIDE)
        text = [self.menu, self.head, self.text, self.asked, *self.options, self.told, self.facts, buttons]
        self.parts = [
            pn.Column(*text, margin=(6, 0, 0, 0), **widgets.WIDE),
            pn.Column(self.link, self.zoom, own.view, margin=(0, 0, 8, 0), **widgets.WIDE),
        ]

    def show(self, lesson: Lesson, index: int, link: str) -> None:
        """Show a step; its question is open.

        `index`: of the step; `link`: to the same state in the explorer.
        """
        step = lesson.steps[index]
        self._show_menu(lesson)
        count = f"Step {index + 1} of {len(lesson.steps)} · {lesson.minutes} minutes in all"
        self.head.object = f'<p class="quiet small">{widgets.escape(count)}</p><h2>{widgets.escape(step.title)}</h2>'
        self.text.object = f'<div class="lesson">{markdown(step.text)}</div>'
        self.back.disabled = index == 0
        self._last, self._following = index == len(lesson.steps) - 1, _after(lesson)
        self._show_question(step.question)
        self._tell("")
        self._show_facts(step, told=step.question is None)
        href = widgets.escape(link)
        opened = f'<p class="small"><a href="{href}" target="_blank">Open this state in Explore</a></p>'
        self.link.object = KEYS_HINT + opened

    def answer(self, step: Step, option: int | None) -> None:
        """Tell the answer, and what the paper and we found.

        `option`: the option chosen, if any.
        """
        question = step.question
        if question is None:
            return
        self._open_question = False
        right = f"{question.answer + 1}. {question.options[question.answer]}"
        verdict = "Right." if option == question.answer else f"The answer is {right}."
        for number, button in enumerate(self.options[: len(question.options)]):
            icon = "check" if number == question.answer else ("close" if number == option else "")
            button.icon = icon or None
        self._tell(f'<p class="verdict">{widgets.escape(verdict)}</p>{markdown(question.reveal)}')
        self._show_facts(step, told=True)
        self._name_next()

    def go_on(self) -> None:
        """Show the answer of an open question, else the next step, or the next lesson after the last one."""
        if self._open_question:
            self._on_answer(None)
        elif not self._last:
            self._on_step(1)
        elif self._following is not None:
            self._on_lesson(self._following)

    @property
    def asks(self) -> bool:
        """Whether a question is open."""
        return self._open_question

    def _show_question(self, question: Question | None) -> None:
        self._open_question = question is not None
        options = question.options if question is not None else ()
        text = f'<p class="lesson asked">{widgets.escape(question.text)}</p>' if question is not None else widgets.EMPTY
        self.asked.param.update(object=text, visible=question is not None)
        for number, button in enumerate(self.options):
            shown = number < len(options)
            label = f"{number + 1}. {options[number]}" if shown else " "
            button.param.update(label=label, visible=shown, icon=None)
        self._name_next()

    def _name_next(self) -> None:
        onward = "Next lesson" if self._last and self._following is not None else "Next"
        self.next.param.update(
            label="Show answer" if self._open_question else onward,
            end_icon=None if self._open_question else ONWARD,
            disabled=not self._open_question and self._last and self._following is None,
        )

    def _tell(self, text: str) -> None:
        inner = f'<div class="lesson" role="status">{text}</div>' if text else widgets.EMPTY
        self.told.param.update(object=inner, visible=bool(text))

    def _show_facts(self, step: Step, *, told: bool) -> None:
        facts = (("The paper", step.claimed), ("We measured", step.measured))
        parts = [f"<dt>{name}</dt><dd>{markdown(text)}</dd>" for name, text in facts if text and told]
        self.facts.param.update(object=f"<dl>{''.join(parts)}</dl>" if parts else widgets.EMPTY, visible=bool(parts))

    def _option(self, number: int) -> Any:
        return widgets.button(
            " ",
            lambda: self._on_answer(number),
            visible=False,
            sx=OPTION_SX,
            margin=(2, 8),
            css_classes=[CHOOSES],
            **widgets.WIDE,
        )

    # --- which lesson ------------------------------------------------------------------------------------------------

    @staticmethod
    def _entries(own: Lesson | None) -> dict[str, str]:
        entries = {f"{number}. {each.title}": name for number, (name, each) in enumerate(LESSONS.items(), 1)}
        return entries if own is None else {**entries, own.title: OWN}

    def _show_menu(self, lesson: Lesson) -> None:
        own = LESSONS.get(lesson.name) is not lesson
        entries = self._entries(lesson if own else None)
        self._menu.show(OWN if own else lesson.name, options=entries)

    def _chosen(self, name: str) -> None:
        if name in LESSONS:
            self._on_lesson(LESSONS[name])

    def _build_own(self) -> list[Any]:
        self.message = widgets.html()
        self.dropper = file_dropper(
            self._held, self.receive, lambda why: widgets.message(self.message, why, "error"), max_bytes=1e6
        )
        help = "A TOML file with texts and links from Explore: see “Your own lesson” in the documentation."
        return [widgets.caption(help), self.dropper, self.message]

    def receive(self, name: str, content: str | bytes) -> None:
        """Take a lesson that the browser sent."""
        try:
            lesson = read_lesson(content, name)
        except LessonError as error:
            shown = error.problems[:6]
            more = [f"And {len(error.problems) - 6} more."] if len(error.problems) > 6 else []
            items = "".join(f"<p>{widgets.escape(each)}</p>" for each in [f"{name} cannot be used:", *shown, *more])
            self.message.object = f'<div class="error small" role="alert">{items}</div>'
            return
        widgets.message(self.message, f"{name} is open.")
        self._on_lesson(lesson)


def _after(lesson: Lesson) -> Lesson | None:
    """Return the lesson that follows in the menu; None: it is the last one, or one of the visitor's own."""
    lessons = list(LESSONS.values())
    places = [number for number, each in enumerate(lessons) if each is lesson]
    return lessons[places[0] + 1] if places and places[0] + 1 < len(lessons) else None
