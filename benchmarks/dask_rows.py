"""Rows in partitions beside the fit in memory: seconds a pass, and a fit that reads its rows from disk.

    python benchmarks/dask_rows.py [--method MAC SDRGLM LSDR] [--rows 200000] [--partitions 4] [--workers 0 1 2]
    python benchmarks/dask_rows.py --on-disk [--rows 1000000] [--columns 200] [--in-memory 100000]
    python benchmarks/dask_rows.py --parquet [--rows 5000000] [--passes 3]

0 workers: threads of this process; else a cluster of so many processes with one thread each.  Where one worker and two
are asked for, their ratio is printed too; seconds of the processor tell the work from the waiting.
--on-disk: SDR-GLM of bits in a temporary file of single precision, on two workers of 3 GB each, beside a fit in memory
of a part of the rows.
--parquet: MAC on a temporary folder of Parquet files in single precision, on two workers of 1.5 GB each, beside passes
in memory over a fifth of the rows.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import psutil
from distributed import Client

from supdr import LSDR, MAC, SDRGLM
from supdr.datasets import read_rows

CLASSES, COLUMNS, CENTRES, PASSES = 10, 20, 300, 6
FACTORS, COMPONENTS = 8, 10
TESTED = 50_000
"""Rows of the test in --on-disk."""

METHODS = {
    "MAC": lambda: MAC(
        n_centers=CENTRES,
        gamma=0.02,
        reg_w=1e-3,
        preprocessing="none",
        early_stopping=False,
        calibrate=False,
        tol=-1.0,
        max_iter=PASSES,
        random_state=0,
    ),
    "SDRGLM": lambda: SDRGLM(COMPONENTS, calibrate=False, tol=-1.0, max_iter=PASSES, random_state=0),
    "LSDR": lambda: LSDR(COMPONENTS, calibrate=False, tol=-1.0, max_iter=PASSES, random_state=0),
}


def made(n_rows: int, begin: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return ten Gaussian classes of two clusters each, the same ones wherever the rows begin."""
    rng = np.random.default_rng(0)
    centres = 1.5 * rng.standard_normal((CLASSES, 2, COLUMNS))
    rng = np.random.default_rng([1, begin]) if begin else rng
    y = rng.integers(0, CLASSES, n_rows)
    X = centres[y, rng.integers(0, 2, n_rows)] + rng.standard_normal((n_rows, COLUMNS))
    return X, y.astype(float)


