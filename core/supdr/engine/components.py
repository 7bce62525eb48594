"""The default number of latent coordinates, and a warning of too few."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from supdr.engine.sparse_rows import SparseRows
from supdr.engine.targets import Targets

# Largest default: more coordinates cost more time than they improve predictions.
MOST_COMPONENTS = 50

# Share of misclassified rows, beyond those of a linear classifier, from which the warning is given.
COSTLY = 0.1

FOLDS = 3

# Sparse rows at most on which the linear classifier is tried: it solves a system of that size.
MOST_ROWS = 2000


def component_count(n_components: int | None, targets: Targets, shape: tuple[int, int], init: Any = "") -> int:
    """Return the number of latent coordinates: the user's, or that of an array `init` of latent rows.

    None: half as many as the fewer of rows and columns, at most 50, but at least 2 and what classes or targets need.
    """
    if n_components is not None:
        return int(n_components)
    if not isinstance(init, str):
        return int(np.shape(init)[1])
    n_rows, n_columns = shape
    least = targets.values.shape[1] if targets.classes is None else len(targets.classes) - 1
    return min(n_columns, max(2, least, min(n_rows, n_columns, 2 * MOST_COMPONENTS) // 2))


def too_few_components(n_components: int | None, targets: Targets) -> bool:
    """Return whether the user's number of latent coordinates is less than K - 1, which K classes can need."""
    return targets.classes is not None and n_components is not None and n_components < len(targets.classes) - 1


def warn_of_few_components(n_components: int, X: NDArray, codes: NDArray, guesses: NDArray) -> None:
    """Warn the caller of `fit` where too few coordinates cost `COSTLY` more errors than a linear classifier makes."""
    sizes = np.bincount(codes)
    n_classes = np.count_nonzero(sizes)
    error = float(np.mean(guesses != codes))
    if error <= COSTLY or sizes[sizes > 0].min() < FOLDS:
        return
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    model = make_pipeline(SimpleImputer(keep_empty_features=True), RidgeClassifierCV(10.0 ** np.arange(-1, 4)))
    if isinstance(X, SparseRows):
        some = slice(None, None, -(-len(X) // MOST_ROWS))
        model, X, codes = model[-1], X[some].translated(), codes[some]
        if np.bincount(codes).min() < FOLDS:
            return
    linear = float(np.mean(cross_val_predict(model, X, codes, cv=folds) != codes))
    if error > linear + COSTLY:
        warnings.warn(
            f"n_components={n_components} is fewer than the {n_classes - 1} that {n_classes} classes need: {error:.0%} "
            f"of the labelled rows are misclassified, {linear:.0%} by a linear classifier on all columns; take "
            "n_components=None to predict classes",
            UserWarning,
            stacklevel=7,
        )
