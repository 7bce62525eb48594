"""The grid of a sweep: values of its parameters, and the cells that are visited, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import qmc

from supdr.engine.checks import check_integer
from supdr.engine.docstrings import with_entries_of

# Most cells that are visited, most points of the grid that they are chosen from, most parameters.
MOST_CELLS, MOST_POINTS, MOST_AXES = 100_000, 1_000_000, 6

DESIGNS = ("grid", "sobol", "random")


def logarithmic(low: float, high: float, count: int, *, whole: bool = False) -> list[Any]:
    """Return values at equal ratios, rounded to 4 digits.

    Parameters
    ----------
    low, high : float
        Ends, > 0, included.
    count : int
        Number of values, >= 1.
    whole : bool
        Round to whole numbers, without repetitions.

    Returns
    -------
    list

    Raises
    ------
    ValueError
        If an end is not positive or `count` is too small.
    """
    if not (low > 0 and high > 0):
        raise ValueError(f"low and high must be numbers > 0; got {low!r} and {high!r}")
    check_integer("count", count)
    return _rounded(np.geomspace(low, high, count), whole)


@with_entries_of(logarithmic)
def linear(low: float, high: float, count: int, *, whole: bool = False) -> list[Any]:
    """Return values at equal distances.

    Parameters
    ----------
    low, high : float
        Ends, included.
    count, whole
        As in `logarithmic`.

    Returns
    -------
    list
    """
    check_integer("count", count)
    return _rounded(np.linspace(low, high, count), whole)


def _rounded(values: np.ndarray, whole: bool) -> list[Any]:
    if whole:
        return list(dict.fromkeys(round(float(value)) for value in values))
    return list(dict.fromkeys(float(f"{value:.4g}") for value in values))


def check_grid(grid: Mapping[str, Iterable[Any]], names: Iterable[str], estimator: str) -> dict[str, list[Any]]:
    """Return the grid as lists; raise ValueError if its parameters or its size do not fit the estimator."""
    lists = {name: list(values) for name, values in grid.items()}
    if not 1 <= len(lists) <= MOST_AXES:
        raise ValueError(f"grid must have 1 to {MOST_AXES} parameters; got {len(lists)}: {', '.join(lists) or 'none'}")
    names = sorted(names)
    for name, values in lists.items():
        if name not in names:
            raise ValueError(f"grid: {estimator} has no parameter {name!r}; it has {', '.join(names)}")
        if not values:
            raise ValueError(f"grid: {name} has no values")
    count = int(np.prod([len(values) for values in lists.values()]))
    if count > MOST_POINTS:
        raise ValueError(f"grid must have at most {MOST_POINTS:,} points; got {count:,}")
    return lists


def chosen_cells(grid: Mapping[str, Sequence[Any]], design: str, n_cells: int, seed: int = 0) -> list[int]:
    """Return the numbers of the cells that a design visits, in their order; raise ValueError if it is unknown.

    "grid": every cell; "sobol": `n_cells` cells at the points of a scrambled Sobol sequence; "random": as many at
    random.
    """
    if design not in DESIGNS:
        raise ValueError(f"design must be one of {', '.join(DESIGNS)}; got {design!r}")
    sizes = [len(values) for values in grid.values()]
    total = int(np.prod(sizes))
    check_integer("n_cells", n_cells)
    count = total if design == "grid" else min(n_cells, total)
    if count > MOST_CELLS:
        raise ValueError(f"grid must have at most {MOST_CELLS:,} cells that are visited; got {count:,}")
    if count == total:
        return visiting_order(grid)
    if design == "random":
        return np.random.default_rng(seed).permutation(total)[:n_cells].tolist()
    sequence, numbers = qmc.Sobol(len(sizes), rng=seed), dict[int, None]()
    while len(numbers) < n_cells:
        places = (sequence.random(1 << max(n_cells - 1, 1).bit_length()) * sizes).astype(int)
        numbers |= dict.fromkeys(np.ravel_multi_index(tuple(places.T), sizes).tolist())
    return list(numbers)[:n_cells]


def cell_of(grid: Mapping[str, Sequence[Any]], number: int) -> dict[str, Any]:
    """Return the parameters of a cell; the last parameter runs fastest."""
    places = np.unravel_index(number, [len(values) for values in grid.values()])
    return {name: values[int(place)] for (name, values), place in zip(grid.items(), places)}


def visiting_order(grid: Mapping[str, Sequence[Any]]) -> list[int]:
    """Return the numbers of the cells, coarse before fine, so that early results cover the whole range."""
    levels = [visiting_levels(len(values)) for values in grid.values()]
    places = list(product(*(range(len(level)) for level in levels)))
    finest = [max(level[k] for level, k in zip(levels, place)) for place in places]
    return sorted(range(len(places)), key=lambda number: (finest[number], number))


def visiting_levels(count: int) -> list[int]:
    """Return the number of halvings of the range after which each of the values 0 ... count - 1 is visited.

    Both ends are visited first, then the middle between them, and so on.
    """
    levels, spans, level = [0] * count, [(0, count - 1)], 1
    while spans:
        halves = []
        for low, high in spans:
            if high - low > 1:
                middle = (low + high) // 2
                levels[middle] = level
                halves += [(low, middle), (middle, high)]
        spans, level = halves, level + 1
    return levels
