"""SNF: Tables 1 and 2 and Fig. 1 of Grabocka, Bedalli and Schmidt-Thieme."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr_viz.reproduce.bench import Bench, Item, NotCovered, Row
from supdr_viz.reproduce.few_labels_estimator import Chosen
from supdr_viz.studies.data import load_scaled
from supdr_viz.studies.few_labels import FIRST_DRAW, N_DRAWS, drawn
from supdr_viz.studies.snf_paper import reported

PAPER = "SNF (Grabocka, Bedalli, Schmidt-Thieme)"

SETS = (
    *("autoprice", "baseball", "bears", "bodyfat", "forestfires", "boston_housing"),
    *("machine_cpu", "mpg", "pyrimidines", "triazines", "wisconsin_breast_cancer"),
)
PEERS = ("SNF", "LLR", "LS-SVM")


def _errors(bench: Bench, X: NDArray, y: NDArray, share: float) -> dict[str, tuple[float, ...]]:
    """Return the errors of every method on the unlabelled rows, a value per draw."""
    cv: list[tuple[NDArray, NDArray]] = []
    for seed in range(FIRST_DRAW, FIRST_DRAW + bench.either(1, N_DRAWS)):
        rows = drawn(len(y), share, seed)
        cv.append((rows, np.delete(np.arange(len(y)), rows)))
    return {
        method: bench.values(Chosen(method), X, y, cv=cv, scoring="mse", transductive=True)
        for method in (*PEERS, "Constant")
    }


def _table(number: int) -> Item:
    share = 0.05 * number

    def rows(bench: Bench) -> list[Row]:
        found = []
        for name in bench.either(("autoprice", "bears"), SETS):
            X, y = load_scaled(name, bench.data_dir)
            errors, paper = _errors(bench, X, y, share), reported(X, y, share)
            found += [Row(f"{name}: {method}", errors[method], paper[method]) for method in PEERS]
            beside = float(np.mean(errors["Constant"]))
            found.append(
                Row(f"{name}: SNF at most the constant's error (our question)", errors["SNF"], beside, kind="at most")
            )
        return found

    return Item(
        f"snf-table-{number}",
        PAPER,
        f"Table {number}: mean squared error with {share:.0%} labels",
        rows,
        "SNF and LLR at the library's defaults; LS-SVM by cross-validation on 4 to 50 labels, a lottery. The paper "
        "gives no deviations, and no constant to compare with.",
        "Not explained: the paper's draws are not known, and settings chosen with 4 to 50 labels are a lottery. On "
        "forestfires and triazines nothing beats the constant.",
    )


def figure_1(bench: Bench) -> list[Row]:
    """More labels, smaller errors."""
    rows = []
    for name in bench.either(("autoprice",), ("boston_housing", "bodyfat", "autoprice")):
        X, y = load_scaled(name, bench.data_dir)
        few, many = (_errors(bench, X, y, share) for share in (0.05, 0.2))
        fall = tuple(late / early for early, late in zip(few["SNF"], many["SNF"]))
        rows.append(Row(f"{name}: SNF's error at 20 % / at 5 % labels", fall, 1.0, kind="at most"))
        lead = tuple(ours / other for ours, other in zip(many["SNF"], many["LS-SVM"]))
        rows.append(Row(f"{name}: SNF / LS-SVM at 20 % labels", lead, 1.0, kind="at most"))
    return rows


ITEMS = (
    _table(1),
    _table(2),
    Item(
        "snf-figure-1",
        PAPER,
        "Fig. 1: error against the share of labels",
        figure_1,
        reason="Level within a deviation: at 20 % labels LS-SVM has caught up on boston_housing.",
    ),
)

NOT_COVERED: tuple[NotCovered, ...] = ()
