"""Pictures of ClassAtlas: an ellipse around the middle of each class, cells, and doubtful rows tied to two candidates.

An ellipse holds half of its class, as the box of a box plot holds the middle half: far groups of a class do not blow it
up.
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

# How far the name of a class stands above its ellipse, as a share of the height.
ABOVE = 0.035


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of a ClassAtlas."""
    return (CHARTS,)


def charts(*, fitted: Any, scene: Scene, plane: LatentPlane, previous: Picture | None) -> Picture:
    """Draw an ellipse around the middle of every class; the most doubtful rows have lines to two classes."""
    rows = plane.place(fitted.embedding_)
    middles, outlines = central_halves(fitted, scene, plane, rows)
    extent = steady_extent(np.concatenate([rows, *outlines]), previous.extent if previous else None)
    above = outlines[:, :, 1].max(axis=1) + ABOVE * (extent[3] - extent[2])
    names = [scene.class_names[int(code)] for code in fitted.classes_]
    tied = most_doubtful(fitted.doubt_)
    return Picture(
        extent=extent,
        roles=(*BASE, *(f"class {int(code)}" for code in fitted.classes_)),
        rows=scene.padded(rows),
        row_value=RowValue("doubt", scene.padded(fitted.doubt_)),
        strokes=(
            Stroke(_ties(rows[tied], fitted.proba_[tied], middles), 1, 1.3, "dotted"),
            *(Stroke(outline, 0, 1.6, above=True, edge=0.8) for outline in outlines),
        ),
        image=_cells(fitted, plane, extent) if plane.exact and len(middles) <= MAX_CELLS else None,
        shades=SHADES,
        smooth=True,
        tags=tuple(Tag(float(x), float(y), name, 0, "center") for x, y, name in zip(middles[:, 0], above, names)),
        keys=(
            Key("central half of a class", "text", "oval"),
            Key("uncertain row to its two likeliest classes", "secondary", "line", "dotted"),
        ),
        numbers=_numbers(fitted),
    )


def central_halves(fitted: Any, scene: Scene, plane: LatentPlane, rows: NDArray) -> tuple[NDArray, NDArray]:
    """Return the middles (K, 2) and outlines (K, k, 2) of ellipses that hold half of the labelled rows of each class.

    `rows` (n_train, 2): where the training rows stand.
    """
    n_train = scene.n_train
    codes = np.where(scene.is_labelled, scene.target, np.nan)[:n_train]
    own = [rows[codes == code] for code in fitted.classes_]
    centres = plane.project(fitted.centres_)
    halves = [shapes.half_ellipse(some if len(some) else centre[None]) for some, centre in zip(own, centres)]
    return np.array([middle for middle, _ in halves]), np.array([outline for _, outline in halves])


def most_doubtful(doubt: NDArray) -> NDArray:
    """Return the numbers of the rows that are tied to two classes: the most doubtful first, and few."""
    order = np.argsort(-doubt, kind="stable")[:MAX_TIED]
    return order[doubt[order] >= DOUBTFUL]


def _ties(rows: NDArray, proba: NDArray, middles: NDArray) -> NDArray:
    """Return lines from doubtful rows to the middles of their two most probable classes."""
    candidates = np.argsort(-proba, axis=1, kind="stable")[:, :2]
    return shapes.joined(shapes.segment(row, middles[k]) for row, both in zip(rows, candidates) for k in both)


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
