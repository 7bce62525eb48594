"""A gate by a classifier of scikit-learn's kind: probabilities of training rows from folds that do not hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from supdr.engine.interruption import abandonable
from supdr.methods.class_atlas.gate import FOLDS, RAREST, dealt_folds

Array = NDArray[np.float64]


class ForeignGate(NamedTuple):
    """x -> p, by a classifier that was fitted to all labelled rows."""

    model: Any
    n_classes: int

    def probabilities(self, X: Array) -> Array:
        """Return p (n, K) of new rows (n, D)."""
        return _spread(self.model, X, self.n_classes)


def fit_foreign_gate(
    X: Array, codes: NDArray, n_classes: int, model: Any, seed: int, metadata: Mapping[str, NDArray]
) -> tuple[ForeignGate, Array]:
    """Return a gate of copies of a classifier fitted to all rows and to five folds' others, and left-out p (n, K)."""
    fold = dealt_folds(codes, np.random.default_rng([seed, 3]))
    proba = np.full((len(X), n_classes), 1.0 / n_classes)
    for each in range(FOLDS):
        rows, others = fold == each, fold != each
        if rows.any() and others.any():
            arguments = rows_of(metadata, others)
            proba[rows] = _spread(_fitted(model, X[others], codes[others], arguments), X[rows], n_classes)
    return ForeignGate(_fitted(model, X, codes, metadata), n_classes), proba


def rows_of(metadata: Mapping[str, NDArray], rows: NDArray) -> dict[str, NDArray]:
    """Return the entries of some rows, those of a mask (n,)."""
    return {name: values[rows] for name, values in metadata.items()}


def _fitted(model: Any, X: Array, codes: NDArray, metadata: Mapping[str, NDArray]) -> Any:
    copy = clone(model)
    return abandonable(lambda: copy.fit(X, codes, **metadata))


def _spread(model: Any, X: Array, n_classes: int) -> Array:
    """Return probabilities (n, K); classes that the model has not seen have next to none."""
    proba = np.full((len(X), n_classes), RAREST)
    proba[:, model.classes_] = np.maximum(model.predict_proba(X), RAREST)
    return proba / proba.sum(axis=1, keepdims=True)
