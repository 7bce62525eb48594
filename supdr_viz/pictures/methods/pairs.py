"""Rows that are pictures, each beside its reconstruction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.split import Split
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Number, Picture
from supdr_viz.pictures.scene import grey_levels
from supdr_viz.pictures.types import Scene

# Pairs in a line.
ACROSS = 4

# Free share of the picture below the pairs, for the numbers.
FOOT = 0.07


def pairs(*, fitted: Any, scene: Scene, split: Split) -> Picture:
    """Draw a few training rows of every class, original left, reconstruction right.

    `fitted`: with ``reconstruction_``; `scene`: of rows that are pictures.
    """
    assert scene.images is not None
    rebuilt = fitted.reconstruction_
    height, width = scene.images[0].shape
    gap = max(1, width // 8)
    cell = (height + gap, 2 * width + 5 * gap)
    side = ACROSS * cell[1]
    down = max(1, int(side * (1 - FOOT)) // cell[0])
    rows = sample(scene, ACROSS * down)
    side = max(side, int(np.ceil(down * cell[0] / (1 - FOOT))))
    photo = np.zeros((side, side), dtype=np.uint8)
    levels = grey_levels(rebuilt[rows, : height * width], scene.image_range).reshape(-1, height, width)
    for number, (original, copy) in enumerate(zip(scene.images[rows], levels)):
        top, left = (number // ACROSS) * cell[0], (number % ACROSS) * cell[1] + 2 * gap
        photo[top : top + height, left : left + width] = original
        photo[top : top + height, left + width + gap : left + 2 * width + gap] = copy
    return Picture(
        extent=(0.0, float(side), 0.0, float(side)),
        photo=photo[::-1],
        numbers=(unexplained(split.X_train, rebuilt),),
    )


PAIRS = Mode("pairs", "pictures", "Pictures", "original, copy", pairs)


def sample(scene: Scene, count: int) -> NDArray:
    """Return `count` training rows at most, the same number of every class, class by class; values: low to high."""
    target = scene.target[: scene.n_train]
    order = np.argsort(target, kind="stable")
    if scene.task == "regression":
        return order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(int))]
    rank = np.zeros(len(target), dtype=int)
    for code in np.unique(target):
        members = np.flatnonzero(target == code)
        rank[members] = np.arange(len(members))
    first = np.lexsort((target, rank))[:count]  # the first of every class, then the second, ...
    return np.sort(first)[np.argsort(target[np.sort(first)], kind="stable")]


def unexplained(X: NDArray, rebuilt: NDArray) -> Number:
    """Return the share of the variance of the training rows that the reconstruction misses."""
    rest, whole = np.nansum((X - rebuilt) ** 2), np.nansum((X - np.nanmean(X, axis=0)) ** 2)
    share = 100.0 * float(rest / max(whole, np.finfo(float).tiny))
    return Number("not reconstructed", share, "%", "share of the variance of the training rows")
