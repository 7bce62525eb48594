"""The shell of methods whose rows may come in partitions: Dask arrays, data frames and series.

A method mixes `InPartitions` in and says four things: what it accepts there (`accepted_in_partitions`), what it keeps
of the rows (`_hold`), the problem on them (`_problem`, which finds them in ``partitions_``), and the map from a row to
its latent row (`_row_map`).  Validation, the sample, exact preprocessing, resuming, checkpoints, and errors of a lost
cluster are here and in `supdr.rows.running`, which is imported when it is needed: Dask is an extra.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.estimator import SupervisedReducer
from supdr.engine.iterate import Snapshot
from supdr.engine.preprocessing import Columns
from supdr.engine.targets import Targets, decode_part
from supdr.rows.reading import in_partitions


class InPartitions(SupervisedReducer):
    """The part of a method that takes Dask arrays and data frames.

    stands_on_any_rows: whether `at_rows` tells of other rows than the sample's: not where new rows are embedded by
        those of the sample.
    keeps_its_preparation: whether all that a run is prepared with is in `supdr.rows.running.KEPT`: then one that goes
        on from its snapshots on the same Dask arrays reads no rows again.
    accepted_in_partitions: hyper-parameters that have not all their values on partitions, and the values that they
        have.
    several_targets: whether y may have several columns there.
    """

    takes_partitions: ClassVar[bool] = True
    stands_on_any_rows: ClassVar[bool] = True
    keeps_its_preparation: ClassVar[bool] = False
    accepted_in_partitions: ClassVar[dict[str, tuple]] = {}
    several_targets: ClassVar[bool] = False
    prepared_attributes: ClassVar[tuple[str, ...]] = (*SupervisedReducer.prepared_attributes, "partitions_")

    _all_rows: Any = None

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
            Data.
        y : array-like or Dask collection of shape (n_samples,)
            Targets; NaN or None where unlabelled.  In the partitions of X, if X has any.
        start : Snapshot, optional
            See `supdr.engine.estimator.SupervisedReducer.iterate`; on partitions, of the same ones.
        sample_weight : array-like of shape (n_samples,), optional
            See there; None on partitions.
        interrupted : callable, optional
            Polled during the run; True ends it at the last complete step.
        checkpoint : path, optional
            A folder where the run writes down where it stands; only on partitions, with ``early_stopping=False``.  If
            it holds a checkpoint, the run goes on from there, to `max_iter` steps in sum.  Give only what you wrote.
        checkpoint_every : int, default=1
            Passes from checkpoint to checkpoint.

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
        for name, choices in {**self.accepted_in_partitions, "sample_weight": (None,)}.items():
            value = sample_weight if name == "sample_weight" else getattr(self, name)
            if not any(type(value) is type(choice) and value == choice for choice in choices):
                words = " or ".join(map(repr, choices))
                raise ValueError(f"{name} must be {words} where rows come in partitions; got {value!r}")
        from supdr.rows.running import guarded_run

        return guarded_run(self, X, y, start, interrupted, checkpoint, checkpoint_every)

    def transform(self, X: Any) -> Any:
        """Embed rows without looking at labels; a Dask collection gives a Dask array, computed when it is needed.

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
        """Return the estimator as of a snapshot on partitions, as `at` does, standing on rows of one's own choice.

        What is told row by row (`embedding_` …) is of these rows, not of the run's sample.

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
        if not self.stands_on_any_rows:
            raise ValueError(f"{type(self).__name__} embeds new rows by those of its sample: use at")
        if type(run) is not type(self) or not run._partitioned:
            raise ValueError(f"at_rows needs a snapshot of a run on partitions; got {snapshot!r}")
        from supdr.rows.running import prepared_on

        known = vars(run).get("_prepared_on")
        if known is None or known[0] is not rows:
            known = run._prepared_on = (rows, prepared_on(run, X, y, rows))
        fitted = copy.copy(run)
        fitted.partitions_, fitted._training = known[1]
        fitted._apply(snapshot)
        # That head is of the run's own sample, whatever rows are looked at; before a step is complete there is none.
        if snapshot.losses and fitted._calibrated():
            head = vars(run).get("_calibrated_at")
            if head is None or head[0] is not snapshot.state:
                head = run._calibrated_at = (snapshot.state, self._calibration(snapshot))
            fitted._memo = dict(head[1])
        return fitted

    def latent_partitions(self) -> tuple[Any, Any] | None:
        """Return where the labelled rows of a run on partitions stand, and their classes: both where the rows are.

        None where the method does not hold both by partition; its rows are then to be embedded as new ones.

        Returns
        -------
        latent : supdr.rows.partitions.Partitions of arrays of shape (n, L)
            As of the snapshot at which this estimator stands.
        codes : supdr.rows.partitions.Partitions of int arrays of shape (n,)
            Positions in `classes_`.
        """
        return None

    def without_rows(self) -> Self:
        """Return a fitted copy that predicts new rows and knows of no partitions: it can be sent to workers.

        Of `at_rows` it is small: it holds those rows.
        """
        self._latent_scores(self._own_latent()[:1], self._calibrated())  # what prediction computes once
        light = copy.copy(self)
        for name in ("partitions_", "snapshot_", "_stood", "_prepared_on", "_calibrated_at", "_asked"):
            light.__dict__.pop(name, None)
        return light

    # --- what a method defines ----------------------------------------------------------------------------------------

    def _hold(self, rows: Any) -> Any:
        """Return what a run keeps of `rows`, a `supdr.rows.running.ReadRows`: a `PartitionedRows`."""
        raise NotImplementedError

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        """Return the map from preprocessed rows to latent rows, which travels to the workers."""
        raise NotImplementedError

    def _part_decoder(self, targets: Targets) -> Callable[[NDArray], Targets]:
        """Return what decodes the labels of a partition, given the decoded labels of the sample."""
        return partial(decode_part, classes=targets.classes, missing_label=self.missing_label)

    def _completed(self, state: Any) -> Any:
        """Return a state, on the rows of a sample, with the fields that a partial state lacks."""
        return state

    def _calibration(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return what prediction by the calibrated head computes once, on the run's own sample: to be remembered."""
        own = self.at(snapshot)
        own._latent_scores(own._own_latent()[:1], True)
        return {name: value for name, value in own._memo.items() if name != "own"}

    # --- shared -------------------------------------------------------------------------------------------------------

    @property
    def _partitioned(self) -> bool:
        """Whether the run of this estimator is on partitions."""
        return "partitions_" in vars(self)

    def _columns_of(self, X: NDArray) -> Columns:
        return super()._columns_of(X) if self._all_rows is None else self._all_rows

    def _stand_at(self, state: Any) -> None:
        if self._partitioned:
            # A run remembers where its rows stood last: they are asked for several times at one snapshot.
            run, rows = self.snapshot_.run, self.partitions_
            known = vars(run).get("_stood")
            if known is None or known[0] is not rows.sampled:
                known = (rows.sampled, ())
            state, taken = rows.on_sample(state, known[1])
            run._stood = (rows.sampled, taken)
            state = self._completed(state)
        super()._stand_at(state)
