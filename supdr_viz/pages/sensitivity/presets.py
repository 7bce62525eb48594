"""Prepared sweeps: the papers' pictures of sensitivity."""

from __future__ import annotations

from typing import Any

from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.sensitivity.settings import Axis, SweepSettings
from supdr_viz.presets.catalogue import SPECT
from supdr_viz.presets.preset import Preset, Presets

_SPECT: dict[str, Any] = {
    "n_components": 11,
    "beta": 0.9,
    "kernel": "poly",
    "degree": 2,
    "C": 0.1,
    "row_bias": True,
    "calibrate": False,
    "init": "random",
    "init_scale": 0.1,
    "preprocessing": "minmax",
    "max_iter": 15,
}
_RIDGES = (Axis("reg_u", "log", 1e-6, 10.0, 20), Axis("reg_v", "log", 1e-6, 10.0, 20))
_KERNEL = (Axis("C", "list", listed=(0.01, 0.1, 1.0, 10.0, 100.0)), Axis("degree", "list", listed=(1, 2, 3, 4)))


def _on_spect(axes: tuple[Axis, ...]) -> SweepSettings:
    base = Settings(data="openml", data_options={"name": SPECT.openml}, method="NSDR", method_options=_SPECT)
    return SweepSettings(base, axes, transductive=True)


def _all() -> list[Preset[SweepSettings]]:
    cancer = Settings(
        data="breast_cancer",
        method="NSDR",
        method_options={**_SPECT, "n_components": 5, "preprocessing": "zscore"},
    )
    views = Settings(
        data="multiview_digits",
        data_options={"n_samples": 500, "classes": "halves"},
        method="SLDR",
        method_options={"C": 10.0, "solver": "alternating", "init": "random", "n_init": 1, "starts": "best"},
    )
    mapped = Settings(
        data="digits",
        method="MAC",
        method_options={"n_centers": 100, "centers": "random", "max_iter": 10},
        test_share=0.4,
    )
    wide = Settings(
        data="wide_factors",
        data_options={"n_samples": 84, "n_features": 2000},
        method="SDRGLM",
        method_options={"recon_weight": 1e-4, "reg_u": 0.01, "reg_v": 0.01},
    )
    return [
        Preset(
            "ridges-cancer",
            "NSDR: two ridges, breast cancer",
            "",
            SweepSettings(cancer, (Axis("reg_u", "log", 1e-6, 10.0, 8), Axis("reg_v", "log", 1e-6, 10.0, 8))),
            "Which ridge matters more? λU = 10 doubles the error, from .06 to .12; λV = 1 lowers it to .04.",
        ),
        Preset(
            "spect-ridges",
            "NSDR Fig. 4: λU × λV, SPECT",
            "",
            _on_spect(_RIDGES),
            "The paper's plane. Ridges of 1 and more leave little but the majority class, error .206.",
            SPECT,
        ),
        Preset(
            "spect-kernel",
            "NSDR Fig. 4: C × degree, SPECT",
            "",
            _on_spect(_KERNEL),
            "The paper finds that C and the degree move the error more than the two ridges do: compare the spreads.",
            SPECT,
        ),
        Preset(
            "sldr-dimensions",
            "SLDR Fig. 2: R × R_G, digits in views",
            "",
            SweepSettings(
                views,
                (
                    Axis("n_components", "list", listed=(1, 2, 3, 4, 5)),
                    Axis("n_gating", "list", listed=(2, 4, 6, 8, 10)),
                ),
                metric="accuracy",
                folds=2,
            ),
            "Digits 0 to 4 against 5 to 9, the paper's grid: accuracy .91 to .95 everywhere, one direction per view is "
            "enough. Cells differ by their random starts more than by R or R_G. The paper has the same picture of the "
            "share of support vectors.",
        ),
        Preset(
            "mac-dimensions",
            "MAC: error over L, ten digits",
            "",
            SweepSettings(mapped, (Axis("n_components", "list", listed=tuple(range(1, 11))),), folds=1, repeats=3),
            "L = K − 1 = 9 is the room that a simplex of ten classes needs: look where the error stops falling.",
        ),
        Preset(
            "sdr-glm-weight",
            "SDR-GLM: error over λ, wide data",
            "",
            SweepSettings(wide, (Axis("recon_weight", "log", 1e-7, 1.0, 15),), folds=5),
            "Large λ lets the strongest factors win, which here are nuisance. All λ share one decomposition per fold.",
        ),
    ]


# The sensitivity page's presets.
SWEEP_PRESETS = Presets(_all(), opening="ridges-cancer")
