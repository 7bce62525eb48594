"""Why a row lies where it does: columns that move it on the map, and what sets selected rows apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.quality import (
    RowExplanation,
    SelectionExplanation,
    biplot_arrows,
    explain_row,
    explain_selection,
    map_derivative,
)
from supdr.quality.explanations import column_names
from supdr_viz.data.number_format import readable
from supdr_viz.pages.explorer.question import (
    ALIGNED,
    ANSWER_CSS,
    EFFECT_SIZE,
    ON_DISK,
    effect_lines,
    laid_out,
    paragraph,
    table,
)
from supdr_viz.pages.explorer.small_pictures import bar, cells, side_by_side
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.ui.bar import Bar, Switches
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.markup import typeset
from supdr_viz.views.board import Board
from supdr_viz.views.points import shorten

TITLE = "Why does a row lie where it does?"
ASKS = "Arrows show where a row would move if one of its columns increased. Selected rows are compared with all others."
ASK = "Point at a row in the latent space above, or select several rows."
BIPLOT, COUNT = "Arrows for all columns", "Most important columns"

# Rows at which the map's derivative is averaged, and columns that are listed.
AVERAGED, LISTED = 100, 8

# Most arrows of a linear map: those of the columns that move it most.
MOST_ARROWS = 8

# Arrows are drawn longer if the longest is shorter than this share of the map's width; by how much at most.
SHORT, LONGEST_SCALE = 0.04, 1000


class Reasons:
    """Explains the row under the pointer, the selected rows, or the whole of a linear map.

    `run`: as of `Latest`; `view`: where it says so; it begins with `open`.
    """

    def __init__(self, session: Session, board: Board, run: Run) -> None:
        self._session, self._board = session, board
        self._open = False
        self._latest = Latest(run)
        self._marks = Bound(Switches("Marks", [BIPLOT, COUNT]), self._of_all_chosen)
        self.words = widgets.html(css=ANSWER_CSS, margin=(4, 8))
        widgets.message(self.words, ASK)
        bar = Bar({"marks": self._marks.widget}, margin=(0, 8), styles=dict(ALIGNED))
        self.view = laid_out(TITLE, ASKS, bar, self.words)
        board.points.selection.on_change(self._selected)
        board.stage.on("hover", self._hovered)

    def open(self, on: bool) -> None:
        """Explain from now on, or no longer."""
        self._open = on
        self._board.stage.put(explains=on)
        if on:
            self._selected()
        else:
            self.forget()

    def forget(self) -> None:
        """Take away what is said and drawn: it was of another map."""
        self._latest.drop()
        self._marks.show([])
        self._board.latent.put(arrows=None)
        widgets.message(self.words, ASK)

    # --- what is asked ------------------------------------------------------------------------------------------------

    def _hovered(self, message: dict[str, Any]) -> None:
        number, points = message.get("row"), self._board.points
        is_row = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < points.n_rows
        if is_row and self._open and len(points.selection.indices) < 2 and not self._marks.value:
            self._explain_row(int(points.drawn[number]))

    def _selected(self) -> None:
        rows = self._board.points.selection.indices
        if not self._open or not rows:
            return
        self._marks.show([])
        if len(rows) == 1:
            self._explain_row(rows[0])
        else:
            self._explain_selection(rows)

    def _of_all_chosen(self, on: list[str]) -> None:
        """Explain the map as a whole; of two switches that are on the last one counts."""
        if not on or not self._at_hand():
            self.forget()
            return
        self._marks.show(on[-1:])
        self._board.latent.put(arrows=None)
        player, split = self._session.player, self._session.split
        assert split is not None
        if on[-1] == BIPLOT:
            self._latest.ask(lambda: biplot_arrows(player.fitted, split.X_train), self._biplot_told)
        else:
            self._latest.ask(lambda: column_weights(player.fitted, split.X_train), self._weights_told)

    def _explain_row(self, row: int) -> None:
        player, names, split = self._session.player, self._session.column_names, self._session.split
        if self._at_hand() and split is not None and player.newest is not None:
            n_train = len(split.X_train)
            values = split.X_train[row] if row < n_train else split.X_test[row - n_train]
            self._latest.ask(
                lambda: explain_row(player.fitted, values, names=names),
                lambda outcome: self._row_told(row, outcome),
            )

    def _explain_selection(self, chosen: list[int]) -> None:
        split, names = self._session.split, self._session.column_names
        self._board.latent.put(arrows=None)
        if self._at_hand() and split is not None:
            self._latest.ask(lambda: explain_selection(split.all_rows, chosen, names=names), self._selection_told)

    def _at_hand(self) -> bool:
        """Return whether there are rows in memory; say so if they are on disk."""
        split = self._session.split
        if split is None or split.whole is not None:
            widgets.message(self.words, ON_DISK if split is not None else "", "warning")
            return False
        return True

    # --- what is said -------------------------------------------------------------------------------------------------

    def _row_told(self, row: int, outcome: Outcome) -> None:
        plane, frame = self._session.player.latent_plane, self._board.points.frame
        if outcome.problem or plane is None or frame is None or len(plane.mean) != len(outcome.value.derivative):
            self._refuse(outcome)
            return
        explanation: RowExplanation = outcome.value
        if not explanation.derivative.any():
            self._board.latent.put(arrows=None)
            self.words.object = paragraph("Small changes of this training row do not move it. Point at a test row.")
            return
        moves = explanation.arrows @ plane.axes
        drawn_as = int(np.flatnonzero(self._board.points.drawn == row)[0])
        low, high = frame.latent_extent[:2]
        shares = np.linalg.norm(moves, axis=1) / (high - low)
        longer = arrow_scale(float(shares.max()))
        self._draw(longer * moves, list(explanation.names), row=drawn_as)
        assert self._session.scene is not None
        number = int(self._session.scene.row[row])
        text = f"Row {number}: how far it moves if a column increases by one standard deviation."
        drawn = "" if longer == 1 else f" Arrows are drawn {longer} times as long."
        self.words.object = paragraph(text + drawn) + row_table(explanation, shares) + self._image(explanation, plane)

    def _selection_told(self, outcome: Outcome) -> None:
        if outcome.problem:
            self._refuse(outcome)
        else:
            self.words.object = selection_text(outcome.value)

    def _biplot_told(self, outcome: Outcome) -> None:
        plane, frame = self._session.player.latent_plane, self._board.points.frame
        if outcome.problem or plane is None or frame is None or len(plane.mean) != outcome.value.shape[1]:
            self._refuse(outcome)
            return
        moves = outcome.value @ plane.axes
        order = np.argsort(-np.linalg.norm(moves, axis=1), kind="stable")[:MOST_ARROWS]
        names = column_names(self._session.column_names, len(moves))
        middle = [float(each) for each in np.nanmean(frame.latent, axis=0)]
        self._draw(moves[order], [names[column] for column in order], origin=middle)
        shown = "" if len(moves) <= MOST_ARROWS else f" The {MOST_ARROWS} longest of {len(moves)} are drawn."
        self.words.object = paragraph(
            "The map is linear. An arrow shows how far every row moves if the column increases by one standard "
            f"deviation.{shown}"
        )

    def _weights_told(self, outcome: Outcome) -> None:
        frame, scene = self._board.points.frame, self._session.scene
        if outcome.problem or frame is None or scene is None:
            self._refuse(outcome)
            return
        moves, gate = outcome.value
        low, high = frame.latent_extent[:2]
        names = column_names(self._session.column_names, len(moves))
        text = weights_text(names, moves / (high - low), gate)
        if scene.images is not None and scene.images[0].size == len(moves):
            shown = [("Moves the map", moves), *([] if gate is None else [("Counts in the gate", gate)])]
            text += side_by_side(*(cells(title, each.reshape(scene.images.shape[1:])) for title, each in shown))
        self.words.object = text

    def _draw(self, moves: NDArray, names: list[str], *, row: int = -1, origin: list[float] | None = None) -> None:
        arrows = {"row": row, "origin": origin or [], "by": moves.astype(np.float32)}
        self._board.latent.put(arrows={**arrows, "names": [shorten(name) for name in names]})

    def _refuse(self, outcome: Outcome) -> None:
        self._board.latent.put(arrows=None)
        widgets.message(self.words, outcome.problem or ASK, "warning" if outcome.problem else "quiet")

    def _image(self, explanation: RowExplanation, plane: LatentPlane) -> str:
        """Draw the derivative as an image where rows are pictures."""
        images = self._session.scene.images if self._session.scene is not None else None
        if images is None or images[0].size != explanation.derivative.shape[1]:
            return ""
        right, up = (plane.axes.T @ explanation.derivative).reshape(2, *images.shape[1:])
        ink = paragraph(
            "Blue cells: a larger value moves the row in this direction; red cells: in the opposite direction.",
            "quiet small",
        )
        return side_by_side(cells("To the right", right), cells("Upwards", up)) + ink


def arrow_scale(longest: float) -> int:
    """Return by which power of ten arrows are drawn longer; `longest`: as a share of the map's width."""
    scale = 1
    while 0.0 < longest * scale < SHORT and scale < LONGEST_SCALE:
        scale *= 10
    return scale


