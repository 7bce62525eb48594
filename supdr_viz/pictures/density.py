"""Pictures of many rows: the density of all of them, by colour, under a fixed sample that is drawn row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from supdr.rows.counting import cell_counts, value_layer
from supdr_viz.pictures.types import Density

# Of more rows only a sample is drawn row by row.
CROWD = 50_000

# Of more rows only a sample is looked at where each costs much: how true its place is, its prediction as a new row.
COSTLY = 5_000

# Rows of the sample.
SAMPLE = 2_000

# Cells of a density per axis.
CELLS = 128

# Standard deviation, in cells, by which a density is smoothed.
BLUR = 0.7

# Layers of values, low to high.
VALUE_LAYERS = 8

# Levels of the thinnest and of the densest cell.
FAINTEST, DENSEST = 24.0, 225.0


def sampled(n_rows: int, most: int = CROWD) -> NDArray | None:
    """Choose rows that stand for all, by default those that are drawn singly, in random order: no class hides another.

    `most`: of no more rows all are chosen. Returns (SAMPLE,): the same ones every time; None: all of them.
    """
    if n_rows <= most:
        return None
    return np.random.default_rng(0).choice(n_rows, SAMPLE, replace=False)


def value_layers(values: NDArray, low: float, high: float) -> tuple[NDArray, int]:
    """Return the layer of each row by about its value; NaN has the last one.

    `values` (n,). `low`, `high`: ends of the scale; what lies beyond them counts as they do. Returns `layer` (n,);
    `n_layers`.
    """
    return value_layer(values, low, high, VALUE_LAYERS), VALUE_LAYERS + 1


def density(
    points: NDArray, layer: NDArray, n_layers: int, extent: tuple[float, float, float, float], cells: int = CELLS
) -> Density:
    """Count rows by cell and layer.

    `points` (n, 2): rows outside the extent, and those that are not finite, do not count; `layer` (n,); `extent`:
    (x_low, x_high, y_low, y_high) of the picture; `cells`: cells per axis.
    """
    return shaded(cell_counts(points, layer, n_layers, extent, cells), extent)


def shaded(counts: NDArray, extent: tuple[float, float, float, float]) -> Density:
    """Make a picture of how many rows there are.

    `counts` (k, r, r): by layer and cell; `extent`: (x_low, x_high, y_low, y_high) of the picture. Returns opacity
    rises with the logarithm of the number of rows in a cell.
    """
    smooth = gaussian_filter(counts.astype(np.float32), (0.0, BLUR, BLUR))
    total = smooth.sum(axis=0)
    dense = total > 0.05
    opacity = np.zeros_like(total)
    if dense.any():
        share = np.log1p(total[dense]) / np.log1p(total.max())
        opacity[dense] = FAINTEST + (DENSEST - FAINTEST) * share
    return Density(np.rint(smooth * (opacity / np.maximum(total, 1e-9))).astype(np.uint8), extent)
