"""The scikit-learn shell that all methods share: validation, `iterate`, `fit`, `at`.

A method adds its objective (a `Problem`) and what `supdr.engine.fitted` asks for: how new rows are embedded and how
latent rows are scored.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length

from supdr.engine.checks import (
    check_snapshot,
    check_unchanged,
    check_weights,
    naming_extremes,
)
from supdr.engine.components import too_few_components, warn_of_few_components
from supdr.engine.context import RunContext
from supdr.engine.fitted import FittedReducer, predicts_classes, winning_codes
from supdr.engine.held_out import HeldOut, held_out_rows
from supdr.engine.iterate import Monitor, Problem, Snapshot, Stop, history_of, iterate
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import Columns, Preprocessing, fit_preprocessing
from supdr.engine.progress import CallbackSupportMixin, reported, with_callbacks
from supdr.engine.targets import Targets, as_labels, decode_targets

# A relative fall of the objective in the last epoch beyond this earns a warning.
STILL_FALLING = 0.01


class SharedFit(NamedTuple):
    """A fitted estimator, the test rows in its coordinates (None: as they are), and what was shared, in words."""

    fitted: Any
    X_test: NDArray | None
    shared: str


class SupervisedReducer(CallbackSupportMixin, FittedReducer):
    """Base class: a dimensionality reduction that learns from labels and predicts them.

    Subclasses have the constructor parameters ``max_iter, tol, random_state, verbose, missing_label`` and define

    - ``_problem(X, targets)``: the `Problem` on preprocessed rows;
    - what `FittedReducer` asks for.

    parameters: declarations of all hyper-parameters.
    restart_parameters: those that cannot change within a run, by their declaration; all others act on a resumed run.
    embedding_note: what `embedding_` is, in a few words for a caption.
    accepts_weights: whether the label term of a row is multiplied by its weight, the product of `sample_weight`
        and of what ``class_weight`` says of its class; see `supdr.engine.unweighted.Unweighted` for other methods.
    takes_partitions: whether rows may be Dask collections.
    prepared_attributes: what a run is prepared with besides its hyper-parameters; an estimator takes it over with the
        first snapshot of the run.
    conditional_attributes: fitted attributes that not every fit has: removed then.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    restart_parameters: ClassVar[frozenset[str]] = frozenset()
    embedding_note: ClassVar[str] = "placed using labels"
    accepts_weights: ClassVar[bool] = True
    takes_partitions: ClassVar[bool] = False
    prepared_attributes: ClassVar[tuple[str, ...]] = (
        "classes_",
        "n_features_in_",
        "feature_names_in_",
        "_single_target",
        "_preprocessing",
        "_training",
        "_kept_components",
    )
    conditional_attributes: ClassVar[tuple[str, ...]] = ("history_",)

    stop_: Stop | None

    _kept_components: int | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.restart_parameters = frozenset(parameter.name for parameter in cls.parameters if parameter.restart)

    # --- the run ------------------------------------------------------------------------------------------------

    def iterate(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        start: Snapshot | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        interrupted: Callable[[], bool] | None = None,
    ) -> Iterator[Snapshot]:
        """Validate at once and return the stream of snapshots of the optimisation.

        The estimator is fitted as of the newest snapshot that the stream has given, its `snapshot_`; `at` gives it as
        of any other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue from this snapshot of an earlier run on the same rows, also with other labels of them, and under
            other hyper-parameters, those in `restart_parameters` excepted.  ``n_components=None`` is what it was.
            `max_iter` counts the steps of this call.
        sample_weight : array-like of shape (n_samples,), optional
            What the label term of each row is multiplied by, >= 0; a row of weight 0 counts as unlabelled.  Only where
            the method `accepts_weights`.
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
        if sample_weight is not None and not self.accepts_weights:
            raise ValueError(f"sample_weight must be None: {type(self).__name__} cannot weigh rows")
        run = self._unfitted()  # with its own hyper-parameters, whatever is set on this estimator later
        run._check_declared()
        X, targets = run._validate(X, y, sample_weight)
        run._check_parameters(X, targets)
        fixed = {name: getattr(run, name) for name in sorted(run.restart_parameters)}
        if start is not None:
            check_snapshot(start, run)
            check_unchanged(start.fixed, fixed)
        seed = run._seed()
        monitor = None
        if getattr(run, "early_stopping", False) not in (False, "loo"):
            rows = held_out_rows(targets, run.validation_fraction, seed)
            monitor = HeldOut(run, targets, rows)
            targets = targets.hidden(rows)
        run._kept_components = None if start is None else run._components_of(start.state)
        run._preprocessing = run._fit_preprocessing(X, targets, start)
        run._training = (run._scaled(X), targets)
        context = RunContext(stop_requested=interrupted)
        snapshots = run._snapshots(seed=seed, start=start, monitor=monitor, context=context, fixed=fixed)
        return self._followed(snapshots)

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

    def _run(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        start: Snapshot | None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        steps: list[Snapshot] = []
        snapshots = self.iterate(X, y, start, sample_weight=sample_weight)
        last = next(reported_ := reported(self, snapshots, X, y))
        first_iteration = last.iteration
        for last in reported_:
            if last.iteration > (steps[-1].iteration if steps else first_iteration):
                steps.append(last)
            if last.stop:  # now: when the run is over, the problem lets go of what its steps needed
                with naming_extremes(self.get_params(deep=False)):
                    dict((steps or [last])[-1].diagnostics)
        self.history_ = history_of(steps, last)
        self.n_iter_ = len(steps)
        self.stop_ = last.stop or Stop.interrupted
        if self.stop_ is Stop.diverged:
            warnings.warn(
                f"{type(self).__name__} diverged after iteration {last.iteration}; the last finite iterate is kept. "
                f"{self._problem(*self._training).advice}",
                ConvergenceWarning,
                stacklevel=4,
            )
        with naming_extremes(self.get_params(deep=False)):
            self._finish()
        return self

    def at(self, snapshot: Snapshot) -> Self:
        """Return a fitted estimator as of `snapshot`, sharing its arrays.

        A snapshot knows its run: rows, classes, preprocessing and hyper-parameters are those that it was made with,
        whatever this estimator has done since.

        Parameters
        ----------
        snapshot : Snapshot
            Yielded by `iterate` of an estimator of this class.

        Returns
        -------
        estimator
            Of this class, with the hyper-parameters of the run.

        Raises
        ------
        ValueError
            If the snapshot is of another method, or of no estimator's run.
        """
        run = getattr(snapshot, "run", None)
        if type(run) is not type(self):
            raise ValueError(f"at needs a snapshot that {type(self).__name__}.iterate has made; got {snapshot!r}")
        fitted = copy.copy(run)
        if hasattr(self, "_sklearn_output_config"):
            fitted._sklearn_output_config = self._sklearn_output_config
        fitted._apply(snapshot)
        return fitted

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

    # --- what subclasses define -----------------------------------------------------------------------------------

    def _snapshots(
        self, *, monitor: Monitor | None, context: RunContext, **settings: Any
    ) -> Generator[Snapshot, None, None]:
        """Return the stream of a run on the training rows; arguments are those of `supdr.engine.iterate.iterate`."""
        problem = self._problem(*self._training)
        return iterate(
            problem,
            monitor=self._monitor(problem) if monitor is None else monitor,
            max_iter=self.max_iter,
            tol=self.tol,
            of=self,
            n_iter_no_change=getattr(self, "n_iter_no_change", 10),
            context=context,
            **settings,
        )

    def _problem(self, X: NDArray, targets: Targets) -> Problem:
        raise NotImplementedError

    def _monitor(self, problem: Problem) -> Monitor | None:
        """Return what watches a run in which no rows are held out; see `supdr.engine.iterate.iterate`."""
        return None

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        """Raise ValueError for a hyper-parameter that is out of range."""

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        """Fit what is applied to the rows of X before anything else; a method may spare some columns.

        What a method chooses by the targets, a run that goes on from `start` keeps.
        """
        return fit_preprocessing(self._columns_of(X), getattr(self, "preprocessing", "none"))

    def _columns_of(self, X: NDArray) -> Columns:
        """Return what preprocessing looks at: the columns of the rows of X, or of all rows that X is a sample of."""
        return Columns(X)

    @staticmethod
    def _components_of(state: Any) -> int | None:
        """Return how many latent coordinates a run that goes on keeps; None: labels do not change their number."""
        return None

    @property
    def _wanted_components(self) -> int | None:
        """`n_components`; where that is None, what a run that goes on has had so far."""
        wanted: int | None = getattr(self, "n_components", None)
        return self._kept_components if wanted is None else wanted

    def _finish(self) -> None:
        """Compute what prediction needs and frames do not, at the end of a fit."""

    def _fit_shared(self, part: Any, metrics: Collection[Any]) -> SharedFit | None:
        """Fit to a part of a sweep's rows with what its cells share, or return None where they share nothing.

        `part`: see `supdr.sensitivity.rows.Part`; `metrics`: names or functions that will be asked of the fit.
        """
        return None

    # --- shared -----------------------------------------------------------------------------------------------------

    def _unfitted(self) -> Self:
        """Return a new estimator with these hyper-parameters; those that are estimators are cloned."""
        parameters = self.get_params(deep=False)
        return type(self)(
            **{name: clone(value) if isinstance(value, BaseEstimator) else value for name, value in parameters.items()}
        )

    def _followed(self, snapshots: Generator[Snapshot, None, None]) -> Iterator[Snapshot]:
        """Pass the snapshots on; write this estimator, which is fitted as of the newest one."""
        with closing(snapshots), naming_extremes(self.get_params(deep=False)):
            for snapshot in snapshots:
                if getattr(self, "snapshot_", None) is None or self.snapshot_.run is not snapshot.run:
                    self._take_over(snapshot.run)
                self._apply(snapshot)
                yield snapshot

    def _take_over(self, run: Self) -> None:
        """Replace what an earlier run was prepared with by what `run` was prepared with."""
        for name in (*self.prepared_attributes, *self.conditional_attributes):
            if name in vars(run):
                setattr(self, name, getattr(run, name))
            elif name in vars(self):
                delattr(self, name)

    def _apply(self, snapshot: Snapshot) -> None:
        """Set the fitted attributes to those of a snapshot of the run that this estimator is prepared for."""
        self.snapshot_ = snapshot
        self.n_iter_, self.stop_ = max(snapshot.iteration, 1), snapshot.stop
        self._stand_at(snapshot.state)

    def _stand_at(self, state: Any) -> None:
        """Set the fitted attributes that a state of the run determines."""
        self._state = state
        self._memo: dict[str, Any] = {}
        self._expose(state)

    def _validate(
        self, X: ArrayLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray, Targets]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = self._checked(X, reset=True)
        labels = as_labels(y)
        if predicts_classes(self) or labels.ndim < 2:
            labels = column_or_1d(labels, warn=True)
        check_consistent_length(X, labels)
        targets = decode_targets(
            labels,
            self._task(),
            self.missing_label,
            sample_weight=None if sample_weight is None else check_weights(sample_weight, X),
            class_weight=getattr(self, "class_weight", None),
        )
        if targets.classes is not None:
            self.classes_ = targets.classes
        self._single_target = labels.ndim < 2
        return X, targets

    def _check_declared(self) -> None:
        """Raise ValueError for a hyper-parameter that its declaration does not accept."""
        for parameter in self.parameters:
            parameter.check(getattr(self, parameter.name))

    def _warn_if_falling(self, advice: str) -> None:
        """Warn, on behalf of the caller of `fit`, that a run of single epochs was cut off while the objective fell."""
        objective = self.history_["objective"]
        falling = len(objective) > 1 and objective[-2] - objective[-1] > STILL_FALLING * abs(objective[-2])
        if self.stop_ is Stop.max_iter and falling:
            warnings.warn(
                f"the objective still falls by more than 1 % per epoch after {self.n_iter_} epochs of solver 'sgd'; "
                f"{advice}",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _warn_if_few_components(self) -> None:
        """Warn, on behalf of the caller of `fit`, where the user's number of latent coordinates costs many errors."""
        X, targets = self._training
        if too_few_components(self.n_components, targets):
            rows = targets.labelled
            scores = self._latent_scores(self._latent(X[rows]), self._calibrated())
            warn_of_few_components(self.n_components, X[rows], targets.codes[rows], winning_codes(scores))

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
