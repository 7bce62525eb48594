"""Runs on partitions that outlive a lost machine: what stands in a checkpoint, and how a run goes on from one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed.comm import CommClosedError

from supdr.engine.diagnostics import Diagnostics
from supdr.engine.iterate import Snapshot, Stop
from supdr.methods.mac.on_dask import started_run
from supdr.rows import checkpoints


class ClusterLost(RuntimeError):
    """The scheduler or a worker that was needed cannot be reached any more."""


def guarded_run(
    model: Any,
    X: Any,
    y: Any,
    start: Snapshot | None,
    interrupted: Callable[[], bool] | None,
    checkpoint: str | os.PathLike[str] | None,
    every: int,
) -> Iterator[Snapshot]:
    """Return the stream of snapshots of a run of `model`, which writes checkpoints to a folder if there is one.

    Raises
    ------
    ValueError
        For arguments that do not fit together.
    """
    if checkpoint is None:
        return _guarded(started_run(model, X, y, start, interrupted), None, every)
    if start is not None:
        raise ValueError("start must be None with checkpoint: the run goes on from what the folder holds")
    if model.early_stopping is not False:
        raise ValueError(f"early_stopping must be False with checkpoint; got {model.early_stopping!r}")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"checkpoint_every must be an integer of at least 1; got {every!r}")
    folder = Path(checkpoint)
    known = checkpoints.load(folder)
    if known is None:
        return _guarded(started_run(model, X, y, None, interrupted), folder, every)
    state, fixed, stop = known
    begun = Snapshot(state.iteration, state.stage, {}, Diagnostics({}), state, 0.0, fixed=fixed)
    left = model.max_iter - state.iteration
    snapshots = started_run(model, X, y, begun, interrupted, max_iter=max(left, 1))
    if stop is Stop.converged or left <= 0:
        return _ended(snapshots, stop if stop is Stop.converged else Stop.max_iter)
    return _guarded(snapshots, folder, every)


def _ended(snapshots: Iterator[Snapshot], stop: Stop) -> Iterator[Snapshot]:
    """Yield where a run stands that was over."""
    yield replace(next(snapshots), stop=stop)


def _guarded(snapshots: Iterator[Snapshot], folder: Path | None, every: int) -> Iterator[Snapshot]:
    """Yield snapshots, written down before; say in a sentence if the cluster is lost."""
    passes = None
    try:
        for snapshot in snapshots:
            if folder is not None and (snapshot.iteration % every == 0 or snapshot.stop):
                checkpoints.save((snapshot.state, dict(snapshot.fixed), snapshot.stop), folder, snapshot.iteration)
            passes = snapshot.iteration
            yield snapshot
    except (CancelledError, CommClosedError) as error:
        complete = "no pass was complete" if passes is None else f"{passes} passes were complete"
        advice = "" if folder is None else f"; the same call goes on from the newest checkpoint in {folder}"
        raise ClusterLost(f"the Dask cluster cannot be reached any more: {complete}{advice}") from error
