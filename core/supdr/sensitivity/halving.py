"""Search for the best cell of a grid by successive halving, which is scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_regressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import HalvingRandomSearchCV

from supdr.sensitivity.axes import check_grid
from supdr.sensitivity.scoring import GREATER_IS_BETTER, PREDICTIONS


def search_by_halving(
    estimator: BaseEstimator,
    grid: Mapping[str, Iterable[Any]],
    X: ArrayLike,
    y: ArrayLike,
    *,
    metric: str = "error",
    cv: int = 5,
    factor: int = 3,
    n_candidates: int = 81,
    seed: int = 0,
    on_fit: Callable[[], Any] | None = None,
) -> HalvingRandomSearchCV:
    """Search the best cell of a grid: all candidates are fitted to few rows, the best of them to more, and so on.

    Parameters
    ----------
    estimator : estimator
        It is cloned, not fitted.
    grid : mapping of str to iterable
        One to six parameters and their values, as for `Sweep`.
    X : array-like of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Targets of all rows.
    metric : str
        Metric of predictions, such as "error" or "r2", or one of scikit-learn's scorers.
    cv : int
        Number of folds.
    factor : int
        Each round keeps the best of every `factor` candidates, on `factor` times as many rows.
    n_candidates : int
        Most cells of the first round, drawn at random from the grid; the last round has as many rows as it can.
    seed : int
        Of candidates, rows and folds.
    on_fit : callable, optional
        ``on_fit()`` is called before each fit is scored; an exception of it ends the search.

    Returns
    -------
    HalvingRandomSearchCV
        With ``cv_results_``, ``best_params_``, ``n_candidates_`` and ``n_resources_`` of scikit-learn; not refitted.

    Raises
    ------
    ValueError
        If the grid does not fit the estimator, a target is missing, or the metric is not one of predictions.

    References
    ----------
    Jamieson and Talwalkar: Non-stochastic best arm identification and hyperparameter optimization. AISTATS 2016.
    """
    lists = check_grid(grid, estimator.get_params(), type(estimator).__name__)
    X, y = np.asarray(X), np.asarray(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y must have a target for every row in a search by halving; {np.isnan(y).sum()} are missing")
    if y.dtype.kind == "f" and not is_regressor(estimator):
        y = np.unique(y, return_inverse=True)[1]  # scikit-learn's folds take whole numbers for classes
    score = _scorer(metric)

    def scored(fitted: Any, rows: Any, targets: Any) -> float:
        """Tell of a fit, and score it."""
        if on_fit is not None:
            on_fit()
        return score(fitted, rows, targets)

    search = HalvingRandomSearchCV(
        estimator,
        lists,
        n_candidates=min(n_candidates, int(np.prod([len(values) for values in lists.values()]))),
        factor=factor,
        cv=cv,
        scoring=scored,
        min_resources="exhaust",
        random_state=seed,
        refit=False,
        error_score="raise" if on_fit is not None else np.nan,
        return_train_score=False,
    )
    return search.fit(X, y)


def _scorer(metric: str) -> Callable[[Any, Any, Any], float]:
    """Return a scorer of which more is better."""
    if metric in PREDICTIONS:
        return make_scorer(PREDICTIONS[metric], greater_is_better=metric in GREATER_IS_BETTER)
    if metric in get_scorer_names():
        return get_scorer(metric)
    raise ValueError(f"metric must be one of {', '.join(PREDICTIONS)}, or a scorer of scikit-learn; got {metric!r}")
