"""Ways to spare work exactly: the same model, reached through what cells have in common.

- SDR-GLM on wide complete Gaussian data: turned into the row space of all rows once, in which nothing depends on the
  number of columns.  Likelihoods and ridges do not change under a rotation of the columns.
- SNF with ``target_weight=0``: the latent rows know neither labels nor `reg_w`; one fit serves all of them.
- MAC's centres, features and decompositions, and SNF's fold-in, are pure functions that the methods keep themselves,
  see `supdr.engine.reuse`.  MAC's lower bound, of which the passes know nothing, is left out unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from supdr.engine.diagnostics import Diagnostics
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.preprocessing import fit_preprocessing
from supdr.engine.reuse import reused
from supdr.functions.families import BERNOULLI, check_values
from supdr.methods.mac.estimator import MAC
from supdr.methods.sdr_glm.estimator import SDRGLM
from supdr.methods.snf.estimator import SNF
from supdr.sensitivity.rows import Part
from supdr.solvers.low_rank import row_blocks

ROTATED = "row space shared"
LABEL_FREE = "label-free fit shared"


class Shortened(NamedTuple):
    """A fitted estimator, the test rows in its coordinates (None: as they are), and what was shared."""

    fitted: Any
    X_test: NDArray | None
    shared: str


def shortened_fit(estimator: Any, part: Part, metrics: Iterable[Any]) -> Shortened | None:
    """Fit with what other cells have in common with this one, or return None where there is nothing.

    `estimator`: not fitted; `part`: rows of the fit; `metrics`: what will be asked of it.
    """
    if type(estimator) is SDRGLM and _turns(estimator, part):
        return _in_row_space(estimator, part)
    if type(estimator) is SNF and _label_free(estimator):
        return _from_label_free(estimator, part)
    if type(estimator) is MAC and estimator.n_layers == 1 and all(_knows_no_bound(metric) for metric in metrics):
        fitted = MAC(**estimator.get_params(deep=False))
        fitted._bounded = False
        return Shortened(fitted.fit(part.X, part.y), None, "")
    return None


# --- SDR-GLM ----------------------------------------------------------------------------------------------------------


def _turns(estimator: SDRGLM, part: Part) -> bool:
    """Whether the columns may be rotated: complete, Gaussian, wide, hence preprocessed column by column."""
    n_rows, n_columns = part.rows.X.shape
    wide = n_columns > 2 * n_rows and part.rows.X.dtype.kind == "f"
    family = estimator.family_x
    plain = estimator.column_weight is None and not estimator.nonnegative
    if not (
        wide and plain and estimator.solver == "fast" and isinstance(family, str) and family in ("auto", "gaussian")
    ):
        return False
    return reused("Gaussian columns", lambda: (part.features_key, family), lambda: _gaussian(family, part))


def _gaussian(family: str, part: Part) -> bool:
    if not np.isfinite(part.rows.X).all():
        return False
    if family == "gaussian":
        return True
    try:
        check_values(np.full(part.X.shape[1], BERNOULLI), part.X, "X")
    except ValueError:
        return True
    return False


def _in_row_space(estimator: SDRGLM, part: Part) -> Shortened:
    kind = "zscore" if estimator.preprocessing == "whiten" else estimator.preprocessing  # so few rows are not whitened
    X, X_test = reused("row space", lambda: (part.features_key, kind), lambda: row_space(part.X, part.asked, kind))
    fitted = clone(estimator).set_params(preprocessing="none", family_x="gaussian").fit(X, part.y)
    return Shortened(fitted, None if part.transductive else X_test, ROTATED)


def row_space(X: NDArray, X_test: NDArray, preprocessing: str) -> tuple[NDArray, NDArray]:
    """Return coordinates of preprocessed rows in an orthonormal basis of the space that all of them span.

    `X`, `X_test` (n, m), (p, m): fewer rows than columns; `preprocessing`: fitted on `X`. Returns (n, n + p),
    (p, n + p): inner products are those of the preprocessed rows, less the mean of `X`.
    """
    fitted = fit_preprocessing(X, preprocessing)
    rows = np.concatenate([fitted.transform(X), fitted.transform(X_test)])
    rows -= rows[: len(X)].mean(axis=0)
    # By the Gram matrix, which is all that SDR-GLM knows of wide data: the rounding is its own.
    gram = np.zeros((len(rows), len(rows)))
    for columns in row_blocks((rows.shape[1], rows.shape[0])):
        gram += rows[:, columns] @ rows[:, columns].T
    values, vectors = np.linalg.eigh(gram)
    coordinates = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    return coordinates[: len(X)], coordinates[len(X) :]


# --- SNF --------------------------------------------------------------------------------------------------------------


def _label_free(estimator: SNF) -> bool:
    return estimator.target_weight == 0 and estimator.solver == "lbfgs" and not estimator.early_stopping


def _from_label_free(estimator: SNF, part: Part) -> Shortened:
    """Take the end of the run that knows no labels, and regress this cell's targets on it."""
    others = {name: value for name, value in estimator.get_params().items() if name not in ("reg_w", "calibrate")}
    end, steps, stop, history = reused(
        "label-free SNF", lambda: (part.features_key, others), lambda: _label_free_end(estimator, part)
    )
    fitted = clone(estimator)
    fixed = {name: getattr(fitted, name) for name in sorted(fitted.restart_parameters)}
    start = Snapshot(end.iteration, 0, {}, Diagnostics({}), end, 0.0, fixed=fixed)
    fitted = fitted.at(next(fitted.iterate(part.X, part.y, start=start)))
    fitted.n_iter_, fitted.stop_, fitted.history_ = steps, stop, history
    return Shortened(fitted, None, LABEL_FREE)


def _label_free_end(estimator: SNF, part: Part) -> tuple[Any, int, Stop | None, dict[str, NDArray]]:
    fitted = clone(estimator).set_params(calibrate=False).fit(part.X, part.y)
    return fitted._state, fitted.n_iter_, fitted.stop_, fitted.history_


# --- MAC --------------------------------------------------------------------------------------------------------------


def _knows_no_bound(metric: Any) -> bool:
    return isinstance(metric, str) and metric not in ("bound", "gap")
