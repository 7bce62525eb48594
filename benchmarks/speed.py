"""All speed figures in one run: ratios (ours / peer) measured on the same machine at the same time.

    make bench DATA_DIR=folder-of-the-benchmark-sets
    python benchmarks/speed.py [--data-dir DIR] [--only smo lsdr nsdr live ...]

The benchmark sets are needed for "lsdr" and "nsdr" only; without a folder those are left out and named.
BLAS is held to one thread for the numerical parts.
"""

from __future__ import annotations

import argparse
import platform
from pathlib import Path

import accuracy_lsdr
import fast_nsdr
import live
import smo
from threadpoolctl import threadpool_limits

import supdr.warm

NEEDS_DATA = ("lsdr", "nsdr")
LIVE = tuple(live.PARTS)


def main() -> int:
    """Measure what was asked for and print it; the status is 0 whatever the figures are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=None, help="folder of the benchmark sets")
    parser.add_argument("--only", nargs="+", choices=["smo", *NEEDS_DATA, "live", *LIVE], default=None)
    arguments = parser.parse_args()
    chosen = arguments.only or ["smo", *NEEDS_DATA, "live"]
    supdr.warm.warm()
    print(f"\n{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    with threadpool_limits(limits=1):
        if "smo" in chosen:
            print("\nKernel SVM: milliseconds and ratios to LIBSVM (cold; warm after 1 % noise)")
            smo.main()
        for name, measure in (("lsdr", accuracy_lsdr.speed), ("nsdr", fast_nsdr.papers)):
            if name in chosen and arguments.data_dir is not None:
                print(f"\n{name.upper()}: fast solvers against the paper's loop")
                measure(arguments.data_dir)
            elif name in chosen:
                print(f"\n{name.upper()}: left out, needs --data-dir")
    parts = list(LIVE) if "live" in chosen else [name for name in LIVE if name in chosen]
    if parts:
        print("\nThe live loop: measured, target")
        live.main(parts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
