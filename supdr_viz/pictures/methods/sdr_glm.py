"""Pictures of SDR-GLM: J as the sum of its parts, which weigh how much, singular values, and what labels did to rows.

The figures to compare with stand in I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised
Dimensionality Reduction with Generalized Linear Models", ICML 2008.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.margins import MARGINS
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.methods.natural_parameters import PARAMETERS
from supdr_viz.pictures.methods.reconstruction import RECONSTRUCTION
from supdr_viz.pictures.methods.regression import PREDICTIONS
from supdr_viz.pictures.picture import Area, Key, Number, Picture, Stroke
from supdr_viz.pictures.scene import Extent, steady_extent
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.pictures.types import Curves, Scene

# Term of the losses -> its name in J and the colour that its curve has.
PARTS = {
    "label": ("misfit of targets", "curve 2"),
    "reconstruction": ("weighted misfit of features", "curve 1"),
    "regularisation": ("regularisation", "curve 3"),
}

# J at the start may lie far below: the axis reaches down to this multiple of the present J at most.
DEEPEST = 3.0

# A threshold beyond this multiple of all singular values stays out of the picture.
FARTHEST = 3.0

BAR = 0.28
GROWTH = 1.25


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of SDR-GLM; a reduction that sees no labels has nothing to balance."""
    supervised = "recon_weight" in estimator.get_params(deep=False)
    own = (ASCENT, BALANCE, SPECTRUM, PARAMETERS, NEW_ROWS) if supervised else (ASCENT, SPECTRUM, PARAMETERS)
    return (PREDICTIONS, *own, RECONSTRUCTION) if task == "regression" else (*own, RECONSTRUCTION, MARGINS)


# --- J ----------------------------------------------------------------------------------------------------------------


def ascent(*, snapshot: Snapshot, previous: Picture | None, losses: Curves, segments: tuple[int, ...]) -> Picture:
    """Draw J over the sweeps, and hung under 0 one below the other the parts that add up to it."""
    shown = losses.iteration <= snapshot.iteration
    sweeps = losses.iteration[shown].astype(float)
    parts = {name: -losses.values[name][shown] for name in PARTS if name in losses.values}
    if not len(sweeps) or not parts:  # the curves may trail the first frame
        sweeps, parts = np.array([snapshot.iteration]), {name: np.array([-snapshot.losses[name]]) for name in PARTS}
    depth = np.cumsum([np.zeros(len(sweeps)), *parts.values()], axis=0)
    roles = ("primary", "muted", *(role for _, role in PARTS.values()))
    areas, keys = [], []
    for number, name in enumerate(parts):
        word, role = PARTS[name]
        upper, lower = depth[number], depth[number + 1]
        outline = np.concatenate([np.column_stack([sweeps, upper]), np.column_stack([sweeps, lower])[::-1]])
        areas.append(Area(outline, roles.index(role)))
        keys.append(Key(word, role))
    total = depth[-1]
    extent = _ascent_extent(total, losses, previous)
    changes = [
        np.array([[segment, extent[2]], [segment, extent[3]]])
        for segment in segments[1:]
        if segment <= snapshot.iteration
    ]
    marked = [Stroke(shapes.joined(changes), 1, 1.0, "dotted")] if changes else []
    return Picture(
        extent=extent,
        roles=roles,
        areas=tuple(areas),
        strokes=(*marked, Stroke(np.column_stack([sweeps, total]), 0, 2.6)),
        axis_labels=("sweep", "J and its parts"),
        counts=True,
        keys=(
            Key("J", "primary", "line"),
            *keys,
            *([Key("settings changed", "muted", "line", "dotted")] * bool(marked)),
        ),
        numbers=_ascent_numbers(snapshot, sweeps, total, segments),
    )


def rises(sweeps: NDArray, total: NDArray, segments: tuple[int, ...]) -> NDArray:
    """Return by how much J rose between neighbours, as a share of 1 + |J|, but where its settings had changed."""
    steps = np.diff(total) / (1.0 + np.abs(total[:-1]))
    same = [
        not any(before < segment <= after for segment in segments[1:]) for before, after in itertools.pairwise(sweeps)
    ]
    return steps[np.array(same, dtype=bool)] if len(steps) else steps


