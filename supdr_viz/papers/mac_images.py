"""MAC on images of digits: figures 5 and 6 of Wang and Carreira-Perpiñán."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from supdr import MAC
from supdr.baselines import TwoStep
from supdr.baselines.klda import KernelDiscriminants
from supdr.methods.mac.mapping import choose_centers
from supdr.methods.mac.target_step import move_points
from supdr.solvers.linear_svm import solve_heads
from supdr_viz.papers.bench import Bench, Row, at_least, at_most, everything
from supdr_viz.papers.data import load_mnist
from supdr_viz.papers.mac_protocol import PASSES, by_validation

# The paper's width on grey values in [0, 1]: sigma = 4.
GAMMA = 0.5 / 4.0**2

# Part of the paper's grid of C.
SOME_COSTS = (0.1, 1.0, 10.0, 100.0)


def digits(bench: Bench, count: int, test: int = 10_000, seed: int = 0) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return `count` random images to train, the first `test` ones to test, grey values in [0, 1], and their classes.

    `seed`: of the choice.
    """
    X, y, X_test, y_test = load_mnist(bench.data_dir)
    rows = np.random.default_rng(seed).permutation(len(X))[:count]
    return X[rows] / 255.0, y[rows], X_test[:test] / 255.0, y_test[:test]


# --- Fig. 5: odd or even ----------------------------------------------------------------------------------------------


def fig_5(bench: Bench) -> list[Row]:
    """Odd or even: the error over the number of rows; projections learnt before the classifier against MAC."""
    rows = []
    for count in bench.either((100,), (100, 500, 2000)):
        errors = _odd_or_even(bench, count)
        ours = errors.pop("MAC")
        with_pca = np.subtract(errors.pop("PCA (40) + MAC"), errors["PCA (40) + Gaussian SVM"])
        close = np.subtract(ours, errors.pop("Gaussian SVM"))
        rows.append(at_most(f"{count:,} rows: error of MAC minus that of the Gaussian SVM", close, 0.01))
        what = f"{count:,} rows: error of PCA (40) + MAC minus that of PCA (40) + Gaussian SVM"
        rows.append(at_most(what, with_pca, 0.01))
        for name, theirs in errors.items():
            what = f"{count:,} rows: error of {name} minus MAC's"
            about = "question" if name == "PCA (40) + Gaussian SVM" else "method"
            note = f"MAC {np.mean(ours):.3f}, {name} {np.mean(theirs):.3f}."
            rows.append(at_least(what, np.subtract(theirs, ours), 0.0, about=about, note=note))
    return rows


def _odd_or_even(bench: Bench, count: int) -> dict[str, tuple[float, ...]]:
    """Return the test errors of every method, C chosen by validation."""
    draws, n_test = bench.either(1, 3), bench.either(500, 2000)
    X, y, X_test, y_test = digits(bench, draws * count + n_test, n_test)
    X, y = np.vstack([X, X_test]), np.concatenate([y, y_test]) % 2
    splits = [
        (np.arange(draw * count, (draw + 1) * count), np.arange(draws * count, draws * count + 2 * n_test))
        for draw in range(draws)
    ]
    svm = SVC(gamma=GAMMA)
    plain = SVC(gamma="scale")
    ours = {**PASSES, "gamma": GAMMA, "centers": "all", "max_iter": 15, "random_state": 0}
    kernel = {"kernel": "rbf", "gamma": GAMMA}
    models: dict[str, tuple[Any, str]] = {
        "MAC": (MAC(2, **ours), "C"),
        "Gaussian SVM": (svm, "C"),
        "linear SVM": (LinearSVC(random_state=0), "C"),
        "nearest neighbour": (KNeighborsClassifier(1), ""),
        "PCA (2) + Gaussian SVM": (make_pipeline(PCA(2, random_state=0), plain), "svc__C"),
        "LDA + Gaussian SVM": (make_pipeline(LinearDiscriminantAnalysis(), plain), "svc__C"),
        "kernel PCA (2) + Gaussian SVM": (make_pipeline(KernelPCA(2, **kernel, random_state=0), plain), "svc__C"),
        "kernel LDA + Gaussian SVM": (make_pipeline(KernelDiscriminants(1, GAMMA, 1e-3), plain), "svc__C"),
        "PCA (40) + Gaussian SVM": (make_pipeline(PCA(40, random_state=0), svm), "svc__C"),
        "PCA (40) + MAC": (make_pipeline(PCA(40, random_state=0), MAC(2, **ours)), "mac__C"),
    }
    return {
        name: by_validation(bench, model, X, y, splits, {cost: SOME_COSTS} if cost else None)
        for name, (model, cost) in models.items()
    }


