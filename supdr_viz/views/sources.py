"""The points: rows that all figures share.

Each plane has its own source of places, all sources share one selection: brushing is linked by row, the selection
survives every frame, and a figure is repainted only when its own points move.  A frame replaces only the columns that
moved, as float32; colours, labels and pictures are sent once per scene.  Rings (errors, support vectors) are a column
of sizes, NaN where there is none: a filter by a list of 500 rows costs the server 1.2 ms, such a column 0.05 ms.  What
the tooltip says stands in a source that nothing draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSHover, LinearColorMapper, Selection
from numpy.typing import NDArray

from supdr_viz.frames.picture import Picture, RowValue, some_rows
from supdr_viz.frames.types import Frame, Scene, Surface
from supdr_viz.views.colours import SHADES, UNKNOWN, hidden_rows, row_colours, scale
from supdr_viz.views.moves import Moves
from supdr_viz.views.row_images import encode_pictures

MARKERS = (
    "circle",
    "triangle",
    "square",
    "diamond",
    "inverted_triangle",
    "hex",
    "star",
    "plus",
    "square_pin",
    "triangle_pin",
)
"""Marker of each class: all have an inside, so that test rows can be hollow.  Later classes start again."""

RING_GAP = 5.5
"""Rings are wider than the points they mark by this many pixels."""

ARROW_COLUMNS = ("tx", "ty", "angle", "c")

MAX_OUTLINED = 500
"""Of more rows, only the hollow ones have an outline: it takes a browser as long to draw as the point itself."""

MAX_NAME_LENGTH = 40
MAX_PICTURE_ROWS = 3000
MAX_PICTURE_PIXELS = 32 * 32

# One function makes every piece of text in the tooltip; BokehJS escapes what it returns.
_HOVER_CODE = """
const i = special_vars.index
const data = facts.data
const say = (v) => names.length ? (names[v] ?? "–") : (Number.isFinite(v) ? `${Number(v.toPrecision(4))}` : "–")
if (format == "picture") return data.picture[i]
if (format == "title") return say(data.truth[i])
if (format == "row") return `row ${data.row[i]} · ${["train", "test", "train, label hidden"][data.split[i]]}`
const found = data.value[i], measured = measure && Number.isFinite(found) ? ` · ${measure} ${found.toFixed(2)}` : ""
return `predicted ${say(data.predicted[i])}${measured}`
"""

TOOLTIP = (
    '<div style="font-size:12px;line-height:1.45;max-width:260px;min-height:{height}px">{picture}'
    "<b>$index{{title}}</b><br>$index{{row}}<br>$index{{prediction}}</div>"
)
PICTURE = (
    '<img src="$index{picture}" alt="" width="56" height="56"'
    ' style="image-rendering:pixelated;float:left;margin-right:10px;border-radius:3px">'
)


class Points:
    """All rows of a scene, with the colours, rings and tooltips that figures share.

    Every source of places has the columns ``x, y``; ``k`` colour (see `supdr_viz.views.colours`); ``m`` marker;
    ``fill_alpha`` (0 for test rows); ``line_alpha``; ``size``.  `input` and `latent` also have ``ring``, the size of
    the ring around the rows of `ringed`; `latent` has ``px, py``, the places by `transform`; `method` has ``tx, ty``,
    the tips of a picture, ``angle``, how the heads of arrows are turned, and ``c``, the role of a row.

    Parameters
    ----------
    dark : bool
    selection : Selection, optional
        To be shared with other runs on the same rows of the same page.

    Attributes
    ----------
    input, latent, method : ColumnDataSource
    facts : ColumnDataSource
        What the tooltip says.
    selection : Selection
        ``selection.indices`` are the selected rows, whichever figure they were selected in.
    mapper, surface_mapper : LinearColorMapper
        Colours of points and of surfaces.
    hover_formatter : CustomJSHover
    pulled : bool
        Whether the places by `transform` are wanted.
    colour_by : {"label", "truth", "prediction", "error"}
        What the colours of rows mean.
    scene : Scene or None
    frame : Frame or None
    surface : Surface or None
    """

    def __init__(self, dark: bool = False, selection: Selection | None = None) -> None:
        self.dark = dark
        self.scene: Scene | None = None
        self.frame: Frame | None = None
        self.surface: Surface | None = None
        self.pulled = False
        self.colour_by = "label"
        self._mode: str | None = None
        self._sent: dict[str, NDArray] = {}
        self._surface_range = (0.0, 1.0)
        self.selection = Selection() if selection is None else selection
        self.input = ColumnDataSource(_first_row("x", "y", "ring"), selected=self.selection)
        self.latent = ColumnDataSource(_first_row("x", "y", "px", "py", "ring"), selected=self.selection)
        self.method = ColumnDataSource(_first_row("x", "y", *ARROW_COLUMNS), selected=self.selection)
        self._moves = Moves(
            [(self.latent, name) for name in ("x", "y", "px", "py", "ring")]
            + [(self.method, name) for name in ("x", "y", *ARROW_COLUMNS)]
        )
        # A tag, so that it belongs to the page.
        self.facts = ColumnDataSource({}, tags=[self._moves.source])
        self.mapper = LinearColorMapper(palette=["#8A97A3"], low=-0.5, high=0.5)
        self.surface_mapper = LinearColorMapper(palette=["#8A97A3"], low=-0.5, high=0.5)
        self.hover_formatter = CustomJSHover(args={"facts": self.facts, "names": [], "measure": ""}, code=_HOVER_CODE)

    @property
    def n_rows(self) -> int:
        """Number of rows of the scene."""
        return 0 if self.scene is None else len(self.scene.position)

    @property
    def size(self) -> float:
        """Marker size of labelled rows in pixels."""
        return point_size(self.n_rows)

    @property
    def is_regression(self) -> bool:
        """Whether colours stand for values instead of classes."""
        return self.scene is not None and self.scene.task == "regression"

    @property
    def has_hidden(self) -> bool:
        """Whether the method does not see the labels of some training rows."""
        return self.scene is not None and bool(hidden_rows(self.scene).any())

    def ringed(self, plane: str) -> str:
        """Say what rings mark in a plane, "input" or "latent": the name of a colour."""
        if self.is_regression and self.has_hidden:
            return "labelled"
        return "error" if plane == "input" else "support"

    @property
    def tooltip(self) -> str:
        """HTML template of the tooltip; what comes from the data enters through escaped placeholders only."""
        pictures = self.scene is not None and _pictures_fit(self.scene)
        return TOOLTIP.format(picture=PICTURE if pictures else "", height=56 if pictures else 0)

    def show_scene(self, scene: Scene) -> None:
        """Replace all rows.  The selection goes first: its indices belong to the old rows."""
        self.selection.indices = []
        self.scene, self.frame, self.surface = scene, None, None
        self._sent = {}
        names = [shorten(name) for name in scene.class_names]
        self.hover_formatter.args = {**self.hover_formatter.args, "names": names, "measure": ""}
        look = _look(scene, self.colour_by)
        blank = np.full(self.n_rows, np.nan, dtype=np.float32)
        place = {"x": column(scene.position[:, 0]), "y": column(scene.position[:, 1])}
        self.facts.data = _facts(scene)
        self.input.data = look | place | {"ring": blank}
        self.latent.data = look | dict.fromkeys(("x", "y", "px", "py", "ring"), blank)
        self.method.data = look | dict.fromkeys(("x", "y", *ARROW_COLUMNS), blank)
        # Colours last: with the rows still the old ones, a new palette starts a redrawing that the new rows upset.
        self._colour()

    def show_frame(self, frame: Frame) -> None:
        """Send what moved since the last frame."""
        self.frame = frame
        self._send()
        if self._measure != self.hover_formatter.args["measure"]:
            self._send_facts()

    def show_surface(self, surface: Surface) -> None:
        """Ring the errors; refresh what the tooltip says."""
        self.surface = surface
        if self.is_regression and surface.value_range != self._surface_range:
            self._surface_range = surface.value_range
            self._scale_surface()
        self._send_facts()
        wrong = self._ring_rows("input", surface.wrong)
        if self._moved("wrong", wrong):
            self.input.data.update({"ring": self._rings(wrong)})
        self._send_colours()

    def show_pulled(self, wanted: bool) -> None:
        """Send, or stop sending, where `transform` puts the training rows."""
        self.pulled = wanted
        self._send()

    def show_mode(self, mode: str | None) -> None:
        """Choose what the method's view shows: the name of a mode, or None."""
        self._mode = mode
        self._send()

    def show_colours(self, colour_by: str) -> None:
        """Choose what the colours of rows mean."""
        if colour_by != self.colour_by:
            self.colour_by = colour_by
            self._send_colours()
            self._colour()

    def set_theme(self, dark: bool) -> None:
        """Change the colours; no data is sent again."""
        if dark != self.dark:
            self.dark = dark
            self._colour()

    def _send(self) -> None:
        """Send the wanted places that changed, in one piece."""
        frame = self.frame
        if frame is None:
            return
        moved: dict[str, Any] = {}
        if self._moved("latent", frame.latent):
            moved |= {"x": column(frame.latent[:, 0]), "y": column(frame.latent[:, 1])}
        if self.pulled and frame.pulled is not None and self._moved("pulled", frame.pulled):
            pulled = some_rows(frame.pulled)
            moved |= {"px": column(pulled[:, 0]), "py": column(pulled[:, 1])}
        support = self._ring_rows("latent", frame.support)
        if self._moved("support", support):
            moved["ring"] = self._rings(support)
        moves = [(self.latent, name, values) for name, values in moved.items()]
        picture = self._picture
        if picture is not None:
            moves += [(self.method, name, values) for name, values in self._moved_rows(picture).items()]
        self._moves.send(moves)

    def _moved_rows(self, picture: Picture) -> dict[str, NDArray]:
        """Return the columns of a picture's rows that changed."""
        rows, tips = picture.rows, picture.tips
        moved: dict[str, NDArray] = {}
        rows_moved = rows is not None and self._moved("rows", rows)
        tips_moved = tips is not None and self._moved("tips", tips)
        if rows is not None and rows_moved:
            moved |= {"x": column(rows[:, 0]), "y": column(rows[:, 1])}
        if tips is not None and tips_moved:
            shown = some_rows(tips)
            moved |= {"tx": column(shown[:, 0]), "ty": column(shown[:, 1])}
        if rows is not None and tips is not None and picture.tip_mark == "arrow" and (rows_moved or tips_moved):
            moved["angle"] = _turned(tips - rows)
        if picture.row_role is not None and self._moved("roles", picture.row_role):
            moved["c"] = column(picture.row_role)
        return moved

    def _send_facts(self) -> None:
        """Send what the tooltip says, as far as it changed."""
        if self.scene is None:
            return
        known: dict[str, Any] = {}
        if self.surface is not None and self._moved("predicted", self.surface.predicted):
            known["predicted"] = self.surface.predicted.astype(np.float32 if self.is_regression else np.uint8)
        value = self._row_value
        if value is not None and self._moved("value", value.values):
            known["value"] = column(value.values)
        if known:
            self.facts.data.update(known)
        if self._measure != self.hover_formatter.args["measure"]:
            self.hover_formatter.args = {**self.hover_formatter.args, "measure": self._measure}

    def _send_colours(self) -> None:
        """Send the rows' colours, if they changed."""
        if self.scene is None:
            return
        colours = row_colours(self.scene, self.surface, self.colour_by)
        if self._moved("colours", colours):
            for source in (self.input, self.latent, self.method):
                source.data.update({"k": colours})

    def _ring_rows(self, plane: str, rows: NDArray) -> NDArray:
        assert self.scene is not None
        return self.scene.is_labelled if self.ringed(plane) == "labelled" else rows

    @property
    def _picture(self) -> Picture | None:
        """The frame's picture, if it is of the mode on display."""
        picture = self.frame.picture if self.frame is not None else None
        return picture if picture is not None and picture.mode == self._mode else None

    @property
    def _row_value(self) -> RowValue | None:
        return self._picture.row_value if self._picture is not None else None

    @property
    def _measure(self) -> str:
        """What the tooltip says of a row beside its prediction."""
        return self._row_value.name if self._row_value is not None else ""

    def _rings(self, rows: NDArray) -> Any:
        return np.where(rows, self.size + RING_GAP, np.nan).astype(np.float32)

    def _moved(self, name: str, values: NDArray) -> bool:
        """Whether the browser does not have these values yet; it is about to get them."""
        sent = self._sent.get(name)
        if sent is not None and (sent is values or np.array_equal(sent, values, equal_nan=values.dtype.kind == "f")):
            return False
        self._sent[name] = values
        return True

    def _colour(self) -> None:
        if self.scene is None:
            return
        self.mapper.update(**scale(self.scene, self.colour_by, self.dark))
        if self.is_regression:
            self.surface_mapper.palette = list(SHADES)
            self._scale_surface()
        else:
            self.surface_mapper.update(**scale(self.scene, "label", self.dark))

    def _scale_surface(self) -> None:
        """Give each image level the colour that points of the same value have."""
        assert self.scene is not None
        (low, high), (first, last) = self.scene.value_range, self._surface_range
        span = (last - first) or 1.0
        self.surface_mapper.update(low=255.0 * (low - first) / span, high=255.0 * (high - first) / span)


