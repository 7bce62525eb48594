"""A method's own picture, as primitives: rows, arrows, strokes, areas, marks, an image, and words about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.number_format import readable

# Of about so many rows at most it is shown where they came from or are drawn to.
MAX_JOINED = 700


class Number(NamedTuple):
    """A named value that a picture says in words.

    `help`: what it means, in a few words; `best`: what its best value says.
    """

    name: str
    value: float
    unit: str = ""
    help: str = ""
    best: str = ""

    def __str__(self) -> str:
        """Value and unit."""
        if isinstance(self.value, int):
            return f"{self.value:,}{self.unit and ' '}{self.unit}"
        if self.unit == "%":
            return f"{readable(f'{self.value:.1f}')} %"
        if 0 < abs(self.value) < 1e-3:
            shown = f"{self.value:.1e}"
        else:
            shown = f"{self.value:.3f}" if abs(self.value) < 10 else f"{self.value:.4g}"
        shown = readable(shown)
        return f"{shown} {self.unit}" if self.unit else shown


class Key(NamedTuple):
    """An entry of a picture's legend.

    `role`: name of a colour, one of ``Picture.roles``; `kind`: one of "point", "ring", "hollow", "oval", "line";
    `dash`: one of "solid", "dashed", "dotted", "dotdash".
    """

    name: str
    role: str
    kind: str = "point"
    dash: str = "solid"


@dataclass(frozen=True, eq=False)
class Stroke:
    """Lines of one look.

    points (k, 2): rows of NaN stand between lines.
    role: colour, an index into ``Picture.roles``.
    dash: one of "solid", "dashed", "dotted", "dotdash".
    above: whether it lies over the rows.
    edge: width of edges in the colour of the card on both sides, which set it off from a crowd of its own colour.
    """

    points: NDArray
    role: int
    width: float = 1.5
    dash: str = "solid"
    alpha: float = 1.0
    above: bool = False
    edge: float = 0.0

    def __post_init__(self) -> None:
        """Hold the points as floats."""
        object.__setattr__(self, "points", np.asarray(self.points, dtype=float))


@dataclass(frozen=True, eq=False)
class Area:
    """A filled polygon.

    `points` (k, 2); `role`: colour, an index into ``Picture.roles``; `alpha`: opacity of the filling.
    """

    points: NDArray
    role: int
    alpha: float = 0.14

    def __post_init__(self) -> None:
        """Hold the points as floats."""
        object.__setattr__(self, "points", np.asarray(self.points, dtype=float))


class Tag(NamedTuple):
    """A few words at a place of a picture.

    `role`: colour, an index into ``Picture.roles``; `align`: one of "left", "center", "right".
    """

    x: float
    y: float
    text: str
    role: int
    align: str = "left"


class Panel(NamedTuple):
    """A part of a picture with a scale of its own.

    `name`: key: panels of the same name keep their extent while it serves; `extent`: (x_low, x_high, y_low, y_high) of
    what is shown, in its own units; `box`: (x_low, x_high, y_low, y_high) in the picture, of the same shape.
    """

    name: str
    extent: tuple[float, float, float, float]
    box: tuple[float, float, float, float]

    def place(self, points: NDArray) -> NDArray:
        """Map points (n, 2) of the panel to the picture."""
        scale = (self.box[1] - self.box[0]) / (self.extent[1] - self.extent[0])
        return (points - self.extent[::2]) * scale + self.box[::2]


class RowValue(NamedTuple):
    """The value that the tooltip of every row gives.

    `values` (n,): NaN: nothing.
    """

    name: str
    values: NDArray


@dataclass(frozen=True, eq=False)
class Picture:
    """A method's own picture, in primitives that any method can use.

    Colours are names of roles ("class 0", "muted", ...: see `supdr_viz.ui.theme`), so that a theme changes them all at
    once; everything else refers to them by index.

    extent: (x_low, x_high, y_low, y_high).
    rows (n, 2): where the rows of the scene stand; NaN hides one.
    row_role (n,): their colours; None: the colours of their classes.
    tips (n, 2): a line from every row, to its mark; NaN where there is none.
    tip_mark (one of "arrow", "ring", "origin"): how a tip looks: a head, a ring (the row as it stands elsewhere), or a
        faint point (where the row came from).
    marks (m, 2): few and large: class means, centres, .
    mark_role (m,).
    image (h, w): indices into `roles`, times `shades`, plus a level of opacity from 0 to `shades` - 1; it fills
        `extent`, first row lowest.
    photo (r, r): grey levels from the colour of the card, 0, to that of text, 255; it fills `extent`, first row lowest.
    shades: levels of opacity of the image.
    smooth: whether the image's cells are samples of something smooth: colours pass into each other between their
        middles.
    panels: where parts of the picture lie; drawn by their strokes alone.
    image_alpha: opacity of the image: faint behind rows, 1 where the image is the picture.
    axis_labels: None: axes without meaning are not drawn.
    counts: the axis across counts something: whole numbers only.
    ticks: the values that the upward axis names; empty: round ones.
    mode: name of the mode that made it, which sets it.
    """

    extent: tuple[float, float, float, float]
    roles: tuple[str, ...] = ()
    rows: NDArray | None = None
    row_role: NDArray | None = None
    row_value: RowValue | None = None
    tips: NDArray | None = None
    tip_mark: str = "arrow"
    strokes: tuple[Stroke, ...] = ()
    areas: tuple[Area, ...] = ()
    marks: NDArray | None = None
    mark_role: NDArray | None = None
    image: NDArray | None = None
    photo: NDArray | None = None
    shades: int = 1
    smooth: bool = False
    tags: tuple[Tag, ...] = ()
    panels: tuple[Panel, ...] = ()
    image_alpha: float = 0.3
    axis_labels: tuple[str, str] | None = None
    counts: bool = False
    ticks: tuple[float, ...] = ()
    keys: tuple[Key, ...] = ()
    numbers: tuple[Number, ...] = ()
    caption: str = ""
    mode: str = ""

    def __post_init__(self) -> None:
        """Hold places as floats; roles and levels as bytes, of which there are as many as roles or greys."""
        for name, kind in {
            "marks": float,
            **dict.fromkeys(("row_role", "mark_role", "image", "photo"), np.uint8),
        }.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.asarray(getattr(self, name)).astype(kind, copy=False))

    @property
    def has_small_rows(self) -> bool:
        """Whether rows are drawn small: arrows lead away from them, or they share the picture's panels."""
        return bool(self.panels) or (self.tips is not None and self.tip_mark != "origin")


def some_rows(values: NDArray) -> NDArray:
    """Hide the other ends of most rows' lines where there are many: so many cannot be told apart.

    `values` (n,) or (n, 2). Returns NaN where hidden.
    """
    chosen = np.arange(len(values)) % -(-max(len(values), 1) // MAX_JOINED) == 0
    return np.where(chosen.reshape(-1, *[1] * (values.ndim - 1)), values, values.dtype.type(np.nan))
