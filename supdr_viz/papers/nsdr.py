"""NSDR: Table 2, Figs. 1 to 4, the special case, run times and costs of Grabocka and Schmidt-Thieme."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from supdr import LSDR, NSDR
from supdr_viz.papers.bench import Bench, Item, NotCovered, Row, lowest_in
from supdr_viz.papers.data import filled, load_table
from supdr_viz.papers.nsdr_figures import (
    LOOP,
    PAPER_SETTING,
    RING,
    RING_MACHINE,
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    over_draws,
    rises,
)
from supdr_viz.papers.nsdr_search import Searched
from supdr_viz.papers.nsdr_seconds import descend, exponent, loops, seconds_of

PAPER = "NSDR (Grabocka, Schmidt-Thieme)"
FIVE_SETS = ("spect", "sonar", "ionosphere", "breast_cancer_w", "pi_diabetes")

# Table 1 of the paper. NSDR's d on ionosphere is missing there; 25 is assumed.
TABLE_1_LSDR: dict[str, dict[str, Any]] = {
    "breast_cancer_w": {"reg_u": 1e-4, "reg_v": 1e-5, "n_components": 6, "beta": 0.1, "reg_w": 1.0},
    "ionosphere": {"reg_u": 1e-6, "reg_v": 1e-5, "n_components": 25, "beta": 0.9, "reg_w": 1.0},
    "pi_diabetes": {"reg_u": 1e-6, "reg_v": 1e-3, "n_components": 6, "beta": 0.9, "reg_w": 0.1},
    "sonar": {"reg_u": 1e-6, "reg_v": 1.0, "n_components": 45, "beta": 0.5, "reg_w": 10.0},
    "spect": {"reg_u": 1e-2, "reg_v": 1.0, "n_components": 16, "beta": 0.5, "reg_w": 0.1},
}
TABLE_1_NSDR: dict[str, dict[str, Any]] = {
    "breast_cancer_w": {"reg_u": 1e-2, "reg_v": 1.0, "n_components": 9, "beta": 0.9, "C": 10.0, "degree": 2},
    "ionosphere": {"reg_u": 1e-6, "reg_v": 1e-6, "n_components": 25, "beta": 0.9, "C": 10.0, "degree": 2},
    "pi_diabetes": {"reg_u": 1e-4, "reg_v": 1.0, "n_components": 6, "beta": 0.1, "C": 0.1, "degree": 3},
    "sonar": {"reg_u": 1e-2, "reg_v": 1.0, "n_components": 60, "beta": 0.1, "C": 0.1, "degree": 2},
    "spect": {"reg_u": 1e-2, "reg_v": 1e-5, "n_components": 22, "beta": 0.5, "C": 0.1, "degree": 3},
}
# Table 1: PCA-SVM (share of variance, C, degree), SVM (C, degree)
_MACHINES: dict[str, tuple[tuple[Any, float, int], tuple[float, int]]] = {
    "breast_cancer_w": ((None, 10.0, 2), (10.0, 2)),
    "ionosphere": ((None, 1.0, 3), (0.1, 2)),
    "pi_diabetes": ((None, 1.0, 3), (10.0, 3)),
    "sonar": ((0.7, 10.0, 2), (0.1, 3)),
    "spect": ((None, 1.0, 3), (0.1, 2)),
}
# Table 2: error and its deviation over five folds; 0 where the deviation is not at hand
_TABLE_2: dict[str, dict[str, tuple[float, float]]] = {
    "breast_cancer_w": {"NSDR": (0.070, 0.018), "LSDR": (0.122, 0.013), "PCA-SVM": (0.073, 0.0), "SVM": (0.082, 0.0)},
    "ionosphere": {"NSDR": (0.066, 0.008), "LSDR": (0.097, 0.016), "PCA-SVM": (0.140, 0.0), "SVM": (0.091, 0.0)},
    "pi_diabetes": {"NSDR": (0.264, 0.023), "LSDR": (0.279, 0.016), "PCA-SVM": (0.274, 0.0), "SVM": (0.280, 0.0)},
    "sonar": {"NSDR": (0.106, 0.041), "LSDR": (0.188, 0.042), "PCA-SVM": (0.226, 0.0), "SVM": (0.226, 0.129)},
    "spect": {"NSDR": (0.138, 0.051), "LSDR": (0.142, 0.056), "PCA-SVM": (0.206, 0.0), "SVM": (0.243, 0.103)},
}

# Folds behind a figure of Table 2.
_FOLDS = 5


def _load(name: str, bench: Bench) -> tuple[NDArray, NDArray]:
    X, y = load_table(name, bench.data_dir)
    return filled(X), y.astype(int)


def table_2(bench: Bench) -> list[Row]:
    """Errors on five sets: the paper's loop with Table 1's parameters, the machines beside it, and who wins."""
    rows: list[Row] = []
    means: dict[str, dict[str, float]] = {}
    for name in FIVE_SETS:
        measured = _errors(bench, name)
        for method, (figure, deviation) in _TABLE_2[name].items():
            own = method in ("NSDR", "LSDR")
            about, words = ("method", f"{method}, paper's loop") if own else ("rival", method)
            rows.append(Row(f"{name}: {words}", measured[method], figure, deviation, about=about, paper_n=_FOLDS))
        means[name] = {method: float(np.mean(measured[method])) for method in _TABLE_2[name]}
        figure = _TABLE_2[name]["LSDR"][0]
        what = f"{name}: LSDR by block descent, calibrated, on new rows"
        rows.append(Row(what, measured["calibrated"], figure, kind="at most", about="question"))
    return rows + _who_wins(means)


def _errors(bench: Bench, name: str) -> dict[str, tuple[float, ...]]:
    """Return the errors of every method on a set, one value a fold and partition."""
    X, y = _load(name, bench)
    folds: dict[str, Any] = {"cv": bench.either(2, _FOLDS), "seeds": range(bench.either(1, 3))}
    loop = {**PAPER_SETTING, "solver": "sgd", "max_iter": bench.either(20, 300), "calibrate": False}
    loops_on = {
        "NSDR": NSDR(**TABLE_1_NSDR[name], **loop, kernel="poly"),
        "LSDR": LSDR(**TABLE_1_LSDR[name], **loop),
    }
    values = {method: bench.values(model, X, y, **folds, transductive=True) for method, model in loops_on.items()}
    inductive: dict[str, Any] = {**_machines(name)}
    inductive["calibrated"] = LSDR(**TABLE_1_LSDR[name], **PAPER_SETTING, max_iter=bench.either(5, 100))
    return values | {method: bench.values(model, X, y, **folds) for method, model in inductive.items()}


def _machines(name: str) -> dict[str, Pipeline]:
    """Return the support vector machines on principal components and on all columns, by Table 1."""
    (share, C, degree), (C_all, degree_all) = _MACHINES[name]

    def machine(C: float, degree: int) -> SVC:
        """Return one with the paper's polynomial kernel."""
        return SVC(C=C, kernel="poly", degree=degree, gamma=1, coef0=1)

    return {
        "PCA-SVM": make_pipeline(MinMaxScaler((-1, 1)), PCA(share), machine(C, degree)),
        "SVM": make_pipeline(MinMaxScaler((-1, 1)), machine(C_all, degree_all)),
    }


