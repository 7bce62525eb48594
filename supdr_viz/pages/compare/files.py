"""What can be saved of a comparison: a Python program and CSV tables."""

from __future__ import annotations

from collections.abc import Sequence

from supdr_viz.experiment.build import estimator_arguments, has_gaps
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.snippet import call_text
from supdr_viz.pages.compare import table as scoreboard
from supdr_viz.pages.compare.checks import BOOTSTRAPS, SHUFFLES
from supdr_viz.pages.compare.column import Column
from supdr_viz.pages.compare.comparison import LETTERS


def python_of(columns: Sequence[Column], checks: Sequence[str] = ()) -> str:
    """Write the programs that repeat the columns' runs, one after the other.

    `checks`: names of those that are made: p and stability are computed, too.
    """
    programs = []
    for letter, column in zip(LETTERS, columns):
        name = MENU[column.settings.method].label if column.settings is not None else ""
        programs.append(f"# --- column {letter}: {name} ---\n\n{column.session.python()}{_checks_of(column, checks)}")
    return "\n\n".join(programs)


def _checks_of(column: Column, checks: Sequence[str]) -> str:
    """Write the lines that compute p and stability of a column; empty where neither is asked for."""
    settings, dataset, split = column.session.settings, column.session.dataset, column.session.split
    if settings is None or dataset is None or split is None or split.whole is not None:
        return ""
    arguments = estimator_arguments(settings, dataset.task, split.n_train, dataset.views, has_gaps(dataset))
    names, lines = [], [f"estimator = {call_text(settings.method, arguments)}"]
    if "chance" in checks:
        names.append("label_permutation")
        lines.append(f"print(label_permutation(estimator, X_train, y_train, n_permutations={SHUFFLES}))")
    if "stability" in checks:
        names.append("stability")
        options = {"resample": "bootstrap", "n": BOOTSTRAPS, "random_state": settings.seed}
        lines.append(f"print({call_text('stability', options, 'estimator, X_train, y_train')}.kept.mean())")
    if not names:
        return ""
    return "\n".join(["", f"from supdr.quality import {', '.join(names)}", "", *lines, ""])


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
