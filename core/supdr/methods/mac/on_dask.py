"""How MAC comes to rows in partitions: what is chosen on a sample, and what a run on all rows is made of."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from supdr.engine.checks import check_unchanged
from supdr.engine.iterate import Snapshot
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.targets import as_labels, missing_values
from supdr.methods.mac.partitioned import PartitionedRows, taken
from supdr.methods.mac.solvers import MOST_JUDGED
from supdr.methods.mac.state import MACState
from supdr.rows.partitions import Partitions, at_home, gathered, listed, planned, spread
from supdr.rows.reading import finite_rows, row_partitions
from supdr.solvers.gaussians import Mapping

SAMPLE_ROWS = 20_000
"""Random rows, or all where there are no more, on which scaling, centres, width and ridge are chosen."""


def check_supported(model: Any, sample_weight: Any) -> None:
    """Raise ValueError for what a run on partitions cannot do."""
    accepted = {
        "solver": (model.solver, ("mac",)),
        "n_layers": (model.n_layers, (1,)),
        "centers": (model.centers, ("kmeans", "random")),
        "init": (model.init, ("simplex", "random")),
        "early_stopping": (model.early_stopping, ("loo", False)),
        "class_weight": (model.class_weight, (None,)),
        "sample_weight": (sample_weight, (None,)),
    }
    for name, (value, choices) in accepted.items():
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            words = " or ".join(map(repr, choices))
            raise ValueError(f"{name} must be {words} where rows come in partitions; got {value!r}")


def started_run(
    model: Any,
    X: Any,
    y: Any,
    start: Snapshot | None,
    interrupted: Callable[[], bool] | None,
    max_iter: int | None = None,
) -> Iterator[Snapshot]:
    """Return the stream of snapshots of a run of `model` on rows in partitions, of another `max_iter` if given."""
    run = copy.copy(model)
    if max_iter is not None:
        run.max_iter = max_iter
    run._forget()
    run._stood = run._prepared_on = None  # what an earlier run of this estimator was asked for
    run._check_run()
    if start is not None and _prepared_alike(run, start.run, X, y):
        fixed = {name: getattr(run, name) for name in sorted(run.restart_parameters)}
        check_unchanged(start.fixed, fixed)
        vars(run).update({name: vars(start.run)[name] for name in KEPT if name in vars(start.run)})
        run._check_parameters(*run._training)
        run._kept_components = run._components_of(start.state)
        snapshots = run._snapshots(seed=run._seed(), start=start, monitor=None, interrupted=interrupted, fixed=fixed)
        return model._followed(snapshots)
    rows, labels = row_partitions(X, y)
    X_parts, y_parts = planned(finite_rows, at_home(rows)), planned(_labels, at_home(labels))
    found = gathered(_described, X_parts, y_parts, run.missing_label)
    sizes = tuple(size for size, _ in found)
    names = np.unique(np.concatenate([known for _, known in found]))
    seed = run._seed()
    n, rng = sum(sizes), np.random.default_rng([seed, 1 << 21])
    chosen = np.arange(n) if n <= SAMPLE_ROWS else np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    sample_X, sample_y = taken(X_parts, sizes, chosen), taken(y_parts, sizes, chosen)
    if hasattr(X, "columns"):
        sample_X = X._meta_nonempty.__class__(sample_X, columns=X.columns)
    sample_X, targets = run._validate(sample_X, sample_y)
    if len(run.classes_) < len(names):
        lost = sorted(set(names.tolist()) - set(run.classes_.tolist()))
        raise ValueError(f"y has classes of which the sample of {len(chosen)} rows has no row: {lost[:5]}")
    run._check_parameters(sample_X, targets)
    fixed = {name: getattr(run, name) for name in sorted(run.restart_parameters)}
    if start is not None:
        check_unchanged(start.fixed, fixed)
    run._kept_components = None if start is None else run._components_of(start.state)
    run._preprocessing = run._fit_preprocessing(sample_X, targets, start)
    run._training = (run._scaled(sample_X), targets)
    run._collections = (X.name, y.name) if hasattr(X, "name") else None
    run.partitions_ = _labelled(X_parts, y_parts, run, chosen, sizes, targets.labelled)
    snapshots = run._snapshots(seed=seed, start=start, monitor=None, interrupted=interrupted, fixed=fixed)
    return model._followed(snapshots)


KEPT = tuple("_collections _preprocessing _training partitions_ classes_ n_features_in_ feature_names_in_ _single_target".split())
"""What a run is prepared with; one that goes on from its snapshots, on the same rows, has it already."""


def _prepared_alike(run: Any, earlier: Any, X: Any, y: Any) -> bool:
    """Whether an earlier run was prepared with these very collections, on the same sample."""
    known = vars(earlier).get("_collections") if earlier is not None else None
    names = ("random_state", "preprocessing", "missing_label")
    same = known is not None and all(repr(getattr(run, each)) == repr(getattr(earlier, each)) for each in names)
    return same and isinstance(run.random_state, int) and known == (getattr(X, "name", None), getattr(y, "name", None))


def _labelled(
    X: Partitions, y: Partitions, run: Any, chosen: NDArray, sizes: tuple[int, ...], sampled: NDArray
) -> PartitionedRows:
    """Return the labelled rows; `chosen` are the numbers of the sample among all rows, `sampled` those labelled."""
    codes = spread(_codes, y, run.classes_, run.missing_label)
    prepared = planned(_prepared, X, codes, run._preprocessing)
    facts = gathered(_facts, prepared, codes, len(run.classes_))
    counts = tuple(count for count, _, _ in facts)
    offsets = np.cumsum((0, *counts[:-1]))
    firsts = np.array([first + offset * (first >= 0) for (_, first, _), offset in zip(facts, offsets)])
    one_of_each = np.where(firsts >= 0, firsts, sum(counts)).min(axis=0)
    judged = np.union1d(np.arange(0, sum(counts), -(-sum(counts) // MOST_JUDGED)), one_of_each)
    numbers = planned(_numbers, codes, listed(offsets.tolist()))
    return PartitionedRows(
        prepared,
        spread(_known, codes),
        counts,
        judged,
        taken(prepared, counts, judged),
        taken(numbers, sizes, chosen)[sampled],
        tuple(fingerprint for _, _, fingerprint in facts),
        sizes,
        numbers,
    )


def on_sample(state: MACState, rows: PartitionedRows) -> MACState:
    """Return a state with the rows of the sample in place of references to all rows."""
    together = planned(_abreast, state.targets, state.latent, state.multiplier, state.heads.alpha)
    L, P = state.weights.shape[1], len(state.heads.coef)
    targets, latent, multiplier, alpha = np.split(
        taken(together, rows.sizes, rows.sampled), np.cumsum([L, L, P]), axis=1
    )
    heads = state.heads._replace(alpha=alpha)
    return state._replace(targets=targets, latent=latent, multiplier=multiplier, heads=heads)


def lazily_embedded(X: Any, preprocessing: Preprocessing, state: MACState) -> Any:
    """Return the latent rows of a Dask collection as a Dask array that is computed when it is asked for."""
    import dask.array as da

    array = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X.to_dask_array()
    sizes = array.chunks[0]
    return da.map_blocks(
        _embedded,
        array,
        delayed(preprocessing, pure=False),
        delayed((state.mapping, state.weights), pure=False),
        dtype=np.float64,
        chunks=(sizes, (state.weights.shape[1],)),
        meta=np.empty((0, 0)),
    )


# --- on a partition -----------------------------------------------------------------------------------------------


def _labels(block: Any) -> NDArray:
    return column_or_1d(as_labels(block))


def _described(X: NDArray, y: NDArray, missing_label: Any) -> tuple[int, NDArray]:
    if len(X) != len(y):
        raise ValueError(f"X and y must be partitioned alike; a partition has {len(X)} rows and {len(y)} labels")
    return len(X), np.unique(y[~missing_values(y, missing_label)])


def _codes(y: NDArray, classes: NDArray, missing_label: Any) -> NDArray:
    known = ~missing_values(y, missing_label)
    codes = np.full(len(y), -1)
    codes[known] = np.searchsorted(classes, y[known].astype(classes.dtype))
    return codes


def _prepared(X: NDArray, codes: NDArray, preprocessing: Preprocessing) -> NDArray:
    return np.ascontiguousarray(preprocessing.transform(X)[codes >= 0])


def _known(codes: NDArray) -> NDArray:
    return codes[codes >= 0]


def _numbers(codes: NDArray, offset: int) -> NDArray:
    return np.cumsum(codes >= 0) - 1 + offset


def _facts(X: NDArray, codes: NDArray, n_classes: int) -> tuple[int, NDArray, int]:
    """Return the number of labelled rows, where each class first occurs (-1: not), and a checksum."""
    known = codes[codes >= 0]
    first = np.full(n_classes, -1)
    present, at = np.unique(known, return_index=True)
    first[present] = at
    return len(known), first, zlib.crc32(X.tobytes() + known.tobytes())


def _abreast(*arrays: NDArray) -> NDArray[np.float64]:
    return np.concatenate(arrays, axis=1, dtype=np.float64)


def _embedded(X: NDArray, preprocessing: Preprocessing, map_: tuple[Mapping, NDArray]) -> NDArray:
    mapping, weights = map_
    return mapping.apply(preprocessing.transform(finite_rows(X)), weights)
