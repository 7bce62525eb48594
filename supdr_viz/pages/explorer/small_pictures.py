"""Small pictures beside a text: points, cells, curves, histograms, bars; SVG, in colours that follow the theme."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.number_format import numeral, readable
from supdr_viz.export.picture import round_ticks
from supdr_viz.ui import widgets
from supdr_viz.views.figures import css

# Pixels of a side, and of the room around the points.
SIDE, ROOM = 200, 8

# Most points of a picture: of more, as many are drawn at random.
MOST_POINTS = 1500

# Pixels of curves, and of the room of their axes: left, right, top, bottom.
CHART_WIDE, CHART_HIGH, AXES = 340, 190, (42, 14, 10, 38)

# Pixels of the height of histograms, and of the room of their axes: left, right, top, bottom.
HIGH, SCALES = 130, (36, 14, 10, 20)

# Pixels of a bar of the share 1, and of its height.
BAR_WIDE, BAR_HIGH = 50, 9

# Bins of a histogram, and numbers along each of its axes; about.
BINS, NUMBERS = 16, 4


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
            role = css("curve 1") if value > 0 else css("error")
            box = f'x="{column * size:.1f}" y="{row * size:.1f}" width="{size:.1f}" height="{size:.1f}"'
            marks.append(f'<rect {box} fill="{role}" fill-opacity="{abs(value):.2f}"/>')
    return _figure(title, "".join(marks), round(wide * size), round(high * size))


def curves(title: str, x: NDArray, lines: Mapping[str, tuple[NDArray, str]]) -> str:
    """Draw lines over the logarithms of x (m,), with heights from 0 to 1, shown in per cent, and axes.

    `title`: of x; `lines`: name -> heights (m,) and the role of the colour.
    """
    left, right, top, bottom = AXES
    wide, high = CHART_WIDE - left - right, CHART_HIGH - top - bottom

    def across(values: Any) -> NDArray:
        """Return pixels from the left."""
        return left + wide * np.log(np.asarray(values) / x[0]) / (np.log(x[-1] / x[0]) or 1.0)

    def down(heights: Any) -> NDArray:
        """Return pixels from the top."""
        return top + high * (1.0 - np.clip(heights, 0.0, 1.0))

    marks = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = f"{down(share):.1f}"
        marks.append(f'<path d="M{left} {y}h{wide}" stroke="var(--supdr-grid)"/>')
        if share in (0.0, 0.5, 1.0):
            marks.append(_word(f"{100 * share:.0f} %", left - 5, float(down(share)) + 4, "end"))
    for value in _round_numbers(int(x[0]), int(x[-1])):
        marks.append(_word(f"{value:,}", float(across(value)), CHART_HIGH - bottom + 14, "middle"))
    marks.append(_word(title, left + wide / 2, CHART_HIGH - 4, "middle"))
    for heights, role in lines.values():
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across(x), down(heights)))
        marks.append(f'<path d="M{path}" fill="none" stroke="{css(role)}" stroke-width="2"/>')
    roles = {name: role for name, (_, role) in lines.items()}
    return _figure(title, "".join(marks), CHART_WIDE, CHART_HIGH, _keys(roles))


def _round_numbers(first: int, last: int) -> list[int]:
    """Return the ends of a logarithmic axis and round numbers between them that leave room."""
    between = [k * 10**power for power in range(7) for k in (1, 2, 5)]
    return [first, *(each for each in between if 1.5 * first < each and 1.5 * each < last), *([last] * (last > first))]


def _word(text: str, x: float, y: float, anchor: str) -> str:
    """Write a word of an axis; `anchor`: what of it stands there, one of "start", "end", "middle"."""
    look = f'fill="var(--supdr-secondary)" font-size="11" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{widgets.escape(text)}</text>'


def histograms(
    title: str, groups: Mapping[str, tuple[NDArray, str]], lines: Sequence[float] = (), meaning: str = ""
) -> str:
    """Draw how values are distributed in each group, over one scale: shares of the group.

    `groups`: name -> values (n,), NaN where missing, and the role of the colour; `lines`: values at which dashed lines
    stand, and their `meaning`.
    """
    lines = [each for each in lines if np.isfinite(each)]
    edges = _edges(np.concatenate([*(each for each, _ in groups.values()), lines]), lines)
    shares = [np.histogram(each[~np.isnan(each)], edges)[0] / len(each) for each, _ in groups.values()]
    left, right, top, bottom = SCALES
    base, most = HIGH - bottom, max(float(each.max()) for each in shares)
    wide, unit = (SIDE - left - right) / (len(edges) - 1), (base - top) / (most or 1.0)

    def across(value: float) -> float:
        """Return pixels from the left."""
        return left + (SIDE - left - right) * (value - edges[0]) / (edges[-1] - edges[0])

    marks = []
    for per_cent in round_ticks(0.0, 100.0 * (most or 1.0), NUMBERS):
        y = base - unit * per_cent / 100.0
        marks.append(f'<path d="M{left} {y:.1f}H{SIDE - right}" stroke="var(--supdr-grid)"/>')
        marks.append(_word(f"{per_cent:g} %", left - 5, y + 4, "end"))
    numbers = round_ticks(float(edges[0]), float(edges[-1]), NUMBERS)
    for value in numbers:
        text = readable(numeral(value, float(edges[-1] - edges[0])))
        marks.append(f'<path d="M{across(value):.1f} {base}v4" stroke="var(--supdr-secondary)"/>')
        marks.append(_word(text, across(value), HIGH - 4, "middle"))
    for share, (_, role) in zip(shares, groups.values()):
        for place in np.flatnonzero(share):
            x, high = left + place * wide, unit * share[place]
            box = f'x="{x:.1f}" y="{base - high:.1f}" width="{wide:.1f}" height="{high:.1f}"'
            marks.append(f'<rect {box} fill="{css(role)}" fill-opacity=".2"/>')
        steps = "".join(f"V{base - unit * each:.1f}h{wide:.2f}" for each in share)
        marks.append(f'<path d="M{left} {base}{steps}V{base}" fill="none" stroke="{css(role)}" stroke-width="1.5"/>')
    for value in lines:
        look = 'stroke="var(--supdr-text)" stroke-width="1.5" stroke-dasharray="4 3"'
        marks.append(f'<path d="M{across(value):.1f} {top}V{base}" {look}/>')
    keys = _keys({name: role for name, (_, role) in groups.items()}, meaning if lines else "")
    return _figure(title, "".join(marks), SIDE, HIGH, f"{widgets.escape(title)}{keys}")


def _edges(values: NDArray, lines: Sequence[float]) -> NDArray:
    """Return the edges of equal bins that hold all values; lines among them are edges, unless two nearly coincide.

    Where a line is the first or the last of the values, a bin beyond it keeps it apart from the picture's edge.
    """
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        low, high = low - 0.5, high + 0.5
    beyond = (high - low) / BINS
    low, high = low - beyond * (low in lines), high + beyond * (high in lines)
    step, inner = (high - low) / BINS, sorted(each for each in lines if low < each < high)
    if not inner:
        return np.linspace(low, high, BINS + 1)
    if len(inner) > 1 and (between := round((inner[-1] - inner[0]) / step)):
        step = (inner[-1] - inner[0]) / between
    below, above = (math.ceil(each / step - 1e-9) for each in (inner[0] - low, high - inner[0]))
    return inner[0] + step * np.arange(-below, above + 1)


def bar(shares: Sequence[float], roles: Sequence[str]) -> str:
    """Draw shares, together at most 1, one after the other in a line."""
    marks, x = [], 0.0
    for share, role in zip(shares, roles):
        wide = BAR_WIDE * share
        marks.append(f'<rect x="{x:.1f}" width="{wide:.1f}" height="{BAR_HIGH}" fill="{css(role)}"/>')
        x += wide
    return f'<svg width="{BAR_WIDE}" height="{BAR_HIGH}" aria-hidden="true">{"".join(marks)}</svg>'


def side_by_side(*pictures: str) -> str:
    """Write pictures beside each other."""
    return f'<div style="display:flex;gap:8px;margin:4px 0">{"".join(pictures)}</div>'


def _keys(roles: Mapping[str, str], dashed: str = "") -> str:
    """Write a legend: a short line in the colour of each role, and its name; `dashed`: the name of dashed lines."""
    look = "display:inline-block;width:14px;margin-right:4px;vertical-align:middle;border-top:"
    lines = {name: f"2.5px solid {css(role)}" for name, role in roles.items()}
    lines |= {dashed: "2px dashed var(--supdr-text)"} if dashed else {}
    names = (
        f'<span style="white-space:nowrap"><i style="{look}{line}"></i>{widgets.escape(name)}</span>'
        for name, line in lines.items()
    )
    return f'<span style="display:flex;flex-wrap:wrap;gap:0 12px">{"".join(names)}</span>'


def _figure(title: str, content: str, wide: int, high: int, caption: str = "") -> str:
    """Write a picture with its caption, HTML; an empty one: the title."""
    name = widgets.escape(title)
    frame = "border:1px solid var(--supdr-border);border-radius:6px;background:var(--supdr-card)"
    svg = f'<svg role="img" aria-label="{name}" viewBox="0 0 {wide} {high}" width="100%" style="{frame}">'
    place = f"margin:0;flex:0 1 {wide}px;min-width:0"
    below = f'<figcaption class="small">{caption or name}</figcaption>'
    return f'<figure style="{place}">{svg}{content}</svg>{below}</figure>'


def _on_square(places: NDArray) -> NDArray:
    """Return places in pixels, (n, 2), with the second axis upwards and one unit for both."""
    low, high = places.min(axis=0), places.max(axis=0)
    unit = (SIDE - 2 * ROOM) / (float((high - low).max()) or 1.0)
    centred = (places - 0.5 * (low + high)) * unit
    return np.column_stack([SIDE / 2 + centred[:, 0], SIDE / 2 - centred[:, 1]])
