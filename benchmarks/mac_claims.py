"""What docs/mac.md says of MAC's optimum, schedule, errata, of digits and of calibration; run by `mac.py`."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from defaults import load
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from supdr import MAC
from supdr.datasets import make_spirals
from supdr.methods.mac.target_step import move_points
from supdr_viz.papers.data import load_table

PLAIN = {"reg_w": 1e-3, "early_stopping": False}
"""All passes, and the ridge that the tables were made with."""

SCHEDULES = (1, 5, 10, 50)
"""Passes at most before mu grows."""

OPTIMUM_CASES = ((1e-3, 20), (1e-3, 60), (1e-3, 200), (0.1, 60), (0.1, 200))


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def optimum() -> None:
    """E over the certificate, in per cent, and seconds; spirals as in the method's tables."""
    X, y = make_spirals(2, 1000, random_state=0).to_xy()
    for reg_w, M in OPTIMUM_CASES:
        for solver, max_iter in (("fixed_point", 20), ("lbfgs", 80), ("mac", 60)):
            _gap(X, y, 2, reg_w, M, 0.15, solver, max_iter, 1e-7)
        _gap(X, y, 2, reg_w, M, 0.15, "mac", 60, 1e-7, max_inner=50)
    for n_classes in (3, 4):
        X, y = make_spirals(n_classes, 200, turns=1.0, random_state=0).to_xy()
        for reg_w, M in ((0.1, 60), (1e-3, 60), (0.1, 200), (1e-3, 200)):
            _gap(X, y, n_classes, reg_w, M, 0.12, "lbfgs", 400, 1e-9)


def _gap(
    X: np.ndarray,
    y: np.ndarray,
    L: int,
    reg_w: float,
    M: int,
    width: float,
    solver: str,
    max_iter: int,
    tol: float,
    max_inner: int = 1,
) -> None:
    model = MAC(
        L,
        n_centers=M,
        centers="random",
        gamma=0.5 / width**2,
        reg_w=reg_w,
        early_stopping=False,
        solver=solver,
        max_iter=max_iter,
        max_inner=max_inner,
        tol=tol,
        preprocessing="none",
        random_state=0,
    )
    elapsed = seconds(lambda: model.fit(X, y))
    value, bound = model.history_["objective"].min(), model.history_["bound"][-1]
    print(
        f"K={L} reg_w={reg_w:g} M={M} {solver}, max_inner {max_inner}: E {value:.4f}, certificate {bound:.4f}, "
        f"{100 * (value / bound - 1):.2f} % above, {model.n_iter_} steps, {elapsed:.2f} s"
    )


def schedule(data_dir: Path | None = None) -> None:
    """E over the lowest E, test error in per cent, passes and time over that of `max_inner` = 1: five sets, 3 folds."""
    digits = load_digits(return_X_y=True)
    sets = {"digits": (digits[0][::2], digits[1][::2]), "breast_cancer": load_breast_cancer(return_X_y=True)}
    sets |= {"spirals": make_spirals(3, 200, turns=1.0, noise=0.04, random_state=0).to_xy()}
    sets |= {name: load_table(name, data_dir) for name in ("ionosphere", "sonar")}
    for name, (X, y) in sets.items():
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
        tables = np.mean([_schedules(X, y, train, test) for train, test in folds], axis=0)
        for how, table in zip(SCHEDULE_RUNS, tables, strict=True):
            for max_inner, (ratio, error, steps, time_) in zip(SCHEDULES, table, strict=True):
                print(
                    f"{name}, {how}, max_inner {max_inner}: E / lowest {ratio:.2f}, error {error:.1f}, "
                    f"passes {steps:.1f}, time {time_ / table[0, 3]:.2f}",
                    flush=True,
                )


SCHEDULE_RUNS: dict[str, dict] = {
    "as long as it helps": {},
    "100 passes": {"early_stopping": False, "max_iter": 100},
}
"""How long the passes go on."""


