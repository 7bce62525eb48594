"""The scikit-learn shell that all methods share: validation, `iterate`, `fit`, `at`.

A method adds its objective (a `Problem`) and the two maps that `supdr.engine.fitted` calls: from new rows to latent
rows, and from latent rows to scores.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d

from supdr.engine.checks import check_snapshot, check_unchanged, check_weights, naming_extremes
from supdr.engine.components import too_few_components, warn_of_few_components
from supdr.engine.context import RunContext
from supdr.engine.docstrings import with_entries_of
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
    """A fitted estimator, the test rows in its coordinates (None: unchanged), and the name of the shared results."""

    fitted: Any
    X_test: NDArray | None
    shared: str


class SupervisedReducer(CallbackSupportMixin, FittedReducer):
    """Base class: a dimensionality reduction that learns from labels and predicts them.

    Subclasses have the constructor parameters ``max_iter, tol, random_state, verbose, missing_label`` and define

    - ``_problem(X, targets)``: the `Problem` on preprocessed rows;
    - the methods that `FittedReducer` lists.

    A subclass refers to what a base class describes by "As in `Base`.", see `supdr.engine.docstrings`.

    parameters: declarations of all hyper-parameters.
    restart_parameters: names of those that cannot change within a run; all others act on a resumed run.
    embedding_note: what `embedding_` is, in a few words for a caption.
    accepts_weights: whether the label term of a row is multiplied by its weight, the product of `sample_weight` and of
        the ``class_weight`` of its class; `supdr.engine.unweighted.Unweighted` is the base of other methods.
    takes_partitions: whether rows may be Dask collections.
    prepared_attributes: attributes that a run sets before its first step; an estimator copies them with the first
        snapshot of the run.
    conditional_attributes: fitted attributes that not every fit sets; a fit that does not set them removes them.

    Parameters
    ----------
    class_weight : None, "balanced" or dict of class to float, default=None
        What the label term of the rows of each class is multiplied by, > 0; C, where there is one.  "balanced": every
        class weighs the same in all.  Ignored for regression.
    early_stopping : bool, default=False
        Whether to hide `validation_fraction` of the labels and keep the iterate with the smallest error on them.
    validation_fraction : float, default=0.2
        Share of hidden labels, in (0, 1).
    n_iter_no_change : int, default=10
        Steps without improvement before early stopping ends the run, >= 1.
    random_state : int, RandomState or None, default=None
        Seed of random starts, orders, subsets and folds.
    n_jobs : int or None, default=None
        Accepted for the sake of a common interface; the steps are matrix products, which BLAS runs in parallel.
    verbose : int, default=0
        Above 0: show a progress bar.
    missing_label : object, default=nan
        A further value of y that marks unlabelled rows, such as -1; NaN and None always do.

    Attributes
    ----------
    classes_ : array
        Sorted class labels (classification).
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Names of the columns, where X has them.
    n_iter_ : int
        Steps taken.
    stop_ : Stop
        Why the run ended.
    snapshot_ : Snapshot
        Where the estimator stands.
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
        "_resumed_components",
    )
    conditional_attributes: ClassVar[tuple[str, ...]] = ("history_",)

    stop_: Stop | None

    _resumed_components: int | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.restart_parameters = frozenset(parameter.name for parameter in cls.parameters if parameter.restart)
        with_entries_of(*cls.__mro__[1:])(cls)

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

        The estimator is fitted as of the newest snapshot that the stream has yielded, its `snapshot_`; `at` returns
        one that is fitted as of any other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data; sparse ones where ``__sklearn_tags__().input_tags.sparse`` is true.
        y : array-like of shape (n_samples,)
            Targets; NaN or None where unlabelled.
        start : Snapshot, optional
            Continue from this snapshot of an earlier run on the same rows.  Labels may differ, and so may
            hyper-parameters, except those in `restart_parameters`.  ``n_components=None`` keeps the number of that
            run.  `max_iter` counts the steps of this call.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the rows' label terms, >= 0; a row of weight 0 counts as unlabelled.  None unless the method
            `accepts_weights`.  Without preprocessing, a whole weight k equals k copies of the row in SLDR and LMKL, up
            to the tolerance of their solvers.  In MAC and TwoStep it does so for the optimum of the objective, if
            features are given: ``mapping="linear"``, or arrays of `centers` with a number `gamma`; starts and auxiliary
            coordinates count each row once.  In LSDR, NSDR, SDRGLM, SNF, LLR, LogisticUDR, LogisticPCA and SVMUDR it
            does not: the reconstruction of X counts each row once.
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
        run = self._unfitted()  # a copy: hyper-parameters set on this estimator later do not change the run
        run._check_declared()
        X, targets = run._validate(X, y, sample_weight)
        run._check_parameters(X, targets)
        run._check_start(start)
        seed = run._seed()
        monitor = None
        if getattr(run, "early_stopping", False) not in (False, "loo"):
            rows = held_out_rows(targets, run.validation_fraction, seed)
            monitor = HeldOut(run, targets, rows)
            targets = targets.hidden(rows)
        run._prepare_training(X, targets, start)
        return self._start_run(run, seed, start, interrupted, monitor)

    @with_callbacks
    @with_entries_of(iterate)
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
        X, y, start, sample_weight
            As in `iterate`.

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
            if last.stop:  # what follows still uses what the problem keeps for its steps
                break
        with naming_extremes(self.get_params(deep=False)):
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
        for _ in reported_:  # the run ends: its problem frees what steps need, callbacks hear of it
            pass
        return self

    def at(self, snapshot: Snapshot) -> Self:
        """Return a fitted estimator as of `snapshot`, sharing its arrays.

        Rows, classes, preprocessing and hyper-parameters are those of the run that yielded the snapshot, not those of a
        later run of this estimator.

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
            If the snapshot was not yielded by `iterate` of this class.
        """
        run = getattr(snapshot, "run", None)
        if type(run) is not type(self):
            raise ValueError(f"at needs a snapshot that {type(self).__name__}.iterate has made; got {snapshot!r}")
        fitted = copy.copy(run)
        if hasattr(self, "_sklearn_output_config"):
            fitted._sklearn_output_config = self._sklearn_output_config
        fitted._apply(snapshot)
        return fitted

    @with_entries_of(iterate)
    def fit_transform(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        start: Snapshot | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray:
        """Fit and return ``transform(X)``, the latent rows that X has as new data; not `embedding_`.

        Parameters
        ----------
        X, y, start, sample_weight
            As in `iterate`.

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
        problem = self._own_problem()
        return iterate(
            problem,
            monitor=self._monitor(problem) if monitor is None else monitor,
            max_iter=self.max_iter,
            tol=self.tol,
            owner=self,
            n_iter_no_change=getattr(self, "n_iter_no_change", 10),
            context=context,
            **settings,
        )

    def _problem(self, X: NDArray, targets: Targets) -> Problem:
        raise NotImplementedError

    def _own_problem(self) -> Any:
        """Return the problem of a run on its training rows."""
        return self._problem(*self._training)

    def _monitor(self, problem: Problem) -> Monitor | None:
        """Return the monitor of a run without held-out rows, see `supdr.engine.iterate.iterate`."""
        return None

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        """Raise ValueError for a hyper-parameter that is out of range."""

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        """Fit the preprocessing to the rows of X; a method may leave some columns as they are.

        A run that resumes from `start` keeps a choice that the method made by the targets.
        """
        return fit_preprocessing(self._columns_of(X), getattr(self, "preprocessing", "none"))

    def _columns_of(self, X: NDArray) -> Columns:
        """Return the columns that preprocessing is fitted to: of X, or of all rows that X is a sample of."""
        return Columns(X)

    @staticmethod
    def _components_of(state: Any) -> int | None:
        """Return the number of latent coordinates that a resumed run keeps; None: it does not depend on the labels."""
        return None

    @property
    def _component_setting(self) -> int | None:
        """`n_components`, or where that is None the number of the run that this one resumes."""
        setting: int | None = getattr(self, "n_components", None)
        return self._resumed_components if setting is None else setting

    def _finish(self) -> None:
        """Compute at the end of a fit what predictions need and `at` does not."""

    def _fit_shared(self, part: Any, metrics: Collection[Any]) -> SharedFit | None:
        """Fit to a part of a sweep's rows with results that its cells share; None: they share nothing.

        `part`: see `supdr.sensitivity.rows.Part`; `metrics`: names or functions that the sweep evaluates.
        """
        return None

    # --- shared -----------------------------------------------------------------------------------------------------

    def _problem_of(self, kind: Callable[..., Any], **given: Any) -> Any:
        """Return a problem of a class; fields that are not given are the hyper-parameters of the same names."""
        names = [each for each in fields(cast(Any, kind)) if each.init and each.name not in given]
        own = [(each.name, str(each.type)) for each in names if hasattr(self, each.name)]
        return kind(**given, **{name: _plain(getattr(self, name), type_) for name, type_ in own})

    def _unfitted(self) -> Self:
        """Return a new estimator with these hyper-parameters; those that are estimators are cloned."""
        parameters = self.get_params(deep=False)
        return type(self)(
            **{name: clone(value) if isinstance(value, BaseEstimator) else value for name, value in parameters.items()}
        )

    @property
    def _restart_values(self) -> dict[str, Any]:
        """Values of the hyper-parameters that cannot change within a run."""
        return {name: getattr(self, name) for name in sorted(self.restart_parameters)}

    def _check_start(self, start: Snapshot | None) -> None:
        """Raise ValueError unless a run of this estimator can resume from `start`."""
        if start is not None:
            check_snapshot(start, self)
            check_unchanged(start.fixed, self._restart_values)

    def _prepare_training(self, X: NDArray, targets: Targets, start: Snapshot | None) -> None:
        """Fit the preprocessing and set the training rows of a run."""
        self._resumed_components = None if start is None else self._components_of(start.state)
        self._preprocessing = self._fit_preprocessing(X, targets, start)
        self._training = (self._scaled(X), targets)

    def _start_run(
        self,
        run: Self,
        seed: int,
        start: Snapshot | None,
        interrupted: Callable[[], bool] | None,
        monitor: Monitor | None = None,
    ) -> Iterator[Snapshot]:
        """Return the snapshots of `run`, which is prepared; each is applied to this estimator and then yielded."""
        context, fixed = RunContext(stop_requested=interrupted), run._restart_values
        snapshots = run._snapshots(seed=seed, start=start, monitor=monitor, context=context, fixed=fixed)
        return self._apply_each(snapshots)

    def _apply_each(self, snapshots: Generator[Snapshot, None, None]) -> Iterator[Snapshot]:
        """Set the fitted attributes to those of each snapshot, and yield it."""
        with closing(snapshots), naming_extremes(self.get_params(deep=False)):
            for snapshot in snapshots:
                if getattr(self, "snapshot_", None) is None or self.snapshot_.run is not snapshot.run:
                    self._copy_preparation(snapshot.run)
                self._apply(snapshot)
                yield snapshot

    def _copy_preparation(self, run: Self) -> None:
        """Replace the prepared attributes, which an earlier run may have set, by those of `run`."""
        for name in (*self.prepared_attributes, *self.conditional_attributes):
            if name in vars(run):
                setattr(self, name, getattr(run, name))
            elif name in vars(self):
                delattr(self, name)

    def _apply(self, snapshot: Snapshot) -> None:
        """Set the fitted attributes to those of a snapshot of the run whose preparation this estimator has."""
        self.snapshot_ = snapshot
        self.n_iter_, self.stop_ = max(snapshot.iteration, 1), snapshot.stop
        self._set_state(snapshot.state)

    def _set_state(self, state: Any) -> None:
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
        if len(labels) != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: y must have one entry for each of the "
                f"{X.shape[0]:,} rows of X; got {len(labels):,}"
            )
        targets = decode_targets(
            labels,
            self._task(),
            self.missing_label,
            sample_weight=None if sample_weight is None else check_weights(sample_weight, X),
            class_weight=getattr(self, "class_weight", None),
            instead=self._instead_of_classes(),
        )
        if targets.classes is not None:
            self.classes_ = targets.classes
        self._single_target = labels.ndim < 2
        return X, targets

    def _instead_of_classes(self) -> str:
        """Return what to do to predict numbers."""
        if hasattr(self, "task"):
            return "For numbers pass task='regression'."
        return f"{type(self).__name__} predicts classes; LSDR, SDRGLM and SNF with task='regression' predict numbers."

    def _check_declared(self) -> None:
        """Raise ValueError for a hyper-parameter that its declaration does not accept."""
        for parameter in self.parameters:
            parameter.check(getattr(self, parameter.name))

    def _warn_if_falling(self, advice: str) -> None:
        """Warn the caller of `fit` that solver "sgd" reached `max_iter` while the objective still fell."""
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
        """Warn the caller of `fit` where fewer latent coordinates than classes need cause many errors."""
        X, targets = self._training
        if too_few_components(self.n_components, targets):
            rows = targets.labelled
            scores = self._latent_scores(self._latent(X[rows]), self._calibrated())
            warn_of_few_components(self.n_components, X[rows], targets.codes[rows], winning_codes(scores))

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)) and not isinstance(self.random_state, bool):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def _plain(value: Any, type_: str) -> Any:
    """Return a hyper-parameter as Python's number of the type of a problem's field, or as an array of floats."""
    if value is None or isinstance(value, (str, BaseEstimator)):
        return value
    if (kind := type_.removesuffix(" | None")) in ("float", "int", "bool"):
        return {"float": float, "int": int, "bool": bool}[kind](value)
    return np.array(value, dtype=float) if np.ndim(value) else value.item() if isinstance(value, np.generic) else value
