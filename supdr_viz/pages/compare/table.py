"""The table of a comparison as HTML and as CSV, and one sentence for those who cannot see the plots."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from supdr_viz.data.number_format import mean_text
from supdr_viz.pages.compare.column import Facts
from supdr_viz.pages.compare.comparison import LETTERS
from supdr_viz.pages.compare.seeds import SEEDS, Spread
from supdr_viz.ui.markup import escape, symbols

CSS = """
table { width: 100%; font-variant-numeric: tabular-nums; } td, th { max-width: none; padding: 2px 6px; }
th[scope=col] { white-space: normal; vertical-align: bottom; } td.model { white-space: normal; min-width: 110px; }
th.number, td.number { text-align: right; } tr:last-child > * { border-bottom: none; }
td.note { white-space: normal; color: var(--supdr-secondary); min-width: 130px; }
td.best { font-weight: 700; color: var(--supdr-running); } tr.chosen td:first-child { color: var(--supdr-primary); }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""

CLASSIFICATION = (("train", "Train error"), ("test", "Test error"))
# How true the latent plane is: see `supdr.quality`.
MAP = (
    ("trustworthiness", "Trust"),
    ("continuity", "Continuity"),
    ("neighbourhood_overlap", "Kept neighbours"),
    ("knn_error", "k-NN error"),
    ("distance_correlation", "Distances ρ"),
    ("class_centre_correlation", "Centres ρ"),
)

REGRESSION = (("train", "Train MSE"), ("test", "Test MSE"), ("train R²", "Train R²"), ("test R²", "Test R²"))


def table_html(rows: Sequence[Facts], task: str) -> str:
    """Write the table; the best value of each measure is marked.

    `task`: one of "classification", "regression".
    """
    of_map = tuple(each for each in MAP if any(each[0] in row.scores for row in rows))
    measures = (*(REGRESSION if task == "regression" else CLASSIFICATION), *of_map)
    kind = "MSE" if task == "regression" else "error"
    spread = f'<th scope="col" class="number">Test {kind}, {SEEDS} seeds</th>' if _spread(rows) else ""
    least = min((row.spread.mean for row in rows if row.spread is not None), default=None)
    heads = "".join(f'<th scope="col" class="number">{title}</th>' for _, title in measures)
    best = {name: _best(rows, name) for name, _ in measures}
    body = []
    for letter, row in zip(LETTERS, rows):
        cells = [f'<th scope="row">{letter} · {escape(row.label)}</th>', f'<td class="note">{symbols(row.note)}</td>']
        cells.append(f'<td class="number">{"" if row.iteration is None else f"{row.iteration:,}"}</td>')
        for name, _ in measures:
            value = row.scores.get(name)
            mark = " best" if value is not None and value == best[name] and len(rows) > 1 else ""
            cells.append(f'<td class="number{mark}">{said(value, name, task)}</td>')
        if spread:
            mark = " best" if row.spread is not None and row.spread.mean == least and len(rows) > 1 else ""
            cells.append(f'<td class="number{mark}">{spread_text(row.spread, task)}</td>')
        seconds = "" if row.seconds is None else f"{row.seconds:.2f}"
        cells += [f'<td class="model">{escape(row.size) or "–"}</td>', f'<td class="number">{seconds}</td>']
        cells.append(f"<td>{escape(row.state)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Results"><table>'
        "<caption>Results of the columns</caption>"
        '<tr><th scope="col">Method</th><th scope="col">Settings</th>'
        f'<th scope="col" class="number">Iteration</th>{heads}{spread}'
        '<th scope="col">Model</th><th scope="col" class="number">Seconds</th><th scope="col">State</th></tr>'
        f"{''.join(body)}</table></div>"
    )


def table_csv(rows: Sequence[Facts]) -> str:
    """Write the table as CSV, unrounded."""
    known = ("train", "test", "train R²", "test R²", *(name for name, _ in MAP))
    names = [name for name in known if any(name in row.scores for row in rows)]
    text = io.StringIO()
    writer = csv.writer(text)
    seeds = [f"test mean over {SEEDS} seeds", "test deviation over seeds"] if _spread(rows) else []
    writer.writerow(["column", "method", "settings", "iteration", *names, *seeds, "model", "seconds", "state"])
    for letter, row in zip(LETTERS, rows):
        scores = [row.scores.get(name, "") for name in names]
        if seeds:
            scores += ["", ""] if row.spread is None else [row.spread.mean, row.spread.deviation]
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
    if name == "knn_error" and task == "classification":
        return f"{100.0 * value:.1f} %"
    if name.endswith("R²") or name in dict(MAP):
        return f"{value:.3f}"
    return f"{value:.4g}" if task == "regression" else f"{value:.1f} %"


def spread_text(spread: Spread | None, task: str) -> str:
    """Write a mean over seeds with its deviation; a dash where there is none."""
    if spread is None:
        return "–"
    if task == "regression":
        return mean_text(spread.mean, spread.deviation)
    return f"{spread.mean:.1f} ± {spread.deviation:.1f} %"


def _spread(rows: Sequence[Facts]) -> bool:
    """Whether columns were measured over seeds."""
    return any(row.spread is not None for row in rows)


def _best(rows: Sequence[Facts], name: str) -> float | None:
    values = [row.scores[name] for row in rows if name in row.scores]
    greater = name.endswith("R²") or (name in dict(MAP) and name != "knn_error")
    return (max if greater else min)(values, default=None)
