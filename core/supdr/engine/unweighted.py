"""The base of methods without weights of rows."""

from __future__ import annotations

from typing import ClassVar, Self

from numpy.typing import ArrayLike, NDArray

from supdr.engine.docstrings import with_entries_of
from supdr.engine.estimator import SupervisedReducer
from supdr.engine.iterate import Snapshot
from supdr.engine.progress import with_callbacks


class Unweighted(SupervisedReducer):
    """Base of methods whose `fit` takes no ``sample_weight``: scikit-learn reads the signature."""

    accepts_weights: ClassVar[bool] = False

    @with_callbacks
    @with_entries_of(SupervisedReducer.iterate)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None) -> Self:
        """Run `iterate` to its end.

        Parameters
        ----------
        X, y, start
            As in `iterate`.

        Returns
        -------
        self : estimator

        Warns
        -----
        ConvergenceWarning
            If the run diverged; the last finite iterate is kept.
        """
        return self._run(X, y, start)

    @with_entries_of(SupervisedReducer.iterate)
    def fit_transform(  # type: ignore[override]
        self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None
    ) -> NDArray:
        """Fit and return ``transform(X)``, the latent rows that X has as new data; not `embedding_`.

        Parameters
        ----------
        X, y, start
            As in `iterate`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, y, start).transform(X)
