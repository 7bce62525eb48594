"""Why is a row here: the derivative of the map, in units of a standard deviation of each original column.

    J_kj = s_j dz_k / dx_j      s_j: the standard deviation of column j among the training rows

The methods of this library have formulas.  Of any other map it is tried whether it is affine, z = A'x + b: then A is
its derivative everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from supdr.engine.checks import check_integer
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import checkpoint
from supdr.quality.checking import check_rows
from supdr.quality.summary import map_of

# Derivatives that are in memory at once.
BATCH = 1 << 18

# A map is affine if it differs from its tangent by no more than this share of its range, and a linear map's derivative
# from that at another row by no more than this share of its size.
ROUNDING = 1e-8

# Rows at which a map is compared with its tangent, or derivatives with each other.
TRIALS = 20


@dataclass(frozen=True)
class RowExplanation:
    """Which columns move a row on the map, and where to.

    Attributes
    ----------
    place : array of shape (d,)
        Where the map puts the row.
    derivative : array of shape (d, D)
        How far each coordinate moves for a standard deviation of each column.
    columns : int array of shape (m,)
        The columns that move the row most, the strongest first.
    names : tuple of str
        Their names.
    values, deviations : arrays of shape (m,)
        The row's values in them, and their distances from the columns' means in standard deviations; NaN where missing.
    arrows : array of shape (m, d)
        Where a standard deviation more of each of them moves the row, to first order.
    share : float
        Share of the squared derivative that these columns hold, in [0, 1]; NaN where the map does not move.
    """

    place: NDArray
    derivative: NDArray = field(repr=False)
    columns: NDArray
    names: tuple[str, ...]
    values: NDArray
    deviations: NDArray
    arrows: NDArray
    share: float

    @property
    def effects(self) -> NDArray:
        """How far the map moves for a standard deviation of each column, (D,): lengths of the arrows."""
        return np.linalg.norm(self.derivative, axis=0)

    def __str__(self) -> str:
        if not self.derivative.any():
            return "the map stands still at this row, as it may at rows of the fit: ask for a row beside it"
        moves = (f"{name} ({np.linalg.norm(arrow):.3g})" for name, arrow in zip(self.names, self.arrows))
        return "a standard deviation more moves the row by: " + ", ".join(moves)


def map_derivative(model: Any, X: Any, *, fitted_on: Any = None) -> NDArray:
    """Return how a fitted map moves rows, for a standard deviation of each original column.

    Exact: MAC of one and of two layers, SLDR with its gate, ClassAtlas with its own gate, LSDR, NSDR, SDR-GLM and SNF
    by the condition that their latent rows of new data fulfil, affine maps (PCA, LDA, NCA, PLS, pipelines of them).

    Parameters
    ----------
    model : estimator
        Fitted, with `transform`.
    X : array-like of shape (n, D)
        Rows; a missing cell has the derivative 0.
    fitted_on : array-like of shape (N, D), optional
        Rows whose standard deviations are the units.  None: the training rows, which the methods of this library keep.

    Returns
    -------
    array of shape (n, d, D)
        0 in columns that do not vary.

    Raises
    ------
    ValueError
        If the map has neither a formula nor is affine: nearest neighbours, trees, a regressor as MAC's mapping or a
        classifier as ClassAtlas's gate; or if another library's model comes without `fitted_on`.
    """
    X = _rows(model, "X", X)
    reference = _reference(model, fitted_on, X.shape[1])
    _, deviation = _units(reference)
    return np.concatenate([part * deviation for part in _derivatives(model, X, reference)])


@with_entries_of(map_derivative)
def explain_row(
    model: Any, row: Any, *, fitted_on: Any = None, n_columns: int = 3, names: Sequence[str] | None = None
) -> RowExplanation:
    """Return the columns that move a row most on a fitted map, and where they move it.

    Parameters
    ----------
    model
        As in `map_derivative`.
    row : array-like of shape (D,)
        In the units of the rows that the model takes.
    fitted_on
        As in `map_derivative`.
    n_columns : int, default=3
        How many columns to name, >= 1; all where there are fewer.
    names : sequence of str, optional
        Names of the columns, (D,).  None: those that the model was fitted with, else "x1", "x2", ...

    Returns
    -------
    RowExplanation

    Raises
    ------
    ValueError
        As `map_derivative`; or if `row` is not one row, or `names` are not one per column.
    """
    check_integer("n_columns", n_columns)
    values = np.asarray(row, dtype=float)
    if values.ndim != 1:
        raise ValueError(f"row must be one row, of shape (D,); got shape {values.shape}")
    reference = _reference(model, fitted_on, len(values))
    mean, deviation = _units(reference)
    (parts,) = _derivatives(model, _rows(model, "row", values[None]), reference)
    derivative = parts[0] * deviation
    named = column_names(names, len(values), model)
    effects = np.linalg.norm(derivative, axis=0)
    columns = np.argsort(-effects, kind="stable")[:n_columns]
    total = float((effects**2).sum())
    unit = np.where(deviation > 0.0, deviation, 1.0)
    return RowExplanation(
        place=map_of(model, values[None])[0],
        derivative=derivative,
        columns=columns,
        names=tuple(named[column] for column in columns),
        values=values[columns],
        deviations=((values - mean) / unit)[columns],
        arrows=derivative[:, columns].T,
        share=float((effects[columns] ** 2).sum()) / total if total > 0.0 else float("nan"),
    )


@with_entries_of(map_derivative)
def biplot_arrows(model: Any, X: Any, *, fitted_on: Any = None) -> NDArray:
    """Return the arrows of a biplot: where a standard deviation more of each column moves every row of a linear map.

    Source: K. R. Gabriel, "The biplot graphic display of matrices with application to principal component analysis",
    Biometrika 58 (1971).

    Parameters
    ----------
    model
        As in `map_derivative`.
    X : array-like of shape (n, D)
        Rows at which the derivatives are compared, 20 of them at most.
    fitted_on
        As in `map_derivative`.

    Returns
    -------
    array of shape (D, d)

    Raises
    ------
    ValueError
        As `map_derivative`; or if the map is not linear: its derivative differs from row to row.
    """
    X = _rows(model, "X", X)
    some = X[np.linspace(0, len(X) - 1, min(len(X), TRIALS)).astype(int)]
    derivatives = map_derivative(model, some, fitted_on=fitted_on)
    apart = np.abs(derivatives - derivatives[0]).max()
    if apart > ROUNDING * np.abs(derivatives).max():
        raise ValueError(
            f"biplot arrows need a linear map; that of {type(model).__name__} moves otherwise from row to row: "
            "ask map_derivative or explain_row at the rows themselves"
        )
    return derivatives[0].T


def column_names(names: Sequence[str] | None, n_columns: int, model: Any = None) -> list[str]:
    """Return checked names of the columns: those given, those of the model's fit, or "x1", "x2", ..."""
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{number}" for number in range(1, n_columns + 1)]
    if isinstance(names, str) or len(names) != n_columns:
        came = repr(names) if isinstance(names, str) else f"{len(names)} names"
        raise ValueError(f"names must be one name for each of the {n_columns} columns; got {came}")
    return [str(name) for name in names]


