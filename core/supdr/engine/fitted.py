"""The methods of a fitted reduction: transform, scores and predictions, of rows and of latent rows."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from supdr.engine.checks import check_sizes
from supdr.engine.documentation_link import link_parameters, link_template
from supdr.engine.preprocessing import FAR, Preprocessing
from supdr.engine.probabilities import class_probabilities, crossfitted_scores, fit_temperature
from supdr.engine.sparse_rows import SparseRows, dense, is_sparse
from supdr.engine.tables import check_finite, naming_columns, with_nan
from supdr.engine.targets import as_labels, missing_values, uniform_labels

Method = TypeVar("Method", bound=Callable[..., Any])

# The estimators with `accepts_sparse`.
SPARSE_TAKERS = (
    "LSDR, SDRGLM, MAC(mapping='linear') and the baselines LinearSVM, ElasticNet, PCAProjection, PCASVM, LogisticUDR, "
    "LogisticPCA, SVMUDR and Constant"
)


class ExtrapolationWarning(UserWarning):
    """New rows lie far outside of the training rows."""


def predicts_classes(estimator: Any) -> bool:
    """Tell whether the task of a reduction is classification."""
    return estimator._task() == "classification"


def as_fitted(method: Method) -> Method:
    """Decorate a method of a `FittedReducer`: it uses the hyper-parameters of the fit, not those set later."""

    @functools.wraps(method)
    def call(self: FittedReducer, *args: Any, **kwargs: Any) -> Any:
        """Call the method of a copy with the hyper-parameters of the fit."""
        return method(self._as_fitted(), *args, **kwargs)

    return call  # type: ignore[return-value]


def once_per_snapshot(compute: Method) -> Method:
    """Decorate a method without arguments of a `FittedReducer`: it computes its result once for each state."""
    name = compute.__name__

    @functools.wraps(compute)
    def call(self: FittedReducer) -> Any:
        """Return the result for the state that the estimator has."""
        if name in getattr(self, "_memo", ()):  # there is none before the fit
            return self._memo[name]
        result = compute(self)
        self._memo[name] = result
        return result

    return call  # type: ignore[return-value]


class FittedReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The part of `SupervisedReducer` that reads a state.

    Subclasses define

    - ``_expose(state)``: sets the method's fitted attributes; called for every drawn frame, so it must be fast;
    - ``_latent(X)``: embeds preprocessed rows without labels;
    - ``_latent_scores(latent, calibrated)``: head outputs (n, K) of latent rows;
    - ``_own_latent()``: latent rows of the training set, learnt with labels.
    """

    accepts_missing_cells: ClassVar[bool] = False
    # Whether X may be sparse, where `_dense_only` says nothing against it.
    accepts_sparse: ClassVar[bool] = False
    # Whether regression takes several targets.
    takes_several_targets: ClassVar[bool] = False
    # Whether each class has a chart of its own on the map, which may turn apart from the others.
    map_has_charts: ClassVar[bool] = False
    # Hyper-parameters that act on predictions of a fitted estimator; all others act at the next fit.
    prediction_parameters: ClassVar[frozenset[str]] = frozenset({"calibrate"})

    missing_label: Any
    snapshot_: Any

    _doc_link_module = "supdr"
    _doc_link_template = property(link_template)
    _doc_link_url_param_generator = link_parameters

    _preprocessing: Preprocessing
    _state: Any
    _memo: dict[str, Any]
    _training: Any
    _single_target: bool

    @as_fitted
    def transform(self, X: ArrayLike) -> NDArray:
        """Embed rows without their labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._visible(self._latent(self._prepare(X)))

    @available_if(predicts_classes)
    @as_fitted
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the scores of new rows: (n,) for two classes, else (n, K); the largest score wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array
        """
        return _flat(self._latent_scores(self._latent(self._prepare(X)), self._calibrated()))

    @as_fitted
    def latent_decision_function(self, latent: ArrayLike, *, head: str = "fitted") -> NDArray:
        """Return the scores of latent rows; for regression, their predicted values.

        Parameters
        ----------
        latent : array-like of shape (n_samples, n_components)
            Points of the latent space.
        head : {"fitted", "calibrated"}
            ``"fitted"``: the head learnt with `embedding_`; ``"calibrated"``: the one refitted on ``transform`` of the
            labelled rows, which `predict` uses when ``calibrate=True``.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self, "_training")
        if head not in ("fitted", "calibrated"):
            raise ValueError(f"head must be 'fitted' or 'calibrated'; got {head!r}")
        latent, d = np.ascontiguousarray(latent, dtype=float), self._n_features_out
        if latent.ndim != 2 or latent.shape[1] != d:
            raise ValueError(f"latent must have shape (n_samples, {d}); got {latent.shape}")
        return _flat(self._latent_scores(self._padded(latent), head == "calibrated"))

    @as_fitted
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict class labels, or target values for regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        rows = self._checked_new(X)
        self._warn_of_clipped(rows)
        return self._decide(self._latent_scores(self._latent(self._within_range(rows)), self._calibrated()))

    @available_if(predicts_classes)
    @as_fitted
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return class probabilities: a softmax of the scores, its temperature fitted on left-out rows.

        Unless the head is probabilistic, the first call fits three clones, each without a third of the labels, and
        keeps the temperature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Rows sum to 1; the most probable class is the one that is predicted.
        """
        return self._probabilities(self._latent_scores(self._latent(self._prepare(X)), self._calibrated()))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or R² for regression, of `predict` on the labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            True labels or values; rows without one, marked as in `fit`, are left out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If no row is labelled.
        """
        labels, predicted = as_labels(y), self.predict(X)
        check_consistent_length(labels, predicted, sample_weight)
        rows = ~missing_values(labels, self.missing_label)
        if rows.ndim == 2:
            rows = np.asarray(rows.all(axis=1))
        if not rows.any():
            raise ValueError("y has no labelled row; at least one is needed for a score")
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        if predicts_classes(self):
            return float(accuracy_score(uniform_labels(labels[rows]), predicted[rows], sample_weight=weights))
        return float(r2_score(labels[rows].astype(float), predicted[rows], sample_weight=weights))

    @property
    @as_fitted
    def embedding_(self) -> NDArray:
        """Latent rows of the training set, (n, n_components), learnt with labels."""
        check_is_fitted(self, "_training")
        return self._visible(self._own_latent())

    @property
    @as_fitted
    def training_decision_(self) -> NDArray:
        """Scores of the training rows from their own latent rows; shaped as by `decision_function`."""
        check_is_fitted(self, "_training")
        return _flat(self._own_scores())

    @property
    @as_fitted
    def transduction_(self) -> NDArray:
        """Predictions of the training rows, unlabelled ones included, from their own latent rows; shape (n,)."""
        check_is_fitted(self, "_training")
        return self._decide(self._own_scores())

    @as_fitted
    def _map_derivative(self, X: ArrayLike) -> NDArray | None:
        """Return the derivatives (n, d, D) of `transform` in the columns of rows (n, D); None without a formula."""
        derivative = self._latent_derivative(self._prepare(X))
        return None if derivative is None else self._preprocessing.pull_back(derivative)

    # --- what subclasses define -----------------------------------------------------------------------------------

    def _dense_only(self) -> str:
        """Return which hyper-parameter needs dense rows, and what takes sparse ones; empty if none does."""
        return ""

    def _expose(self, state: Any) -> None:
        raise NotImplementedError

    def _latent(self, X: NDArray) -> NDArray:
        raise NotImplementedError

    def _latent_derivative(self, X: NDArray) -> NDArray | None:
        """Return the derivatives (n, d, r) of latent rows in preprocessed columns, 0 in missing cells; or None."""
        return None

    def _has_left_out_error(self) -> bool:
        """Whether a fit with these hyper-parameters has a `_left_out_error`."""
        return False

    def _left_out_error(self) -> float:
        """Return the share of labelled rows that the fit without their own label gets wrong, in closed form."""
        raise NotImplementedError

    def _own_latent(self) -> NDArray:
        raise NotImplementedError

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        raise NotImplementedError

    def _probabilities(self, scores: NDArray) -> NDArray:
        """Return class probabilities (n, K) of head outputs; a probabilistic head overrides this."""
        return class_probabilities(scores, self._temperature())

    @once_per_snapshot
    def _temperature(self) -> float:
        """Return the temperature of the softmax, fitted to left-out rows."""
        (left_out, rows), targets = self._left_out_scores(), self._training[1]
        return fit_temperature(left_out, targets.codes[rows], targets.weights[rows])

    def _left_out_scores(self) -> tuple[NDArray, NDArray]:
        """Return head outputs of training rows by fits without their labels, and the numbers of these rows."""
        X, targets = self._training
        given = X.source if isinstance(X, SparseRows) else self._preprocessing.inverse_transform(X)
        return crossfitted_scores(self, given, targets, self._state.seed)

    def _to_be_scored(self) -> Any:
        """Return an unfitted clone that only computes scores; a method may turn off its other results."""
        return clone(self)

    def _own_scores(self) -> NDArray:
        """Score the training rows (n, K) from their own latent rows, by the head learnt with them."""
        return self._latent_scores(self._own_latent(), False)

    def _visible(self, latent: NDArray) -> NDArray:
        """Drop hidden coordinates (row biases) from internal latent rows."""
        return latent

    def _padded(self, latent: NDArray) -> NDArray:
        """Add hidden coordinates, as zeros, to latent rows given by a user."""
        return latent

    # --- shared ---------------------------------------------------------------------------------------------------

    def _as_fitted(self) -> Self:
        """Return a copy with the hyper-parameters of the fit, those in `prediction_parameters` excepted."""
        run = getattr(getattr(self, "snapshot_", None), "run", None)
        if run is None:
            return self
        fitted, kind = copy.copy(self), cast(Hashable, type(self))
        for name in _parameter_names(kind):
            if name not in self.prediction_parameters:
                setattr(fitted, name, getattr(run, name))
        return fitted

    def _task(self) -> str:
        return getattr(self, "task", "classification")

    @property
    def refits_head(self) -> bool:
        """Whether `predict` uses the calibrated head: see `latent_decision_function`."""
        return self._calibrated()

    def _calibrated(self) -> bool:
        return bool(getattr(self, "calibrate", False))

    def _prepare(self, X: ArrayLike) -> NDArray:
        return self._within_range(self._checked_new(X))

    def _checked_new(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "_state")
        return self._checked(X, reset=False)

    def _clips_new_rows(self) -> bool:
        """Whether cells of new rows far outside of the range of the training rows are clipped.

        The values that a linear predictor gives grow without bound; scores of classes may, and the class stays.
        """
        return not getattr(self, "extrapolate", True) and not predicts_classes(self)

    def _within_range(self, X: NDArray) -> NDArray:
        """Return preprocessed rows, clipped before where the method does so."""
        return self._scaled(self._preprocessing.clipped(X) if self._clips_new_rows() else X)

    def _warn_of_clipped(self, X: NDArray) -> None:
        """Warn of the first cell of new rows that is clipped and far away."""
        if not self._clips_new_rows():
            return
        fitted = self._preprocessing
        if isinstance(X, SparseRows):
            rows, columns = fitted.clipped(X, FAR).differences(X)
        else:
            rows, columns = np.nonzero((fitted.clipped(X, FAR) != X) & ~np.isnan(X))
        if not len(rows):
            return
        row, column = rows[0], columns[0]
        cell, clipped = (dense(each[row : row + 1])[0, column] for each in (X, fitted.clipped(X)))
        name = repr(str(self.feature_names_in_[column])) if hasattr(self, "feature_names_in_") else str(column)
        warnings.warn(
            f"{len(np.unique(rows))} of {len(X)} rows of X lie far outside of the training rows, the first in row "
            f"{row}, column {name}: {cell:g}, where the training rows have {fitted.low[column]:g} to "
            f"{fitted.high[column]:g}. Such cells are clipped, this one at {clipped:g}; "
            "extrapolate=True uses them as they are",
            ExtrapolationWarning,
            stacklevel=4,
        )

    def _scaled(self, X: NDArray) -> NDArray:
        """Return preprocessed rows; raise ValueError where their squares are not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows = self._preprocessing.transform(X)
        check_sizes("X, once preprocessed,", rows)
        return rows

    def _checked(self, X: ArrayLike, *, reset: bool) -> NDArray:
        # scikit-learn's checks take longer than embedding the rows of a frame.
        if not reset and not hasattr(self, "feature_names_in_") and _is_ready(X, self.n_features_in_):
            return np.asarray(X)
        if is_sparse(X):
            return self._checked_sparse(X, reset)
        X = with_nan(X)
        with naming_columns(X):
            rows = validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                order="C",
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
        check_finite(X, rows, type(self).__name__, accepts_missing=self.accepts_missing_cells)
        return rows

    def _checked_sparse(self, X: Any, reset: bool) -> Any:
        """Return the rows of a sparse matrix, array or data frame; raise TypeError where dense rows are needed."""
        reason = f"{type(self).__name__} takes dense rows; {SPARSE_TAKERS} take sparse ones"
        reason = self._dense_only() if self.accepts_sparse else reason
        if reason:
            raise TypeError(f"X is sparse: {reason}. X.toarray() makes X dense")
        least = 2 if reset else 1
        settings = {"reset": reset, "dtype": np.float64, "ensure_min_samples": least, "ensure_all_finite": "allow-nan"}
        rows = SparseRows.of(validate_data(self, X, accept_sparse="csr", **settings))
        if np.isnan(rows.cells.data).any():
            raise ValueError(
                "Input X contains NaN: X is sparse, and missing cells are for dense rows, which X.toarray() makes; or "
                "fill them, for example with sklearn.impute.SimpleImputer"
            )
        return rows

    def _expose_support(self, support: Any) -> None:
        """Set the fitted attributes of support vectors, a mask or positions among the labelled rows."""
        targets = self._training[1]
        labelled = np.flatnonzero(targets.labelled)
        self.support_ = labelled[support]
        self.n_support_ = np.bincount(targets.codes[self.support_], minlength=len(self.classes_))
        self.support_fraction_ = len(self.support_) / len(labelled)

    def _over_training_rows(self, values: NDArray) -> NDArray:
        """Return one value per training row: `values` for the labelled rows, 0 for the others."""
        labelled = self._training[1].labelled
        result = np.zeros(len(labelled))
        result[labelled] = values
        return result

    def _decide(self, scores: NDArray) -> NDArray:
        if not predicts_classes(self):
            return scores[:, 0] if self._single_target else scores
        return self.classes_[winning_codes(scores)]

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = self.takes_several_targets and not predicts_classes(self)
        tags.input_tags.allow_nan = self.accepts_missing_cells
        tags.input_tags.sparse = self.accepts_sparse and not self._dense_only()
        if predicts_classes(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags


def winning_codes(scores: NDArray) -> NDArray:
    """Return the index of the class with the largest score, (n,), of scores (n, K); K = 1 for two classes."""
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


@functools.cache
def _parameter_names(kind: Any) -> tuple[str, ...]:
    """Return the hyper-parameters of a class; scikit-learn inspects the constructor at each call."""
    return tuple(kind._get_param_names())


def _is_ready(X: Any, n_columns: int) -> bool:
    """Whether X is a C-contiguous array of finite floats with `n_columns` columns and at least one row."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not X.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return len(X) > 0 and X.shape[1] == n_columns and bool(np.isfinite(X.sum()))


def _flat(scores: NDArray) -> NDArray:
    return scores[:, 0] if scores.shape[1] == 1 else scores
