"""MAC: the figures of Wang and Carreira-Perpiñán on spirals, words and starts; those on MNIST are in `mac_images`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from supdr import MAC
from supdr.baselines import LMNN
from supdr.datasets import make_spirals
from supdr.methods.mac.target_step import cases, move_points
from supdr_viz.papers.bench import Bench, Measurements, Row, at_least, at_most, everything
from supdr_viz.papers.data import load_pc_or_mac
from supdr_viz.papers.mac_images import fig_5, fig_6_digits, fig_6_passes, fig_6_speed
from supdr_viz.papers.mac_protocol import COSTS, PASSES, by_validation, thirds


def fig_1(bench: Bench) -> list[Row]:
    """Compare the closed form of the target step, in its three cases, with a numerical minimiser."""
    rng = np.random.default_rng(0)
    images, coef, cost = rng.normal(size=(bench.either(20, 200), 3)), rng.normal(size=(1, 3)), 0.5
    y = rng.choice([-1.0, 1.0], size=(len(images), 1))
    targets, multiplier = move_points(images, coef, np.zeros(1), y, cost)
    numerical = [_least_target(f, sign * coef[0], cost) for f, sign in zip(images, y[:, 0], strict=True)]
    case = cases(multiplier, np.full(len(images), cost))
    farthest = float(np.abs(targets - numerical).max())
    fewest = min(int((case == number).sum()) for number in (1, 2, 3))
    return [
        at_most("largest distance of the closed form from a numerical minimum", farthest, 1e-4),
        at_least("points in the rarest of the three cases", fewest, 1.0),
    ]


def _least_target(image: NDArray, coef: NDArray, cost: float) -> NDArray:
    """Return the z (L,) with the least |z - f|^2 + c xi, xi >= 0 and xi >= 1 - u'z, by sequential programming."""
    start = np.append(image, max(1.0 - coef @ image, 0.0))
    limits = [
        {"type": "ineq", "fun": lambda v: v[-1]},
        {"type": "ineq", "fun": lambda v: v[-1] - 1.0 + coef @ v[:-1]},
    ]
    solution = minimize(
        lambda v: ((v[:-1] - image) ** 2).sum() + cost * v[-1],
        start,
        jac=lambda v: np.append(2.0 * (v[:-1] - image), cost),
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    return solution.x[:-1]


def off_line(model: MAC, X: NDArray, y: NDArray) -> float:
    """Return the share of the images' variance that is not along their main direction."""
    F = model.transform(X)
    values = np.linalg.svd(F - F.mean(axis=0), compute_uv=False) ** 2
    return float(1.0 - values[0] / values.sum())


def fig_2(bench: Bench) -> list[Row]:
    """Two spirals: linear fails, more basis functions untangle the arms and make two points of them."""
    X, y = make_spirals(2, bench.either(200, 1000), random_state=0).to_xy()
    shared = {**PASSES, "max_iter": bench.either(10, 40)}
    gauss = {**shared, "gamma": 0.5 / 0.15**2, "centers": "random"}
    how: dict[str, Any] = {"cv": everything(X), "seeds": range(bench.either(1, 3))}
    counts = [10, 20, 40, *bench.either((200, 400), (400, 2000))]
    scoring = {"error": "error", "spread": "spread", "off_line": off_line}
    result = bench.sweep(MAC(2, **gauss), X, y, {"n_centers": counts}, scoring=scoring, **how)
    cells = [result.cells[k] for k in range(len(counts))]
    errors, spreads = ([cell.values(metric) for cell in cells] for metric in ("error", "spread"))
    linear = bench.values(MAC(2, **shared, mapping="linear"), X, y, cv=everything(X))
    one = bench.values(MAC(1, **gauss, n_centers=counts[-2]), X, y, **how)
    return [
        at_least("training error, linear mapping", linear, 0.2),
        at_least("training error, M = 10 minus M = 20", errors[0] - errors[1], 0.0),
        at_least("training error, M = 20 minus M = 40", errors[1] - errors[2], 0.0),
        *(
            at_most(f"training error, M = {count:,}", error, 0.05)
            for count, error in zip(counts[2:], errors[2:], strict=True)
        ),
        at_most(f"L = 1 suffices: training error, M = {counts[-2]}", one, 0.01),
        *(
            at_most(f"images on a line, M = {counts[k]:,}: share of variance off it", cells[k].values("off_line"), 0.01)
            for k in (0, 2, -1)
        ),
        at_most("spread of the clusters, largest M / M = 10", spreads[-1] / spreads[0], 1.0),
    ]


def fig_3(bench: Bench) -> list[Row]:
    """K spirals become the corners of a regular simplex in K - 1 dimensions; fewer dimensions are not enough."""
    return [row for K in bench.either((3,), (2, 3, 4, 5, 6)) for row in _arms(bench, K)]


def _arms(bench: Bench, K: int) -> list[Row]:
    X, y = make_spirals(K, bench.either(60, 500), turns=1.0, random_state=0).to_xy()
    model = MAC(gamma=0.5 / 0.12**2, centers="all", **PASSES, max_iter=bench.either(10, 20))
    dimensions = bench.either([1, 2, 3], list(range(1, 11)))
    how: dict[str, Any] = {"cv": everything(X), "scoring": ["error", "edge_ratio"]}
    cells = bench.sweep(model, X, y, {"n_components": dimensions}, **how).cells
    errors = {L: float(cells[k].mean("error")) for k, L in enumerate(dimensions)}
    change = max(abs(errors[L] - errors[K - 1]) for L in dimensions if L >= K - 1)
    rows = [
        at_most(f"K = {K}: training error at L = {K - 1}", errors[K - 1], 0.01),
        at_most(f"K = {K}: the error stands from L = {K - 1}: largest change", change, 0.01),
    ]
    if K == 2:
        return rows
    falls = f"K = {K}: the error falls until L = {K - 1}: at L = {K - 2} minus at L = {K - 1}"
    edges = cells[dimensions.index(K - 1)].values("edge_ratio")
    return [
        *rows,
        at_least(falls, errors[K - 2] - errors[K - 1], 0.01),
        at_least(f"K = {K}: shortest / longest edge, L = {K - 1}", edges, 0.9, note=SIMPLEX),
        *_other_starts(bench, K, X, y, how),
    ]


SIMPLEX = "The start is a regular simplex."


def _other_starts(bench: Bench, K: int, X: NDArray, y: NDArray, how: dict[str, Any]) -> list[Row]:
    """Return the edges and the errors that starts without a simplex lead to."""
    starts: dict[str, dict[str, Any]] = {
        "blobs around random means": {"init": "blobs"},
        "random, one against one": {"init": "random", "scheme": "ovo"},
    }
    plain: dict[str, Any] = {
        "gamma": 0.5 / 0.12**2,
        "centers": "random",
        "n_centers": min(300, len(X)),
        **PASSES,
        "max_iter": 40,
    }
    rows = []
    for name, start in starts.items():
        grid = {"n_components": [K - 2, K - 1]}
        cells = bench.sweep(MAC(**plain, **start), X, y, grid, seeds=range(bench.either(1, 3)), **how).cells
        note = f"Training error {cells[1].mean('error'):.3f} at L = {K - 1}; 300 random centres."
        what = f"K = {K}, {name}: shortest / longest edge ≥ .9"
        rows.append(at_least(what, cells[1].values("edge_ratio"), 0.9, about="question", note=note))
        what = f"K = {K}, {name}: error at L = {K - 2} minus at L = {K - 1} ≥ .01"
        fall = cells[0].values("error") - cells[1].values("error")
        rows.append(at_least(what, fall, 0.01, about="question"))
    return rows


def fig_4(bench: Bench) -> list[Row]:
    """Words of messages on PCs or Macs, linear mapping: as accurate as a linear SVM, more than other projections."""
    X, y = load_pc_or_mac(bench.data_dir)
    if bench.quick:
        X, y = X[::4], y[::4]
    X = Normalizer().fit_transform(X * np.log(len(X) / np.maximum((X > 0).sum(axis=0), 1)))
    U, sizes, _ = np.linalg.svd(X, full_matrices=False)
    X = U * sizes  # a rotation: no method here tells it from the words
    splits = thirds(y, bench.either(2, 10))
    ours: dict[str, Any] = {"mapping": "linear", "max_iter": 10, "random_state": 0}
    grid = {"C": bench.either((1.0, 100.0), COSTS)}
    neighbour = KNeighborsClassifier(1)
    peers = {
        "nearest neighbour": (neighbour, None),
        "PCA (2) + nearest neighbour": (make_pipeline(PCA(2, random_state=0), neighbour), None),
        "LDA + nearest neighbour": (make_pipeline(LinearDiscriminantAnalysis(), neighbour), None),
        "LMNN (2)": (LMNN(2, n_steps=20, n_neighbors=1, preprocessing="none", random_state=0), None),
    }
    errors = by_validation(bench, MAC(1, **PASSES, **ours), X, y, splits, {"C": grid["C"][::3]})
    linear = by_validation(bench, LinearSVC(random_state=0), X, y, splits, grid)
    chosen = by_validation(bench, MAC(1, **{**PASSES, **ours, "reg_w": "loo"}), X, y, splits)
    rows = [
        at_most("error of MAC minus that of a linear SVM", np.subtract(errors, linear), 0.01),
        at_most(
            "error of MAC, λ by leave-one-out, minus that of a linear SVM ≤ .01",
            np.subtract(chosen, linear),
            0.01,
            about="question",
        ),
    ]
    for name, (model, costs) in peers.items():
        theirs = by_validation(bench, model, X, y, splits, costs)
        note = f"MAC {np.mean(errors):.3f}, {name} {np.mean(theirs):.3f}."
        less = np.subtract(theirs, errors)
        rows.append(at_least(f"error of {name} minus MAC's", less, 0.0, note=note))
    return rows


def starts(bench: Bench) -> list[Row]:
    """Ten digits from a random start and from a simplex: the error at the end, and after one pass."""
    X, y = load_digits(return_X_y=True)
    model = MAC(n_centers=bench.either(100, 400), centers="random", gamma=0.5 / 1.2**2, **PASSES)
    how: dict[str, Any] = {"cv": 1 / 3, "seeds": range(bench.either(1, 5))}
    settings: dict[str, dict[str, Any]] = {
        "simplex": {},
        "one pass": {"max_iter": 1},
        "random": {"init": "random"},
        "one against one": {"init": "random", "scheme": "ovo"},
    }
    errors = {
        name: bench.values(clone(model).set_params(**more), X / 16.0, y, **how) for name, more in settings.items()
    }
    simplex = errors.pop("simplex")
    less = {name: np.subtract(error, simplex) for name, error in errors.items()}
    return [
        at_most("error from a random start, minus that from a simplex", less["random"], 0.01),
        at_most(
            "error from a random start, one against one, minus that from a simplex ≤ .01",
            less["one against one"],
            0.01,
            about="question",
        ),
        at_most("one pass from a simplex suffices: its error minus that of 30", less["one pass"], 0.005),
    ]


MEASUREMENTS: Measurements = {
    "mac-figure-1": fig_1,
    "mac-figure-2": fig_2,
    "mac-figure-3": fig_3,
    "mac-figure-4": fig_4,
    "mac-figure-5": fig_5,
    "mac-figure-6": fig_6_passes,
    "mac-figure-6-speed": fig_6_speed,
    "mac-figure-6-digits": fig_6_digits,
    "mac-start": starts,
}
