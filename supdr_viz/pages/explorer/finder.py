"""Rows that a visitor looks for, by a query or by a press on the legend: they are selected, and gone through."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.row_query import QueryProblem, Rows, matching, number_in
from supdr_viz.pictures.row_columns import Column
from supdr_viz.run.row_values import TRUST, RowValues
from supdr_viz.run.session import Session
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.ui.bar import Pickable, Search
from supdr_viz.views.board import Board
from supdr_viz.views.colours import PICK_ERRORS, PICK_MISPLACED


class Finder:
    """Selects rows of a page and goes from one to the next.

    `run`: as of `Latest`; `announce`: ``announce(sentence)`` to those who do not see the page.

    legend, search: to be put into a bar.
    hits: rows of the scene that are gone through.
    """

    def __init__(self, session: Session, board: Board, run: Run, announce: Callable[[str], Any]) -> None:
        self._session, self._board, self._announce = session, board, announce
        self.legend = Pickable(self.pick)
        self.search = Search(self.look_for, self.step, label="Find rows")
        self.hits: list[int] = []
        self._place, self._chooses = 0, False
        self._latest = Latest(run)
        board.points.selection.on_change(self._selected)

    def show_legend(self, html: str) -> None:
        """Show what colours mean by now."""
        if html != self.legend.html:
            self.legend.param.update(html=html, pressed=[])

    # --- the legend ---------------------------------------------------------------------------------------------------

    def pick(self, number: int) -> None:
        """Select the rows of a category of the legend beside those of others that are pressed, or no longer."""
        pressed = {*self.legend.pressed} ^ {number}
        points = self._board.points
        values = points.values
        if values is None:
            return
        chosen = np.isin(values, list(pressed))
        for special, rows in ((PICK_ERRORS, points.errors), (PICK_MISPLACED, points.misplaced)):
            if special in pressed and rows is not None:
                chosen |= rows
        self.select(np.flatnonzero(chosen))
        self.legend.pressed = sorted(pressed)

    # --- the search ---------------------------------------------------------------------------------------------------

    def look_for(self, text: str) -> None:
        """Select the rows that a query means, and go to the first; an empty one selects none."""
        self._latest.drop()
        self._forget()
        values = RowValues.of(self._session, self._board.points.surface, self._board.points.truth)
        if not text.strip() or values is None:
            self._select([])
            return
        self._latest.ask(lambda: _hits(text, values), self._found)

    def _found(self, outcome: Outcome) -> None:
        if outcome.value is None or isinstance(outcome.value, str):
            self.search.param.update(note=outcome.value or outcome.problem, wrong=True)
            self._announce(self.search.note)
            return
        self._select(outcome.value.tolist())
        self.hits, self._place = list(self._board.points.selection.indices), 0
        if not self.hits:
            self.search.note = "no rows"
            self._announce(self.search.note)
            return
        self.search.steps = len(self.hits) > 1
        self._show_hit()

    def step(self, by: int) -> None:
        """Go to the next hit, or to the one before."""
        if self.hits:
            self._place = (self._place + by) % len(self.hits)
            self._show_hit()

    def _show_hit(self) -> None:
        row, points, scene = self.hits[self._place], self._board.points, self._session.scene
        points.show_current(row)
        self.search.note = f"{self._place + 1:,} of {len(self.hits):,}{self._drawn_words}"
        if scene is not None:
            drawn = "" if scene.drawn is None or row in scene.drawn else ", which is not drawn"
            self._announce(f"Row {int(scene.row[row])}{drawn}, {self.search.note}")

    @property
    def _drawn_words(self) -> str:
        """How many of the hits are drawn, where only a sample of all rows is."""
        scene = self._session.scene
        if scene is None or scene.drawn is None:
            return ""
        return f" ({int(np.isin(self.hits, scene.drawn).sum()):,} drawn)"

    def select(self, rows: NDArray) -> None:
        """Select rows of the scene, drawn or not, and forget what was looked for."""
        self._forget()
        self._select(rows.tolist())

    # --- the selection ------------------------------------------------------------------------------------------------

    def _select(self, rows: list[int]) -> None:
        self._chooses = True
        try:
            self._board.points.selection.indices = rows
        finally:
            self._chooses = False

    def _selected(self) -> None:
        if not self._chooses:
            self._forget()

    def _forget(self) -> None:
        """Forget what was looked for: other rows are selected."""
        self.hits, self._place = [], 0
        self.legend.pressed = []
        self.search.param.update(note="", steps=False, wrong=False)
        self._board.points.show_current(-1)


def _hits(text: str, values: RowValues) -> NDArray | str:
    """Return the rows that a query means, or the sentence that says why it is none."""
    rows = Rows(values.n_rows, values.query_names, partial(_asked, values), lambda each: look_up(each, values))
    try:
        return np.flatnonzero(matching(text, rows))
    except QueryProblem as problem:
        return str(problem)


def _asked(values: RowValues, name: str) -> Column:
    """Return the column that a query asks for.

    Raises QueryProblem if it is still to be measured.
    """
    if name == TRUST and name not in values.names:
        raise QueryProblem("Trust is not measured yet: choose it as the colour first.")
    return values.column(name)


def look_up(text: str, values: RowValues) -> NDArray:
    """Return the rows (n,) that a value by itself means: a row's number, a class, or a text that some column holds."""
    key, number = text.casefold().removeprefix("row ").removeprefix("#"), number_in(text.removeprefix("row "))
    texts = [column for column in map(values.column, values.text_names) if column.categories]
    exact = [_named(column, lambda each: each.casefold() == key) for column in texts]
    if number is not None:
        ids = [column for column in map(values.column, values.id_names) if not column.categories]
        exact += [column.values == number for column in ids]
    if any(mask.any() for mask in exact):
        return np.any(exact, axis=0)
    if number is not None:
        return np.zeros(values.n_rows, dtype=bool)
    hits = [_named(column, lambda each: key in each.casefold()) for column in texts]
    return np.any(hits, axis=0) if hits else np.zeros(values.n_rows, dtype=bool)


def _named(column: Column, fits: Callable[[str], bool]) -> NDArray:
    """Return the rows (n,) whose category fits."""
    chosen = np.array([*map(fits, column.categories), False], dtype=bool)
    return chosen[np.where(np.isnan(column.values), len(column.categories), column.values).astype(int)]
