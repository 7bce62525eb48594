"""Tables 1 and 2 and figure 1 of SNF's paper on the data at hand, as their errors come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr.engine.iterate import Snapshot
from supdr_viz.data.split import Split
from supdr_viz.papers.few_labels import CORE, GRAPHS, N_DRAWS, Cell, Study
from supdr_viz.papers.snf_paper import reported
from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Area, Key, Number, Picture, Stroke, Tag
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.pictures.types import Scene

SHARES = (0.05, 0.10, 0.15, 0.20)
# Share of labels of the bars where the method sees them all.
USUAL_SHARE = 0.1

ORDER = ("SNF", "LLR", "LS-SVM", *GRAPHS)
COLOURS = {"SNF": "primary", "LLR": "curve 1", "LS-SVM": "curve 2"}
ROLES = ("text", "muted", "secondary", *COLOURS.values())
TEXT, MUTED, SECONDARY = 0, 1, 2

# The bars in a square from 0 to 1: names left, values right.
LEFT, RIGHT, TOP, BOTTOM = 0.22, 0.72, 0.84, 0.1
AXES = ("labelled rows, %", "mean squared error")
TOO_FEW = "Too few rows whose target is known"


def bars(
    fitted: Any, scene: Scene, plane: LatentPlane, snapshot: Snapshot, previous: Picture | None, *, study: Study
) -> Picture:
    """Draw the mean error of every method with its standard deviation over the draws, and the constant's as a line.

    `fitted`, `scene`, `plane`, `snapshot`, `previous`: as for every picture; not used. `study`: of one share of labels.
    """
    found = {cell.method: np.array(errors) for cell, errors in study.errors.items()}
    paper = {method: cell.error for method, cell in reported(study.X, study.y, study.shares[0]).items()}
    ends = [errors.mean() + errors.std() for errors in found.values()] + list(paper.values())
    scale = (RIGHT - LEFT) / max([*ends, 1e-12])
    pitch = (TOP - BOTTOM) / len(ORDER)
    areas, strokes, tags = [], [], []
    for number, method in enumerate(ORDER):
        middle = TOP - (number + 0.5) * pitch
        low, high = middle - 0.3 * pitch, middle + 0.3 * pitch
        tags.append(Tag(LEFT - 0.02, middle, method, TEXT, "right"))
        if method in paper:
            at = LEFT + scale * paper[method]
            strokes.append(Stroke(shapes.segment(np.array([at, low]), np.array([at, high])), TEXT, 2.0))
        if method not in found:
            tags.append(Tag(0.99, middle, "…", SECONDARY, "right"))
            continue
        mean, deviation = float(found[method].mean()), float(found[method].std())
        end = LEFT + scale * mean
        role = ROLES.index(COLOURS.get(method, "muted"))
        areas.append(Area(_box(LEFT, end, low, high), role, 0.35))
        whisker = np.array([[end - scale * deviation, middle], [end + scale * deviation, middle]])
        strokes.append(Stroke(whisker, SECONDARY, 1.3))
        spread = f" ± {deviation:.3f}" if len(found[method]) > 1 else ""
        tags.append(Tag(0.99, middle, f"{mean:.3f}{spread}", TEXT, "right"))
    if "Constant" in found:
        at = LEFT + scale * float(found["Constant"].mean())
        line = np.array([[at, BOTTOM], [at, TOP]], dtype=float)
        strokes.append(Stroke(line, MUTED, 1.6, "dashed"))
    return _picture(BARS, study, areas, strokes, tags, _keys(bool(paper)), (0.0, 1.0, 0.0, 1.0))


def scale_up(
    fitted: Any, scene: Scene, plane: LatentPlane, snapshot: Snapshot, previous: Picture | None, *, study: Study
) -> Picture:
    """Draw the mean errors over the share of labels, with standard deviations over the draws.

    `fitted`, `scene`, `plane`, `snapshot`: as for every picture; not used. `study`: of several shares of labels.
    """
    strokes, top = [], 0.0
    for shift, method in enumerate(("Constant", *COLOURS)):
        cells = [
            (share, np.array(study.errors[Cell(method, share)]))
            for share in study.shares
            if Cell(method, share) in study.errors
        ]
        if not cells:
            continue
        middle = np.array([[100.0 * share + 0.25 * (shift - 1), errors.mean()] for share, errors in cells])
        spread = np.array([errors.std() for _, errors in cells])
        top = max(top, float((middle[:, 1] + spread).max()))
        constant = method == "Constant"
        role = MUTED if constant else ROLES.index(COLOURS[method])
        strokes.append(Stroke(middle, role, 1.6 if constant else 2.2, "dashed" if constant else "solid"))
        if not constant:
            whiskers = (np.stack([point - [0, size], point + [0, size]]) for point, size in zip(middle, spread))
            strokes.append(Stroke(shapes.joined(whiskers), role, 1.2, alpha=0.7))
    top = max(1.25 * top, 1e-3)
    if previous is not None and previous.extent[3] >= top > 0.6 * previous.extent[3]:
        top = previous.extent[3]
    keys = (*(Key(method, role, "line") for method, role in COLOURS.items()), *_keys(False))
    extent = (100 * SHARES[0] - 1.5, 100 * SHARES[-1] + 1.5, 0.0, top)
    return _picture(SCALE_UP, study, [], strokes, [], keys, extent, AXES)


def _bars_study(scene: Scene, split: Split) -> Study:
    labelled = int(scene.is_labelled.sum())
    share = labelled / scene.n_train if labelled < scene.n_train else USUAL_SHARE
    return _study(split, (share,), (*CORE, *GRAPHS))


def _scale_up_study(scene: Scene, split: Split) -> Study:
    return _study(split, SHARES, CORE)


def _study(split: Split, shares: tuple[float, ...], methods: tuple[str, ...]) -> Study:
    X = np.concatenate([split.X_train, split.X_test])
    return Study(X, np.concatenate([split.truth_train, split.y_test]), shares, methods)


BARS = Mode("methods", "methods", "Methods", "MSE, few labels", bars, ("study",), _bars_study)
SCALE_UP = Mode("scale-up", "more labels", "More labels", "MSE, few labels", scale_up, ("study",), _scale_up_study)


def _keys(paper: bool) -> tuple[Key, ...]:
    constant = Key("constant", "muted", "line", "dashed")
    return (constant, Key("the paper's", "text", "line")) if paper else (constant,)


def _picture(
    mode: Mode,
    study: Study,
    areas: list[Area],
    strokes: list[Stroke],
    tags: list[Tag],
    keys: tuple[Key, ...],
    extent: tuple[float, float, float, float],
    axis_labels: tuple[str, str] | None = None,
) -> Picture:
    if not study.total:
        middle = (extent[0] + extent[1]) / 2, (extent[2] + extent[3]) / 2
        return Picture(mode=mode.name, extent=extent, roles=ROLES, tags=(Tag(*middle, TOO_FEW, SECONDARY, "center"),))
    one_share = len(study.shares) == 1
    labels = [Number("labels", study.n_labelled(study.shares[0]), help="labelled rows")] if one_share else []
    done = f"now {study.current}, done" if study.current else "done"
    numbers = (
        *labels,
        Number("draws", N_DRAWS, help="of labelled rows; bars and lines are means over them"),
        Number(done, 100.0 * study.done / study.total, "%", "settings are cross-validated on the labelled rows"),
    )
    return Picture(
        mode=mode.name,
        extent=extent,
        roles=ROLES,
        areas=tuple(areas),
        strokes=tuple(strokes),
        tags=tuple(tags),
        keys=keys,
        numbers=numbers,
        axis_labels=axis_labels,
        caption=f"MSE, {100 * study.shares[0]:.3g} % labels" if one_share else "MSE by share of labels",
    )


def _box(left: float, right: float, low: float, high: float) -> np.ndarray:
    return np.array([[left, low], [right, low], [right, high], [left, high]], dtype=float)
