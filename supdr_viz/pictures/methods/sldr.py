"""Pictures of SLDR and LMKL: regions in which each gate wins, local spaces, usage of the local models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.methods.gate_parts import ROOM, model_names, numbers_of, roles_of
from supdr_viz.pictures.methods.gating import regions
from supdr_viz.pictures.methods.local_spaces import spaces
from supdr_viz.pictures.methods.margins import MARGINS
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.picture import Area, Key, Picture, Tag
from supdr_viz.pictures.types import Scene


def modes(estimator: Any, task: str) -> tuple[Mode, ...]:
    """Return the modes of an SLDR or LMKL."""
    return REGIONS, SPACES, USAGE, MARGINS


def usage(*, fitted: Any, scene: Scene, snapshot: Snapshot) -> Picture:
    """Show how many rows each local model wins, and its mean weight: which views are needed."""
    roles, first = roles_of(fitted, scene)
    won, weight, names = fitted.usage_, fitted.gate_.mean(axis=0), model_names(fitted, scene)
    low, high = ROOM[1], 1.0 - ROOM[0]
    height = (high - low) / len(won)
    areas, tags = [], []
    for m, name in enumerate(names):
        top = high - m * height
        bottom, ceiling = top - 0.82 * height, top - 0.46 * height
        areas.append(Area(_bar(won[m], bottom, ceiling), first + m, 0.8))
        areas.append(Area(_bar(weight[m], bottom - 0.1 * height, bottom), first + m, 0.25))
        tags.append(Tag(0.02, top - 0.21 * height, name, 0))
        tags.append(Tag(0.98, top - 0.21 * height, f"{100 * won[m]:.0f} %", 0, "right"))
    return Picture(
        extent=(0.0, 1.0, 0.0, 1.0),
        roles=roles,
        areas=tuple(areas),
        tags=tuple(tags),
        keys=(Key("rows it wins", "text", "line"), Key("below: its mean weight", "muted", "line")),
        numbers=numbers_of(snapshot),
        caption=f"{int((won > 0).sum())} of {len(won)} used",
    )


def _bar(share: float, bottom: float, top: float) -> NDArray:
    """Return a bar from the left; the full width stands for 1."""
    right = 0.02 + 0.96 * float(share)
    return np.array([[0.02, bottom], [right, bottom], [right, top], [0.02, top]], dtype=float)


REGIONS = Mode("regions", "gate", "Gating regions", "gating space", regions)
SPACES = Mode("spaces", "local", "Local spaces", "where it wins", spaces)
USAGE = Mode("usage", "usage", "Gate usage", "rows and weight", usage)
