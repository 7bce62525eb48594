"""How good the default parameters are: every method and well-known peers on many sets, 5-fold cross-validation.

python benchmarks/defaults.py --data-dir DIR [--methods MAC SVC] [--sets iris wine] [--jobs 2]

Writes docs/results/defaults.csv and docs/results/defaults.md.  Rows of the table that are not measured stay as they
are, so that one method can be measured again by itself.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

import supdr
from supdr_viz.papers.data import load_table
from supdr_viz.papers.report import machine

RESULTS = Path(__file__).parents[1] / "docs" / "results"

BUNDLED = {
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
    "breast_cancer": sklearn.datasets.load_breast_cancer,
    "digits": sklearn.datasets.load_digits,
    "diabetes": sklearn.datasets.load_diabetes,
}
VIEWS = ("multifeat", "proteinfold_reduced")
"""Sets of several views: their columns side by side."""

CLASSIFICATION = (
    *("iris", "wine", "breast_cancer", "digits"),
    *("breast_cancer_w", "ionosphere", "pi_diabetes", "sonar", "spect", "multifeat", "proteinfold_reduced", "arcene"),
)
REGRESSION = (
    *("diabetes", "autoprice", "baseball", "bears", "bodyfat", "boston_housing", "forestfires", "machine_cpu", "mpg"),
    *("pyrimidines", "triazines", "wisconsin_breast_cancer"),
)

TUNED_SVC = {"svc__C": 10.0 ** np.arange(-1, 4), "svc__gamma": 10.0 ** np.arange(-4, 2)}


def scaled(estimator: Any) -> Any:
    """Return the estimator behind a standard scaler."""
    return make_pipeline(StandardScaler(), estimator)


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "MAC": lambda: supdr.MAC(random_state=0),
    "MAC, two layers": lambda: supdr.MAC(n_layers=2, random_state=0),
    "NSDR": lambda: supdr.NSDR(random_state=0),
    "LSDR": lambda: supdr.LSDR(random_state=0),
    "SLDR": lambda: supdr.SLDR(random_state=0),
    "SDRGLM": lambda: supdr.SDRGLM(random_state=0),
    "SNF": lambda: supdr.SNF(task="classification", random_state=0),
    "SVC": lambda: scaled(SVC()),
    "SVC, tuned": lambda: GridSearchCV(scaled(SVC()), TUNED_SVC, cv=3),
    "k-NN": lambda: scaled(KNeighborsClassifier()),
    "logistic": lambda: scaled(LogisticRegression(max_iter=2000)),
    "LDA": lambda: scaled(LinearDiscriminantAnalysis()),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "SNF": lambda: supdr.SNF(random_state=0),
    "LSDR": lambda: supdr.LSDR(task="regression", random_state=0),
    "SDRGLM": lambda: supdr.SDRGLM(task="regression", random_state=0),
    "ridge": lambda: scaled(RidgeCV(10.0 ** np.arange(-3, 4))),
    "SVR": lambda: scaled(SVR()),
    "k-NN": lambda: scaled(KNeighborsRegressor()),
    "random forest": lambda: RandomForestRegressor(random_state=0),
}


def load(name: str, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set; missing cells are NaN."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    if name in VIEWS:
        arrays = np.load(data_dir / f"{name}.npz")
        return np.hstack([arrays[view] for view in arrays.files if view != "y"]).astype(float), arrays["y"]
    return load_table(name, data_dir, "classification" if name in CLASSIFICATION else "regression")


def measure(task: str, method: str, name: str, data_dir: Path) -> dict[str, Any]:
    """Return the accuracy or R² of a method on every fold of a set, and its seconds a fit."""
    X, y = load(name, data_dir)
    models = CLASSIFIERS if task == "classification" else REGRESSORS
    splitter = StratifiedKFold if task == "classification" else KFold
    scores, began = [], time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in splitter(5, shuffle=True, random_state=0).split(X, y):
            fill = SimpleImputer(keep_empty_features=True).fit(X[train])
            try:
                model = clone(models[method]()).fit(fill.transform(X[train]), y[train])
                scores.append(model.score(fill.transform(X[test]), y[test]))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                print(f"{method} on {name}: {error}", file=sys.stderr)
                scores.append(np.nan)
    seconds = (time.process_time() - began) / len(scores)
    print(f"{method:16} {name:24} {np.mean(scores):.4f}  {seconds:.2f} s a fit", flush=True)
    return {
        "task": task,
        "method": method,
        "set": name,
        "score": np.mean(scores),
        "deviation": np.std(scores),
        "seconds": seconds,
    }


def table(results: pd.DataFrame, task: str, sets: tuple[str, ...], methods: list[str]) -> str:
    """Return a Markdown table: a line for every set, a column for every method, the means below."""
    here = results[results.task == task].pivot(index="set", columns="method", values="score").reindex(index=sets)
    here = here.reindex(columns=[method for method in methods if method in here.columns])
    here.loc["**mean**"] = here.mean(skipna=False)
    lines = ["| | " + " | ".join(here.columns) + " |", "|---" * (1 + len(here.columns)) + "|"]
    for name, row in here.iterrows():
        best = row.max()
        cells = ["" if np.isnan(v) else f"**{v:.3f}**" if v >= best - 5e-4 else f"{v:.3f}" for v in row]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(results: pd.DataFrame) -> str:
    """Return the text of docs/results/defaults.md."""
    return "\n".join(
        [
            "# The default parameters, measured",
            "",
            "`python benchmarks/defaults.py --data-dir DIR`",
            "",
            f"Machine: {machine()}.",
            "",
            "Five-fold cross-validation (shuffled, seed 0). Nothing is tuned, with one exception: *SVC, tuned*",
            "searches C in 0.1 … 1000 and gamma in 0.0001 … 10 by an inner three-fold cross-validation. Missing cells",
            "are the means of the training part. The peers see z-scored columns (the forest the raw ones); our methods",
            "prepare the columns themselves. Every method, set and fold is run by one process with one BLAS thread.",
            "",
            "## Accuracy",
            "",
            table(results, "classification", CLASSIFICATION, list(CLASSIFIERS)),
            "",
            "## R² of regression",
            "",
            table(results, "regression", REGRESSION, list(REGRESSORS)),
            "",
        ]
    )


def main() -> None:
    """Measure what was asked for and write the page anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="folder of the benchmark sets")
    parser.add_argument("--methods", nargs="*", help="measure these methods only")
    parser.add_argument("--sets", nargs="*", help="measure these sets only")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--dry", action="store_true", help="print, and leave the page as it is")
    arguments = parser.parse_args()
    tasks = [("classification", CLASSIFIERS, CLASSIFICATION), ("regression", REGRESSORS, REGRESSION)]
    wanted = [
        (task, method, name)
        for task, methods, sets in tasks
        for name in sets
        for method in methods
        if (arguments.methods is None or method in arguments.methods)
        and (arguments.sets is None or name in arguments.sets)
    ]
    jobs = (joblib.delayed(measure)(*cell, arguments.data_dir) for cell in wanted)
    measured = pd.DataFrame(joblib.Parallel(arguments.jobs, batch_size=1)(jobs))
    if arguments.dry:
        return
    path = RESULTS / "defaults.csv"
    if path.exists():
        measured = pd.concat([pd.read_csv(path), measured]).drop_duplicates(["task", "method", "set"], keep="last")
    measured.sort_values(["task", "set", "method"]).to_csv(path, index=False, float_format="%.4f")
    (RESULTS / "defaults.md").write_text(page(pd.read_csv(path)))


if __name__ == "__main__":
    main()
