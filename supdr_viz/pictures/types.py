"""Plain arrays, ready to be drawn by the browser.

A `Scene` is fixed for a data set and split; a `Frame` is one iteration of a run; a `Surface` is a decision surface,
which is dearer and may trail the frames.  All three are immutable; views read nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.picture import Picture
from supdr_viz.pictures.row_columns import RowColumns, robust_range

# Share of the variance from which on a plane shows most of it.
MOST = 0.5


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane through the input space onto which rows are projected: ``(X - origin) @ axes``.

    kind (one of "features", "components"): two chosen features, or the first two principal components of the training
        rows.
    axis_names: labels of the two axes.
    origin (m,).
    axes (m, 2).
    lifting (2, m): directions of the plane in the input space; ``lifting @ axes`` is the identity.
    exact: True when the plane is the whole space; else surfaces are a slice through `origin`.
    share: share of the variance that the plane shows.
    extent: (x_low, x_high, y_low, y_high), square.
    """

    kind: str
    axis_names: tuple[str, str]
    origin: NDArray
    axes: NDArray
    lifting: NDArray
    exact: bool
    share: float
    extent: tuple[float, float, float, float]

    @property
    def has_regions(self) -> bool:
        """Whether regions are drawn in it: of two chosen features, or of components with most of the variance."""
        return self.kind == "features" or self.share >= MOST

    def project(self, X: NDArray) -> NDArray:
        """Map rows (n, m) to the plane (n, 2)."""
        return (X - self.origin) @ self.axes

    def lift(self, points: NDArray) -> NDArray:
        """Map points (n, 2) of the plane back to rows (n, m)."""
        return points @ self.lifting + self.origin


@dataclass(frozen=True, eq=False)
class Density:
    """How densely all rows lie in a plane, by colour.

    `levels` (k, r, r): for each colour (regression: each range of values), and last for rows without one, what it adds
    to the opacity of a cell, in 255ths.  First row lowest. `extent`: (x_low, x_high, y_low, y_high). `colour_by`: what
    the colours mean, see `row_colours.row_colours`.
    """

    levels: NDArray
    extent: tuple[float, float, float, float]
    colour_by: str = "label"


