"""A square of the stage as an image: what the page's scripts paint (`assets/stage`), for films and thumbnails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from supdr_viz.kit.theme import palette
from supdr_viz.stage.wire import Tree, unpacked_places

FINE = 4
"""Marks are drawn at this many times their size and scaled down: smooth edges."""

RING_GAP = 5.5
"""By how many pixels a ring is wider than the mark in it."""

BOUNDARY, MARGIN = (1.4, 0.75, ()), (1.1, 0.6, (5.0, 4.0))
"""Width in pixels, opacity, and dashes of a line."""

FILLS = (0.8, 0.0, 0.45)
"""Opacity inside of marks: training rows, test rows, rows whose label is hidden."""

TEST, HIDDEN = 1, 2

Corners = list[tuple[float, float]]


class Window(NamedTuple):
    """What of a plane an image shows.

    Attributes
    ----------
    extent : tuple of float
        (x_low, x_high, y_low, y_high).
    side : int
        Pixels of the image.
    """

    extent: tuple[float, float, float, float]
    side: int

    def pixels(self, points: NDArray) -> NDArray:
        """Return where points (k, 2) are in the image, from its upper left corner."""
        x_low, x_high, y_low, y_high = self.extent
        across = self.side * (points[:, 0] - x_low) / (x_high - x_low)
        down = self.side * (y_high - points[:, 1]) / (y_high - y_low)
        return np.stack([across, down], axis=1)


def square(tree: Tree, view: str, side: int, *, dark: bool = False, scale: int = 1) -> Image.Image:
    """Draw a plane: regions, density, boundary, margins, marks and rings.

    Parameters
    ----------
    tree : dict
        What the stage shows, see `supdr_viz.stage.stage.Stage`.
    view : {"input", "latent"}
    side : int
        Pixels of the image.
    dark : bool
    scale : int
        Pixels of the image for each pixel of lines and marks.

    Returns
    -------
    PIL.Image.Image
        In RGB.
    """
    plane, theme, colours = tree["planes"][view], "dark" if dark else "light", palette(dark)
    window = Window(tuple(plane["extent"]), side)
    image = Image.new("RGB", (side, side), colours.card)
    region, density = plane.get("region"), plane.get("density")
    if region is not None:
        shades = [*map(_rgb, colours_of(np.arange(256.0), tree["surface_scale"][theme]))]
        tinted = np.array(shades, dtype=np.uint8)[region["image"]]
        opaque = np.full(tinted.shape[:2], round(255 * region["alpha"]), dtype=np.uint8)
        _lay(image, np.dstack([tinted, opaque]), region["extent"], window, Image.Resampling.NEAREST)
    if density is not None:
        layers = _mixed(density["levels"], density["colours"][int(dark)])
        _lay(image, layers, density["extent"], window, Image.Resampling.BILINEAR)
    for name, (width, opacity, dash) in (("boundary", BOUNDARY), ("margin", MARGIN)):
        lines = plane.get(name)
        if lines is not None and len(lines):
            dashes = [length * scale for length in dash]
            _draw_line(image, window.pixels(lines), colours.boundary, round(width * scale), opacity, dashes)
    _draw_rows(image, tree, view, window, dark=dark, scale=scale)
    return image


def colours_of(values: NDArray, scale: dict[str, Any]) -> list[str]:
    """Return the colours of values on a scale of the stage.

    Parameters
    ----------
    values : array of shape (n,)
    scale : dict
        ``palette``, ``low``, ``high``, and ``nan`` for values that are not finite.

    Returns
    -------
    list of str
        As #RRGGBB.
    """
    shades, known = scale["palette"], np.isfinite(values)
    share = np.where(known, (values - scale["low"]) / (scale["high"] - scale["low"]), 0.0)
    levels = np.clip(np.floor(share * len(shades)).astype(int), 0, len(shades) - 1)
    return [shades[level] if ok else scale["nan"] for level, ok in zip(levels, known)]


def _draw_rows(image: Image.Image, tree: Tree, view: str, window: Window, *, dark: bool, scale: int) -> None:
    """Draw marks and rings in place, in the page's order: mixed, so that no class covers the others."""
    rows, plane = tree["rows"], tree["planes"][view]
    at = window.pixels(unpacked_places(plane["place"]))
    shown = np.isfinite(at).all(axis=1)
    shades = colours_of(rows["colour"].astype(float), tree["scale"]["dark" if dark else "light"])
    for row in _order(len(at)):
        if shown[row]:
            kind = int(rows["kind"][row])
            outlined = bool(rows["outlined"]) or kind == TEST
            size = (0.7 if kind == HIDDEN else 1.0) * rows["size"] + (0.0 if outlined else 1.0)
            mask = stamp(int(rows["shape"][row]), size * scale, FILLS[kind], scale if outlined else 0.0)
            _press(image, at[row], shades[row], mask, rows["opacity"])
    ring = plane["ring"]
    ringed = np.unpackbits(ring["rows"], count=len(at), bitorder="little").astype(bool) & shown
    ease = ring.get("ease", 1.0)
    mask = stamp(0, (rows["size"] + RING_GAP) * scale, 0.0, ring["width"] * ease * scale)
    for row in np.flatnonzero(ringed):
        _press(image, at[row], getattr(palette(dark), ring["role"]), mask, ring["alpha"] * ease)


