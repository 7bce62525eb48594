"""What a fitted ClassAtlas answers: places, probabilities, and how its classes lie."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.unweighted import Unweighted
from supdr.methods.class_atlas.cells import cell_logs
from supdr.methods.class_atlas.derivative import image_derivative
from supdr.methods.class_atlas.problem import AtlasState
from supdr.solvers.gaussians import rows_in_memory


class FittedClassAtlas(Unweighted):
    """Fitted attributes of `supdr.ClassAtlas`, which documents them; those that cost something come on demand."""

    map_has_charts: ClassVar[bool] = True
    prepared_attributes = (*Unweighted.prepared_attributes, "_gate_metadata")
    _gate_metadata: Mapping[str, NDArray] = MappingProxyType({})  # of a fit under way

    classes_: NDArray
    _state: AtlasState
    _training: Any
    _memo: dict[str, Any]

    @property
    def embedding_note(self) -> str:  # type: ignore[override]
        """What the caption of the map says of the training rows."""
        without = hasattr(self, "_state") and self._state.settings.separation == 0.0
        return "placed without labels" if without else "placed using labels"

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the most probable class of each row, by the gate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,)
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return class probabilities, by the gate: those that place a row on the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        check_is_fitted(self, "_state")
        return self._state.atlas.probabilities(self._prepare(X))

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the logarithms of the gate's probabilities; for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            The largest score wins.
        """
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    @property
    def proba_(self) -> NDArray:
        """Gate of the training rows, (n_samples, K); of labelled rows without their own label."""
        return self._state.atlas.proba

    @property
    def left_out_embedding_(self) -> NDArray:
        """Places of the training rows without their own labels, (n_samples, n_components): those of new rows."""
        return self._all_places("left out", self._state.picture.latent, self._state.atlas.proba)

    @property
    def doubt_(self) -> NDArray:
        """1 - the largest probability of each training row, (n_samples,)."""
        return 1.0 - self._state.atlas.proba.max(axis=1)

    @property
    def cells_(self) -> NDArray:
        """s(z) of the training rows, (n_samples, K): what the map says of their classes."""
        return np.exp(cell_logs(self._own_latent(), self._state.centres, self._state.beta)[0])

    @property
    def radii_(self) -> NDArray:
        """Radius of each chart, (K,): within it lie .9 of the landmarks of the class."""
        return self._state.radii

    @property
    def axes_(self) -> tuple[NDArray, ...]:
        """Map s A_k' of each chart, (d_k, n_components): its principal coordinates, then its embedding."""
        state, n_classes = self._state, len(self._state.centres)
        classes, maps = state.atlas.charts.classes, state.settings.separation * state.picture.theta[n_classes:]
        return tuple(maps[classes == k] for k in range(n_classes))

    def _expose(self, state: AtlasState) -> None:
        self.scaling_ = state.scaling
        self.gate_, self.charts_ = state.atlas.gate, state.atlas.charts
        self.gate_error_, self.landmarks_ = state.atlas.gate_error, state.atlas.rows
        self.theta_, self.centres_, self.beta_ = state.picture.theta, state.centres, state.beta
        self.lam_ = state.lam
        self.stages_ = tuple((each.lam, each.error) for each in state.passed)

    def _own_latent(self) -> NDArray:
        """Return the places of all training rows by their own labels too, as far as labels are believed."""
        return self._all_places("own", self._state.drawn, self._state.atlas.believed)

    def _all_places(self, name: str, landmarks: NDArray, proba: NDArray) -> NDArray:
        """Return the landmarks' places (s, d), and for all other rows what the map says of their probabilities."""
        atlas, n = self._state.atlas, len(self._state.atlas.proba)
        if len(atlas.rows) == n:
            return landmarks
        if name not in self._memo:
            others = np.setdiff1d(np.arange(n), atlas.rows, assume_unique=True)
            own = np.empty((n, landmarks.shape[1]))
            own[atlas.rows] = landmarks
            rows, step = self._training[0], rows_in_memory(8 * self._training[0].shape[1])
            for start in range(0, len(others), step):  # all others at once would be the rows once more
                part = others[start : start + step]
                own[part] = self._state.image(rows[part], proba[part])
            self._memo[name] = own
        return self._memo[name]

    def _latent(self, X: NDArray) -> NDArray:
        return self._state.image(X)

    def _has_left_out_error(self) -> bool:
        return True

    def _left_out_error(self) -> float:
        return self.gate_error_

    def _latent_derivative(self, X: NDArray) -> NDArray | None:
        state = self._state
        return image_derivative(state.atlas, X, state.picture.theta, state.settings.tau, state.settings.separation)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        squares = cell_logs(latent, self._state.centres, self._state.beta)[1]
        scores = -self._state.beta * squares
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores
