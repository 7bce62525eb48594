"""Pictures of SNF: predictions, and how the values of a few labels spread over the latent plane.

The figures to compare with are those of J. Grabocka, E. Bedalli, L. Schmidt-Thieme, "Supervised Nonlinear
Factorizations Excel In Semi-supervised Regression": see also `supdr_viz.pictures.methods.few_labels_errors`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from contourpy import contour_generator
from numpy.typing import NDArray

from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.few_labels_errors import BARS, SCALE_UP
from supdr_viz.pictures.methods.margins import MARGINS
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.methods.reconstruction import RECONSTRUCTION
from supdr_viz.pictures.methods.regression import PREDICTIONS
from supdr_viz.pictures.picture import Key, Number, Picture, Stroke
from supdr_viz.pictures.scene import steady_extent
from supdr_viz.pictures.surface import LatentPlane, grid
from supdr_viz.pictures.types import Scene

# Steps of the scale of values.
N_SHADES = 24

N_LEVELS = 9
RESOLUTION = 40

ROLES = ("text", "muted", *(f"shade {100 * number // (N_SHADES - 1)}" for number in range(N_SHADES)))
FIRST_SHADE = 2


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of an SNF: classes have margins, values spread."""
    if task == "classification":
        return RECONSTRUCTION, MARGINS
    return PREDICTIONS, SPREAD, RECONSTRUCTION, BARS, SCALE_UP


def spread(*, fitted: Any, scene: Scene, plane: LatentPlane, previous: Picture | None) -> Picture:
    """Draw the field of predictions with its level lines, the labelled rows as large marks, the others small.

    Marks have the colours of their labels, other rows those of their predictions.

    `fitted`: a regressor with a latent space; `plane`: the latent plane on display.
    """
    rows = plane.place(fitted.embedding_)
    extent = steady_extent(rows, previous.extent if previous else None)
    ends = scene.colour_range
    labelled = scene.is_labelled[: scene.n_train]
    points, x, y = grid(extent, RESOLUTION)
    field = fitted.latent_decision_function(plane.lift(points)).reshape(len(y), len(x))
    return Picture(
        extent=extent,
        roles=ROLES,
        rows=scene.padded(np.where(labelled[:, None], np.nan, rows)),
        row_role=scene.padded(_shade(fitted.transduction_, ends), FIRST_SHADE),
        strokes=tuple(_level_lines(x, y, field, ends)),
        marks=rows[labelled],
        mark_role=_shade(scene.target[: scene.n_train][labelled], ends),
        image=_shade(field, ends),
        keys=(Key("labelled", "text"), Key("level lines", "muted", "line")),
        numbers=_numbers(rows, labelled),
        caption="" if plane.exact else "slice through the mean",
    )


SPREAD = Mode("spread", "spread", "Spread", "from labels to rows", spread)


def _shade(values: NDArray, ends: tuple[float, float]) -> NDArray:
    """Return the role of each value's colour."""
    low, high = ends
    number = np.floor((values - low) / (high - low) * N_SHADES)
    return (FIRST_SHADE + np.clip(np.nan_to_num(number), 0, N_SHADES - 1)).astype(np.uint8)


def _level_lines(x: NDArray, y: NDArray, field: NDArray, ends: tuple[float, float]) -> list[Stroke]:
    """Lines of equal prediction at round shares of the scale, each in the colour of its value."""
    strokes, generator = [], contour_generator(x, y, field)
    levels = np.linspace(*ends, N_LEVELS + 2)[1:-1]
    for level, role in zip(levels, _shade(levels, ends)):
        lines: Any = generator.lines(float(level))
        if lines:
            strokes.append(Stroke(shapes.joined(lines), int(role), 1.4, "solid", 0.9))
    return strokes


def _numbers(rows: NDArray, labelled: NDArray) -> tuple[Number, ...]:
    """Return how far an unlabelled row is from the nearest labelled one, beside the size of the cloud."""
    if labelled.all() or not labelled.any():
        return ()
    between = np.linalg.norm(rows[~labelled][:, None, :] - rows[labelled][None], axis=2).min(axis=1)
    size = float(np.sqrt(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()))
    share = 100.0 * float(np.median(between)) / max(size, np.finfo(float).tiny)
    return (Number("to the nearest label", share, "%", "median distance, as a share of the spread of all rows"),)
