"""Search by successive halving: scikit-learn's own, on the grid of a sweep, and it can be ended."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingRandomSearchCV
from sklearn.svm import SVC

from supdr import LSDR
from supdr.sensitivity import search_by_halving

X, Y = load_iris(return_X_y=True)
GRID = {"C": [1e-4, 1e-2, 1.0, 100.0], "kernel": ["linear", "rbf"]}


@pytest.mark.parametrize("labels", [Y, Y.astype(float)])
def test_it_is_the_search_of_scikit_learn(labels):
    found = search_by_halving(SVC(), GRID, X, labels, cv=3, factor=2, n_candidates=6, seed=4)
    own = HalvingRandomSearchCV(
        SVC(), GRID, n_candidates=6, factor=2, min_resources="exhaust", cv=3, random_state=4, refit=False
    ).fit(X, Y)
    assert found.best_params_ == own.best_params_
    assert found.n_resources_ == own.n_resources_
    assert -found.best_score_ == pytest.approx(1.0 - own.best_score_)


def test_the_last_round_has_most_rows_and_every_fit_is_told():
    fits = []
    found = search_by_halving(LSDR(max_iter=2), {"beta": [0.1, 0.5, 0.9]}, X, Y, cv=2, on_fit=lambda: fits.append(1))
    assert len(fits) == 2 * sum(found.n_candidates_)
    assert found.n_resources_[-1] > 75
    assert found.best_params_["beta"] in (0.1, 0.5, 0.9)


def test_an_exception_ends_it():
    def end():
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        search_by_halving(SVC(), GRID, X, Y, cv=2, on_fit=end)


def test_values_are_searched_by_their_own_metrics():
    found = search_by_halving(Ridge(), {"alpha": [1e-3, 1e6]}, X[:, :3], X[:, 3], metric="r2", cv=2)
    assert found.best_params_ == {"alpha": 1e-3}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": np.where(np.arange(150) == 3, np.nan, Y)}, "1 are missing"),
        ({"metric": "beauty"}, "metric must be one of error, accuracy"),
        ({"grid": {"wings": [1]}}, "no parameter 'wings'"),
    ],
)
def test_what_it_cannot_search_is_refused(change, said):
    arguments = {"grid": GRID, "y": Y, "metric": "error", **change}
    with pytest.raises(ValueError, match=said):
        search_by_halving(SVC(), arguments["grid"], X, arguments["y"], metric=arguments["metric"])
