"""A method's picture as an image: areas, strokes, arrows, marks and words, between axes where it has some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from supdr_viz.export.pen import DASHES, SPELT, Pen, channels, joined_rows
from supdr_viz.ui.theme import palette
from supdr_viz.views.stage.constants import DRAWN

# Room for axes, in pixels of the page.
# Ticks of an axis `FAR` times its length from zero are counted from a round number.
LEFT, BELOW, ABOVE, FAR = (DRAWN["axes"][name] for name in ("left", "below", "above", "far"))

# Opacity of the lowest level of an image.
FAINTEST = DRAWN["faintest"]

# Size in pixels of marks, of heads of arrows, and of rings at the ends of lines.
MARK, HEAD, RING = DRAWN["mark"], DRAWN["tips"]["head"], DRAWN["tips"]["ring"]

# Size in pixels, and opacity, of where a row came from.
ORIGIN = (DRAWN["tips"]["origin"]["size"], DRAWN["tips"]["origin"]["fill"])


@dataclass(frozen=True)
class Framed:
    """A pen and what stands around what it draws.

    `around`: axes with their words; None: there are none. `corner`: where in it the pen's image belongs.
    """

    pen: Pen
    around: Image.Image | None = None
    corner: tuple[int, int] = (0, 0)

    def whole(self) -> Image.Image:
        """Return all of it."""
        if self.around is None:
            return self.pen.image
        whole = self.around.copy()
        whole.paste(self.pen.image, self.corner)
        return whole


def framed(side: int, extent: Sequence[float], picture: dict[str, Any] | None, *, dark: bool, scale: int) -> Framed:
    """Return a pen for a square, and draw axes around it if the picture has some.

    `side`: pixels of the square; `extent`: (x_low, x_high, y_low, y_high); `picture`: as the stage is told of it;
    `scale`: pixels of the image for each pixel of the page.
    """
    x_low, x_high, y_low, y_high = extent
    colours = palette(dark)
    if picture is None or not picture["axes"]:
        return Framed(Pen((side, side), (x_low, x_high, y_low, y_high), colours.card, scale))
    wide, high = side - (LEFT + ABOVE) * scale, side - (ABOVE + BELOW) * scale
    pen = Pen((wide, high), (x_low, x_high, y_low, y_high), colours.card, scale)
    around, left, bottom = Image.new("RGB", (side, side), colours.card), LEFT * scale, ABOVE * scale + high
    draw, small = ImageDraw.Draw(around), ImageFont.load_default(11 * scale)
    across = round_ticks(x_low, x_high, 5, picture["counts"])
    right, up = axis_base(x_low, x_high), axis_base(y_low, y_high)
    upward = picture["ticks"] or round_ticks(y_low, y_high, 5)
    for value in across:
        pen.line(np.array([[value, y_low], [value, y_high]]), colours.grid, 1.0, 1.0)
        at = left + pen.pixels(np.array([[value, y_low]]))[0, 0]
        text = _written(value, right, x_high - x_low)
        place = (min(at, side - small.getlength(text) / 2), bottom + 5 * scale)  # the last one would be cut off
        draw.text(place, text, fill=colours.secondary, font=small, anchor="ma")
    for value in upward:
        pen.line(np.array([[x_low, value], [x_high, value]]), colours.grid, 1.0, 1.0)
        at = ABOVE * scale + pen.pixels(np.array([[x_low, value]]))[0, 1]
        text = _written(value, up, y_high - y_low)
        draw.text((left - 6 * scale, at), text, fill=colours.secondary, font=small, anchor="rm")
    named = (_named(name, base).translate(SPELT) for name, base in zip(picture["axes"], (right, up)))
    font, (name, upright) = ImageFont.load_default(12 * scale), named
    foot = bottom + (BELOW - 6) * scale
    draw.text((left + wide / 2, foot), name, fill=colours.secondary, font=font, anchor="md")
    turned = Image.new("L", (high, 16 * scale))
    ImageDraw.Draw(turned).text((high / 2, 0), upright, fill=255, font=font, anchor="ma")
    turned = turned.rotate(90, expand=True)
    around.paste(colours.secondary, (3 * scale, ABOVE * scale), turned)
    return Framed(pen, around, (left, ABOVE * scale))


def axis_base(low: float, high: float) -> float:
    """Return the round number from which the ticks of a short axis far from zero are counted.

    `low`, `high`: ends of the axis. Returns 0: they are counted from zero.
    """
    middle, span = (low + high) / 2.0, high - low
    if abs(middle) < FAR * span:
        return 0.0
    unit = 10.0 ** math.ceil(math.log10(span))
    return float(f"{round(middle / unit) * unit:.15g}")


def _named(name: str, base: float) -> str:
    """Name an axis whose ticks are counted from a base."""
    return f"{name} {'+' if base < 0 else '−'} {abs(base):,.15g}" if base else name


def round_ticks(low: float, high: float, count: int, whole: bool = False) -> list[float]:
    """Return about so many round numbers between two; whole ones if asked for."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough * (1 - 1e-12))
    if whole:
        step = max(1.0, float(round(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def draw_below(pen: Pen, picture: dict[str, Any], *, dark: bool) -> None:
    """Draw what lies under the rows: image, areas, strokes.

    `picture`: as the stage is told of it.
    """
    colours, shades = palette(dark), [both[int(dark)] for both in picture["roles"]]
    if picture["image"] is not None:
        levels = np.array([channels(shade) for shade in shades], dtype=np.uint8)
        opacity = np.linspace(FAINTEST, 1.0, picture["shades"]) if picture["shades"] > 1 else np.ones(1)
        alpha = np.round(255 * opacity * picture["image_alpha"]).astype(np.uint8)
        table = np.column_stack([np.repeat(levels, len(alpha), axis=0), np.tile(alpha, len(levels))])
        pen.lay(table[np.minimum(picture["image"], len(table) - 1)], picture["extent"], smooth=picture["smooth"])
    if picture["photo"] is not None:
        share = picture["photo"][..., None] / 255.0
        ends = (np.array(channels(colour), dtype=float) for colour in (colours.card, colours.text))
        first, last = ends
        grey = np.round(first + (last - first) * share).astype(np.uint8)
        pen.lay(np.dstack([grey, np.full(grey.shape[:2], 255, dtype=np.uint8)]), picture["extent"])
    for area in picture["areas"]:
        pen.area(area.points, shades[area.role], area.alpha)
    _draw_strokes(pen, picture, colours.card, shades, above=False)


def _draw_strokes(pen: Pen, picture: dict[str, Any], card: str, shades: Sequence[str], *, above: bool) -> None:
    """Draw those strokes that lie over the rows, or those that lie under them."""
    for stroke in picture["strokes"]:
        if stroke.above != above:
            continue
        dash = DASHES[stroke.dash]
        if stroke.edge:
            pen.line(stroke.points, card, stroke.width + 2.0 * stroke.edge, stroke.alpha, dash)
        pen.line(stroke.points, shades[stroke.role], stroke.width, stroke.alpha, dash)


def draw_tips(
    pen: Pen, places: NDArray, tips: NDArray, shades: Sequence[str], shapes: NDArray, mark: str, *, under: bool
) -> None:
    """Draw where the rows of a picture came from, or are drawn to.

    `places`, `tips` (n, 2): in the plane; NaN: there is none. `shades`: of the rows. `shapes` (n,): of their marks.
    `mark`: one of "origin", "ring", "arrow". `under`: whether what lies under the marks is drawn, or what lies over
    them.
    """
    starts, ends = pen.pixels(places), pen.pixels(tips)
    if under and mark != "origin":
        of_colour = np.array(shades)
        for colour in np.unique(of_colour):
            rows = of_colour == colour
            pen.line(joined_rows(places[rows], tips[rows]), str(colour), 0.8 if mark == "ring" else 1.4, 0.8)
        return
    for row in np.flatnonzero(np.isfinite(starts).all(axis=1) & np.isfinite(ends).all(axis=1)).tolist():
        colour, at = shades[row], ends[row]
        if mark == "origin":
            if under:
                pen.mark(at, 0, ORIGIN[0], colour, ORIGIN[1])
        elif mark == "ring":
            pen.mark(at, int(shapes[row]), RING, colour, 0.0, 1.0)
        else:
            turn, reach = math.atan2(*(at - starts[row])[::-1]), 0.7 * HEAD * pen.scale
            corners = [
                (at[0] + reach * math.cos(turn + way), at[1] + reach * math.sin(turn + way)) for way in (0.0, 2.4, -2.4)
            ]
            ImageDraw.Draw(pen.image).polygon(corners, fill=colour)


def draw_above(pen: Pen, picture: dict[str, Any], *, dark: bool) -> None:
    """Draw what lies over the rows: strokes, marks and words.

    `picture`: as the stage is told of it.
    """
    card, shades = palette(dark).card, [both[int(dark)] for both in picture["roles"]]
    _draw_strokes(pen, picture, card, shades, above=True)
    if picture["marks"] is not None:
        for at, role in zip(pen.pixels(picture["marks"]), picture["mark_role"]):
            if np.isfinite(at).all():
                pen.mark(at, 0, MARK, shades[role], 1.0)
                pen.mark(at, 0, MARK, card, 0.0, 1.6)
    for x, y, text, role, align in picture["tags"]:
        pen.word(pen.pixels(np.array([[x, y]]))[0], text, shades[role], align, card)


def draw_words(pen: Pen, names: Sequence[Sequence[Any]], *, dark: bool) -> None:
    """Draw the names of classes, (x, y, name) each, in the middle above their places."""
    colours = palette(dark)
    for x, y, name in names:
        pen.word(pen.pixels(np.array([[x, y]]))[0], name, colours.text, "center", colours.card)


def _written(value: float, base: float, span: float) -> str:
    # Differences of large numbers have noise in further digits.
    return f"{round(value - base, 4 - math.floor(math.log10(span))) if base else value:.4g}"
