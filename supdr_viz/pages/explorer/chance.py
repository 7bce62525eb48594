"""Could this be chance: left-out errors by shuffled labels, as a band in the error chart, and the map of such a fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from supdr.quality.permutations import SIGNIFICANT, LabelPermutation, iterate_label_permutation
from supdr_viz.pages.explorer.question import Interrupted, Question, paragraph
from supdr_viz.pages.explorer.small_pictures import histograms, side_by_side, small_map
from supdr_viz.pictures.surface import LatentPlane, latent_axes
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.ui.background import Background
from supdr_viz.views.board import Board

# That a fit to shuffled labels does not converge says nothing of the data.
warnings.filterwarnings("ignore", category=ConvergenceWarning, module=r"supdr\.quality\.permutations")

CHOICES = {"19 times": 19, "99 times": 99, "199 times": 199}
TWIN = "Map of shuffled labels"
LEFT_OUT = "each training row is predicted by a fit that did not use its label"
FOLDS = "the training rows are split into five parts, and each part is predicted by a fit to the other four"
SEEN = (
    "The train error in the chart counts rows whose labels the fit has used; it can be small for shuffled labels, too."
)


class Chance(Question):
    """Fits to shuffled labels.

    `on_view`: called when a view shows something else.
    """

    title = "Could this result be due to chance?"
    asks = (
        "The method is fitted to the same rows after their labels have been shuffled. If shuffled labels give errors "
        "as small as the true labels do, chance explains the result."
    )
    answers = "The answer: the error of this method beside its errors with shuffled labels."
    label = "Shuffle the labels"

    def __init__(
        self, session: Session, board: Board, pool: Pool, background: Background, on_view: Callable[[], Any]
    ) -> None:
        super().__init__(session, pool, background, CHOICES, [TWIN])
        self._board, self._on_view = board, on_view

    def pieces(self, choice: Any) -> Callable[[Interrupted], Iterator[LabelPermutation]]:
        """See `Question.pieces`."""
        assert self.session.split is not None
        X, y = self.session.split.X_train, self.session.split.y_train
        iterate = partial(iterate_label_permutation, self.estimator, X, y, n_permutations=choice)
        return lambda interrupted: iterate(interrupted=interrupted)

    def text(self, answer: LabelPermutation, whole: bool) -> str:
        """See `Question.text`."""
        assert self.session.scene is not None
        percent = self.session.scene.task == "classification"
        text = paragraph(sentence(answer, percent))
        if whole and len(answer.permuted_errors):
            text += paragraph(verdict(answer), "warning" if answer.pvalue > SIGNIFICANT else "")
        if answer.deceptive:
            text += paragraph(
                "The map separates the classes of the training rows, but left-out rows are predicted no better than by "
                "chance: do not trust its groups.",
                "warning",
            )
        how = LEFT_OUT if answer.left_out else FOLDS
        text += paragraph(f"Left-out error: {how}. {SEEN}", "quiet small")
        if len(answer.permuted_errors):
            text = f'<div class="beside"><div>{text}</div>{distribution(answer, percent)}</div>'
        return text + (self._twin(answer) if TWIN in self.marks.value else "")

    def show(self, answer: LabelPermutation | None) -> None:
        """Draw the band."""
        self._board.errors.show_band(self._band(answer))
        self._on_view()

    def show_marks(self, on: list[str]) -> None:
        """Draw the twin beside the map, or not."""
        if self.answer is not None:
            self.words.object = self.text(self.answer, not self.working)

    def _band(self, answer: LabelPermutation | None) -> tuple[float, float] | None:
        """Return the range of the errors by shuffled labels in the unit of the error chart."""
        split, scene = self.session.split, self.session.scene
        if answer is None or not len(answer.permuted_errors) or split is None or scene is None:
            return None
        unit = 100.0 if scene.task == "classification" else float(np.nanvar(split.y_train))
        low, high = answer.band()
        return unit * low, unit * high

    def _twin(self, answer: LabelPermutation) -> str:
        frame, split = self._board.points.frame, self.session.split
        if answer.twin_map is None or answer.twin_labels is None or frame is None or split is None:
            return ""
        own = frame.latent[: len(split.X_train)]
        twin = LatentPlane(*latent_axes(answer.twin_map)).place(answer.twin_map)
        return side_by_side(
            small_map("Training rows, their labels", own, self._roles(split.y_train)),
            small_map("The same rows, shuffled labels", twin, self._roles(answer.twin_labels)),
        )

    def _roles(self, labels: NDArray) -> list[str]:
        """Return the roles of labels (n,): classes, or shades of values."""
        scene = self.session.scene
        assert scene is not None
        if scene.task == "classification":
            return ["muted" if np.isnan(label) else f"class {int(label)}" for label in labels]
        low, high = scene.colour_range
        shades = np.clip(10 * np.rint(10 * (labels - low) / ((high - low) or 1.0)), 0, 100)
        return ["muted" if np.isnan(shade) else f"shade {int(shade)}" for shade in shades]


def sentence(answer: LabelPermutation, percent: bool) -> str:
    """Say both errors; `percent`: whether they are shares of rows, else they are shares of the variance."""
    unit, digits, after = (100.0, ".1f", "\u00a0%") if percent else (1.0, ".3g", " of the variance")
    error = f"The left-out error is {unit * answer.error:{digits}}{after} with the true labels"
    count = len(answer.permuted_errors)
    if not count:
        return f"{error}. The labels are being shuffled."
    low, high = (f"{unit * each:{digits}}" for each in answer.band())
    some = "" if count == answer.n_permutations else f" ({count} of {answer.n_permutations} shuffles so far)"
    return f"{error} and {low}–{high}{after} with shuffled labels{some}."


def distribution(answer: LabelPermutation, percent: bool) -> str:
    """Draw the errors by shuffled labels, with a line at the error with the true labels."""
    unit, what = (100.0, "in %") if percent else (1.0, "as a share of the variance")
    shuffled = {"shuffled labels": (unit * answer.permuted_errors, "muted")}
    return histograms(
        f"Across: left-out error {what}. Up: share of shuffles.", shuffled, [unit * answer.error], "true labels"
    )


def verdict(answer: LabelPermutation) -> str:
    """Say how many shuffles do as well as the true labels, how likely that is by chance, and what follows."""
    as_good, count = int(np.sum(answer.permuted_scores >= answer.score)), len(answer.permuted_errors)
    few = f"{as_good:,}" if as_good else "None"
    meaning = "Chance is an unlikely explanation" if as_good or answer.pvalue <= SIGNIFICANT else "Shuffle more often"
    if as_good and answer.pvalue > SIGNIFICANT:
        meaning = "Chance can explain this result"
    return (
        f"{few} of the {count:,} shuffles did as well as the true labels. {meaning}: if the rows said nothing about "
        f"their labels, a result like this would occur in at most {as_good + 1:,} of {count + 1:,} cases "
        f"(p\u00a0=\u00a0{answer.pvalue:.2g})."
    )
