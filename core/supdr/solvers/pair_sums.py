"""Sums over all pairs of rows: U = sum_{i != j} 1 / (1 + |z_i - z_j|^2), and its slopes.

Exactly, O(n^2).  In a plane and for many rows by splines on a grid, O(n + g log g) with g cells: with B the cubic
B-spline, in units of the grid's spacing h,

    1 / (1 + |x - y|^2)  is near  sum_ab B(x - a) c_{a-b} B(y - b),   the values c such that both agree on the grid

so that U is a sum of weights w_a = sum_i B(z_i - a) times their convolution with c, which a Fourier transform gives.
The slopes are those of this approximation, which is twice continuously differentiable: a line search sees one
function.  The grid does not move with the rows.

Source of the idea: G. Linderman et al., "Fast interpolation-based t-SNE", Nature Methods 16 (2019), which interpolates
by Lagrange polynomials within cells; of the splines: U. Essmann et al., "A smooth particle mesh Ewald method", 1995.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from joblib import effective_n_jobs
from numba import njit
from numpy.typing import NDArray
from scipy import fft

from supdr.engine.interruption import checkpoint

Array = NDArray[np.float64]

# With NumPy's rule for divisions, without a test for 0, loops become vector instructions.
_SUMS = {"reassoc", "nsz", "contract"}

# Rows of exact sums per thread, and between two checks of the stop flag.
CHUNK = 256

# Up to so many rows the sums are exact.
EXACT_ROWS = 2000

# h: at the distance of two rows where the kernel bends most, splines differ from it by about 1e-4.
SPACING = 0.25

# A side of the grid has no more; a picture that is wider than `SPACING` times this has wider cells.
MOST_CELLS = 1024

# A side of the grid is a multiple of this: the transform of the kernel is made anew only when that changes.
STEP_CELLS = 32

# Cells around the rows, for the splines.
MARGIN = 4


def pair_sums(Z: Array, n_jobs: int | None = None) -> tuple[float, Array]:
    """Return U and dU/dZ of places Z (n, d): by a grid for many rows in at most two dimensions, else exactly."""
    if len(Z) > EXACT_ROWS and Z.shape[1] <= 2:
        return summed_on_grid(Z)
    return summed_exactly(Z, n_jobs)


def summed_exactly(Z: Array, n_jobs: int | None = None) -> tuple[float, Array]:
    """Return U and dU/dZ (n, d) of places Z (n, d).  O(n^2 d)."""
    n, d = Z.shape
    columns, totals, away = np.ascontiguousarray(Z.T), np.empty(n), np.empty((n, d))
    sums = _plane_rows if d == 2 else _exact_rows
    spans = [(first, min(first + CHUNK, n)) for first in range(0, n, CHUNK)]
    threads = 1 if len(spans) == 1 else min(effective_n_jobs(n_jobs), len(spans))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda span: sums(columns, span[0], span[1], totals, away), spans))
    else:
        for first, last in spans:
            checkpoint()
            sums(columns, first, last, totals, away)
    return float(totals.sum()), -4.0 * away


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _exact_rows(columns: Array, first: int, last: int, totals: Array, away: Array) -> None:
    """Write sum_j u_ij (n,) and sum_j u_ij^2 (z_i - z_j) (n, d) of the rows first to last in place."""
    d, n = columns.shape
    u = np.empty(n)
    for i in range(first, last):
        u[:] = 1.0
        for k in range(d):
            own, column = columns[k, i], columns[k]
            for j in range(n):
                u[j] += (own - column[j]) ** 2
        total = 0.0
        for j in range(n):
            u[j] = 1.0 / u[j]
        u[i] = 0.0
        for j in range(n):
            total += u[j]
        totals[i] = total
        for j in range(n):
            u[j] *= u[j]
        for k in range(d):
            own, column = columns[k, i], columns[k]
            force = 0.0
            for j in range(n):
                force += u[j] * (own - column[j])
            away[i, k] = force


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def _plane_rows(columns: Array, first: int, last: int, totals: Array, away: Array) -> None:
    """Do the same for d = 2, in one loop: less than half the time."""
    x, y = columns[0], columns[1]
    for i in range(first, last):
        own_x, own_y = x[i], y[i]
        total, right, up = 0.0, 0.0, 0.0
        for other_x, other_y in ((x[:i], y[:i]), (x[i + 1 :], y[i + 1 :])):
            for j in range(len(other_x)):
                across, along = own_x - other_x[j], own_y - other_y[j]
                u = 1.0 / (1.0 + across * across + along * along)
                total += u
                right += u * u * across
                up += u * u * along
        totals[i] = total
        away[i, 0], away[i, 1] = right, up


def summed_on_grid(Z: Array) -> tuple[float, Array]:
    """Return U and dU/dZ (n, d) of places Z (n, d), d at most 2, by cubic splines."""
    n, d = Z.shape
    plane = Z if d == 2 else np.hstack([Z, np.zeros((n, 1))])
    low, high = plane.min(axis=0), plane.max(axis=0)
    spacing = SPACING
    while (high - low).max() / spacing + 2 * MARGIN > MOST_CELLS:
        spacing *= 2.0
    origin = np.floor(low / spacing) - MARGIN
    cells = np.ceil((high / spacing - origin + MARGIN) / STEP_CELLS).astype(int) * STEP_CELLS
    shape, spectrum = _kernel_spectrum((int(cells[0]), int(cells[1])), spacing)
    places = plane / spacing - origin
    weights = np.zeros((int(cells[0]), int(cells[1])))
    _spread(places, weights)
    potential = fft.irfft2(fft.rfft2(weights, shape) * spectrum, shape)[: cells[0], : cells[1]]
    slopes = np.empty((n, 2))
    total = _gathered(places, np.ascontiguousarray(potential), slopes)
    return total - n, (2.0 / spacing) * slopes[:, :d]


@lru_cache(maxsize=8)
def _kernel_spectrum(cells: tuple[int, int], spacing: float) -> tuple[tuple[int, int], Array]:
    """Return the size of the transform, and the transform of c, for a grid of so many cells."""
    # Twice the cells, that no row meets another around the edge; more, as c fades over some cells.
    shape = tuple(fft.next_fast_len(2 * each + 2 * STEP_CELLS, real=True) for each in cells)
    squares, waves = [], []
    for size in shape:
        steps = np.arange(size)
        squares.append((spacing * np.minimum(steps, size - steps)) ** 2)
        waves.append((2.0 + np.cos(2.0 * np.pi * steps / size)) / 3.0)  # of a cubic spline's values 1/6, 4/6, 1/6
    kernel = 1.0 / (1.0 + squares[0][:, None] + squares[1])
    half = shape[1] // 2 + 1
    spectrum = fft.rfft2(kernel).real / (waves[0][:, None] * waves[1][:half]) ** 2
    spectrum.setflags(write=False)
    return (shape[0], shape[1]), spectrum


@njit(cache=True, nogil=True, inline="always")
def _splines(offset: float, values: Array, slopes: Array) -> None:
    """Write the four cubic B-splines over a place, `offset` (0 to 1) into its cell, and their slopes, in place."""
    rest = 1.0 - offset
    values[0] = rest**3 / 6.0
    values[1] = (4.0 - 6.0 * offset**2 + 3.0 * offset**3) / 6.0
    values[2] = (4.0 - 6.0 * rest**2 + 3.0 * rest**3) / 6.0
    values[3] = offset**3 / 6.0
    slopes[0] = -0.5 * rest**2
    slopes[1] = 1.5 * offset**2 - 2.0 * offset
    slopes[2] = 2.0 * rest - 1.5 * rest**2
    slopes[3] = 0.5 * offset**2


@njit(cache=True, nogil=True)
def _spread(places: Array, weights: Array) -> None:
    """Add the splines of every place (n, 2), in cells, to weights in place."""
    values, slopes = np.empty((2, 4)), np.empty(4)
    for i in range(len(places)):
        first, second = int(places[i, 0]), int(places[i, 1])
        _splines(places[i, 0] - first, values[0], slopes)
        _splines(places[i, 1] - second, values[1], slopes)
        for a in range(4):
            for b in range(4):
                weights[first - 1 + a, second - 1 + b] += values[0, a] * values[1, b]


@njit(cache=True, nogil=True)
def _gathered(places: Array, potential: Array, out: Array) -> float:
    """Return the sum of the splines through `potential` at the places (n, 2); write their slopes into out (n, 2)."""
    values, slopes = np.empty((2, 4)), np.empty((2, 4))
    total = 0.0
    for i in range(len(places)):
        first, second = int(places[i, 0]), int(places[i, 1])
        _splines(places[i, 0] - first, values[0], slopes[0])
        _splines(places[i, 1] - second, values[1], slopes[1])
        out[i, 0], out[i, 1] = 0.0, 0.0
        for a in range(4):
            for b in range(4):
                height = potential[first - 1 + a, second - 1 + b]
                total += values[0, a] * values[1, b] * height
                out[i, 0] += slopes[0, a] * values[1, b] * height
                out[i, 1] += values[0, a] * slopes[1, b] * height
    return total