# --- Fig. 6: ten digits -----------------------------------------------------------------------------------------------


def support_vectors(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the number of support vectors of all machines."""
    return float(sum(each.n_support_.sum() for each in model.estimators_))


def distinct_support_vectors(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the number of rows that are a support vector of some machine."""
    return float(len(np.unique(np.concatenate([each.support_ for each in model.estimators_]))))


def spread(model: Any, X: NDArray, y: NDArray) -> float:
    """Return the spread within the classes over the distance between them."""
    return float(model.simplex_["spread"])


def fig_6_digits(bench: Bench) -> list[Row]:
    """Ten digits: as accurate as ten Gaussian SVMs with far fewer basis functions; the error over L."""
    count, M = bench.either((600, 100), (10_000, 2_500))
    X, y, X_test, y_test = digits(bench, 2 * count, bench.either(1_000, 10_000))
    X, y = np.vstack([X, X_test]), np.concatenate([y, y_test])
    test = np.arange(2 * count, len(X))
    centers = choose_centers(X[: 2 * count], M, "kmeans", np.random.default_rng(0))
    settings = {"centers": centers, "gamma": GAMMA, "max_iter": bench.either(5, 40)}
    judged = {"early_stopping": True, "validation_fraction": 0.5, "n_iter_no_change": 4}
    model = MAC(**{**PASSES, **settings, **judged})
    over = bench.either((1, 5, 10), (1, 2, 5, 9, 10, 20))
    how: dict[str, Any] = {"cv": [(np.arange(2 * count), test)]}
    scoring = {"error": "error", "spread": spread}
    result = bench.sweep(model, X, y, {"n_components": list(over)}, scoring=scoring, **how)
    simplex = {L: _percent(result.cells[k].values("error")) for k, L in enumerate(over)}
    at_random = bench.sweep(
        model.set_params(n_components=10, init="random"), X, y, {"n_components": [5, 10]}, **how
    ).cells
    few = bench.sweep(model.set_params(init="simplex", n_centers=M // 5), X, y, {"centers": ["kmeans"]}, **how).cells[0]
    how["cv"] = [(np.arange(count), test)]
    machines = {"error": "error", "total": support_vectors, "distinct": distinct_support_vectors}
    svm = bench.sweep(OneVsRestClassifier(SVC(C=10.0, gamma=GAMMA)), X, y, scoring=machines, **how).cells[0]
    peers = {
        "a linear SVM": LinearSVC(C=0.1, random_state=0),
        "nearest neighbour": KNeighborsClassifier(1),
        "PCA (2) + Gaussian SVM": make_pipeline(PCA(2, random_state=0), SVC(C=10.0)),
        "LDA (9) + Gaussian SVM": make_pipeline(LinearDiscriminantAnalysis(), SVC(C=10.0)),
    }
    rows = [
        Row("error in %, L = 10, random start", _percent(at_random[1].values("error")), 2.99, digit=0.01),
        Row(
            "error in %, L = 10, from a simplex",
            simplex[10],
            2.99,
            digit=0.01,
            note="10,000 rows to test alone make 0.17 points of standard error.",
        ),
        Row("error in %, L = 5, random start", _percent(at_random[0].values("error")), 4.69, digit=0.01),
        Row("error in %, L = 5, from a simplex", simplex[5], 4.69, digit=0.01),
        Row("error of ten Gaussian SVMs in %", _percent(svm.values("error")), 2.93, about="rival", digit=0.01),
        Row("support vectors of the ten SVMs together", tuple(svm.values("total")), 13827, about="rival", digit=1.0),
        at_least("rows that are a support vector / basis functions", svm.values("distinct") / M, 1.0),
        at_least(
            f"basis functions trade accuracy for time: error in %, M = {M // 5} minus M = {M:,}",
            np.subtract(_percent(few.values("error")), simplex[10]),
            0.0,
        ),
        at_least("error in %, L = 1 minus L = 10", np.subtract(simplex[1], simplex[10]), 1.0),
    ]
    if not bench.quick:
        rows += [
            at_least("error in %, L = 5 minus L = 9", np.subtract(simplex[5], simplex[9]), 0.0),
            at_most("error in %, L = 20 minus L = 9", np.subtract(simplex[20], simplex[9]), 0.3),
        ]
    for name, peer in peers.items():
        less = np.subtract(_percent(bench.values(peer, X, y, **how)), simplex[10])
        rows.append(at_least(f"error in %, {name} minus MAC's", less, 0.0))
    narrow = result.cells[over.index(10)].values("spread")
    what = "spread within the classes, L = 10, less than a third of their distance"
    return [*rows, at_most(what, narrow, 1 / 3, about="question")]


def _percent(values: Any) -> tuple[float, ...]:
    return tuple(100.0 * float(value) for value in values)


# --- Fig. 6: the passes -----------------------------------------------------------------------------------------------

# The first one is the ridge of the paper's experiments on classification.
RIDGES = (1e-3, 0.1, 1.0, 10.0)


def fig_6_passes(bench: Bench) -> list[Row]:
    """Odd or even digits: MAC's passes against alternating in two steps; how near both are to the optimum."""
    X, y, _, _ = digits(bench, bench.either(150, 500), 1)
    y = y % 2
    shared: dict[str, Any] = {"centers": "all", "gamma": GAMMA, "preprocessing": "none", "init": "random"}
    shared |= {"early_stopping": False, "max_iter": bench.either(10, 100)}
    models = {
        "MAC": MAC(2, **shared, max_inner=50),
        "one pass": MAC(2, **shared),
        "two steps": TwoStep(2, **shared),
        "optimum": MAC(2, **{**shared, "init": "simplex", "max_iter": 30}, solver="fixed_point"),
    }
    lowest: dict[str, NDArray] = {}
    for name, model in models.items():
        seeds = range(bench.either(1, 1 if name == "optimum" else 5))
        how: dict[str, Any] = {"cv": everything(X), "scoring": "objective", "seeds": seeds}
        cells = bench.sweep(model, X, y, {"reg_w": RIDGES}, **how).cells
        lowest[name] = np.array([cells[k].values("objective") for k in range(len(RIDGES))])
    rows = []
    for k, reg_w in enumerate(RIDGES):
        about = "question" if k else "method"
        over = {name: values[k] / lowest["optimum"][k].min() for name, values in lowest.items()}
        note = "; ".join(
            f"{name}: {', '.join(f'{value:.3g}' for value in np.sort(over[name]))}" for name in ("MAC", "two steps")
        )
        share = over["MAC"] / over["two steps"]
        rows += [
            _median(f"λ = {reg_w:g}: E of MAC / E of two steps", share, 1.0, about, f"E over the optimum. {note}."),
            _median(f"λ = {reg_w:g}: E of MAC / optimum", over["MAC"], 1.1, about),
        ]
    grown = lowest["one pass"][1] / lowest["optimum"][1].min()
    return [*rows, _median("λ = 0.1: E of MAC / optimum, mu grows after every pass", grown, 1.1, "question")]


def _median(what: str, values: NDArray, bound: float, about: str, note: str = "") -> Row:
    """Return a claim on the median of all starts: single ones get stuck, which would rule a mean."""
    return at_most(f"{what} (median)", np.median(values), bound, about=about, note=note)


# --- Fig. 6: time -----------------------------------------------------------------------------------------------------


def _run_passes(model: MAC, X: NDArray, y: NDArray) -> None:
    """Fit a model by its passes, and leave it where they end."""
    for _ in model.iterate(X, y):
        pass


def fig_6_speed(bench: Bench) -> list[Row]:
    """Seconds of a pass against two steps, of fit and prediction against Gaussian SVMs, and of two threads."""
    count, M = bench.either((400, 100), (5_000, 1_250))
    X, y, X_test, _ = digits(bench, count, bench.either(500, 5_000))
    with threadpool_limits(limits=1):
        passes = [_pass_seconds(bench, X, y, kind) for kind in (TwoStep, MAC)]
        ours = MAC(10, **PASSES, n_centers=M, centers="random", gamma=GAMMA, max_iter=10, random_state=0)
        svm = OneVsRestClassifier(SVC(C=10.0, gamma=GAMMA))
        # The passes alone: `fit` would look for a lower bound, too.
        fits = [_seconds(work) for work in (partial(svm.fit, X, y), partial(_run_passes, ours, X, y))]
        guesses = [_seconds(partial(each.predict, X_test)) for each in (svm, ours)]
    return [
        at_least(
            "seconds of a pass, two steps / MAC",
            passes[0] / passes[1],
            150.0,
            note="Here the map of the two steps is fitted by an SVM in place of a general quadratic program.",
        ),
        at_least("seconds of the fit, ten Gaussian SVMs / MAC", fits[0] / fits[1], 1.0),
        at_least("seconds of the prediction, ten Gaussian SVMs / MAC", guesses[0] / guesses[1], 1.0),
        at_least(
            "seconds of targets and classifiers, one thread / two",
            _speed_up(bench),
            1.8,
            note="Smallest of nine each; needs two processors that nothing else uses.",
        ),
    ]


def _seconds(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that one call takes: what else runs does not count."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def _pass_seconds(bench: Bench, X: NDArray, y: NDArray, kind: type[MAC]) -> float:
    """Return the median over the passes of Fig. 6's run."""
    n = bench.either(150, 500)
    model = kind(2, centers="all", gamma=GAMMA, preprocessing="none", init="random", reg_w=0.1, early_stopping=False)
    model.set_params(max_iter=bench.either(5, 40), random_state=0)
    moments = [time.process_time() for _ in model.iterate(X[:n], y[:n] % 2)]
    return float(np.median(np.diff(moments)))


def _speed_up(bench: Bench) -> tuple[float, ...]:
    """Return the ratio of one thread's seconds to two threads'; nothing where there is one processor."""
    if (os.cpu_count() or 1) < 2:
        return ()
    rng = np.random.default_rng(0)
    codes = np.arange(bench.either(2_000, 20_000)) % 10
    images = np.eye(10)[codes] + 0.5 * rng.standard_normal((len(codes), 10))
    signs = np.where(codes[:, None] == np.arange(10), 1.0, -1.0)

    def both(n_jobs: int) -> float:
        """Return the seconds of a step of targets and a step of classifiers."""
        begun = time.perf_counter()
        targets, _ = move_points(images, np.eye(10) - 0.1, -np.ones(10), signs, 1.0, n_jobs=n_jobs)
        solve_heads(targets, signs, 1.0, n_jobs=n_jobs)
        return time.perf_counter() - begun

    both(2)  # compiles
    seconds = np.array([[both(1), both(2)] for _ in range(9)]).min(axis=0)
    return (float(seconds[0] / seconds[1]),)
