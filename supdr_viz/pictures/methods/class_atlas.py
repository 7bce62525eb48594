"""Pictures of ClassAtlas: charts as discs with their axes, cells, and doubtful rows tied to two candidates.

A disc holds the half of its class that is nearest to its centre, as the box of a box plot holds the middle half: far
groups of a class do not blow it up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Number, Picture, RowValue, Stroke, Tag
from supdr_viz.pictures.scene import Extent, steady_extent
from supdr_viz.pictures.surface import LatentPlane, grid
from supdr_viz.pictures.types import Scene

# Cells of the regions' image per axis.
PIXELS = 120

SHADES = 8

BASE = ("text", "secondary")

# More classes have no room in an image of bytes.
MAX_CELLS = 256 // SHADES - len(BASE)

# Rows whose doubt is at least this much are counted.
DOUBTFUL = 0.1

# So many of the most doubtful rows, at most, are tied to their candidates.
MAX_TIED = 40

# How far the name of a class stands above its disc, as a share of the height.
ABOVE = 0.035


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of a ClassAtlas."""
    return (CHARTS,)


def charts(*, fitted: Any, scene: Scene, plane: LatentPlane, previous: Picture | None) -> Picture:
    """Draw every class's chart as a disc with two axes; the most doubtful rows have lines to two classes."""
    rows, centres = plane.place(fitted.embedding_), plane.project(fitted.centres_)
    radii = half_radii(fitted, scene)
    discs = [shapes.circle(centre, float(radius)) for centre, radius in zip(centres, radii)]
    extent = steady_extent(np.concatenate([rows, *discs]), previous.extent if previous else None)
    above = centres[:, 1] + radii + ABOVE * (extent[3] - extent[2])
    names = [scene.class_names[int(code)] for code in fitted.classes_]
    tied = most_doubtful(fitted.doubt_)
    return Picture(
        extent=extent,
        roles=(*BASE, *(f"class {int(code)}" for code in fitted.classes_)),
        rows=scene.padded(rows),
        row_value=RowValue("doubt", scene.padded(fitted.doubt_)),
        strokes=(
            Stroke(_ties(rows[tied], fitted.proba_[tied], centres), 1, 1.3, "dotted"),
            *(Stroke(disc, 0, 1.6, above=True, edge=0.8) for disc in discs),
            Stroke(_chart_axes(fitted, plane, centres), 0, 1.6, above=True, edge=1.0),
        ),
        image=_cells(fitted, plane, extent) if plane.exact and len(centres) <= MAX_CELLS else None,
        shades=SHADES,
        smooth=True,
        tags=tuple(Tag(float(x), float(y), name, 0, "center") for x, y, name in zip(centres[:, 0], above, names)),
        keys=(
            Key("central half of a class", "text", "hollow"),
            Key("its two axes", "text", "line"),
            Key("uncertain row to its two likeliest classes", "secondary", "line", "dotted"),
        ),
        numbers=_numbers(fitted),
    )


def half_radii(fitted: Any, scene: Scene) -> NDArray:
    """Return the radius (K,) around the centre of each class within which half of its labelled training rows lie."""
    n_train = scene.n_train
    codes = np.where(scene.is_labelled, scene.target, np.nan)[:n_train]
    radii = []
    for code, centre in zip(fitted.classes_, fitted.centres_):
        distances = np.linalg.norm(fitted.embedding_[codes == code] - centre, axis=1)
        radii.append(float(np.median(distances)) if len(distances) else 0.0)
    return np.array(radii)


def most_doubtful(doubt: NDArray) -> NDArray:
    """Return the numbers of the rows that are tied to two classes: the most doubtful first, and few."""
    order = np.argsort(-doubt, kind="stable")[:MAX_TIED]
    return order[doubt[order] >= DOUBTFUL]


def _chart_axes(fitted: Any, plane: LatentPlane, centres: NDArray) -> NDArray:
    """Return lines through each centre: the first two coordinates of its chart, two units to both sides."""
    lines = []
    for centre, axes in zip(centres, fitted.axes_):
        lines += [shapes.segment(centre - 2 * axis, centre + 2 * axis) for axis in axes[:2] @ plane.axes]
    return shapes.joined(lines)


def _ties(rows: NDArray, proba: NDArray, centres: NDArray) -> NDArray:
    """Return lines from doubtful rows to the centres of their two most probable classes."""
    candidates = np.argsort(-proba, axis=1, kind="stable")[:, :2]
    return shapes.joined(shapes.segment(row, centres[k]) for row, both in zip(rows, candidates) for k in both)


def _cells(fitted: Any, plane: LatentPlane, extent: Extent) -> NDArray:
    """Colour the plane by the class that it gives back, the more opaque the surer."""
    places = plane.lift(grid(extent, PIXELS)[0])
    # |z - c|^2 without |z|^2, which all classes have in common
    nearness = 2.0 * places @ fitted.centres_.T - (fitted.centres_**2).sum(axis=1)
    given = softmax(fitted.beta_ * nearness, axis=1)
    least = 1.0 / given.shape[1]
    sure = (given.max(axis=1) - least) / max(1.0 - least, 1e-9)
    level = np.minimum((sure * SHADES).astype(int), SHADES - 1)
    return ((len(BASE) + given.argmax(axis=1)) * SHADES + level).reshape(PIXELS, PIXELS).astype(np.uint8)


def _numbers(fitted: Any) -> tuple[Number, ...]:
    """Say how many rows are uncertain."""
    name = f"uncertain rows (at least {100 * DOUBTFUL:.0f}\u00a0% for other classes):"
    return (Number(name, int((fitted.doubt_ >= DOUBTFUL).sum()), help="as predicted without the row's own label"),)


CHARTS = Mode("charts", "charts", "Class charts", "darker: more certain", charts)
