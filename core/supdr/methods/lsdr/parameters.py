"""LSDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine import common_parameters as shared
from supdr.engine.parameters import NONNEGATIVE, TASK, choice, scale

_CLASSES = {TASK: ("classification",)}  # regression has the squared loss

PARAMETERS = (
    shared.PLANE,
    shared.TASK_KIND,
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
    replace(shared.CLASS_WEIGHT, shown_when=_CLASSES),
    shared.BETA,
    scale(
        "reg_w",
        "Ridge on the classifier",
        1e-4,
        1e3,
        "Ridge penalty that keeps the weights small.",
        symbol="λ_W",
        main=True,
    ),
    shared.SOLVER,
    replace(shared.REG_U, accepts=(NONNEGATIVE, None)),
    replace(shared.REG_V, accepts=(NONNEGATIVE, None)),
    shared.PREPROCESSING,
    shared.ROW_BIAS,
    shared.CALIBRATE,
    replace(shared.EXTRAPOLATE, shown_when={TASK: ("regression",)}),
    shared.INIT,
    shared.INIT_SCALE,
    shared.LR_RECONSTRUCTION,
    shared.LR_CLASSIFICATION,
    *shared.RUN,
    *shared.HOUSEKEEPING,
)
