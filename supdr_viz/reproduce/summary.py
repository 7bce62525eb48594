"""All items on one page that can be cited: claim, verdict, one number, and why what is not reproduced is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from supdr_viz.reproduce.bench import Item, Row

MOST_NAMED = 4
VERDICTS = ("reproduced", "better", "not reproduced", "not measured")


class Line(NamedTuple):
    """What is said of one item.

    Attributes
    ----------
    claim : str
        Paper and title.
    verdict : str
        "reproduced", or how many of its figures are.
    number : str
        The first one that decides: where something is not reproduced, the first of those.
    reason : str
    """

    claim: str
    verdict: str
    number: str
    reason: str


def line_of(item: Item, rows: Sequence[Row], problem: str, written: tuple[str, ...]) -> Line:
    """Summarise an item.

    Parameters
    ----------
    item : Item
    rows : sequence of Row
    problem : str
        Why it was not measured; empty: it was.
    written : tuple of str
        Every row in words: what, the paper's figure and ours.

    Returns
    -------
    Line
    """
    claim = f"{item.paper}: {item.title}"
    if problem or not rows:
        return Line(claim, "not measured", "", problem)
    counts = Counter(row.verdict for row in rows)
    missed = [text for row, text in zip(rows, written) if row.verdict.startswith("not")]
    if not missed:
        better = f", {counts['better']} of {len(rows)} better" if counts["better"] else ""
        return Line(claim, f"reproduced{better}", written[0], "")
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    more = f"; and {len(missed) - MOST_NAMED} more" if len(missed) > MOST_NAMED else ""
    return Line(claim, said, "; ".join(missed[:MOST_NAMED]) + more, item.reason)


def totals(verdicts: Sequence[str]) -> str:
    """Count verdicts in one sentence."""
    counts = Counter(verdicts)
    parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return f"Of {len(verdicts)} figures and claims: {', '.join(parts)}."