def column_weights(model: Any, rows: NDArray) -> tuple[NDArray, NDArray | None]:
    """Return how far a standard deviation of each column moves a row, on average (root mean square), (D,).

    The second entry is ClassAtlas's own relevance of columns: their weights in the squared distances of its gate, (D,),
    of mean 1; None where it lets columns count alike, and for other methods.
    """
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), AVERAGED)).astype(int)]
    moves = np.sqrt((map_derivative(model, some) ** 2).sum(axis=1).mean(axis=0))
    scale = getattr(getattr(getattr(model, "gate_", None), "mapping", None), "scale", None)
    if scale is None or len(scale) != len(moves):
        return moves, None
    return moves, scale**2 / np.mean(scale**2)


def weights_text(names: Sequence[str], shares: NDArray, gate: NDArray | None) -> str:
    """Write the columns that count most; `shares`: of the map's width by which they move it; `gate`: their weights."""
    order = np.argsort(-(shares if gate is None else gate), kind="stable")[:LISTED]
    heads = ["column", "shift, share of the map's width"]
    lines = [[widgets.escape(names[k]), f"{100 * shares[k]:.2g}\u00a0%"] for k in order]
    text = "How far a row moves, on average, if a column increases by one standard deviation."
    if gate is not None:
        heads.append("weight in the gate's distances")
        for k, line in zip(order, lines):
            line.append(f"{bar([gate[k] / gate.max()], ['curve 1'])} {gate[k]:.2g}")
        text += " The gate, which chooses the class of a row, weights columns by their relevance; the mean weight is 1."
    less = (
        paragraph(f"The {LISTED} most important of {len(names)} columns.", "quiet small") if len(names) > LISTED else ""
    )
    return paragraph(text) + table(heads, lines) + less


def row_table(explanation: RowExplanation, shares: NDArray) -> str:
    """Write the columns that move a row; `shares`: of the map's width by which they do."""
    lines = [
        (widgets.escape(name), *map(readable, (f"{value:.3g}", f"{deviation:+.1f}")), f"{100 * share:.2g}\u00a0%")
        for name, value, deviation, share in zip(explanation.names, explanation.values, explanation.deviations, shares)
    ]
    return table(("column", "value", "standard deviations from the mean", "shift, share of the map's width"), lines)


def selection_text(explanation: SelectionExplanation) -> str:
    """Write the columns in which a selection differs, and its rule."""
    rule = typeset(str(explanation))
    return (
        paragraph(f"{explanation.n_selected:,} selected rows are compared with the {explanation.n_rest:,} others.")
        + paragraph(rule[:1].upper() + rule[1:] + ".")
        + table(("column", "effect size", "mean of the selected rows", "mean of the others"), effect_lines(explanation))
        + paragraph(EFFECT_SIZE, "quiet small")
    )