def _who_wins(means: dict[str, dict[str, float]]) -> list[Row]:
    """Return the claims of section 4.2 about the means of a set -> method -> mean error."""

    def sets(better: str, *others: str) -> tuple[float]:
        """Return on how many sets a method has the lowest mean of these."""
        return (lowest_in({name: {key: of[key] for key in (better, *others)} for name, of in means.items()}, better),)

    words = "number of the five sets on which"
    return [
        Row(f"{words} NSDR has the fewest errors of all", sets("NSDR", "LSDR", "PCA-SVM", "SVM"), 5, kind="at least"),
        Row(f"{words} LSDR has fewer errors than PCA-SVM", sets("LSDR", "PCA-SVM"), 3, kind="at least"),
        Row(f"{words} NSDR has fewer errors than LSDR", sets("NSDR", "LSDR"), 5, kind="at least"),
    ]


def search(bench: Bench) -> list[Row]:
    """Choose hyper-parameters by a validation split among random draws from the printed grid."""
    rows = []
    for name in FIVE_SETS:
        X, y = _load(name, bench)
        for method, n_draws, n_rounds in (("NSDR", bench.either(2, 40), 15), ("LSDR", bench.either(4, 100), 40)):
            model = Searched(method, n_draws, bench.either(5, n_rounds))
            values = bench.values(model, X, y, cv=bench.either(2, _FOLDS), transductive=True)
            rows.append(Row(f"{name}: {method}, {n_draws} draws", values, *_TABLE_2[name][method], paper_n=_FOLDS))
    return rows


