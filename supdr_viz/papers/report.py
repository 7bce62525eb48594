"""Results as Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, select_autoescape

from supdr_viz.papers.bench import RULE, Item, NotCovered, Row

KINDS = {"at most": "≤ ", "at least": "≥ "}
MISSED = ("not reproduced", "undecided", "not measured")
VERDICTS = ("reproduced", "better", "differs", "undecided", "not reproduced", "yes", "no", "not measured")
# What rows are about -> how the count calls them.
COUNTED = {
    "method": "figures and claims of the papers about their own methods",
    "rival": "figures of rivals that the papers print",
    "question": "questions of our own",
}
# Figures that are not reproduced, in the line on an item.
MOST_NAMED = 4
COLUMNS = ("item", "about", "what", "paper", "measured", "sd", "n", "verdict", "note")


@dataclass(frozen=True)
class Finding:
    """An item with what was measured, or why it was not."""

    item: Item
    rows: tuple[Row, ...]
    problem: str = ""
    seconds: float = 0.0


class Line(NamedTuple):
    """A line on one item, in the table of all items.

    `claim`: paper and title; `verdict`: "reproduced", or how many of its figures are; `number`: the figures that are
    not reproduced, else the first one; `reason`: why.
    """

    claim: str
    verdict: str
    number: str
    reason: str


def machine() -> str:
    """Return one line about this machine and the software."""
    parts = [
        f"{os.cpu_count()} processors",
        platform.machine(),
        platform.system(),
        f"Python {platform.python_version()}",
    ]
    return ", ".join([*parts, *(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba"))])


def code_version() -> str:
    """Return the commit of this checkout, and whether files differ from it; elsewhere the version of the package."""
    folder = Path(__file__).parents[2]
    try:
        described = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty=, with changes", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return f"version {version('supdr-viz')}"
    return f"commit {described.stdout.strip()}"


def paper_text(row: Row) -> str:
    """Write the paper's figure or claim."""
    spread = f" ± {row.paper_sd:.3g}" if row.paper_sd and row.kind not in KINDS else ""
    return f"{KINDS.get(row.kind, '')}{row.paper:.4g}{spread}"


def measured_text(row: Row) -> str:
    """Write mean and standard deviation."""
    if not row.measured:
        return "–"
    return f"{row.mean:.4g} ± {row.deviation:.2g}" if len(row.measured) > 1 else f"{row.mean:.4g}"


def lines_of(findings: Sequence[Finding]) -> list[Line]:
    """Return one line on each finding."""
    return [_line_of(finding) for finding in findings]


def _line_of(finding: Finding) -> Line:
    claim = f"{finding.item.paper}: {finding.item.title}"
    if finding.problem or not finding.rows:
        return Line(claim, "not measured", "", finding.problem)
    texts = [f"{row.what}: {measured_text(row)} (paper {paper_text(row)})" for row in finding.rows]
    counts = Counter(row.verdict for row in finding.rows)
    if set(counts) == {"reproduced"}:
        return Line(claim, "reproduced", texts[0], "")
    missed = [text for row, text in zip(finding.rows, texts) if row.verdict in MISSED and row.about != "question"]
    more = f"; and {len(missed) - MOST_NAMED} more" if len(missed) > MOST_NAMED else ""
    number = "; ".join(missed[:MOST_NAMED] or texts[:1]) + more
    return Line(claim, _counts_text(counts), number, finding.item.reason if missed else "")


def count(findings: Sequence[Finding]) -> str:
    """Count verdicts: one sentence on the papers' own claims, one on their rivals, one on our questions."""
    sentences = []
    for about, name in COUNTED.items():
        counts = Counter(row.verdict for finding in findings for row in finding.rows if row.about == about)
        if counts:
            sentences.append(f"Of {counts.total()} {name}: {_counts_text(counts)}.")
    return " ".join(sentences)


def _counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])


def to_markdown(findings: Sequence[Finding], command: str, protocol: str, gaps: Sequence[NotCovered] = ()) -> str:
    """Write all findings, and what is not covered, as a Markdown document."""
    return _written("report.md", findings, command, protocol, gaps)


def to_csv(findings: Sequence[Finding]) -> str:
    """Write all findings as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for finding in findings:
        if finding.problem:
            writer.writerow([finding.item.name, "", "", "", "", "", 0, "not measured", finding.problem])
        for row in finding.rows:
            numbers = (row.mean, row.deviation, len(row.measured))
            writer.writerow([finding.item.name, row.about, row.what, paper_text(row), *numbers, row.verdict, row.note])
    return text.getvalue()


def to_html(findings: Sequence[Finding], command: str, protocol: str, gaps: Sequence[NotCovered] = ()) -> str:
    """Write all findings, and what is not covered, as a page of its own, with a figure per item."""
    return _written("report.html", findings, command, protocol, gaps)


def _written(
    template: str, findings: Sequence[Finding], command: str, protocol: str, gaps: Sequence[NotCovered]
) -> str:
    papers = {finding.item.paper for finding in findings}
    files = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=select_autoescape())
    files.filters |= {"paper": paper_text, "measured": measured_text, "figure": figure}
    text = files.get_template(template).render(
        command=command,
        protocol=protocol,
        version=code_version(),
        machine=machine(),
        rule=RULE,
        count=count(findings),
        lines=lines_of(findings),
        findings=findings,
        gaps=[gap for gap in gaps if gap.paper in papers],
    )
    return f"{text.rstrip()}\n"


def figure(row: Row, width: int = 180, height: int = 20) -> str:
    """Draw the paper's figure as a line and what was measured as a dot with its standard deviation, as SVG."""
    if not row.measured:
        return ""
    values = (row.paper - row.paper_sd, row.paper + row.paper_sd, row.mean - row.deviation, row.mean + row.deviation)
    low, high = min(*values, *row.measured), max(*values, *row.measured)
    span = (high - low) or max(abs(high), 1e-9)

    def at(value: float) -> float:
        """Return where a value lies in the drawing."""
        return 8 + (width - 16) * (value - low) / span

    middle = height / 2
    left, right, here = at(values[0]), at(values[1]), at(row.paper)
    text = f"paper {row.paper:.4g}, measured {row.mean:.4g}"
    band = f"<rect x='{left:.1f}' y='3' width='{right - left:.1f}' height='{height - 6}' class='band'/>"
    marks = [
        band if row.paper_sd else "",
        f"<line x1='{here:.1f}' x2='{here:.1f}' y1='2' y2='{height - 2}'/>",
        f"<path d='M{at(values[2]):.1f} {middle}H{at(values[3]):.1f}'/>",
        *(f"<circle cx='{at(value):.1f}' cy='{middle}' r='1.6' class='one'/>" for value in row.measured),
        f"<circle cx='{at(row.mean):.1f}' cy='{middle}' r='4'/>",
    ]
    return f"<svg width='{width}' height='{height}' role='img' aria-label='{text}'>{''.join(marks)}</svg>"