def bits(begin: int, n_rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bits with a few factors, and a label of two of them with noise; whatever is drawn before."""
    loadings = np.random.default_rng(0).standard_normal((FACTORS, columns))
    rng = np.random.default_rng([1, begin])
    latent = rng.standard_normal((n_rows, FACTORS))
    theta = latent @ loadings / np.sqrt(FACTORS)
    X = rng.random(theta.shape) < 1.0 / (1.0 + np.exp(-theta))
    y = latent[:, 0] + latent[:, 1] + 0.5 * rng.standard_normal(n_rows) > 0.0
    return X.astype(np.float32), y.astype(np.float32)


def seconds_a_pass(
    method: str, X: object, y: object, n_passes: int = PASSES, used: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    """Return the median seconds of a pass, and those of the processor that `used` counts; the first is left out."""
    moments = []
    for snapshot in METHODS[method]().iterate(X, y):
        moments.append((time.perf_counter(), used()))
        if snapshot.iteration == n_passes:
            break
    seconds = np.diff(moments, axis=0)
    clock, processor = np.median(seconds[1:] if len(seconds) > 1 else seconds, axis=0)
    return float(clock), float(processor)


def cluster(workers: int, **settings: Any) -> Any:
    """Return a client of a cluster of processes with one thread each; nothing for 0."""
    if not workers:
        return nullcontext()
    return Client(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, **settings)


def passes(method: str, n_rows: int, partitions: int, workers: list[int]) -> None:
    """Print seconds a pass in memory and on partitions."""
    X, y = made(n_rows)
    size, took = -(-n_rows // partitions), dict[int, float]()
    for number in workers:
        memory, _ = seconds_a_pass(method, X, y)  # each time: the machine may have other things to do
        with cluster(number) as client:
            rows = da.from_array(X, (size, COLUMNS)), da.from_array(y, size)
            used = time.process_time if client is None else partial(_processors, client)
            took[number], processor = seconds_a_pass(method, *rows, used=used)
        name = f"{number} workers" if number else "threads"
        print(
            f"{method}, {n_rows:,} rows in memory: {memory:.2f} s a pass; {partitions} partitions, {name}: "
            f"{took[number]:.2f} s, {took[number] / memory:.2f} x; {processor:.2f} s of the processor",
            flush=True,
        )
    if took.keys() >= {1, 2}:
        print(f"{method}, {n_rows:,} rows: two workers are {took[1] / took[2]:.2f} x as fast as one", flush=True)


def on_disk(n_rows: int, columns: int, n_passes: int, in_memory: int) -> None:
    """Print what a fit from disk takes, and its test error beside that of a fit in memory of a part of the rows."""
    step = 50_000
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "rows.npy", Path(folder) / "labels.npy"
        rows = np.lib.format.open_memmap(files[0], "w+", np.float32, (n_rows, columns))
        labels = np.lib.format.open_memmap(files[1], "w+", np.float32, (n_rows,))
        for begin in range(0, n_rows, step):
            part = slice(begin, min(begin + step, n_rows))
            rows[part], labels[part] = bits(begin, part.stop - begin, columns)
        tested = bits(n_rows, TESTED, columns)
        few = min(in_memory, n_rows)
        model = SDRGLM(COMPONENTS, max_iter=n_passes, random_state=0)
        began = time.perf_counter()
        expected = model.fit(rows[:few].astype(float), labels[:few]).score(*tested)
        print(
            f"in memory, {few:,} rows: {time.perf_counter() - began:.0f} s, test error {1 - expected:.4f}", flush=True
        )
        del rows, labels
        with cluster(2, memory_limit="3GB") as client:
            began, moments = time.perf_counter(), []
            peak = 0
            for _ in (stream := model.iterate(*read_rows(*map(str, files), partition_rows=step))):
                moments.append(time.perf_counter())
                peak = max(peak, *client.run(_memory).values())
            del stream
            found = model.score(*tested)
        print(
            f"on disk, {n_rows:,} x {columns}, {4e-6 * n_rows * columns:.0f} MB: start {moments[0] - began:.0f} s, "
            f"{np.median(np.diff(moments)):.1f} s a pass, {len(moments) - 1} passes, largest memory of a worker "
            f"{peak / 1e9:.2f} GB, test error {1 - found:.4f}",
            flush=True,
        )


def parquet(n_rows: int, n_passes: int) -> None:
    """Print what passes of MAC over Parquet files take, beside passes in memory over a fifth of the rows."""
    step = 100_000
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(0, n_rows, step):
            X, y = made(min(step, n_rows - begin), begin)
            table = pd.DataFrame(X.astype(np.float32), columns=[f"x{j + 1}" for j in range(COLUMNS)])
            table.assign(label=y.astype(np.float32)).to_parquet(Path(folder) / f"{begin:09d}.parquet")
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        memory, _ = seconds_a_pass("MAC", *made(n_rows // 5), n_passes)
        print(f"MAC, {n_rows // 5:,} rows in memory: {memory:.1f} s a pass", flush=True)
        with cluster(2, memory_limit="1.5GB") as client:
            moments, peak = [time.perf_counter()], 0
            for snapshot in METHODS["MAC"]().iterate(*read_rows(folder, "label", partition_rows=step)):
                moments.append(time.perf_counter())
                peak = max(peak, *client.run(_memory).values())
                print(f"  pass {snapshot.iteration}: {moments[-1] - moments[-2]:.0f} s", flush=True)
                if snapshot.iteration == n_passes:
                    break
    seconds = float(np.median(np.diff(moments)[1:]))
    print(
        f"MAC, {n_rows:,} rows as Parquet, {size / 1e6:.0f} MB: start {moments[1] - moments[0]:.0f} s, {seconds:.1f} s "
        f"a pass, {seconds / (5.0 * memory):.2f} x five times that in memory, largest memory of a worker "
        f"{peak / 1e9:.2f} GB",
        flush=True,
    )


def _processors(client: Client) -> float:
    """Return the seconds of the processor that this process and all workers have used."""
    return time.process_time() + sum(client.run(time.process_time).values())


def _memory() -> int:
    """Return the largest memory that this process has had, bytes.

    Where the system tells it: `resource` would count what the process had that this one was started from.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return int(psutil.Process().memory_info().rss)
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(peak.split()[1])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int, default=200, help="with --on-disk")
    parser.add_argument("--in-memory", type=int, default=100_000, help="with --on-disk: rows of the fit in memory")
    parser.add_argument("--passes", type=int, help="with --on-disk (20) and --parquet (3), at most")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--on-disk", action="store_true")
    parser.add_argument("--parquet", action="store_true")
    given = parser.parse_args()
    if given.on_disk:
        on_disk(given.rows or 1_000_000, given.columns, given.passes or 20, given.in_memory)
        return 0
    if given.parquet:
        parquet(given.rows or 5_000_000, given.passes or 3)
        return 0
    for method in given.method:
        passes(method, given.rows or 200_000, given.partitions, given.workers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
