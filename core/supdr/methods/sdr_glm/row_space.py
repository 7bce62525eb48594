"""SDR-GLM on wide complete Gaussian data, in the row space of all rows: exact, and independent of the columns.

Likelihoods and ridges do not change under a rotation of the columns.  A sweep rotates once for all of its cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from supdr.engine.preprocessing import fit_preprocessing
from supdr.engine.reuse import reused
from supdr.engine.sparse_rows import is_sparse
from supdr.functions.families import BERNOULLI, check_values
from supdr.solvers.low_rank import row_blocks


def may_be_rotated(estimator: Any, part: Any) -> bool:
    """Whether the columns of a part of a sweep's rows may be rotated: complete, Gaussian, wide, of equal weight."""
    n_rows, n_columns = part.rows.X.shape
    family = estimator.family_x
    wide = n_columns > 2 * n_rows and part.rows.X.dtype.kind == "f" and not is_sparse(part.rows.X)
    plain = estimator.column_weight is None and not estimator.nonnegative and estimator.solver == "fast"
    if not (wide and plain and isinstance(family, str) and family in ("auto", "gaussian")):
        return False
    return reused("Gaussian columns", lambda: (part.features_key, family), lambda: _gaussian(family, part))


def fit_in_row_space(estimator: Any, part: Any) -> tuple[Any, NDArray | None]:
    """Return the fit to a part of a sweep in its row space, and the test rows there; None where they are in the fit."""
    kind = "zscore" if estimator.preprocessing == "whiten" else estimator.preprocessing  # so few rows are not whitened
    X, X_test = reused("row space", lambda: (part.features_key, kind), lambda: row_space(part.X, part.X_new, kind))
    fitted = clone(estimator).set_params(preprocessing="none", family_x="gaussian").fit(X, part.y)
    return fitted, None if part.transductive else X_test


def _gaussian(family: str, part: Any) -> bool:
    if not np.isfinite(part.rows.X).all():
        return False
    if family == "gaussian":
        return True
    try:
        check_values(np.full(part.X.shape[1], BERNOULLI), part.X, "X")
    except ValueError:
        return True
    return False


def row_space(X: NDArray, X_test: NDArray, preprocessing: str) -> tuple[NDArray, NDArray]:
    """Return coordinates of preprocessed rows in an orthonormal basis of the space that all of them span.

    `X`, `X_test` (n, m), (p, m): fewer rows than columns; `preprocessing`: fitted on `X`. Returns (n, n + p),
    (p, n + p): inner products are those of the preprocessed rows, less the mean of `X`.
    """
    fitted = fit_preprocessing(X, preprocessing)
    rows = np.concatenate([fitted.transform(X), fitted.transform(X_test)])
    rows -= rows[: len(X)].mean(axis=0)
    # By the Gram matrix, from which SDR-GLM computes with wide data: the rounding is the same.
    gram = np.zeros((len(rows), len(rows)))
    for columns in row_blocks((rows.shape[1], rows.shape[0])):
        gram += rows[:, columns] @ rows[:, columns].T
    values, vectors = np.linalg.eigh(gram)
    coordinates = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    return coordinates[: len(X)], coordinates[len(X) :]
