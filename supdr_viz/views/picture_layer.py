"""A `Picture` drawn on a figure: what does not belong to single rows.

All colours are roles of the picture; one mapper and the colours of a few lines follow the theme.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Image, Line, LinearColorMapper, Scatter
from bokeh.models.glyphs import Patches, Text
from numpy.typing import NDArray

from supdr_viz.frames.picture import Picture
from supdr_viz.kit.theme import palette
from supdr_viz.views.figures import add_plain, colour_of

FAINTEST = 0.2
"""Opacity of the lowest of several shades, as a share of the highest."""

MARK_SIZE = 11

MAX_LISTED = 300

NOTHING: dict[str, Any] = {"x": [math.nan], "y": [math.nan]}


class PictureLayer:
    """Image, areas and lines of a picture under the rows, and its marks, which `add_marks` puts over them.

    Parameters
    ----------
    made : figure
    dark : bool

    Attributes
    ----------
    mapper : LinearColorMapper
        Index of a role -> colour.
    picture : Picture or None
        What is shown.
    """

    def __init__(self, made: Any, dark: bool) -> None:
        self._figure, self.dark = made, dark
        self.picture: Picture | None = None
        self.mapper = LinearColorMapper(palette=["#8A97A3"], low=-0.5, high=0.5)
        self._image_mapper = LinearColorMapper(palette=["#8A97A3"], low=-0.5, high=0.5)
        self._roles: tuple[str, ...] = ()
        self._shades = 1
        colour: Any = {"field": "c", "transform": self.mapper}
        self._image = ColumnDataSource(_image_columns(None))
        self._pixels: Any = Image(image="image", x="x", y="y", dw="dw", dh="dh", color_mapper=self._image_mapper)
        add_plain(made, self._image, self._pixels, level="image")
        self._photo = ColumnDataSource(_image_columns(None))
        self._grey_mapper = LinearColorMapper(palette=["#8A97A3"], low=0, high=255)
        grey: Any = Image(image="image", x="x", y="y", dw="dw", dh="dh", color_mapper=self._grey_mapper)
        add_plain(made, self._photo, grey, level="image")
        self._areas = ColumnDataSource({"xs": [], "ys": [], "c": [], "alpha": []})
        areas: Any = Patches(xs="xs", ys="ys", fill_color=colour, fill_alpha="alpha", line_color=colour, line_alpha=0.5)
        add_plain(made, self._areas, areas)
        self._lines: list[Any] = []
        self._looks: list[tuple[Any, ...]] = []
        self._marks = ColumnDataSource({**NOTHING, "c": [0]})
        self._mark = Scatter(x="x", y="y", size=MARK_SIZE, fill_color=colour, line_width=1.6)
        self._tags = ColumnDataSource({**NOTHING, "text": [""], "align": ["left"], "c": [0]})
        font: Any = {"value": "Roboto"}
        self._words: Any = Text(x="x", y="y", text="text", text_font=font, text_font_size="11px", text_align="align")
        self._words.update(text_color=colour, text_baseline="middle", background_fill_alpha=0.75, padding=1)
        add_plain(made, self._tags, self._words, level="annotation")

    def add_marks(self) -> None:
        """Add the glyph of the marks, over what the figure has by now."""
        add_plain(self._figure, self._marks, self._mark)
        self.set_theme(self.dark)

    def show(self, picture: Picture | None) -> None:
        """Draw a picture, or nothing."""
        if picture is self.picture:
            return
        before, self.picture = self.picture, picture
        picture = picture or Picture("", (0.0, 1.0, 0.0, 1.0))
        if (picture.roles, picture.shades) != (self._roles, self._shades):
            self._roles, self._shades = picture.roles, picture.shades
            self._colour()
        self._show_image(picture, before)
        if picture.areas or len(self._areas.data["c"]):
            self._areas.data = {
                "xs": [area.points[:, 0].tolist() for area in picture.areas],
                "ys": [area.points[:, 1].tolist() for area in picture.areas],
                "c": [area.role for area in picture.areas],
                "alpha": [area.alpha for area in picture.areas],
            }
        self._show_strokes(picture, before)
        self._show_marks(picture, before)
        if picture.tags != (before.tags if before is not None else ()):
            columns = zip(*picture.tags) if picture.tags else ([math.nan], [math.nan], [""], [0], ["left"])
            self._tags.data = dict(zip(("x", "y", "text", "c", "align"), map(list, columns)))

    def set_theme(self, dark: bool) -> None:
        """Take the colours of the light or dark theme; no data is sent again."""
        self.dark = dark
        self._mark.line_color = self._words.background_fill_color = palette(dark).card
        self._grey_mapper.palette = _greys(palette(dark).card, palette(dark).text)
        self._colour()

    def _colour(self) -> None:
        colours = [colour_of(role, self.dark) for role in self._roles]
        if colours:
            self.mapper.update(palette=colours, low=-0.5, high=len(colours) - 0.5)
            shaded = [shade for colour in colours for shade in _shaded(colour, self._shades)]
            self._image_mapper.update(palette=shaded, low=-0.5, high=len(shaded) - 0.5)
        for line, stroke in zip(self._lines, self.picture.strokes if self.picture else ()):
            line.glyph.line_color = colours[stroke.role]

    def _show_image(self, picture: Picture, before: Picture | None) -> None:
        if self._pixels.global_alpha != picture.image_alpha:
            self._pixels.global_alpha = picture.image_alpha
        if not _same_image(picture, before):
            self._image.data = _image_columns(picture)
        if picture.photo is not None or (before is not None and before.photo is not None):
            self._photo.data = _image_columns(picture, photo=True)

    def _show_strokes(self, picture: Picture, before: Picture | None) -> None:
        known = before.strokes if before is not None else ()
        for number, stroke in enumerate(picture.strokes):
            if number == len(self._lines):
                new = Line(x="x", y="y", line_join="round")
                self._lines.append(add_plain(self._figure, ColumnDataSource(NOTHING), new, level="underlay"))
                self._looks.append(())
            line = self._lines[number]
            look = (colour_of(picture.roles[stroke.role], self.dark), stroke.width, stroke.dash, stroke.alpha)
            if look != self._looks[number]:  # to set what is set already takes the server as long
                self._looks[number] = look
                line.glyph.update(**dict(zip(("line_color", "line_width", "line_dash", "line_alpha"), look)))
            old = known[number].points if number < len(known) else None
            if old is None or not np.array_equal(old, stroke.points, equal_nan=True):
                line.data_source.data = _places(stroke.points)
            if not line.visible:
                line.visible = True
        for line in self._lines[len(picture.strokes) :]:
            if line.visible:
                line.visible = False

    def _show_marks(self, picture: Picture, before: Picture | None) -> None:
        if picture.marks is not None and picture.mark_role is not None:
            self._marks.data = {**_places(picture.marks), "c": picture.mark_role.tolist()}
        elif before is not None and before.marks is not None:
            self._marks.data = {**NOTHING, "c": [0]}


def _shaded(colour: str, shades: int) -> list[str]:
    """Write a colour in that many opacities, the last one full."""
    if shades == 1:
        return [colour]
    return [f"{colour}{round(255 * (FAINTEST + (1 - FAINTEST) * level / (shades - 1))):02x}" for level in range(shades)]


def _places(points: NDArray) -> dict[str, Any]:
    """Columns of a few points: lists travel inside the message, every array would cost two more."""
    if len(points) > MAX_LISTED:
        return {name: np.array(points[:, k], dtype=np.float32, order="C") for k, name in enumerate("xy")}
    return {name: points[:, k].tolist() for k, name in enumerate("xy")}


def _same_image(picture: Picture, before: Picture | None) -> bool:
    """Whether the browser has this image at this place already."""
    if picture.image is None or before is None or before.image is None:
        return picture.image is None and (before is None or before.image is None)
    return before.extent == picture.extent and np.array_equal(before.image, picture.image)


def _greys(first: str, last: str) -> list[str]:
    """256 colours from one, written as #RRGGBB, to another."""
    ends = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in (first, last)])
    mixed = np.round(np.linspace(ends[0], ends[1], 256)).astype(int)
    return [f"#{red:02X}{green:02X}{blue:02X}" for red, green, blue in mixed.tolist()]


def _image_columns(picture: Picture | None, *, photo: bool = False) -> dict[str, Any]:
    """One image; without one an image of no size."""
    image = None if picture is None else picture.photo if photo else picture.image
    if picture is None or image is None:
        return {"image": [np.zeros((1, 1), dtype=np.uint8)], "x": [0.0], "y": [0.0], "dw": [0.0], "dh": [0.0]}
    x_low, x_high, y_low, y_high = picture.extent
    pixels = np.ascontiguousarray(image, dtype=np.uint8)
    return {"image": [pixels], "x": [x_low], "y": [y_low], "dw": [x_high - x_low], "dh": [y_high - y_low]}
