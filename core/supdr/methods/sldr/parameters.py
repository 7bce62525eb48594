"""SLDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine.common_parameters import (
    CLASS_WEIGHT,
    COEF0,
    COMPONENTS,
    DEGREE,
    GAMMA,
    HINGE_WEIGHT,
    HOUSEKEEPING,
    KERNEL,
    POLY,
    RBF,
    RUN,
    SVM_TOL,
    UNWHITENED,
)
from supdr.engine.parameters import Whole, choice, count, of_run, scale

PARAMETERS = (
    replace(
        COMPONENTS,
        label="Local dimensions",
        high=10,
        help="Of every local projection.",
        symbol="R",
        default=2,
        accepts=(),  # may be one per local model
    ),
    count(
        "n_gating",
        "Gating dimensions",
        1,
        20,
        "Of the space the gate sees.",
        symbol="R_G",
        main=True,
        accepts=(Whole(), None),
        restart=True,
    ),
    of_run("views", restart=True),
    of_run("gating_columns", restart=True),
    count(
        "n_models",
        "Local models",
        1,
        10,
        "On data of one view; else one per view.",
        symbol="P",
        main=True,
        restart=True,
    ),
    replace(HINGE_WEIGHT, help="Weight of the hinge."),
    CLASS_WEIGHT,
    replace(KERNEL, help="Kernel between projected rows."),
    replace(DEGREE, shown_when=POLY),
    replace(GAMMA, shown_when=RBF),
    choice(
        "solver",
        "Solver",
        ("lbfgs", "L-BFGS on the gate"),
        ("alternating", "alternating (the paper's)"),
        ("joint", "joint L-BFGS"),
        main=True,
        help="L-BFGS on the gate: projections in closed form, if the kernel is linear.",
    ),
    scale(
        "step_size",
        "Step size",
        1e-6,
        1,
        "Constant, of all blocks; auto: line searches.",
        shown_when={"solver": ("alternating",)},
        accepts=(),  # may be one per block
    ),
    count("n_init", "Starts", 1, 10, "Run side by side; the best is shown.", restart=True),
    choice(
        "starts",
        "Who decides",
        ("average", "mean of all starts"),
        ("best", "the best start"),
        default="best",
        help="Gate, projections and losses are those of the best start, either way.",
    ),
    choice(
        "init",
        "First projections",
        ("closed_form", "closed form"),
        "random",
        help="Those that suit the first gate, or the paper's random ones.",
        restart=True,
    ),
    scale(
        "init_scale",
        "Start scale",
        1e-2,
        10,
        "Deviation of the first gate weights; small ones suit several views only.",
        restart=True,
    ),
    replace(COEF0, shown_when=POLY),
    SVM_TOL,
    UNWHITENED,
    *RUN,
    *HOUSEKEEPING,
)
