"""All rows of a run on partitions: how densely they lie and how many are wrong, counted by partition and summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr.rows.counting import Grid, count_enclosed, count_enclosed_new, counted, counted_new, counted_unlabelled
from supdr_viz.frames.density import CELLS, shaded
from supdr_viz.frames.surface import LatentPlane
from supdr_viz.frames.types import Density, Plane, Scene
from supdr_viz.settings.on_disk import Whole


@dataclass(frozen=True, eq=False)
class Everywhere:
    """What was counted of all rows at one iteration.

    Attributes
    ----------
    density : Density
        In the latent plane.
    rates : dict of str to float
        ``"train"`` and ``"test"``: per cent of labelled rows that are wrong.
    """

    density: Density
    rates: dict[str, float]


def count_everywhere(
    fitted: Any, snapshot: Snapshot, whole: Whole, plane: LatentPlane, places: NDArray, scene: Scene
) -> Everywhere:
    """Count all rows where a snapshot puts them.

    Training rows count where they stand, unlabelled ones and test rows where they would stand as new rows.

    Parameters
    ----------
    fitted : estimator
        As of the snapshot.
    snapshot : Snapshot
    whole : Whole
    plane : LatentPlane
        On display.
    places : array of shape (n, 2)
        Where the sample's rows stand in it.
    scene : Scene

    Returns
    -------
    Everywhere
    """
    from supdr.rows.partitions import total

    grid = latent_grid(plane, places, len(scene.class_names))
    latent, codes = fitted.latent_partitions()
    counts = total(counted, latent, codes, grid)
    rates = {"train": 100.0 * snapshot.diagnostics["training_error"]}
    shape = (grid.n_layers, grid.cells, grid.cells)
    if whole.has_gaps:
        parts = _partitions(whole.X_train, whole.y_train)
        counts = counts + total(counted_unlabelled, fitted.without_rows(), *parts, grid)
    if whole.X_test is not None:
        found = total(counted_new, fitted.without_rows(), *_partitions(whole.X_test, whole.y_test), grid)
        counts, (known, wrong) = counts + found[:-2].reshape(shape), found[-2:]
        if known:
            rates["test"] = 100.0 * float(wrong) / float(known)
    return Everywhere(shaded(counts, grid.extent), rates)


def input_density(whole: Whole, plane: Plane, n_classes: int) -> Density:
    """Count all rows in the input plane.

    Parameters
    ----------
    whole : Whole
    plane : Plane
    n_classes : int

    Returns
    -------
    Density
    """
    from supdr.rows.partitions import total

    grid = Grid(plane.origin, plane.axes, plane.extent, CELLS, 0.0, n_classes + 1)
    counts = total(counted, *_partitions(whole.X_train, whole.y_train), grid)
    if whole.X_test is not None:
        counts = counts + total(counted, *_partitions(whole.X_test, whole.y_test), grid)
    return shaded(counts, plane.extent)


def count_within(fitted: Any, whole: Whole, grid: Grid, corners: NDArray, *, latent: bool) -> int:
    """Count all rows within a polygon of the input plane or of the latent one.

    Parameters
    ----------
    fitted : estimator
    whole : Whole
    grid : Grid
        The plane.
    corners : array of shape (k, 2)
    latent : bool
        Whether it is the latent one.

    Returns
    -------
    int
    """
    from supdr.rows.partitions import total

    tests = [] if whole.X_test is None else [_partitions(whole.X_test, whole.y_test)[0]]
    if not latent:
        parts = [_partitions(whole.X_train, whole.y_train)[0], *tests]
        return int(sum(total(count_enclosed, each, grid, corners) for each in parts))
    light = fitted.without_rows()
    known = total(count_enclosed, fitted.latent_partitions()[0], grid, corners)
    return int(known + sum(total(count_enclosed_new, light, each, grid, corners) for each in tests))


def latent_grid(plane: LatentPlane, places: NDArray, n_classes: int) -> Grid:
    """Return the latent plane on display, cut into cells; a strip is as high as that of the sample, whose places count."""
    strip = 0.0 if len(plane.mean) > 1 else 0.5 * max(float(np.ptp(places[:, 0])), 1e-9)
    return Grid(plane.mean, plane.axes, plane.extent, CELLS, strip, n_classes + 1)


def _partitions(X: Any, y: Any) -> tuple[Any, Any]:
    from supdr.rows.partitions import at_home, planned
    from supdr.rows.reading import finite_rows, row_partitions

    rows, labels = row_partitions(X, y)
    return planned(finite_rows, at_home(rows)), planned(np.asarray, at_home(labels))