def _order(count: int) -> NDArray:
    """Return the rows in the order in which the page draws them."""
    stride = max(1, round(count * 0.618))
    while math.gcd(stride, count) > 1:
        stride += 1
    return np.arange(count) * stride % max(count, 1)


@cache
def stamp(shape: int, size: float, fill: float, line: float) -> Image.Image:
    """Draw a mark as opacity.

    Parameters
    ----------
    shape : int
        Of the stage's `SHAPES`.
    size : float
        Width of the mark.
    fill : float
        Opacity inside.
    line : float
        Width of the outline; 0: it has none.

    Returns
    -------
    PIL.Image.Image
        Of kind "L", its middle in the middle.
    """
    side = 2 * math.ceil(size * 0.6 + line) + 1
    mask = Image.new("L", (side * FINE, side * FINE))
    draw, middle = ImageDraw.Draw(mask), side * FINE / 2
    outline = [(middle + FINE * x, middle - FINE * y) for x, y in corners_of(shape, size / 2)]
    draw.polygon(outline, fill=round(255 * fill))
    if line:
        draw.line([*outline, *outline[:2]], fill=255, width=max(1, round(line * FINE)), joint="curve")
    return mask.resize((side, side), Image.Resampling.BOX)


def corners_of(shape: int, r: float) -> Corners:
    """Return the outline of a shape of the stage, `r` from its middle to its side.

    Parameters
    ----------
    shape : int
        Circle, triangle, square, diamond, inverted triangle, hexagon, star, plus, and two with hollow sides.
    r : float

    Returns
    -------
    list of (float, float)
    """
    low, arm = r / math.sqrt(3.0), 0.4 * r
    triangle: Corners = [(-r, -low), (r, -low), (0.0, 2.0 * low)]
    box: Corners = [(-r, -r), (r, -r), (r, r), (-r, r)]
    quarter: Corners = [(r, -arm), (r, arm), (arm, arm), (arm, r)]
    half: Corners = [(-arm, -r), (arm, -r), (arm, -arm), *quarter]
    return (
        _around(24, [r], 0.0),
        triangle,
        box,
        [(-0.8 * r, 0.0), (0.0, -1.15 * r), (0.8 * r, 0.0), (0.0, 1.15 * r)],
        [(x, -y) for x, y in triangle],
        _around(6, [r], 0.0),
        _around(10, [1.15 * r, 0.5 * r], math.pi / 2),
        [*half, (-arm, r), (-arm, arm), (-r, arm), (-r, -arm), (-arm, -arm)],
        _hollow(box),
        _hollow(triangle),
    )[shape]


