"""Maps of cells: latent positions of rows, small enough for a store, and turned so that neighbours are comparable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from supdr.sensitivity.outcome import Result
from supdr.sensitivity.rows import Part

# Most rows of a map, so that it takes 4 kB at most.
MOST_MAP_ROWS = 1000

# Largest coordinate of a stored map, and the coordinate of a row that has no position.
LARGEST, MISSING = 32767, -32768


def map_rows(n_rows: int) -> NDArray:
    """Return the numbers of the rows, of `n_rows`, that a map shows: all, or `MOST_MAP_ROWS` evenly spread ones."""
    return np.linspace(0, n_rows - 1, min(n_rows, MOST_MAP_ROWS)).round().astype(np.int64)


def map_of(fitted: Any, part: Part, X_test: NDArray) -> NDArray | None:
    """Return the map of a fit as int16, (rows of `map_rows`, 2), up to its shift and its scale; None: it has no map."""
    if not hasattr(fitted, "transform"):
        return None
    trained = fitted.embedding_ if hasattr(fitted, "embedding_") else fitted.transform(part.X)
    positions = np.full((part.rows.X.shape[0], np.shape(trained)[1]), np.nan)
    if part.transductive:
        positions[:] = trained
    else:
        positions[part.train], positions[part.test] = trained, fitted.transform(X_test)
    return packed(_planar(positions[map_rows(len(positions))]))


def _planar(positions: NDArray) -> NDArray:
    """Return positions (n, d) in two dimensions, about their mean; rows without a position stay NaN."""
    centred = positions - np.nanmean(positions, axis=0)
    if centred.shape[1] > 2:
        covariance = np.nan_to_num(centred).T @ np.nan_to_num(centred)
        centred = centred @ np.linalg.eigh(covariance)[1][:, :-3:-1]
    return np.pad(centred, ((0, 0), (0, 2 - centred.shape[1])))


def packed(points: NDArray) -> NDArray:
    """Return points (n, 2) as int16: the largest coordinate is `LARGEST`, and NaN is `MISSING`."""
    largest = np.nanmax(np.abs(points), initial=0.0)
    scaled = points * (LARGEST / largest if largest > 0.0 else 0.0)
    return np.where(np.isfinite(scaled), np.nan_to_num(scaled).round(), MISSING).astype(np.int16)


def unpacked(packed_points: NDArray) -> NDArray:
    """Return a packed map as float64, about its mean and with a mean squared radius of 1; missing rows are NaN."""
    points = np.where(packed_points == MISSING, np.nan, packed_points).astype(float)
    if not np.isfinite(points).any():
        return points
    points -= np.nanmean(points, axis=0)
    radius = np.sqrt(np.nanmean(np.sum(points**2, axis=1)))
    return points / radius if radius > 0.0 else points


def aligned_maps(result: Result) -> dict[int, NDArray]:
    """Return the maps of a sweep's cells, each turned and mirrored to fit its neighbours.

    Parameters
    ----------
    result : Result
        Of a sweep with ``maps=True``.

    Returns
    -------
    dict of int to array of shape (n_rows, 2)
        Number of a cell -> positions of its rows, about their mean, with a mean squared radius of 1; NaN: no position.

    Notes
    -----
    Cells are taken in the order of their distance in the grid to those taken before, and each is turned to the mean of
    the nearest of these: the rotation or reflection R that minimises ||M R - T|| (orthogonal Procrustes problem).

    References
    ----------
    Schönemann: A generalized solution of the orthogonal Procrustes problem. Psychometrika, 1966.
    """
    cells = [(number, result.cells[number].map) for number in sorted(result.cells)]
    maps = {number: unpacked(stored) for number, stored in cells if stored is not None}
    if not maps:
        return {}
    numbers = np.array(list(maps))
    places = np.stack(np.unravel_index(numbers, result.shape), axis=1)
    distances = np.linalg.norm(places - places[0], axis=1)
    aligned, remaining = [0], np.arange(1, len(numbers))
    while remaining.size:
        following = remaining[np.argmin(distances[remaining])]
        to_aligned = np.linalg.norm(places[aligned] - places[following], axis=1)
        nearest = [numbers[aligned[k]] for k in np.flatnonzero(to_aligned <= to_aligned.min() + 1e-9)]
        maps[numbers[following]] = turned(maps[numbers[following]], np.mean([maps[each] for each in nearest], axis=0))
        aligned.append(int(following))
        remaining = remaining[remaining != following]
        distances = np.minimum(distances, np.linalg.norm(places - places[following], axis=1))
    return {int(number): points for number, points in maps.items()}


def turned(points: NDArray, target: NDArray) -> NDArray:
    """Return points (n, 2) rotated or mirrored about the origin to lie as near to `target` (n, 2) as they can."""
    both = np.isfinite(points).all(axis=1) & np.isfinite(target).all(axis=1)
    if not both.any():
        return points
    return points @ orthogonal_procrustes(points[both], target[both])[0]
