"""What MAC does when its rows come in partitions, see `supdr.methods.mac.on_dask`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from supdr.engine.estimator import SupervisedReducer
from supdr.engine.iterate import Snapshot
from supdr.rows.reading import in_partitions


class InPartitions(SupervisedReducer):
    """The part of `MAC` that takes Dask arrays and data frames."""

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
        from supdr.methods.mac.on_dask import check_supported  # Dask is an extra
        from supdr.methods.mac.resuming import guarded_run

        check_supported(self, sample_weight)
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
        from supdr.methods.mac.on_dask import lazily_embedded

        check_is_fitted(self, "_state")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} columns as in fit; got {X.shape[1]}")
        return lazily_embedded(X, self._preprocessing, self._state)

    def _stand_at(self, state: Any) -> None:
        if "partitions_" in vars(self):
            from supdr.methods.mac.on_dask import on_sample

            state = on_sample(state, self.partitions_)
        super()._stand_at(state)
