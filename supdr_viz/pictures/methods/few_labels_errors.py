"""Tables 1 and 2 and figure 1 of SNF's paper on the data at hand, as their errors come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supdr_viz.pictures.methods import shapes
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Area, Key, Number, Picture, Stroke, Tag

CONSTANT = "Constant"
COLOURS = {"SNF": "primary", "LLR": "curve 1", "LS-SVM": "curve 2"}
ROLES = ("text", "muted", "secondary", *COLOURS.values())
TEXT, MUTED, SECONDARY = 0, 1, 2

# The bars in a square from 0 to 1: names left, values right.
LEFT, RIGHT, TOP, BOTTOM = 0.22, 0.72, 0.84, 0.1
AXES = ("labelled rows, %", "mean squared error")
TOO_FEW = "Too few rows whose target is known"


@dataclass(frozen=True)
class FewLabelErrors:
    """Errors of several methods over draws of few labelled rows, as far as they are measured.

    shares: shares of labelled rows, ascending.
    n_labelled: labelled rows at the first share.
    methods: in the order of the bars.
    n_draws: draws of labelled rows.
    errors: (method, share) to one mean squared error for each draw that is measured.
    published: method to the error that the paper prints for these rows at the first share.
    done, total: errors that are measured, and all; total 0: there are too few rows.
    current: the method that is being measured; empty: none.
    """

    shares: tuple[float, ...]
    n_labelled: int
    methods: tuple[str, ...]
    n_draws: int
    errors: Mapping[tuple[str, float], Sequence[float]] = field(default_factory=dict)
    published: Mapping[str, float] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    current: str = ""


def bars(*, study: FewLabelErrors) -> Picture:
    """Draw the mean error of every method with its standard deviation over the draws, and the constant's as a line.

    `study`: of one share of labels.
    """
    measured = {method: np.array(errors) for (method, _share), errors in study.errors.items()}
    shown = [method for method in study.methods if method != CONSTANT]
    ends = [errors.mean() + errors.std() for errors in measured.values()] + list(study.published.values())
    scale = (RIGHT - LEFT) / max([*ends, 1e-12])
    pitch = (TOP - BOTTOM) / max(len(shown), 1)
    areas, strokes, tags = [], [], []
    for number, method in enumerate(shown):
        middle = TOP - (number + 0.5) * pitch
        low, high = middle - 0.3 * pitch, middle + 0.3 * pitch
        tags.append(Tag(LEFT - 0.02, middle, method, TEXT, "right"))
        if method in study.published:
            at = LEFT + scale * study.published[method]
            strokes.append(Stroke(shapes.segment(np.array([at, low]), np.array([at, high])), TEXT, 2.0))
        if method not in measured:
            tags.append(Tag(0.99, middle, "…", SECONDARY, "right"))
            continue
        mean, deviation = float(measured[method].mean()), float(measured[method].std())
        end = LEFT + scale * mean
        role = ROLES.index(COLOURS.get(method, "muted"))
        areas.append(Area(_box(LEFT, end, low, high), role, 0.35))
        whisker = np.array([[end - scale * deviation, middle], [end + scale * deviation, middle]])
        strokes.append(Stroke(whisker, SECONDARY, 1.3))
        spread = f" ± {deviation:.3f}" if len(measured[method]) > 1 else ""
        tags.append(Tag(0.99, middle, f"{mean:.3f}{spread}", TEXT, "right"))
    if CONSTANT in measured:
        at = LEFT + scale * float(measured[CONSTANT].mean())
        line = np.array([[at, BOTTOM], [at, TOP]], dtype=float)
        strokes.append(Stroke(line, MUTED, 1.6, "dashed"))
    return _picture(study, areas, strokes, tags, _keys(bool(study.published)), (0.0, 1.0, 0.0, 1.0))


def scale_up(*, previous: Picture | None, study: FewLabelErrors) -> Picture:
    """Draw the mean errors over the share of labels, with standard deviations over the draws.

    `study`: of several shares of labels.
    """
    strokes, top = [], 0.0
    for shift, method in enumerate((CONSTANT, *COLOURS)):
        cells = [
            (share, np.array(study.errors[method, share])) for share in study.shares if (method, share) in study.errors
        ]
        if not cells:
            continue
        middle = np.array([[100.0 * share + 0.25 * (shift - 1), errors.mean()] for share, errors in cells])
        spread = np.array([errors.std() for _, errors in cells])
        top = max(top, float((middle[:, 1] + spread).max()))
        constant = method == CONSTANT
        role = MUTED if constant else ROLES.index(COLOURS[method])
        strokes.append(Stroke(middle, role, 1.6 if constant else 2.2, "dashed" if constant else "solid"))
        if not constant:
            whiskers = (np.stack([point - [0, size], point + [0, size]]) for point, size in zip(middle, spread))
            strokes.append(Stroke(shapes.joined(whiskers), role, 1.2, alpha=0.7))
    top = max(1.25 * top, 1e-3)
    if previous is not None and previous.extent[3] >= top > 0.6 * previous.extent[3]:
        top = previous.extent[3]
    keys = (*(Key(method, role, "line") for method, role in COLOURS.items()), *_keys(False))
    extent = (100 * study.shares[0] - 1.5, 100 * study.shares[-1] + 1.5, 0.0, top)
    return _picture(study, [], strokes, [], keys, extent, AXES)


BARS = Mode("methods", "methods", "Methods", "MSE, few labels", bars)
SCALE_UP = Mode("scale-up", "more labels", "More labels", "MSE, few labels", scale_up)


def _keys(paper: bool) -> tuple[Key, ...]:
    constant = Key("constant", "muted", "line", "dashed")
    return (constant, Key("the paper's", "text", "line")) if paper else (constant,)


def _picture(
    study: FewLabelErrors,
    areas: list[Area],
    strokes: list[Stroke],
    tags: list[Tag],
    keys: tuple[Key, ...],
    extent: tuple[float, float, float, float],
    axis_labels: tuple[str, str] | None = None,
) -> Picture:
    if not study.total:
        middle = (extent[0] + extent[1]) / 2, (extent[2] + extent[3]) / 2
        return Picture(extent=extent, roles=ROLES, tags=(Tag(*middle, TOO_FEW, SECONDARY, "center"),))
    one_share = len(study.shares) == 1
    labels = [Number("labels", study.n_labelled, help="labelled rows")] if one_share else []
    done = f"now {study.current}, done" if study.current else "done"
    numbers = (
        *labels,
        Number("draws", study.n_draws, help="of labelled rows; bars and lines are means over them"),
        Number(done, 100.0 * study.done / study.total, "%", "settings are cross-validated on the labelled rows"),
    )
    return Picture(
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


def _box(left: float, right: float, low: float, high: float) -> NDArray:
    return np.array([[left, low], [right, low], [right, high], [left, high]], dtype=float)
