"""Figs. 1 to 4 of the NSDR paper."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from supdr import LSDR, NSDR
from supdr.datasets import make_noisy_plane
from supdr.sensitivity import Result
from supdr_viz.papers.bench import Bench, Row, at_least, at_most, everything
from supdr_viz.papers.data import load_table
from supdr_viz.papers.nsdr_search import RIDGES

# What the runs with Table 1's parameters have in common.
PAPER_SETTING: dict[str, Any] = {"row_bias": True, "init": "random", "init_scale": 0.1, "preprocessing": "zscore"}

# Of the figures on drawn points: these are not rescaled.
DRAWN: dict[str, Any] = {**PAPER_SETTING, "preprocessing": "none", "calibrate": False}

# The captions' one learning rate.
LOOP: dict[str, Any] = {"solver": "sgd", "lr_reconstruction": 1e-3, "lr_classification": 1e-3}

RING: dict[str, Any] = {**DRAWN, "beta": 0.7, "reg_u": 0.01, "reg_v": 0.01}
# Settings of Fig. 2.
RING_MACHINE: dict[str, Any] = {"kernel": "poly", "degree": 3, "C": 0.5}


def separable(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Whether a line separates the latent rows."""
    Z = fitted.embedding_
    return float(SVC(C=1e6, kernel="linear").fit(Z, y).score(Z, y) == 1.0)


