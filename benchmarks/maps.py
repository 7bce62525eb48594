"""How true supervised maps are, and how well they separate: every map on the same rows of many sets.

python benchmarks/maps.py --data-dir DIR [--maps ClassAtlas UMAP] [--sets iris wine] [--splits 25] [--jobs 1] [--dry]

Writes docs/results/maps.csv and docs/results/maps.md anew: they hold one whole run and nothing else.  A part of it, or
a run that is broken off, is only printed; so is a whole run with --dry.  The extra [bench] brings UMAP and PaCMAP.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numba
import numpy as np
import pacmap
import pandas as pd
import sklearn.datasets
import umap
from made_sets import MADE
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from threadpoolctl import threadpool_limits

import supdr
from supdr.quality import knn_error, map_quality
from supdr_viz.papers.data import load_table
from supdr_viz.papers.report import machine

RESULTS = Path(__file__).parents[1] / "docs" / "results"

BUNDLED = {
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
    "breast_cancer": sklearn.datasets.load_breast_cancer,
}
VIEWS = ("multifeat", "proteinfold_reduced")
"""Sets of several views: their columns side by side."""

TABLES = ("breast_cancer_w", "ionosphere", "pi_diabetes", "sonar", "spect", "arcene")
SETS = (*BUNDLED, *VIEWS, *TABLES)
"""Of the benchmark folder and of scikit-learn; `--sets` takes other tables of the folder and of `made_sets` too."""

ONE_UNIT = {"digits": 16.0}
"""Sets whose columns share a unit, and what they are divided by; the columns of all others are z-scored."""

MOST_ROWS = 3000
NEIGHBOURS = 10
"""Of a row, for trust, continuity and overlap."""

MAPS: dict[str, Callable[[], Any]] = {
    "ClassAtlas": lambda: supdr.ClassAtlas(random_state=0),
    "UMAP, supervised": lambda: umap.UMAP(random_state=0, n_jobs=1),
    "MAC, two layers": lambda: supdr.MAC(n_layers=2, random_state=0),
    "UMAP": lambda: umap.UMAP(random_state=0, n_jobs=1),
    "PaCMAP": lambda: pacmap.PaCMAP(random_state=0, save_tree=True),
    "t-SNE": lambda: supdr.baselines.TSNE(random_state=0),
    "LDA": lambda: LinearDiscriminantAnalysis(n_components=2),
    "NCA": lambda: NeighborhoodComponentsAnalysis(n_components=2, random_state=0),
}
DUEL = ("ClassAtlas", "UMAP, supervised")
"""Maps that are compared set by set; they are measured in turn, split by split."""

SPLITS = 25
"""Splits that `DUEL` are measured on."""

OTHERS_SPLITS = 5
"""Splits that all other maps are measured on, at most."""

_compiled: set[str] = set()
"""Maps that this process has run before: what they compile is no part of their time."""

COLUMNS = {
    "error": "error %",
    "trust": "trust",
    "continuity": "continuity",
    "overlap": "overlap",
    "seconds": "CPU s",
}


@functools.lru_cache(1)
def load(name: str, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set, at most `MOST_ROWS` random rows; missing cells are NaN."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    elif name in VIEWS:
        arrays = np.load(data_dir / f"{name}.npz")
        X, y = np.hstack([arrays[view] for view in arrays.files if view != "y"]).astype(float), arrays["y"]
    elif name in MADE:
        X, y = MADE[name]()
    else:
        X, y = load_table(name, data_dir)
    y = np.unique(y, return_inverse=True)[1]
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[rows], y[rows]


def prepared(name: str, X: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that every map sees: filled, then in one unit or z-scored; there neighbours are neighbours."""
    fill = SimpleImputer(keep_empty_features=True).fit(X[train])
    first, second = fill.transform(X[train]), fill.transform(X[test])
    if name in ONE_UNIT:
        return first / ONE_UNIT[name], second / ONE_UNIT[name]
    scale = first.std(axis=0)
    scale[scale == 0.0] = 1.0
    return (first - first.mean(axis=0)) / scale, (second - first.mean(axis=0)) / scale


