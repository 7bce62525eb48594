"""Prepared settings: the figures and the table of the papers, and a few friendly places to start.

Each has a note of what to look at.  The notes are honest about what was measured: where a paper's claim does not show,
they say so.
"""

from __future__ import annotations

from typing import Any

from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.class_atlas import atlas_of_digits
from supdr_viz.presets.mac import mac_presets, ten_digits, three_spirals
from supdr_viz.presets.preset import Needs as Needs
from supdr_viz.presets.preset import Preset as Preset
from supdr_viz.presets.preset import Presets
from supdr_viz.presets.sdr_glm import sdr_glm_presets
from supdr_viz.presets.sldr import sldr_presets
from supdr_viz.presets.snf import few_labels_presets, snf_presets

IONOSPHERE = Needs("Ionosphere", 351, 34, "59")
SONAR = Needs("Sonar", 208, 60, "40")
SPECT = Needs("SPECT", 267, 22, "336")
BREAST_CANCER_W = Needs("Breast cancer Wisconsin (original)", 699, 9, "15")
PI_DIABETES = Needs("Pima Indians diabetes", 768, 8, "37")

START, FIGURES, TABLE = "To start with", "Figures of the NSDR paper", "Table 1 of the NSDR paper"

# The paper's protocol as far as it is known: random start, a bias per row, no calibration.
_PAPER: dict[str, Any] = {"row_bias": True, "calibrate": False, "init": "random", "init_scale": 0.1}
# The paper tests on one of five folds.
_FOLD = 0.2


def _on(needs: Needs, method: str, **options: Any) -> Settings:
    return Settings(
        data="openml",
        data_options={"name": needs.openml},
        method=method,
        method_options={**_PAPER, **options},
        test_share=_FOLD,
    )


def _figure_1(beta: float) -> Settings:
    return Settings(
        data="linear",
        data_options={"n_samples": 10, "n_noise_features": 1, "noise": 0.0},
        method="LSDR",
        method_options={
            **_PAPER,
            "beta": beta,
            "reg_u": 1e-4,
            "reg_v": 1e-4,
            "reg_w": 1e-4,
            "preprocessing": "none",
            "max_iter": 300,
        },
        test_share=0.0,
    )


def _figure_2(method: str, **options: Any) -> Settings:
    return Settings(
        data="disc",
        data_options={"n_samples": 40, "n_noise_features": 1, "noise": 0.0},
        method=method,
        method_options={
            **_PAPER,
            "beta": 0.7,
            "reg_u": 0.01,
            "reg_v": 0.01,
            "preprocessing": "none",
            "solver": "sgd",
            "lr_classification": 1e-3,
            "max_iter": 300,
            **options,
        },
        test_share=0.0,
    )


# needs, LSDR: reg_u, reg_v, d, beta, reg_w; NSDR: reg_u, reg_v, d, beta, C, degree (d of ionosphere is assumed)
_TABLE = {
    "breast_cancer_w": (BREAST_CANCER_W, (1e-4, 1e-5, 6, 0.1, 1), (1e-2, 1, 9, 0.9, 10, 2)),
    "ionosphere": (IONOSPHERE, (1e-6, 1e-5, 25, 0.9, 1), (1e-6, 1e-6, 25, 0.9, 10, 2)),
    "pi_diabetes": (PI_DIABETES, (1e-6, 1e-3, 6, 0.9, 0.1), (1e-4, 1, 6, 0.1, 0.1, 3)),
    "sonar": (SONAR, (1e-6, 1, 45, 0.5, 10), (1e-2, 1, 60, 0.1, 0.1, 2)),
    "spect": (SPECT, (1e-2, 1, 16, 0.5, 0.1), (1e-2, 1e-5, 22, 0.5, 0.1, 3)),
}

_TABLE_NOTES = {
    "breast_cancer_w": "The paper reports .070 for NSDR. Its loop erred on .049 here, a polynomial SVM on .066.",
    "ionosphere": "The paper reports .066 for NSDR. Its loop erred on .096 here, a polynomial SVM on .074.",
    "pi_diabetes": "The paper reports .264 for NSDR. Its loop erred on .314 here, a polynomial SVM on .267; "
    "steps are slow here.",
    "sonar": "The paper reports .106 for NSDR. Its loop erred on .271 here, a polynomial SVM on .136.",
    "spect": "The paper reports .138 for NSDR. Its loop erred on .176 here, a polynomial SVM on .199, the "
    "majority class on .206.",
}


def _table_presets() -> list[Preset]:
    made = []
    for name, (needs, linear, kernel) in _TABLE.items():
        reg_u, reg_v, d, beta, C, degree = kernel
        options = {"reg_u": reg_u, "reg_v": reg_v, "n_components": d, "beta": beta, "C": C, "degree": degree}
        settings = _on(needs, "NSDR", kernel="poly", preprocessing="minmax", max_iter=30, **options)
        note = f"{_TABLE_NOTES[name]} One split is shown here, not five folds."
        made.append(Preset(f"table-1-{name}-nsdr", f"{needs.title}: NSDR", TABLE, settings, note, needs))
        reg_u, reg_v, d, beta, reg_w = linear
        options = {"reg_u": reg_u, "reg_v": reg_v, "n_components": d, "beta": beta, "reg_w": reg_w}
        settings = _on(needs, "LSDR", preprocessing="zscore", max_iter=100, **options)
        note = (
            "The converged fit errs little on its training rows and more on the test rows: the labels have moved only "
            "the former. Switch Calibrate on and watch the test error fall."
        )
        made.append(Preset(f"table-1-{name}-lsdr", f"{needs.title}: LSDR", TABLE, settings, note, needs))
    return made


