"""Teaching a map: selected rows get another label, and the run carries on from where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from supdr_viz.controls.sidebar import Controls
from supdr_viz.controls.teaching import TeachingBar
from supdr_viz.data.split import Label
from supdr_viz.experiment.build import Unusable
from supdr_viz.experiment.settings import UNLABELLED
from supdr_viz.experiment.teaching import MAX_NEW_CLASSES, new_names, taught_further, taught_split
from supdr_viz.pages.explorer.lasso_count import LassoCount
from supdr_viz.run.session import Session
from supdr_viz.run.uncertainty import least_certain_rows
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Run
from supdr_viz.views.board import Board

NUMBERS = "These rows have numbers, not classes: they cannot be taught here."
ON_DISK = "Rows on disk cannot be taught."
TESTS = "Test rows cannot be taught: they say how well it goes."


class Teaching:
    """What the user teaches the run of a page.

    `run`: as of `Latest`; `say`: ``say(sentence)`` to those who do not see the page.
    """

    def __init__(self, session: Session, controls: Controls, board: Board, run: Run, say: Callable[[str], Any]) -> None:
        self._session, self._controls, self._board, self._say = session, controls, board, say
        self._before: list[tuple[Label, ...]] = []
        self._now: tuple[Label, ...] = ()
        self._offered: set[int] = set()
        self.bar = TeachingBar(self.label, self.next_doubtful, self.undo, self.done)
        self._counted = ""
        self._waits = self._asked = False
        board.points.selection.on_change(self._selected)
        self._counting = LassoCount(session, board, run, self._say_counted)

    def wait(self, on: bool) -> None:
        """Offer labels only where they are asked for, or for all rows that are selected: the bar lies over the page."""
        self._waits, self._asked = on, False
        self.refresh()

    def offer(self) -> None:
        """Offer labels for the rows that are selected."""
        self._asked = True
        self.refresh()

    def refresh(self) -> None:
        """Say which rows are selected, and what can be done with them."""
        scene, selected = self._session.scene, self._board.points.selection.indices
        offers = bool(selected) and (self._asked or not self._waits)
        if scene is None or not (offers or self._counted):
            self.bar.hide()
            return
        taught = self._controls.settings.taught
        if taught != self._now:  # by a link, a file or other data: there is nothing of ours to undo
            self._now, self._before, self._offered = taught, [], set()
        train = self._rows()
        labels: list[str] = []
        if not selected:
            words = ""
        elif self._session.split is not None and self._session.split.whole is not None:
            words = ON_DISK
        elif scene.task == "regression":
            words = NUMBERS
        elif not train:
            words = TESTS
        else:
            tests = len(selected) - len(train)
            words = (
                f"Relabel {_count(len(train), 'training row')} as …"
                if len(train) > 1
                else f"Label {self._label_text(train[0]).lower()}"
            )
            words += f" ({_count(tests, 'test row')} stay as they are)" if tests else ""
            labels = self._labels()
        self.bar.show(f"{self._counted} {words}".strip(), labels, undo=bool(self._before))

    def _selected(self) -> None:
        self._counted, self._asked = "", False  # that was of other rows
        self.refresh()

    def _say_counted(self, words: str) -> None:
        if words != self._counted:
            self._counted = words
            self.refresh()
            if words:
                self._say(words)

    def label(self, number: int) -> None:
        """Give the selected training rows a label of those on offer, and go on.

        `number`: a class, then a new class, then none.
        """
        assert self._session.dataset is not None
        names, count = self._labels(), self._session.dataset.n_classes
        code = UNLABELLED if number == len(names) - 1 else number
        rows = self._rows()
        assert self._session.scene is not None
        try:
            further = taught_further(self._controls.settings.taught, self._session.scene.row[rows], code)
            assert self._session.split is not None
            taught_split(self._session.split, self._session.dataset, further)
        except Unusable as error:
            widgets.toast(str(error), "warning")
            return
        what = "unlabelled" if code == UNLABELLED else names[number] if number < count else f"a {names[number]}"
        self._before = [*self._before, self._controls.settings.taught]
        self._say(f"{_count(len(rows), 'row')} now {what}")
        self._become(further)

    def undo(self) -> None:
        """Take the last label back."""
        if self._before:
            *self._before, taught = self._before
            self._become(taught)

    def next_doubtful(self) -> None:
        """Select the training row that the classifier is least sure of, of those not asked for yet."""
        fitted, split, scene = self._session.player.fitted, self._session.split, self._session.scene
        if fitted is None or split is None or scene is None or scene.task == "regression":
            return
        places, likely = least_certain_rows(fitted, split, scene.drawn)
        fresh = np.array([place not in self._offered for place in places])
        if not fresh.any():
            self._offered, fresh = set(), np.ones(len(places), dtype=bool)
        place, (first, second) = int(places[fresh][0]), likely[fresh][0]
        self._offered.add(place)
        self._board.points.selection.indices = [place]
        self._asked = True
        names = scene.class_names
        self.bar.show(
            f"{self._label_text(place)}: {names[first]} or {names[second]}?", self._labels(), undo=bool(self._before)
        )

    def _become(self, taught: tuple[Label, ...]) -> None:
        self._now, self._offered = taught, set()
        self._controls.apply(replace(self._controls.settings, taught=taught))
        self._session.player.run()
        self.refresh()

    def _rows(self) -> list[int]:
        """Return the selected rows that train; a scene has them first."""
        assert self._session.scene is not None
        return [row for row in self._board.points.selection.indices if row < self._session.scene.n_train]

    def _labels(self) -> list[str]:
        dataset = self._session.dataset
        assert dataset is not None
        more = len([name for name in dataset.target_names if name.startswith("new class")])
        fresh = new_names(dataset, more + 1)[-1:] if more < MAX_NEW_CLASSES else []
        return [*map(str, dataset.target_names), *fresh, "no label"]

    def _label_text(self, place: int) -> str:
        assert self._session.scene is not None
        return f"Row {int(self._session.scene.row[place])}"

    def done(self) -> None:
        """Select no rows any more, and take the bar away."""
        self._say_counted("")
        self._board.points.selection.indices = []


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
