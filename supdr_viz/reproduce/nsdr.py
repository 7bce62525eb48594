"""NSDR: Table 2 and Figs. 1 to 4 of Grabocka and Schmidt-Thieme."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from supdr import LSDR, NSDR
from supdr.datasets import make_noisy_plane
from supdr.sensitivity import logarithmic
from supdr_viz.reproduce.bench import Bench, Item, NotCovered, Row, everything
from supdr_viz.studies.data import filled, load_table

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
PAPER_SETTING: dict[str, Any] = {"row_bias": True, "init": "random", "init_scale": 0.1, "preprocessing": "zscore"}
"""What the runs with Table 1's parameters have in common."""

# Table 1: PCA-SVM (share of variance, C, degree), SVM (C, degree)
_MACHINES: dict[str, tuple[tuple[Any, float, int], tuple[float, int]]] = {
    "breast_cancer_w": ((None, 10.0, 2), (10.0, 2)),
    "ionosphere": ((None, 1.0, 3), (0.1, 2)),
    "pi_diabetes": ((None, 1.0, 3), (10.0, 3)),
    "sonar": ((0.7, 10.0, 2), (0.1, 3)),
    "spect": ((None, 1.0, 3), (0.1, 2)),
}
# Table 2: error and its deviation of NSDR and LSDR; error of PCA-SVM and SVM (which column is which is inferred)
_TABLE_2 = {
    "breast_cancer_w": ((0.070, 0.018), (0.122, 0.013), 0.073, 0.082),
    "ionosphere": ((0.066, 0.008), (0.097, 0.016), 0.140, 0.091),
    "pi_diabetes": ((0.264, 0.023), (0.279, 0.016), 0.274, 0.280),
    "sonar": ((0.106, 0.041), (0.188, 0.042), 0.226, 0.226),
    "spect": ((0.138, 0.051), (0.142, 0.056), 0.206, 0.243),
}


def table_2(bench: Bench) -> list[Row]:
    """Errors on five sets: the paper's loop and its parameters, and the baselines."""
    rows = []
    cv, seeds = bench.either(2, 5), range(bench.either(1, 3))
    for name in FIVE_SETS:
        X, y = load_table(name, bench.data_dir)
        X, y = filled(X), y.astype(int)
        (nsdr, nsdr_sd), (lsdr, lsdr_sd), pca_svm, svm = _TABLE_2[name]
        loop = {**PAPER_SETTING, "solver": "sgd", "max_iter": bench.either(20, 300), "calibrate": False}
        fast = {**PAPER_SETTING, "solver": "bcd", "max_iter": bench.either(5, 100)}
        protocol: dict[str, Any] = {"cv": cv, "seeds": seeds, "transductive": True}
        own = NSDR(**TABLE_1_NSDR[name], **loop, kernel="poly")
        rows.append(Row(f"{name}: NSDR, paper's loop", bench.values(own, X, y, **protocol), nsdr, nsdr_sd))
        linear = LSDR(**TABLE_1_LSDR[name], **loop)
        rows.append(Row(f"{name}: LSDR, paper's loop", bench.values(linear, X, y, **protocol), lsdr, lsdr_sd))
        calibrated = LSDR(**TABLE_1_LSDR[name], **fast)
        found = bench.values(calibrated, X, y, cv=cv, seeds=seeds)
        rows.append(Row(f"{name}: LSDR, block descent, calibrated", found, lsdr, lsdr_sd))
        (share, C, degree), (C_svm, degree_svm) = _MACHINES[name]
        machine = make_pipeline(
            MinMaxScaler((-1, 1)), PCA(share), SVC(C=C, kernel="poly", degree=degree, gamma=1, coef0=1)
        )
        rows.append(Row(f"{name}: PCA + SVM", bench.values(machine, X, y, cv=cv, seeds=seeds), pca_svm))
        machine = make_pipeline(MinMaxScaler((-1, 1)), SVC(C=C_svm, kernel="poly", degree=degree_svm, gamma=1, coef0=1))
        rows.append(Row(f"{name}: SVM", bench.values(machine, X, y, cv=cv, seeds=seeds), svm))
    return rows


