"""Marks, lines, areas and words as the stage draws them, on an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from supdr_viz.pictures.scene import Extent
from supdr_viz.views.marker_shapes import corners_of
from supdr_viz.views.stage.constants import DRAWN

# Marks are drawn at this many times their size and scaled down: smooth edges.
FINE = 4

# Lengths of dashes and gaps in turn, in pixels of the page.
DASHES: dict[str, list[float]] = DRAWN["dashes"]

# Signs that the font of the images does not have.
SPELT = str.maketrans(
    {"−": "-", "λ": "lambda", "γ": "gamma", "σ": "sigma", "μ": "mu", "²": "^2", "→": "->", "√": "sqrt ", "±": "+-"}
    | {"≈": "about ", "≤": "<=", "≥": ">=", "×": "x", "…": "..."}
)


class Pen:
    """Draws on a part of a plane.

    `image`: in RGB.

    size: pixels of the image across and down.
    extent: (x_low, x_high, y_low, y_high) of what it shows.
    ground: colour of the empty image.
    scale: pixels of the image for each pixel of the page, in which all sizes and widths are given.
    """

    def __init__(self, size: tuple[int, int], extent: Extent, ground: str, scale: int) -> None:
        self.image = Image.new("RGB", size, ground)
        self.extent, self.scale = extent, scale

    def pixels(self, points: NDArray) -> NDArray:
        """Return where points (k, 2) of the plane are, from the upper left corner."""
        (wide, high), (x_low, x_high, y_low, y_high) = self.image.size, self.extent
        across = wide * (points[:, 0] - x_low) / (x_high - x_low)
        down = high * (y_high - points[:, 1]) / (y_high - y_low)
        return np.stack([across, down], axis=1)

    def lay(self, cells: NDArray, extent: Sequence[float], *, smooth: bool = False) -> None:
        """Lay an image (r, r, 4) of colours and opacity, first row lowest, over a part of the plane."""
        left, right, low, high = extent
        corners = self.pixels(np.array([[left, high], [right, low]])).round().astype(int)
        (x, y), (to_x, to_y) = corners.tolist()
        how = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
        layer = Image.fromarray(np.ascontiguousarray(cells[::-1])).resize((max(1, to_x - x), max(1, to_y - y)), how)
        self.image.paste(layer.convert("RGB"), (x, y), layer.getchannel("A"))

    def line(self, points: NDArray, colour: str, width: float, opacity: float, dash: Sequence[float] = ()) -> None:
        """Draw lines through points (k, 2) of the plane; a row of NaN stands between two."""
        mask = Image.new("L", self.image.size)
        draw, at = ImageDraw.Draw(mask), self.pixels(points)
        dash, wide = [length * self.scale for length in dash], max(1, round(width * self.scale))
        for piece in pieces(at):
            for part in dashed(piece, dash, self.image.size) if dash else [piece]:
                if len(part) > 1:
                    draw.line([*map(tuple, part.tolist())], fill=round(255 * opacity), width=wide, joint="curve")
        self.image.paste(colour, (0, 0, *self.image.size), mask)

    def area(self, points: NDArray, colour: str, opacity: float) -> None:
        """Fill the areas within lines through points (k, 2) of the plane, and draw their edges."""
        mask = Image.new("L", self.image.size)
        draw = ImageDraw.Draw(mask)
        for piece in pieces(self.pixels(points)):
            if len(piece) > 2:
                draw.polygon([*map(tuple, piece.tolist())], fill=round(255 * opacity))
        self.image.paste(colour, (0, 0, *self.image.size), mask)
        closed = [np.vstack([piece, piece[:1], [[np.nan, np.nan]]]) for piece in pieces(points)]
        if closed:
            self.line(np.vstack(closed), colour, 1.0, 0.5)

    def mark(
        self, at: NDArray, shape: int, size: float, colour: str, fill: float, line: float = 0.0, opacity: float = 1.0
    ) -> None:
        """Draw a mark in the middle of a pixel of the image: see `stamp`; `opacity` is that of all of it."""
        mask = stamp(shape, size * self.scale, fill, line * self.scale)
        if opacity < 1.0:
            mask = mask.point(lambda level: round(level * opacity))
        x, y = (round(float(place)) - mask.width // 2 for place in at)
        self.image.paste(colour, (x, y, x + mask.width, y + mask.height), mask)

    def word(self, at: NDArray, text: str, colour: str, align: str, ground: str) -> None:
        """Write a word beside a pixel of the image, on a ground that lets a little through."""
        font, text = ImageFont.load_default(11 * self.scale), text.translate(SPELT)
        long, half = font.getlength(text), 7 * self.scale
        left = float(at[0]) - {"left": 0.0, "center": long / 2, "right": long}[align]
        edge = DRAWN["words"]["edge"] * self.scale
        box = (round(left) - edge, round(at[1]) - half, round(left + long) + edge, round(at[1]) + half)
        veil = Image.new("L", (box[2] - box[0], box[3] - box[1]), round(255 * DRAWN["words"]["ground"]))
        self.image.paste(ground, box, veil)
        ImageDraw.Draw(self.image).text((left, float(at[1])), text, fill=colour, font=font, anchor="lm")


@cache
def stamp(shape: int, size: float, fill: float, line: float) -> Image.Image:
    """Draw a mark as opacity.

    `shape`: of the stage's `SHAPES`. `size`: width of the mark. `fill`: opacity inside. `line`: width of the outline;
    0: it has none. The image is of kind "L", its middle in the middle.
    """
    side = 2 * math.ceil(size * 0.6 + line) + 1
    mask = Image.new("L", (side * FINE, side * FINE))
    draw, middle = ImageDraw.Draw(mask), side * FINE / 2
    outline = [(middle + FINE * x, middle - FINE * y) for x, y in corners_of(shape, size / 2)]
    draw.polygon(outline, fill=round(255 * fill))
    if line:
        draw.line([*outline, *outline[:2]], fill=255, width=max(1, round(line * FINE)), joint="curve")
    return mask.resize((side, side), Image.Resampling.BOX)


def pieces(points: NDArray) -> list[NDArray]:
    """Cut points (k, 2) where a row is NaN."""
    gaps = np.isnan(points).any(axis=1)
    return [piece[~np.isnan(piece).any(axis=1)] for piece in np.split(points, np.flatnonzero(gaps))]


def joined_rows(starts: NDArray, ends: NDArray) -> NDArray:
    """Join the rows of two arrays (n, 2), where both are known, to lines with rows of NaN between them."""
    both = np.isfinite(starts).all(axis=1) & np.isfinite(ends).all(axis=1)
    gaps = np.full((int(both.sum()), 2), np.nan)
    return np.stack([starts[both], ends[both], gaps], axis=1).reshape(-1, 2)


def dashed(line: NDArray, dashes: Sequence[float], size: tuple[int, int]) -> list[NDArray]:
    """Cut a line (k, 2) into its dashes, as far as they are in an image; lengths of dashes and gaps take turns."""
    if len(line) < 2:
        return []
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    bounds = np.concatenate([[0.0], np.cumsum(dashes)])
    turns = np.arange(0.0, along[-1], bounds[-1])[:, None]
    starts, ends = ((turns + bounds[first::2][: len(dashes) // 2]).ravel() for first in (0, 1))

    def at(places: NDArray) -> NDArray:
        """Return the points so far along the line."""
        return np.stack([np.interp(places, along, line[:, axis]) for axis in (0, 1)], axis=1)

    # Lines that leave the image may be very long: only dashes that begin or end near it are made.
    near = (within(at(starts), size) | within(at(ends), size)) & (starts < along[-1])
    parts = []
    for start, end in zip(starts[near], ends[near]):
        inner = along[(along > start) & (along < end)]
        parts.append(at(np.concatenate([[start], inner, [min(end, along[-1])]])))
    return parts


def within(points: NDArray, size: tuple[int, int]) -> NDArray:
    """Return which of the pixels (k, 2) are in an image of a size."""
    return (points.min(axis=1) >= 0.0) & (points[:, 0] <= size[0]) & (points[:, 1] <= size[1])


def channels(colour: str) -> tuple[int, ...]:
    """Return red, green and blue of #RRGGBB."""
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
