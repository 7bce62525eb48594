"""MAC beside LIBSVM on many rows of MNIST: test error, seconds of fit and of prediction, one thread.

    python benchmarks/mac_rows.py --data-dir DIR [--rows 10000] [--centers 3000] [--models LIBSVM MAC] [--nine 10000]

The first rows of the training set, pixels in [0, 1], and all 10,000 test rows.  Seconds are of the processor: with
one thread these are what a clock shows on a machine that does nothing else.  "MAC" has its defaults; of "MAC, set" the
width, the ridge and the number of passes are set by hand, as those of LIBSVM are.  --nine fits LIBSVM with nine pairs
of C and gamma to so many rows and names the best pair.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from supdr import MAC
from supdr_viz.papers.report import machine

C, GAMMA = 10.0, 1 / 32
"""Of LIBSVM."""

NINE = tuple(itertools.product((1.0, 10.0, 100.0), (1 / 64, 1 / 32, 1 / 16)))

PLAIN = {"preprocessing": "none", "early_stopping": False, "calibrate": False}

MODELS: dict[str, dict[str, Any]] = {
    "MAC, set": {"gamma": 0.5 / 4.5**2, "reg_w": 1e-3, "mu": 4.0, "mu_factor": 1.0, "max_iter": 5, **PLAIN},
    "MAC": {},
}
"""One ridge, hence one factor for all passes."""


def mnist(data_dir: Path, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return rows and classes to fit to, and those of the test set."""
    arrays = np.load(data_dir / "mnist.npz")
    X, X_test = (arrays[name] / 255.0 for name in ("X_train", "X_test"))
    return X[:n_rows], arrays["y_train"][:n_rows], X_test, arrays["y_test"]


def measure(name: str, model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> list[float]:
    """Print and return test error in per cent, seconds of fit and of prediction."""
    began = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    error = 100.0 * float(np.mean(model.predict(X_test) != y_test))
    figures = [error, fitted - began, time.process_time() - fitted]
    print("{}: error {:.2f} %, fit {:.1f} s, predict {:.2f} s".format(name, *figures), end="")
    if isinstance(model, MAC):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"; {len(model.centers_)} centres, gamma 1/{1 / model.gamma_:.0f}", end="")
        print(f", {model.n_iter_} passes, scaling {model.scaling_}; peak of the process {peak:.1f} GB", end="")
    print(flush=True)
    return figures


def main() -> int:
    """Measure and print; the status is 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the benchmark sets")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--centers", type=int, default=3000, help='of "MAC, set"')
    parser.add_argument("--models", nargs="+", choices=["LIBSVM", *MODELS], default=["LIBSVM", *MODELS])
    parser.add_argument("--nine", type=int, default=0, help="rows for LIBSVM with nine pairs of C and gamma")
    parser.add_argument("--svm", type=float, nargs=2, default=(C, GAMMA), metavar=("C", "GAMMA"))
    arguments = parser.parse_args()
    print(f"{machine()}\n{arguments.rows:,} rows")
    with threadpool_limits(limits=1):
        rows = mnist(arguments.data_dir, arguments.rows)
        if set(MODELS) & set(arguments.models):
            MAC(random_state=0).fit(rows[0][:300], rows[1][:300])  # compiles
        if arguments.nine:
            nine(mnist(arguments.data_dir, arguments.nine))
        theirs: list[float] = []
        if "LIBSVM" in arguments.models:
            svc = SVC(C=arguments.svm[0], gamma=arguments.svm[1])
            theirs = measure("LIBSVM, C = {:g}, gamma = {:.3g}".format(*arguments.svm), svc, *rows)
        for name, settings in MODELS.items():
            if name in arguments.models:
                n_centers = arguments.centers if settings else None
                ours = measure(name, MAC(n_centers=n_centers, random_state=0, **settings), *rows)
                if theirs:
                    print(f"    fit: {ours[1] / theirs[1]:.2f} of LIBSVM's, predict: {ours[2] / theirs[2]:.3f}")
    return 0


def nine(rows: tuple[np.ndarray, ...]) -> None:
    """Print the figures of LIBSVM with nine pairs of C and gamma, their seconds in all, and the best pair."""
    figures = {pair: measure("LIBSVM, C = {:g}, gamma = {:.3g}".format(*pair), SVC(C=pair[0], gamma=pair[1]), *rows)
               for pair in NINE}  # fmt: skip
    best = min(figures, key=lambda pair: figures[pair][0])
    seconds = sum(fit for _, fit, _ in figures.values())
    share = seconds / figures[best][1]
    print(f"nine fits to {len(rows[0]):,} rows: {seconds:.0f} s, {share:.1f} times that with the fewest errors, {best}")


if __name__ == "__main__":
    raise SystemExit(main())
