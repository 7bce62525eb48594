"""Why is it here: columns that move a row on the map, and what sets a selection apart from the other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from supdr.quality import RowExplanation, SelectionExplanation, biplot_arrows, explain_row, explain_selection
from supdr.quality.explanations import column_names
from supdr_viz.pages.explorer.question import ON_DISK, paragraph
from supdr_viz.pages.explorer.small_pictures import cells, side_by_side
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome
from supdr_viz.ui.bar import Bar, Switches
from supdr_viz.ui.binding import Bound
from supdr_viz.views import Board
from supdr_viz.views.points import shorten

TITLE = "Why is it here?"
ASK = "Point at a row of the latent space, or select several rows."
BIPLOT = "arrows of all columns"

# Most arrows of a linear map: those of the columns that move it most.
MOST_ARROWS = 8

# Arrows are drawn longer if the longest is shorter than this share of the map's width; by how much at most.
SHORT, LONGEST_SCALE = 0.04, 1000

TABLE_CSS = "th { white-space: normal; max-width: 110px; }"


class Reasons:
    """Explains the row under the pointer, the selected rows, or the whole of a linear map.

    `view`: where it says so; it begins with `open`.
    """

    def __init__(self, session: Session, board: Board) -> None:
        self._session, self._board = session, board
        self._open = False
        self._latest = Latest()
        self._marks = Bound(Switches([BIPLOT]), self._biplot_chosen)
        self.words = widgets.html(css=TABLE_CSS, margin=(4, 8))
        widgets.message(self.words, ASK)
        self.view = pn.Column(
            widgets.section(TITLE),
            Bar({"biplot": self._marks.widget}),
            self.words,
            margin=0,
            styles={"flex": "1 1 320px", "min-width": "0"},
        )
        board.points.selection.on_change(self._selected)
        board.stage.on("hover", self._hovered)

    def open(self, wanted: bool) -> None:
        """Explain from now on, or no longer."""
        self._open = wanted
        self._board.stage.put(explains=wanted)
        if wanted:
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
        known = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < points.n_rows
        if known and self._open and len(points.selection.indices) < 2 and not self._marks.value:
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

    def _biplot_chosen(self, on: list[str]) -> None:
        if not on:
            self.forget()
            return
        rows = self._rows()
        if rows is None:
            return
        player = self._session.player
        self._latest.ask(lambda: biplot_arrows(player.fitted, rows), self._biplot_told)

    def _explain_row(self, row: int) -> None:
        rows, player, names = self._rows(), self._session.player, self._names()
        if rows is not None and player.newest is not None:
            self._latest.ask(
                lambda: explain_row(player.fitted, rows[row], names=names),
                lambda outcome: self._row_told(row, outcome),
            )

    def _explain_selection(self, chosen: list[int]) -> None:
        rows, names = self._rows(), self._names()
        self._board.latent.put(arrows=None)
        if rows is not None:
            self._latest.ask(lambda: explain_selection(rows, chosen, names=names), self._selection_told)

    def _rows(self) -> NDArray | None:
        """Return all rows of the scene as the method takes them; None, and why, where they are on disk."""
        split = self._session.split
        if split is None or split.whole is not None:
            widgets.message(self.words, ON_DISK if split is not None else "", "warning")
            return None
        return np.concatenate([split.X_train, split.X_test])

    def _names(self) -> list[str] | None:
        dataset, split = self._session.dataset, self._session.split
        fits = dataset is not None and split is not None and len(dataset.feature_names) == split.X_train.shape[1]
        return [str(name) for name in dataset.feature_names] if fits and dataset is not None else None

    # --- what is said -------------------------------------------------------------------------------------------------

    def _row_told(self, row: int, outcome: Outcome) -> None:
        plane, frame = self._session.player.latent_plane, self._board.points.frame
        if outcome.problem or plane is None or frame is None or len(plane.mean) != len(outcome.value.derivative):
            self._refuse(outcome)
            return
        found: RowExplanation = outcome.value
        moves = found.arrows @ plane.axes
        number = int(np.flatnonzero(self._board.points.drawn == row)[0])
        low, high = frame.latent_extent[:2]
        shares = np.linalg.norm(moves, axis=1) / (high - low)
        longer = arrow_scale(float(shares.max()))
        self._draw(longer * moves, list(found.names), row=number)
        assert self._session.scene is not None
        said = f"Row {int(self._session.scene.row[row])}: a standard deviation more of a column moves it so far."
        drawn = "" if longer == 1 else f" Arrows are drawn {longer} times as long."
        self.words.object = paragraph(said + drawn) + row_table(found, shares) + self._image(found, plane)

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
        names = column_names(self._names(), len(moves))
        middle = [float(each) for each in np.nanmean(frame.latent, axis=0)]
        self._draw(moves[order], [names[column] for column in order], origin=middle)
        shown = "" if len(moves) <= MOST_ARROWS else f" The {MOST_ARROWS} longest of {len(moves)} are drawn."
        self.words.object = paragraph(
            f"The map is linear: an arrow says where a standard deviation more of its column moves every row.{shown}"
        )

    def _draw(self, moves: NDArray, names: list[str], *, row: int = -1, origin: list[float] | None = None) -> None:
        arrows = {"row": row, "origin": origin or [], "by": moves.astype(np.float32)}
        self._board.latent.put(arrows={**arrows, "names": [shorten(name) for name in names]})

    def _refuse(self, outcome: Outcome) -> None:
        self._board.latent.put(arrows=None)
        widgets.message(self.words, outcome.problem or ASK, "warning" if outcome.problem else "quiet")

    def _image(self, found: RowExplanation, plane: LatentPlane) -> str:
        """Draw the derivative as an image where rows are pictures."""
        images = self._session.scene.images if self._session.scene is not None else None
        if images is None or images[0].size != found.derivative.shape[1]:
            return ""
        right, up = (plane.axes.T @ found.derivative).reshape(2, *images.shape[1:])
        ink = paragraph("More ink in blue cells moves the row so, in red cells the other way.", "quiet small")
        return side_by_side(cells("To the right", right), cells("Upwards", up)) + ink


def arrow_scale(longest: float) -> int:
    """Return by which power of ten arrows are drawn longer; `longest`: as a share of the map's width."""
    scale = 1
    while 0.0 < longest * scale < SHORT and scale < LONGEST_SCALE:
        scale *= 10
    return scale


def row_table(found: RowExplanation, shares: NDArray) -> str:
    """Write the columns that move a row; `shares`: of the map's width by which they do."""
    lines = [
        (name, f"{value:.3g}", f"{deviation:+.1f}", f"{100 * share:.2g}\u00a0%")
        for name, value, deviation, share in zip(found.names, found.values, found.deviations, shares)
    ]
    return table(("column", "value", "standard deviations from the mean", "moves it by, of the map's width"), lines)


def selection_text(found: SelectionExplanation) -> str:
    """Write the columns in which a selection differs, and its rule."""
    lines = [
        (name, f"{effect:+.2f}", f"{mean:.3g}", f"{other:.3g}")
        for name, effect, mean, other in zip(found.names, found.effects, found.means, found.rest_means)
    ]
    rule = str(found)
    return (
        paragraph(f"{found.n_selected:,} selected rows against {found.n_rest:,} others.")
        + paragraph(rule[:1].upper() + rule[1:] + ".")
        + table(("column", "effect size", "mean here", "mean of the others"), lines)
    )


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Write a small table."""
    head = "".join(f"<th>{widgets.escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{widgets.escape(each)}</td>" for each in line) + "</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
