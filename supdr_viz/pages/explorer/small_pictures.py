"""Small pictures beside a text: a map of points, the cells of a derivative; SVG, in colours that follow the theme."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr_viz.ui import widgets
from supdr_viz.views.figures import css

# Pixels of a side, and of the room around the points.
SIDE, ROOM = 200, 8

# Most points of a picture: of more, as many are drawn at random.
MOST_POINTS = 1500


def small_map(title: str, places: NDArray, roles: list[str]) -> str:
    """Draw points in the colours of their roles.

    `places` (n, 2); `roles`: of each, see `supdr_viz.views.figures.css`.
    """
    chosen = np.arange(len(places))
    if len(places) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(places), MOST_POINTS, replace=False)
    points = _on_square(places)[chosen]
    marks = []
    for role in sorted({roles[row] for row in chosen}):
        members = [k for k, row in enumerate(chosen) if roles[row] == role]
        path = "".join(f"M{points[k, 0]:.0f} {points[k, 1]:.0f}h0" for k in members)
        marks.append(f'<path d="{path}" stroke="{css(role)}"/>')
    look = 'fill="none" stroke-width="5" stroke-linecap="round" stroke-opacity=".8"'
    return _figure(title, f"<g {look}>{''.join(marks)}</g>", SIDE, SIDE)


def cells(title: str, values: NDArray) -> str:
    """Draw values (h, w) as cells: blue where positive, red where negative, the fainter the nearer to zero."""
    high, wide = values.shape
    size = SIDE / max(high, wide)
    largest = float(np.abs(values).max()) or 1.0
    marks = []
    for (row, column), value in np.ndenumerate(values / largest):
        if abs(value) > 0.02:
            role = css("curve 0") if value > 0 else css("error")
            box = f'x="{column * size:.1f}" y="{row * size:.1f}" width="{size:.1f}" height="{size:.1f}"'
            marks.append(f'<rect {box} fill="{role}" fill-opacity="{abs(value):.2f}"/>')
    return _figure(title, "".join(marks), round(wide * size), round(high * size))


def side_by_side(*pictures: str) -> str:
    """Write pictures beside each other."""
    return f'<div style="display:flex;gap:8px;margin:4px 0">{"".join(pictures)}</div>'


def _figure(title: str, content: str, wide: int, high: int) -> str:
    name = widgets.escape(title)
    frame = "border:1px solid var(--supdr-border);border-radius:6px;background:var(--supdr-card)"
    svg = f'<svg role="img" aria-label="{name}" viewBox="0 0 {wide} {high}" width="100%" style="{frame}">'
    place = f"margin:0;flex:0 1 {wide}px;min-width:0"
    return f'<figure style="{place}">{svg}{content}</svg><figcaption class="small">{name}</figcaption></figure>'


def _on_square(places: NDArray) -> NDArray:
    """Return places in pixels, (n, 2), with the second axis upwards and one unit for both."""
    low, high = places.min(axis=0), places.max(axis=0)
    unit = (SIDE - 2 * ROOM) / (float((high - low).max()) or 1.0)
    centred = (places - 0.5 * (low + high)) * unit
    return np.column_stack([SIDE / 2 + centred[:, 0], SIDE / 2 - centred[:, 1]])
