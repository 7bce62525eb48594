"""The nearest rows of the row under the pointer, in the input space and in the latent space, side by side."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from supdr_viz.pages.explorer.row_values import RowValues
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.pictures.selected_rows import nearest_rows
from supdr_viz.pictures.types import Scene
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome
from supdr_viz.ui.bar import Bar, Pickable, style
from supdr_viz.views import Board

TITLE = "Nearest rows"
ASK = "Point at a row of a map."

N_NEAREST = 8

# Texts of a row that are shown, and characters of each.
MOST_TEXTS, MOST_LETTERS = 2, 60

NEAREST_CSS = """
.nearest { display: flex; flex-wrap: wrap; gap: 0 24px; font: 12px/1.4 Roboto, Helvetica, Arial, sans-serif;
color: var(--supdr-text); } .nearest p { margin: 4px 8px; color: var(--supdr-secondary); flex: 1 0 100%; }
.nearest section { flex: 1 1 170px; min-width: 0; } .nearest h3 { margin: 2px 8px; font-size: 12px; font-weight: 500; }
.nearest ol { margin: 0; padding: 0; list-style: none; } .nearest button { display: flex; gap: 8px; width: 100%;
align-items: center; text-align: left; background: none; border: 0; border-radius: 6px; padding: 3px 8px;
color: inherit; font: inherit; letter-spacing: 0; white-space: normal; min-height: 26px; }
.nearest button:hover { background: color-mix(in srgb, var(--supdr-text) var(--hover), transparent); }
.nearest img { width: 28px; height: 28px; image-rendering: pixelated; flex: none; border-radius: 3px; }
.nearest small { color: var(--supdr-secondary); font-size: 11px; } .nearest .both { font-weight: 700; }
"""


class Nearest:
    """Says which rows are near to the one under the pointer.

    `on_row`: ``on_row(row)`` of the scene, once the pointer rests on it. `view`: where it says so.
    """

    def __init__(self, session: Session, board: Board, on_row: Callable[[int], Any]) -> None:
        self._session, self._board, self._on_row = session, board, on_row
        self._open, self._row = False, -1
        self._latest = Latest()
        self._input: InputRows | None = None
        self.list = Pickable(board.points.show_current, html=_said(ASK))
        sheets = [widgets.sheet(each) for each in (style(), NEAREST_CSS)]
        self.view = pn.Column(
            widgets.section(TITLE),
            Bar({"nearest": self.list}, stylesheets=sheets, styles={"width": "100%"}),
            margin=0,
            styles={"flex": "2 1 340px", "min-width": "0"},
        )
        board.stage.on("hover", self._hovered)

    def open(self, wanted: bool) -> None:
        """Look for nearest rows from now on, or no longer."""
        self._open = wanted
        self._board.stage.put(compares=wanted)

    def refresh(self) -> None:
        """Look for the rows that are nearest by now, or forget the row: there are others."""
        scene = self._session.scene
        if self._input is not None and (scene is None or self._input.scene is not scene):
            self._input, self._row = None, -1
            self.list.html = _said(ASK)
        if self._row >= 0:
            self._ask(self._row)

    def _hovered(self, message: dict[str, Any]) -> None:
        number, points = message.get("row"), self._board.points
        known = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < points.n_rows
        if known and self._open:
            self._ask(int(points.drawn[number]))

    def _ask(self, row: int) -> None:
        values = RowValues.of(self._session, self._board)
        if values is None or values.fitted is None or row >= values.n_rows:
            return
        if self._input is None or self._input.scene is not values.scene:
            self._input = InputRows(values.scene, values.split)
        self._row, rows = row, self._input
        self._latest.ask(lambda: nearest_html(values, rows, row), self._told)
        self._on_row(row)

    def _told(self, outcome: Outcome) -> None:
        self.list.html = _said(outcome.problem) if outcome.problem else outcome.value


def nearest_html(values: RowValues, rows: InputRows, row: int) -> str:
    """Write the rows nearest to a row in the input space and on the map; those of both lists are bold."""
    inside = nearest_rows(rows.rows, row, N_NEAREST)
    latent = nearest_rows(values.latent, row, N_NEAREST)
    both = set(inside[0]) & set(latent[0])
    unit = "standard deviations" if values.scene.image_shape is None else "grey levels"
    lists = [
        _list(title, *found, values, both)
        for title, found in ((f"In the input space, {unit}", inside), ("In the latent space", latent))
    ]
    head = (
        f"<p>Row {int(values.scene.row[row])}, {_label(values, row)}: {len(both)} of {len(inside[0])} in both lists</p>"
    )
    return f'<div class="nearest">{head}{"".join(lists)}</div>'


def _list(title: str, found: NDArray, apart: NDArray, values: RowValues, both: set[int]) -> str:
    lines = []
    for row, distance in zip(found, apart, strict=True):
        name = f'<span class="{"both" if row in both else ""}">row {int(values.scene.row[row])}</span>'
        texts = " · ".join([_label(values, row), *_texts(values, row)])
        words = f"<span>{name} {texts} <small>{distance:.3g}</small></span>"
        button = f'<button type="button" data-pick="{int(row)}" title="Show this row on the map">'
        lines.append(f"<li>{button}{_image(values.scene, row)}{words}</button></li>")
    return f"<section><h3>{title}</h3><ol>{''.join(lines)}</ol></section>"


def _label(values: RowValues, row: int) -> str:
    value = values.column(values.target_name).texts[row]
    return "no label" if value is None else widgets.escape(value if isinstance(value, str) else f"{value:.4g}")


def _texts(values: RowValues, row: int) -> list[str]:
    """Return texts of a row from columns that no method learns from."""
    columns = values.scene.columns
    found = [] if columns is None else [columns.get(name) for name in columns.metadata]
    texts = [each.texts[row] for each in found if each is not None and each.categories]
    return [widgets.escape(text[:MOST_LETTERS]) for text in texts if text][:MOST_TEXTS]


def _image(scene: Scene, row: int) -> str:
    """Return the picture that a row is, as an element."""
    if scene.images is None:
        return ""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.asarray(scene.images[row], dtype=np.uint8)).save(file, "png")
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


def _said(text: str) -> str:
    return f'<div class="nearest"><p>{widgets.escape(text)}</p></div>'
