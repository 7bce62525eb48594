"""SDR-GLM's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine import common_parameters as shared
from supdr.engine.parameters import POSITIVE, TASK, Whole, choice, choices, count, flag, of_run, scale

_AUTO, _FAST = {"recon_weight": ("auto",)}, {"solver": ("fast",)}

PARAMETERS = (
    replace(shared.PLANE, symbol="L"),
    scale(
        "recon_ratio",
        "Reconstruction ratio",
        1e-3,
        1e2,
        "Weight of X relative to the targets.",
        symbol="κ",
        main=True,
        shown_when=_AUTO,
    ),
    scale(
        "recon_weight",
        "Reconstruction weight",
        1e-7,
        1e2,
        "Weight of the reconstruction. Auto: κ H_Y / H_X.",
        symbol="λ",
        main=True,
        accepts=("auto", POSITIVE),
    ),
    choice(
        "family_x",
        "Features are",
        "auto",
        ("bernoulli", "bits"),
        ("gaussian", "real numbers"),
        ("poisson", "counts"),
        ("negative_binomial", "overdispersed counts"),
        ("gamma", "positive numbers"),
        main=True,
        help="Distribution of the features. Auto: bits if all values are 0 or 1.",
        accepts=(),  # may be one per column
        restart=True,
    ),
    of_run("family_y", restart=True),
    of_run("column_weight", restart=True),
    choice(
        "solver",
        "Solver",
        "fast",
        ("literal", "the paper's sweep"),
        main=True,
        help="How J is maximised. Fast takes fewer and cheaper sweeps.",
    ),
    choice(
        "reg_scaling",
        "Ridges times λ",
        ("lam", "yes"),
        ("none", "no (the paper's)"),
        help="Multiply the ridges by λ. Otherwise they act as a threshold below which components vanish.",
    ),
    replace(shared.REG_U, accepts=(POSITIVE,)),
    replace(shared.REG_V, accepts=(POSITIVE,)),
    scale(
        "reg_w",
        "Ridge on the predictor",
        1e-6,
        1e2,
        "Ridge penalty that keeps the predictor's weights small.",
        symbol="λ_W",
    ),
    scale("gaussian_c", "Gaussian weight", 1e-2, 1e2, "Weight of the squared error of Gaussian features.", symbol="c"),
    scale(
        "negative_binomial_size",
        "Inverse dispersion",
        1e-1,
        1e2,
        "Counts of mean m have variance m + m² / r: the larger r, the closer to Poisson.",
        symbol="r",
        shown_when={"family_x": ("negative_binomial",)},
    ),
    choice(
        "bound",
        "Bound",
        ("jj", "Jaakkola–Jordan"),
        ("bohning", "Böhning"),
        help="Which parabola bounds the likelihood of a bit from below.",
    ),
    count(
        "inner",
        "Inner steps",
        1,
        10,
        "Number of updates of U and W per update of V.",
        shown_when=_FAST,
        accepts=(Whole(), None),
    ),
    flag("nonnegative", "Nonnegative factors", "Require U and V ≥ 0, so that parts add up.", restart=True),
    flag(
        "gauge",
        "Gauge step",
        "Replace the factors by equivalent ones with smaller ridge penalties after every sweep.",
        shown_when={"nonnegative": (False,), **_FAST},
    ),
    shared.PREPROCESSING,
    shared.CALIBRATE,
    replace(shared.EXTRAPOLATE, shown_when={TASK: ("regression",)}),
    replace(shared.INIT, choices=choices(("svd", "singular vectors"), "random")),
    *shared.RUN,
    of_run("class_weight"),
    shared.TASK_KIND,
    *shared.HOUSEKEEPING,
)
