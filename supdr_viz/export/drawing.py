"""A square of the stage as an image: what the page's scripts paint (`assets/stage`), for films and the gallery."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from supdr_viz.export.pen import Pen, channels, joined_rows
from supdr_viz.export.picture import draw_above, draw_below, draw_tips, draw_words, framed
from supdr_viz.ui.theme import palette
from supdr_viz.views.stage.constants import DRAWN
from supdr_viz.views.stage.packed_positions import unpacked_places
from supdr_viz.views.stage.wire import Tree

# Size of marks in pictures that want small ones.
SMALL = DRAWN["rows"]["small"]

# Opacity inside of marks, and their size beside the usual one: training rows, test rows, rows whose label is hidden.
FILLS, SIZES = DRAWN["rows"]["fills"], DRAWN["rows"]["sizes"]

# Size of marks beside the usual one, by the value of what sizes mean.
GROWN = DRAWN["rows"]["grown"]

# A row's kind.
TEST = 1


def square(tree: Tree, view: str, side: int, *, dark: bool = False, scale: int = 1, words: bool = True) -> Image.Image:
    """Draw a square: regions, density, boundary, margins, marks and rings, or the method's picture.

    `tree`: what the stage shows, see `views.stage.stage.Stage`; `view`: one of "input", "latent", "method"; `side`:
    pixels of the image; `scale`: pixels of the image for each pixel of the page; `words`: whether the method's picture
    has its axes and words. Returns in RGB.
    """
    plane = tree["planes"][view]
    picture = plane.get("picture")
    if picture is not None and not words:
        picture = {**picture, "axes": (), "tags": ()}
    frame = framed(side, plane["extent"], picture, dark=dark, scale=scale)
    if picture is not None:
        draw_below(frame.pen, picture, dark=dark)
    _draw_surface(frame.pen, tree, plane, dark=dark)
    if view != "method":
        _draw_rings(frame.pen, tree, plane, dark=dark, under=True)
        _draw_rows(frame.pen, tree, plane, dark=dark)
        _draw_rings(frame.pen, tree, plane, dark=dark, under=False)
    elif picture is not None and picture["rows"]:
        _draw_rows(frame.pen, tree, plane, dark=dark)
    if words:
        draw_words(frame.pen, plane.get("names") or (), dark=dark)
    if picture is not None:
        draw_above(frame.pen, picture, dark=dark)
    return frame.whole()


def row_shades(tree: Tree, picture: dict[str, Any] | None, *, dark: bool) -> list[str]:
    """Return the colour of every row that is drawn, as #RRGGBB; a picture may have colours of its own."""
    if picture is not None and picture["row_role"] is not None:
        return [picture["roles"][role][int(dark)] for role in picture["row_role"]]
    return colours_of(tree["rows"]["colour"].astype(float), tree["scale"]["dark" if dark else "light"])


def colours_of(values: NDArray, scale: dict[str, Any]) -> list[str]:
    """Return the colours of values on a scale of the stage.

    `values` (n,); `scale`: ``palette``, ``low``, ``high``, and ``nan`` for values that are not finite. Colours are
    written as #RRGGBB.
    """
    shades, finite = scale["palette"], np.isfinite(values)
    share = np.where(finite, (values - scale["low"]) / (scale["high"] - scale["low"]), 0.0)
    levels = np.clip(np.floor(share * len(shades)).astype(int), 0, len(shades) - 1)
    return [shades[level] if ok else scale["nan"] for level, ok in zip(levels, finite)]


def _draw_surface(pen: Pen, tree: Tree, plane: Tree, *, dark: bool) -> None:
    region, density = plane.get("region"), plane.get("density")
    if region is not None:
        shades = colours_of(np.arange(256.0), tree["surface_scale"]["dark" if dark else "light"])
        tinted = np.array([*map(channels, shades)], dtype=np.uint8)[region["image"]]
        opaque = np.full(tinted.shape[:2], round(255 * region["alpha"]), dtype=np.uint8)
        pen.lay(np.dstack([tinted, opaque]), region["extent"])
    if density is not None:
        pen.lay(_mixed(density["levels"], density["colours"][int(dark)]), density["extent"], smooth=True)
    for name, look in DRAWN["lines"].items():
        lines = plane.get(name)
        if lines is not None and len(lines):
            pen.line(lines, palette(dark).boundary, look["width"], look["opacity"], look["dash"])


