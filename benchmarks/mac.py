"""MAC's targets, measured: speed as ratios in one process, errors on fixed splits, the certificate's gap.

    python benchmarks/mac.py [--data-dir DIR] [--only PART ...]

Parts: svm, steps, z, optimum, schedule, errata, digits, calibration, mappings, passes, compile, svc, large, plane.

"plane" also needs the multiple-features set (--data-dir) and, for the comparison, umap-learn where it is installed;
"schedule" and "mappings" read two more sets from the folder or from OpenML.
Compare times only within one run: they depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mac_claims import PLAIN, calibration, digits, errata, mappings, optimum, schedule, seconds
from sklearn.datasets import load_digits, make_blobs
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from supdr import MAC
from supdr.datasets import make_spirals
from supdr.methods.mac.target_step import move_points
from supdr.solvers.distances import median_distance
from supdr.solvers.linear_svm import LinearSVMSolution, solve_linear_svm

SVM_CASES = ((300, 1, 1.0), (300, 10, 1000.0), (1000, 2, 0.1), (1000, 5, 10.0), (2000, 10, 1.0), (2000, 2, 100.0))


def overlapping(n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two Gaussian classes of which 10 % lie on the wrong side."""
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    Z = rng.standard_normal((n, d))
    Z[:, 0] += 1.2816 * y
    return Z, y


def svm() -> None:
    """Linear SVM step against LIBSVM: medians of interleaved runs, one thread; relative objective."""
    rng = np.random.default_rng(0)
    print("N, L, C: LIBSVM ms, ours ms, ratio, objective relative to LIBSVM's, gap")
    for n, d, C in SVM_CASES:
        Z, y = overlapping(n, d, rng)
        runs = 3 if C > 100 else 9

        def libsvm(Z: np.ndarray = Z, y: np.ndarray = y, C: float = C) -> SVC:
            return SVC(C=C, kernel="linear").fit(Z, y)

        def ours_(Z: np.ndarray = Z, y: np.ndarray = y, C: float = C) -> LinearSVMSolution:
            return solve_linear_svm(Z, y, C)

        times = np.array([[seconds(libsvm), seconds(ours_)] for _ in range(runs)])
        peer, ours = np.median(times, axis=0) * 1e3
        machine, solution = libsvm(), ours_()
        w, b = machine.coef_[0], machine.intercept_[0]
        reference = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (Z @ w + b)).sum()
        value = solution.objective + solution.gap
        print(
            f"{n}, {d}, {C:g}: {peer:.2f}, {ours:.2f}, {peer / ours:.1f}, {value / reference - 1:+.1e}, "
            f"{solution.gap / value:.1e}"
        )


def steps() -> None:
    """Warm Newton steps and gaps against N, as between passes: rows moved a little, 10 dimensions."""
    rng = np.random.default_rng(0)
    print("N: cold ms (Newton steps), warm ms (Newton steps), true relative gap")
    for n in (5_000, 20_000, 80_000, 200_000):
        Z, y = overlapping(n, 10, rng)
        begun = time.perf_counter()
        cold = solve_linear_svm(Z, y, 1.0)
        halfway = time.perf_counter()
        Z = Z + 0.02 * rng.standard_normal(Z.shape)
        moved = time.perf_counter()
        warm = solve_linear_svm(Z, y, 1.0, alpha=cold.alpha, coef=cold.coef, bias=cold.bias)
        end = time.perf_counter()
        gap = warm.gap / (warm.objective + warm.gap)
        print(
            f"{n}: {1e3 * (halfway - begun):.0f} ({cold.iterations}), {1e3 * (end - moved):.0f} ({warm.iterations}), "
            f"{gap:.1e}"
        )
    model = MAC(10, n_centers=300, centers="random", **PLAIN, preprocessing="zscore", max_iter=8, random_state=0)
    X, y = load_digits(return_X_y=True)
    counts = [snapshot.state.heads.iterations / 10 for snapshot in model.iterate(X, y)]
    print("Newton steps per classifier in passes 1 to 8 on digits:", np.round(counts[1:], 1))


