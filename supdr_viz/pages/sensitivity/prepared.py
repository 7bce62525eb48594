"""Finished cells of the prepared sweeps, which come with the package; ``scripts/example_pictures.py`` computes them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.reuse import fingerprint
from supdr.sensitivity import Cell, Outcome, Result
from supdr.sensitivity.axes import cell_of
from supdr.sensitivity.maps import map_rows
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import SweepSettings, sweep_query
from supdr_viz.presets.pictures import SWEEPS


@dataclass(frozen=True, eq=False)
class Prepared:
    """Finished cells of a sweep.

    `cells`; `metrics`: what was measured of each fit; `labels`: of the rows of the maps; `digest`: of the rows.
    """

    cells: tuple[Cell, ...]
    metrics: tuple[str, ...]
    labels: NDArray
    digest: str


def digest_of(X: Any, y: Any) -> str:
    """Return a fingerprint of the rows of a sweep."""
    return fingerprint((X, y))


def packed_cells(settings: SweepSettings, result: Result, X: NDArray, y: NDArray) -> bytes:
    """Return the cells all of whose fits have succeeded as a compressed file of NumPy.

    `settings`, `X`, `y`: of the sweep.
    """
    cells = [result.cells[number] for number in sorted(result.cells) if not result.cells[number].errors]
    outcomes = [outcome for cell in cells for outcome in cell.outcomes]
    scores = [[outcome.scores[metric] for metric in result.metrics] for outcome in outcomes]
    iterations = [-1 if outcome.iterations is None else outcome.iterations for outcome in outcomes]
    maps = [cell.map for cell in cells if cell.map is not None]
    content = io.BytesIO()
    np.savez_compressed(
        content,
        query=sweep_query(settings),
        digest=digest_of(X, y),
        numbers=np.array([cell.number for cell in cells], np.int32),
        metrics=np.array(result.metrics),
        scores=np.array(scores),
        places=np.array([(outcome.seed, outcome.fold) for outcome in outcomes], np.int32),
        stops=np.array([outcome.stop for outcome in outcomes]),
        shared=np.array([outcome.shared for outcome in outcomes]),
        iterations=np.array(iterations, np.int32),
        seconds=np.array([outcome.seconds for outcome in outcomes], np.float32),
        maps=np.array(maps) if len(maps) == len(cells) else np.empty((0, 0, 2), np.int16),
        labels=np.asarray(y)[map_rows(len(y))],
    )
    return content.getvalue()


def unpacked_cells(content: bytes, settings: SweepSettings) -> Prepared | None:
    """Return what `packed_cells` wrote; None if it is of other settings."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    if str(parts["query"]) != sweep_query(settings):
        return None
    metrics = tuple(map(str, parts["metrics"]))
    fits = len(parts["places"]) // max(len(parts["numbers"]), 1)
    grid = settings.grid
    cells = []
    for k, number in enumerate(parts["numbers"].tolist()):
        latent = parts["maps"][k] if len(parts["maps"]) else None
        maps = [latent, *[None] * (fits - 1)]
        outcomes = [_outcome(parts, metrics, number, k * fits + fit, maps[fit]) for fit in range(fits)]
        cells.append(Cell(number, cell_of(grid, number), tuple(outcomes), stored=True))
    return Prepared(tuple(cells), metrics, parts["labels"], str(parts["digest"]))


def _outcome(parts: dict[str, NDArray], metrics: Sequence[str], cell: int, k: int, latent: NDArray | None) -> Outcome:
    """Return fit number `k` of a file."""
    (seed, fold), iterations = parts["places"][k].tolist(), int(parts["iterations"][k])
    return Outcome(
        cell,
        seed,
        fold,
        dict(zip(metrics, parts["scores"][k].tolist())),
        stop=str(parts["stops"][k]),
        iterations=None if iterations < 0 else iterations,
        seconds=float(parts["seconds"][k]),
        shared=str(parts["shared"][k]),
        map=latent,
    )


@cache
def prepared(name: str) -> Prepared | None:
    """Return the finished cells of the prepared sweep of this name; None if none come with the package."""
    path = SWEEPS / f"{name}.npz"
    return unpacked_cells(path.read_bytes(), SWEEP_PRESETS[name].settings) if path.exists() else None