@dataclass(frozen=True, eq=False)
class Scene:
    """The part of the display that stays while a run goes on.  Rows are training rows first, then test rows.

    task: one of "classification", "regression".
    class_names: empty for regression.
    position (n, 2): rows in the input plane.
    code (n,): True class of each row; 0 for regression.
    target (n,): True value (regression) or class code.
    is_test (n,).
    is_labelled (n,): False for test rows and for training rows whose label was hidden.
    row (n,): row number in the data set.
    image_shape: rows are pictures of this shape.
    images (n, h, w).
    image_range: values of the cells at levels 0 and 255 of the images.
    notes: what the user should know of the data (missing cells, rows shown of many, ...).
    view_names: names of the groups of columns, for data that come in several views.
    drawn: the rows that are drawn singly, in the order in which they are drawn; None: all of them.
    density: of all rows in the input plane, where not all are drawn singly and they are at hand.
    n_rows: of all; more than there are positions where these are of a sample of rows on disk.
    feature_names: of the columns; empty where they are not to be named.
    axis_words: what the axes of the input plane mean in terms of the columns.
    columns: of the data, to be looked at; None: they are not at hand.
    sample: the rows that are looked at where each costs much, although all are drawn singly; None: all of them.
    """

    title: str
    description: str
    task: str
    class_names: tuple[str, ...]
    position: NDArray
    code: NDArray
    target: NDArray
    is_test: NDArray
    is_labelled: NDArray
    row: NDArray
    plane: Plane
    n_features: int
    image_shape: tuple[int, int] | None = None
    images: NDArray | None = None
    image_range: tuple[float, float] = (0.0, 1.0)
    notes: tuple[str, ...] = ()
    view_names: tuple[str, ...] = ()
    drawn: NDArray | None = None
    density: Density | None = None
    n_rows: int = 0
    feature_names: tuple[str, ...] = ()
    axis_words: tuple[str, str] = ("", "")
    columns: RowColumns | None = None
    sample: NDArray | None = None

    @property
    def looked_at(self) -> NDArray | None:
        """The rows that are looked at where each costs much; None: all of them."""
        return self.sample if self.drawn is None else self.drawn

    @property
    def n_train(self) -> int:
        """Number of training rows, which come first."""
        return int((~self.is_test).sum())

    @property
    def value_range(self) -> tuple[float, float]:
        """The smallest and the largest target."""
        finite = self.target[np.isfinite(self.target)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    @property
    def colour_range(self) -> tuple[float, float]:
        """Targets that have the first and the last colour of the scale; few rows lie beyond."""
        return robust_range(self.target)

    def padded(self, values: NDArray, fill: float = np.nan) -> NDArray:
        """Return values (n_train, ...) of the training rows as those of all rows: test rows have the filling."""
        whole = np.full((len(self.position), *values.shape[1:]), fill, dtype=values.dtype)
        whole[: len(values)] = values
        return whole


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves over iterations, thinned to a drawable number of points.

    `iteration` (k,); `values` (k,): NaN where a curve has no value.
    """

    iteration: NDArray
    values: dict[str, NDArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MapQuality:
    """How true the latent plane was at one iteration.

    trust, kept (n,): trustworthiness and continuity of each row of the scene; NaN where it was not looked at.
    lost, false (n, n_neighbors): the neighbours that a row lost, and the false ones it won; -1 behind the last one.
    numbers: of the test rows, by the names of `supdr.quality`.
    n_new: how many test rows; 0: too few, the numbers are of all rows.
    """

    iteration: int
    n_neighbors: int
    trust: NDArray
    kept: NDArray
    lost: NDArray
    false: NDArray
    numbers: dict[str, float]
    n_new: int


@dataclass(frozen=True, eq=False)
class Frame:
    """One iteration, ready to draw.

    number: serial number; acknowledged by the page.
    first_iteration, last_iteration: range of the scrubber.
    live: False when an earlier iteration is being viewed.
    latent (n, 2): rows of the scene in the displayed latent plane.
    latent_extent: (x_low, x_high, y_low, y_high), square; changes rarely.
    latent_caption: what the latent plane is ("placed using labels", "2 of 9 dimensions", ...).
    pulled (n, 2): the other end of the pull of the labels: where `transform` puts the training rows or, if that is
        shown, where they were learnt; NaN for test rows.
    support (n,): support vectors (training rows only).
    losses, errors: ``losses``: every term, ``"objective"``, ``"surrogate"`` and ``"bound"`` if any; ``errors``: per
        cent, or for regression MSE.
    numbers: current values for the status line: objective, train_error, test_error, rate, .
    picture: what the method shows of itself, in the mode that was asked for.
    truth: how true the plane is, as far as it was asked for; it may be of an earlier iteration.
    axis_words: what the axes of the latent plane mean in terms of the columns.
    as_new: whether training rows stand where new ones would, placed without their labels.
    only_training: whether the regions of the latent plane decide for training rows alone.
    """

    number: int
    iteration: int
    first_iteration: int
    last_iteration: int
    live: bool
    latent: NDArray
    latent_extent: tuple[float, float, float, float]
    latent_caption: str
    pulled: NDArray | None
    support: NDArray
    losses: Curves
    errors: Curves
    numbers: dict[str, float]
    picture: Picture | None = None
    truth: MapQuality | None = None
    axis_words: tuple[str, str] = ("", "")
    as_new: bool = False
    only_training: bool = False


@dataclass(frozen=True, eq=False)
class Lines:
    """Contour lines: lists of float arrays, one pair per line."""

    xs: list[NDArray]
    ys: list[NDArray]


@dataclass(frozen=True, eq=False)
class Relief:
    """The scores behind a decision surface, so coarse that they can be sent with it.

    `scores` (K, r, r): one score a class, or one for two classes; for regression the predicted value as in
    `Sheet.image`, 0..255. First row lowest. `classes`: which classes the scores are of; two for one score.  None for
    regression.
    """

    scores: NDArray
    classes: NDArray | None


@dataclass(frozen=True, eq=False)
class Sheet:
    """A decision surface over one plane.

    image (r, r): winning class, or for regression the predicted value scaled to 0..255 over `Surface.value_range`.
    extent: (x_low, x_high, y_low, y_high) of the image.
    boundary, margin: where the winning class changes; where |f| = 1 (two classes, methods with a margin).
    resolution: evaluated points per axis; the image has more cells.
    caption: empty, or what the surface is when the plane is not the whole space.
    relief: by which the next surface comes from this one.
    """

    image: NDArray
    extent: tuple[float, float, float, float]
    boundary: Lines
    margin: Lines
    resolution: int = 0
    caption: str = ""
    relief: Relief | None = None


@dataclass(frozen=True, eq=False)
class Surface:
    """Decision surfaces and what was evaluated with them.

    predicted (n,): predictions of all rows of the scene (training rows from their own latent rows).
    placed (n,): predictions of all rows as new ones, as the boundary over the input space has them; training rows that
        are not drawn have their own.  NaN: not computed, of training rows of a regression that goes on.
    wrong (n,): misclassified rows (classification only; else all False).
    beyond (n,): rows on the wrong side of the boundary over the input space, which is drawn for new rows: training rows
        among them may be classified rightly by their own latent rows, which saw their labels. Training rows that are
        not drawn count by their own latent rows.
    value_range: regression: values at image levels 0 and 255.
    density, input_density: of all rows in the latent and in the input plane, where not all are drawn singly.
    rates: errors of all rows, where those of the scene are a sample of them, and all were counted for this surface.
    counted: the iteration at which they were counted last: that of `density`.
    values: what colours or sizes of rows stand for that is computed from the fitted method, by the keys of
        `pictures.fitted_values`, each (n,).
    as_new: whether training rows stand in the latent plane where new ones would: then they are judged as new ones.
    """

    iteration: int
    input: Sheet | None
    latent: Sheet | None
    predicted: NDArray
    placed: NDArray
    wrong: NDArray
    beyond: NDArray
    value_range: tuple[float, float] = (0.0, 1.0)
    density: Density | None = None
    input_density: Density | None = None
    rates: dict[str, float] = field(default_factory=dict)
    counted: int | None = None
    values: dict[str, NDArray] = field(default_factory=dict)
    as_new: bool = False

    @property
    def judged(self) -> NDArray:
        """Predictions of all rows where they stand in the latent plane, (n,)."""
        return self.placed if self.as_new else self.predicted

    @property
    def errors(self) -> NDArray:
        """Which rows are misclassified where they stand in the latent plane, (n,)."""
        return self.beyond if self.as_new else self.wrong

    def at_rest(self) -> Surface:
        """Return the surface without what moves to the next one: for files, which are to be small."""
        input_sheet, latent = (
            None if sheet is None else replace(sheet, relief=None) for sheet in (self.input, self.latent)
        )
        return replace(self, input=input_sheet, latent=latent)
