"""SLDR's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine import common_parameters as shared
from supdr.engine.parameters import Whole, choice, count, of_run, scale

PARAMETERS = (
    replace(
        shared.COMPONENTS,
        label="Local dimensions",
        high=10,
        help="Number of dimensions of each local projection.",
        symbol="R",
        default=2,
        accepts=(),  # may be one per local model
    ),
    count(
        "n_gating",
        "Gating dimensions",
        1,
        20,
        "Number of dimensions of the space that the gate sees.",
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
        "Number of local models on data with one view. With several views there is one per view.",
        symbol="P",
        main=True,
        restart=True,
    ),
    replace(shared.HINGE_WEIGHT, help="Weight of the hinge loss."),
    shared.CLASS_WEIGHT,
    replace(shared.KERNEL, help="Kernel between projected rows."),
    replace(shared.DEGREE, shown_when=shared.POLY),
    replace(shared.GAMMA, shown_when=shared.RBF),
    choice(
        "solver",
        "Solver",
        ("lbfgs", "L-BFGS on the gate"),
        ("alternating", "alternating (the paper's)"),
        ("joint", "joint L-BFGS"),
        main=True,
        help="How the gate is fitted. L-BFGS finds the projections in closed form if the kernel is linear.",
    ),
    scale(
        "step_size",
        "Step size",
        1e-6,
        1,
        "Constant step size of all blocks. Auto uses line searches.",
        shown_when={"solver": ("alternating",)},
        accepts=(),  # may be one per block
    ),
    count("n_init", "Starts", 1, 10, "Number of starts that run side by side. The best one is shown.", restart=True),
    choice(
        "starts",
        "Who decides",
        ("average", "mean of all starts"),
        ("best", "the best start"),
        default="best",
        help="Whether the best start or all starts predict. The pictures always show the best start.",
    ),
    choice(
        "init",
        "First projections",
        ("closed_form", "closed form"),
        "random",
        help="How projections start: fitted to the first gate, or random as in the paper.",
        restart=True,
    ),
    scale(
        "init_scale",
        "Start scale",
        1e-2,
        10,
        "Standard deviation of the first gate weights. Small values suit only data with several views.",
        restart=True,
    ),
    replace(shared.COEF0, shown_when=shared.POLY),
    shared.SVM_TOL,
    shared.UNWHITENED,
    *shared.RUN,
    *shared.HOUSEKEEPING,
)
