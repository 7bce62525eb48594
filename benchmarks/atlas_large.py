"""ClassAtlas of many rows: seconds of fit and transform, memory, how they grow, and what compiling takes.

python benchmarks/atlas_large.py [--rows 35000 70000 140000] [--columns 784]

The set: ten Gaussian clouds, each with 20 directions of its own.  Every number of rows has a process of its own, whose
largest memory is that of all, rows included.  Compiling: a first fit with an empty cache, less a second one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.datasets import load_iris

import supdr

CLASSES, DIRECTIONS, NEW = 10, 20, 10_000


def clouds(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and classes; the clouds are the same for every seed, the rows are others."""
    shape, rng = np.random.default_rng(0), np.random.default_rng([1, seed])
    middles = shape.standard_normal((CLASSES, n_columns))
    spreads = shape.standard_normal((CLASSES, DIRECTIONS, n_columns)) / math.sqrt(DIRECTIONS)
    y = rng.integers(0, CLASSES, n_rows)
    X = rng.standard_normal((n_rows, n_columns))
    X *= 0.3
    for k in range(CLASSES):
        rows = np.flatnonzero(y == k)
        X[rows] += middles[k] + 2.0 * rng.standard_normal((len(rows), DIRECTIONS)) @ spreads[k]
    return X, y


def clocks() -> np.ndarray:
    """Return seconds by the clock and of the processor."""
    return np.array([time.perf_counter(), time.process_time()])


def one_size(n_rows: int, n_columns: int) -> dict[str, float]:
    """Fit so many rows and place new ones, compiled before."""
    X, y = clouds(n_rows, n_columns, 0)
    new, y_new = clouds(NEW, n_columns, 1)
    few = supdr.ClassAtlas(max_iter=2, random_state=0).fit(X[:3000], y[:3000])
    few.transform(new[:10])
    began = clocks()
    model = supdr.ClassAtlas(random_state=0).fit(X, y)
    own = model.embedding_
    fit = clocks() - began
    began = clocks()
    model.transform(new)
    transform = clocks() - began
    assert own.shape == (n_rows, 2)
    return {
        "fit": fit[0],
        "fit_processor": fit[1],
        "transform": transform[0],
        "transform_processor": transform[1],
        "error": 100.0 * float(np.mean(model.predict(new) != y_new)),
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def compiling() -> float:
    """Return the processor seconds by which a first fit and transform are longer than the same once more."""
    X, y = load_iris(return_X_y=True)
    seconds = []
    for _ in range(2):
        began = time.process_time()
        supdr.ClassAtlas(random_state=0, max_iter=5).fit(X, y).transform(X[:5])
        seconds.append(time.process_time() - began)
    return seconds[0] - seconds[1]


def child(arguments: list[str], **environment: str) -> dict[str, float]:
    """Return what this program prints in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[35_000, 70_000, 140_000])
    parser.add_argument("--columns", type=int, default=784)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only == "compiling":
        print(json.dumps({"seconds": compiling()}))
        return
    if asked.only:
        print(json.dumps(one_size(int(asked.only), asked.columns)))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"compiling: {child(['--only', 'compiling'], NUMBA_CACHE_DIR=folder)['seconds']:.1f} s of the processor")
    before: tuple[int, float] | None = None
    for n_rows in asked.rows:
        found = child(["--only", str(n_rows), "--columns", str(asked.columns)])
        text = (
            f"{n_rows:,} rows x {asked.columns}: fit {found['fit']:.0f} s ({found['fit_processor']:.0f} s of the "
            f"processor), {found['gigabytes']:.2f} GB, transform of {NEW:,} rows {found['transform']:.2f} s "
            f"({found['transform_processor']:.2f}), error of new rows {found['error']:.2f} %"
        )
        if before is not None:
            power = math.log(found["fit_processor"] / before[1]) / math.log(n_rows / before[0])
            text += f", growth n^{power:.2f}"
        print(text, flush=True)
        before = n_rows, found["fit_processor"]


if __name__ == "__main__":
    main()
