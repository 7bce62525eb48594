"""The nearest rows of a row, in the input space and in the latent space, side by side, as HTML."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from supdr_viz.data.number_format import readable
from supdr_viz.pictures.selected_rows import nearest_rows
from supdr_viz.pictures.types import Scene
from supdr_viz.ui.markup import escape

N_NEAREST = 8

# Texts of a row that are shown, and characters of each.
MOST_TEXTS, MOST_LETTERS = 2, 60

NEAREST_CSS = """
.nearest { display: flex; flex-wrap: wrap; gap: 0 24px; min-width: 0; max-width: 100%;
font: 12px/1.4 Roboto, Helvetica, Arial, sans-serif;
color: var(--supdr-text); } .nearest p { margin: 4px 8px; color: var(--supdr-secondary); flex: 1 0 100%; }
.nearest section { flex: 1 1 150px; min-width: 0; } .nearest h3 { margin: 2px 8px; font-size: 12px; font-weight: 500; }
.nearest ol { margin: 0; padding: 0; list-style: none; } .nearest button { display: flex; gap: 8px; width: 100%;
align-items: center; text-align: left; background: none; border: 0; border-radius: 6px; padding: 3px 8px;
color: inherit; font: inherit; letter-spacing: 0; white-space: normal; min-height: 26px; }
.nearest button:hover { background: color-mix(in srgb, var(--supdr-text) var(--hover), transparent); }
.nearest img { width: 28px; height: 28px; image-rendering: pixelated; flex: none; border-radius: 3px; }
.nearest small { color: var(--supdr-secondary); font-size: 11px; } .nearest .both { font-weight: 700; }
"""


def nearest_html(scene: Scene, inputs: NDArray, latent: NDArray, row: int) -> str:
    """Write the rows nearest to a row of a scene in the input space and on the map; those of both lists are bold.

    `inputs` (n, m), `latent` (n, d): all rows of the scene.
    """
    inside, beside = nearest_rows(inputs, row, N_NEAREST), nearest_rows(latent, row, N_NEAREST)
    both = set(inside[0]) & set(beside[0])
    unit = "standard deviations" if scene.image_shape is None else "grey levels"
    lists = [
        _list(title, *rows, scene, both)
        for title, rows in ((f"In the input space, {unit}", inside), ("In the latent space", beside))
    ]
    words = f"{_label(scene, row)}: {len(both)} of {len(inside[0])} in both lists"
    head = f"<p>Row {int(scene.row[row])}, {words}</p>"
    return f'<div class="nearest">{head}{"".join(lists)}</div>'


def _list(title: str, rows: NDArray, apart: NDArray, scene: Scene, both: set[int]) -> str:
    lines = []
    for row, distance in zip(rows, apart, strict=True):
        name = f'<span class="{"both" if row in both else ""}">row {int(scene.row[row])}</span>'
        texts = " · ".join([_label(scene, row), *_texts(scene, row)])
        words = f"<span>{name} {texts} <small>{distance:.3g}</small></span>"
        button = f'<button type="button" data-pick="{int(row)}" title="Show this row on the map">'
        lines.append(f"<li>{button}{_image(scene, row)}{words}</button></li>")
    return f"<section><h3>{title}</h3><ol>{''.join(lines)}</ol></section>"


def _label(scene: Scene, row: int) -> str:
    value = float(scene.target[row])
    if not np.isfinite(value):
        return "no label"
    return escape(scene.class_names[int(value)]) if scene.class_names else readable(f"{value:.4g}")


def _texts(scene: Scene, row: int) -> list[str]:
    """Return texts of a row from columns that no method learns from."""
    columns = scene.columns
    found = [] if columns is None else [columns.get(name) for name in columns.metadata]
    texts = [each for each in found if each is not None and each.categories and np.isfinite(each.values[row])]
    return [escape(each.categories[int(each.values[row])][:MOST_LETTERS]) for each in texts[:MOST_TEXTS]]


def _image(scene: Scene, row: int) -> str:
    """Return the picture that a row is, as an element."""
    if scene.images is None:
        return ""
    file = io.BytesIO()
    Image.fromarray(np.asarray(scene.images[row], dtype=np.uint8)).save(file, "png")
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


def said(text: str) -> str:
    """Write a sentence in their place."""
    return f'<div class="nearest"><p>{escape(text)}</p></div>'
