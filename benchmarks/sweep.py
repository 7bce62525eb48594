"""Parameter sweeps: what they cost beside a plain loop, what two workers gain, what shared work spares.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/sweep.py [--data-dir DIR]
        [--only overhead workers spect reuse]

Times are wall times ("reuse": processor times), compared within one run; "spect" needs --data-dir and two processors
that have nothing else to do.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import protocols as p
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from supdr import MAC, NSDR, SDRGLM, SNF
from supdr.datasets import make_curved_sheet, make_wide_factors
from supdr.sensitivity import Sweep, logarithmic
from supdr.sensitivity.fitting import CACHE

CELL_SECONDS = 0.05
FOLDS = 3


class Busy(ClassifierMixin, BaseEstimator):
    """Computes for `seconds` of processor time; knows nothing."""

    def __init__(self, seconds: float = CELL_SECONDS, number: int = 0) -> None:
        self.seconds = seconds
        self.number = number

    def fit(self, X: Any, y: Any) -> Busy:
        """Compute."""
        self.classes_ = np.unique(y)
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            np.sin(X).sum()
        return self

    def predict(self, X: Any) -> Any:
        """Return the first class."""
        return np.full(len(X), self.classes_[0])


def timed(sweep: Sweep, X: np.ndarray, y: np.ndarray, executor: Any, workers: int | None = None) -> float:
    """Return the wall seconds of a whole run."""
    began = time.perf_counter()
    cells = list(sweep.run(X, y, executor, workers=workers))
    seconds = time.perf_counter() - began
    assert len(cells) == len(sweep.cells)
    return seconds


def plain_loop(model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray) -> float:
    """Return the wall seconds of the loops that a sweep replaces."""
    [(name, values)] = grid.items()
    began = time.perf_counter()
    for value in values:
        for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
            fitted = clone(model).set_params(**{name: value}).fit(X[train], y[train])
            np.mean(fitted.predict(X[test]) != y[test])
    return time.perf_counter() - began


def overhead(settings: argparse.Namespace) -> bool:
    """Compare a sweep in this process, with its store on disk, with a plain loop; 50 ms a fit."""
    X, y = load_digits(return_X_y=True)
    grid = {"number": list(range(30))}
    ratios = []
    for _ in range(3):
        store = settings.folder / f"overhead-{time.time_ns()}.sqlite"
        plain = plain_loop(Busy(), grid, X, y)
        ratios.append(timed(Sweep(Busy(), grid, cv=2, store=store), X, y, "in-process") / plain)
    return p.print_verdict("sweep / plain loop at 50 ms a fit", float(np.median(ratios)), 1.05)


def workers(settings: argparse.Namespace) -> bool:
    """Two of loky's workers against one, 50 ms a fit, workers already there."""
    X, y = load_digits(return_X_y=True)
    sweep = Sweep(Busy(), {"number": list(range(60))}, cv=2)
    seconds = {}
    for count in (1, 2):
        timed(Sweep(Busy(0.5), {"number": [0, 1]}, cv=2), X, y, "loky", count)  # start them
        seconds[count] = min(timed(sweep, X, y, "loky", count) for _ in range(2))
    return p.print_verdict("two workers against one", seconds[1] / seconds[2], 1.8, at_least=True)


def spect(settings: argparse.Namespace) -> bool:
    """20 x 20 cells x 5 folds of NSDR on SPECT, reg_u against reg_v, two workers."""
    if settings.data_dir is None:
        print("spect: needs --data-dir")
        return True
    X, y = p.load("spect", settings.data_dir)
    model = NSDR(11, beta=0.9, C=0.1, kernel="poly", degree=2, max_iter=15, calibrate=False, **p.PAPER_SETTING)
    model.set_params(preprocessing="minmax")
    grid = {"reg_u": logarithmic(1e-6, 10, 20), "reg_v": logarithmic(1e-6, 10, 20)}
    timed(Sweep(model, {"reg_u": [0.1, 1.0]}, transductive=True), X, y, "loky", 2)
    sweep = Sweep(model, grid, transductive=True, store=settings.folder / "spect.sqlite")
    began = time.perf_counter()
    moments = [time.perf_counter() - began for _ in sweep.run(X, y, "loky", workers=2)]
    met = p.print_verdict("20 x 20 cells x 5 folds of NSDR on SPECT, s", moments[-1], 60.0)
    return met & p.print_verdict("first cell after, s", moments[0], 2.0)


def reuse(settings: argparse.Namespace) -> bool:
    """Shared work against independent fits, in this process: speed, and the largest difference of any score."""
    digits, classes = load_digits(return_X_y=True)
    wide = make_wide_factors(50, 38_573, random_state=0)
    sheet = make_curved_sheet(random_state=2)
    free = SNF(preprocessing="none", target_weight=0.0)
    cases: dict[str, tuple[Any, dict[str, Any], np.ndarray, np.ndarray, list[str]]] = {
        "lambda of wide SDR-GLM": (
            SDRGLM(),
            {"recon_weight": logarithmic(1e-6, 1, 10)},
            wide.X,
            wide.y,
            ["error", "objective", "label"],
        ),
        "C of MAC": (
            MAC(),
            {"C": logarithmic(0.01, 100, 20)},
            digits[:900],
            classes[:900],
            ["error", "objective", "label"],
        ),
        "reg_w of SNF without labels": (free, {"reg_w": logarithmic(1e-3, 10, 10)}, sheet.X, sheet.truth, ["mse"]),
    }
    met = True
    for name, (model, grid, X, y, metrics) in cases.items():
        plan = {shared: Sweep(model, grid, cv=FOLDS, scoring=metrics, shortcuts=shared) for shared in (True, False)}
        for sweep in plan.values():
            list(sweep.run(X, y, "in-process"))  # compiled
        ratios, results = [], {}
        for _ in range(2):
            CACHE.clear()  # nothing is left of an earlier run
            seconds = {}
            for shared, sweep in plan.items():
                began = time.process_time()
                results[shared] = sweep.result(sweep.run(X, y, "in-process"))
                seconds[shared] = time.process_time() - began
            ratios.append(seconds[False] / seconds[True])
        differences = [np.abs(results[True].means(m) - results[False].means(m)).max() for m in metrics]
        scale = [max(1.0, float(np.abs(results[False].means(m)).max())) for m in metrics]
        met &= p.print_verdict(f"{name}: independent / shared", float(np.median(ratios)), 3.0, at_least=True)
        met &= p.print_verdict(
            f"{name}: largest relative difference", float(np.max(np.divide(differences, scale))), 1e-8
        )
    return met


PARTS = {part.__name__: part for part in (overhead, workers, spect, reuse)}


def main() -> int:
    """Run the parts asked for; the status is the number of missed targets."""
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="folder of the benchmark sets, for `spect`")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings.folder = Path(folder)
        return sum(not PARTS[name](settings) for name in settings.only)


if __name__ == "__main__":
    sys.exit(main())
