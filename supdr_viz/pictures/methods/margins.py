"""How far every labelled row lies on its own side, and how hard its label pulls at it there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Picture, RowValue, Stroke
from supdr_viz.pictures.scene import Extent
from supdr_viz.pictures.types import Scene

PULL_RANGE = (-0.08, 1.08)
START: Extent = (-1.0, 2.0, *PULL_RANGE)

# The margin axis shrinks only when the margins fill less than this share of it: a steady axis shows motion.
SHRINK = 0.5

# Free share of the margin axis at both ends.
ROOM = 0.15

# Half length of the guide lines: beyond every margin.
FAR = 1e3

GAP = [np.nan, np.nan]
# Margin 0 and 1, pull 0 and 1.
GUIDES = np.array(
    [
        *(place for x in (0.0, 1.0) for place in ([x, -FAR], [x, FAR], GAP)),
        *(place for y in (0.0, 1.0) for place in ([-FAR, y], [FAR, y], GAP)),
    ],
    dtype=float,
)


def margins(*, fitted: Any, scene: Scene, previous: Picture | None) -> Picture:
    """Draw margin y·f(x) across and up the label's pull (the dual variable), as a share of its largest value.

    For the hinge loss, rows without pull lie beyond margin 1, support vectors on it, and rows at the upper bound C
    before it.

    `fitted`: a classifier with ``label_pull_``.
    """
    labelled = scene.is_labelled[: scene.n_train, None]
    both = np.column_stack([margins_of(fitted, scene.code[: scene.n_train]), fitted.label_pull_])
    rows = scene.padded(np.where(labelled, both, np.nan))
    return Picture(
        extent=_steady(rows[:, 0], previous.extent if previous else START),
        roles=("muted",),
        rows=rows,
        row_value=RowValue("margin", rows[:, 0]),
        strokes=(Stroke(GUIDES, 0, 1.0, "dashed", 0.7),),
        axis_labels=("margin y·f(x)", "pull of the label"),
        ticks=(0.0, 0.5, 1.0),
        keys=(Key("margin 0 and 1", "muted", "line", "dashed"),),
    )


MARGINS = Mode("margins", "margins", "Margins", "pull at each margin", margins)


def margins_of(fitted: Any, codes: NDArray) -> NDArray:
    """Return y·f(x) of the training rows, the smallest over one-vs-rest heads.

    `fitted`: with ``training_decision_``; `codes` (n,): their classes, entries of ``classes_``. Returns (n,).
    """
    scores = fitted.training_decision_
    if scores.ndim == 1:
        return np.where(codes == fitted.classes_[1], scores, -scores)
    signs = np.where(fitted.classes_ == codes[:, None], 1.0, -1.0)
    return (signs * scores).min(axis=1)


def _steady(margin: NDArray, previous: Extent) -> Extent:
    """Return an extent that holds the margins and keeps still while it can."""
    finite = margin[np.isfinite(margin)]
    if not finite.size:
        return previous
    low, high = min(float(finite.min()), -0.2), max(float(finite.max()), 1.2)
    if previous[0] <= low and high <= previous[1] and high - low > SHRINK * (previous[1] - previous[0]):
        return previous
    room = ROOM * (high - low)
    return low - room, high + room, *PULL_RANGE
