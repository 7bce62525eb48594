"""Methods whose rows may come in partitions: Dask arrays, data frames and series.

A subclass of `InPartitions` declares by a `PartitionSupport` which hyper-parameters it accepts there and which form of
the rows it holds.  Its `_problem` reads the rows from ``partitions_``, and its `_row_map` maps rows to latent rows.
Validation, the sample, exact preprocessing, resuming, checkpoints, and errors of a lost cluster are here and in
`supdr.rows.running`, which is imported at its first use: Dask is an extra.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.estimator import SupervisedReducer
from supdr.engine.iterate import Snapshot
from supdr.engine.preprocessing import Columns
from supdr.engine.targets import Targets, decode_part
from supdr.rows.reading import in_partitions


def decode_classes(run: Any, targets: Targets) -> Callable[[NDArray], Targets]:
    """Return the function that decodes labels of a partition, given the decoded labels of the sample."""
    return partial(decode_part, classes=targets.classes, missing_label=run.missing_label)


def calibrated_on_sample(run: Any, snapshot: Snapshot) -> dict[str, Any]:
    """Return the results that predictions of the calibrated head share, computed on the run's own sample."""
    own = run.at(snapshot)
    own._latent_scores(own._own_latent()[:1], True)
    return {name: value for name, value in own._memo.items() if name != "_own_latent"}


class PartitionSupport(NamedTuple):
    """A method on rows in partitions.

    accepted: hyper-parameters of which only some values are accepted, and these values.
    held_rows: ``held_rows(run, rows)`` returns the `PartitionedRows` that a run keeps of its `ReadRows`.
    several_targets: whether y may have several columns.
    any_rows: whether `at_rows` takes other rows than the sample's; False where the sample embeds new rows.
    resumes_prepared: whether the preparation depends on no hyper-parameters but those that `supdr.rows.running`
        compares: then a run that resumes on the same Dask arrays reads no rows again.
    part_decoder: ``part_decoder(run, targets)``, see `decode_classes`.
    complete: ``complete(estimator, state)`` adds the missing fields to a partial state, on the rows of a sample.
    calibration: ``calibration(run, snapshot)``, see `calibrated_on_sample`.
    latent: ``latent(estimator)``, see `InPartitions.latent_partitions`; None: the method has none.
    """

    accepted: dict[str, tuple]
    held_rows: Callable[[Any, Any], Any]
    several_targets: bool = False
    any_rows: bool = True
    resumes_prepared: bool = False
    part_decoder: Callable[[Any, Targets], Callable[[NDArray], Targets]] = decode_classes
    complete: Callable[[Any, Any], Any] | None = None
    calibration: Callable[[Any, Snapshot], dict[str, Any]] = calibrated_on_sample
    latent: Callable[[Any], tuple[Any, Any] | None] | None = None


@dataclass
class SampleCache:
    """Results that several estimators of a run's snapshots share; the newest of each kind, with its key.

    A cache that is saved is empty.

    sample_rows: numbers of a sample's rows, and these rows of a state's partitions, see `PartitionedRows.on_sample`.
    prepared: the argument `rows` of `at_rows`, and the result of `supdr.rows.running.training_at` for it.
    calibration: a state, and its calibrated head.
    problem: that of the run, on its rows in memory or its own sample.
    """

    sample_rows: tuple[Any, Any] = (None, ())
    prepared: tuple[Any, Any] = (None, None)
    calibration: tuple[Any, dict[str, Any]] = field(default_factory=lambda: (None, {}))
    problem: Any = None

    def __reduce__(self) -> tuple[type, tuple]:
        return SampleCache, ()