def column(values: NDArray) -> NDArray:
    """Return a float32 copy in one piece, as the browser wants it."""
    return np.array(values, dtype=np.float32, order="C")


def shorten(text: str) -> str:
    """Cut a name to what fits into a tooltip."""
    text = " ".join(str(text).split())
    return text if len(text) <= MAX_NAME_LENGTH else text[: MAX_NAME_LENGTH - 1] + "…"


def point_size(n_rows: int) -> float:
    """Return the marker size in pixels: 9 up to 200 rows, 5 at 2,000, never below 4."""
    return float(np.clip(9.0 - 4.0 * np.log10(max(n_rows, 1) / 200.0), 4.0, 9.0))


def _first_row(*places: str) -> dict[str, Any]:
    """One row that draws nothing, so that figures know their columns before there is a scene."""
    blank = np.full(1, np.nan, dtype=np.float32)
    look = {
        "k": np.zeros(1, dtype=np.uint8),
        "m": [MARKERS[0]],
        "fill_alpha": blank,
        "line_alpha": blank,
        "size": blank,
    }
    return look | dict.fromkeys(places, blank)


def _turned(ways: NDArray) -> NDArray:
    """Return by how much a triangle that points up must be turned to point along each way (n, 2)."""
    return column(np.arctan2(ways[:, 1], ways[:, 0]) - np.pi / 2.0)