def special_case(bench: Bench) -> list[Row]:
    """Minimise the same objective as NSDR of degree 1 and as LSDR with the hinge."""
    beta = 0.5
    shared: dict[str, Any] = {
        **{"n_components": 5, "beta": beta, "reg_u": 0.1, "reg_v": 0.1, "preprocessing": "zscore"},
        **{"calibrate": False, "max_iter": bench.either(10, 200), "tol": 1e-8},
    }
    models = {
        "NSDR": NSDR(kernel="poly", degree=1, C=1.0, **shared),
        "LSDR": LSDR(loss="hinge", reg_w=(1.0 - beta) / 2.0, **shared),
    }
    scoring = {"error": "error", "objective": "objective"}
    rows = []
    for name in bench.either(FIVE_SETS[:1], FIVE_SETS[:3]):
        X, y = _load(name, bench)
        values: dict[str, dict[str, NDArray]] = {}
        for method, model in models.items():
            settings: dict[str, Any] = {"cv": bench.either(2, _FOLDS), "scoring": scoring, "transductive": True}
            cell = bench.sweep(model, X, y, **settings).cells[0]
            values[method] = {metric: np.array(cell.values(metric)) for metric in scoring}
        ratio = values["NSDR"]["objective"] / values["LSDR"]["objective"]
        rows.append(Row(f"{name}: objective of NSDR of degree 1 / of LSDR", tuple(ratio), 1.0))
        gap = values["NSDR"]["error"] - values["LSDR"]["error"]
        rows.append(Row(f"{name}: error of NSDR of degree 1 minus that of LSDR", tuple(gap), 0.0))
    return rows


def run_times(bench: Bench) -> list[Row]:
    """Time an SVM, the paper's loop and block descent on one set, one after the other in one process."""
    name = "ionosphere"
    X, y = _load(name, bench)
    machine = _machines(name)["SVM"]
    shared: dict[str, Any] = {**PAPER_SETTING, **TABLE_1_NSDR[name], "kernel": "poly", "calibrate": False}
    slow: list[float] = []
    quick: list[float] = []
    for repetition in range(bench.either(1, 3)):
        train = next(StratifiedKFold(_FOLDS, shuffle=True, random_state=repetition).split(X, y))[0]
        hidden = np.full(len(y), np.nan)
        hidden[train] = y[train]
        loop = NSDR(**shared, solver="sgd", max_iter=bench.either(20, 300), random_state=repetition)
        descent = NSDR(**shared, max_iter=100, random_state=repetition)
        clone(descent).set_params(max_iter=1).fit(X, hidden)  # compiles
        clone(loop).set_params(max_iter=1).fit(X, hidden)
        seconds = seconds_of(loop.fit, X, hidden)
        target = float(loop.history_["objective"][-1])
        slow.append(seconds / seconds_of(machine.fit, X[train], y[train]))
        quick.append(seconds / seconds_of(descend, descent, X, hidden, target))
        bench.seconds += seconds
    return [
        Row(
            f"{name}: seconds of NSDR by the paper's loop / of an SVM",
            tuple(slow),
            1.0,
            kind="at least",
            note="The paper prints 158 s against .415 s, 381 times as long, and concludes that NSDR is the slower one.",
        ),
        Row(
            f"{name}: seconds of the paper's loop / of block descent to the same objective",
            tuple(quick),
            10.0,
            kind="at least",
            about="question",
        ),
    ]


def costs(bench: Bench) -> list[Row]:
    """Measure how the seconds of an epoch grow with the rows, and how often the objective rises."""
    sizes = bench.either(
        {"LSDR": (200, 400), "NSDR": (100, 200)}, {"LSDR": (500, 1000, 2000, 4000), "NSDR": (400, 800, 1600)}
    )
    rows = []
    for method, model in loops(10).items():
        began = time.perf_counter()
        repetitions = range(bench.either(1, 3))
        exponents = tuple(exponent(model, sizes[method], 20, bench.either(3, 7)) for _repetition in repetitions)
        bench.seconds += time.perf_counter() - began
        what = f"{method}: exponent of the seconds of an epoch in the number of rows"
        rows.append(Row(what, exponents, 1.5, kind="at most"))
    loop = NSDR(**RING, **RING_MACHINE, **LOOP)
    epochs = {"max_iter": [bench.either(300, 3000)]}
    share = over_draws(bench, "disc", 40, bench.either(1, 5), loop, epochs, {"rises": rises})["rises"]
    what = "NSDR on Fig. 2: share of epochs after which F is higher, largest of the draws"
    rows.append(Row(what, (float(share.max()),), 0.0, kind="at most"))
    return rows


