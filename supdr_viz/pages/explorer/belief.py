"""How reliable the map is: the questions about it in one place, built when it is opened for the first time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from supdr_viz.pages.explorer.again import Again
from supdr_viz.pages.explorer.chance import Chance
from supdr_viz.pages.explorer.class_pair import ClassPair
from supdr_viz.pages.explorer.preservation import Preservation
from supdr_viz.pages.explorer.reasons import Reasons
from supdr_viz.pictures.types import Frame
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase, Status
from supdr_viz.ui.background import Background
from supdr_viz.ui.lazy import Fold
from supdr_viz.views.board import Board

TITLE = "How reliable is this map?"


class Questions(NamedTuple):
    """What can be asked."""

    chance: Chance
    again: Again
    reasons: Reasons
    preservation: Preservation
    class_pair: ClassPair


class Belief:
    """The questions of a page on its map.

    `on_view`: called when a view shows something else; `on_colours`: see `Again`; `below`: the fold that they stand
    under. `questions`: None before they are shown.
    """

    def __init__(
        self,
        session: Session,
        board: Board,
        pool: Pool,
        background: Background,
        on_view: Callable[[], Any],
        on_colours: Callable[[str | None], Any],
        *,
        below: Fold | None = None,
    ) -> None:
        self._session, self._board, self._pool = session, board, pool
        self._background = background
        self._on_view, self._on_colours = on_view, on_colours
        self._subject: Any = None
        self.questions: Questions | None = None
        self.fold = Fold(TITLE, self._build, self._turned, below=below)

    def refresh(self) -> None:
        """Forget the answers if they are of other rows or of another method than those in force."""
        settings, split = self._session.settings, self._session.split
        subject = None if settings is None else (settings.method, dict(settings.method_options), id(split))
        changed, self._subject = subject != self._subject, subject
        if self.questions is None or not changed:
            return
        for question in (self.questions.chance, self.questions.again, self.questions.preservation):
            question.forget()
        self.questions.reasons.forget()
        self.questions.class_pair.refresh()

    def settle(self) -> None:
        """Show as switched on what is on display."""
        if self.questions is not None:
            self.questions.again.settle()

    def show_frame(self, frame: Frame, status: Status) -> None:
        """Lay what is drawn for an answer on another map, once it stands still."""
        if self.questions is not None and status.phase is not Phase.running:
            self.questions.again.show_frame(frame)

    def _build(self) -> list[Any]:
        session, board, pool, background = self._session, self._board, self._pool, self._background
        self.questions = Questions(
            Chance(session, board, pool, background, self._on_view),
            Again(session, board, pool, background, self._on_colours),
            Reasons(session, board, background.run),
            Preservation(session, board, pool, background),
            ClassPair(session, board, background.run),
        )
        return [question.view for question in self.questions]

    def _turned(self, shown: bool) -> None:
        if self.questions is not None:
            self.questions.reasons.open(shown)
            self.questions.class_pair.open(shown)
