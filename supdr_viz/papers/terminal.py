"""What commands that compute on many processes have in common: options, and a progress bar."""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where fits are computed."""
    parser.add_argument("--workers", type=int, metavar="N", help="number of processes (default: one per processor)")
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler such as tcp://host:8786, or 'dask' for a cluster on this machine (default: loky)",
    )


def followed(sweep: Any, cells: Any, title: str = "cells") -> Any:
    """Yield the cells of a run with a progress bar that says what is left."""
    from tqdm import tqdm

    with tqdm(total=len(sweep.cells), unit="cell", desc=title, dynamic_ncols=True, disable=None) as bar:
        for cell in cells:
            bar.update()
            if cell.errors:
                bar.write(f"{cell.params}: {cell.errors[0]}", file=sys.stderr)
            yield cell