def _ascent_numbers(
    snapshot: Snapshot, sweeps: NDArray, total: NDArray, segments: tuple[int, ...]
) -> tuple[Number, ...]:
    numbers = [Number("J", -snapshot.objective, help="log-likelihoods minus ridges: what every sweep raises")]
    increases = rises(sweeps, total, segments)
    if len(increases):
        numbers.append(
            Number("least rise", float(increases.min()), help="of all sweeps, as a share of 1 + |J|: never below 0")
        )
    return tuple(numbers)


def _ascent_extent(total: NDArray, losses: Curves, previous: Picture | None) -> Extent:
    """Axes that grow in steps: sweeps in multiples, J as deep as it is worth."""
    last, end = float(losses.iteration[-1]) if len(losses.iteration) else 1.0, 10.0
    while end < last:
        end *= GROWTH
    low = float(total.min())
    if total[-1] < 0:
        low = max(low, DEEPEST * float(total[-1]))
    high = max(float(total.max()), 0.0)
    room = 0.12 * max(high - low, 1e-12)
    if previous is not None and previous.extent[:2] == (0.0, end):
        reach, kept = previous.extent[3] - previous.extent[2], previous.extent[2:]
        if kept[0] <= low and high <= kept[1] and high - low > 0.55 * reach:
            return previous.extent
    return 0.0, end, low - room, high + room


# --- balance ----------------------------------------------------------------------------------------------------------


def balance(
    *, fitted: Any, snapshot: Snapshot, previous: Picture | None, losses: Curves, segments: tuple[int, ...]
) -> Picture:
    """Draw the way of the two misfits, the weighted one of X across and the one of Y up; both at 0 is a perfect fit."""
    start = max((segment for segment in segments if segment <= snapshot.iteration), default=0)
    chosen = (losses.iteration >= start) & (losses.iteration <= snapshot.iteration)
    now = np.array([snapshot.losses["reconstruction"], snapshot.losses["label"]])
    way = now[None]
    if chosen.any():
        way = np.column_stack([losses.values[name][chosen] for name in ("reconstruction", "label")])
    means = np.array([fitted.null_losses_[name] for name in ("reconstruction", "label")])
    reach = 1.18 * np.maximum(np.maximum(way.max(axis=0), means), 1e-9)
    if previous is not None:
        kept = np.array([previous.extent[1], previous.extent[3]])
        reach = np.where((reach <= kept) & (reach > 0.55 * kept), kept, reach)
    low = np.minimum(way.min(axis=0), 0.0) - [0.12, 0.17] * reach
    extent = float(low[0]), float(reach[0]), float(low[1]), float(reach[1])
    end = float(reach.min())
    roles = ("primary", "muted", "text", "secondary")
    corner = np.array([[low[0], 0.0], [reach[0], 0.0], [np.nan, np.nan], [0.0, low[1]], [0.0, reach[1]]])
    return Picture(
        extent=extent,
        roles=roles,
        strokes=(
            Stroke(corner, 1, 1.0, alpha=0.6),
            Stroke(np.array([[0.0, 0.0], [end, end]], dtype=float), 1, 1.3, "dashed", 0.9),
            Stroke(way, 0, 2.2),
        ),
        marks=np.stack([means, now]),
        mark_role=np.array([1, 0], dtype=np.uint8),
        axis_labels=("weighted misfit of features", "misfit of targets"),
        keys=(
            Key("now", "primary"),
            Key("means", "muted"),
            Key("equal weight", "muted", "line", "dashed"),
        ),
        numbers=_balance_numbers(fitted, snapshot, means, now),
    )


def _balance_numbers(fitted: Any, snapshot: Snapshot, means: NDArray, now: NDArray) -> tuple[Number, ...]:
    numbers = [
        Number("weight of features", snapshot.diagnostics["recon_weight"], help="λ: of their misfit in the objective")
    ]
    if set(fitted.family_x_) - {"bernoulli", "gaussian"}:  # a perfect fit of counts is not at 0
        return tuple(numbers)
    for name, word, mean, value in zip(("explains X", "Y"), ("columns", "targets"), means, now):
        if mean > 0:
            help = f"share of the {word}' misfit that the latent rows explain"
            numbers.append(Number(name, 100.0 * (1.0 - value / mean), "%", help))
    return tuple(numbers)


# --- singular values --------------------------------------------------------------------------------------------------


