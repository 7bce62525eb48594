"""Data, folds and settings of the accuracy protocols, and the table that compares measured figures with targets."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from supdr_viz.papers.data import filled, load_table
from supdr_viz.papers.nsdr import FIVE_SETS, PAPER_SETTING, TABLE_1_LSDR, TABLE_1_NSDR

__all__ = ["FIVE_SETS", "PAPER_SETTING", "TABLE_1_LSDR", "TABLE_1_NSDR"]

VIEW_SETS = ("ionosphere", "sonar", "breast_cancer_w", "pi_diabetes", "spect", "wine", "iris", "digits")
"""Sets on which the two-dimensional view is judged; the mean is over the first six."""

_BUNDLED = {"wine": datasets.load_wine, "iris": datasets.load_iris, "digits": datasets.load_digits}


def load(name: str, data_dir: Path, *, fill: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set; missing cells become column means unless ``fill=False``."""
    if name in _BUNDLED:
        return _BUNDLED[name](return_X_y=True)
    X, y = load_table(name, data_dir)
    return filled(X) if fill else X, y.astype(int)


def folds(y: np.ndarray, n_splits: int = 5, seeds: Iterable[int] = (0,)) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (train, test) of stratified, shuffled folds, for every seed."""
    for seed in seeds:
        yield from StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)


def hidden(y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return y as floats with NaN in the test rows: they stay in X, unlabelled."""
    y = y.astype(float)
    y[test] = np.nan
    return y


def transductive_errors(
    estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> dict[str, float]:
    """Fit on all rows, the test rows unlabelled; errors on the latter of the fitted and the calibrated head."""
    estimator.fit(X, hidden(y, test))
    scores = {
        "own": estimator.transduction_[test],
        "calibrated": estimator.set_params(calibrate=True).predict(X[test]),
    }
    return {head: float(np.mean(predicted != y[test])) for head, predicted in scores.items()}


def view_errors(estimator: Any, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Fit on the training rows; test errors of 5-NN on `transform`, of the fitted and of the calibrated head."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=2 is fewer", UserWarning)  # that is what is measured
        estimator.fit(X[train], y[train])
    seen, new = estimator.transform(X[train]), estimator.transform(X[test])
    predicted = {
        "5-NN": KNeighborsClassifier(5).fit(seen, y[train]).predict(new),
        "own": estimator.set_params(calibrate=False).predict(X[test]),
        "calibrated": estimator.set_params(calibrate=True).predict(X[test]),
    }
    return {head: float(np.mean(labels != y[test])) for head, labels in predicted.items()}


def mean_errors(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """Average dictionaries of errors key by key."""
    rows = list(rows)
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def print_table(title: str, columns: tuple[str, ...], rows: dict[str, dict[str, float]]) -> None:
    """Print one line per set."""
    print(f"\n{title}")
    print(f"{'':18}" + "".join(f"{column:>14}" for column in columns))
    for name, row in rows.items():
        print(f"{name:18}" + "".join(f"{row[column]:14.3f}" for column in columns), flush=True)


def print_verdict(what: str, measured: float, target: float, *, at_least: bool = False) -> bool:
    """Print a measured figure beside its target and return whether the target is met."""
    met = measured >= target if at_least else measured <= target
    print(f"{'met   ' if met else 'MISSED'}  {what}: {measured:.4g} (target {'>=' if at_least else '<='} {target:g})")
    return met


def parse_arguments(description: str) -> argparse.Namespace:
    """Return the command line: where the sets are, and which protocols to run."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="folder of the benchmark sets")
    parser.add_argument("--only", nargs="*", metavar="PROTOCOL", help="run these protocols only")
    return parser.parse_args()


def run_protocols(description: str, protocols: dict[str, Any]) -> int:
    """Run the chosen protocols, one BLAS thread each; the exit status is the number of missed targets."""
    arguments = parse_arguments(description)
    chosen = arguments.only or list(protocols)
    unknown = sorted(set(chosen) - set(protocols))
    if unknown:
        raise SystemExit(f"unknown protocol {unknown[0]}; there are {', '.join(protocols)}")
    with threadpool_limits(1):
        return sum(not protocols[name](arguments.data_dir) for name in chosen)
