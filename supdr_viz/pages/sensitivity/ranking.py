"""The best cells of a sweep in a row: with three parameters and more there is no grid that a page could show."""

from __future__ import annotations

import math
from dataclasses import replace

from supdr.sensitivity import Result
from supdr.sensitivity.scoring import GREATER_IS_BETTER
from supdr_viz.pages.sensitivity.elements import View, cell_place

# Cells that are ranked at most, and those of them that stand in a row.
MOST_RANKED, MOST_IN_ROW = 200, 10


def ranks(view: View) -> dict[int, int]:
    """Return the rank of each cell that has a score, by its number; 0: the best."""
    cells = [cell for cell in view.result.cells.values() if not math.isnan(cell.mean(view.metric))]
    cells.sort(key=lambda cell: cell.mean(view.metric), reverse=view.metric in GREATER_IS_BETTER)
    return {cell.number: rank for rank, cell in enumerate(cells)}


def ranked(view: View, most: int = MOST_RANKED) -> View:
    """Return a view of the best cells, best first, as those of a sweep of one parameter: the rank."""
    numbers = list(ranks(view))[:most]
    cells = [view.result.cells[number] for number in numbers]
    renumbered = [replace(cell, number=rank) for rank, cell in enumerate(cells)]
    names = [f"{rank}. {view.said(view.factor * cell.mean(view.metric))}" for rank, cell in enumerate(cells, 1)]
    maps = view.maps
    if maps is not None:
        positions = {rank: maps.positions[k] for rank, k in enumerate(numbers) if k in maps.positions}
        maps = replace(maps, positions=positions)
    return replace(
        view,
        result=Result({"rank": names or [""]}, view.result.metrics, renumbered),
        titles=["Rank"],
        links={rank: view.links.get(number, "") for rank, number in enumerate(numbers)},
        places={rank: cell_place(view, number) for rank, number in enumerate(numbers)},
        n_cells=len(numbers),
        options={},
        maps=maps,
        role="best ",
        ends=view.limits,
    )
