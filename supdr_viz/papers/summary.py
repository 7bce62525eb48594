"""All items on one page that can be cited: claim, verdict, one number, and why what is not reproduced is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from supdr_viz.papers.bench import Item, Row

MOST_NAMED = 4
MISSED = ("not reproduced", "undecided", "not measured")
VERDICTS = ("reproduced", "better", "differs", "undecided", "not reproduced", "yes", "no", "not measured")
# What rows are about -> how the count calls them.
COUNTED = {
    "method": "figures and claims of the papers about their own methods",
    "rival": "figures of rivals that the papers print",
    "question": "questions of our own",
}


class Line(NamedTuple):
    """What is said of one item.

    `claim`: paper and title; `verdict`: "reproduced", or how many of its figures are; `number`: the first one that
    decides: where something is not reproduced, the first of those.
    """

    claim: str
    verdict: str
    number: str
    reason: str


def line_of(item: Item, rows: Sequence[Row], problem: str, written: tuple[str, ...]) -> Line:
    """Summarise an item.

    `problem`: why it was not measured; empty: it was. `written`: every row in words: what, the paper's figure and ours.
    """
    claim = f"{item.paper}: {item.title}"
    if problem or not rows:
        return Line(claim, "not measured", "", problem)
    counts = Counter(row.verdict for row in rows)
    missed = [text for row, text in zip(rows, written) if row.verdict in MISSED and row.about != "question"]
    if set(counts) == {"reproduced"}:
        return Line(claim, "reproduced", written[0], "")
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    more = f"; and {len(missed) - MOST_NAMED} more" if len(missed) > MOST_NAMED else ""
    return Line(claim, said, "; ".join(missed[:MOST_NAMED] or written[:1]) + more, item.reason if missed else "")


def totals(rows: Sequence[Row]) -> str:
    """Count verdicts: one sentence on the papers' own claims, one on their rivals, one on our questions."""
    sentences = []
    for about, name in COUNTED.items():
        counts = Counter(row.verdict for row in rows if row.about == about)
        if counts:
            parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
            sentences.append(f"Of {counts.total()} {name}: {', '.join(parts)}.")
    return " ".join(sentences)
