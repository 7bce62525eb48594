"""Runs on rows in partitions: what is read at the start, what a checkpoint holds, what is said of a lost cluster."""

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

from supdr.engine.checks import check_snapshot, check_unchanged
from supdr.engine.context import RunContext
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.fitted import predicts_classes
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.targets import Targets, as_labels, missing_values
from supdr.rows import checkpoints
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, taken
from supdr.rows.partitions import Partitions, at_home, gathered, planned, spread
from supdr.rows.reading import numbers, row_partitions
from supdr.rows.summed_columns import SummedColumns

# Random rows, or all where there are no more, on which what needs single rows is chosen.
SAMPLE_ROWS = 20_000


class ClusterLost(RuntimeError):
    """The scheduler or a worker that was needed cannot be reached any more."""


class ReadRows(NamedTuple):
    """What a run on partitions begins with.

    raw (n, D): rows before preprocessing, read whenever they are needed.
    X (n, m): preprocessed: kept where all fit into half of scikit-learn's ``working_memory``, else made when needed.
    targets: decoded labels, kept.
    sizes: rows of each partition.
    sampled (s,): numbers of the rows of the sample.
    fingerprint: tells these rows in these partitions from others.
    """

    raw: Partitions
    X: Partitions
    targets: Partitions
    sizes: tuple[int, ...]
    sampled: NDArray[np.intp]
    fingerprint: tuple


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

    Raises ValueError: for arguments that do not fit together.
    """
    if checkpoint is None:
        return _guarded(model, _started(model, X, y, start, interrupted), None, every)
    if start is not None:
        raise ValueError("start must be None with checkpoint: the run goes on from what the folder holds")
    if model.early_stopping is not False:
        raise ValueError(f"early_stopping must be False with checkpoint; got {model.early_stopping!r}")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"checkpoint_every must be an integer of at least 1; got {every!r}")
    folder = Path(checkpoint)
    known = checkpoints.load(folder)
    if known is None:
        return _guarded(model, _started(model, X, y, None, interrupted), folder, every)
    state, fixed, stop, fingerprint = known
    begun = Snapshot(state.iteration, 0, {}, Diagnostics({}), state, 0.0, fixed=fixed)
    left = model.max_iter - state.iteration
    snapshots = _started(model, X, y, begun, interrupted, max_iter=max(left, 1), fingerprint=fingerprint)
    if stop is Stop.converged or left <= 0:
        return _ended(snapshots, stop if stop is Stop.converged else Stop.max_iter)
    return _guarded(model, snapshots, folder, every)


def _ended(snapshots: Iterator[Snapshot], stop: Stop) -> Iterator[Snapshot]:
    """Yield where a run stands that was over."""
    yield replace(next(snapshots), stop=stop)


def _guarded(model: Any, snapshots: Iterator[Snapshot], folder: Path | None, every: int) -> Iterator[Snapshot]:
    """Yield snapshots, written down before; say in a sentence if the cluster is lost."""
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
        advice = "" if folder is None else f"; the same call goes on from the newest checkpoint in {folder}"
        raise ClusterLost(f"the Dask cluster cannot be reached any more: {complete}{advice}") from error


# --- the start --------------------------------------------------------------------------------------------------------


def _started(
    model: Any,
    X: Any,
    y: Any,
    start: Snapshot | None,
    interrupted: Callable[[], bool] | None,
    max_iter: int | None = None,
    fingerprint: tuple | None = None,
) -> Iterator[Snapshot]:
    """Return the stream of snapshots of a run of `model` on rows in partitions, of another `max_iter` if given.

    The fingerprint is that of the rows that `start` belongs to, where its run does not know them any more.
    """
    run = model._unfitted()
    if max_iter is not None:
        run.max_iter = max_iter
    run._stood = run._prepared_on = run._calibrated_at = run._asked = (
        None  # what an earlier run of this estimator was asked for
    )
    run._check_declared()
    if start is not None:
        check_snapshot(start, run)
    if start is not None and run.keeps_its_preparation and _prepared_alike(run, start.run, X, y):
        return _continued(model, run, start, interrupted)
    raw, y_parts, sizes, names, sums = _read(run, X, y)
    seed = run._seed()
    n, rng = sum(sizes), np.random.default_rng([seed, 1 << 21])
    chosen = np.arange(n) if n <= SAMPLE_ROWS else np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    sample_X, sample_y = taken(raw, sizes, chosen), taken(y_parts, sizes, chosen)
    if hasattr(X, "columns"):
        sample_X = X._meta_nonempty.__class__(sample_X, columns=X.columns)
    sample_X, targets = run._validate(sample_X, sample_y)
    if names is not None and len(run.classes_) < len(names):
        lost = sorted(set(names.tolist()) - set(run.classes_.tolist()))
        raise ValueError(f"y has classes of which the sample of {len(chosen)} rows has no row: {lost[:5]}")
    run._all_rows = SummedColumns(raw, (n, sample_X.shape[1]))
    run._check_parameters(sample_X, targets)
    fixed = {name: getattr(run, name) for name in sorted(run.restart_parameters)}
    if start is not None:
        check_unchanged(start.fixed, fixed)
    run._kept_components = None if start is None else run._components_of(start.state)
    run._preprocessing = run._fit_preprocessing(sample_X, targets, start)
    del run._all_rows
    run._training = (run._scaled(sample_X), targets)
    decoded = spread(run._part_decoder(targets), y_parts)
    prepared = planned(_prepared, raw, run._preprocessing)
    if fits_in_memory(n, run._training[0].shape[1]):
        prepared = spread(_itself, prepared)
    tokens = tuple(zip(sums, gathered(_token, decoded)))
    _check_origin(start, tokens, fingerprint)
    run._collections = (getattr(X, "name", None), getattr(y, "name", None))
    run.partitions_ = run._hold(ReadRows(raw, prepared, decoded, sizes, chosen, tokens))
    context = RunContext(stop_requested=interrupted)
    snapshots = run._snapshots(seed=seed, start=start, monitor=None, context=context, fixed=fixed)
    return model._followed(snapshots)


# What a run is prepared with; one that goes on from its snapshots, on the same rows, has it already.
KEPT = (
    "_collections",
    "_preprocessing",
    "_training",
    "partitions_",
    "classes_",
    "n_features_in_",
    "_single_target",
    "_prepared_on",
    "_stood",
)


def _prepared_alike(run: Any, earlier: Any, X: Any, y: Any) -> bool:
    """Whether an earlier run was prepared with these very Dask arrays, on the same sample."""
    known = (None,) if earlier is None else vars(earlier).get("_collections", (None,))
    if None in known or known != (getattr(X, "name", None), getattr(y, "name", None)):
        return False
    names = ("random_state", "preprocessing", "missing_label")
    alike = all(repr(getattr(run, each, None)) == repr(getattr(earlier, each, None)) for each in names)
    return alike and isinstance(run.random_state, int)


def _continued(model: Any, run: Any, start: Snapshot, interrupted: Callable[[], bool] | None) -> Iterator[Snapshot]:
    """Return the stream of a run that goes on with what the run of `start` was prepared with."""
    fixed = {name: getattr(run, name) for name in sorted(run.restart_parameters)}
    check_unchanged(start.fixed, fixed)
    vars(run).update({name: vars(start.run)[name] for name in KEPT})
    run._check_parameters(*run._training)
    run._kept_components = run._components_of(start.state)
    context = RunContext(stop_requested=interrupted)
    snapshots = run._snapshots(seed=run._seed(), start=start, monitor=None, context=context, fixed=fixed)
    return model._followed(snapshots)


def prepared_on(run: Any, X: Any, y: Any, rows: Any) -> tuple[PartitionedRows, tuple[NDArray, Targets]]:
    """Return what `run` is prepared with, of some of its rows in place of its sample.

    `run`: of a snapshot on partitions. `X` (s, D). `y` (s,). `rows` (s,): their numbers among all rows of the run;
    rising. Returns `partitions`; `training`. Raises ValueError if there are not as many labels and numbers as rows, or
    the numbers do not rise.
    """
    labels, places = as_labels(y), np.asarray(rows)
    if not len(X) == len(labels) == len(places):
        raise ValueError(f"X, y and rows must be equally long; got {len(X)}, {len(labels)} and {len(places)}")
    if len(places) and (places[0] < 0 or (np.diff(places) <= 0).any()):
        raise ValueError("rows must be rising numbers from 0 on")
    targets = run._part_decoder(run._training[1])(labels)
    sampled = run.partitions_.among(places, targets.labelled)
    return replace(run.partitions_, sampled=sampled), (run._scaled(np.asarray(X, dtype=float)), targets)


def _read(run: Any, X: Any, y: Any) -> tuple[Partitions, Partitions, tuple[int, ...], NDArray | None, tuple[int, ...]]:
    """Return rows, labels, sizes and checksums of the partitions that have rows, and the labels of all; None: many."""
    rows, labels = row_partitions(X, y, several=run.several_targets)
    raw, y_parts = planned(numbers, at_home(rows), run.accepts_missing_cells), planned(_labels, at_home(labels))
    names_wanted = predicts_classes(run) and y.ndim == 1
    found = gathered(_described, raw, y_parts, run.missing_label, names_wanted)
    some = [number for number, (size, _, _) in enumerate(found) if size]
    if not some:
        raise ValueError("Found array with 0 sample(s) in all partitions of X while a minimum of 2 is required.")
    names = np.unique(np.concatenate([found[number][1] for number in some])) if names_wanted else None
    sizes, sums = (tuple(found[number][place] for number in some) for place in (0, 2))
    return raw.some(some), y_parts.some(some), sizes, names, sums


def _check_origin(start: Snapshot | None, tokens: tuple, fingerprint: tuple | None) -> None:
    """Raise ValueError if the snapshot to start from is one of other rows or partitions."""
    if start is None:
        return
    if fingerprint is None:
        fingerprint = getattr(getattr(start.run, "partitions_", None), "fingerprint", None)
    if fingerprint != tokens:
        raise ValueError(
            "the snapshot to start from belongs to other rows or other partitions; a run on partitions goes on with "
            "those it began with"
        )


def lazily_embedded(
    X: Any, preprocessing: Preprocessing, work: Callable[[NDArray], NDArray], width: int, may_miss: bool
) -> Any:
    """Return the latent rows of a Dask collection as a Dask array that is computed when it is asked for.

    `X` (N, D): rows; `preprocessing`: what is applied to them first; `work`: maps preprocessed rows to latent rows;
    `width`: L; `may_miss`: whether cells may be missing. Returns (N, L).
    """
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


def _labels(block: Any) -> NDArray:
    return as_labels(block)


def _described(X: NDArray, y: NDArray, missing_label: Any, names_wanted: bool) -> tuple[int, NDArray, int]:
    """Return the number of rows, the labels that occur, and a checksum of the rows."""
    if len(X) != len(y):
        raise ValueError(f"X and y must be partitioned alike; a partition has {len(X)} rows and {len(y)} labels")
    names = np.unique(y[~missing_values(y, missing_label)]) if names_wanted else np.empty(0)
    return len(X), names, zlib.crc32(X.data)


def _prepared(X: NDArray, preprocessing: Preprocessing) -> NDArray:
    return preprocessing.transform(X)


def _itself(X: NDArray) -> NDArray:
    return X


def _token(targets: Targets) -> int:
    """Return a checksum of labels."""
    return zlib.crc32(targets.codes.tobytes() + targets.values.tobytes())


def _embedded(X: NDArray, preprocessing: Preprocessing, work: Callable[[NDArray], NDArray], may_miss: bool) -> NDArray:
    return work(preprocessing.transform(numbers(X, may_miss)))
