"""The rows behind the points: the selected ones as a table, classes against predictions, and nearest rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from supdr_viz.pages.explorer.finder import Finder
from supdr_viz.pages.explorer.teaching import Teaching
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.pictures.selected_rows import confusion, distributions
from supdr_viz.pictures.types import Frame
from supdr_viz.run.row_values import PART, PREDICTED, ROW, TRUST, RowValues
from supdr_viz.run.session import Session, csv_text
from supdr_viz.run.status import Phase, Status
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome, Run
from supdr_viz.ui.bar import Bar, Button, Pickable, Toggle, style
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.lazy import Fold
from supdr_viz.views.board import Board
from supdr_viz.views.colours import MISPLACED
from supdr_viz.views.nearest_rows import NEAREST_CSS, nearest_html, said
from supdr_viz.views.row_table import RowTable, TableColumn, words_of

TITLE, NEAREST_TITLE = "Table of rows", "Nearest rows"
ASK = "Point at a row on a map or in the table: its nearest rows in the data and on the map are listed here."
# Columns of the data that the table shows at most; of more, those that set the selected rows apart.
MOST_COLUMNS = 24

# Pixels that a table of counts takes for the names of its lines, and for each class.
LABEL_WIDTH, CELL_WIDTH = 150, 46

# Classes whose predictions are counted in a table.
MOST_CLASSES = 20

PARTS = {"all rows": None, "training": False, "test": True}

# The frame of the cards; its heads begin where theirs do.
FOLD_CSS = """
:host { padding: 0 4px; overflow: visible; }
.MuiAccordionSummary-root .MuiAccordionSummary-content > * { font-weight: 700; }
"""

# What is said of the rows that are misplaced.
MEANING = f" Their neighbours on the map are far from them in the data (trust below {MISPLACED:g})."

COUNTS_CSS = """
.counts { border-collapse: collapse; font: 12px Roboto, Helvetica, Arial, sans-serif; color: var(--supdr-text); }
.counts th { font-weight: 500; padding: 2px 6px; text-align: right; max-width: 110px; overflow: hidden;
text-overflow: ellipsis; white-space: nowrap; } .counts thead th { color: var(--supdr-secondary); }
.counts thead th:first-child { max-width: 150px; }
.counts td { padding: 1px; text-align: right; } .counts button { min-width: 40px; min-height: 26px; border: 0;
border-radius: 5px; color: var(--supdr-text); font-size: 12px; font-variant-numeric: tabular-nums;
background: color-mix(in srgb, var(--tone) var(--share), transparent); }
.counts button[aria-pressed="true"] { outline: 2px solid var(--supdr-primary); }
.scroll { overflow-x: auto; max-width: 100%; }
"""


class SelectedRows:
    """What is known of the rows of a page; it is built when it is opened for the first time.

    teaching: offers labels for the selected rows, once it is asked to: its bar would lie over the table.
    on_trust: called to let the rows show their trust.
    fold: to be put below the plots.
    """

    def __init__(
        self,
        session: Session,
        board: Board,
        bridge: Bridge,
        finder: Finder,
        teaching: Teaching,
        on_trust: Callable[[], Any],
    ) -> None:
        self._teaching, self._on_trust = teaching, on_trust
        self._session, self._board, self._bridge, self._finder = session, board, bridge, finder
        self._latest = Latest(bridge.visit.background.run)
        self._shown: Any = None
        self._cell: tuple[int, list[int]] = (-1, [])  # that was pressed last, and the rows that it selected
        self._awaits_trust = False
        self.fold = Fold(
            TITLE,
            self._build,
            self._turned,
            stylesheets=[widgets.sheet(widgets.BOX_CSS + FOLD_CSS)],
            margin=(12, 0, 8, 0),
        )
        board.points.selection.on_change(self.refresh)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _build(self) -> list[Any]:
        session, board = self._session, self._board
        self.words = widgets.html(margin=(0, 8))
        self.table = RowTable(board.hub.board, board.points.show_current, margin=(0, 0, 6, 0))
        self.download = Button("CSV", self._save, icon="download")
        self.errors = Button("Errors", lambda: self._pick(board.points.errors))
        self.misplaced = Button("Misplaced", self._pick_misplaced)
        self.relabel = Button("Relabel", self._teaching.offer)
        self.counts = Pickable(self._pick_cell)
        self._part = Bound(Toggle("Rows that are counted", list(PARTS), next(iter(PARTS))), lambda _part: self._count())
        self.nearest = Nearest(session, board, self._bridge.visit.background.run, self.table.mark)
        sheets = [widgets.sheet(each) for each in (style(), COUNTS_CSS)]
        crossed = pn.Column(
            widgets.section("True and predicted classes"),
            Bar({"part": self._part.widget}, stylesheets=sheets),
            Bar({"counts": self.counts}, stylesheets=sheets),
            margin=0,
        )
        self._crossed = crossed
        buttons = {"errors": self.errors, "misplaced": self.misplaced, "relabel": self.relabel, "csv": self.download}
        above = widgets.flow(self.words, Bar(buttons), margin=0)
        self.words.styles = {"flex": "1 1 240px", "min-width": "0"}
        look = {"flex-wrap": "wrap", "align-items": "flex-start", "gap": "0 24px"}
        return [
            above,
            self.table,
            pn.Row(crossed, self.nearest.view, styles=look, margin=0, **widgets.WIDE),
        ]

    def _turned(self, shown: bool) -> None:
        if shown:  # misplaced rows are counted
            self._session.measures = True
            if self._session.settings is not None:
                self._session.set_display(self._session.settings)
        self.nearest.open(shown)
        self._teaching.wait(shown)
        self.refresh()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_frame(self, _frame: Frame, status: Status) -> None:
        """Follow predictions once the run stands still."""
        if status.phase is not Phase.running:
            self.refresh()

    def refresh(self) -> None:
        """Show the rows that are selected by now, all where there are none, unless they are on display already."""
        if not self.fold.open:
            return
        points = self._board.points
        values = self._values
        if values is None:
            return
        if self._awaits_trust and values.quality is not None and values.quality.numbers:
            self._awaits_trust = False
            self._pick(points.misplaced)
        self._say_marked()
        key = values.scene, values.surface, values.quality, tuple(points.selection.indices)
        if self._shown is not None and all(a is b or a == b for a, b in zip(self._shown, key, strict=True)):
            return
        self._shown = key
        chosen = np.array(points.selection.indices, dtype=int)
        misplaced = points.misplaced
        meaning = MEANING if misplaced is not None and np.array_equal(chosen, np.flatnonzero(misplaced)) else ""
        self._latest.ask(lambda: _table(values, chosen, meaning), self._show_table)
        self._count()
        self.nearest.refresh()

    @property
    def _values(self) -> RowValues | None:
        points = self._board.points
        return RowValues.of(self._session, points.surface, points.truth)

    def _say_marked(self) -> None:
        """Offer the rows that are misclassified, and those that are misplaced on the map."""
        points = self._board.points
        errors, misplaced = (None if rows is None else int(rows.sum()) for rows in (points.errors, points.misplaced))
        classes = self._session.scene is not None and bool(self._session.scene.class_names)
        self.errors.param.update(label=f"Show {_counted(errors, 'error')}", visible=classes, disabled=not errors)
        words = "Show misplaced rows" if misplaced is None else f"Show {_counted(misplaced, 'misplaced row')}"
        self.misplaced.param.update(label=words, disabled=misplaced == 0)
        self.relabel.param.update(visible=classes, disabled=not points.selection.indices)

    def _pick(self, rows: NDArray | None) -> None:
        if rows is not None:
            self._finder.select(np.flatnonzero(rows))

    def _pick_misplaced(self) -> None:
        """Let rows show their trust, and select the misplaced ones, once it is measured."""
        self._awaits_trust = self._board.points.truth is None
        self._on_trust()
        self._pick(self._board.points.misplaced)

    def _show_table(self, outcome: Outcome) -> None:
        if outcome.problem:
            widgets.message(self.words, outcome.problem, "warning")
            return
        columns, rows, labels, words = outcome.value
        self._columns, self._rows = columns, rows
        self.table.set_rows(columns, rows, labels, self._board.points.numbers(len(labels)))
        widgets.message(self.words, words)

    def _save(self) -> None:
        values = self._values
        if values is None:
            return
        chosen = np.array(self._board.points.selection.indices, dtype=int)
        rows = chosen if len(chosen) else np.arange(values.n_rows)
        self._latest.ask(
            lambda: csv_text({name: values.cells(name, rows) for name in [ROW, *without(values.names, ROW)]}),
            self._saved,
        )

    def _saved(self, outcome: Outcome) -> None:
        if outcome.problem:
            widgets.message(self.words, outcome.problem, "warning")
        else:
            self._bridge.download("supdr-rows.csv", outcome.value, "text/csv;charset=utf-8")

    # --- classes against predictions ----------------------------------------------------------------------------------

    def _count(self) -> None:
        values = self._values
        scene = self._session.scene
        names = () if scene is None else scene.class_names
        counted = values is not None and values.surface is not None and 1 < len(names) <= MOST_CLASSES
        self._crossed.visible = counted
        pressed, rows = self._cell
        self.counts.pressed = [pressed] if rows and rows == self._board.points.selection.indices else []
        if counted and values is not None:
            width = LABEL_WIDTH + CELL_WIDTH * len(names)
            self._crossed.styles = {"flex": f"1 1 {width}px", "min-width": "0", "max-width": "100%"}
            true, predicted = self._of_part(values)
            self.counts.html = counts_table(confusion(true, predicted, len(names)), names)

    def _of_part(self, values: RowValues) -> tuple[NDArray, NDArray]:
        """Return the true and the predicted classes of the rows that count; NaN of the others."""
        true, predicted = (values.column(name).values for name in (values.target_name, PREDICTED))
        part = PARTS[self._part.value]
        return np.where(values.scene.is_test == part, true, np.nan) if part is not None else true, predicted

    def _pick_cell(self, number: int) -> None:
        """Select the rows of a cell, or none if they are selected."""
        values = self._values
        if values is None or values.surface is None:
            return
        count = len(values.scene.class_names)
        pressed = [] if number in self.counts.pressed else [number]
        true, predicted = self._of_part(values)
        chosen = (true == number // count) & (predicted == number % count) & bool(pressed)
        self._finder.select(np.flatnonzero(chosen))
        self._cell = number, self._board.points.selection.indices if pressed else []
        self.counts.pressed = pressed


def _table(values: RowValues, chosen: NDArray, meaning: str) -> tuple[list[TableColumn], NDArray, NDArray, str]:
    """Return the columns of the table, its rows, what all rows are called, and a sentence on them.

    `chosen`: rows that are selected; none: all are shown. `meaning`: a sentence on these.
    """
    mask = np.zeros(values.n_rows, dtype=bool)
    mask[chosen] = True
    if not len(chosen):
        mask[:] = True
    first_names = [name for name in (values.target_name, PREDICTED, PART, TRUST) if name in values.names]
    own = [TableColumn(column, distributions(column, mask)) for column in map(values.column, values.own_names)]
    if len(chosen):
        own.sort(key=lambda each: -each.shares.difference if each.shares is not None else 0.0)
    first = [TableColumn(column, distributions(column, mask)) for column in map(values.column, first_names)]
    labels = values.scene.row
    rows = np.flatnonzero(mask)
    rows = rows[np.argsort(labels[rows], kind="stable")]
    return [*first, *own[:MOST_COLUMNS]], rows, labels, _words(mask, own, first[0], meaning, selected=bool(len(chosen)))


def _words(mask: NDArray, own: list[TableColumn], target: TableColumn, meaning: str, *, selected: bool) -> str:
    """Say how many rows are shown, and what sets them apart: the target and columns `own`, the most different first."""
    if not selected:
        text = (
            f"All {len(mask):,} rows; the one under the pointer is tinted. Select some here, on a map or by a search to"
            " see what they share."
        )
    else:
        apart = [each for each in [target, *own[:3]] if each.shares is not None and each.shares.difference > 0.2]
        said = [f"{each.column.name} ({words_of(each.shares)})" for each in apart if each.shares is not None]
        count = int(mask.sum())
        are = "is" if count == 1 else "are"
        text = f"{_counted(count, 'row')} {are} selected; the {len(mask) - count:,} others are grey."
        text += meaning
        text += f" They differ most in {'; '.join(said)}." if said else ""
    if len(own) <= MOST_COLUMNS:
        return text
    which = f"the {MOST_COLUMNS} columns that differ most" if selected else f"the first {MOST_COLUMNS} columns"
    return f"{text} The table shows {which}; the CSV file has all {len(own):,}."


def _counted(number: int | None, what: str) -> str:
    return f"{number or 0:,} {what}{'' if number == 1 else 's'}"


def without(names: list[str], name: str) -> list[str]:
    """Return the names but for one."""
    return [each for each in names if each != name]


def counts_table(counts: NDArray, names: tuple[str, ...]) -> str:
    """Write counts (K, K) of rows by true class and by prediction; a press on a cell selects its rows."""
    most = max(int(counts.max()), 1)
    heads = "".join(f'<th scope="col">{widgets.escape(name)}</th>' for name in names)
    lines = []
    for true, line in enumerate(counts):
        cells = ""
        for predicted, count in enumerate(line):
            tone = "--supdr-primary" if true == predicted else "--supdr-error"
            look = f"--tone: var({tone}); --share: {5 + 35 * count / most if count else 0:.0f}%"
            are = "row of {} is" if count == 1 else "rows of {} are"
            words = f"{count:,} {are.format(names[true])} predicted as {names[predicted]}"
            cells += (
                f'<td><button type="button" data-pick="{true * len(names) + predicted}" style="{look}" '
                f'title="{widgets.escape(words)}" aria-label="{widgets.escape(words)}">{count:,}</button></td>'
            )
        lines.append(f'<tr><th scope="row">{widgets.escape(names[true])}</th>{cells}</tr>')
    head = f'<thead><tr><th scope="col">true ↓ predicted →</th>{heads}</tr></thead>'
    return f'<div class="scroll"><table class="counts">{head}<tbody>{"".join(lines)}</tbody></table></div>'


class Nearest:
    """Says which rows are near to the one under the pointer.

    `run`: as of `Latest`; `on_row`: ``on_row(row)`` of the scene, once the pointer rests on it. `view`: where it says
    so.
    """

    def __init__(self, session: Session, board: Board, run: Run, on_row: Callable[[int], Any]) -> None:
        self._session, self._board, self._on_row = session, board, on_row
        self._open, self._row = False, -1
        self._latest = Latest(run)
        self._input: InputRows | None = None
        self.list = Pickable(board.points.show_current, html=said(ASK))
        sheets = [widgets.sheet(each) for each in (style(), NEAREST_CSS)]
        self.view = pn.Column(
            widgets.section(NEAREST_TITLE),
            Bar({"nearest": self.list}, stylesheets=sheets, styles={"width": "100%"}),
            margin=0,
            styles={"flex": "2 1 340px", "min-width": "0"},
        )
        board.stage.on("hover", self._hovered)

    def open(self, on: bool) -> None:
        """Look for nearest rows from now on, or no longer."""
        self._open = on
        self._board.stage.put(compares=on)

    def refresh(self) -> None:
        """Look for the rows that are nearest by now, or forget the row: there are others."""
        scene = self._session.scene
        if self._input is not None and (scene is None or self._input.scene is not scene):
            self._input, self._row = None, -1
            self.list.html = said(ASK)
        if self._row >= 0:
            self._ask(self._row)

    def _hovered(self, message: dict[str, Any]) -> None:
        number, points = message.get("row"), self._board.points
        is_row = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < points.n_rows
        if is_row and self._open:
            self._ask(int(points.drawn[number]))

    def _ask(self, row: int) -> None:
        values = RowValues.of(self._session, self._board.points.surface)
        if values is None or values.fitted is None or row >= values.n_rows:
            return
        if self._input is None or self._input.scene is not values.scene:
            self._input = InputRows(values.scene, values.split)
        self._row, rows = row, self._input
        self._latest.ask(lambda: nearest_html(values.scene, rows.rows, values.latent, row), self._told)
        self._on_row(row)

    def _told(self, outcome: Outcome) -> None:
        self.list.html = said(outcome.problem) if outcome.problem else outcome.value
