"""All rows of a run on partitions: how densely they lie and how many are wrong, counted by partition and summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr.rows.counting import (
    Grid,
    count_enclosed,
    count_enclosed_new,
    count_new_rows,
    count_rows,
    count_unlabelled_rows,
    hidden_moments,
    moments,
)
from supdr_viz.data.rows_on_disk import Whole
from supdr_viz.pictures.density import CELLS, VALUE_LAYERS, shaded
from supdr_viz.pictures.surface import LatentPlane
from supdr_viz.pictures.types import Density, Scene


@dataclass(frozen=True, eq=False)
class AllRows:
    """The counts of all rows at one iteration.

    `density`: in the latent plane. `rates`: ``"train"`` and ``"test"``: per cent of the rows that are wrong, or mean
    squared errors, as far as they are known; where labels are hidden also ``"labelled"`` and ``"unlabelled"`` of the
    training rows.
    """

    density: Density
    rates: dict[str, float]


def count_everywhere(
    fitted: Any, snapshot: Snapshot, whole: Whole, plane: LatentPlane, places: NDArray, scene: Scene
) -> AllRows:
    """Count all rows where a snapshot puts them.

    Training rows count where they stand, unlabelled ones and test rows where they would stand as new rows.

    `fitted`: as of the snapshot; `plane`: on display; `places` (n, 2): where the sample's rows stand in it.
    """
    from supdr.rows.partitions import total

    grid = latent_grid(plane, places, scene)
    shape, light = (grid.n_layers, grid.cells, grid.cells), fitted.without_rows()
    latent, rates = fitted.latent_partitions(), {}
    trained = _partitions(whole.X_train, whole.y_train)
    if latent is None:
        counts, rates["train"] = _as_new(total(count_new_rows, light, *trained, grid), grid)
    else:
        counts = total(count_rows, *latent, grid)
        rates["train"] = 100.0 * snapshot.diagnostics["training_error"]
    if whole.has_gaps:
        targets = trained[1] if whole.truth_train is None else _values(whole.truth_train)
        sums = total(count_unlabelled_rows, light, *trained, targets, grid)
        if latent is not None:
            counts = counts + sums[:-3].reshape(shape)
        rates |= _with_hidden(rates["train"], sums[-3:], _unit(grid))
    if whole.X_test is not None:
        sums = total(count_new_rows, light, *_partitions(whole.X_test, whole.y_test), grid)
        more, rates["test"] = _as_new(sums, grid)
        counts = counts + more
    return AllRows(shaded(counts, grid.extent), rates)


def _unit(grid: Grid) -> float:
    """Return what an error of one row counts: per cent of wrong rows, or mean squared errors."""
    return 100.0 if grid.ends is None else 1.0


def _as_new(sums: NDArray, grid: Grid) -> tuple[NDArray, float]:
    """Return the counts of new rows, and the error of those that have a target."""
    labelled, loss = (float(number) for number in sums[-2:])
    counts = sums[:-2].reshape(grid.n_layers, grid.cells, grid.cells)
    return counts, _unit(grid) * loss / labelled if labelled else float("nan")


def _with_hidden(labelled: float, sums: NDArray, unit: float) -> dict[str, float]:
    """Return the errors of training rows where targets of some are hidden; `labelled` is that of the others."""
    n_labelled, n_hidden, loss = (float(number) for number in sums)
    if not n_hidden:
        return {}
    every = (labelled * n_labelled + unit * loss) / (n_labelled + n_hidden)
    return {"train": every, "labelled": labelled, "unlabelled": unit * loss / n_hidden}


def input_density(whole: Whole, scene: Scene) -> Density:
    """Count all rows in the input plane."""
    from supdr.rows.partitions import total

    grid = scene_grid(scene)
    counts = total(count_rows, *_partitions(whole.X_train, whole.y_train), grid)
    if whole.X_test is not None:
        counts = counts + total(count_rows, *_partitions(whole.X_test, whole.y_test), grid)
    return shaded(counts, grid.extent)


def constant_everywhere(whole: Whole, scene: Scene) -> float:
    """Return the mean squared error of a regression if the mean of the labels is predicted everywhere.

    Only rows count whose target the method does not see, if there are any, as in `frames.error_rates.constant_error`.
    """
    from supdr.rows.partitions import total

    centre, y_train = float(scene.target[scene.is_labelled].mean()), _values(whole.y_train)
    labelled, unseen = total(moments, y_train, centre), np.zeros(3)
    if whole.y_test is not None:
        unseen = unseen + total(moments, _values(whole.y_test), centre)
    if whole.truth_train is not None:
        unseen = unseen + total(hidden_moments, y_train, _values(whole.truth_train), centre)
    count, first, second = unseen if unseen[0] else labelled
    mean = labelled[1] / labelled[0]
    return float(second / count - 2.0 * mean * first / count + mean**2)


def count_within(fitted: Any, whole: Whole, grid: Grid, corners: NDArray, *, latent: bool) -> int:
    """Count all rows within a polygon of the input plane or of the latent one.

    `grid`: the plane; `corners` (k, 2); `latent`: whether it is the latent one.
    """
    from supdr.rows.partitions import total

    trained = _partitions(whole.X_train, whole.y_train)
    tested = [] if whole.X_test is None else [_partitions(whole.X_test, whole.y_test)]
    if not latent:
        return int(sum(total(count_enclosed, rows, grid, corners) for rows, _ in (trained, *tested)))
    light, trained_latent = fitted.without_rows(), fitted.latent_partitions()
    new = [(*each, False) for each in tested]
    if trained_latent is None or whole.has_gaps:
        new.append((*trained, trained_latent is not None))
    count = sum(total(count_enclosed_new, light, rows, codes, grid, corners, gaps) for rows, codes, gaps in new)
    return int(count + (0 if trained_latent is None else total(count_enclosed, trained_latent[0], grid, corners)))


def scene_grid(scene: Scene) -> Grid:
    """Return the input plane, cut into cells."""
    plane = scene.plane
    return Grid(plane.origin, plane.axes, plane.extent, CELLS, 0.0, *_layers(scene))


def latent_grid(plane: LatentPlane, places: NDArray, scene: Scene) -> Grid:
    """Return the latent plane on display, cut into cells; a strip is as high as that of the sample, at these places."""
    strip = 0.0 if len(plane.mean) > 1 else 0.5 * max(float(np.ptp(places[:, 0])), 1e-9)
    return Grid(plane.mean, plane.axes, plane.extent, CELLS, strip, *_layers(scene))


def _layers(scene: Scene) -> tuple[int, tuple[float, float] | None]:
    """Return the layers of a grid, and the ends of the scale that they divide; None: they are classes."""
    if scene.task == "regression":
        return VALUE_LAYERS + 1, scene.colour_range
    return len(scene.class_names) + 1, None


def _partitions(X: Any, y: Any) -> tuple[Any, Any]:
    from supdr.rows.partitions import at_home, delay
    from supdr.rows.reading import numbers, row_partitions

    rows, labels = row_partitions(X, y)
    return delay(numbers, at_home(rows), False), delay(np.asarray, at_home(labels))


def _values(y: Any) -> Any:
    from supdr.rows.partitions import at_home, delay

    return delay(np.asarray, at_home(np.asarray(y.to_delayed(), dtype=object).ravel().tolist()))