def _draw_rows(pen: Pen, tree: Tree, plane: Tree, *, dark: bool) -> None:
    """Draw the rows with what belongs to each: threads, and where a picture says that they came from or go."""
    picture, colours = plane.get("picture"), palette(dark)
    places, shades = unpacked_places(plane["place"]), row_shades(tree, picture, dark=dark)
    if plane.get("threads"):
        _join(pen, places, unpacked_places(plane["ends"]), colours.secondary)
    if picture is None or not picture["tips"]:
        _draw_marks(pen, tree, places, shades, small=picture is not None and picture["small"])
        return
    tips, shapes, mark = unpacked_places(plane["ends"]), tree["rows"]["shape"], picture["tip_mark"]
    if mark == "origin":
        _join(pen, places, tips, colours.muted)
    draw_tips(pen, places, tips, shades, shapes, mark, under=True)
    _draw_marks(pen, tree, places, shades, small=picture["small"])
    draw_tips(pen, places, tips, shades, shapes, mark, under=False)


def _draw_marks(pen: Pen, tree: Tree, places: NDArray, shades: Sequence[str], *, small: bool) -> None:
    """Draw the marks, in the page's order: mixed, so that no class covers the others, but for what is to lie above."""
    rows, at = tree["rows"], pen.pixels(places)
    shown = np.isfinite(at).all(axis=1)
    for row in _order(rows):
        if shown[row]:
            kind = int(rows["kind"][row])
            outlined = bool(rows["outlined"]) or kind == TEST
            size = SMALL if small else SIZES[kind] * _factor(rows, row) * rows["size"] + (0.0 if outlined else 1.0)
            line = 1.0 if outlined else 0.0
            pen.mark(at[row], int(rows["shape"][row]), size, shades[row], FILLS[kind], line, rows["opacity"])


def _factor(rows: Tree, row: int) -> float:
    """Return by how much a row is larger than usual, where sizes mean something."""
    return 1.0 if rows.get("sizes") is None else GROWN[rows["sizes"][row]]


def _draw_rings(pen: Pen, tree: Tree, plane: Tree, *, dark: bool, under: bool) -> None:
    """Draw the rings that lie under the marks, or those over them."""
    at = pen.pixels(unpacked_places(plane["place"]))
    for ring in (plane["support"], plane["ring"]):
        if ring is None or ring["under"] != under:
            continue
        colour = getattr(palette(dark), ring["role"])
        ringed = np.unpackbits(ring["rows"], count=len(at), bitorder="little").astype(bool)
        size = ring["grow"] * tree["rows"]["size"] + ring["gap"]
        wide = ring["width"] + 2.0 * ring["edge"]
        for tone, width in ([(palette(dark).card, wide)] if ring["edge"] else []) + [(colour, ring["width"])]:
            for row in np.flatnonzero(ringed & np.isfinite(at).all(axis=1)):
                pen.mark(at[row], 0, size, tone, 0.0, width, ring["alpha"])


def _join(pen: Pen, places: NDArray, ends: NDArray, colour: str) -> None:
    """Draw threads from rows to their other ends."""
    pen.line(joined_rows(places, ends), colour, 1.0, DRAWN["rows"]["thread"])


def _order(rows: Tree) -> NDArray:
    """Return the rows in the order in which the page draws them."""
    count = len(rows["colour"])
    stride = max(1, round(count * DRAWN["rows"]["stride"]))
    while math.gcd(stride, count) > 1:
        stride += 1
    mixed = np.arange(count) * stride % max(count, 1)
    if not rows["above"]:
        return mixed
    values = rows["colour"][mixed].astype(float)
    heights = np.nan_to_num(-values if rows["above"] == "low" else values, nan=-np.inf)
    return mixed[np.argsort(heights, kind="stable")]


def _mixed(levels: NDArray, colours: Sequence[str]) -> NDArray:
    """Mix the layers (k, r, r) of a density: each adds its colour and its opacity."""
    tones = np.array([channels(colour) for colour in colours], dtype=float)
    opacity = levels.sum(axis=0, dtype=float)
    mixed = np.tensordot(levels, tones, axes=(0, 0)) / np.maximum(opacity, 1.0)[..., None]
    return np.dstack([mixed, np.minimum(opacity, 255.0)]).round().astype(np.uint8)
