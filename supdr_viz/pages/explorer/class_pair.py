"""What separates two classes: columns in which they differ, and a rule, everywhere or among the selected rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.quality import SelectionExplanation, explain_pair
from supdr_viz.data.number_format import per_cent
from supdr_viz.pages.explorer.question import (
    ANSWER_CSS,
    EFFECT_SIZE,
    ON_DISK,
    effect_lines,
    effect_word,
    laid_out,
    paragraph,
    table,
)
from supdr_viz.pages.explorer.small_pictures import cells, histograms, side_by_side
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.ui.binding import BoundChoice
from supdr_viz.ui.markup import typeset
from supdr_viz.views.board import Board

TITLE = "What separates two classes?"
ASKS = (
    "Choose two classes to see the columns in which they differ most, and a rule that separates them. If rows of both "
    "classes are selected, only these are compared."
)
NO_CLASSES = "The data have no two classes to compare."

# Columns whose values are drawn.
DRAWN = 3

# A rule separates little that holds for at most this much more of one class than of the other.
WEAK = 0.6


class ClassPair:
    """Compares two classes that a visitor chooses.

    `run`: as of `Latest`; `view`: where it says what separates them; nothing is computed before `open`.
    """

    def __init__(self, session: Session, board: Board, run: Run) -> None:
        self._session, self._board = session, board
        self._open = False
        self._offered: list[str] = []
        self._latest = Latest(run)
        self._first, self._second = (
            BoundChoice(widgets.small_menu(label, [], ""), {}, lambda _code: self._ask())
            for label in ("First class", "Second class")
        )
        menus = widgets.flow(
            self._first.widget, widgets.html("against", margin=(8, 2), sizing_mode=None), self._second.widget
        )
        self.words = widgets.html(css=ANSWER_CSS, margin=(4, 8))
        self.view = laid_out(TITLE, ASKS, menus, self.words)
        board.points.selection.on_change(self._ask)

    def open(self, shown: bool) -> None:
        """Compare from now on, or no longer."""
        self._open = shown
        self.refresh()

    def refresh(self) -> None:
        """Offer the classes of the rows in force, and compare the two that are chosen."""
        scene = self._session.scene
        names: list[str] = []
        if scene is not None and scene.task == "classification":
            names = [str(name) for name in scene.class_names]
        if names != self._offered:
            self._offered = names
            choices = {name: code for code, name in enumerate(names)}
            for code, menu in enumerate((self._first, self._second)):
                if code < len(names):
                    menu.offer(choices, code)
        for menu in (self._first, self._second):
            menu.widget.disabled = len(names) < 2
        self._ask()

    def _ask(self) -> None:
        """Compare the two classes."""
        split = self._session.split
        if not self._open or split is None:
            return
        if split.whole is not None or len(self._offered) < 2:
            self._latest.drop()
            widgets.message(self.words, NO_CLASSES if split.whole is None else ON_DISK, "warning")
            return
        first, second = self._first.value, self._second.value
        labels, names = split.all_truth, self._session.column_names
        rows = self._region(labels, first, second)

        def work() -> tuple[SelectionExplanation, NDArray, NDArray]:
            """Return what separates the classes, and the rows of each that were compared."""
            X = split.all_rows
            explanation = explain_pair(X, labels, first, second, rows=rows, names=names)
            here = np.arange(len(X)) if rows is None else rows
            own, other = (X[here[labels[here] == code]][:, explanation.columns] for code in (first, second))
            return explanation, own, other

        self._latest.ask(work, lambda outcome: self._answered(first, second, rows is None, outcome))

    def _region(self, labels: NDArray, first: int, second: int) -> NDArray | None:
        """Return the numbers of the selected rows if they hold both classes; None: all rows."""
        chosen = np.array(self._board.points.selection.indices, dtype=int)
        both = {first, second} <= set(labels[chosen])
        return chosen if both else None

    def _answered(self, first: int, second: int, everywhere: bool, outcome: Outcome) -> None:
        if outcome.problem:
            widgets.message(self.words, outcome.problem, "warning")
            return
        explanation, own, other = outcome.value
        names = self._offered[first], self._offered[second]
        bounds = {each.name: (each.low, each.high) for each in explanation.rule}
        # Columns of the rule come first: its bounds are drawn into them.
        order = sorted(range(len(explanation.names)), key=lambda k: explanation.names[k] not in bounds)[:DRAWN]
        drawn = [
            histograms(
                f"Across: {name}. Up: share of each class.",
                {names[0]: (own[:, k], f"class {first}"), names[1]: (other[:, k], f"class {second}")},
                bounds.get(name, ()),
                "threshold of the rule",
            )
            for k, name in ((k, explanation.names[k]) for k in order)
            if np.isfinite(explanation.effects[k])
        ]
        self.words.object = pair_text(
            explanation, *names, everywhere=everywhere, pictures=self._image(explanation) or drawn
        )

    def _image(self, explanation: SelectionExplanation) -> list[str]:
        """Draw the effect sizes as an image where rows are pictures."""
        images = self._session.scene.images if self._session.scene is not None else None
        if images is None or images[0].size != len(explanation.all_effects):
            return []
        shown = np.nan_to_num(explanation.all_effects).reshape(images.shape[1:])
        return [cells("Blue: larger values in the first class; red: in the second", shown)]


def pair_text(
    explanation: SelectionExplanation, first: str, second: str, *, everywhere: bool, pictures: list[str]
) -> str:
    """Write what separates two classes.

    `everywhere`: whether all rows were compared, not only selected ones; `pictures`: HTML.
    """
    where = "All rows" if everywhere else "Among the selected rows"
    text = f"{where}: {explanation.n_selected:,} rows of {first}, {explanation.n_rest:,} of {second}. "
    if word := effect_word(explanation.effects[0]):
        text += (
            f"They differ most in {explanation.names[0]}: the effect is {word} ({abs(explanation.effects[0]):.2f}). "
        )
    if explanation.rule:
        rule = typeset(" and ".join(map(str, explanation.rule)))
        here, there = map(per_cent, (explanation.holds, explanation.rest_holds))
        text += f"The rule {rule} holds for {here} of {first} and {there} of {second}"
        weak = explanation.holds - explanation.rest_holds < WEAK
        text += ": no simple rule separates them well." if weak else "."
    else:
        text += "No rule with intervals of a few columns separates them."
    heads = ("column", "effect size", f"mean of {first}", f"mean of {second}")
    return (
        paragraph(text)
        + side_by_side(*pictures)
        + table(heads, effect_lines(explanation))
        + paragraph(EFFECT_SIZE, "quiet small")
    )
