"""All measures of a map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from supdr.engine.docstrings import with_entries_of
from supdr.engine.preprocessing import fit_preprocessing
from supdr.quality.checking import MOST_EXACT, check_map, check_rows, sampled_rows
from supdr.quality.distances import class_centre_correlation, distance_pairs, rank_correlation
from supdr.quality.neighbourhoods import row_measures
from supdr.quality.votes import knn_error

# Names of the measures, also as metrics of sweeps.
MEASURES = (
    "trustworthiness",
    "continuity",
    "neighbourhood_overlap",
    "knn_error",
    "distance_correlation",
    "class_centre_correlation",
)


@dataclass(frozen=True)
class MapQuality:
    """The measures of a map.

    Attributes
    ----------
    n_rows, n_neighbors : int
    trustworthiness, continuity, neighbourhood_overlap : float
        In [0, 1].
    knn_error : float
        NaN without labels.
    distance_correlation : float
        In [-1, 1].
    class_centre_correlation : float
        In [-1, 1]; NaN for fewer than three classes.
    standard_errors : dict of str to float
        Of the measures that come from a sample; empty if all are exact.
    rows : int array of shape (m,)
        Numbers of the measured rows.
    of_rows : dict of str to array of shape (m,)
        Trustworthiness, continuity and overlap of each of these rows.
    """

    n_rows: int
    n_neighbors: int
    trustworthiness: float
    continuity: float
    neighbourhood_overlap: float
    knn_error: float
    distance_correlation: float
    class_centre_correlation: float
    standard_errors: dict[str, float] = field(default_factory=dict)
    rows: NDArray = field(default_factory=lambda: np.arange(0), repr=False)
    of_rows: dict[str, NDArray] = field(default_factory=dict, repr=False)

    @property
    def numbers(self) -> dict[str, float]:
        """The six measures by name."""
        return {name: getattr(self, name) for name in MEASURES}


def map_quality(
    X: Any,
    Z: Any,
    y: Any = None,
    *,
    n_neighbors: int = 10,
    task: str = "classification",
    voters: tuple[Any, Any] | None = None,
    sample_size: int | None = None,
    n_pairs: int | None = None,
    random_state: Any = 0,
) -> MapQuality:
    """Return all measures of a map.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Rows, without missing cells, scaled for Euclidean distances.
    Z : array-like of shape (n, d)
        Their positions on the map.
    y : array-like of shape (n,), optional
        Labels; NaN and None mark unlabelled rows.
    n_neighbors : int, default=10
        k, less than n / 2.
    task : {"classification", "regression"}, default="classification"
        What `y` means.
    voters : tuple of array-likes (Z, y), optional
        The rows that vote in the error of neighbours.  None: the same rows; none votes for itself.
    sample_size : int, optional
        Number of rows whose neighbourhoods are measured.  None: all of up to 5,000 rows, else 1,000.
    n_pairs : int, optional
        Number of pairs in the correlation of distances.  None: all pairs of up to 5,000 rows, else a million.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    MapQuality
    """
    X, Z = check_map(X, Z)
    rows = sampled_rows(len(X), sample_size, random_state)
    measured = row_measures(X, Z, n_neighbors, rows)
    pairs = distance_pairs(X, Z, n_pairs=n_pairs, random_state=random_state)
    correlation = rank_correlation(*pairs)
    means = [float(column.mean()) for column in measured.T]
    errors: dict[str, float] = {}
    if len(rows) < len(X):
        scale = math.sqrt((1.0 - len(rows) / len(X)) / len(rows))
        deviations = measured.std(axis=0, ddof=1) if len(rows) > 1 else np.full(3, np.nan)
        errors |= {name: float(scale * deviation) for name, deviation in zip(MEASURES[:3], deviations, strict=True)}
    if n_pairs is not None or len(X) > MOST_EXACT:
        errors["distance_correlation"] = (1.0 - correlation**2) / math.sqrt(len(pairs[0]))
    with_classes = y is not None and task == "classification"
    return MapQuality(
        n_rows=len(X),
        n_neighbors=n_neighbors,
        trustworthiness=means[0],
        continuity=means[1],
        neighbourhood_overlap=means[2],
        knn_error=math.nan if y is None else knn_error(Z, y, n_neighbors=n_neighbors, task=task, voters=voters),
        distance_correlation=correlation,
        class_centre_correlation=class_centre_correlation(X, Z, y) if with_classes else math.nan,
        standard_errors=errors,
        rows=rows,
        of_rows=dict(zip(MEASURES[:3], measured.T, strict=True)),
    )


@with_entries_of(map_quality)
def model_quality(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    fitted_on: tuple[Any, Any] | None = None,
    preprocessing: str = "zscore",
    n_neighbors: int = 10,
    sample_size: int | None = None,
    random_state: Any = 0,
) -> MapQuality:
    """Return all measures of the map that a fitted model draws of new rows.

    On the rows of the fit the measures of a supervised map are too good, since the map depends on their labels.

    Parameters
    ----------
    model : estimator
        Fitted, with `transform`.
    X : array-like of shape (n, D)
        New rows; a missing cell counts as the mean of its column.
    y : array-like of shape (n,), optional
        Their labels.
    fitted_on : tuple of array-likes (X, y), optional
        The rows of the fit, which vote in the error of neighbours at the positions that `transform` returns.
    preprocessing : {"none", "zscore", "minmax", "whiten"}, default="zscore"
        Of the columns of `X`, before distances are computed; take the same one for all compared models.
    n_neighbors, sample_size, random_state
        As in `map_quality`.

    Returns
    -------
    MapQuality
    """
    return map_quality(
        comparable_rows(X, preprocessing),
        map_of(model, X),
        y,
        n_neighbors=n_neighbors,
        task="regression" if is_regressor(model) else "classification",
        voters=None if fitted_on is None else (map_of(model, fitted_on[0]), fitted_on[1]),
        sample_size=sample_size,
        random_state=random_state,
    )


def comparable_rows(X: Any, preprocessing: str = "zscore") -> NDArray:
    """Return preprocessed rows; missing cells are the means of their columns."""
    X = check_rows(X, ensure_all_finite="allow-nan")
    if np.isnan(X).any():
        means = np.nanmean(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0)
        X = np.where(np.isnan(X), means, X)
    return fit_preprocessing(X, preprocessing).transform(X)


def map_of(model: Any, X: Any) -> NDArray:
    """Return the positions of rows on the map of a fitted model; raise ValueError if it has no `transform`."""
    if not hasattr(model, "transform"):
        raise ValueError(f"model must have transform, which draws the map; got {type(model).__name__}")
    return np.asarray(model.transform(X), dtype=float)
