"""Decision surfaces of a fitted estimator, through its public interface only.

They cost far more than a frame, so the player evaluates them within a budget: coarse while running, fine on pause.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from contourpy import contour_generator
from numpy.typing import NDArray

from supdr.engine.fitted import ExtrapolationWarning
from supdr_viz.data.split import Split
from supdr_viz.pictures.scene import Extent, spread_strip
from supdr_viz.pictures.types import Lines, Relief, Scene, Sheet, Surface

# The points of a surface are no rows of the user's: corners of a plane may lie far outside of the training rows.
warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ rows of X lie far outside", UserWarning, __name__)

# Evaluated points per axis, while running and at rest.
COARSE, FINE = 50, 100

# Cells of the image per axis, by interpolation.
PIXELS = 150

# Most numbers in the lifted grid: wide data get a coarser picture rather than a slow one.
MAX_CELLS = 4_000_000

# Most numbers in a relief: more classes make a jump instead of a motion.
MAX_SCORES = 30_000

LEVELS = 255

# Surfaces reach beyond the rows.
warnings.filterwarnings("ignore", category=ExtrapolationWarning)

NO_LINES = Lines([], [])


def evaluate(
    fitted: Any, scene: Scene, split: Split, latent: LatentPlane, *, iteration: int, resolution: int
) -> Surface:
    """Evaluate predictions of all rows and the surfaces over both planes.

    `fitted`: ``at(snapshot)``; `latent`: the latent plane on display; `resolution`: points of the grid per axis.
    """
    # Training rows have two predictions: their own, which saw their labels, and that of the regions they lie in.
    tested = _predict(fitted, split.X_test)
    predicted = np.concatenate([fitted.transduction_, tested])
    placed = np.concatenate([_placed(fitted, scene, split, needed=latent.as_new or resolution >= FINE), tested])
    targets = np.concatenate([split.truth_train, split.y_test])
    if scene.task == "regression":
        value_range = scene.value_range
        wrong = beyond = np.zeros(len(targets), dtype=bool)
    else:
        value_range = (0.0, 1.0)
        wrong, beyond = ((each != targets) & np.isfinite(targets) for each in (predicted, placed))
    classes = None if scene.task == "regression" else fitted.classes_.astype(np.uint8)
    in_input = takes_all_numbers(fitted) and scene.plane.has_regions
    return Surface(
        iteration=iteration,
        input=_input_sheet(fitted, scene, classes, value_range, resolution) if in_input else None,
        latent=None if hides_a_coordinate(fitted) else _latent_sheet(fitted, latent, classes, value_range, resolution),
        predicted=predicted.astype(float),
        placed=placed.astype(float),
        wrong=wrong,
        beyond=beyond,
        value_range=value_range,
        as_new=latent.as_new,
    )


def with_latent(surface: Surface, fitted: Any, scene: Scene, latent: LatentPlane) -> Surface:
    """Return a surface with the boundary that another estimator draws in the latent plane; all else stays.

    `latent`: on display.
    """
    classes = None if scene.task == "regression" else fitted.classes_.astype(np.uint8)
    return replace(surface, latent=_latent_sheet(fitted, latent, classes, surface.value_range, COARSE))


def _placed(fitted: Any, scene: Scene, split: Split, *, needed: bool) -> NDArray:
    """Predict training rows as new ones; of many only those that are looked at, the others have their own.

    NaN of a regression where it is not needed: no ring depends on it, and it is a third of what a surface costs.
    """
    if scene.task == "regression" and not needed:
        return np.full(len(split.X_train), np.nan)
    if scene.looked_at is None:
        return _predict(fitted, split.X_train)
    placed, some = np.array(fitted.transduction_), scene.looked_at[scene.looked_at < len(split.X_train)]
    placed[some] = _predict(fitted, split.X_train[some])
    return placed


def takes_all_numbers(fitted: Any) -> bool:
    """Whether rows between those of the data mean something: bits and counts have no in-between."""
    return bool((np.asarray(getattr(fitted, "family_x_", "gaussian")) == "gaussian").all())


def hides_a_coordinate(fitted: Any) -> bool:
    """Whether rows have an offset of their own beside the latent axes: then no boundary in their plane is true."""
    return bool(getattr(fitted, "row_bias", False))


class LatentPlane:
    """The plane of the latent space on display: which axes, and how far they reach.

    mean (d,).
    axes (d, 2): orthonormal columns; a single column and a zero one when d = 1.
    extent: (x_low, x_high, y_low, y_high).
    head (one of "fitted", "calibrated"): which head's surface belongs to the rows shown.
    as_new: whether training rows stand where new ones would.
    """

    def __init__(
        self,
        mean: NDArray,
        axes: NDArray,
        extent: Extent = (0.0, 1.0, 0.0, 1.0),
        head: str = "fitted",
        *,
        as_new: bool = False,
    ) -> None:
        self.mean, self.axes, self.extent, self.head, self.as_new = mean, axes, extent, head, as_new

    @property
    def exact(self) -> bool:
        """Whether the plane is the whole latent space."""
        return len(self.mean) <= 2

    def project(self, latent: NDArray) -> NDArray:
        """Map latent rows (n, d) to (n, 2)."""
        return (latent - self.mean) @ self.axes

    def place(self, latent: NDArray) -> NDArray:
        """Map latent rows (n, d) to where they are shown (n, 2): rows of one dimension are spread over a strip."""
        points = self.project(latent)
        return points if len(self.mean) > 1 else spread_strip(points)

    def place_both(self, latent: NDArray, goals: NDArray) -> tuple[NDArray, NDArray]:
        """Place latent rows (n, d), and where they are drawn to (n, d), at the same height of a strip."""
        rows, tips = self.place(latent), self.project(goals)
        return rows, tips if len(self.mean) > 1 else np.column_stack([tips[:, 0], rows[:, 1]])

    def lift(self, points: NDArray) -> NDArray:
        """Map points of the plane (n, 2) back to latent rows (n, d)."""
        return points @ self.axes.T + self.mean


def latent_axes(
    latent: NDArray, axes: tuple[int, int] | None = None, previous: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Choose the plane in which latent rows are shown.

    `latent` (n, d). `axes`: two coordinates; by default the two there are, or the first two principal components.
    `previous` (d, 2): principal components are turned within their plane to lie as close to these as possible. Returns
    `mean` (d,); `axes` (d, 2).
    """
    n_components = latent.shape[1]
    if n_components == 1:
        return np.zeros(1), np.array([[1.0, 0.0]])
    if axes is not None and max(axes) < n_components:
        return np.zeros(n_components), np.eye(n_components)[:, list(axes)]
    if n_components == 2:
        return np.zeros(2), np.eye(2)
    mean = latent.mean(axis=0)
    _, _, rows = np.linalg.svd(latent - mean, full_matrices=False)
    directions = rows[:2].T
    if previous is not None and previous.shape == directions.shape:
        left, _, right = np.linalg.svd(directions.T @ previous)  # Procrustes
        directions = directions @ left @ right
    return mean, directions


