"""The table of a comparison as HTML and as CSV, and one sentence for those who cannot see the plots."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from supdr_viz.pages.compare.checks import CHECKS, answer_text
from supdr_viz.pages.compare.column import Facts
from supdr_viz.pages.compare.comparison import DEFAULT, LETTERS
from supdr_viz.ui.markup import escape, symbols

CSS = """
table { width: 100%; font-variant-numeric: tabular-nums; } td, th { max-width: none; padding: 2px 6px; }
th[scope=col] { white-space: normal; vertical-align: bottom; line-height: 1.25; }
td.model { white-space: normal; min-width: 110px; }
th.number, td.number { text-align: right; } tr:last-child > * { border-bottom: none; }
td.number { white-space: nowrap; } p { margin: 4px 6px; }
th[title] { cursor: help; } td.note { white-space: normal; color: var(--supdr-secondary); min-width: 110px; }
td.best { font-weight: 700; color: var(--supdr-running); } tr.chosen td:first-child { color: var(--supdr-primary); }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (min-width: 1400px) {
  th.short[scope=col], table:not(:has(.note)) td.model { white-space: nowrap; }
  th.long[scope=col] { width: 104px; }
}
"""

# Titles of up to so many letters stay on one line in a wide window; longer ones take two.
SHORT = 12

CLASSIFICATION = (("train", "Train error"), ("test", "Test error"))
# How true the latent plane is: see `supdr.quality`.
MAP = (
    ("trustworthiness", "Trust"),
    ("continuity", "Continuity"),
    ("neighbourhood_overlap", "Neighbours kept"),
    ("knn_error", "Nearest-neighbour error"),
    ("distance_correlation", "Correlation of distances"),
    ("class_centre_correlation", "Correlation of class centres"),
)

BEST = "Bold green: the best value of a measure. Training errors are not ranked."
NONE = "–: not measured."

# What the measures mean, on being pointed at.
MEANINGS = {
    "train": "Error of the training rows, judged as new ones: placed without their labels, as test rows are.",
    "test": "Error of the test rows, whose labels no method sees.",
    "trustworthiness": "1: all who are near on the map are near in the data, too. By chance: about 0.5.",
    "continuity": "1: all who are near in the data are near on the map, too. By chance: about 0.5.",
    "neighbourhood_overlap": "Share of the nearest neighbours in the data that are nearest on the map, too.",
    "knn_error": "Error of a vote of the nearest neighbours on the map.",
    "distance_correlation": "Rank correlation of the distances on the map with those in the data.",
    "class_centre_correlation": "Rank correlation of the distances of class centres on the map with those in the data.",
}

REGRESSION = (("train", "Train MSE"), ("test", "Test MSE"), ("train R²", "Train R²"), ("test R²", "Test R²"))


def table_html(rows: Sequence[Facts], task: str) -> str:
    """Write the table; the best value of each measure is marked once every method has made a step.

    `task`: one of "classification", "regression".
    """
    of_map = tuple(each for each in MAP if any(each[0] in row.scores for row in rows))
    measures = (*(REGRESSION if task == "regression" else CLASSIFICATION), *of_map)
    checks = _made(rows)
    heads = "".join(_head(title, MEANINGS.get(name, "")) for name, title in measures)
    heads += "".join(_head(CHECKS[name].titles[task]) for name in checks)
    best = {name: _best_answer(rows, name) for name in checks}
    best |= {name: best_value(rows, name) for name, _ in measures if not name.startswith("train")}
    body, noted = [], any(row.note for row in rows)
    for letter, row in zip(LETTERS, rows):
        cells = [
            f'<th scope="row">{letter} · {escape(row.label)}</th>',
            *([f'<td class="note">{symbols(row.note) or DEFAULT}</td>'] if noted else []),
        ]
        cells.append(f'<td class="number">{"" if row.iteration is None else f"{row.iteration:,}"}</td>')
        for name, _ in measures:
            value = row.scores.get(name)
            mark = " best" if value is not None and value == best.get(name) else ""
            cells.append(f'<td class="number{mark}">{said(value, name, task)}</td>')
        for name in checks:
            answer = row.answers.get(name)
            mark = " best" if answer is not None and answer.value == best[name] and len(rows) > 1 else ""
            cells.append(f'<td class="number{mark}">{answer_text(name, answer, task)}</td>')
        seconds = "" if row.seconds is None else f"{row.seconds:.2f}"
        cells += [f'<td class="model">{escape(row.size)}</td>', f'<td class="number">{seconds}</td>']
        cells.append(f"<td>{escape(row.state)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    notes = [BEST] * any(' best"' in row for row in body) + [NONE] * any(">–<" in row for row in body)
    note = f'<p class="quiet small">{" ".join(notes)}</p>' if notes else ""
    settings = '<th scope="col">Settings</th>' if noted else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Results"><table>'
        "<caption>Results of the columns</caption>"
        f'<tr><th scope="col">Method</th>{settings}'
        f'<th scope="col" class="number">Iteration</th>{heads}'
        '<th scope="col">Model</th><th scope="col" class="number">Seconds</th><th scope="col">State</th></tr>'
        f"{''.join(body)}</table></div>{note}"
    )


def _head(title: str, meaning: str = "") -> str:
    """Write the head of a column of numbers."""
    said = f' title="{escape(meaning)}"' if meaning else ""
    kind = "long" if len(title) > SHORT else "short"
    return f'<th scope="col" class="number {kind}"{said}>{title}</th>'


def table_csv(rows: Sequence[Facts]) -> str:
    """Write the table as CSV, unrounded."""
    known = ("train", "test", "train R²", "test R²", *(name for name, _ in MAP))
    names = [name for name in known if any(name in row.scores for row in rows)]
    text = io.StringIO()
    writer = csv.writer(text)
    checks = _made(rows)
    checked = [title for name in checks for title in CHECKS[name].names]
    writer.writerow(["column", "method", "settings", "iteration", *names, *checked, "model", "seconds", "state"])
    for letter, row in zip(LETTERS, rows):
        scores = [row.scores.get(name, "") for name in names]
        for name in checks:
            answer, check = row.answers.get(name), CHECKS[name]
            scores += [""] * len(check.names) if answer is None else check.numbers(answer)
        writer.writerow([letter, row.label, row.note, row.iteration, *scores, row.size, row.seconds, row.state])
    return text.getvalue()


def stacked_csv(tables: Sequence[tuple[str, str]]) -> str:
    """Stack CSV tables that may differ in their columns, with the letter of the column in front.

    Returns empty without tables.
    """
    import pandas as pd

    frames = [pd.read_csv(io.StringIO(text)).assign(column=letter) for letter, text in tables if text]
    if not frames:
        return ""
    stacked = pd.concat(frames, ignore_index=True)
    return stacked[["column", *(name for name in stacked if name != "column")]].to_csv(index=False)


def sentence(rows: Sequence[Facts], task: str) -> str:
    """Say how the columns stand: "A NSDR, iteration 40, test error 2.1 %; B …"."""
    parts = []
    for letter, row in zip(LETTERS, rows):
        words = [f"{letter} {row.label}", row.state]
        if row.iteration is not None:
            words.append(f"iteration {row.iteration}")
        for name in ("train", "test"):
            if name in row.scores:
                kind = "MSE" if task == "regression" else "error"
                words.append(f"{name} {kind} {said(row.scores[name], name, task)}")
        parts.append(", ".join(words))
    return "; ".join(parts)


def said(value: float | None, name: str, task: str) -> str:
    """Write one value as the table shows it; a dash where there is none."""
    if value is None or value != value:
        return "–"
    if name == "neighbourhood_overlap" or (name == "knn_error" and task == "classification"):
        return f"{100.0 * value:.1f} %"
    if name.endswith("R²") or name in dict(MAP):
        return f"{value:.3f}"
    return f"{value:.4g}" if task == "regression" else f"{value:.1f} %"


def _made(rows: Sequence[Facts]) -> list[str]:
    """Return the names of the checks that were made."""
    return [name for name in CHECKS if any(name in row.answers for row in rows)]


def _best_answer(rows: Sequence[Facts], name: str) -> float | None:
    values = [answer.value for row in rows if (answer := row.answers.get(name)) is not None]
    return (max if CHECKS[name].greater else min)(values, default=None)


def best_value(rows: Sequence[Facts], name: str) -> float | None:
    """Return the best value of a measure; None before every method has made a step, and of one column alone."""
    if len(rows) == 1 or any(row.iteration == 0 for row in rows):
        return None
    values = [row.scores[name] for row in rows if name in row.scores]
    greater = name.endswith("R²") or (name in dict(MAP) and name != "knn_error")
    return (max if greater else min)(values, default=None)
