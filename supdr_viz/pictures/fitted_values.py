"""What a fitted method says of each row: probabilities of classes, doubt, loss, latent coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from supdr_viz.data.split import Split
from supdr_viz.pictures.types import Scene, Surface

# What colours and sizes can mean, where the name of a class or the number of a coordinate follows.
PROBABILITY, LATENT = "probability:", "latent:"

DOUBT, LOSS = "doubt", "loss"


def depends_on_fit(key: str) -> bool:
    """Whether what a colour or a size means is to be computed from the fitted method."""
    return key in (DOUBT, LOSS) or key.startswith((PROBABILITY, LATENT))


def fitted_values(
    key: str, fitted: Any, scene: Scene, split: Split, surface: Surface, latent: NDArray | None
) -> NDArray:
    """Return what a method says of all rows, (n,); NaN where that is nothing.

    Training rows count by their own latent rows, as in `Surface.predicted`.

    `key`: "doubt": 0 for sure, 1 for a tie of the two best classes. "loss": the squared error of a regression, or minus
    the logarithm of the probability of the true class. "probability:NAME" of a class. "latent:NUMBER", from 1.
    `surface`: of the same iterate; `latent` (n, d): where all rows stand.
    """
    nothing = np.full(len(scene.position), np.nan)
    if key.startswith(LATENT):
        number = int(key.removeprefix(LATENT)) if key.removeprefix(LATENT).isdecimal() else 0
        return latent[:, number - 1] if latent is not None and 0 < number <= latent.shape[1] else nothing
    if scene.task == "regression":
        return (surface.predicted - scene.target) ** 2 if key == LOSS else nothing
    share = class_shares(fitted, split)
    if key == DOUBT:
        second, first = np.sort(share, axis=1)[:, -2:].T
        return 1.0 - (first - second)
    columns = {int(code): column for column, code in enumerate(fitted.classes_)}
    if key == LOSS:
        rows = np.flatnonzero(np.isfinite(scene.target) & np.isin(scene.target, list(columns)))
        true = share[rows, [columns[int(code)] for code in scene.target[rows]]]
        nothing[rows] = -np.log(np.maximum(true, np.finfo(float).tiny))
        return nothing
    name = key.removeprefix(PROBABILITY)
    code = scene.class_names.index(name) if name in scene.class_names else -1
    return share[:, columns[code]] if code in columns else nothing


def class_shares(fitted: Any, split: Split) -> NDArray:
    """Return the softmax of the scores of all rows, (n, K): probabilities as far as the method has calibrated them."""
    scores = np.asarray(fitted.training_decision_, dtype=float)
    if len(split.X_test):
        scores = np.concatenate([scores, fitted.decision_function(split.X_test)])
    if scores.ndim == 1:
        positive = expit(scores)
        return np.column_stack([1.0 - positive, positive])
    return softmax(scores, axis=1)