def _rows(model: Any, name: str, X: Any) -> NDArray:
    """Return checked rows of as many columns as the model was fitted to."""
    X = check_rows(X, name, order="C", ensure_all_finite="allow-nan")
    expected = getattr(model, "n_features_in_", X.shape[1])
    if X.shape[1] != expected:
        raise ValueError(f"{name} must have the {expected} columns of the fit; got {X.shape[1]}")
    return X


def _reference(model: Any, fitted_on: Any, n_columns: int) -> NDArray:
    """Return the rows that were given, or else the training rows that the model keeps, in the units of the input."""
    if fitted_on is not None:
        rows = _rows(model, "fitted_on", fitted_on)
    else:
        training, preprocessing = getattr(model, "_training", None), getattr(model, "_preprocessing", None)
        if training is None or preprocessing is None:
            name = type(model).__name__
            raise ValueError(f"fitted_on must be the training rows: {name} does not keep them; got None")
        rows = preprocessing.inverse_transform(training[0])
    if rows.shape[1] != n_columns:
        raise ValueError(f"rows must have the {rows.shape[1]} columns of the fit; got {n_columns}")
    return rows


def _units(rows: NDArray) -> tuple[NDArray, NDArray]:
    """Return mean and standard deviation of each column, (D,) each; 0 where it does not vary."""
    mean, deviation = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    return mean, np.where(deviation > 1e-12 * np.abs(mean), deviation, 0.0)


def _derivatives(model: Any, X: NDArray, reference: NDArray) -> list[NDArray]:
    """Return dz / dx (b, d, D) of rows, some at a time."""
    formula = getattr(model, "_map_derivative", None)
    size = max(1, BATCH // X.shape[1] ** 2)
    parts = []
    for some in gen_batches(len(X), size):
        checkpoint()
        derivative = None if formula is None else formula(X[some])
        if derivative is None:
            slopes = affine_slopes(model, reference)
            return [np.tile(slopes, (len(X), 1, 1))]
        parts.append(derivative)
    return parts


def affine_slopes(model: Any, rows: NDArray) -> NDArray:
    """Return A' (d, D) of an affine map; raise ValueError if it bends between these rows and mixtures of them."""
    middle, size = rows.mean(axis=0), rows.std(axis=0)
    step = np.where(size > 0.0, size, 1.0)
    moved = map_of(model, np.vstack([middle, middle + np.diag(step)]))
    slopes = (moved[1:] - moved[0]) / step[:, None]
    rng = np.random.default_rng(0)
    tried = rows[rng.integers(len(rows), size=TRIALS)]
    tried = np.vstack([tried, middle + 1.5 * (tried - middle), 0.5 * (tried + middle)])
    places = map_of(model, tried)
    apart = np.abs(places - moved[0] - (tried - middle) @ slopes).max()
    if apart > ROUNDING * max(float(np.abs(places - moved[0]).max()), np.finfo(float).tiny):
        raise ValueError(
            f"the map of {type(model).__name__} has no derivative here: it has no formula, and it is not affine"
        )
    return slopes.T
