"""What can be saved of a comparison: a Python program and CSV tables."""

from __future__ import annotations

from collections.abc import Sequence

from supdr_viz.experiment.methods import MENU
from supdr_viz.pages.compare import table as scoreboard
from supdr_viz.pages.compare.column import Column
from supdr_viz.pages.compare.comparison import LETTERS


def python_of(columns: Sequence[Column]) -> str:
    """Write the programs that repeat the columns' runs, one after the other."""
    programs = []
    for letter, column in zip(LETTERS, columns):
        name = MENU[column.settings.method].label if column.settings is not None else ""
        programs.append(f"# --- column {letter}: {name} ---\n\n{column.session.python()}")
    return "\n\n".join(programs)


def csv_of(columns: Sequence[Column], what: str) -> str:
    """Write all columns' numbers as one CSV table; the first field is the letter of the column.

    `what`: one of "table", "embedding", "losses". Returns empty if there is nothing yet.
    """
    if what == "table":
        return scoreboard.table_csv([column.facts() for column in columns])
    tables = []
    for letter, column in zip(LETTERS, columns):
        if column.player.newest is not None and not column.problem:
            session = column.session
            tables.append((letter, session.embedding_csv() if what == "embedding" else session.curves_csv()))
    return scoreboard.stacked_csv(tables)
