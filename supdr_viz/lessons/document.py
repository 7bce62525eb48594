"""A lesson as one HTML file: texts, questions and the recorded runs, for any static host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from supdr_viz.experiment.settings import to_query
from supdr_viz.export.progress import Progress, no_progress
from supdr_viz.export.report import PLAYER, document, film_data
from supdr_viz.lessons.model import Lesson, Question, Step
from supdr_viz.lessons.recorded import record
from supdr_viz.ui.markup import escape, markdown


def lesson_html(
    lesson: Lesson, on_step: Callable[[int], object] | None = None, progress: Progress = no_progress
) -> str:
    """Run a lesson and write it down; the file opens from disk and needs no network.

    `on_step`: ``on_step(index)`` is called before each step is run; `progress`: ``progress(done, total)``, steps, is
    called over and over. Returns a whole HTML document. Raises ValueError: a step cannot be run; the message names it.
    """
    recorded = record(lesson, on_step, progress)
    shown = [
        {
            "before": asdict(before),
            "after": None if after is None else asdict(after),
            "right": None if step.question is None else step.question.answer,
        }
        for step, (before, after) in zip(lesson.steps, recorded.steps)
    ]
    data = {"minutes": lesson.minutes, "steps": shown, "films": [film_data(film) for film in recorded.films]}
    texts = "".join(_section(number, step) for number, step in enumerate(lesson.steps, 1))
    summary = f"<p>{escape(lesson.summary)}</p>" if lesson.summary else ""
    body = f"""<h1>{escape(lesson.title)}</h1>{summary}
<div class="lesson"><div class="text"><p id="count" class="quiet" role="status"></p>
<nav aria-label="Steps"><button id="back" type="button">Back</button><button id="next" type="button">Next</button></nav>
{texts}</div><div><h2 id="run"></h2>{PLAYER}</div></div>"""
    return document(
        lesson.title,
        body,
        {"lesson": data},
        styles=["report.css", "lesson.css"],
        script="lesson.js",
    )


def _section(number: int, step: Step) -> str:
    parts = [f'<section class="step" id="step-{number}"><h2>{escape(step.title)}</h2>{markdown(step.text)}']
    if step.free:
        link = escape(f"explorer?{to_query(step.settings)}")
        parts.append(
            "<p>This file holds the recorded run. Settings can be changed where supdr-viz runs: "
            f"<code>{link}</code></p>"
        )
    facts = _facts(step)
    parts.append(facts if step.question is None else _question_html(step.question, facts))
    return "".join([*parts, "</section>"])


def _question_html(question: Question, facts: str) -> str:
    options = "".join(
        f'<button type="button">{number}. {escape(option)}</button>'
        for number, option in enumerate(question.options, 1)
    )
    return (
        f'<p class="asked">{escape(question.text)}</p><div class="options">{options}</div>'
        f'<div class="answer" role="status"><p class="verdict"></p>{markdown(question.reveal)}{facts}</div>'
    )


def _facts(step: Step) -> str:
    facts = (("The paper", step.claimed), ("We measured", step.measured))
    rows = "".join(f"<dt>{name}</dt><dd>{markdown(text)}</dd>" for name, text in facts if text)
    return f"<dl>{rows}</dl>" if rows else ""
