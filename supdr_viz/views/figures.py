"""Common parts of views: colours of roles, legends, lines in one piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.types import Lines
from supdr_viz.ui.theme import palette
from supdr_viz.views.colours import SHADES
from supdr_viz.views.marker_shapes import clip_path
from supdr_viz.views.stage.constants import DRAWN


@dataclass(frozen=True)
class LegendEntry:
    """One entry of a legend, drawn in HTML by the card.

    name: plain text; escape it before it enters HTML.
    colour: CSS: a variable of the page, which follows its theme, with the light theme's colour to fall back on; of
        scales a gradient.
    dash (one of "solid", "dashed", "dotted", "dotdash"): of lines.
    kind: one of "line", "ring" (around a row), "hollow" (a row), "oval", "point", "scale"; "none": it has no mark.
    width: of lines, in pixels.
    help: what the word means, shown on hovering.
    shape: of points: one of the stage's `SHAPES`.
    pick: number of the category that a press selects the rows of; None: there is nothing to be selected.
    ends: of scales: what stands at both.
    """

    name: str
    colour: str
    dash: str = "solid"
    kind: str = "line"
    width: float = 1.5
    help: str = ""
    shape: int = 0
    pick: int | None = None
    ends: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The name with what stands at both ends of a scale: for legends without marks between words."""
        return f"{self.name} {' to '.join(self.ends)}" if self.ends else self.name

    @property
    def pattern(self) -> str:
        """The CSS background of a line: its dashes as the stage draws them."""
        stops, start = [], 0.0
        for number, length in enumerate(DRAWN["dashes"][self.dash]):
            stops.append(f"{'transparent' if number % 2 else self.colour} {start:g}px {start + length:g}px")
            start += length
        return f"repeating-linear-gradient(90deg, {', '.join(stops)})" if stops else self.colour

    @property
    def outline(self) -> str:
        """The CSS shape that the mark of a point is cut to; empty for a circle."""
        return clip_path(self.shape) if self.shape else ""


@cache
def css(role: str) -> str:
    """Write a colour of the palette for HTML.

    `role`: ``"class 0"``, ``"curve 0"``, ``"doubt 0"``, … ``"region 0"`` to ``"region 255"``, or the name of a colour.
    Returns the colour itself if both themes agree on it, else a CSS variable of the page, which follows its theme, with
    the light theme's colour to fall back on.
    """
    light, dark = (colour_of(role, dark) for dark in (False, True))
    kind, _, number = role.partition(" ")
    plain = palette(False)
    several = {"class": ("c", plain.classes), "curve": ("k", plain.curves), "doubt": ("d", plain.doubts)}
    letter, colours = several.get(kind, (kind, ()))
    variable = f"{letter}-{int(number) % len(colours)}" if number else kind
    return light if light == dark else f"var(--supdr-{variable}, {light})"


@cache
def colour_of(role: str, dark: bool) -> str:
    """Return the colour of a role in a theme: see `css`; ``"shade 0"`` to ``"shade 100"``, per cent of the scale."""
    colours = palette(dark)
    kind, _, number = role.partition(" ")
    if kind == "shade":
        return SHADES[round(int(number) / 100 * (len(SHADES) - 1))]
    if not number:
        return str(getattr(colours, kind))
    several = {"class": colours.classes, "curve": colours.curves, "doubt": colours.doubts, "region": colours.regions}
    return several[kind][int(number) % len(several[kind])]


def joined(lines: Lines) -> NDArray:
    """Join lines to one, (k, 2), with a row of NaN between them."""
    pieces = []
    for x, y in zip(lines.xs, lines.ys):
        pieces += [np.column_stack([x, y]), np.full((1, 2), np.nan)]
    return np.concatenate(pieces[:-1]) if pieces else np.zeros((0, 2))
