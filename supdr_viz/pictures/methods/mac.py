"""Pictures of MAC: rows drawn to their targets, class means against a regular simplex, spokes of two layers.

The figures to compare with are 1 to 3 of W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in
linear classification", AAAI 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.margins import MARGINS
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Area, Key, Number, Picture, Stroke
from supdr_viz.pictures.scene import Extent, steady_extent
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.pictures.types import Scene

# Colours of unlabelled rows and of the three cases of the Z step: not those of classes, which markers tell apart.
CASE_ROLES = ("border", "muted", "text", "error")

# Arrows below this share of the picture's width are not drawn: the point covers them.
SHORTEST = 0.012

# Up to this many class means are joined all with all, beyond only around.
MAX_EDGES_OF = 6

MAX_LINES = 6

# Width of the lines between class means.
EDGE_WIDTH = 5.0

# Least share of the width that class means and what is around them fill.
FILLED = 0.85

EDGES, SPREAD = "shortest ÷ longest distance", "class width ÷ distance of means"
DIRECTIONS = "narrowest ÷ widest direction"

# What a number is in the best case.
BEST = {EDGES: "1: all equal", SPREAD: "0: points", DIRECTIONS: "1: all alike"}

# Diagnostics of a snapshot by the words for them.
DIAGNOSTICS = {EDGES: "edge_ratio", SPREAD: "spread", DIRECTIONS: "sv_ratio"}

HELP = {
    EDGES: "Smallest distance of two class means, divided by the largest: 1 if all are equally far apart.",
    SPREAD: "Distance of rows to the mean of their class, divided by that of the means: 0 if classes are points.",
    DIRECTIONS: "Smallest singular value of the class means, divided by the largest: 1 if all directions are alike.",
}


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of a MAC: what there is depends on the layers, and on whether the solver has targets."""
    if estimator.n_layers == 2:
        return SPOKES, MEANS
    return (TARGETS, MEANS, MARGINS) if estimator.solver in ("mac", "admm") else (MEANS, MARGINS)


def targets(*, fitted: Any, scene: Scene, plane: LatentPlane, snapshot: Snapshot, previous: Picture | None) -> Picture:
    """Draw F(x) with an arrow to its target z; colours are the cases of the Z step."""
    rows, tips = plane.place_both(fitted.embedding_, fitted.targets_)
    means = plane.project(fitted.class_means_)
    ideal = shapes.regular_corners(fitted.class_means_)
    corners = np.empty((0, 2)) if ideal is None else plane.project(ideal)
    inside = np.concatenate([rows, tips, means, corners])
    extent = steady_extent(inside, previous.extent if previous else None)
    case = fitted.case_
    roles, class_role = _roles(fitted, CASE_ROLES)
    lines = _classifiers(fitted, plane, extent, class_role)
    figure = _figure(corners, roles.index("muted"), "dotted")
    return Picture(
        extent=extent,
        roles=roles,
        rows=scene.padded(rows),
        row_role=scene.padded(case, 0).astype(np.uint8),
        tips=scene.padded(_long_enough(rows, tips, extent)),
        strokes=(*figure, *lines),
        marks=means,
        mark_role=class_role,
        keys=(
            *_case_keys(case, snapshot),
            *([Key("margin of a class", "text", "line", "dashed")] if lines else []),
            *([Key("means if equally far apart", "muted", "line", "dotted")] if figure else []),
        ),
        numbers=_numbers(fitted, snapshot),
    )


def class_means(
    *, fitted: Any, scene: Scene, plane: LatentPlane, snapshot: Snapshot, previous: Picture | None
) -> Picture:
    """Draw the class means, what is around them, and the regular figure closest to them."""
    own = fitted.class_means_
    means, ideal = plane.project(own), shapes.regular_corners(own)
    corners = np.empty((0, 2)) if ideal is None else plane.project(ideal)
    roles, class_role = _roles(fitted, ("muted", "primary", "text"))
    latent, codes = plane.project(fitted.embedding_), scene.code[: scene.n_train]
    labelled = scene.is_labelled[: scene.n_train]
    clouds = [shapes.ellipse(latent[labelled & (codes == code)]) for code in fitted.classes_.astype(int)]
    extent = steady_extent(np.concatenate([means, corners, *clouds]), previous.extent if previous else None, FILLED)
    primary = roles.index("primary")
    order = shapes.around(means) if len(means) > 2 else np.arange(len(means))
    edges = shapes.all_edges(means) if len(means) <= MAX_EDGES_OF else shapes.closed(means[order])
    hull = [Area(shapes.closed(means[order]), primary)] if len(means) > 2 else []
    return Picture(
        extent=extent,
        roles=roles,
        strokes=(
            Stroke(edges, primary, EDGE_WIDTH, alpha=0.55),  # wide and pale: the dashes on it are to be seen
            *_figure(corners, roles.index("text"), "dashed"),
        ),
        areas=(*hull, *(Area(cloud, int(role)) for cloud, role in zip(clouds, class_role))),
        marks=means,
        mark_role=class_role,
        keys=(
            *([Key("if equally far apart", "text", "line", "dashed")] if ideal is not None else []),
            Key("from mean to mean", "primary", "line"),
            Key("two standard deviations of a class", "muted", "oval"),
        ),
        numbers=_numbers(fitted, snapshot),
    )


