"""SLDR: the tables and figures of Gönen and Alpaydın."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from supdr import SLDR
from supdr.baselines import LMKL, MKL, AllViewsSVM
from supdr_viz.reproduce.bench import Bench, Item, NotCovered, Row
from supdr_viz.studies.data import load_multifeat

PAPER = "SLDR (Gönen, Alpaydın)"

_PAPERS_LOOP: dict[str, Any] = {"n_components": 2, "solver": "alternating", "n_init": 3, "starts": "best"}

_SLDR_TABLE = {
    "SVM (FAC)": (94.97, 17.93),
    "SVM (ALL)": (97.69, 23.34),
    "MKL": (97.40, 32.59),
    "LMKL": (97.73, 14.35),
    "SLDR": (97.09, 2.89),
}


def _multifeat(bench: Bench) -> tuple[NDArray, NDArray, tuple[int, ...], list, list]:
    """Return rows, sizes of the views, (train, held out) folds, and (train, test) parts."""
    X, y, sizes = load_multifeat(bench.data_dir)
    rows, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y)
    validation, testing = [], []
    for seed in range(bench.either(1, 5)):
        for train, held in StratifiedKFold(2, shuffle=True, random_state=seed).split(rows, y[rows]):
            validation.append((rows[train], rows[held]))
            testing.append((rows[train], test))
    return X, y, sizes, validation, testing


def sldr_table_2(bench: Bench) -> list[Row]:
    """MULTIFEAT: accuracy and support vectors, C by mean validation accuracy."""
    X, y, sizes, validation, testing = _multifeat(bench)
    methods: dict[str, Any] = {
        "SVM (FAC)": AllViewsSVM(views=[list(range(sizes[0]))]),
        "SVM (ALL)": AllViewsSVM(views=sizes),
        "MKL": MKL(views=sizes),
        "LMKL": LMKL(views=sizes),
        "SLDR": SLDR(views=sizes, **_PAPERS_LOOP),
    }
    rows = []
    for name, model in methods.items():
        grid = {"C": bench.either([10.0], [1.0, 10.0, 100.0])}
        best = bench.sweep(model, X, y, grid, cv=validation, scoring="accuracy").best("accuracy")
        assert best is not None
        chosen = model.set_params(**best.params)
        cell = bench.sweep(chosen, X, y, cv=testing, scoring=["accuracy", "support_fraction"]).cells[0]
        accuracy, support = (tuple(map(float, 100.0 * cell.values(m))) for m in ("accuracy", "support_fraction"))
        rows.append(Row(f"{name}: accuracy in %", accuracy, _SLDR_TABLE[name][0], kind="greater"))
        rows.append(Row(f"{name}: support vectors in %", support, _SLDR_TABLE[name][1]))
    return rows


def views_used(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Return the number of views that are the first choice of at least one row in a hundred."""
    return float((np.asarray(fitted.usage_) >= 0.01).sum())


def _sldr_views(R: int) -> Any:
    def rows(bench: Bench) -> list[Row]:
        X, y, sizes, _, testing = _multifeat(bench)
        model = SLDR(n_gating=2, views=sizes, C=10.0, **{**_PAPERS_LOOP, "n_components": R})
        found = bench.values(model, X, y, cv=testing, scoring={"views": views_used})
        return [Row("views in use, of six", found, 5.0, kind="at most")]

    return rows


def sldr_figure_2(bench: Bench) -> list[Row]:
    """Accuracy and support vectors over R_m and R_G."""
    X, y, sizes, _, testing = _multifeat(bench)
    grid = {"n_components": bench.either([1, 2], [1, 2, 3, 5]), "n_gating": bench.either([2, 4], [2, 4, 6, 10])}
    model = SLDR(views=sizes, C=10.0, **_PAPERS_LOOP)
    result = bench.sweep(model, X, y, grid, cv=testing[: bench.either(2, 4)], scoring=["accuracy", "support_fraction"])
    accuracy, support = 100.0 * result.means("accuracy"), 100.0 * result.means("support_fraction")
    return [
        Row("accuracy in % over the grid: smallest", (float(accuracy.min()),), 95.0, kind="at least"),
        Row("support vectors in % over the grid: smallest", (float(support.min()),), 5.0, kind="at most"),
    ]


ITEMS = (
    Item("sldr-table-2", PAPER, "Table 2: MULTIFEAT", sldr_table_2, "The paper gives no deviations."),
    Item("sldr-figure-1", PAPER, "Fig. 1: views in use, R = 2", _sldr_views(2), "Three to four views in the paper."),
    Item("sldr-figure-2", PAPER, "Fig. 2: accuracy over R and R_G", sldr_figure_2, "The claim as a range."),
    Item("sldr-figure-3", PAPER, "Fig. 3: views in use, R = 1", _sldr_views(1), "Three to four views in the paper."),
)

NOT_COVERED: tuple[NotCovered, ...] = ()
