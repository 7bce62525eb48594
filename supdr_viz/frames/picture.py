"""What a method shows of itself, as primitives: rows, arrows, strokes, areas, marks, an image, and words about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_JOINED = 700
"""Of about so many rows at most it is shown where they came from or are drawn to."""


class Number(NamedTuple):
    """A named value that a picture says in words.

    Attributes
    ----------
    name : str
    value : float
    unit : str
    help : str
        What it means, in a few words.
    """

    name: str
    value: float
    unit: str = ""
    help: str = ""

    def __str__(self) -> str:
        """Value and unit."""
        if isinstance(self.value, int):
            return f"{self.value:,}{self.unit and ' '}{self.unit}"
        if self.unit == "%":
            return f"{self.value:.1f} %"
        if 0 < abs(self.value) < 1e-3:
            shown = f"{self.value:.1e}"
        else:
            shown = f"{self.value:.3f}" if abs(self.value) < 10 else f"{self.value:.4g}"
        return f"{shown} {self.unit}" if self.unit else shown


class Key(NamedTuple):
    """An entry of a picture's legend.

    Attributes
    ----------
    name : str
    role : str
        Name of a colour, one of ``Picture.roles``.
    kind : {"point", "ring", "line"}
    dash : {"solid", "dashed", "dotted", "dotdash"}
    """

    name: str
    role: str
    kind: str = "point"
    dash: str = "solid"


@dataclass(frozen=True, eq=False)
class Stroke:
    """Lines of one look.

    Attributes
    ----------
    points : float array of shape (k, 2)
        Rows of NaN stand between lines.
    role : int
        Colour, an index into ``Picture.roles``.
    width, alpha : float
    dash : {"solid", "dashed", "dotted", "dotdash"}
    above : bool
        Whether it lies over the rows.
    edge : float
        Width of edges in the colour of the card on both sides, which set it off from a crowd of its own colour.
    """

    points: NDArray
    role: int
    width: float = 1.5
    dash: str = "solid"
    alpha: float = 1.0
    above: bool = False
    edge: float = 0.0


@dataclass(frozen=True, eq=False)
class Area:
    """A filled polygon.

    Attributes
    ----------
    points : float array of shape (k, 2)
    role : int
        Colour, an index into ``Picture.roles``.
    alpha : float
        Opacity of the filling.
    """

    points: NDArray
    role: int
    alpha: float = 0.14


class Tag(NamedTuple):
    """A few words at a place of a picture.

    Attributes
    ----------
    x, y : float
    text : str
    role : int
        Colour, an index into ``Picture.roles``.
    align : {"left", "center", "right"}
    """

    x: float
    y: float
    text: str
    role: int
    align: str = "left"


class Panel(NamedTuple):
    """A part of a picture with a scale of its own.

    Attributes
    ----------
    name : str
        Key: panels of the same name keep their extent while it serves.
    extent : tuple of float
        (x_low, x_high, y_low, y_high) of what is shown, in its own units.
    box : tuple of float
        (x_low, x_high, y_low, y_high) in the picture, of the same shape.
    """

    name: str
    extent: tuple[float, float, float, float]
    box: tuple[float, float, float, float]

    def place(self, points: NDArray) -> NDArray:
        """Map points (n, 2) of the panel to the picture."""
        scale = (self.box[1] - self.box[0]) / (self.extent[1] - self.extent[0])
        return (points - self.extent[::2]) * scale + self.box[::2]


class RowValue(NamedTuple):
    """What the tooltip of every row says of it.

    Attributes
    ----------
    name : str
    values : float array of shape (n,)
        NaN: nothing.
    """

    name: str
    values: NDArray


@dataclass(frozen=True, eq=False)
class Picture:
    """What a method shows of itself, in primitives that any method can use.

    Colours are names of roles ("class 0", "muted", ...: see `supdr_viz.kit.theme`), so that a theme changes them all at
    once; everything else refers to them by index.

    Attributes
    ----------
    mode : str
        Name of the mode that made it.
    extent : tuple of float
        (x_low, x_high, y_low, y_high).
    roles : tuple of str
    rows : float array of shape (n, 2) or None
        Where the rows of the scene stand; NaN hides one.
    row_role : uint8 array of shape (n,) or None
        Their colours; None: the colours of their classes.
    row_value : RowValue or None
    tips : float array of shape (n, 2) or None
        A line from every row, to its mark; NaN where there is none.
    tip_mark : {"arrow", "ring", "origin"}
        How a tip looks: a head, a ring (the row as it stands elsewhere), or a faint point (where the row came from).
    strokes : tuple of Stroke
    areas : tuple of Area
    marks : float array of shape (m, 2) or None
        Few and large: class means, centres, ...
    mark_role : uint8 array of shape (m,) or None
    image : uint8 array of shape (h, w) or None
        Indices into `roles`, times `shades`, plus a level of opacity from 0 to `shades` - 1; it fills `extent`, first
        row lowest.
    photo : uint8 array of shape (r, r) or None
        Grey levels from the colour of the card, 0, to that of text, 255; it fills `extent`, first row lowest.
    shades : int
        Levels of opacity of the image.
    smooth : bool
        Whether the image's cells are samples of something smooth: colours pass into each other between their middles.
    tags : tuple of Tag
    panels : tuple of Panel
        Where parts of the picture lie; drawn by their strokes alone.
    image_alpha : float
        Opacity of the image: faint behind rows, 1 where the image is the picture.
    axis_labels : tuple of str or None
        None: axes without meaning are not drawn.
    counts : bool
        The axis across counts something: whole numbers only.
    ticks : tuple of float
        The values that the upward axis names; empty: round ones.
    keys : tuple of Key
    numbers : tuple of Number
    caption : str
    """

    mode: str
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

    @property
    def has_small_rows(self) -> bool:
        """Whether rows are drawn small: arrows lead away from them, or they share the picture's panels."""
        return bool(self.panels) or (self.tips is not None and self.tip_mark != "origin")


def some_rows(values: NDArray) -> NDArray:
    """Hide the other ends of most rows' lines where there are many: nobody could follow them all.

    Parameters
    ----------
    values : array of shape (n,) or (n, 2)

    Returns
    -------
    array of the same shape
        NaN where hidden.
    """
    chosen = np.arange(len(values)) % -(-max(len(values), 1) // MAX_JOINED) == 0
    return np.where(chosen.reshape(-1, *[1] * (values.ndim - 1)), values, values.dtype.type(np.nan))