def _friendly() -> list[Preset]:
    spirals = Settings(
        data="spirals",
        data_options={"n_per_class": 150, "noise": 0.02},
        method="NSDR",
        method_options={"kernel": "rbf", "gamma": 10.0, "C": 10.0, "preprocessing": "zscore", "max_iter": 60},
    )
    digits = Settings(
        data="digits", method="LSDR", method_options={"n_components": 9, "preprocessing": "whiten"}, test_share=0.5
    )
    cancer = Settings(data="breast_cancer", method="LSDR")
    moons = Settings(
        data="moons",
        data_options={"n_samples": 400, "noise": 0.08, "n_noise_features": 2},
        method="NSDR",
        method_options={"kernel": "rbf"},
        label_share=0.1,
    )
    return [
        Preset(
            "two-spirals",
            "Two spirals, NSDR rbf",
            START,
            spirals,
            "The labels pull the arms apart in the latent space. New points are placed without labels: compare "
            "embedding with transform.",
        ),
        Preset(
            "digits",
            "Ten digits in nine dimensions",
            START,
            digits,
            "Nine latent dimensions separate ten classes; two cannot (5-nearest-neighbour error about .05 against "
            ".5). Hover a point to see its digit.",
        ),
        Preset(
            "breast-cancer",
            "Breast cancer",
            START,
            cancer,
            "One direction carries almost everything; with two classes the second axis is arbitrary.",
        ),
        Preset(
            "few-labels",
            "Few labels on moons",
            START,
            moons,
            "One label in ten is kept; the other rows still shape the reconstruction. Raise the labelled share to "
            "0.3: over ten seeds the test error fell from .18 to .12.",
        ),
    ]


def _figures() -> list[Preset]:
    fig_3 = _on(
        IONOSPHERE,
        "NSDR",
        n_components=25,
        beta=0.7,
        kernel="poly",
        degree=1,
        C=1.0,
        reg_u=1e-5,
        reg_v=1e-5,
        preprocessing="minmax",
        solver="sgd",
        max_iter=300,
    )
    fig_4 = _on(
        SPECT, "NSDR", n_components=11, beta=0.9, kernel="poly", degree=2, C=0.1, preprocessing="minmax", max_iter=15
    )
    return [
        Preset(
            "figure-1-mf",
            "Fig. 1: plain factorisation",
            FIGURES,
            _figure_1(1.0),
            "With β = 1 the labels are ignored: the latent rows reconstruct the noise feature as faithfully as the "
            "others, and the classes are separable in a third to a half of the seeds.",
        ),
        Preset(
            "figure-1",
            "Fig. 1: LSDR",
            FIGURES,
            _figure_1(0.4),
            "With β = 0.4 the labels count: the latent rows are separable for every seed tried.",
        ),
        Preset(
            "figure-2-lsdr",
            "Fig. 2: LSDR on a disc in a ring",
            FIGURES,
            _figure_2("LSDR", reg_w=2.0),
            "300 epochs of the paper's loop: LSDR leaves a third of the rows on the wrong side, as in the paper. Set "
            "the solver to block descent: once converged LSDR separates them too.",
        ),
        Preset(
            "figure-2-nsdr",
            "Fig. 2: NSDR on a disc in a ring",
            FIGURES,
            _figure_2("NSDR", kernel="poly", degree=3, C=0.5),
            "300 epochs of the paper's loop: a cubic kernel leaves one row on the wrong side. By block descent both "
            "methods separate the classes; over ten seeds the reconstruction error is .10 (RMSE), and .17 for LSDR.",
        ),
        Preset(
            "figure-3",
            "Fig. 3: NSDR on ionosphere",
            FIGURES,
            fig_3,
            "300 steps of the paper's loop: both losses fall at every step, the errors roughly (we saw .36 → .08 on "
            "training and .37 → .13 on test rows).",
            IONOSPHERE,
        ),
        Preset(
            "figure-4",
            "Fig. 4: NSDR on SPECT",
            FIGURES,
            fig_4,
            "C and the degree move the test error more than the two ridges do; ridges of 1 and more leave only the "
            "majority class.",
            SPECT,
        ),
    ]


ALL = (
    three_spirals(),
    *_friendly(),
    atlas_of_digits(),
    ten_digits(),
    *few_labels_presets(),
    *mac_presets(),
    *sldr_presets(),
    *sdr_glm_presets(),
    *snf_presets(),
    *_figures(),
    *_table_presets(),
)

# The explorer's presets.
PRESETS = Presets(ALL, opening="three-spirals")