def own_error(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Error of the fitted head on the training rows."""
    return float(np.mean(fitted.transduction_ != y))


def rmse(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Root of the mean squared error of the reconstruction, which enters the loss with weight beta."""
    return float(np.sqrt(max(fitted.history_["reconstruction"][-1], 0.0) / (fitted.beta * X.size)))


def rises(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Share of the steps after which the objective is higher than before."""
    values = fitted.history_["objective"]
    return float(np.mean(values[1:] > values[:-1]))


def over_draws(
    bench: Bench, kind: str, n_rows: int, n_draws: int, model: Any, grid: dict[str, list[Any]], scoring: dict[str, Any]
) -> dict[str, NDArray]:
    """Return every metric of a model on draws of points, (draws, cells); it is fitted to and judged on all rows."""
    values: dict[str, list[list[float]]] = {name: [] for name in scoring}
    for seed in range(n_draws):
        X, y = make_noisy_plane(kind, n_rows, noise=0.0, random_state=seed).to_xy()
        result = bench.sweep(model, X, y, grid, cv=everything(X), scoring=scoring, seeds=(seed,))
        for name, draws in values.items():
            draws.append([result.cells[number].mean(name) for number in range(len(result.cells))])
    return {name: np.array(draws) for name, draws in values.items()}


def figure_1(bench: Bench) -> list[Row]:
    """Ten points in two bands: separable with labels, not without."""
    short, long = bench.either((100, 2000), (300, 3000))
    ridges: dict[str, Any] = {"reg_u": 1e-4, "reg_v": 1e-4, "reg_w": 1e-4}
    draws: tuple[str, int, int] = ("linear", 10, bench.either(3, 20))
    metric = {"separable": separable}
    loop = LSDR(**DRAWN, **LOOP, **ridges)
    grid = {"beta": [0.4, 1.0], "max_iter": [short, long]}
    values = over_draws(bench, *draws, loop, grid, metric)["separable"]
    descent = LSDR(beta=0.4, max_iter=300, **DRAWN, **ridges)
    descended = over_draws(bench, *draws, descent, {"beta": [0.4]}, metric)["separable"]
    return [
        at_least("share of draws that LSDR separates", values[:, 1], 1.0),
        at_least("the same minus the share of plain factorisation", values[:, 1] - values[:, 3], 0.0),
        at_most("share of draws that plain factorisation separates", values[:, 3], 0.5),
        at_least(f"share of draws that LSDR separates after {short} epochs", values[:, 0], 1.0, about="question"),
        at_least("share of draws that LSDR separates by block descent", descended[:, 0], 1.0, about="question"),
    ]


def figure_2(bench: Bench) -> list[Row]:
    """Separate a disc from its ring: after 300 epochs of the loop, after more, and at the end of block descent."""
    short, long = bench.either((30, 100), (300, 3000))
    linear, kernel = {**RING, "reg_w": 2.0}, {**RING, **RING_MACHINE}
    draws: tuple[str, int, int] = ("disc", 40, bench.either(2, 10))
    metrics = {"error": own_error, "rmse": rmse}
    lsdr = over_draws(bench, *draws, LSDR(**linear, **LOOP), {"max_iter": [short]}, metrics)["error"]
    nsdr = over_draws(bench, *draws, NSDR(**kernel, **LOOP), {"max_iter": [short, long]}, metrics)["error"]
    lsdr_end = over_draws(bench, *draws, LSDR(**linear), {"max_iter": [300]}, metrics)
    nsdr_end = over_draws(bench, *draws, NSDR(**kernel), {"max_iter": [60]}, metrics)
    ratio = lsdr_end["rmse"][:, 0] / nsdr_end["rmse"][:, 0]
    return [
        at_least(f"training error of LSDR, {short} epochs", lsdr[:, 0], 0.25),
        at_most(f"training error of NSDR, {short} epochs", nsdr[:, 0], 0.0),
        at_least("training error of LSDR minus that of NSDR", lsdr[:, 0] - nsdr[:, 0], 0.0),
        at_most(f"training error of NSDR, {long} epochs", nsdr[:, 1], 0.05, about="question"),
        at_most("training error of LSDR, block descent", lsdr_end["error"][:, 0], 0.05, about="question"),
        at_most("training error of NSDR, block descent", nsdr_end["error"][:, 0], 0.05, about="question"),
        at_least("reconstruction error (RMSE) of LSDR / NSDR, block descent", ratio, 1.0, about="question"),
    ]


def figure_3(bench: Bench) -> list[Row]:
    """Both losses, and the errors on training and test rows, fall together on ionosphere."""
    X, y = load_table("ionosphere", bench.data_dir)
    model = NSDR(
        25,
        beta=0.7,
        kernel="poly",
        degree=1,
        C=1.0,
        reg_u=1e-5,
        reg_v=1e-5,
        solver="sgd",
        calibrate=False,
        random_state=0,
        **{**PAPER_SETTING, "preprocessing": "minmax"},
    )
    first, last = _errors_and_losses(bench, model, X, y.astype(int), (1, bench.either(20, 300)))
    rows = [
        at_most(f"{term} loss, last / first epoch", last[term] / first[term], bound)
        for term, bound in (("reconstruction", 0.5), ("label", 0.9))
    ]
    return rows + [
        at_most(f"error on {part} rows, last minus first epoch", last[part] - first[part], 0.0)
        for part in ("training", "test")
    ]


def _errors_and_losses(
    bench: Bench, model: Any, X: NDArray, y: NDArray, counts: tuple[int, ...]
) -> list[dict[str, NDArray]]:
    """Return losses and errors after so many epochs, for every fold; the test rows take part without labels."""
    pairs = []
    folds = list(StratifiedKFold(bench.either(2, 5), shuffle=True, random_state=0).split(X, y))
    began = time.perf_counter()
    for count in counts:
        values: dict[str, list[float]] = {name: [] for name in ("reconstruction", "label", "training", "test")}
        for train, test in folds:
            hidden = y.astype(float)
            hidden[test] = np.nan
            fitted = clone(model).set_params(max_iter=count).fit(X, hidden)
            for term in ("reconstruction", "label"):
                values[term].append(float(fitted.history_[term][-1]))
            for part, rows in (("training", train), ("test", test)):
                values[part].append(float(np.mean(fitted.transduction_[rows] != y[rows])))
        pairs.append({name: np.array(each) for name, each in values.items()})
    bench.seconds += time.perf_counter() - began
    return pairs


def figure_4(bench: Bench) -> list[Row]:
    """SPECT: C and the degree move the error more than the two ridges do."""
    X, y = load_table("spect", bench.data_dir)
    setting = {**PAPER_SETTING, "preprocessing": "minmax"}
    model = NSDR(11, beta=0.9, C=0.1, degree=2, kernel="poly", max_iter=15, calibrate=False, **setting)
    ridges = bench.either([1e-6, 1e-2, 10.0], RIDGES)
    seeds = range(bench.either(2, 4))
    protocol: dict[str, Any] = {"cv": bench.either(2, 5), "transductive": True, "seeds": seeds}
    grids = ({"reg_u": ridges, "reg_v": ridges}, {"C": [0.01, 0.1, 1.0, 10.0, 100.0], "degree": [1, 2, 3, 4]})
    results = [bench.sweep(model, X, y.astype(int), grid, **protocol) for grid in grids]
    of_ridges, of_kernel = (_by_seed(result, len(seeds)).std(axis=0) for result in results)
    strong = _by_seed(bench.sweep(model, X, y.astype(int), {"reg_u": [10.0]}, **protocol), len(seeds))[0]
    majority = float(min(np.mean(y == 0), np.mean(y == 1)))
    return [
        at_least(
            "deviation of the error over C × degree / over λU × λV",
            of_kernel / of_ridges,
            1.0,
            note="Deviation over the cells of a grid, of errors that are means over the folds; one ratio a partition.",
        ),
        at_most(
            "error at λU = 10 minus that of the majority class, absolute",
            abs(strong - majority),
            0.01,
            about="question",
        ),
    ]


def _by_seed(result: Result, n_seeds: int) -> NDArray:
    """Return the mean error over the folds, (cells, seeds)."""
    cells = [result.cells[number].values("error") for number in range(len(result.cells))]
    return np.array(cells).reshape(len(cells), n_seeds, -1).mean(axis=2)
