"""Puts a picture over pages that cannot name one: what programs write, or package indexes read, or the build makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sphinx.application import Sphinx

METHODS = {
    "nsdr": "NSDR on two spirals after its last iteration: input space, latent space, objective",
    "mac": "MAC on three spirals after its last iteration: input space, latent space, objective",
    "sldr": "SLDR on a zigzag after its last iteration: input space, latent space, objective",
    "sdr_glm": "SDR-GLM on latent factors after its last iteration: input space, latent space, objective",
    "snf": "SNF on a curved sheet after its last iteration: input space, latent space, objective",
    "class_atlas": "ClassAtlas on ten digits after its last iteration: input space, latent space, objective",
}
"""Page -> what is seen in the last picture of its film."""

CHARTS = {
    "defaults": "Accuracy of every method on twelve sets, and its mean",
    "maps": "Error and trust of the maps, set by set",
    "maps_front": "Error, trust and continuity of ClassAtlas by its separation and of other maps, means over the sets",
    "reproduce": "How many claims on the papers' own methods are reproduced, better, undecided or not reproduced",
}
"""Page of results -> what its chart shows."""

OVER = {
    "about": ("/images/explorer-light.png", "The explorer after a run on three spirals"),
    **{page: (f"/_static/films/{page}.png", said) for page, said in METHODS.items()},
    **{f"results/{page}": (f"/_static/charts/{page}.svg", said) for page, said in CHARTS.items()},
    "results/soak": ("/images/who.svg", "Visitors, followers and strangers before the admission of a server"),
}
"""Page -> its picture, and what that shows."""

UNDER = {"results/reproduce": "[The same on one page, with a figure for every table](written:../reproduce)."}
"""Page -> what stands under its picture."""

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#C2410C", "#8a94a0"
VERDICTS = {"better": BLUE, "reproduced": GREEN, "undecided": GREY, "not reproduced": RED}


def add_picture(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put its picture under the title of a page."""
    if page in OVER:
        place, said = OVER[page]
        title, rest = source[0].split("\n", 1)
        source[0] = f"{title}\n\n![{said}]({place})\n\n{UNDER.get(page, '')}\n{rest}"


def draw_charts(results: Path, folder: Path) -> None:
    """Draw the charts of the results.

    Parameters
    ----------
    results : Path
        Folder with the tables.
    folder : Path
        Where to; made if need be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in {
        "defaults": _defaults,
        "maps": _maps,
        "maps_front": _front,
        "reproduce": _reproduce,
    }.items():
        draw(pd.read_csv(results / f"{name}.csv")).savefig(folder / f"{name}.svg", metadata={"Date": None})


def _defaults(table: pd.DataFrame) -> Figure:
    scores = table[table.task == "classification"].pivot_table(index="set", columns="method", values="score")
    means = scores.mean().sort_values()
    figure, axes = _axes(0.32 * len(means) + 1.0)
    places = np.arange(len(means))
    for place, name in zip(places, means.index):
        axes.plot(scores[name], np.full(len(scores), place), "o", color=GREY, alpha=0.45, markersize=4)
    axes.plot(means, places, "D", color=BLUE, markersize=6)
    axes.set_yticks(places, means.index)
    axes.set_xlabel("accuracy: a dot for each set, a diamond for their mean")
    return figure


def _maps(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    means = table.groupby(["set", "map"])[["error", "trust"]].mean()
    for axes, (measure, words) in zip(
        figure.subplots(1, 2), {"error": "error %, lower is better", "trust": "trust"}.items()
    ):
        wide = means[measure].unstack("map")[["ClassAtlas", "UMAP, supervised"]].dropna().sort_values("ClassAtlas")
        places = np.arange(len(wide))
        axes.hlines(places, wide.min(axis=1), wide.max(axis=1), color=GREY, linewidth=1)
        for name, colour in (("ClassAtlas", BLUE), ("UMAP, supervised", ORANGE)):
            axes.plot(wide[name], places, "o", color=colour, label=name)
        axes.set_yticks(places, wide.index)
        axes.set_xlabel(words)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False, loc="lower right")
    return figure


def _front(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    ours, other, oracle = "ClassAtlas", "UMAP, supervised", "ClassAtlas, classes of new rows given"
    sizes = table[table["map"].isin((ours, other))].groupby(["set", "split"]).size()
    whole = sizes.index[sizes == sizes.max()]  # both curves are measured
    complete = table[pd.MultiIndex.from_frame(table[["set", "split"]]).isin(whole)]
    means = complete.groupby(["map", "setting", "set"], dropna=False).mean(numeric_only=True)
    means = means.groupby(["map", "setting"], dropna=False).mean()
    for axes, measure in zip(figure.subplots(1, 2), ("trust", "continuity")):
        curve = means.loc[oracle]
        axes.plot(curve["error"], curve[measure], "--", color=GREY, linewidth=1, label=oracle)
        for name, colour in ((ours, BLUE), (other, ORANGE)):
            curve = means.loc[name]
            axes.plot(curve["error"], curve[measure], "o-", color=colour, label=name)
            for setting in (curve.index.min(), curve.index.max()):
                place = tuple(curve.loc[setting, ["error", measure]])
                axes.annotate(f"{setting:g}", place, xytext=(4, 4), textcoords="offset points", color=colour)
        for name in means.index.get_level_values("map").unique().difference([ours, other, oracle]):
            place = means.loc[name].iloc[0][["error", measure]]
            axes.plot(*place, "s", color=GREY)
            axes.annotate(name, tuple(place), xytext=(4, 4), textcoords="offset points", color=GREY)
        axes.set_xlabel("error %, lower is better")
        axes.set_ylabel(measure)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False, loc="lower left")
    return figure


def _reproduce(table: pd.DataFrame) -> Figure:
    claims = table[table.about == "method"]
    counts = claims.groupby("item", sort=False).verdict.value_counts().unstack(fill_value=0)[::-1]
    figure, axes = _axes(0.28 * len(counts) + 1.2)
    left = np.zeros(len(counts))
    for verdict, colour in VERDICTS.items():
        axes.barh(counts.index, counts.get(verdict, 0), left=left, color=colour, label=verdict)
        left += counts.get(verdict, 0)
    axes.set_xlabel("figures and claims on the papers' own methods")
    axes.legend(frameon=False, loc="center right")
    return figure


def _axes(height: float) -> tuple:
    figure = Figure(figsize=(8.0, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
