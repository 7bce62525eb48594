"""MAC on rows in partitions beside the fit in memory: seconds a pass.

    python benchmarks/dask_rows.py [--rows 200000] [--partitions 4] [--workers 0 1 2]

0 workers: threads of this process; else a cluster of so many processes with one thread each.
"""

from __future__ import annotations

import argparse
import time
from contextlib import nullcontext
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

from supdr import MAC

CLASSES, COLUMNS, CENTRES, PASSES = 10, 20, 300, 6


def made(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten Gaussian classes of two clusters each."""
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.standard_normal((CLASSES, 2, COLUMNS))
    y = rng.integers(0, CLASSES, n_rows)
    X = centres[y, rng.integers(0, 2, n_rows)] + rng.standard_normal((n_rows, COLUMNS))
    return X, y.astype(float)


def seconds_a_pass(X: object, y: object) -> float:
    """Return the median seconds of a pass."""
    model = MAC(
        n_centers=CENTRES,
        gamma=0.02,
        reg_w=1e-3,
        preprocessing="none",
        early_stopping=False,
        calibrate=False,
        tol=-1.0,
        max_iter=PASSES,
        random_state=0,
    )
    moments = [time.perf_counter()]
    for _ in model.iterate(X, y):
        moments.append(time.perf_counter())
    return float(np.median(np.diff(moments)[2:]))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    X, y = made(given.rows)
    size = -(-given.rows // given.partitions)
    for workers in given.workers:
        memory = seconds_a_pass(X, y)  # each time: the machine may have other things to do
        place: Any = nullcontext()
        if workers:
            place = Client(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
        with place:
            seconds = seconds_a_pass(da.from_array(X, (size, COLUMNS)), da.from_array(y, size))
        name = f"{workers} workers" if workers else "threads"
        print(
            f"{given.rows:,} rows in memory: {memory:.2f} s a pass; {given.partitions} partitions, {name}: "
            f"{seconds:.2f} s, {seconds / memory:.2f} x",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
