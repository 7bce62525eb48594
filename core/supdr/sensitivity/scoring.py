"""Metrics of a cell: errors of predictions, attributes of the fit, quality of its map, scikit-learn's scorers.

Two metrics fit anew to the rows of the fit, and cost as much as their fits: "pvalue" by shuffled labels (19 of them: no
p is below .05), "stability" the share of neighbours that stay from one fit to another (10 bootstrap samples).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names, mean_absolute_error, r2_score

from supdr.engine.targets import as_labels, missing_values
from supdr.quality.checking import usable_neighbors
from supdr.quality.clusters import cluster_reliability
from supdr.quality.permutations import label_permutation
from supdr.quality.resampling import stability
from supdr.quality.summary import MEASURES, comparable_rows, map_of, model_quality
from supdr.sensitivity.rows import Part

Scoring = str | Callable[..., float] | Sequence[str] | Mapping[str, Any]


def _correlation(truth: NDArray, predicted: NDArray) -> float:
    spread = float(np.std(truth) * np.std(predicted))
    return float(np.corrcoef(truth, predicted)[0, 1]) if spread > 0.0 else 0.0


# Metrics of true values and predictions.
PREDICTIONS: dict[str, Callable[[NDArray, NDArray], float]] = {
    "error": lambda truth, predicted: float(np.mean(truth != predicted)),
    "accuracy": lambda truth, predicted: float(np.mean(truth == predicted)),
    "mse": lambda truth, predicted: float(np.mean((truth - predicted) ** 2)),
    "rmse": lambda truth, predicted: float(np.sqrt(np.mean((truth - predicted) ** 2))),
    "mae": lambda truth, predicted: float(mean_absolute_error(truth, predicted)),
    "r2": lambda truth, predicted: float(r2_score(truth, predicted)),
    "correlation": _correlation,
}

# Metrics of the fitted estimator; any other numeric attribute ``name_``, or entry of its history, is accepted as well.
FITTED = ("support_fraction", "support_fraction_min", "n_iter", "objective", "bound", "gap", "fit_seconds")

# Metrics of the map of the held-out rows by clusters that are drawn at random, see `cluster_reliability`.
CLUSTERS = ("steadiness", "cohesiveness")

# How many fits the metrics of further fits make: to shuffled labels, and to bootstrap samples.
SHUFFLES, BOOTSTRAPS = 19, 10


def _pvalue(estimator: Any, X: NDArray, y: NDArray) -> float:
    return label_permutation(estimator, X, y, n_permutations=SHUFFLES).pvalue


def _stability(estimator: Any, X: NDArray, y: NDArray) -> float:
    return float(stability(estimator, X, y, resample="bootstrap", n=BOOTSTRAPS).kept.mean())


# Metrics of an estimator that is not fitted, by further fits to the rows of the fit.
FURTHER_FITS: dict[str, Callable[[Any, NDArray, NDArray], float]] = {"pvalue": _pvalue, "stability": _stability}

GREATER_IS_BETTER = frozenset({"accuracy", "r2", "correlation", *MEASURES, *CLUSTERS, "stability"} - {"knn_error"})


@dataclass(frozen=True)
class HeldOutFit:
    """A fitted estimator with the held-out rows that score it.

    `X`, `y`: rows that were not part of the fit (transductive: whose labels were not), and their targets; `predicted`:
    the fit's own predictions of these rows; None: ``fitted.predict(X)``; `seconds`: of the fit; `unfitted`: the
    estimator before the fit; `part`: its rows.
    """

    fitted: Any
    X: NDArray
    y: NDArray
    predicted: NDArray | None
    seconds: float
    unfitted: Any
    part: Part


def check_scoring(scoring: Scoring) -> dict[str, Any]:
    """Return the metrics by name; raise ValueError if there is none, or one is neither a name nor a callable.

    Names are those of this module, of `MEASURES`, of fitted attributes and of scikit-learn's scorers; a callable takes
    ``(estimator, X_test, y_test)``.
    """
    if isinstance(scoring, str):
        return {scoring: scoring}
    if callable(scoring):
        return {getattr(scoring, "__name__", "score"): scoring}
    named = dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in scoring}
    if not named or not all(isinstance(metric, str) or callable(metric) for metric in named.values()):
        raise ValueError(f"scoring must name a metric, several, or be a callable; got {scoring!r}")
    return named


def scores_of(scored: HeldOutFit, scoring: Mapping[str, Any]) -> dict[str, float]:
    """Return every metric of one fit; raise ValueError if the estimator does not have one of them."""
    predicted = scored.predicted
    scores, of_map = {}, _map_measures(scored, [metric for metric in scoring.values() if isinstance(metric, str)])
    for name, metric in scoring.items():
        if callable(metric):
            scores[name] = float(metric(scored.fitted, scored.X, scored.y))
        elif metric in PREDICTIONS:
            predicted = scored.fitted.predict(scored.X) if predicted is None else predicted
            scores[name] = PREDICTIONS[metric](scored.y, predicted)
        elif metric in of_map:
            scores[name] = _existing(metric, of_map[metric])
        elif metric in FURTHER_FITS:
            scores[name] = FURTHER_FITS[metric](scored.unfitted, scored.part.X, scored.part.y)
        else:
            scores[name] = _fitted_number(scored, metric)
    return scores


def _map_measures(scored: HeldOutFit, metrics: Sequence[str]) -> dict[str, float]:
    """Return the quality of the map of the held-out rows, by 10 neighbours or fewer than half of the rows."""
    numbers: dict[str, float] = {}
    if not {*MEASURES, *CLUSTERS} & set(metrics):
        return numbers
    labelled = ~missing_values(as_labels(scored.y), None)
    X, y = scored.X[labelled], scored.y[labelled]
    if set(MEASURES) & set(metrics):
        numbers |= model_quality(scored.fitted, X, y, n_neighbors=usable_neighbors(X.shape[0])).numbers
    if set(CLUSTERS) & set(metrics):
        clusters = cluster_reliability(comparable_rows(X), map_of(scored.fitted, X))
        numbers |= {name: getattr(clusters, name) for name in CLUSTERS}
    return numbers


def _existing(metric: str, value: float) -> float:
    """Return the value of a metric; raise ValueError if it is NaN."""
    if math.isnan(value):
        reason = "it needs three classes" if metric == "class_centre_correlation" else "all distances are equal"
        raise ValueError(f"metric {metric!r} has no value for the held-out rows: {reason}")
    return value


def _fitted_number(scored: HeldOutFit, metric: str) -> float:
    """Return a metric of the fitted estimator, or of a scikit-learn scorer."""
    if metric == "fit_seconds":
        return scored.seconds
    history = getattr(scored.fitted, "history_", {})
    if metric in history:
        return float(history[metric][-1])
    value = getattr(scored.fitted, f"{metric}_", None)
    if value is not None and np.ndim(value) == 0:
        return float(value)
    if metric in get_scorer_names():
        if scored.predicted is not None:
            raise ValueError(f"metric {metric!r} is a scorer of new rows: it does not work with transductive=True")
        return float(get_scorer(metric)(scored.fitted, scored.X, scored.y))
    accepted = (*PREDICTIONS, *FITTED, *MEASURES, *CLUSTERS, *FURTHER_FITS)
    raise ValueError(
        f"metric {metric!r} is neither one of {', '.join(accepted)}, "
        f"nor a scorer of scikit-learn, nor a number that a fitted {type(scored.fitted).__name__} has"
    )
