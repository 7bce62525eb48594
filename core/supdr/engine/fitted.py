"""What a fitted reduction answers: transform, scores and predictions, of rows and of latent rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from supdr.engine.preprocessing import Preprocessing


def predicts_classes(estimator: Any) -> bool:
    """Tell whether a reduction is a classifier, as its task says."""
    return estimator._task() == "classification"


class FittedReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The half of `SupervisedReducer` that reads a state.

    Subclasses define

    - ``_expose(state)``: sets the method's fitted attributes (cheap: called for every frame that is drawn);
    - ``_latent(X)``: embeds preprocessed rows without labels;
    - ``_latent_scores(latent, calibrated)``: head outputs (n, K) of latent rows;
    - ``_own_latent()``: latent rows of the training set, learnt with labels.
    """

    accepts_missing_cells: ClassVar[bool] = False

    _preprocessing: Preprocessing
    _state: Any
    _single_target: bool

    def transform(self, X: ArrayLike) -> NDArray:
        """Embed rows without looking at labels.

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
        latent = np.ascontiguousarray(latent, dtype=float)
        return _flat(self._latent_scores(self._padded(latent), head == "calibrated"))

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
        return self._decide(self._latent_scores(self._latent(self._prepare(X)), self._calibrated()))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or R² for regression, of `predict` on labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            True labels or values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
        """
        measure = accuracy_score if predicts_classes(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    @property
    def embedding_(self) -> NDArray:
        """Latent rows of the training set, (n, n_components), learnt with labels."""
        check_is_fitted(self, "_training")
        return self._visible(self._own_latent())

    @property
    def training_decision_(self) -> NDArray:
        """Scores of the training rows from their own latent rows; shaped as by `decision_function`."""
        check_is_fitted(self, "_training")
        return _flat(self._latent_scores(self._own_latent(), False))

    @property
    def transduction_(self) -> NDArray:
        """Predictions of the training rows, unlabelled ones included, from their own latent rows; shape (n,)."""
        check_is_fitted(self, "_training")
        return self._decide(self._latent_scores(self._own_latent(), False))

    # --- what subclasses define -----------------------------------------------------------------------------------

    def _expose(self, state: Any) -> None:
        raise NotImplementedError

    def _latent(self, X: NDArray) -> NDArray:
        raise NotImplementedError

    def _own_latent(self) -> NDArray:
        raise NotImplementedError

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        raise NotImplementedError

    def _visible(self, latent: NDArray) -> NDArray:
        """Drop hidden coordinates (row biases) from internal latent rows."""
        return latent

    def _padded(self, latent: NDArray) -> NDArray:
        """Add hidden coordinates, as zeros, to latent rows given by a user."""
        return latent

    # --- shared ---------------------------------------------------------------------------------------------------

    def _task(self) -> str:
        return getattr(self, "task", "classification")

    def _calibrated(self) -> bool:
        return bool(getattr(self, "calibrate", False))

    def _prepare(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self, "_state")
        return self._preprocessing.transform(self._checked(X, reset=False))

    def _checked(self, X: ArrayLike, *, reset: bool) -> NDArray:
        finite = "allow-nan" if self.accepts_missing_cells else True
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite=finite,
            ensure_min_samples=2 if reset else 1,
        )

    def _expose_support(self, support: Any) -> None:
        """Set ``support_``, ``n_support_`` and ``support_fraction_`` from a mask of the labelled rows."""
        targets = self._training[1]
        self.support_ = np.flatnonzero(targets.labelled)[support]
        self.n_support_ = np.bincount(targets.codes[self.support_], minlength=len(self.classes_))
        self.support_fraction_ = float(support.mean())

    def _among_all(self, values: NDArray) -> NDArray:
        """Return one value per training row: those given for the labelled rows, 0 for the others."""
        labelled = self._training[1].labelled
        result = np.zeros(len(labelled))
        result[labelled] = values
        return result

    def _decide(self, scores: NDArray) -> NDArray:
        if not predicts_classes(self):
            return scores[:, 0] if self._single_target else scores
        winners = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[winners]

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.accepts_missing_cells
        if predicts_classes(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags


def _flat(scores: NDArray) -> NDArray:
    return scores[:, 0] if scores.shape[1] == 1 else scores