def spectrum(*, fitted: Any, snapshot: Snapshot, previous: Picture | None) -> Picture:
    """Draw the singular values of UV as bars, those of centred X as steps, and the threshold that these must pass."""
    diagnostics = snapshot.diagnostics
    values = np.array([diagnostics[name] for name in diagnostics if name.startswith("singular_value_")])
    threshold, rank = diagnostics["rank_threshold"], int(diagnostics["effective_rank"])
    count = len(values)
    place = np.arange(1, count + 1)
    # They stay while a run goes on, and the picture before holds them.
    same = previous is not None and len(previous.strokes[0].points) == 3 * count
    data = previous.strokes[0].points[::3, 1].astype(float) if same and previous else fitted.data_singular_values_
    steps = shapes.joined(np.array([[k - 0.42, value], [k + 0.42, value]]) for k, value in zip(place, data))
    left, right = np.array([-BAR, 0.0]), np.array([BAR, 0.0])
    bars = []
    for number, (k, value) in enumerate(zip(place, values)):
        foot, top = np.array([k, 0.0]), np.array([k, value])
        outline = np.stack([foot + left, foot + right, top + right, top + left])
        bars.append(Area(outline, 0 if number < rank else 3))
    largest = float(max(values.max(), data.max(), 1e-12))
    high = 1.2 * max(largest, threshold if threshold < FARTHEST * largest else 0.0)
    if previous is not None and 0.55 * previous.extent[3] < high <= previous.extent[3]:
        high = previous.extent[3]
    line = np.array([[0.4, threshold], [count + 0.6, threshold]], dtype=float)
    return Picture(
        extent=(0.4, count + 0.6, -0.14 * high, high),
        roles=("primary", "muted", "error", "secondary"),
        strokes=(Stroke(steps, 1, 2.4), Stroke(line, 2, 1.6, "dashed")),
        areas=tuple(bars),
        marks=np.column_stack([place, values]),
        mark_role=np.where(np.arange(count) < rank, 0, 3).astype(np.uint8),
        axis_labels=("component", "singular value"),
        counts=True,
        keys=(
            Key("of U V", "primary"),
            Key("of X", "muted", "line"),
            Key("threshold for X", "error", "line", "dashed"),
        ),
        numbers=(
            Number("threshold", threshold, help="√(reg_u reg_v) / λ (Gaussian: / 2cλ): X alone keeps what exceeds it"),
            Number("rank", rank, f"of {count}", "components that are not 0"),
        ),
    )


# --- new rows ---------------------------------------------------------------------------------------------------------


def new_rows(*, fitted: Any, scene: Scene, plane: LatentPlane, previous: Picture | None, split: Split) -> Picture:
    """Draw training rows as learnt with their labels, filled, and as `transform` puts them, hollow."""
    own, folded = fitted.embedding_, fitted.transform(split.X_train)
    rows, tips = plane.place_both(own, folded)
    extent = steady_extent(np.concatenate([rows, tips]), previous.extent if previous else None)
    size = max(float(np.linalg.norm(own)), np.finfo(float).tiny)
    return Picture(
        extent=extent,
        roles=("text", "secondary"),
        rows=scene.padded(rows),
        tips=scene.padded(tips),
        tip_mark="ring",
        strokes=_decision(fitted, scene, plane, extent),
        keys=(
            Key("embedding", "secondary"),
            Key("transform", "secondary", "hollow"),
        ),
        numbers=(
            Number(
                "size of transform",
                100.0 * float(np.linalg.norm(folded)) / size,
                "%",
                "of the embedding's: without labels, ridges pull rows to 0",
            ),
        ),
    )


def _decision(fitted: Any, scene: Scene, plane: LatentPlane, extent: Extent) -> tuple[Stroke, ...]:
    """Return the line u'w + b = 0 of the predictor that the embedding was learnt with."""
    if scene.task == "regression" or not plane.exact or len(fitted.coef_) != 1:
        return ()
    normal = fitted.coef_[0] @ plane.axes
    line = shapes.line_across(normal, float(fitted.coef_[0] @ plane.mean + fitted.intercept_[0]), extent)
    return () if line is None else (Stroke(line, 0, 1.3, "solid", 0.75),)


ASCENT = Mode("ascent", "J and its parts", "Objective J", "rises in every sweep", ascent)
BALANCE = Mode("balance", "X against Y", "Balance", "of X and targets", balance)
SPECTRUM = Mode("spectrum", "spectrum", "Spectrum", "what the ridges leave", spectrum)
NEW_ROWS = Mode("new_rows", "as new rows", "New rows", "with → without labels", new_rows)
