"""Runs on rows in partitions: their start, their checkpoints, and the error of a lost cluster."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed
from distributed.comm import CommClosedError
from numpy.typing import NDArray

from supdr.engine.checks import check_integer, check_snapshot
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.fitted import predicts_classes
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.targets import Targets, as_labels, missing_values
from supdr.rows import checkpoints
from supdr.rows.in_partitions import SampleCache
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, take_rows
from supdr.rows.partitions import Partitions, at_home, delay, gather, persist
from supdr.rows.reading import numbers, row_partitions
from supdr.rows.summed_columns import SummedColumns

# Rows of the random sample (all rows where there are no more), which serves the choices that need single rows.
SAMPLE_ROWS = 20_000


class ClusterLost(RuntimeError):
    """The scheduler, or a worker whose results are needed, cannot be reached any more."""


class ReadRows(NamedTuple):
    """The rows of a run on partitions.

    raw (n, D): rows before preprocessing, read at each use.
    X (n, m): preprocessed rows, kept where all fit into half of scikit-learn's ``working_memory``, else computed at
        each use.
    targets: decoded labels, kept.
    sizes: number of rows of each partition.
    sampled (s,): numbers of the rows of the sample.
    fingerprint: checksums of the partitions' rows and labels.
    """

    raw: Partitions
    X: Partitions
    targets: Partitions
    sizes: tuple[int, ...]
    sampled: NDArray[np.intp]
    fingerprint: tuple


def start_run(
    model: Any,
    X: Any,
    y: Any,
    start: Snapshot | None,
    interrupted: Callable[[], bool] | None,
    checkpoint: str | os.PathLike[str] | None,
    every: int,
) -> Iterator[Snapshot]:
    """Return the snapshots of a run, which may write checkpoints to a folder; ValueError if these do not go with it."""
    if checkpoint is None:
        return _with_checkpoints(_start(model, X, y, start, interrupted), None, every)
    if start is not None:
        raise ValueError(f"start must be None with checkpoint, whose folder holds the start; got {start!r}")
    if model.early_stopping is not False:
        raise ValueError(f"early_stopping must be False with checkpoint; got {model.early_stopping!r}")
    check_integer("checkpoint_every", every)
    folder = Path(checkpoint)
    content = checkpoints.load(folder)
    if content is None:
        return _with_checkpoints(_start(model, X, y, None, interrupted), folder, every)
    state, fixed, stop, fingerprint = content
    saved = Snapshot(state.iteration, 0, {}, Diagnostics({}), state, 0.0, fixed=fixed)
    remaining = model.max_iter - state.iteration
    snapshots = _start(model, X, y, saved, interrupted, max_iter=max(remaining, 1), fingerprint=fingerprint)
    if stop is Stop.converged or remaining <= 0:
        return _only_last(snapshots, stop if stop is Stop.converged else Stop.max_iter)
    return _with_checkpoints(snapshots, folder, every)


def _only_last(snapshots: Iterator[Snapshot], stop: Stop) -> Iterator[Snapshot]:
    """Yield the first snapshot as the last one of a run that is over."""
    yield replace(next(snapshots), stop=stop)


def _with_checkpoints(snapshots: Iterator[Snapshot], folder: Path | None, every: int) -> Iterator[Snapshot]:
    """Write a checkpoint of every n-th snapshot, then yield it; raise ClusterLost if the cluster is lost."""
    passes = None
    try:
        for snapshot in snapshots:
            if folder is not None and (snapshot.iteration % every == 0 or snapshot.stop):
                fingerprint = snapshot.run.partitions_.fingerprint
                content = (snapshot.state, dict(snapshot.fixed), snapshot.stop, fingerprint)
                checkpoints.save(content, folder, snapshot.iteration)
            passes = snapshot.iteration
            yield snapshot
    except (CancelledError, CommClosedError) as error:
        complete = "no pass was complete" if passes is None else f"{passes} passes were complete"
        advice = "" if folder is None else f"; the same call resumes at the newest checkpoint in {folder}"
        raise ClusterLost(f"the Dask cluster cannot be reached any more: {complete}{advice}") from error


# --- the start --------------------------------------------------------------------------------------------------------


def _start(
    model: Any,
    X: Any,
    y: Any,
    start: Snapshot | None,
    interrupted: Callable[[], bool] | None,
    max_iter: int | None = None,
    fingerprint: tuple | None = None,
) -> Iterator[Snapshot]:
    """Return the snapshots of a run of `model` on partitions; `fingerprint`: of the rows of `start`, if known."""
    run = model._unfitted()
    if max_iter is not None:
        run.max_iter = max_iter
    run._check_declared()
    if start is not None:
        check_snapshot(start, run)
    if start is not None and run.partition_support.resumes_prepared and _same_preparation(run, start.run, X, y):
        return _resume(model, run, start, interrupted)
    raw, y_parts, sizes, names, sums = _read(run, X, y)
    seed = run._seed()
    n, rng = sum(sizes), np.random.default_rng([seed, 1 << 21])
    chosen = np.arange(n) if n <= SAMPLE_ROWS else np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    sample_X, sample_y = take_rows(raw, sizes, chosen), take_rows(y_parts, sizes, chosen)
    if hasattr(X, "columns"):
        from pandas import DataFrame

        sample_X = DataFrame(sample_X, columns=X.columns)
    sample_X, targets = run._validate(sample_X, sample_y)
    if names is not None and len(run.classes_) < len(names):
        lost = sorted(set(names.tolist()) - set(run.classes_.tolist()))
        raise ValueError(f"y has classes of which the sample of {len(chosen)} rows has no row: {lost[:5]}")
    run._all_rows = SummedColumns(raw, (n, sample_X.shape[1]))
    run._check_parameters(sample_X, targets)
    run._check_start(start)
    run._prepare_training(sample_X, targets, start)
    run._all_rows = None
    decoded = persist(run.partition_support.part_decoder(run, targets), y_parts)
    apply = persist if fits_in_memory(n, run._training[0].shape[1]) else delay
    scaled = apply(_preprocessed, raw, run._preprocessing)
    tokens = tuple(zip(sums, gather(_token, decoded)))
    _check_origin(start, tokens, fingerprint)
    run.partitions_ = run.partition_support.held_rows(run, ReadRows(raw, scaled, decoded, sizes, chosen, tokens))
    run._collection_names = _names(X, y)
    return model._start_run(run, seed, start, interrupted)


def _names(X: Any, y: Any) -> tuple[str | None, str | None]:
    """Return the names by which Dask tells its arrays apart; data frames have none."""
    return getattr(X, "name", None), getattr(y, "name", None)


def _same_preparation(run: Any, earlier: Any, X: Any, y: Any) -> bool:
    """Whether an earlier run had the same Dask arrays, the same sample and the same preprocessing."""
    names = _names(X, y)
    if earlier is None or None in names or earlier._collection_names != names:
        return False
    parameters = ("random_state", "preprocessing", "missing_label")
    same = all(repr(getattr(run, name, None)) == repr(getattr(earlier, name, None)) for name in parameters)
    return same and isinstance(run.random_state, int)


def _resume(model: Any, run: Any, start: Snapshot, interrupted: Callable[[], bool] | None) -> Iterator[Snapshot]:
    """Return the stream of a run on the rows that the run of `start` has prepared."""
    run._check_start(start)
    run._copy_preparation(start.run)
    run._sample_cache = SampleCache(start.run._sample_cache.sample_rows, start.run._sample_cache.prepared)
    run._check_parameters(*run._training)
    run._resumed_components = run._components_of(start.state)
    return model._start_run(run, run._seed(), start, interrupted)


def training_at(run: Any, X: Any, y: Any, rows: Any) -> tuple[PartitionedRows, tuple[NDArray, Targets]]:
    """Return partitions and training rows of a run with other rows, numbered `rows` (s,), as sample; or ValueError."""
    labels, places = as_labels(y), np.asarray(rows)
    if not len(X) == len(labels) == len(places):
        raise ValueError(f"X, y and rows must be equally long; got {len(X)}, {len(labels)} and {len(places)}")
    if len(places) and (places[0] < 0 or (np.diff(places) <= 0).any()):
        raise ValueError("rows must be rising numbers from 0 on")
    targets = run.partition_support.part_decoder(run, run._training[1])(labels)
    sampled = run.partitions_.among(places, targets.labelled)
    return replace(run.partitions_, sampled=sampled), (run._scaled(np.asarray(X, dtype=float)), targets)


def _read(run: Any, X: Any, y: Any) -> tuple[Partitions, Partitions, tuple[int, ...], NDArray | None, tuple[int, ...]]:
    """Return raw rows, labels and sizes of the non-empty partitions, their classes (None: not read) and checksums."""
    rows, labels = row_partitions(X, y, several=run.partition_support.several_targets)
    raw, y_parts = delay(numbers, at_home(rows), run.accepts_missing_cells), delay(as_labels, at_home(labels))
    with_names = predicts_classes(run) and y.ndim == 1
    summaries = gather(_summary, raw, y_parts, run.missing_label, with_names)
    nonempty = [number for number, (size, _, _) in enumerate(summaries) if size]
    if not nonempty:
        raise ValueError("Found array with 0 sample(s) in all partitions of X while a minimum of 2 is required.")
    names = np.unique(np.concatenate([summaries[number][1] for number in nonempty])) if with_names else None
    sizes, sums = (tuple(summaries[number][place] for number in nonempty) for place in (0, 2))
    return raw.some(nonempty), y_parts.some(nonempty), sizes, names, sums


def _check_origin(start: Snapshot | None, tokens: tuple, fingerprint: tuple | None) -> None:
    """Raise ValueError if `start` is a snapshot of a run on other rows or partitions."""
    if start is None:
        return
    if fingerprint is None:
        fingerprint = getattr(getattr(start.run, "partitions_", None), "fingerprint", None)
    if fingerprint != tokens:
        raise ValueError(
            "the snapshot to start from belongs to other rows or other partitions; a run on partitions resumes on the "
            "same ones"
        )


def lazily_embedded(
    X: Any, preprocessing: Preprocessing, work: Callable[[NDArray], NDArray], width: int, may_miss: bool
) -> Any:
    """Return the latent rows (N, L) of a Dask collection as a lazy Dask array; `work` maps preprocessed rows."""
    import dask.array as da

    array = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X.to_dask_array()
    return da.map_blocks(
        _embedded,
        array,
        delayed(preprocessing, pure=False),
        delayed(work, pure=False),
        may_miss,
        dtype=np.float64,
        chunks=(array.chunks[0], (width,)),
        meta=np.empty((0, 0)),
    )


# --- on a partition -----------------------------------------------------------------------------------------------


def _summary(X: NDArray, y: NDArray, missing_label: Any, with_names: bool) -> tuple[int, NDArray, int]:
    """Return the number of rows, the distinct labels, and a checksum of the rows."""
    if len(X) != len(y):
        raise ValueError(f"X and y must be partitioned alike; a partition has {len(X)} rows and {len(y)} labels")
    names = np.unique(y[~missing_values(y, missing_label)]) if with_names else np.empty(0)
    return len(X), names, zlib.crc32(X.data)


def _preprocessed(X: NDArray, preprocessing: Preprocessing) -> NDArray:
    return preprocessing.transform(X)


def _token(targets: Targets) -> int:
    """Return a checksum of labels."""
    return zlib.crc32(targets.codes.tobytes() + targets.values.tobytes())


def _embedded(X: NDArray, preprocessing: Preprocessing, work: Callable[[NDArray], NDArray], may_miss: bool) -> NDArray:
    return work(preprocessing.transform(numbers(X, may_miss)))
