"""Is a ClassAtlas of soft bins worth having for numbers as targets?  Measured beside other maps of such rows.

python benchmarks/atlas_of_values.py --data-dir DIR [--sets mpg autoprice] [--splits 5] [--bins 8]

The targets are cut at their quantiles, a bin is a class.  *bins*: the gate of ClassAtlas, which knows no order among
bins.  *soft bins*: the gate is the probability of each bin under a regression and the law of its residuals, in which
neighbouring bins share doubt; also with separation .5.  MAC classifies the bins from two latent dimensions, SNF learns
a regression and its two latent dimensions together.  *error*: root mean squared error of the mean of five nearest
training rows on the map, divided by the standard deviation of the targets; for the regression itself: of its
prediction.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import umap
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

import supdr
from supdr.quality import map_quality
from supdr_viz.papers.data import load_table

SETS = (
    *("diabetes", "bodyfat", "boston_housing", "autoprice", "baseball", "machine_cpu", "mpg", "triazines"),
    *("pyrimidines", "wisconsin_breast_cancer", "forestfires", "bears"),
)
GRID = {"regressor__alpha": np.logspace(-4, 1, 6), "regressor__gamma": np.logspace(-3, 0, 7)}


def regression() -> Any:
    """Return kernel ridge regression with ridge and width by five folds."""
    model = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())
    return GridSearchCV(model, GRID, cv=5)


class SoftBins(ClassifierMixin, BaseEstimator):
    """Probabilities of bins by a regression on the bins' means, and the normal law of its left-out residuals.

    Parameters
    ----------
    edges : array of shape (K - 1,)
        Between bins.
    means : array of shape (K,)
        Of the targets in each bin.
    """

    def __init__(self, edges: Any = None, means: Any = None) -> None:
        self.edges = edges
        self.means = means

    def fit(self, X: np.ndarray, y: np.ndarray) -> SoftBins:
        """Fit the regression to bins `y` (n,)."""
        self.classes_ = np.unique(y)
        values = np.asarray(self.means)[y.astype(int)]
        self._search = regression().fit(X, values)
        left_out = cross_val_predict(self._search.best_estimator_, X, values, cv=5)
        self._deviation = max(float(np.sqrt(((left_out - values) ** 2).mean())), 1e-9)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities (n, K) of the bins."""
        below = norm.cdf((np.asarray(self.edges) - self._search.predict(X)[:, None]) / self._deviation)
        proba = np.diff(np.hstack([np.zeros((len(X), 1)), below, np.ones((len(X), 1))]), axis=1)[:, self.classes_]
        return (proba + 1e-9) / (proba + 1e-9).sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable bin (n,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def load(name: str, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the complete rows of a set, and their numbers."""
    X, y = load_diabetes(return_X_y=True) if name == "diabetes" else load_table(name, data_dir, "regression")
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    whole = np.isfinite(X).all(axis=1)
    return X[whole], y[whole]


def measure(name: str, split: int, bins: int, data_dir: Path) -> dict[str, tuple[float, ...]]:
    """Return error, trust and continuity of each map on a third of the rows."""
    X, y = load(name, data_dir)
    train, test = next(ShuffleSplit(1, test_size=1 / 3, random_state=split).split(X))
    scaler = StandardScaler().fit(X[train])
    rows, new = scaler.transform(X[train]), scaler.transform(X[test])
    edges = np.unique(np.quantile(y[train], np.linspace(0, 1, bins + 1)[1:-1]))
    codes = np.searchsorted(edges, y[train], side="right")
    used, codes = np.unique(codes, return_inverse=True)
    edges = edges[used[1:] - 1]
    means = np.array([y[train][codes == k].mean() for k in range(len(used))])
    soft = SoftBins(edges, means)
    by_gate = functools.partial(supdr.ClassAtlas, preprocessing="none", gate=soft, random_state=0)
    maps: dict[str, Any] = {
        "bins": supdr.ClassAtlas(preprocessing="none", random_state=0).fit(rows, codes),
        "soft bins": by_gate().fit(rows, codes),
        "soft bins, separation .5": by_gate(separation=0.5).fit(rows, codes),
        "UMAP, supervised": umap.UMAP(target_metric="l2", random_state=0, n_jobs=1).fit(rows, y[train]),
        "UMAP": umap.UMAP(random_state=0, n_jobs=1).fit(rows),
        "SNF": supdr.SNF(2, random_state=0).fit(rows, y[train]),
        "MAC of bins": supdr.MAC(2, random_state=0).fit(rows, codes),
    }
    unit, measures = y.std(), {}
    for kind, model in maps.items():
        own, Z = model.embedding_, model.transform(new)
        guess = KNeighborsRegressor(5).fit(own, y[train]).predict(Z)
        kept = map_quality(new, Z, n_neighbors=min(10, len(new) // 3))
        error = float(np.sqrt(((guess - y[test]) ** 2).mean())) / unit
        measures[kind] = (error, float(kept.trustworthiness), float(kept.continuity))
    guess = regression().fit(rows, y[train]).predict(new)
    measures["the regression"] = (float(np.sqrt(((guess - y[test]) ** 2).mean())) / unit,)
    return measures


def main() -> None:
    """Measure and print one line for each set: error / trust / continuity of every map, mean of the splits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="folder of the benchmark sets")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--bins", type=int, default=8)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.sets:
        splits = [measure(name, split, asked.bins, asked.data_dir) for split in range(asked.splits)]
        cells = []
        for kind in splits[0]:
            values = np.mean([each[kind] for each in splits], axis=0)
            cells.append(f"{kind} " + " / ".join(f"{value:.3f}" for value in values))
        print(f"{name:15} " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
