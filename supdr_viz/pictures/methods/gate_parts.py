"""Common parts of the pictures of a gate: names and colours of local models, margins, numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.picture import Key, Number, Stroke
from supdr_viz.pictures.types import Lines, Scene

# Points per axis at which local scores are evaluated.
LINES = 50

# Share of the picture's height that is kept free for its legend above and its numbers below.
ROOM = (0.11, 0.09)

MAX_KEYS = 4
BASE = ("text", "muted", "border")
# Class colours in the order in which gates take those that no class has: far from the first two, and apart.
PREFERRED = (2, 3, 4, 6, 7, 5, 8, 9, 0, 1)

HELP = {
    "support vectors": "of the labelled training rows, as the solver found them",
    "fewest needed": "of the labelled training rows: the fewest that give this very model",
}


def model_names(fitted: Any, scene: Scene) -> tuple[str, ...]:
    """Name the local models: as the views of the data if there is one for each, else by numbers."""
    count = len(fitted.gate_offset_)
    if len(scene.view_names) == count:
        return scene.view_names
    return tuple(f"model {m}" for m in range(1, count + 1))


def distinct(fitted: Any, scene: Scene) -> bool:
    """Tell whether there are enough colours for classes and gates; else rows have the colour of their gate."""
    return len(scene.class_names) + len(fitted.gate_offset_) <= len(PREFERRED)


def roles_of(fitted: Any, scene: Scene) -> tuple[tuple[str, ...], int]:
    """Return the names of the colours (text and lines, classes, gates), and the number of the first gate's."""
    n_classes, n_models = len(scene.class_names), len(fitted.gate_offset_)
    free = [number for number in PREFERRED if number >= n_classes or not distinct(fitted, scene)]
    classes = tuple(f"class {int(code)}" for code in fitted.classes_)
    gates = tuple(f"class {free[m % len(free)]}" for m in range(n_models))
    return (*BASE, *classes, *gates), len(BASE) + len(classes)


def model_keys(fitted: Any, scene: Scene, roles: tuple[str, ...], first: int) -> tuple[Key, ...]:
    """Name the gates with the shares of rows in which they win; those most used, if there are many."""
    shares, names = fitted.usage_, model_names(fitted, scene)
    order = list(range(len(shares)))
    if len(shares) > MAX_KEYS:
        order = sorted(int(m) for m in np.argsort(-shares, kind="stable")[:MAX_KEYS] if shares[m] > 0)
    return tuple(Key(f"{names[m]} {100 * shares[m]:.0f} %", roles[first + m]) for m in order)


def numbers_of(snapshot: Snapshot) -> tuple[Number, ...]:
    """Tell the share of support vectors as found, and the least for the same model: not to be compared."""
    keys = {"support vectors": "support_fraction", "fewest needed": "support_fraction_min"}
    return tuple(
        Number(name, 100.0 * snapshot.diagnostics[key], "%", HELP[name])
        for name, key in keys.items()
        if key in snapshot.diagnostics
    )


def winners(fitted: Any, split: Split) -> NDArray:
    """Return the number of the local model with the largest gate, of training and then of test rows."""
    return with_test(fitted.gate_, fitted.gate, split).argmax(axis=1)


def with_test(own: NDArray, of_rows: Callable[[NDArray], NDArray], split: Split) -> NDArray:
    """Return the values of the training rows, and after them those of the test rows."""
    return np.concatenate([own, of_rows(split.X_test)]) if len(split.X_test) else own


def as_points(lines: Lines) -> list[NDArray]:
    """Return lines as arrays (k, 2)."""
    return [np.column_stack([x, y]) for x, y in zip(lines.xs, lines.ys)]


def margin_strokes(lines: dict[float, list[NDArray]], roles: tuple[str, ...]) -> tuple[Stroke, ...]:
    """Draw lines of level 0 in the colour of text, those of levels -1 and 1 dashed in the colours of their classes."""
    looks = {0.0: (0, 1.8, "solid"), -1.0: (len(BASE), 1.2, "dashed"), 1.0: (len(BASE) + 1, 1.2, "dashed")}
    return tuple(
        Stroke(shapes.joined(level_lines), role, width, dash, 0.9)
        for level, level_lines in lines.items()
        for role, width, dash in [looks[level]]
    )
