"""What a soak has shown, and whether its budgets were kept: for a terminal, and as a page of the documentation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from supdr_viz.ui.markup import escape

MOST_LAG = 1.0
"""Seconds in which 95 of 100 actions are taken, with everybody training."""

MOST_LEFT = 1.0
"""Megabytes by which the server grows for each page that is opened, at most, once it has seen most of what there is."""

KEPT = 0
"""Documents and runs that may be left."""

SHOWN = 20
"""Errors that the page of the documentation shows."""

MOST_WORDS = 600
"""Characters of one of them."""


@dataclass
class Soak:
    """What was measured.

    Parameters
    ----------
    minutes : float
    visitors : int
    seed : int
    done : Counter
        What visitors did, how often; ``visit``: pages that they opened, ``cut``: those of them that they left while
        they were opening.
    frames : int
        That they got.
    waits : list of float
        Seconds until the server had taken an action.
    answers : list of float
        Seconds until it said how it is, asked every few seconds.
    memory : list of float
        Megabytes, at the same moments.
    growth : float
        Megabytes for each page that was opened in the second half.
    left : dict of str to int
        What the server holds once all have gone.
    held_by : list of str
        What refers to that.
    browser : tuple of int or None
        Actions and pages in a real browser.
    errors : dict of str to list of str
        Where it was said -> what: in the server's log, by visitors, in the browser's console.
    """

    minutes: float
    visitors: int
    seed: int
    done: Counter[str]
    frames: int
    waits: list[float]
    answers: list[float]
    memory: list[float]
    growth: float
    left: dict[str, int]
    held_by: list[str] = field(default_factory=list)
    browser: tuple[int, int] | None = None
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def lag(self) -> float:
        """Seconds in which 95 of 100 actions were taken."""
        return float(np.quantile(self.waits, 0.95)) if self.waits else 0.0

    @property
    def budgets(self) -> list[tuple[str, str, str, bool]]:
        """What was allowed: (what, measured, budget, whether it was kept)."""
        errors = sum(map(len, self.errors.values()))
        left = ", ".join(f"{count} {name}" for name, count in self.left.items())
        return [
            ("errors in the log, of visitors, in the console", f"{errors}", "0", not errors),
            ("95 % of the actions are taken within", f"{self.lag:.2f} s", f"{MOST_LAG:g} s", self.lag <= MOST_LAG),
            (
                "the server grows, for each page of the second half, by",
                f"{self.growth:.2f} MB",
                f"{MOST_LEFT:g} MB",
                self.growth <= MOST_LEFT,
            ),
            ("left once all have gone", left, f"{KEPT} of each", max(self.left.values(), default=0) <= KEPT),
        ]

    @property
    def findings(self) -> int:
        """Number of errors, and of budgets that were not kept."""
        return sum(map(len, self.errors.values())) + sum(not kept for *_, kept in self.budgets[1:])

    @property
    def figures(self) -> list[tuple[str, str]]:
        """What was seen: (what, figure)."""
        actions = {name: count for name, count in sorted(self.done.items()) if name not in ("visit", "cut")}
        shares = "; ".join(f"{100 * share:g} % {np.quantile(self.waits, share):.3f} s" for share in (0.5, 0.95, 0.99))
        rows = [
            ("pages opened", f"{self.done['visit']:,}; {self.done['cut']:,} of them were killed while they opened"),
            ("actions", f"{len(self.waits):,} ({', '.join(f'{count:,} {name}' for name, count in actions.items())})"),
            ("frames that came and were acknowledged", f"{self.frames:,}"),
            ("an action is taken within", f"{shares}; the slowest {max(self.waits):.1f} s"),
            ("`/health` answers within", f"95 % {np.quantile(self.answers, 0.95):.2f} s"),
            (
                "memory of the server",
                f"{self.memory[0]:,.0f} MB at first, {max(self.memory):,.0f} MB at most, {self.memory[-1]:,.0f} MB at "
                "the end",
            ),
        ]
        if self.browser is not None:
            done, pages = self.browser
            rows.append(("in a real browser meanwhile", f"{done:,} actions on {pages} pages"))
        return rows


def lines(soak: Soak) -> list[str]:
    """Return what is printed."""
    return [
        *(f"{what}: {figure}" for what, figure in soak.figures),
        *(f"{what} {figure} (budget {budget}: {_verdict(kept)})" for what, figure, budget, kept in soak.budgets),
        *(f"left: {each}" for each in soak.held_by),
        *(f"{where}: {each}" for where, said in soak.errors.items() for each in said),
        f"{soak.minutes:g} minutes, {soak.visitors} visitors: {soak.findings} findings",
    ]


def page(soak: Soak, machine: str) -> str:
    """Return the page of the documentation.

    Parameters
    ----------
    soak : Soak
    machine : str
        In words.

    Returns
    -------
    str
        In Markdown.
    """
    options = f"--minutes {soak.minutes:g} --visitors {soak.visitors} --seed {soak.seed}"
    said = [(where, each) for where, all_ in soak.errors.items() for each in all_]
    shown = [f"- {where}: `{_code(each)}`" for where, each in said[:SHOWN]]
    held = [f"- `{_code(each)}`" for each in soak.held_by]
    more = [f"- and {len(said) - SHOWN} more"] if len(said) > SHOWN else []
    return "\n".join(
        [
            "# A class that does everything at random",
            "",
            f'`make soak ARGS="{options} --write docs/results/soak.md"`',
            "",
            f"Machine: {machine}. Visitors, browser and server share it.",
            "",
            f"{soak.visitors} visitors open pages of all kinds for {soak.minutes:g} minutes, press keys and buttons, "
            "move sliders, choose, select and leave again, some without a word.",
            "A hand in a real browser clicks, drags and types at random meanwhile, and what its console says is an "
            "error is counted.",
            "",
            "| budget | measured | allowed | |",
            "|---|---|---|---|",
            *(f"| {what} | {figure} | {budget} | {_verdict(kept)} |" for what, figure, budget, kept in soak.budgets),
            "",
            "| what | figure |",
            "|---|---|",
            *(f"| {what} | {figure} |" for what, figure in soak.figures),
            "",
            *([*("## What is left, and what refers to it", ""), *held, ""] if held else []),
            *([*("## What was said to be wrong", ""), *shown, *more, ""] if said else []),
        ]
    )


def _code(text: str) -> str:
    return escape(" ".join(text.split())[:MOST_WORDS]).replace("`", "'")


def _verdict(kept: bool) -> str:
    return "kept" if kept else "**not kept**"