def z() -> None:
    """Z step: exponent in N, two threads against one (smallest of nine, meaningful on an idle machine only)."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((10, 10))
    coef = (centres - centres.mean(axis=0)) / 6.0
    sizes = (5_000, 10_000, 20_000, 40_000, 80_000, 200_000)
    medians = []
    for n in sizes:
        codes = np.arange(n) % 10
        images = centres[codes] + 0.7 * rng.standard_normal((n, 10))
        signs = np.where(codes[:, None] == np.arange(10), 1.0, -1.0)

        def run(n_jobs: int, images: np.ndarray = images, signs: np.ndarray = signs) -> None:
            move_points(images, coef, -np.ones(10), signs, 1.0, n_jobs=n_jobs)

        times = np.array([[seconds(lambda: run(1)), seconds(lambda: run(2))] for _ in range(9)])
        one, two = times.min(axis=0) * 1e3
        begun = time.thread_time()
        for _ in range(9):
            run(1)
        medians.append((time.thread_time() - begun) / 9)
        print(f"{n}: one thread {one:.1f} ms, two {two:.1f} ms, ratio {one / two:.2f}; CPU {1e3 * medians[-1]:.1f} ms")
    exponent = np.polyfit(np.log(sizes), np.log(medians), 1)[0]
    print(f"fitted exponent of the CPU time {exponent:.3f}")


def lifted(n: int, rng: np.random.Generator, parts: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Return ten classes of five clusters in 30 dimensions, lifted to 784 by a random tanh layer plus noise."""
    centres, layer = parts
    y, k = rng.integers(0, 10, n), rng.integers(0, 5, n)
    hidden = centres[y, k] + rng.standard_normal((n, 30))
    return np.tanh(hidden @ layer) + 0.1 * rng.standard_normal((n, 784)), y


def svc() -> None:
    """Fit and predict against SVC(C=10), interleaved: N = 10,000, D = 784, M = 2,500 random centres, L = 10."""
    rng = np.random.default_rng(0)
    parts = rng.standard_normal((10, 5, 30)), rng.standard_normal((30, 784)) / np.sqrt(30)
    X, y = lifted(10_000, rng, parts)
    X_test, y_test = lifted(5_000, rng, parts)
    width = 0.5 * median_distance(X, rng)
    model = MAC(
        10,
        n_centers=2500,
        centers="random",
        gamma=0.5 / width**2,
        **PLAIN,
        mu_factor=1.0,
        max_iter=2,
        preprocessing="none",
        n_jobs=2,
        random_state=0,
    )
    peer = SVC(C=10)
    for _ in range(3):
        fits, cpu = [], []
        for each in (model, peer):
            begun = time.process_time()
            fits.append(seconds(lambda each=each: each.fit(X, y)))
            cpu.append(time.process_time() - begun)
        ours, theirs = (seconds(lambda each=each: each.predict(X_test)) for each in (model, peer))
        print(
            f"fit {fits[0]:.1f} s against {fits[1]:.1f} s: {fits[0] / fits[1]:.2f}; CPU {cpu[0]:.1f}, {cpu[1]:.1f}: "
            f"{cpu[0] / cpu[1]:.2f}; predict {ours:.2f}, {theirs:.2f}: {theirs / ours:.1f} x faster"
        )
    errors = [100 * (1 - each.score(X_test, y_test)) for each in (model, peer)]
    print(f"test error {errors[0]:.2f} % against {errors[1]:.2f} %")


