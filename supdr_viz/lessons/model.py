"""What a lesson is."""

from __future__ import annotations

from dataclasses import dataclass

from supdr_viz.lessons.claims import Claim
from supdr_viz.settings.state import Settings

VIEWS = ("input", "latent", "method", "losses", "errors")
"""Plots that a step can point at."""

PLAYS = ("", "start", "answer")
"""When the run starts by itself: never, when the step is shown, when its question has been answered."""


@dataclass(frozen=True)
class Question:
    """A question that is answered before the step tells.

    Attributes
    ----------
    text : str
    options : tuple of str
    answer : int
        Index of the right option.
    reveal : str
        Markdown; shown after the answer, whatever it was.
    """

    text: str
    options: tuple[str, ...]
    answer: int
    reveal: str


@dataclass(frozen=True)
class Step:
    """One prepared state with its text.

    Attributes
    ----------
    title : str
    text : str
        Markdown.
    settings : Settings
        What the views show.
    fresh : bool
        The step prepares a state of its own; else it goes on with what the step before shows.
    run : int
        Iterations done before the step is shown.
    play : {"", "start", "answer"}
        When the run starts by itself.
    until : int
        Iteration at which a run that started by itself pauses; 0: it goes to its end.
    look : tuple of str
        Plots to look at, of `VIEWS`.
    mode : str
        Mode of the method's view; empty: its first.
    pull : bool
        Show how far the labels pulled the rows.
    question : Question or None
    then : Settings or None
        What the answer changes.
    claimed, measured : str
        What the paper says, and what was measured with this product.
    free : bool
        The end: all controls are offered.
    expect : tuple of Claim
        What must be true at the end of the step, of what its text says.
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


@dataclass(frozen=True)
class Lesson:
    """A sequence of steps.

    Attributes
    ----------
    name : str
        Name in links.
    title, summary : str
    minutes : int
        How long it takes.
    steps : tuple of Step
    """

    name: str
    title: str
    summary: str
    minutes: int
    steps: tuple[Step, ...]
