"""LSDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine.common_parameters import (
    BETA,
    CALIBRATE,
    CLASS_WEIGHT,
    EXTRAPOLATE,
    HOUSEKEEPING,
    INIT,
    INIT_SCALE,
    LR_CLASSIFICATION,
    LR_RECONSTRUCTION,
    PLANE,
    PREPROCESSING,
    REG_U,
    REG_V,
    ROW_BIAS,
    RUN,
    SOLVER,
    TASK_KIND,
)
from supdr.engine.parameters import NONNEGATIVE, TASK, choice, scale

_CLASSES = {TASK: ("classification",)}  # regression has the squared loss

PARAMETERS = (
    PLANE,
    TASK_KIND,
    choice(
        "loss",
        "Loss",
        ("smooth_hinge", "smooth hinge"),
        "hinge",
        "logistic",
        "squared",
        main=True,
        help="Loss of the labels.",
        shown_when=_CLASSES,
    ),
    replace(CLASS_WEIGHT, shown_when=_CLASSES),
    BETA,
    scale(
        "reg_w",
        "Ridge on the classifier",
        1e-4,
        1e3,
        "Ridge penalty that keeps the weights small.",
        symbol="λ_W",
        main=True,
    ),
    SOLVER,
    replace(REG_U, accepts=(NONNEGATIVE, None)),
    replace(REG_V, accepts=(NONNEGATIVE, None)),
    PREPROCESSING,
    ROW_BIAS,
    CALIBRATE,
    replace(EXTRAPOLATE, shown_when={TASK: ("regression",)}),
    INIT,
    INIT_SCALE,
    LR_RECONSTRUCTION,
    LR_CLASSIFICATION,
    *RUN,
    *HOUSEKEEPING,
)
