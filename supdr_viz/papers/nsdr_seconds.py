"""Sections 3.6 and 4.3 of the NSDR paper: what an epoch costs as rows grow, and how long fits take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from supdr import LSDR, NSDR

# First epochs that are not timed: multipliers start at 0, and pairs of such rows cost nothing.
SKIPPED = 2


def seconds_of(work: Callable[..., Any], *arguments: Any) -> float:
    """Return the processor time of a call, with one thread of BLAS."""
    with threadpool_limits(1):
        began = time.process_time()
        work(*arguments)
        return time.process_time() - began


def descend(model: Any, X: NDArray, y: NDArray, objective: float) -> None:
    """Run a model until its objective is no higher than `objective`, or to its last step."""
    for snapshot in model.iterate(X, y):
        if snapshot.objective <= objective:
            return


def epoch_seconds(model: Any, n_rows: int, n_columns: int, n_epochs: int) -> float:
    """Return the median processor time of an epoch on rows of noise, half of each class, all labelled."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, n_columns)), np.arange(n_rows) % 2
    times = []
    with threadpool_limits(1):
        for _snapshot in model.set_params(max_iter=SKIPPED + n_epochs).iterate(X, y):
            times.append(time.process_time())
    return float(np.median([after - before for before, after in itertools.pairwise(times[SKIPPED:])]))


def exponent(model: Any, sizes: tuple[int, ...], n_columns: int, n_epochs: int) -> float:
    """Return b of "an epoch takes a N^b seconds", by least squares on the logarithms."""
    seconds = [epoch_seconds(model, size, n_columns, n_epochs) for size in sizes]
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def loops(n_components: int) -> dict[str, LSDR | NSDR]:
    """Return the paper's loops with so many latent dimensions."""
    shared: dict[str, Any] = {
        "solver": "sgd",
        "init": "random",
        "row_bias": True,
        "preprocessing": "none",
        "calibrate": False,
        "random_state": 0,
    }
    return {
        "LSDR": LSDR(n_components, **shared),
        "NSDR": NSDR(n_components, kernel="poly", degree=2, **shared),
    }
