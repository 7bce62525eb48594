"""A table of rows as long as one likes: the browser asks for the pieces of it that come into view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import param
from numpy.typing import NDArray
from panel.custom import JSComponent
from panel.models.tabulator import DataTabulator

from supdr_viz.data.number_format import readable
from supdr_viz.pictures.row_columns import Column
from supdr_viz.pictures.selected_rows import Distributions
from supdr_viz.ui.own_files import ASSETS, Script, sheet
from supdr_viz.ui.page_thread import locked_callback
from supdr_viz.ui.panel_workarounds import send_message

# Rows of a piece, at most.
MOST_ROWS = 500

# Characters of a cell, at most.
MOST_LETTERS = 120

# Decimals up to which numbers of a column have equally many.
MOST_DECIMALS = 4


class TableColumn(NamedTuple):
    """A column of the table: what it holds, and how it is distributed among rows that are selected and the others."""

    column: Column
    shares: Distributions | None = None


class RowTable(JSComponent):
    """Rows of a scene, by columns that sort them.

    Tabulator is fetched once the first table is seen.

    name_of_stage: whose rows these are: the row under the pointer is shown there.
    on_point: ``on_point(row)`` once the number of a row is pressed.
    """

    board = param.String(doc="Name of the stage in the page.")
    library = param.String(doc="Address of Tabulator.")

    _esm = Script("rows/table.js")

    def __init__(self, name_of_stage: str, on_point: Callable[[int], Any], **options: Any) -> None:
        css = ASSETS.joinpath("rows", "table.css").read_text(encoding="utf-8")
        sheets = [DataTabulator.__css__[0], sheet(css)]
        super().__init__(
            board=name_of_stage,
            library=DataTabulator.__javascript__[0],
            stylesheets=sheets,
            sizing_mode="stretch_width",
            **options,
        )
        self._on_point = on_point
        self._columns: dict[str, TableColumn] = {}
        self._rows, self._numbers, self._labels = np.arange(0), np.arange(0), np.arange(0)
        self._ready, self._version = False, 0
        self.on_msg(locked_callback(self._received))

    def set_rows(self, columns: Sequence[TableColumn], rows: NDArray, labels: NDArray, numbers: NDArray) -> None:
        """Show rows.

        `columns`: of all rows of a scene; `rows` (k,): those that are shown, in this order until one sorts them;
        `labels` (n,): what all rows are called; `numbers` (n,): by which the stage knows them, -1: it does not.
        """
        self._columns = {f"c{number}": each for number, each in enumerate(columns)}
        self._rows, self._labels, self._numbers = rows, labels, numbers
        self._version += 1
        self._tell()

    def mark(self, row: int) -> None:
        """Mark the row of the scene that the pointer is at."""
        if self._ready:
            send_message(self, {"kind": "mark", "row": int(row)})

    @property
    def heads(self) -> list[dict[str, Any]]:
        """What the heads of the columns say."""
        first = {"field": "label", "title": "Row", "words": "number in the data", "first": True}
        return [first, *(_head(field, each) for field, each in self._columns.items())]

    def piece(self, page: Any, size: Any, column: Any = "", *, down: bool = False) -> dict[str, Any] | None:
        """Return the rows of a page, from 1, of so many rows, in the order of a column; None: there is no such page."""
        numbers = isinstance(page, int) and isinstance(size, int)
        if not numbers or page < 1 or not 0 < size <= MOST_ROWS:
            return None
        rows = self.ordered(column, down)
        some = rows[(page - 1) * size : page * size]
        texts = [shown_texts(each.column, some) for each in self._columns.values()]
        cells = [
            [int(row), int(self._numbers[row]), int(self._labels[row]), *line]
            for row, *line in zip(some, *texts, strict=True)
        ]
        names = ["row", "number", "label", *self._columns]
        return {"last": max(1, -(-len(rows) // size)), "names": names, "rows": cells}

    def _tell(self) -> None:
        if self._ready and self._columns:
            message = {"version": self._version, "columns": self.heads, "rows": len(self._rows)}
            send_message(self, {"kind": "show", **message})

    def _received(self, event: Any) -> None:
        message = event.data if isinstance(event.data, dict) else {}
        kind, number = message.get("kind"), message.get("number")
        if kind == "ready":
            self._ready = True
            self._tell()
        elif kind == "piece":
            page, size, column = (message.get(name) for name in ("page", "size", "column"))
            piece = self.piece(page, size, column, down=bool(message.get("down")))
            if piece is not None:
                send_message(self, {"kind": "piece", "number": number, **piece})
        elif kind == "point" and isinstance(number, int) and not isinstance(number, bool):
            places = np.flatnonzero(self._numbers == number)
            if number >= 0 and len(places):
                self._on_point(int(places[0]))

    def ordered(self, field: Any, down: bool) -> NDArray:
        """Return the rows in the order of a column, those without a value last; as they are where there is none."""
        chosen = self._labels.astype(float) if field == "label" else None
        if isinstance(field, str) and field in self._columns:
            chosen = self._columns[field].column.values
        if chosen is None:
            return self._rows
        values = chosen[self._rows]
        order = np.argsort(-values if down else values, kind="stable")  # NaN comes last both ways
        return self._rows[order]


def shown_texts(column: Column, rows: NDArray) -> list[str]:
    """Return the values of rows of a column as a table shows them; empty where missing."""
    values = column.values[rows]
    if column.categories:
        names = [each if len(each) <= MOST_LETTERS else each[: MOST_LETTERS - 1] + "…" for each in column.categories]
        return [names[int(value)] if np.isfinite(value) else "" for value in values]
    texts = [f"{value:.6g}" if np.isfinite(value) else "" for value in values]
    decimals = max((len(each.partition(".")[2]) for each in texts), default=0)
    if not 0 < decimals <= MOST_DECIMALS or any("e" in each for each in texts):
        return texts
    return [f"{value:.{decimals}f}" if np.isfinite(value) else "" for value in values]


def _head(field: str, shown: TableColumn) -> dict[str, Any]:
    column, shares = shown
    head: dict[str, Any] = {"field": field, "title": column.name, "number": not column.categories}
    if shares is None:
        return {**head, "words": "", "shares": None}
    both = {"selected": shares.selected.round(4).tolist(), "rest": shares.rest.round(4).tolist()}
    return {**head, "words": words_of(shares), "shares": both if len(shares.selected) > 1 else None}


def words_of(shares: Distributions) -> str:
    """Say in words how a column is distributed among selected rows and among the others."""
    if not shares.labels:
        here, rest = (readable(f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.3g}") for mean in shares.means)
        return f"mean {here}" + ("" if np.isnan(shares.means[1]) else f", of the rest {rest}")
    if not shares.selected.any():
        return ""
    most = int(shares.selected.argmax())
    rest = f", of the rest {100 * shares.rest[most]:.0f} %" if shares.rest.any() else ""
    return f"{100 * shares.selected[most]:.0f} % {shares.labels[most]}{rest}"
