"""Methods whose label term takes a weight per row."""

from __future__ import annotations

from typing import ClassVar, Self

from numpy.typing import ArrayLike, NDArray

from supdr.engine.estimator import SupervisedReducer
from supdr.engine.iterate import Snapshot
from supdr.engine.progress import with_callbacks


class Weighted(SupervisedReducer):
    """Base of methods that read ``targets.weights``: the loss of a row is multiplied by its weight.

    A weight is the product of what `fit` is given for the row and what ``class_weight`` says of its class.  The
    reconstruction is not weighted.
    """

    accepts_weights: ClassVar[bool] = True

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        start: Snapshot | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Run `iterate` to its end.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue an earlier run, see `iterate`.
        sample_weight : array-like of shape (n_samples,), optional
            What the label term of each row is multiplied by, >= 0; a row of weight 0 counts as unlabelled.

        Returns
        -------
        self : estimator

        Warns
        -----
        ConvergenceWarning
            If the run diverged; the last finite iterate is kept.
        """
        return self._run(X, y, start, sample_weight)

    def fit_transform(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        start: Snapshot | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray:
        """Fit and return ``transform(X)``: what new data will see, not `embedding_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue an earlier run, see `iterate`.
        sample_weight : array-like of shape (n_samples,), optional
            As for `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, y, start, sample_weight).transform(X)