def _around(count: int, reaches: Sequence[float], first: float) -> Corners:
    """Return points around the middle, at distances that take turns."""
    turns = [first + 2.0 * math.pi * k / count for k in range(count)]
    reach = [reaches[k % len(reaches)] for k in range(count)]
    return [(r * math.cos(turn), r * math.sin(turn)) for r, turn in zip(reach, turns)]


def _hollow(corners: Corners) -> Corners:
    """Bend the sides of a polygon inwards: curves of second order, pulled to a third of the way to the middle."""
    bent: Corners = []
    for (x, y), (to_x, to_y) in zip(corners, corners[1:] + corners[:1]):
        for t in np.linspace(0.0, 1.0, 8, endpoint=False):
            start, pull, end = (1 - t) ** 2, 2 * t * (1 - t) / 6, t**2
            bent.append((start * x + pull * (x + to_x) + end * to_x, start * y + pull * (y + to_y) + end * to_y))
    return bent


def _press(image: Image.Image, at: NDArray, colour: str, mask: Image.Image, opacity: float) -> None:
    if opacity < 1.0:
        mask = mask.point(lambda level: round(level * opacity))
    x, y = (round(float(place)) - mask.width // 2 for place in at)
    image.paste(colour, (x, y, x + mask.width, y + mask.height), mask)


def _lay(
    image: Image.Image, cells: NDArray, extent: Sequence[float], window: Window, resampling: Image.Resampling
) -> None:
    """Lay an image (r, r, 4), first row lowest, over a part of the plane."""
    left, right, low, high = extent
    corners = window.pixels(np.array([[left, high], [right, low]])).round().astype(int)
    (x, y), (to_x, to_y) = corners.tolist()
    layer = Image.fromarray(cells[::-1]).resize((max(1, to_x - x), max(1, to_y - y)), resampling)
    image.paste(layer.convert("RGB"), (x, y), layer.getchannel("A"))


def _mixed(levels: NDArray, colours: Sequence[str]) -> NDArray:
    """Mix the layers (k, r, r) of a density: each adds its colour and its opacity."""
    tones = np.array([_rgb(colour) for colour in colours], dtype=float)
    opacity = levels.sum(axis=0, dtype=float)
    mixed = np.tensordot(levels, tones, axes=(0, 0)) / np.maximum(opacity, 1.0)[..., None]
    return np.dstack([mixed, np.minimum(opacity, 255.0)]).round().astype(np.uint8)


def _draw_line(
    image: Image.Image, points: NDArray, colour: str, width: int, opacity: float, dashes: Sequence[float]
) -> None:
    """Draw lines through points (k, 2) in place; a row of NaN stands between two."""
    mask = Image.new("L", image.size)
    draw, gaps = ImageDraw.Draw(mask), np.isnan(points).any(axis=1)
    for piece in np.split(points, np.flatnonzero(gaps)):
        piece = piece[~np.isnan(piece).any(axis=1)]
        for part in _dashed(piece, dashes) if dashes else [piece]:
            if len(part) > 1:
                draw.line([*map(tuple, part.tolist())], fill=round(255 * opacity), width=width, joint="curve")
    image.paste(colour, (0, 0, *image.size), mask)


def _dashed(line: NDArray, dashes: Sequence[float]) -> list[NDArray]:
    """Cut a line (k, 2) into its dashes."""
    if len(line) < 2:
        return []
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    on, off = dashes
    parts = []
    for start in np.arange(0.0, along[-1], on + off):
        ends = np.clip([start, start + on], 0.0, along[-1])
        places = np.concatenate([ends[:1], along[(along > ends[0]) & (along < ends[1])], ends[1:]])
        parts.append(np.stack([np.interp(places, along, line[:, axis]) for axis in (0, 1)], axis=1))
    return parts


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