def large() -> None:
    """N = 200,000, M = 500, D = 50 (blobs): seconds, peak memory, test accuracy."""
    X, y = make_blobs(210_000, n_features=50, centers=30, cluster_std=4.0, random_state=0)
    y = y % 10
    model = MAC(n_centers=500, **PLAIN, preprocessing="zscore", max_iter=5, n_jobs=2, random_state=0)
    elapsed = seconds(lambda: model.fit(X[:200_000], y[:200_000]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"5 passes {elapsed:.0f} s, peak of the process {peak:.2f} GB, accuracy {model.score(X[200_000:], y[200_000:])}"
    )


def plane(data_dir: Path | None) -> None:
    """Two layers: errors in per cent of the nearest corner (g) and of 5-NN on five folds, against supervised UMAP."""
    sets = [("digits", *load_digits(return_X_y=True))]
    if data_dir is not None:
        archive = np.load(data_dir / "multifeat.npz")
        views = [archive[name] for name in ("fac", "fou", "kar", "mor", "pix", "zer")]
        sets.append(("multifeat", np.concatenate(views, axis=1), archive["y"]))
    for name, X, y in sets:
        rows = []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            rows.append(
                [
                    *_two_layers(X, y, train, test, "ridge"),
                    *_two_layers(X, y, train, test, "mix"),
                    *_umap(X, y, train, test),
                ]
            )
        table = np.mean(rows, axis=0)
        print(f"{name}: ridge g {table[0]:.2f}, 5-NN {table[1]:.2f}, {table[2]:.1f} s CPU")
        print(f"{name}: mix g {table[3]:.2f}, 5-NN {table[4]:.2f}, {table[5]:.1f} s CPU")
        print(f"{name}: supervised UMAP 5-NN {table[6]:.2f}, {table[7]:.1f} s CPU (nan: not installed)")
    rng = np.random.default_rng(0)
    parts = rng.standard_normal((10, 5, 30)), rng.standard_normal((30, 784)) / np.sqrt(30)
    X, y = lifted(10_000, rng, parts)
    print(f"N = 10,000, D = 784: {seconds(lambda: MAC(n_layers=2, random_state=0).fit(X, y)):.1f} s")


def _two_layers(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, head: str) -> list[float]:
    begun = time.process_time()
    model = MAC(n_layers=2, head=head, random_state=0).fit(X[train], y[train])
    elapsed = time.process_time() - begun
    return [100 * (1 - model.score(X[test], y[test])), _five_neighbours(model, X, y, train, test), elapsed]


def _five_neighbours(model: object, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    neighbours = KNeighborsClassifier(5).fit(model.embedding_, y[train])
    return 100 * (1 - neighbours.score(model.transform(X[test]), y[test]))


def _umap(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    try:
        from umap import UMAP
    except ImportError:
        return [np.nan, np.nan]
    scaler = StandardScaler().fit(X[train])
    scaled = scaler.transform(X)
    begun = time.process_time()
    model = UMAP().fit(scaled[train], y[train])
    elapsed = time.process_time() - begun
    return [_five_neighbours(model, scaled, y, train, test), elapsed]


WARM_UP = """
import time
from supdr import MAC
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.standard_normal((12, 4)), np.arange(12)
begun = time.process_time()
for settings in MAC._warm_up_settings():
    for classes in (2, 3):
        MAC(**settings).fit(X, y % classes)
print(time.process_time() - begun)
"""


def compiled() -> None:
    """CPU seconds to compile all kernels of MAC, and with the cache filled, each in a process of its own."""
    import os

    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "cached"):
            command = [sys.executable, "-W", "ignore", "-c", WARM_UP]
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            print(f"{name}: {float(result.stdout):.2f} s")


def passes() -> None:
    """Milliseconds of a pass with the certificate on, as between frames: two spirals of 1,000 points, M = 400."""
    X, y = make_spirals(2, 1000, random_state=0).to_xy()
    for solver in ("mac", "lbfgs", "fixed_point"):
        model = MAC(
            2,
            n_centers=400,
            gamma=0.5 / 0.15**2,
            **PLAIN,
            preprocessing="none",
            solver=solver,
            tol=-1.0,
            random_state=0,
        )
        moments = [time.perf_counter()]
        for _ in model.iterate(X, y):
            moments.append(time.perf_counter())
        lengths = 1e3 * np.diff(moments)
        print(
            f"{solver}: start {lengths[0]:.0f} ms, pass median {np.median(lengths[1:]):.1f}, "
            f"longest {lengths[1:].max():.0f}"
        )


PARTS: dict[str, Callable] = {
    "svm": svm,
    "steps": steps,
    "z": z,
    "optimum": optimum,
    "schedule": schedule,
    "errata": errata,
    "digits": digits,
    "calibration": calibration,
    "mappings": mappings,
    "passes": passes,
    "compile": compiled,
    "svc": svc,
    "large": large,
    "plane": plane,
}
ONE_THREAD = ("svm", "steps", "z", "optimum", "schedule", "errata", "digits", "calibration", "mappings", "passes")
WITH_SETS = ("mappings", "plane", "schedule")


def main() -> int:
    """Print what was asked for; the status is 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=None, help="folder of the benchmark sets")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    arguments = parser.parse_args()
    for name in arguments.only:
        print(f"\n{name}: {PARTS[name].__doc__.splitlines()[0]}", flush=True)
        with threadpool_limits(limits=1 if name in ONE_THREAD else None):
            PARTS[name](*([arguments.data_dir] if name in WITH_SETS else []))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
