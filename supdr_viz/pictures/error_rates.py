"""Error rates of a run at one snapshot: per cent of wrong rows, or mean squared errors for regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.pictures.types import Scene, Surface


def error_rates(surface: Surface, scene: Scene, snapshot: Snapshot) -> dict[str, float]:
    """Return per cent of wrong rows (mean squared error for regression), and of support vectors.

    `surface`: predictions of all rows, or what was counted of rows that are on disk. `scene`: their true values; rows
    without one do not count. `snapshot`: whose predictions they are. Returns empty where rows are on disk and were not
    counted.  Keys ``"train"``, ``"test"``, ``"support vectors"``; ``"as new"``: training rows as if they were new, of
    many those that are drawn, where that was computed; ``"labelled"`` and ``"unlabelled"`` training rows, where the
    labels of some are hidden; ``"validation"``: training rows that early stopping holds out; ``"constant"``: of the
    mean of the labels, for regression, on rows whose target the method does not see.  As far as they apply.
    """
    if scene.n_rows > len(scene.position) and not surface.rates:
        return {}  # those of the sample are not those of all rows, which were not counted
    if surface.rates:
        return {**surface.rates, **_snapshot_rates(scene, snapshot)}
    has_target = np.isfinite(scene.target)
    loss = (surface.predicted - scene.target) ** 2 if scene.task == "regression" else 100.0 * surface.wrong
    rates = {"train": float(loss[has_target & ~scene.is_test].mean())}
    as_new = has_target & ~scene.is_test & np.isfinite(surface.placed)
    if scene.looked_at is not None:
        as_new[np.setdiff1d(np.arange(len(as_new)), scene.looked_at)] = False
    if as_new.any():
        missed = surface.placed[as_new] - scene.target[as_new]
        rates["as new"] = float((missed**2 if scene.task == "regression" else 100.0 * (missed != 0.0)).mean())
    if scene.is_test.any():
        rates["test"] = float(loss[has_target & scene.is_test].mean())
    hidden = has_target & ~scene.is_test & ~scene.is_labelled
    if hidden.any():
        rates["labelled"] = float(loss[has_target & scene.is_labelled].mean())
        rates["unlabelled"] = float(loss[hidden].mean())
    if scene.task == "regression":
        unseen = has_target & ~scene.is_labelled
        rates["constant"] = constant_error(scene, unseen if unseen.any() else has_target)
    return {**rates, **_snapshot_rates(scene, snapshot)}


def _snapshot_rates(scene: Scene, snapshot: Snapshot) -> dict[str, float]:
    """Return what a snapshot says of all rows by itself."""
    rates, diagnostics = {}, snapshot.diagnostics
    if "validation_error" in diagnostics:
        rates["validation"] = diagnostics["validation_error"] * (1.0 if scene.task == "regression" else 100.0)
    if "support_fraction" in diagnostics:
        rates["support vectors"] = 100.0 * diagnostics["support_fraction"]
    return rates


def constant_error(scene: Scene, rows: NDArray) -> float:
    """Return the mean squared error of some rows of a regression if all are predicted by the mean of the labels.

    `rows` (n,).
    """
    mean = float(scene.target[scene.is_labelled].mean())
    return float(((scene.target[rows] - mean) ** 2).mean())
