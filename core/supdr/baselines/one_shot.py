"""The shell of methods without iterations: one fit of a model on the labelled rows, told as one snapshot."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from supdr.engine.context import RunContext, run_context
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.interruption import Interrupted, abandonable
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted


class Fitted(NamedTuple):
    """The state of a method without iterations: the fitted scikit-learn model and the preprocessed training rows."""

    model: Any
    X: NDArray
    labelled: NDArray
    seed: int
    iteration: int = 1


class OneShot(Unweighted):
    """A scikit-learn classifier: preprocessing, one fit on the labelled rows, and a latent space to look at.

    Parameters
    ----------
    preprocessing : {"none", "zscore", "minmax", "whiten"}
        Fitted on all rows.
    random_state : int or None
        Seed.
    verbose : int
        Accepted for the shell's sake; there is nothing to report.
    missing_label : object
        A further value of y that marks an unlabelled row.
    """

    max_iter: ClassVar[int] = 1
    tol: ClassVar[float] = 0.0
    embedding_note: ClassVar[str] = "as new rows"
    conditional_attributes: ClassVar[tuple[str, ...]] = (
        *Unweighted.conditional_attributes,
        "support_",
        "n_support_",
        "support_fraction_",
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.restart_parameters = frozenset()  # a fit in one go depends on no earlier one

    def _model(self) -> BaseEstimator:
        raise NotImplementedError

    def _snapshots(self, *, monitor: Any, context: RunContext, **settings: Any) -> Generator[Snapshot, None, None]:
        """Return the one snapshot: a fit depends on nothing but data and hyper-parameters."""
        return self._timed(self._once(*self._training), context)

    def _timed(self, snapshots: Iterator[Snapshot], context: RunContext) -> Generator[Snapshot, None, None]:
        """Note in the one snapshot whose it is and how long the fit took; most fits know nothing of a stop."""
        began = time.perf_counter()
        try:
            with run_context(**context.given()):
                snapshot = abandonable(lambda: next(snapshots))
        except Interrupted:
            return
        yield replace(snapshot, elapsed=time.perf_counter() - began, run=self)

    def _once(self, X: NDArray, targets: Targets) -> Iterator[Snapshot]:
        labelled = np.flatnonzero(targets.labelled)
        model = self._model().fit(X[labelled], targets.codes[labelled])
        error = float(np.mean(model.predict(X[labelled]) != targets.codes[labelled]))
        diagnostics = {"support_fraction": len(model.support_) / len(labelled)} if hasattr(model, "support_") else {}
        losses = {"objective": error, "training_error": error}
        fitted = Fitted(model, X, labelled, self._seed())
        yield Snapshot(1, 0, losses, Diagnostics(diagnostics), fitted, 0.0, Stop.converged)

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None) -> OneShot:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels; NaN or None where unlabelled.
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
            self.support_ = state.labelled[state.model.support_]
            codes = self._training[1].codes[self.support_]
            self.n_support_ = np.bincount(codes, minlength=len(self.classes_))
            self.support_fraction_ = len(self.support_) / len(state.labelled)

    def _own_latent(self) -> NDArray:
        return self._latent(self._state.X)


class SingleTarget(OneShot):
    """A regression on one column of values."""

    task: ClassVar[str] = "regression"

    def _validate(
        self, X: ArrayLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray, Targets]:
        return super()._validate(X, y if y is None else column_or_1d(y, warn=True), sample_weight)
