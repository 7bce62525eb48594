"""``supdr-viz reproduce``: list the papers' tables and figures, measure them, write the verdicts."""

from __future__ import annotations

import argparse
import functools
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from supdr.sensitivity import StoreError, SweepError
from supdr_viz.data.atomic_write import write_atomically
from supdr_viz.experiment.codec import toml_document
from supdr_viz.papers.bench import Bench, Item, Measurements, NotCovered
from supdr_viz.papers.data import NoData
from supdr_viz.papers.report import Finding, measured_text, paper_text, to_csv, to_html, to_markdown
from supdr_viz.papers.terminal import add_workers, followed

LOG = logging.getLogger(__name__)

DESCRIPTION = "Measure the tables and figures of the papers and compare. Without a name: list them."


def items() -> dict[str, Item]:
    """Return all items by name, paper by paper."""
    return {
        table["name"]: Item(paper=text["paper"], measure=measurements[table["name"]], **table)
        for text, measurements in _papers()
        for table in text["item"]
    }


def not_covered() -> list[NotCovered]:
    """Return what of the papers is not measured, paper by paper."""
    return [NotCovered(text["paper"], **table) for text, _ in _papers() for table in text["not_covered"]]


def _papers() -> Iterator[tuple[dict[str, Any], Measurements]]:
    """Yield the TOML document of each paper, which says what of it is measured, and the measurements."""
    from supdr_viz.papers import mac, nsdr, sdr_glm, sldr, snf

    for paper in (nsdr, mac, sldr, sdr_glm, snf):
        file = Path(__file__).with_name(f"{paper.__name__.rpartition('.')[2]}.toml")
        yield toml_document(file.read_bytes()), paper.MEASUREMENTS


def add_reproduce(commands: Any) -> None:
    """Add the command to an argument parser's subparsers."""
    parser = commands.add_parser("reproduce", help="measure the papers' tables and figures", description=DESCRIPTION)
    parser.add_argument("names", nargs="*", metavar="NAME", help="items, or the start of their names; 'all' for all")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of local copies (default: OpenML)")
    parser.add_argument("--quick", action="store_true", help="fewer folds, draws and steps: a trial, no verdict")
    parser.add_argument(
        "--store", default="reproduce.sqlite", help="SQLite file of finished fits (default: %(default)s)"
    )
    parser.add_argument(
        "--out", default="reproduce", metavar="NAME", help="writes NAME.md, .csv, .html (default: %(default)s)"
    )
    add_workers(parser)
    parser.set_defaults(run=run_reproduce)


def run_reproduce(arguments: argparse.Namespace) -> int:
    """List or measure; the exit status is 1 if something could not be measured, 2 if a name is unknown."""
    all_items = items()
    if not arguments.names:
        _list(all_items)
        return 0
    chosen = _chosen(all_items, arguments.names)
    if isinstance(chosen, str):
        print(f"supdr-viz reproduce: {chosen}", file=sys.stderr)
        return 2
    if arguments.data_dir is not None and not arguments.data_dir.is_dir():
        print(f"supdr-viz reproduce: --data-dir: there is no folder {arguments.data_dir}", file=sys.stderr)
        return 2
    findings: list[Finding] = []
    for item in chosen:
        bench = Bench(
            arguments.data_dir,
            arguments.quick,
            arguments.store,
            arguments.scheduler,
            arguments.workers,
            follow=functools.partial(followed, title=item.name),
        )
        try:
            findings.append(_measure(item, bench))
            _tell(findings[-1])
            _write(findings, arguments)  # after each: what is known is readable while the rest goes on
        except KeyboardInterrupt:
            print(f"stopped; run the same command again to go on from {arguments.store}", file=sys.stderr)
            return 130
        except (OSError, StoreError, SweepError) as error:
            print(f"supdr-viz reproduce: {error}", file=sys.stderr)
            return 1
    return int(any(finding.problem for finding in findings))


def _measure(item: Item, bench: Bench) -> Finding:
    try:
        rows = tuple(item.measure(bench))
    except (NoData, RuntimeError, ValueError, ImportError, OSError) as error:
        if isinstance(error, (StoreError, SweepError)):
            raise
        return Finding(item, (), " ".join(str(error).split()))
    except Exception as error:  # one item must not cost the others
        LOG.exception("%s failed", item.name)
        return Finding(item, (), f"{type(error).__name__}: {' '.join(str(error).split())}")
    return Finding(item, rows, seconds=bench.seconds)


def _chosen(all_items: dict[str, Item], names: list[str]) -> list[Item] | str:
    """Return the items that are meant, or a sentence about a name that means none."""
    chosen: dict[str, Item] = {}
    for name in names:
        found = {key: item for key, item in all_items.items() if name == "all" or key.startswith(name)}
        if not found:
            return f"there is no item {name!r}; there are {', '.join(all_items)}"
        chosen |= found
    return list(chosen.values())


def _list(all_items: dict[str, Item]) -> None:
    paper = ""
    for item in all_items.values():
        if item.paper != paper:
            paper = item.paper
            print(paper)
        print(f"  {item.name:18} {item.title}")
    print("supdr-viz reproduce NAME ... measures some, supdr-viz reproduce all measures all of them")


def _tell(finding: Finding) -> None:
    print(f"{finding.item.name}: {finding.item.title}")
    if finding.problem:
        print(f"  not measured: {finding.problem}")
    for row in finding.rows:
        print(f"  {row.verdict:15} {row.what}: paper {paper_text(row)}, measured {measured_text(row)}")
    sys.stdout.flush()


def _write(findings: list[Finding], arguments: argparse.Namespace) -> None:
    words = ["supdr-viz reproduce", *arguments.names, *(["--quick"] if arguments.quick else [])]
    command = " ".join([*words, *(["--data-dir DIR"] if arguments.data_dir else [])])
    protocol = "quick" if arguments.quick else "full"
    gaps = not_covered()
    out = Path(arguments.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    for ending, text in (
        ("md", to_markdown(findings, command, protocol, gaps)),
        ("csv", to_csv(findings)),
        ("html", to_html(findings, command, protocol, gaps)),
    ):
        write_atomically(out.with_name(f"{out.name}.{ending}"), text.encode())
