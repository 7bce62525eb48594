"""How many of all rows lie in a lasso, where only a sample of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from supdr_viz.run.session import Session
from supdr_viz.ui.background import Outcome, in_background
from supdr_viz.views import Board


class LassoCount:
    """Counts the rows in the lasso that was drawn last, beside the page's thread.

    `on_counted`: ``on_counted(words)``, empty as long as it is not known.
    """

    def __init__(self, session: Session, board: Board, on_counted: Callable[[str], Any]) -> None:
        self._session, self._board, self._on_counted = session, board, on_counted
        self._number = 0
        board.points.on_loop(self._count)

    def _count(self, view: str, corners: NDArray | None) -> None:
        self._number += 1
        number, scene = self._number, self._session.scene
        self._on_counted("")
        if corners is None or scene is None or scene.drawn is None:
            return
        view = "input" if view == "latent" and self._board.morphed else view
        sample = len(self._board.points.selection.indices)
        player = self._session.player
        in_background(
            lambda: player.count_within(view, corners),
            lambda outcome: self._counted(outcome, number, sample),
        )

    def _counted(self, outcome: Outcome, number: int, sample: int) -> None:
        if number == self._number and outcome.value is not None:
            self._on_counted(f"{sample:,} of the sample, {int(outcome.value):,} of all rows.")
