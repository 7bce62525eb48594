"""A question on the map whose answer takes many fits: they are made beside the page, and it can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import panel as pn
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from supdr.quality import SelectionExplanation
from supdr_viz.data.number_format import alike, readable
from supdr_viz.run.pool import Courtesy, Pool
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Background, Job, Outcome
from supdr_viz.ui.bar import Bar, Button, Switches, Toggle
from supdr_viz.ui.binding import Bound

ON_DISK = "This is not available for rows on disk: they are too many."

# Buttons of a question are of one height and begin where its words do; what is chosen is quieter than what acts.
ALIGNED = {
    "--push-margin": "4px 8px 5px 0",
    "--push-padding": "1px 9px",
    "--push-size": "12px",
    "--choice-margin": "4px 8px 5px 0",
    "--chosen": "color-mix(in srgb, var(--supdr-primary) 16%, transparent)",
    "--on-chosen": "var(--supdr-text)",
    "--marks-margin": "0 8px",
}

# Least size of an effect by its word (J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988).
EFFECTS = {"large": 0.8, "medium": 0.5, "small": 0.2, "negligible": 0.0}
EFFECT_SIZE = (
    "Effect size: the difference of the two means, in standard deviations within the groups. From "
    f"{EFFECTS['small']:g} it is called small, from {EFFECTS['medium']:g} medium, from {EFFECTS['large']:g} large."
)

# A small picture stands at the right of the sentences, or below them where there is no room.
ANSWER_CSS = """
th { white-space: normal; max-width: 130px; }
.beside { display: flex; flex-wrap: wrap; gap: 4px 24px; margin-bottom: 4px; } .beside > div { flex: 1 1 300px; }
"""

# The question stands at the left, its buttons and its answer at the right. A narrow window shows them in one column.
QUESTION_CSS = """
:host { display: grid !important; grid-template-columns: minmax(0, 4fr) minmax(0, 11fr); gap: 0 24px; --across: 2;
padding: 10px 4px 6px; box-sizing: border-box; border-top: 1px solid var(--supdr-border); align-items: start; }
@media (max-width: 899.95px) { :host { grid-template-columns: minmax(0, 1fr); --across: 1; } }
"""

Interrupted = Callable[[], bool]


class Question:
    """One of the questions, with its buttons and the place of its answer.

    `title`, `asks`, `answers`: the question, what is done, what an answer says; `label`: of the button. `choices`: how
    much is to be computed, text -> value; `marks`: what can be switched on over an answer.
    """

    title = ""
    asks = ""
    answers = ""
    label = ""

    def __init__(
        self, session: Session, pool: Pool, background: Background, choices: dict[str, Any], marks: list[str]
    ) -> None:
        self.session = session
        self._pool, self._background, self._choices = pool, background, choices
        self._job: Job | None = None
        self._newest: Any = None
        self.answer: Any = None
        first = next(iter(choices))
        self._choice = Bound(Toggle(f"Settings of “{self.title}”", list(choices), first), lambda _value: None)
        self._start, self._stop = (
            Button(self.label, self.start, look="contained"),
            Button("Stop", self.stop, visible=False),
        )
        switches = Switches("Marks", marks)
        switches.visible = False
        self.marks = Bound(switches, lambda on: self.show_marks(on))
        self.words = widgets.html(css=ANSWER_CSS, margin=(4, 8))
        widgets.message(self.words, self.answers)
        parts = {"start": self._start, "stop": self._stop, "choice": self._choice.widget, "marks": switches}
        bar = Bar(parts, margin=(0, 8), styles=dict(ALIGNED))
        self.view = laid_out(self.title, self.asks, bar, self.words)

    # --- what differs from question to question ----------------------------------------------------------------------

    def pieces(self, choice: Any) -> Callable[[Interrupted], Iterator[Any]]:
        """Return ``iterate(interrupted)``, which yields the answer so far; it is called outside of the page's thread.

        Called in the page's thread. Raises ValueError: there is no answer; the message says why.
        """
        raise NotImplementedError

    def text(self, answer: Any, whole: bool) -> str:
        """Write an answer as HTML; `whole`: whether nothing more is to come."""
        raise NotImplementedError

    def show(self, answer: Any) -> None:
        """Show an answer in the views, too; None: there is none."""

    def show_marks(self, on: list[str]) -> None:
        """Show what is switched on."""

    # --- the work -----------------------------------------------------------------------------------------------------

    @property
    def estimator(self) -> Any:
        """The method as the settings have it, not fitted."""
        return clone(self.session.estimator)

    @property
    def working(self) -> bool:
        """Whether fits are under way."""
        return self._job is not None

    def start(self) -> None:
        """Begin anew."""
        self.forget()
        if self.session.split is None or self.session.settings is None:
            return
        if self.session.split.whole is not None:
            widgets.message(self.words, ON_DISK, "warning")
            return
        try:
            iterate = self.pieces(self._choices[self._choice.value])
        except ValueError as problem:
            widgets.message(self.words, str(problem), "warning")
            return
        job = self._job = Job(lambda _done, _total: self._arrived(job))
        courtesy = Courtesy(self._pool, lambda: job.cancelled)

        def work() -> None:
            """Hand over piece by piece."""
            with threadpool_limits(limits=1, user_api="openmp"):
                for number, piece in enumerate(iterate(courtesy)):
                    self._newest = piece
                    job(number, 0)

        self._start.visible, self._stop.visible = False, True
        widgets.message(self.words, "Computing …")
        self._background.run(work, lambda outcome: self._ended(job, outcome), long=True)

    def stop(self) -> None:
        """Make no more fits; the answer so far stays."""
        if self._job is not None:
            self._job.cancel()
            self._ended(self._job, Outcome(cancelled=True))

    def forget(self) -> None:
        """Stop, and show no answer: it is of other rows or another method."""
        if self._job is not None:
            self._job.cancel()
        self._job = None
        self._rest()
        widgets.message(self.words, self.answers)
        if self.answer is not None:
            self.answer = self._newest = None
            self.marks.widget.visible = False
            if self.marks.value:
                self.marks.show([])
                self.show_marks([])
            self.show(None)

    def _arrived(self, job: Job) -> None:
        if job is self._job:
            self.answer = self._newest
            self._tell(whole=False)

    def _ended(self, job: Job, outcome: Outcome) -> None:
        if job is not self._job:
            return
        self._job = None
        self._rest()
        if self.answer is not None:
            self._tell(whole=True)
        elif outcome.problem:
            widgets.message(self.words, outcome.problem, "warning")
        else:
            widgets.message(self.words, self.answers)

    def _tell(self, whole: bool) -> None:
        self.words.object = self.text(self.answer, whole)
        self.marks.widget.visible = bool(self.marks.widget.options)
        self.show(self.answer)

    def _rest(self) -> None:
        self._start.visible, self._stop.visible = True, False


def laid_out(title: str, asks: str, controls: Any, words: Any) -> pn.Column:
    """Lay out a question: its title and what it asks, then, beside them, its buttons and the answer."""
    text = f'<h3>{widgets.escape(title)}</h3><p class="quiet small">{widgets.escape(asks)}</p>'
    head = widgets.html(text, margin=(4, 8), styles={"grid-row": "span 2"})
    for each in (controls, words):
        each.styles = {**each.styles, "grid-column": "var(--across)", "min-width": "0"}
    return pn.Column(head, controls, words, stylesheets=[widgets.sheet(QUESTION_CSS)], margin=0, **widgets.WIDE)


def effect_word(effect: float) -> str:
    """Name the size of an effect; empty where there is none."""
    return next((word for word, least in EFFECTS.items() if abs(effect) >= least), "")


def effect_lines(explanation: SelectionExplanation) -> list[tuple[str, ...]]:
    """Write the columns in which two groups differ: name, effect size, both means."""
    columns = zip(explanation.names, explanation.effects, explanation.means, explanation.rest_means)
    return [
        (
            widgets.escape(name),
            f"{readable(f'{effect:+.2f}')} {effect_word(effect)}".strip(),
            *alike(mean, other),
        )
        for name, effect, mean, other in columns
    ]


def paragraph(text: str, kind: str = "") -> str:
    """Write a sentence as HTML; `kind`: empty, or one of "quiet", "warning"."""
    return f'<p class="{kind}">{widgets.escape(text)}</p>'


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Write a small table; cells are HTML."""
    head = "".join(f"<th>{widgets.escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{each}</td>" for each in line) + "</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
