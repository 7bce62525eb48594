"""What a lesson is."""

from __future__ import annotations

from dataclasses import dataclass

from supdr_viz.experiment.methods import METHOD_FORMS
from supdr_viz.experiment.settings import Settings
from supdr_viz.lessons.claims import Claim

# What a step can show beside its text: plots, and the questions on a map below them.
VIEWS = ("input", "latent", "method", "losses", "errors", "belief")

# When the run starts by itself: never, when the step is shown, when its question has been answered.
PLAYS = ("", "start", "answer")


@dataclass(frozen=True)
class Question:
    """A question that is answered before the step tells.

    `answer`: index of the right option. `reveal`: markdown; shown after the answer, whatever it was.
    """

    text: str
    options: tuple[str, ...]
    answer: int
    reveal: str


@dataclass(frozen=True)
class Step:
    """One prepared state with its text.

    text: markdown.
    settings: what the views show.
    fresh: the step prepares a state of its own; else it goes on with what the step before shows.
    run: iterations done before the step is shown.
    play (one of "", "start", "answer"): when the run starts by itself.
    until: iteration at which a run that started by itself pauses; 0: it goes to its end.
    look: what is shown beside the text, of `VIEWS`; nothing: all that the explorer shows.
    mode: mode of the method's view; empty: its first.
    pull: show how far the labels pulled the rows.
    then: what the answer changes.
    claimed, measured: what the paper says, and what was measured with this product.
    free: the end: all controls are offered.
    expect: what must be true at the end of the step, of what its text says.
    """

    title: str
    text: str
    settings: Settings
    fresh: bool = True
    run: int = 0
    play: str = ""
    until: int = 0
    look: tuple[str, ...] = ()
    mode: str = ""
    pull: bool = False
    question: Question | None = None
    then: Settings | None = None
    claimed: str = ""
    measured: str = ""
    free: bool = False
    expect: tuple[Claim, ...] = ()

    @property
    def is_run(self) -> bool:
        """Whether the step shows a method at work; else it is about the data alone."""
        return bool(self.run or self.play or self.question or self.free or not self.fresh)

    @property
    def is_plain(self) -> bool:
        """Whether the step is about where rows lie, not about how a method works."""
        return self.look == ("input",)

    @property
    def goes_on(self) -> bool:
        """Whether there is something to run: not of the data alone, nor of a method that is fitted at once."""
        limited = any(spec.name == "max_iter" for spec in METHOD_FORMS[self.settings.method])
        return self.free or (self.is_run and limited)


@dataclass(frozen=True)
class Lesson:
    """A sequence of steps.

    `name`: name in links; `minutes`: how long it takes.
    """

    name: str
    title: str
    summary: str
    minutes: int
    steps: tuple[Step, ...]
