"""The base of methods without iterations: one fit of a model to the labelled rows, and one snapshot."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from supdr.engine.context import RunContext, run_context
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import Interrupted, abandonable
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.sparse_rows import SparseRows, dense
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted


def given_rows(X: Any, training: Any) -> Any:
    """Return preprocessed rows as a scikit-learn model takes them that is fitted to some training rows.

    Sparse training rows are translated, see `SparseRows.translated`, and new ones with them.  Only for models with an
    intercept of their own, or that centre the rows: to them a translation means nothing.
    """
    if not isinstance(training, SparseRows):
        return dense(X)
    return X.translated() if isinstance(X, SparseRows) else X + training.shift


class Fitted(NamedTuple):
    """The state of a method without iterations: the fitted scikit-learn model and the preprocessed training rows."""

    model: Any
    X: NDArray
    labelled: NDArray
    seed: int
    iteration: int = 1


@dataclass(eq=False, repr=False)
class OneShot(Unweighted):
    """Adapter of a scikit-learn classifier: preprocessing, one fit to the labelled rows, and a latent space.

    Subclasses define ``_model()``, the classifier before its fit, ``_latent`` and ``_latent_scores``.

    Parameters
    ----------
    preprocessing : {"none", "zscore", "minmax", "whiten"}
        Fitted on all rows.  Sparse rows, where a method takes them, are not whitened.
    random_state : int or None, default=None
        Seed.
    verbose : int, default=0
        Ignored; the parameter exists so that all methods have it.
    missing_label : object, default=nan
        A further value of y that marks an unlabelled row.
    """

    max_iter: ClassVar[int] = 1
    tol: ClassVar[float] = 0.0
    embedding_note: ClassVar[str] = "placed without labels"
    conditional_attributes = (*Unweighted.conditional_attributes, "support_", "n_support_", "support_fraction_")

    _: KW_ONLY
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.restart_parameters = frozenset()  # no run is resumed

    def _dense_only(self) -> str:
        whitens = isinstance(self.preprocessing, str) and self.preprocessing == "whiten"
        return "preprocessing='whiten' mixes all columns; 'zscore', 'minmax' and 'none' take sparse rows" * whitens

    def _model(self) -> BaseEstimator:
        raise NotImplementedError

    def _learn(self, X: NDArray, rows: NDArray, targets: Targets) -> tuple[Any, float, dict[str, float]]:
        """Return the model fitted to the labelled `rows`, its error on them and diagnostics."""
        codes, labelled = targets.codes[rows], given_rows(X[rows], X)
        model = self._model().fit(labelled, codes)
        diagnostics = {"support_fraction": len(model.support_) / len(rows)} if hasattr(model, "support_") else {}
        return model, float(np.mean(model.predict(labelled) != codes)), diagnostics

    def _once(self, X: NDArray, targets: Targets) -> Snapshot:
        rows = np.flatnonzero(targets.labelled)
        model, error, diagnostics = self._learn(X, rows, targets)
        losses = {"objective": error, "training_error": error}
        state = Fitted(model, X, rows, self._seed())
        return Snapshot(1, 0, losses, Diagnostics(diagnostics), state, 0.0, Stop.converged)

    def _snapshots(self, *, monitor: Any, context: RunContext, **settings: Any) -> Generator[Snapshot, None, None]:
        """Yield the one snapshot, with its run and the duration of the fit; most fits cannot be interrupted."""
        start_time = time.perf_counter()
        try:
            with run_context(**context.set_fields()):
                snapshot = abandonable(lambda: self._once(*self._training))
        except Interrupted:
            return
        yield replace(snapshot, elapsed=time.perf_counter() - start_time, run=self)

    @with_entries_of(Unweighted.iterate)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None) -> OneShot:
        """Fit the model.

        Parameters
        ----------
        X, y
            As in `iterate`.
        start : Snapshot, optional
            Ignored.

        Returns
        -------
        self : estimator
        """
        snapshot = next(self.iterate(X, y))
        self.history_ = {key: np.array([value]) for key, value in {**snapshot.losses, **snapshot.diagnostics}.items()}
        return self

    def _expose(self, state: Fitted) -> None:
        self.model_ = state.model
        if hasattr(state.model, "support_"):
            self._expose_support(state.model.support_)

    def _own_latent(self) -> NDArray:
        return self._latent(self._state.X)


class SingleTarget(OneShot):
    """A regression on one column of values."""

    task: ClassVar[str] = "regression"

    def _validate(
        self, X: ArrayLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray, Targets]:
        return super()._validate(X, y if y is None else column_or_1d(y, warn=True), sample_weight)
