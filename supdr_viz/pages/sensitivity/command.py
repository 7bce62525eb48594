"""``supdr-viz sweep config.toml``: a sweep without a page, with a progress bar."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from supdr.sensitivity import StoreError, SweepError
from supdr_viz.data.atomic_write import write_atomically
from supdr_viz.data.number_format import mean_text
from supdr_viz.pages.sensitivity.files import from_toml
from supdr_viz.pages.sensitivity.settings import SweepSettings, build_sweep
from supdr_viz.papers.terminal import add_workers, followed

EXAMPLE = """\
example:
  metric = "error"
  folds = 5
  store = "sweep.sqlite"   # finished fits; a sweep that was killed goes on from it
  out = "sweep.csv"
  [data]
  name = "moons"           # or file = "table.csv", or openml = "336"
  [method]
  name = "NSDR"
  kernel = "rbf"
  [grid]
  C = [0.1, 1, 10]
  reg_u = {low = 1e-4, high = 10, count = 6, spacing = "log"}
"""


def add_sweep(commands: Any) -> None:
    """Add the command to an argument parser's subparsers."""
    parser = commands.add_parser(
        "sweep",
        help="run the sweep that a TOML file describes",
        description="Fit and judge a method on a grid of its parameters.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, metavar="CONFIG.TOML", help="what to sweep")
    parser.add_argument(
        "--store", help="SQLite file of finished fits (default: what the file says, else CONFIG.sqlite)"
    )
    parser.add_argument("--out", help="CSV file of the result (default: what the file says, else CONFIG.csv)")
    add_workers(parser)
    parser.add_argument("--retry-failed", action="store_true", help="compute fits again that failed in an earlier run")
    parser.set_defaults(run=run_sweep)


def run_sweep(arguments: argparse.Namespace) -> int:
    """Run what the file describes; the exit status is 1 if it could not be run, 2 if the file is wrong."""
    try:
        settings, rest = from_toml(arguments.config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return _say(f"{arguments.config}: {error}", 2)
    store = arguments.store or rest.get("store") or str(arguments.config.with_suffix(".sqlite"))
    out = Path(arguments.out or rest.get("out") or arguments.config.with_suffix(".csv"))
    try:
        dataset = load_data(settings, rest, arguments.config.parent)
        sweep, X, y = build_sweep(settings, dataset, store)
        sweep.retry_failed = arguments.retry_failed
        result = sweep.result(followed(sweep, sweep.run(X, y, arguments.scheduler, workers=arguments.workers)))
        write_atomically(out, result.table().to_csv(index=False).encode())
    except (OSError, ValueError, ImportError, StoreError, SweepError) as error:
        return _say(str(error), 1)
    except KeyboardInterrupt:
        return _say(f"stopped; run the same command again to go on from {store}", 130)
    best = result.best(settings.metric)
    if best is not None:
        words = ", ".join(f"{name} = {value}" for name, value in best.params.items())
        text = mean_text(best.mean(settings.metric), best.deviation(settings.metric))
        print(f"best {settings.metric}: {text} ({words})")
    failed = [cell for cell in result.cells.values() if cell.errors]
    if failed:
        print(f"{len(failed)} of {len(result.cells)} cells failed in part: {failed[0].errors[0]}")
    print(f"{out} holds all {len(result.cells)} cells")
    return 0


def load_data(settings: SweepSettings, rest: dict[str, Any], folder: Path) -> Any:
    """Return the data set; files are sought beside the configuration.

    Raises ValueError, OSError if it cannot be read; the message says why.
    """
    from supdr.datasets import load_openml, read_file
    from supdr_viz.data.columns import reading_options
    from supdr_viz.experiment.build import build_dataset

    base = settings.base
    options = reading_options(base.data_options)
    if base.data == "file":
        name = rest.get("file") or base.data_options["name"]
        return read_file(folder / str(name), **options)
    if base.data == "openml":
        return load_openml(base.data_options["name"], **options)
    return build_dataset(base)


def _say(text: str, status: int) -> int:
    print(f"supdr-viz sweep: {text}", file=sys.stderr)
    return status