class InPartitions(SupervisedReducer):
    """Base of methods that take Dask arrays and data frames; see the module."""

    takes_partitions: ClassVar[bool] = True
    partition_support: ClassVar[PartitionSupport]

    prepared_attributes: ClassVar[tuple[str, ...]] = (
        *SupervisedReducer.prepared_attributes,
        "partitions_",
        "_collection_names",
        "_sample_cache",
    )

    partitions_: Any = None
    _all_rows: Any = None
    _collection_names: tuple[str | None, str | None] = (None, None)
    _sample_cache: SampleCache

    def iterate(
        self,
        X: Any,
        y: Any,
        start: Snapshot | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        interrupted: Callable[[], bool] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 1,
    ) -> Iterator[Snapshot]:
        """Validate at once and return the stream of snapshots; X and y may be Dask arrays, data frame and series.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Data; in memory they may be sparse where ``__sklearn_tags__().input_tags.sparse`` is true.
        y : array-like or Dask collection of shape (n_samples,)
            Targets; NaN or None where unlabelled.  In the partitions of X, if X has any.
        start : Snapshot, optional
            See `supdr.engine.estimator.SupervisedReducer.iterate`; a run on partitions resumes on the same ones.
        sample_weight : array-like of shape (n_samples,), optional
            See there; None on partitions.
        interrupted : callable, optional
            Polled during the run; True ends it at the last complete step.
        checkpoint : path, optional
            Folder to which the run writes its state; only on partitions, with ``early_stopping=False``.  If it holds a
            checkpoint, the run resumes there and ends after `max_iter` steps in total.  Checkpoints are pickles: use
            only folders that you have written.
        checkpoint_every : int, default=1
            Number of passes from one checkpoint to the next, >= 1.

        Returns
        -------
        iterator of Snapshot
            The starting point, then one snapshot per step.

        Raises
        ------
        ValueError
            If the data, the hyper-parameters, `start` or the checkpoint do not fit.
        """
        if not in_partitions(X):
            if checkpoint is not None:
                raise ValueError(f"checkpoint must be None where X is in memory; got {os.fspath(checkpoint)!r}")
            return super().iterate(X, y, start, sample_weight=sample_weight, interrupted=interrupted)
        for name, choices in {**self.partition_support.accepted, "sample_weight": (None,)}.items():
            value = sample_weight if name == "sample_weight" else getattr(self, name)
            if not any(type(value) is type(choice) and value == choice for choice in choices):
                words = " or ".join(map(repr, choices))
                raise ValueError(f"{name} must be {words} where rows come in partitions; got {value!r}")
        from supdr.rows.running import start_run

        return start_run(self, X, y, start, interrupted, checkpoint, checkpoint_every)

    def transform(self, X: Any) -> Any:
        """Embed rows without their labels; of a Dask collection return a lazy Dask array.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        if not in_partitions(X):
            return super().transform(X)
        from supdr.rows.running import lazily_embedded

        check_is_fitted(self, "_state")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} columns as in fit; got {X.shape[1]}")
        work = self._row_map()
        return lazily_embedded(X, self._preprocessing, work, self._n_features_out, self.accepts_missing_cells)

    def at_rows(self, snapshot: Snapshot, X: ArrayLike, y: ArrayLike, rows: ArrayLike) -> Self:
        """Return the estimator as of a snapshot on partitions, as `at` does, with other rows than the sample's.

        Attributes with one entry a row (`embedding_` …) have the entries of these rows, not of the run's sample.

        Parameters
        ----------
        snapshot : Snapshot
            Yielded by `iterate` on partitions.
        X : array-like of shape (s, n_features)
            Some of the rows of the run.
        y : array-like of shape (s,)
            Their labels; NaN or None where unlabelled.
        rows : array-like of shape (s,)
            Their numbers among all rows of the run, rising.

        Returns
        -------
        estimator

        Raises
        ------
        ValueError
            If the snapshot is not of a run on partitions, or these are no rows of it.
        """
        run = getattr(snapshot, "run", None)
        if not self.partition_support.any_rows:
            raise ValueError(f"at_rows: {type(self).__name__} embeds new rows by those of its sample; use at")
        if type(run) is not type(self) or not run._partitioned:
            raise ValueError(f"at_rows needs a snapshot of a run on partitions; got {snapshot!r}")
        from supdr.rows.running import training_at

        cache = run._sample_cache
        if cache.prepared[0] is not rows:
            cache.prepared = rows, training_at(run, X, y, rows)
        fitted = copy.copy(run)
        for name in self.prediction_parameters & run.get_params(deep=False).keys():
            setattr(fitted, name, getattr(self, name))
        fitted.partitions_, fitted._training = cache.prepared[1]
        fitted._apply(snapshot)
        # The calibrated head is fitted to the run's own sample; within a step there is none.
        if snapshot.losses and fitted._calibrated():
            if cache.calibration[0] is not snapshot.state:
                cache.calibration = snapshot.state, self.partition_support.calibration(run, snapshot)
            fitted._memo = dict(cache.calibration[1])
        return fitted

    def latent_partitions(self) -> tuple[Any, Any] | None:
        """Return latent rows and classes of the labelled rows of a run, in partitions, on the workers that hold them.

        None if the method does not hold both by partition; `transform` embeds its rows as new ones.

        Returns
        -------
        latent : supdr.rows.partitions.Partitions of arrays of shape (n, L)
            As of the snapshot that this estimator is fitted as of.
        codes : supdr.rows.partitions.Partitions of int arrays of shape (n,)
            Positions in `classes_`.
        """
        latent = self.partition_support.latent
        return None if latent is None else latent(self)

    def without_rows(self) -> Self:
        """Return a fitted copy without references to partitions, which predicts new rows and can be sent to workers.

        The copy of an estimator that `at_rows` has returned holds those rows only, and is small.
        """
        self._latent_scores(self._own_latent()[:1], self._calibrated())  # computes what predictions share
        light = copy.copy(self)
        del light.snapshot_
        light.partitions_ = None
        light._sample_cache = SampleCache()
        return light

    def _problem_of(self, kind: Any, *, distributed: Any = None, **given: Any) -> Any:
        """Return a problem as the base class does; on partitions one of the class `distributed`, with `all_rows`."""
        if self._partitioned and distributed is not None:
            kind, given = distributed, {"all_rows": self.partitions_, **given}
        return super()._problem_of(kind, **given)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        """Return the map from preprocessed rows to latent rows, which is sent to the workers."""
        raise NotImplementedError

    @property
    def _partitioned(self) -> bool:
        """Whether the run of this estimator is on partitions."""
        return self.partitions_ is not None

    def _columns_of(self, X: NDArray) -> Columns:
        return super()._columns_of(X) if self._all_rows is None else self._all_rows

    def _prepare_training(self, X: NDArray, targets: Targets, start: Snapshot | None) -> None:
        self._sample_cache = SampleCache()
        super()._prepare_training(X, targets, start)

    def _own_problem(self) -> Any:
        """Return the problem of a run, on its rows in memory or its own sample, made once."""
        if self._sample_cache.problem is None:
            self._sample_cache.problem = self._problem(*self._training)
        return self._sample_cache.problem

    def _set_state(self, state: Any) -> None:
        if self._partitioned:
            rows, cache = self.partitions_, self.snapshot_.run._sample_cache
            fetched = cache.sample_rows[1] if cache.sample_rows[0] is rows.sampled else ()
            state, fetched = rows.on_sample(state, fetched)
            cache.sample_rows = rows.sampled, fetched
            if self.partition_support.complete is not None:
                state = self.partition_support.complete(self, state)
        super()._set_state(state)