def separable(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Whether a line separates the latent rows."""
    Z = fitted.embedding_
    return float(SVC(C=1e6, kernel="linear").fit(Z, y).score(Z, y) == 1.0)


def own_error(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Error of the fitted head on the training rows."""
    return float(np.mean(fitted.transduction_ != y))


def rmse(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Root of the mean squared error of the reconstruction, which enters the loss with weight beta."""
    return float(np.sqrt(max(fitted.history_["reconstruction"][-1], 0.0) / (fitted.beta * X.size)))


def figure_1(bench: Bench) -> list[Row]:
    """Ten points in two bands: separable with labels, not without."""
    settings: dict[str, Any] = {"reg_u": 1e-4, "reg_v": 1e-4, "reg_w": 1e-4, "solver": "bcd", "max_iter": 300}
    found: dict[float, list[float]] = {0.4: [], 0.9999: []}
    for seed in range(bench.either(3, 20)):
        X, y = make_noisy_plane("linear", 10, noise=0.0, random_state=seed).to_xy()
        model = LSDR(**settings, row_bias=True, calibrate=False, init="random", init_scale=0.1, preprocessing="none")
        grid = {"beta": list(found)}
        result = bench.sweep(model, X, y, grid, cv=everything(X), scoring={"separable": separable}, seeds=(seed,))
        for number, beta in enumerate(found):
            found[beta].append(result.cells[number].mean("separable"))
    return [
        Row("share of draws that LSDR separates", tuple(found[0.4]), 1.0, kind="at least"),
        Row("share of draws that plain factorisation separates", tuple(found[0.9999]), 0.5, kind="at most"),
    ]


def figure_2(bench: Bench) -> list[Row]:
    """Separate a disc from its ring: NSDR does, LSDR is said to fail."""
    shared: dict[str, Any] = {**PAPER_SETTING, "preprocessing": "none", "beta": 0.7, "reg_u": 0.01, "reg_v": 0.01}
    linear = LSDR(**shared, reg_w=2.0, max_iter=300, calibrate=False)
    kernel = NSDR(**shared, kernel="poly", degree=3, C=0.5, max_iter=60, calibrate=False)
    found: dict[str, list[float]] = {"LSDR": [], "NSDR": [], "LSDR rmse": [], "NSDR rmse": []}
    scoring = {"error": own_error, "rmse": rmse}
    for seed in range(bench.either(2, 10)):
        X, y = make_noisy_plane("disc", 40, noise=0.0, random_state=seed).to_xy()
        for name, model in (("LSDR", linear), ("NSDR", kernel)):
            cell = bench.sweep(model, X, y, cv=everything(X), scoring=scoring, seeds=(seed,)).cells[0]
            found[name].append(cell.mean("error"))
            found[f"{name} rmse"].append(cell.mean("rmse"))
    ratio = tuple(first / second for first, second in zip(found["LSDR rmse"], found["NSDR rmse"]))
    return [
        Row("training error of NSDR", tuple(found["NSDR"]), 0.05, kind="at most"),
        Row("training error of LSDR", tuple(found["LSDR"]), 0.25, kind="at least"),
        Row("reconstruction error of LSDR / NSDR", ratio, 1.0, kind="at least"),
    ]


def falls(fitted: Any, term: str) -> float:
    """Return the last value of a loss as a share of its first one."""
    return float(fitted.history_[term][-1] / fitted.history_[term][0])


def reconstruction_left(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Reconstruction loss at the end as a share of that after the first epoch."""
    return falls(fitted, "reconstruction")


def label_left(fitted: Any, X: NDArray, y: NDArray) -> float:
    """Label loss at the end as a share of that after the first epoch."""
    return falls(fitted, "label")


def figure_3(bench: Bench) -> list[Row]:
    """Both losses fall together on ionosphere."""
    X, y = load_table("ionosphere", bench.data_dir)
    model = NSDR(
        25,
        beta=0.7,
        kernel="poly",
        degree=1,
        C=1.0,
        reg_u=1e-5,
        reg_v=1e-5,
        solver="sgd",
        max_iter=bench.either(20, 300),
        calibrate=False,
        **{**PAPER_SETTING, "preprocessing": "minmax"},
    )
    scoring = {"reconstruction": reconstruction_left, "label": label_left}
    result = bench.sweep(model, X, y.astype(int), cv=bench.either(2, 5), scoring=scoring)
    left = {name: tuple(map(float, result.cells[0].values(name))) for name in scoring}
    return [
        Row("reconstruction loss, last / first", left["reconstruction"], 0.5, kind="at most"),
        Row("label loss, last / first", left["label"], 0.9, kind="at most"),
    ]


def figure_4(bench: Bench) -> list[Row]:
    """SPECT: C and the degree move the error more than the two ridges do."""
    X, y = load_table("spect", bench.data_dir)
    setting = {**PAPER_SETTING, "preprocessing": "minmax"}
    model = NSDR(11, beta=0.9, C=0.1, degree=2, kernel="poly", max_iter=15, calibrate=False, **setting)
    size = bench.either(3, 20)
    ridges = {"reg_u": logarithmic(1e-6, 10, size), "reg_v": logarithmic(1e-6, 10, size)}
    kernel = {"C": logarithmic(0.01, 100, bench.either(3, 9)), "degree": [1, 2, 3, 4]}
    protocol: dict[str, Any] = {"cv": bench.either(2, 5), "transductive": True}
    spreads = []
    for grid in (ridges, kernel):
        means = bench.sweep(model, X, y.astype(int), grid, **protocol).means()
        spreads.append(float(means.max() - means.min()))
    majority = float(min(np.mean(y == 0), np.mean(y == 1)))
    strong = bench.sweep(model, X, y.astype(int), {"reg_u": [10.0]}, **protocol)
    return [
        Row("spread of the error over C × degree / over λU × λV", (spreads[1] / spreads[0],), 1.0, kind="at least"),
        Row("error at λU = 10: that of the majority", tuple(strong.cells[0].values("error")), majority, 0.01),
    ]


ITEMS = (
    Item(
        "nsdr-table-2",
        PAPER,
        "Table 2: errors on five sets",
        table_2,
        "Table 1's parameters, z-score; the paper's search for them is not repeated. d = 25 on ionosphere is assumed; "
        "the heads of the baselines' columns are inferred.",
        "Not explained: no scaling or solver tried attains NSDR on pi_diabetes, or LSDR on ionosphere and sonar. NSDR "
        "attains sonar by block descent under min-max scaling, .127.",
    ),
    Item("nsdr-figure-1", PAPER, "Fig. 1: separable with labels only", figure_1, "Points drawn by our own generator."),
    Item(
        "nsdr-figure-2",
        PAPER,
        "Fig. 2: a disc in a ring",
        figure_2,
        "Points drawn by our own generator.",
        "Run until it converges LSDR separates them too; the price is a reconstruction error twice NSDR's.",
    ),
    Item("nsdr-figure-3", PAPER, "Fig. 3: both losses fall on ionosphere", figure_3),
    Item("nsdr-figure-4", PAPER, "Fig. 4: sensitivity on SPECT", figure_4),
)

NOT_COVERED: tuple[NotCovered, ...] = ()
