"""How many of all rows lie in a lasso, where only a sample of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from supdr_viz.run.session import Session
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.views.board import Board


class LassoCount:
    """Counts the rows in the lasso that was drawn last, beside the page's thread.

    `run`: as of `Latest`; `on_counted`: ``on_counted(words)``, empty as long as it is not known.
    """

    def __init__(self, session: Session, board: Board, run: Run, on_counted: Callable[[str], Any]) -> None:
        self._session, self._board, self._on_counted = session, board, on_counted
        self._latest = Latest(run)
        board.points.on_loop(self._count)

    def _count(self, view: str, corners: NDArray | None) -> None:
        self._latest.drop()
        self._on_counted("")
        scene = self._session.scene
        if corners is None or scene is None or scene.drawn is None:
            return
        view = "input" if view == "latent" and self._board.morphed else view
        sample = len(self._board.points.selection.indices)
        player = self._session.player
        self._latest.ask(
            lambda: player.count_within(view, corners),
            lambda outcome: self._counted(outcome, sample),
        )

    def _counted(self, outcome: Outcome, sample: int) -> None:
        if outcome.value is not None:
            self._on_counted(f"{sample:,} of the sample, {int(outcome.value):,} of all rows.")
