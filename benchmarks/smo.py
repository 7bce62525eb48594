"""Speed of the kernel SVM solver against LIBSVM, as ratios of medians of interleaved runs in one process.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/smo.py

"cold" starts from nothing; "warm" solves the kernel rescaled by 1 % row noise from the solution of the first one.
LIBSVM always starts cold, on the same kernel, through scikit-learn's SVC(kernel="precomputed") with the same tolerance.
A ratio above 1 means that supdr is faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from supdr.solvers.smo import solve_svm

SIZES = (500, 2000, 4000)
CASES = (("rbf", 1.0), ("rbf", 100.0), ("linear", 1.0), ("linear", 10.0))
TOL = 1e-3


class Row(NamedTuple):
    """One line of the table: milliseconds, ratios LIBSVM / supdr, relative difference of the dual values."""

    n: int
    kernel: str
    C: float
    libsvm_ms: float
    cold_ms: float
    cold_ratio: float
    libsvm_perturbed_ms: float
    warm_ms: float
    warm_ratio: float
    dual_difference: float


def problems(sizes: tuple[int, ...] = SIZES, seed: int = 0) -> Iterator[tuple[str, float, np.ndarray, np.ndarray]]:
    """Yield kernel name, C, Gram matrix (n, n) and labels (n,)."""
    for n in sizes:
        X, y = make_classification(n, 20, random_state=seed)
        X = (X - X.mean(0)) / X.std(0)
        for kernel, C in CASES:
            K = rbf_kernel(X, gamma=1.0 / X.shape[1]) if kernel == "rbf" else X @ X.T
            yield kernel, C, np.ascontiguousarray(K), 2.0 * y - 1.0


def interleaved_medians(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """Return the median time of each call in milliseconds; the calls take turns."""
    times = np.empty((repeats, len(calls)))
    for r in range(repeats):
        for c, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[r, c] = time.perf_counter() - start
    return [float(t) for t in 1e3 * np.median(times, axis=0)]


def libsvm(K: np.ndarray, y: np.ndarray, C: float) -> SVC:
    """Return the fitted reference."""
    return SVC(kernel="precomputed", C=C, tol=TOL).fit(K, y)


def dual_value(model: SVC, K: np.ndarray, y: np.ndarray) -> float:
    """Return the dual value LIBSVM reached."""
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    return float(y @ beta - 0.5 * beta @ K @ beta)


def measure(K: np.ndarray, y: np.ndarray, kernel: str, C: float, repeats: int) -> Row:
    """Return one line of the table."""
    noise = 1.0 + 0.01 * np.random.default_rng(1).standard_normal(len(y))
    perturbed = K * noise[:, None] * noise
    first = solve_svm(K, y, C, tol=TOL)
    reference = dual_value(libsvm(K, y, C), K, y)
    other, cold, other_perturbed, warm = interleaved_medians(
        [
            lambda: libsvm(K, y, C),
            lambda: solve_svm(K, y, C, tol=TOL),
            lambda: libsvm(perturbed, y, C),
            lambda: solve_svm(perturbed, y, C, tol=TOL, alpha=first.alpha),
        ],
        repeats,
    )
    return Row(
        n=len(y),
        kernel=kernel,
        C=C,
        libsvm_ms=other,
        cold_ms=cold,
        cold_ratio=other / cold,
        libsvm_perturbed_ms=other_perturbed,
        warm_ms=warm,
        warm_ratio=other_perturbed / warm,
        dual_difference=(first.objective - reference) / abs(reference),
    )


def main(sizes: tuple[int, ...] = SIZES, repeats: int = 5, seed: int = 0) -> list[Row]:
    """Print the table and return its rows."""
    print(
        f"{'n':>5} {'kernel':<7}{'C':>5} {'libsvm':>9} {'cold':>8} {'ratio':>7} {'libsvm*':>9} {'warm':>8} {'ratio':>7}"
    )
    rows = []
    for kernel, C, K, y in problems(sizes, seed):
        row = measure(K, y, kernel, C, repeats)
        rows.append(row)
        print(
            f"{row.n:>5} {row.kernel:<7}{row.C:>5g} {row.libsvm_ms:>9.2f} {row.cold_ms:>8.2f} {row.cold_ratio:>6.1f}x"
            f" {row.libsvm_perturbed_ms:>9.2f} {row.warm_ms:>8.2f} {row.warm_ratio:>6.1f}x",
            flush=True,
        )
    for name in ("cold_ratio", "warm_ratio"):
        ratios = np.array([getattr(row, name) for row in rows])
        print(f"{name}: least {ratios.min():.1f}, geometric mean {np.exp(np.log(ratios).mean()):.1f}")
    print(f"largest shortfall of the dual value, relative: {max(-row.dual_difference for row in rows):.1e}")
    return rows


if __name__ == "__main__":
    main()