def _schedules(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[list[list[float]]]:
    """Return E over the lowest E, error in per cent, passes and CPU seconds of every run and schedule, on one fold."""
    first = _unbounded(X[train], y[train])
    fixed = {"gamma": first.gamma_, "reg_w": first.reg_w_, "preprocessing": first.scaling_}
    lowest = _unbounded(X[train], y[train], **fixed, solver="lbfgs", max_iter=150).snapshot_.objective
    runs = []
    for more in SCHEDULE_RUNS.values():
        for max_inner in SCHEDULES:
            begun = time.process_time()
            model = _unbounded(X[train], y[train], **fixed, **more, max_inner=max_inner)
            elapsed = time.process_time() - begun
            error = 100 * (1 - model.score(X[test], y[test]))
            runs.append([model.snapshot_.objective / lowest, error, model.n_iter_, elapsed])
    return np.reshape(runs, (len(SCHEDULE_RUNS), len(SCHEDULES), 4)).tolist()


def _unbounded(X: np.ndarray, y: np.ndarray, **settings: object) -> MAC:
    """Return a fitted MAC; no search for the bound is timed."""
    model = MAC(random_state=0, **settings)
    model._bounded = False
    return model.fit(X, y)


def errata() -> None:
    """Repeat the page's figures on the weight of a hinge, on more than K - 1 dimensions, random starts, the simplex."""
    rng = np.random.default_rng(0)
    C, mu, coef, images = 3.0, 5.0, rng.standard_normal((1, 2)), rng.standard_normal((300, 2))
    signs = np.where(rng.random((300, 1)) < 0.5, -1.0, 1.0)
    for name, cost in {"2 C / mu": 2 * C / mu, "4 C / mu": 4 * C / mu, "C / mu": C / mu, "C": C}.items():
        z, _ = move_points(images, coef, np.zeros(1), signs, np.full(300, cost))
        value = C * np.maximum(1.0 - signs * (z @ coef.T), 0.0).sum() + 0.5 * mu * ((z - images) ** 2).sum()
        print(f"Q after the step with c = {name}: {value:.1f}")
    for n_classes in (3, 4):
        X, y = make_spirals(n_classes, 200, turns=1.0, random_state=0).to_xy()
        for L in (n_classes - 1, n_classes):
            _gap(X, y, L, 0.1, 60, 0.12, "lbfgs", 400, 1e-9)
    X, y = make_spirals(3, 60, turns=1.0, random_state=0).to_xy()
    plain = {"gamma": 0.5 / 0.12**2, "centers": "random", "n_centers": 60, **PLAIN, "preprocessing": "none"}
    for scheme in ("ova", "ovo"):
        runs = [MAC(3, scheme=scheme, init="random", random_state=seed, **plain) for seed in range(48)]
        for run in runs:
            run._bounded = False
        errors = np.array([1.0 - np.mean(run.fit(X, y).transduction_ == y) for run in runs])
        low, high = (errors <= 0.05).sum(), (errors >= 0.45).sum()
        print(f"{scheme}, random start, 48 runs: training error at most .05 in {low}, at least .45 in {high}")
    for n_classes in (3, 4, 6):
        X, y = make_spirals(n_classes, 100, turns=1.0, random_state=0).to_xy()
        ratio = MAC(random_state=0, **plain | {"centers": "all"}).fit(X, y).simplex_["edge_ratio"]
        print(f"{n_classes} spirals, simplex start: shortest over longest edge {ratio:.3f}")


def digits() -> None:
    """Test error in per cent on scikit-learn's digits, ten classes and odd or even: five splits, 400 random centres."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    shared = {"n_centers": 400, "centers": "random", "gamma": 0.5 / 1.2**2, **PLAIN, "calibrate": False}
    settings = {"simplex start": {}, "random blobs": {"init": "blobs"}, "linear map": {"mapping": "linear"}}
    for task, labels in {"ten classes": y, "odd or even": y % 2}.items():
        errors: dict[str, list[float]] = {}
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(X))
            train, test = order[:900], order[1197:]
            fits = {"Gaussian SVM": SVC(C=10.0, gamma=0.5 / 1.2**2).fit(X[train], labels[train])}
            for name, more in settings.items():
                model = MAC(preprocessing="none", random_state=seed, **shared, **more)
                model._bounded = False
                first = next(iter(model.iterate(X[train], labels[train])))
                fits |= {f"{name}, first iterate": model.at(first), name: model.fit(X[train], labels[train])}
            for name, fitted in fits.items():
                errors.setdefault(name, []).append(100 * np.mean(fitted.predict(X[test]) != labels[test]))
        for name, values in errors.items():
            print(f"{task}, {name}: {np.mean(values):.2f} +- {np.std(values, ddof=1):.2f}")


def scales() -> tuple[np.ndarray, np.ndarray]:
    """Return all weights and distances, 1 to 5, on the two arms of a scale, and the side that it tips to."""
    X = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=float)
    return X, np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]) + 1.0


def calibration() -> None:
    """Errors in per cent by E's classifiers and by the calibrated head; its log loss beside scikit-learn's; 5 folds."""
    sets = {"scales": scales()}
    sets |= {load.__name__[5:]: load(return_X_y=True) for load in (load_iris, load_wine, load_breast_cancer)}
    for name, (X, y) in sets.items():
        rows = []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            passes, own = (MAC(calibrate=each, random_state=0).fit(X[train], y[train]) for each in (False, True))
            peer = CalibratedClassifierCV(MAC(calibrate=False, random_state=0), cv=3).fit(X[train], y[train])
            errors = [100 * (1 - each.score(X[test], y[test])) for each in (passes, own)]
            losses = [log_loss(y[test], each.predict_proba(X[test])) for each in (own, peer)]
            rows.append([*errors, *losses])
        figures = np.mean(rows, axis=0)
        print("{}: errors {:.1f}, {:.1f}; log loss {:.3f}, scikit-learn's {:.3f}".format(name, *figures), flush=True)


MAPPINGS: dict[str, dict] = {
    "rbf": {"calibrate": False},
    "linear": {"mapping": "linear", "calibrate": False},
    "perceptron": {"mapping": "perceptron"},
    "random forest": {"mapping": RandomForestRegressor(50, max_features="sqrt"), "max_iter": 5},
    "Gaussian process": {
        "mapping": GaussianProcessRegressor(RBF(5.0) + WhiteKernel(0.1), optimizer=None),
        "max_iter": 5,
    },
}
"""Few passes for regressors that are fitted anew in each."""


def mappings(data_dir: Path | None) -> None:
    """Errors in per cent by E's classifiers on five folds, mean +- standard deviation, and CPU seconds of a fit."""
    names = ["breast_cancer", "wine", "digits", *(("ionosphere", "sonar") if data_dir else ())]
    for name in names:
        X, y = load(name, data_dir or Path())
        for mapping, settings in MAPPINGS.items():
            errors, begun = [], time.process_time()
            for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                model = MAC(random_state=0, **settings)
                model._bounded = False
                errors.append(100 * (1 - model.fit(X[train], y[train]).score(X[test], y[test])))
            elapsed = (time.process_time() - begun) / 5
            print(f"{name}, {mapping}: {np.mean(errors):.1f} +- {np.std(errors, ddof=1):.1f}; {elapsed:.1f} s")