def _look(scene: Scene, colour_by: str) -> dict[str, Any]:
    hidden = hidden_rows(scene)
    size = np.full(len(hidden), point_size(len(hidden)), dtype=np.float32)
    size[hidden] *= 0.7
    outlined = scene.is_test | (len(hidden) <= MAX_OUTLINED)
    size[~outlined] += 1.0
    return {
        "k": row_colours(scene, None, colour_by),
        "m": [MARKERS[code % len(MARKERS)] for code in np.where(hidden, 0, scene.code).tolist()],
        "fill_alpha": np.where(scene.is_test, 0.0, np.where(hidden, 0.45, 0.8)).astype(np.float32),
        "line_alpha": outlined.astype(np.float32),
        "size": size,
    }


def _facts(scene: Scene) -> dict[str, Any]:
    n_rows, regression = len(scene.position), scene.task == "regression"
    facts: dict[str, Any] = {
        "row": scene.row.astype(np.int32),
        "truth": column(scene.target) if regression else scene.code.astype(np.uint8),
        "split": np.where(scene.is_test, 1, np.where(hidden_rows(scene), 2, 0)).astype(np.uint8),
        "predicted": np.full(n_rows, np.nan if regression else UNKNOWN, dtype=np.float32 if regression else np.uint8),
        "value": np.full(n_rows, np.nan, dtype=np.float32),
    }
    if scene.images is not None and _pictures_fit(scene):
        facts["picture"] = encode_pictures(scene.images)
    return facts


def _pictures_fit(scene: Scene) -> bool:
    images = scene.images
    return images is not None and 0 < len(images) <= MAX_PICTURE_ROWS and images[0].size <= MAX_PICTURE_PIXELS
