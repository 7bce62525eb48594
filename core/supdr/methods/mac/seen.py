"""A run on partitions as it is looked at: on rows of one's own choice, and by a copy that can be sent to its workers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.targets import Targets, as_labels, missing_values
from supdr.methods.mac.partitioned import PartitionedRows, taken

Prepared = tuple[PartitionedRows, tuple[NDArray, Targets]]
"""The rows of a run with others in place of its sample, and these as training rows."""


def prepared_on(run: Any, X: NDArray, y: Any, rows: NDArray[np.intp]) -> Prepared:
    """Return what `run` is prepared with, of these rows in place of its sample.

    Parameters
    ----------
    run : MAC
        Of a snapshot on partitions.
    X : array of shape (s, D)
    y : array-like of shape (s,)
    rows : int array of shape (s,)
        Their numbers among all rows of the run; rising.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError
        If there are not as many labels and numbers as rows, or the numbers do not rise.
    """
    labels, numbers = as_labels(y), np.asarray(rows)
    if not len(X) == len(labels) == len(numbers):
        raise ValueError(f"X, y and rows must be equally long; got {len(X)}, {len(labels)} and {len(numbers)}")
    every = sum(run.partitions_.all_sizes)
    if len(numbers) and (numbers[0] < 0 or numbers[-1] >= every or (np.diff(numbers) <= 0).any()):
        raise ValueError(f"rows must be rising numbers from 0 to {every - 1}")
    classes = run.classes_
    labelled = ~missing_values(labels, run.missing_label)
    codes = np.full(len(labels), -1)
    codes[labelled] = np.searchsorted(classes, labels[labelled].astype(classes.dtype))
    values = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0) * labelled[:, None]
    values = values[:, 1:] if len(classes) == 2 else values
    targets = Targets(labelled, classes, codes, np.ascontiguousarray(values), np.ones(len(labels)))
    places = taken(run.partitions_.places, run.partitions_.all_sizes, numbers[labelled])
    return run.partitions_._replace(sampled=places), (run._scaled(np.asarray(X, dtype=float)), targets)


def without_rows(fitted: Any) -> Any:
    """Return a copy of a fitted MAC that predicts new rows and holds none: small, and no reference to a cluster.

    Parameters
    ----------
    fitted : MAC

    Returns
    -------
    MAC
    """
    if fitted._calibrated():
        fitted._calibrated_head()
    light, state = copy.copy(fitted), fitted._state
    for name in ("partitions_", "snapshot_", "support_"):
        vars(light).pop(name, None)
    nothing = np.zeros((0, state.weights.shape[1]))
    heads = state.heads._replace(alpha=np.zeros((0, len(state.heads.coef))))
    few = {"targets": nothing, "latent": nothing, "multiplier": heads.alpha, "settings": (), "search": None}
    light._state = state._replace(heads=heads, **few)
    light._training = (None, fitted._training[1])
    return light
