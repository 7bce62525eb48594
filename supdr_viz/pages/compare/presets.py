"""Comparisons to begin with: what an address without settings shows, and a figure of a paper."""

from __future__ import annotations

from typing import Any

from supdr.baselines import NEEDS
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.comparison import Comparison
from supdr_viz.presets.mac import PASSES, SCHEDULE
from supdr_viz.presets.preset import Preset, Presets

_SQUARES: dict[str, Any] = {"data": "xor", "data_options": {"n_samples": 500, "n_noise_features": 3}}


def _passes(reg_w: float) -> Comparison:
    """MAC, two steps and joint L-BFGS from the same random start."""
    shared = {**PASSES, "reg_w": reg_w}
    columns = [("MAC", {**shared, **SCHEDULE}), ("TwoStep", shared), ("MAC", {**shared, "solver": "lbfgs"})]
    return Comparison(
        tuple(
            Settings(data="digits_odd_even", method=method, method_options=options, test_share=0.7)
            for method, options in columns
        )
    )


def spokes_or_atlas(*, umap: bool) -> Preset[Comparison]:
    """Return three maps of ten digits: MAC's spokes, ClassAtlas, and UMAP, or t-SNE where UMAP is not installed."""
    third = (
        "UMAP, which compiles itself in its first run, sees the labels too, but keeps less; new rows go between their "
        "nearest training rows, and err more often."
        if umap
        else f"{NEEDS['UMAP']}; t-SNE in its place never sees a label, and errs several times as often."
    )
    return Preset(
        "spokes-or-atlas",
        "Ten digits: spokes or atlas",
        "",
        Comparison(
            (
                Settings(data="digits", method="MAC", method_options={"n_layers": 2, "n_components": 2}),
                Settings(data="digits", method="ClassAtlas"),
                Settings(data="digits", method="UMAP" if umap else "TSNE"),
            )
        ),
        "MAC draws every class as a spoke: hardly an error, but what is inside a class is gone. ClassAtlas keeps it "
        f"and errs as little. {third}",
    )


_SMALL_RIDGE = (
    "With a small ridge MAC's passes stay at about ten times the certified lower bound, two steps end half above it. "
    "Other seeds change the order: which of the two does not get stuck depends on the start."
)

# The compare page's presets.
COMPARISON_PRESETS = Presets(
    [
        Preset(
            "opening",
            "Four squares, four methods",
            "",
            Comparison(
                (
                    Settings(**_SQUARES, method="PCAProjection"),
                    Settings(**_SQUARES, method="LSDR"),
                    Settings(**_SQUARES, method="NSDR"),
                    Settings(**_SQUARES, method="MAC", method_options={"n_components": 2, "early_stopping": False}),
                )
            ),
            "No labels, labels with a linear head, a kernel, a nonlinear map.",
        ),
        spokes_or_atlas(umap="UMAP" in MENU),
        Preset(
            "mac-figure-6",
            "MAC, Fig. 6: λ = 0.1",
            "",
            _passes(0.1),
            "One objective, one random start, three ways down: the passes of MAC, two steps without targets, and "
            "L-BFGS on everything at once. The dashed line is the certified lower bound.",
        ),
        Preset("mac-figure-6-stuck", "MAC, Fig. 6: λ = 0.001", "", _passes(1e-3), _SMALL_RIDGE),
    ],
    opening="opening",
)