ITEMS = (
    Item(
        "nsdr-table-2",
        PAPER,
        "Table 2: errors on five sets, and who wins",
        table_2,
        "Five folds, here of three partitions. Table 1's parameters, 300 epochs and z-scores for NSDR and LSDR; the "
        "number of epochs of Table 2 and the scaling are assumed, and so is d = 25 on ionosphere, which Table 1 leaves "
        "out. The 16 missing cells of breast_cancer_w are filled with column means. Which of the two last columns of "
        "Table 2 belongs to SVM is inferred: Table 1 prints PCA-SVM before SVM, but here the third column is "
        "taken for SVM, because on ionosphere its figure (.091 against .140) fits what we measured for SVM. The other "
        "sets do not decide it, and LSDR has fewer errors than PCA-SVM on three sets either way. Of the deviations of "
        "these two columns two are at hand.",
        "Not explained: the scaling, the start and the epochs are not printed, and of the scalings and solvers tried "
        "(docs/nsdr.md) none attains NSDR on ionosphere and pi_diabetes, or LSDR on ionosphere and sonar. There the "
        "machines beside them err as the paper prints or less, so NSDR and LSDR win on fewer sets.",
    ),
    Item(
        "nsdr-search",
        PAPER,
        "Table 2 with parameters chosen by a validation split",
        search,
        "The paper searches 36,864 combinations for NSDR by its loop, in every fold. Here 40 of NSDR's and 100 of "
        "LSDR's are drawn at random from that grid, without the learning rates; block descent (15 and 40 rounds) takes "
        "the place of the loop. A quarter of the labelled rows chooses; the choice is fitted anew to all labels. "
        "LSDR's ridge on the weights is .1, 1 or 10, the values of Table 1.",
        "Not explained: few draws and block descent may both matter. By the loop Table 1's own parameters do not "
        "attain sonar and ionosphere either.",
    ),
    Item(
        "nsdr-special-case",
        PAPER,
        "Section 4.2: LSDR is NSDR of degree 1",
        special_case,
        "The two agree if LSDR has the hinge in place of the smooth hinge, no row bias (LSDR's has weight 1, NSDR's a "
        "learnt one) and λW = (1 - β) / 2 for C = 1. Block descent from principal components, β = .5, d = 5.",
        "The errors differ by less than their spread over five folds, which does not prove that they are equal.",
    ),
    Item(
        "nsdr-figure-1",
        PAPER,
        "Fig. 1: separable with labels only",
        figure_1,
        "Points drawn by our own generator. Caption's β, ridges and learning rate; the number of epochs is not "
        "printed there, 3,000 are taken. The ridge on LSDR's weights is not legible, 1e-4 is assumed.",
        "20 draws do not tell a share of .4 from one half, the bound that we read into the text.",
    ),
    Item(
        "nsdr-figure-2",
        PAPER,
        "Fig. 2: a disc in a ring",
        figure_2,
        "Points drawn by our own generator. The caption's settings: the paper's loop, 300 epochs, learning rates 1e-3. "
        "Block descent stands beside it.",
        "300 epochs are too few for NSDR on most of our draws; it goes on to separate them.",
    ),
    Item(
        "nsdr-figure-3",
        PAPER,
        "Fig. 3: losses and errors fall together on ionosphere",
        figure_3,
        "The paper's loop, 300 epochs, five folds.",
    ),
    Item(
        "nsdr-figure-4",
        PAPER,
        "Fig. 4: sensitivity on SPECT",
        figure_4,
        "Block descent, 15 rounds, in place of the loop. λU and λV over the eight printed values, C over .01 to 100.",
    ),
    Item(
        "nsdr-seconds",
        PAPER,
        "Section 4.3: run time",
        run_times,
        "Processor time of one thread, in one process, one fit after the other. The paper's set is not at hand: "
        "ionosphere is taken.",
    ),
    Item(
        "nsdr-costs",
        PAPER,
        "Section 3.6: cost of an epoch, convergence",
        costs,
        "The paper gives O(I (n + n') m d) for both methods: in proportion to the rows, an exponent of 1. The bound "
        "1.5 lies between that and a quadratic cost. Rows of noise, all labelled, 20 columns, d = 10. It calls "
        "convergence guaranteed; F is taken with the primal value of the machine as it stands.",
        "The second part of NSDR's epoch visits all pairs of support rows: O(n² d). Its loop is a min-max alternation, "
        "in which F may rise.",
    ),
)

NOT_COVERED = (
    NotCovered(
        PAPER,
        "Table 1: the parameters that the paper's search has chosen",
        "They are used as printed. A search of our own does not find them again: other partitions, and some 40 "
        "of 36,864 combinations.",
    ),
    NotCovered(
        PAPER,
        "Section 4.1: the search as printed",
        "36,864 combinations in each of five folds by 300 epochs of the loop take weeks; see nsdr-search.",
    ),
)