def grid(extent: Extent, resolution: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return the grid's points (resolution², 2), row by row from below, and its two axes (cell centres)."""
    x_low, x_high, y_low, y_high = extent
    x_half, y_half = (x_high - x_low) / resolution / 2, (y_high - y_low) / resolution / 2
    x = np.linspace(x_low + x_half, x_high - x_half, resolution)
    y = np.linspace(y_low + y_half, y_high - y_half, resolution)
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), x, y


def _input_sheet(
    fitted: Any, scene: Scene, classes: NDArray | None, value_range: tuple[float, float], resolution: int
) -> Sheet:
    resolution = max(12, min(resolution, int(np.sqrt(MAX_CELLS / scene.n_features))))
    points, x, y = grid(scene.plane.extent, resolution)
    rows = scene.plane.lift(points)
    scores = fitted.predict(rows) if classes is None else fitted.decision_function(rows)
    caption = "" if scene.plane.exact else "slice through the mean"
    return _sheet(scores, x, y, scene.plane.extent, classes, value_range, caption, _has_margin(fitted))


def _latent_sheet(
    fitted: Any, latent: LatentPlane, classes: NDArray | None, value_range: tuple[float, float], resolution: int
) -> Sheet:
    points, x, y = grid(latent.extent, resolution)
    scores = fitted.latent_decision_function(latent.lift(points), head=latent.head)
    caption = "" if latent.exact else "slice through the mean"
    return _sheet(scores, x, y, latent.extent, classes, value_range, caption, _has_margin(fitted))