def spokes(*, fitted: Any, scene: Scene, plane: LatentPlane, snapshot: Snapshot, previous: Picture | None) -> Picture:
    """Draw where two layers put rows that did not train them; arrows lead to where their own label pulls them."""
    labelled = scene.is_labelled[: scene.n_train]
    left_out, own = fitted.embedding_.copy(), fitted.embedding_.copy()
    if labelled.sum() == len(fitted.plane_):  # fewer where early stopping hides labels
        left_out[labelled], own[labelled] = fitted.plane_left_out_, fitted.plane_
    rows, tips = plane.place_both(left_out, own)
    corners = plane.project(_corners(fitted, scene))
    centre = corners.mean(axis=0)
    radius = float(np.linalg.norm(corners - centre, axis=1).mean())
    around = shapes.circle(centre, radius)
    extent = steady_extent(np.concatenate([rows, tips, corners, around]), previous.extent if previous else None)
    roles, class_role = _roles(fitted, ("muted", "border"))
    rays = [
        Stroke(shapes.segment(centre, corner), int(role), 1.2, alpha=0.7) for corner, role in zip(corners, class_role)
    ]
    ring = Stroke(around, roles.index("muted"), 1.0, "dashed", 0.8)
    half = Stroke(shapes.circle(centre, 0.5 * radius), roles.index("border"), 1.0)
    numbers = [Number("left-out error", 100.0 * snapshot.diagnostics["plane_error"], "%", "of rows that did not train")]
    return Picture(
        extent=extent,
        roles=roles,
        rows=scene.padded(rows),
        tips=scene.padded(_long_enough(rows, tips, extent)),
        strokes=(ring, half, *rays),
        marks=corners,
        mark_role=class_role,
        keys=(
            Key("distance of the targets", "muted", "line", "dashed"),
            Key("half of it", "border", "line"),
        ),
        numbers=(*numbers, *_numbers(fitted, snapshot, SPREAD)),
    )


TARGETS = Mode("targets", "targets", "Targets", "row → its target", targets)
MEANS = Mode("means", "means", "Class means", "equally far apart?", class_means)
SPOKES = Mode("spokes", "spokes", "Spokes", "left out → with its label", spokes)


# --- parts ------------------------------------------------------------------------------------------------------------


def _case_keys(case: NDArray, snapshot: Snapshot) -> tuple[Key, ...]:
    """Name the cases with their shares; before the first Z step targets are those of the start."""
    if snapshot.iteration == 0:
        return (Key("targets of the start", CASE_ROLES[1]),)
    names = {1: "stays", 2: "to its margin", 3: "short of it"}
    counted = case[case > 0]
    return tuple(Key(f"{name} {100 * np.mean(counted == k):.0f} %", CASE_ROLES[k]) for k, name in names.items())


def _long_enough(rows: NDArray, tips: NDArray, extent: Extent) -> NDArray:
    length = np.linalg.norm(tips - rows, axis=1)
    return np.where((length > SHORTEST * (extent[1] - extent[0]))[:, None], tips, np.nan)


def _roles(fitted: Any, first: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray]:
    """Names of the colours, and which of them belong to the classes."""
    names = (*first, *(f"class {int(code)}" for code in fitted.classes_))
    return names, (len(first) + np.arange(len(fitted.classes_))).astype(np.uint8)


def _figure(corners: NDArray, role: int, dash: str) -> tuple[Stroke, ...]:
    """Edges of the regular figure, if there is one."""
    if not len(corners):
        return ()
    if len(corners) <= MAX_EDGES_OF:
        edges = shapes.all_edges(corners)
    else:
        edges = shapes.closed(corners[shapes.around(corners)])
    return (Stroke(edges, role, 1.3, dash, 0.9),)


def _classifiers(fitted: Any, plane: LatentPlane, extent: Extent, class_role: NDArray) -> list[Stroke]:
    """Two classes: boundary and both margins.  More: where each class reaches its own margin.  Exact planes only."""
    binary = len(fitted.coef_) == 1
    if not plane.exact or (not binary and (fitted.scheme != "ova" or len(fitted.coef_) > MAX_LINES)):
        return []
    strokes = []
    for number, (coef, intercept) in enumerate(zip(fitted.coef_, fitted.intercept_)):
        normal, offset = coef @ plane.axes, float(coef @ plane.mean + intercept)
        # Role 2 is the colour of text.
        sides = ((0.0, 2, "solid"), (-1.0, int(class_role[0]), "dashed"), (1.0, int(class_role[1]), "dashed"))
        for level, role, dash in sides if binary else ((1.0, int(class_role[number]), "dashed"),):
            line = shapes.line_across(normal, offset - level, extent)
            if line is not None:
                strokes.append(Stroke(line, role, 1.2, dash, 0.75))
    return strokes


def _corners(fitted: Any, scene: Scene) -> NDArray:
    """Return every class's target (K, L): most of its labelled rows have it, those that early stopping hides do not."""
    labelled = scene.is_labelled[: scene.n_train]
    codes = scene.code[: scene.n_train]
    return np.array(
        [np.median(fitted.targets_[labelled & (codes == code)], axis=0) for code in fitted.classes_.astype(int)]
    )


def _has_room(fitted: Any) -> bool:
    """Whether a regular simplex of all classes has room in the latent space."""
    n_classes, n_components = fitted.class_means_.shape
    return n_components >= n_classes - 1


def _numbers(fitted: Any, snapshot: Snapshot, *chosen: str) -> tuple[Number, ...]:
    """Describe the class means, as far as the numbers can say something."""
    n_classes = len(fitted.class_means_)
    names = [name for name in chosen or DIAGNOSTICS if n_classes > 2 or name not in (EDGES, DIRECTIONS)]
    if not _has_room(fitted) and DIRECTIONS in names:
        names.remove(DIRECTIONS)
    values = {name: snapshot.diagnostics.get(DIAGNOSTICS[name]) for name in names}
    known = {name: value for name, value in values.items() if value is not None}
    return tuple(Number(name, value, help=HELP[name], best=BEST[name]) for name, value in known.items())