def places(method: str, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where a map puts its own rows and new ones."""
    model = MAPS[method]()
    model.fit(X, None if method in ("UMAP", "PaCMAP") else y)
    return np.asarray(model.embedding_) if hasattr(model, "embedding_") else model.transform(X), model.transform(new)


def measure(name: str, method: str, split: int, data_dir: Path) -> dict[str, Any]:
    """Return how a map did on the first fold of a split, by rows that its fit has not seen."""
    X, y = load(name, data_dir)
    folds = StratifiedKFold(5 if name == "digits" else 3, shuffle=True, random_state=split)
    train, test = next(iter(folds.split(X, y)))
    rows, new = prepared(name, X, train, test)
    result: dict[str, Any] = {"set": name, "map": method, "split": split}
    numba.set_num_threads(1)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if method not in _compiled:  # by as many rows: UMAP has kernels that few rows do not reach
                places(method, rows, y[train], new)
                _compiled.add(method)
            began = time.process_time()
            own, Z = places(method, rows, y[train], new)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            print(f"{method} on {name}: {error}", file=sys.stderr)
            return result
        result["seconds"] = time.process_time() - began
        kept = map_quality(new, Z, n_neighbors=NEIGHBOURS)
        result["error"] = 100.0 * knn_error(Z, y[test], n_neighbors=5, voters=(own, y[train]))
        result["trust"], result["continuity"] = kept.trustworthiness, kept.continuity
        result["overlap"] = kept.neighbourhood_overlap
    numbers = "  ".join(f"{column} {result[column]:.3f}" for column in COLUMNS)
    print(f"{name:20} {split} {method:17} {numbers}", flush=True)
    return result


def table(results: pd.DataFrame, name: str) -> list[str]:
    """Return the lines of a set: mean ± standard deviation over its splits."""
    lines = [f"## {name}", "", "| map | splits | " + " | ".join(COLUMNS.values()) + " |", "|---" * 7 + "|"]
    for method in MAPS:
        here = results[(results["set"] == name) & (results["map"] == method)].dropna()
        if len(here):
            shown = [(here[column], {"error": 2, "seconds": 1}.get(column, 3)) for column in COLUMNS]
            cells = [f"{each.mean():.{k}f} ± {each.std(ddof=0):.{k}f}" for each, k in shown]
            lines.append(f"| {method} | {len(here)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def pairs(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row a set of what both of `DUEL` were measured on: means of each, and how their errors differ."""
    both = results[results["map"].isin(DUEL)].dropna()
    both = both[both.groupby(["set", "split"])["map"].transform("size") == 2]  # the same splits of each
    sides = [both[both["map"] == each].set_index(["set", "split"])[[*COLUMNS]] for each in DUEL]
    apart = (sides[0]["error"] - sides[1]["error"]).groupby("set")
    means = [side.groupby("set").mean().add_suffix(f" {number}") for number, side in enumerate(sides)]
    return pd.concat([*means, apart.agg(splits="size", less="mean", doubt="sem")], axis=1)


def duel(results: pd.DataFrame) -> list[str]:
    """Return the lines of a comparison: set by set, then on how many sets each is better, truer and quicker."""
    ours, other = DUEL
    means = pairs(results)
    lines = [f"| {ours} / {other} | splits | error % | difference | trust | continuity | CPU |", "|---" * 7 + "|"]
    for name, row in means.iterrows():
        cells = [f"{row['error 0']:.2f} / {row['error 1']:.2f}", f"{row['less']:+.2f} ± {row['doubt']:.2f}"]
        cells += [f"{row[f'{each} 0']:.3f} / {row[f'{each} 1']:.3f}" for each in ("trust", "continuity")]
        cells.append(f"{row['seconds 0'] / row['seconds 1']:.2f}")
        lines.append(f"| {name} | {row['splits']:.0f} | " + " | ".join(cells) + " |")
    clear = means["less"].abs() > 2.0 * means["doubt"]
    fewer, more = (clear & (sign * means["less"] < 0.0) for sign in (1, -1))
    less, truer = means["less"] < 0.0, means["trust 0"] > means["trust 1"]
    torn, quicker = means["continuity 0"] < means["continuity 1"] - 0.005, means["seconds 0"] < means["seconds 1"]
    said = (
        f"Sets: {len(means)}. {ours} has fewer errors on {less.sum()}; by more than two standard errors fewer on "
        f"{fewer.sum()} and more on {more.sum()}. It is truer on {truer.sum()} and takes less time on {quicker.sum()}. "
        f"Its continuity is lower by more than .005 on {torn.sum()}."
    )
    lines += ["", said]
    return [*lines, ""]


def tables(results: pd.DataFrame) -> list[str]:
    """Return the lines of the comparison and of every set."""
    return [*duel(results), *(line for name in results["set"].unique() for line in table(results, name))]


def page(results: pd.DataFrame, clock: float, processor: float) -> str:
    """Return the text of docs/results/maps.md; `clock` and `processor` are the minutes that the run took."""
    text = [
        "# Maps of labelled rows, compared",
        "",
        "`python benchmarks/maps.py --data-dir DIR`",
        "",
        f"Machine: {machine()}. One run: {clock:.0f} minutes by the clock, {processor:.0f} of the processor.",
        "",
        "ClassAtlas and supervised UMAP are measured in turn, split by split, all other maps on the first of these",
        "splits; the tables say on how many. First fold of a stratified split (3 parts, digits 5; seeds 0, 1, …). All",
        "maps see the same rows: z-scored on the training part, digits divided by 16, missing cells the means of the",
        "training part. Every map has its defaults. *error*: five nearest training rows on the map vote on the class",
        "of a new row. *trust*, *continuity*, *overlap*: among the new rows, 10 neighbours. *CPU s*: fit and",
        "transform, compiled before, one thread. Mean ± standard deviation over the splits, whose training rows",
        "overlap. t-SNE has no transform: a new row is put between its nearest training rows. LDA has no plane of two",
        "classes.",
        "",
        "How both lead from truth to separation, by `separation` and by `target_weight`, is [apart](maps_front.md),",
        "with a command of its own, benchmarks/maps_front.py: a curve takes many fits on a split, so splits are fewer.",
        "",
        "## ClassAtlas beside supervised UMAP",
        "",
        "*difference*: of errors, split by split, ± its standard error as if splits shared no rows. *CPU*: the ratio.",
        "",
        *tables(results),
    ]
    return "\n".join(text)


def main(options: list[str] | None = None, measure: Callable[..., dict] = measure, folder: Path = RESULTS) -> None:
    """Measure what was asked for; print it, and if that was everything write the page anew.

    `options`: of the command line, by default those of this process; `measure`: what measures a map; `folder`: where
    table and page are.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="folder of the benchmark sets")
    parser.add_argument("--maps", nargs="*", default=[*MAPS], choices=[*MAPS], help="measure these maps only")
    parser.add_argument("--sets", nargs="*", default=[*SETS], help="measure these sets only")
    parser.add_argument("--splits", type=int, default=SPLITS, help="number of splits")
    parser.add_argument("--jobs", type=int, default=1, help="processes; above 1 the minutes are not those of all")
    parser.add_argument("--dry", action="store_true", help="print, and leave the page as it is")
    arguments = parser.parse_args(options)
    duellists = [each for each in DUEL if each in arguments.maps]
    others = [each for each in arguments.maps if each not in DUEL]
    cells = []
    for name in arguments.sets:
        cells += [(name, method, split) for split in range(arguments.splits) for method in duellists]
        cells += [(name, method, split) for split in range(min(arguments.splits, OTHERS_SPLITS)) for method in others]
    jobs = (joblib.delayed(measure)(*cell, arguments.data_dir) for cell in cells)
    measured: list[dict[str, Any]] = []
    began = time.perf_counter(), time.process_time()
    try:
        measured.extend(joblib.Parallel(arguments.jobs, batch_size=1, return_as="generator")(jobs))
    finally:  # what was measured before an interruption is worth seeing, too
        if any("error" in each for each in measured):
            print("\n".join(tables(pd.DataFrame(measured))))
    minutes = [(now - then) / 60.0 for now, then in zip((time.perf_counter(), time.process_time()), began)]
    whole = arguments.maps == [*MAPS] and arguments.sets == [*SETS] and arguments.splits == SPLITS
    if whole and not arguments.dry:
        write(folder, pd.DataFrame(measured), *minutes)


def write(folder: Path, measured: pd.DataFrame, clock: float, processor: float) -> None:
    """Write table and page anew."""
    measured = measured.sort_values(["set", "map", "split"])
    measured.to_csv(folder / "maps.csv", index=False, float_format="%.5f")
    (folder / "maps.md").write_text(page(measured, clock, processor))


if __name__ == "__main__":
    main()
