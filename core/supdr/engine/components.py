"""How many latent coordinates a method takes where the user names none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from supdr.engine.targets import Targets

# Beyond this many coordinates a step costs more than they add.
MOST_COMPONENTS = 50

# A warning is due when the user's number of coordinates costs more than this share of the rows.
COSTLY = 0.1

FOLDS = 3


def component_count(n_components: int | None, targets: Targets, shape: tuple[int, int], init: Any = "") -> int:
    """Return the number of latent coordinates.

    `n_components`: what the user asks for.  None: half as many as there are columns (or rows, if these are fewer), at
    most 50, but at least 2 and one fewer than there are classes (as many as there are targets); never more than there
    are columns. `targets`: decoded targets. `shape`: rows and columns of the preprocessed data. `init`: where the
    latent rows start; an array of them has the number of columns that None stands for.
    """
    if n_components is not None:
        return int(n_components)
    if not isinstance(init, str):
        return int(np.shape(init)[1])
    n_rows, n_columns = shape
    told_apart = targets.values.shape[1] if targets.classes is None else len(targets.classes) - 1
    return min(n_columns, max(2, told_apart, min(n_rows, n_columns, 2 * MOST_COMPONENTS) // 2))


def too_few_components(n_components: int | None, targets: Targets) -> bool:
    """Return whether the user asks for fewer latent coordinates than K classes can need, K - 1."""
    return targets.classes is not None and n_components is not None and n_components < len(targets.classes) - 1


def warn_of_few_components(n_components: int, X: NDArray, codes: NDArray, guesses: NDArray) -> None:
    """Warn, on behalf of the caller of `fit`, where fewer coordinates than K - 1 cost many errors.

    That is measured: a linear classifier on all columns, by cross-validation, must do much better on the labelled rows
    than the reduction does on the rows it was fitted on.

    `n_components`: what the user asked for, less than K - 1. `X` (n, m): preprocessed labelled rows; NaN marks a
    missing cell. `codes`, `guesses` (n,): their classes, and those predicted.
    """
    sizes = np.bincount(codes)
    n_classes = np.count_nonzero(sizes)
    error = float(np.mean(guesses != codes))
    if error <= COSTLY or sizes[sizes > 0].min() < FOLDS:
        return
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    model = make_pipeline(SimpleImputer(keep_empty_features=True), RidgeClassifierCV(10.0 ** np.arange(-1, 4)))
    linear = float(np.mean(cross_val_predict(model, X, codes, cv=folds) != codes))
    if error > linear + COSTLY:
        warnings.warn(
            f"n_components={n_components} is fewer than the {n_classes - 1} that {n_classes} classes need: {error:.0%} "
            f"of the labelled rows are misclassified, {linear:.0%} by a linear classifier on all columns; take "
            "n_components=None to predict classes",
            UserWarning,
            stacklevel=7,
        )