def _sheet(
    scores: NDArray,
    x: NDArray,
    y: NDArray,
    extent: Extent,
    classes: NDArray | None,
    value_range: tuple[float, float],
    caption: str,
    has_margin: bool,
) -> Sheet:
    shape, resolution = (len(y), len(x)), len(x)
    finer, relief = _refined(scores.reshape(*shape, -1)), _relief(scores.reshape(*shape, -1), classes, value_range)
    if classes is None:
        low, high = value_range
        levels = np.clip(np.round(LEVELS * (finer[..., 0] - low) / (high - low)), 0, LEVELS)
        return Sheet(levels.astype(np.uint8), extent, NO_LINES, NO_LINES, resolution, caption, relief)
    x, y = np.r_[extent[0], x, extent[1]], np.r_[extent[2], y, extent[3]]  # lines end where the image does
    if scores.ndim == 1:
        image = classes[(finer[..., 0] > 0).astype(int)]
        boundary, *sides = traced(x, y, _bordered(scores.reshape(shape)), (0.0, -1.0, 1.0) if has_margin else (0.0,))
        margin = Lines([xs for side in sides for xs in side.xs], [ys for side in sides for ys in side.ys])
        return Sheet(image, extent, boundary, margin, resolution, caption, relief)
    winner = scores.argmax(axis=1)
    boundary = Lines([], [])
    for code in np.unique(winner):
        lead = scores[:, code] - np.delete(scores, code, axis=1).max(axis=1)
        lines = contours(x, y, _bordered(lead.reshape(shape)), 0.0)
        boundary.xs.extend(lines.xs)
        boundary.ys.extend(lines.ys)
    return Sheet(classes[finer.argmax(axis=2)], extent, boundary, NO_LINES, resolution, caption, relief)


def _bordered(plane: NDArray) -> NDArray:
    """Repeat the outermost values of a plane at its edges, which lie half a cell further out."""
    return np.pad(plane, 1, mode="edge")


def _relief(scores: NDArray, classes: NDArray | None, value_range: tuple[float, float]) -> Relief | None:
    """Return scores (r, r, K) of a surface as `Relief`; a fine grid by the means of its cells, two by two."""
    if len(scores) > COARSE and len(scores) % 2 == 0:
        half = len(scores) // 2
        scores = scores.reshape(half, 2, half, 2, -1).mean(axis=(1, 3))
    if scores.size > MAX_SCORES or not np.isfinite(scores).all():
        return None
    if classes is None:
        low, high = value_range
        scores = np.clip(LEVELS * (scores - low) / (high - low), 0, LEVELS)
    return Relief(scores.transpose(2, 0, 1), classes)


def _refined(scores: NDArray) -> NDArray:
    """Interpolate scores (r, r, K) to about `PIXELS` cells an axis: crisp edges without more evaluations."""
    factor = max(1, round(PIXELS / len(scores)))
    if factor == 1:
        return scores
    size = len(scores)
    centres = (np.arange(size * factor) + 0.5) / factor - 0.5
    low = np.clip(np.floor(centres).astype(int), 0, size - 2)
    share = np.clip(centres - low, 0.0, 1.0)
    rows = scores[low] * (1.0 - share)[:, None, None] + scores[low + 1] * share[:, None, None]
    return rows[:, low] * (1.0 - share)[None, :, None] + rows[:, low + 1] * share[None, :, None]


def contours(x: NDArray, y: NDArray, plane: NDArray, *levels: float) -> Lines:
    """Trace a function over a plane at some levels.

    `x`, `y` (k,): places of the columns and rows of `plane`; `plane` (k, k).
    """
    lines = traced(x, y, plane, levels)
    return Lines([xs for each in lines for xs in each.xs], [ys for each in lines for ys in each.ys])


def traced(x: NDArray, y: NDArray, plane: NDArray, levels: Sequence[float]) -> list[Lines]:
    """Trace a function over a plane as `contours` does, each level by itself.

    `x`, `y`, `plane`: see `contours`.
    """
    generator, by_level = contour_generator(x, y, plane), []
    for level in levels:
        lines = [np.asarray(line) for line in generator.lines(level)]
        by_level.append(Lines([line[:, 0] for line in lines], [line[:, 1] for line in lines]))
    return by_level


def _has_margin(fitted: Any) -> bool:
    """Whether |f| = 1 means something: methods that push rows beyond it."""
    return hasattr(type(fitted), "label_pull_") or hasattr(fitted, "support_")  # not computed to know that it is there


def _predict(fitted: Any, X: NDArray) -> NDArray:
    return fitted.predict(X) if len(X) else np.empty(0)
