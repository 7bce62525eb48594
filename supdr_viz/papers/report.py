"""Results as Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path

from supdr_viz.papers.bench import RULE, Item, NotCovered, Row
from supdr_viz.papers.summary import Line, line_of, totals

KINDS = {"at most": "≤ ", "at least": "≥ "}
COLUMNS = ("item", "about", "what", "paper", "measured", "sd", "n", "verdict", "note")


@dataclass(frozen=True)
class Finding:
    """An item with what was measured, or why it was not."""

    item: Item
    rows: tuple[Row, ...]
    problem: str = ""
    seconds: float = 0.0


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
    return [
        line_of(
            finding.item,
            finding.rows,
            finding.problem,
            tuple(f"{row.what}: {measured_text(row)} (paper {paper_text(row)})" for row in finding.rows),
        )
        for finding in findings
    ]


def count(findings: Sequence[Finding]) -> str:
    """Count all verdicts in one sentence."""
    return totals([row for finding in findings for row in finding.rows])


def gaps_of(findings: Sequence[Finding], gaps: Sequence[NotCovered]) -> list[NotCovered]:
    """Return what is not covered of the papers that the findings are about."""
    papers = {finding.item.paper for finding in findings}
    return [gap for gap in gaps if gap.paper in papers]


def to_markdown(findings: Sequence[Finding], command: str, protocol: str, gaps: Sequence[NotCovered] = ()) -> str:
    """Write all findings, and what is not covered, as a Markdown document."""
    lines = ["# The papers' tables and figures, measured anew", "", f"`{command}` ({protocol} protocols)", ""]
    lines += [f"Measured at {code_version()}. Machine: {machine()}.", "", RULE, "", "## On one page", ""]
    lines += [count(findings), ""]
    lines += ["| claim | verdict | measured: what is not reproduced, else the first | why |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines_of(findings)]
    lines.append("")
    for finding in findings:
        lines += [f"## {finding.item.paper}: {finding.item.title}", ""]
        lines += [finding.item.note, ""] if finding.item.note else []
        if finding.problem:
            lines += [f"Not measured: {finding.problem}", ""]
            continue
        lines += ["| | paper | measured | verdict |", "|---|---|---|---|"]
        lines += [f"| {row.what} | {paper_text(row)} | {measured_text(row)} | {row.verdict} |" for row in finding.rows]
        lines += [f"\n{row.what}: {row.note}" for row in finding.rows if row.note]
        lines += ["", f"{finding.seconds:.0f} s of fits.", ""]
    covered = gaps_of(findings, gaps)
    if covered:
        lines += ["## Not covered", "", "| paper | what | why |", "|---|---|---|"]
        lines += [f"| {gap.paper} | {gap.what} | {gap.reason} |" for gap in covered]
        lines.append("")
    return "\n".join(lines)


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
    parts = [
        f"<h1>The papers' tables and figures, measured anew</h1><p><code>{escape(command)}</code> "
        f"({escape(protocol)} protocols)<br>Measured at {escape(code_version())}.<br>{escape(machine())}</p>"
        f"<p>{escape(RULE)}</p>",
        f"<h2>On one page</h2><p>{escape(count(findings))}</p>{_summary(lines_of(findings))}",
    ]
    for finding in findings:
        parts.append(f"<h2>{escape(finding.item.paper)}: {escape(finding.item.title)}</h2>")
        parts.append(f"<p>{escape(finding.item.note)}</p>" if finding.item.note else "")
        if finding.problem:
            parts.append(f"<p class='no'>Not measured: {escape(finding.problem)}</p>")
            continue
        body = "".join(
            f"<tr><td>{escape(row.what)}</td><td>{escape(paper_text(row))}</td><td>{escape(measured_text(row))}</td>"
            f"<td>{figure(row)}</td><td class='{row.verdict.split()[0]}'>{escape(row.verdict)}</td></tr>"
            for row in finding.rows
        )
        head = "<tr><th></th><th>paper</th><th>measured</th><th>▏paper ● measured</th><th>verdict</th></tr>"
        parts.append(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>")
        parts += [f"<p>{escape(row.what)}: {escape(row.note)}</p>" for row in finding.rows if row.note]
    if covered := gaps_of(findings, gaps):
        body = "".join(
            f"<tr><td>{escape(gap.paper)}</td><td>{escape(gap.what)}</td><td>{escape(gap.reason)}</td></tr>"
            for gap in covered
        )
        head = "<tr><th>paper</th><th>what</th><th>why</th></tr>"
        parts.append(f"<h2>Not covered</h2><table><thead>{head}</thead><tbody>{body}</tbody></table>")
    head = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>supdr: results</title>{STYLE}"
    return f"{head}{''.join(parts)}</html>\n"


def _summary(lines: Sequence[Line]) -> str:
    """Write the lines as a table."""
    head = (
        "<tr><th>claim</th><th>verdict</th><th>measured: what is not reproduced, else the first</th><th>why</th></tr>"
    )
    body = "".join(
        f"<tr><td>{escape(line.claim)}</td><td class='{'not' if 'not' in line.verdict else 'reproduced'}'>"
        f"{escape(line.verdict)}</td><td>{escape(line.number)}</td><td>{escape(line.reason)}</td></tr>"
        for line in lines
    )
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


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


STYLE = """<style>
body { font: 14px/1.5 Roboto, Helvetica, Arial, sans-serif; max-width: 1000px; margin: 24px auto; padding: 0 16px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border-bottom: 1px solid #ccd3da; padding: 4px 10px; }
td, th { text-align: left; vertical-align: middle; } h2 { margin-top: 28px; font-size: 17px; }
svg line { stroke: #b34700; stroke-width: 2; } svg path { stroke: #005a8f; } svg circle { fill: #005a8f; }
svg .one { fill: #8a97a3; } svg .band { fill: #b34700; opacity: .15; }
.reproduced, .better, .yes { color: #1b7a3d; } .not, .no { color: #b3261e; }
</style>"""
