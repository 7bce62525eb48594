"""Kill servers, tabs, sweeps, workers, and runs on rows in partitions at random moments, and say what was lost.

python -m tests.faults.kills --kills 50 --seed 0
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.faults.learning import kill_row_clients, kill_row_workers
from tests.faults.serving import kill_servers, kill_tabs
from tests.faults.sweeping import kill_dask_workers, kill_sweeps, kill_workers, untouched

KINDS = {
    "server": kill_servers,
    "tab": kill_tabs,
    "sweep": kill_sweeps,
    "worker": kill_workers,
    "dask-worker": kill_dask_workers,
    "rows-worker": kill_row_workers,
    "rows-client": kill_row_clients,
}


def main():
    """Run from the command line; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(KINDS), help="one kind")
    asked = parser.parse_args()
    expected, found = untouched(), 0
    for name in [asked.only] if asked.only else KINDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "sweeps.sqlite"
            kills, said = KINDS[name](store, np.random.default_rng(asked.seed), asked.kills, expected)
        found += len(said)
        print(
            f"{name}: killed {kills} times in {time.monotonic() - began:.0f} s, {len(said)} findings",
            *said,
            sep="\n",
            flush=True,
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
