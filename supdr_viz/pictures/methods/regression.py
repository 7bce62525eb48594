"""The picture of every regression method: predicted against true values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Key, Number, Picture, Stroke
from supdr_viz.pictures.scene import steady_extent
from supdr_viz.pictures.types import Scene, Surface

# Room around the points, as a share of their range.
ROOM = 0.1


def predictions(*, fitted: Any, scene: Scene, previous: Picture | None, surface: Surface | None) -> Picture:
    """Draw the predicted value of every row over its true one.

    Training rows, unlabelled ones included, are predicted from their own latent rows in every frame; test rows follow
    with the surfaces, because a calibrated prediction is dear.

    `fitted`: a regressor with ``transduction_``.
    """
    true = scene.target
    predicted = np.full(len(true), np.nan)
    if surface is not None and len(surface.predicted) == len(true):
        predicted[scene.is_test] = surface.predicted[scene.is_test]
    predicted[: scene.n_train] = fitted.transduction_
    finite = np.concatenate([true, predicted])
    finite = finite[np.isfinite(finite)]
    low, high = finite.min(), finite.max()
    ends = np.array([low - ROOM * (high - low), high + ROOM * (high - low)])
    extent = steady_extent(np.column_stack([ends, ends]), previous.extent if previous else None)
    middle = float(true[scene.is_labelled].mean())
    corners = np.array(extent[:2])
    return Picture(
        extent=extent,
        roles=("text", "muted"),
        rows=np.column_stack([true, predicted]),
        strokes=(
            Stroke(np.column_stack([corners, [middle, middle]]), 1, 1.3, "dashed", 0.9),
            Stroke(np.column_stack([corners, corners]), 0, 1.2, "solid", 0.6),
        ),
        axis_labels=("true", "predicted"),
        keys=(Key("exact", "text", "line"), Key("the mean", "muted", "line", "dashed")),
        numbers=_numbers(true, predicted, scene),
    )


PREDICTIONS = Mode("predictions", "predicted", "Predicted", "against true values", predictions)


def explained(true: NDArray, predicted: NDArray) -> float:
    """Return R²: 1 for exact predictions, 0 for the mean of these rows, NaN if there is nothing to explain."""
    spread = float(((true - true.mean()) ** 2).sum())
    return 1.0 - float(((true - predicted) ** 2).sum()) / spread if spread > 0 else float("nan")


def correlation(true: NDArray, predicted: NDArray) -> float:
    """Return Pearson's correlation, NaN if one of the two is constant."""
    if true.std() == 0 or predicted.std() == 0:
        return float("nan")
    return float(np.corrcoef(true, predicted)[0, 1])


def _numbers(true: NDArray, predicted: NDArray, scene: Scene) -> tuple[Number, ...]:
    """R² of every kind of rows, and the correlation of the rows that tell most: test, else unlabelled, else all."""
    finite = np.isfinite(true) & np.isfinite(predicted)
    hidden = ~scene.is_test & ~scene.is_labelled
    parts = {"train": scene.is_labelled, "unlabelled": hidden, "test": scene.is_test}
    parts = {name: rows & finite for name, rows in parts.items() if (rows & finite).sum() > 1}
    numbers = [
        Number(
            f"R² {name}", explained(true[rows], predicted[rows]), help=f"explained share of the variance, {name} rows"
        )
        for name, rows in parts.items()
    ]
    if parts:
        name, rows = list(parts.items())[-1]
        numbers.append(Number("correlation", correlation(true[rows], predicted[rows]), help=f"of {name} rows"))
    return tuple(number for number in numbers if np.isfinite(number.value))
