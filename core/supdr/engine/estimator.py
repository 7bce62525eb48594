"""The scikit-learn shell that all methods share: validation, `iterate`, `fit`, `at`.

A method adds its objective (a `Problem`) and what `supdr.engine.fitted` asks for: how new rows are embedded and how
latent rows are scored.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from supdr.engine.checks import check_integer, check_jobs, check_number, check_unchanged
from supdr.engine.fitted import FittedReducer, predicts_classes
from supdr.engine.held_out import HeldOut, held_out_rows
from supdr.engine.iterate import Problem, Snapshot, Stop, iterate
from supdr.engine.preprocessing import Preprocessing, fit_preprocessing
from supdr.engine.progress import CallbackSupportMixin, reported, with_callbacks
from supdr.engine.targets import Targets, decode_targets

STILL_FALLING = 0.01
"""A relative fall of the objective in the last epoch beyond this earns a warning."""


class SupervisedReducer(CallbackSupportMixin, FittedReducer):
    """Base class: a dimensionality reduction that learns from labels and predicts them.

    Subclasses have the constructor parameters ``max_iter, tol, random_state, verbose, missing_label`` and define

    - ``_problem(X, targets)``: the `Problem` on preprocessed rows;
    - what `FittedReducer` asks for.

    Attributes
    ----------
    restart_parameters : frozenset of str
        Hyper-parameters that cannot change within a run; all others act on a resumed run.
    embedding_note : str
        What `embedding_` is, in a few words for a caption.
    """

    restart_parameters: ClassVar[frozenset[str]] = frozenset()
    embedding_note: ClassVar[str] = "embedding (saw labels)"

    stop_: Stop | None

    # --- the run ------------------------------------------------------------------------------------------------

    def iterate(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        start: Snapshot | None = None,
        *,
        interrupted: Callable[[], bool] | None = None,
    ) -> Iterator[Snapshot]:
        """Validate at once and return the stream of snapshots of the optimisation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue from this snapshot of an earlier run on the same rows, also under other hyper-parameters, those in
            `restart_parameters` excepted.  `max_iter` counts the steps of this call.
        interrupted : callable, optional
            Polled during the run; True ends it at the last complete step.

        Returns
        -------
        iterator of Snapshot
            The starting point, then one snapshot per step.

        Raises
        ------
        ValueError
            If the data, the hyper-parameters or `start` do not fit.
        """
        X, targets = self._validate(X, y)
        self._check_run()
        self._check_parameters(X, targets)
        fixed = {name: getattr(self, name) for name in sorted(self.restart_parameters)}
        if start is not None:
            check_unchanged(start.fixed, fixed)
        seed = self._seed()
        monitor = None
        if getattr(self, "early_stopping", False):
            rows = held_out_rows(targets, self.validation_fraction, seed)
            monitor = HeldOut(self, targets, rows)
            targets = targets.hidden(rows)
        self._preprocessing = self._fit_preprocessing(X)
        self._training = (self._preprocessing.transform(X), targets)
        return self._snapshots(seed=seed, start=start, monitor=monitor, interrupted=interrupted, fixed=fixed)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None) -> Self:
        """Run `iterate` to its end.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue an earlier run, see `iterate`.

        Returns
        -------
        self : estimator

        Warns
        -----
        ConvergenceWarning
            If the run diverged; the last finite iterate is kept.
        """
        steps: list[Snapshot] = []
        snapshots = self.iterate(X, y, start)
        last = next(reported_ := reported(self, snapshots, X, y))
        first_iteration = last.iteration
        for last in reported_:
            if last.iteration > (steps[-1].iteration if steps else first_iteration):
                steps.append(last)
        keys = {key: None for step in (steps or [last]) for key in (*step.losses, *step.diagnostics)}
        self.history_ = {
            key: np.array([{**step.losses, **step.diagnostics}.get(key, np.nan) for step in steps]) for key in keys
        }
        self._use(last)
        self.n_iter_ = len(steps)
        self.stop_ = last.stop or Stop.interrupted
        if self.stop_ is Stop.diverged:
            warnings.warn(
                f"{type(self).__name__} diverged after iteration {last.iteration}; the last finite iterate is kept. "
                f"{self._problem(*self._training).advice}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._finish()
        return self

    def at(self, snapshot: Snapshot) -> Self:
        """Return a fitted estimator as of `snapshot`, sharing its arrays.

        Only snapshots of this estimator's latest `iterate` (or `fit`) call are meaningful.

        Parameters
        ----------
        snapshot : Snapshot
            One of the yielded snapshots.

        Returns
        -------
        estimator
            Same class, same hyper-parameters.
        """
        check_is_fitted(self, "_training")
        fitted = copy.copy(self)
        fitted._use(snapshot)
        fitted.n_iter_ = max(snapshot.iteration, 1)
        fitted.stop_ = snapshot.stop
        return fitted

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None) -> NDArray:
        """Fit and return ``transform(X)``: what new data will see, not `embedding_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue an earlier run, see `iterate`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, y, start).transform(X)

    # --- what subclasses define -----------------------------------------------------------------------------------

    def _snapshots(self, **settings: Any) -> Iterator[Snapshot]:
        """Return the stream of a run on the training rows; `settings` are those of `supdr.engine.iterate.iterate`."""
        return iterate(
            self._problem(*self._training),
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=getattr(self, "n_iter_no_change", 10),
            **settings,
        )

    def _problem(self, X: NDArray, targets: Targets) -> Problem:
        raise NotImplementedError

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        """Raise ValueError for a hyper-parameter that is out of range."""

    def _fit_preprocessing(self, X: NDArray) -> Preprocessing:
        """Fit what is applied to the rows of X before anything else; a method may spare some columns."""
        return fit_preprocessing(X, getattr(self, "preprocessing", "none"))

    def _finish(self) -> None:
        """Compute what prediction needs and frames do not, at the end of a fit."""

    # --- shared -----------------------------------------------------------------------------------------------------

    def _use(self, snapshot: Snapshot) -> None:
        self._state = snapshot.state
        self._memo: dict[str, Any] = {}
        self._expose(snapshot.state)

    def _validate(self, X: ArrayLike, y: ArrayLike | None) -> tuple[NDArray, Targets]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = self._checked(X, reset=True)
        labels: NDArray = np.asarray(y)
        if predicts_classes(self) or labels.ndim < 2:
            labels = column_or_1d(labels, warn=True)
        check_consistent_length(X, labels)
        targets = decode_targets(labels, self._task(), self.missing_label)
        if targets.classes is not None:
            self.classes_ = targets.classes
        self._single_target = labels.ndim < 2
        return X, targets

    def _check_run(self) -> None:
        """Raise ValueError for a hyper-parameter of the run itself, which all methods share, that is out of range."""
        check_integer("max_iter", self.max_iter)
        check_number("tol", self.tol, "that is finite (negative: never converged)", lambda value: True)
        check_jobs("n_jobs", getattr(self, "n_jobs", None))

    def _warn_if_falling(self, advice: str) -> None:
        """Warn, on behalf of the caller of `fit`, that a run of single epochs was cut off while the objective fell."""
        objective = self.history_["objective"]
        falling = len(objective) > 1 and objective[-2] - objective[-1] > STILL_FALLING * abs(objective[-2])
        if self.stop_ is Stop.max_iter and falling:
            warnings.warn(
                f"the objective still falls by more than 1 % per epoch after {self.n_iter_} epochs of solver 'sgd'; "
                f"{advice}",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
