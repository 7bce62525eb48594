"""The knobs of the papers' methods: in which order and range their forms show them."""

from __future__ import annotations

from dataclasses import replace

from supdr_viz.settings.knobs import TASK, ParameterSpec, choices, count, scale
from supdr_viz.settings.shared_knobs import (
    BETA,
    CLASS_WEIGHT,
    COEF0,
    DEGREE,
    FACTORISATION,
    GAMMA,
    HINGE_WEIGHT,
    KERNEL,
    PLANE,
    POLY,
    PREPROCESSING,
    RBF,
    SHELL,
    SOLVER,
    Entry,
)

_ONE_LAYER, _TWO_LAYERS = {"n_layers": (1,)}, {"n_layers": (2,)}
_FEATURES = {"mapping": ("rbf", "linear"), **_ONE_LAYER}
_GAUSSIANS = {"mapping": ("rbf",), **_ONE_LAYER}
_PASSES = {"solver": ("mac", "admm"), **_ONE_LAYER}
_MU_GROWS = {"solver": ("mac",), **_FEATURES}
MAC_KNOBS = (
    replace(
        scale("n_centers", "Basis functions", 5, 2000, "Gaussians that F is made of; at most one per row.", symbol="M"),
        kind="int",
        main=True,
        shown_when={"centers": ("kmeans", "random"), "mapping": ("rbf",)},
    ),
    replace(HINGE_WEIGHT, help="Weight of the hinge.", shown_when=_ONE_LAYER),
    replace(CLASS_WEIGHT, shown_when=_ONE_LAYER),
    scale(
        "reg_w",
        "Ridge",
        1e-6,
        10,
        "Of the mapping; auto: by leave-one-out.",
        symbol="λ",
        main=True,
        shown_when=_FEATURES,
    ),
    count("n_components", "Latent dimensions", 1, 10, "auto: K − 1, a simplex's room.", symbol="L", main=True),
    replace(
        SOLVER,
        choices=choices(
            ("mac", "MAC (the paper's)"),
            ("lbfgs", "joint L-BFGS"),
            ("admm", "ADMM"),
            ("fixed_point", "fixed point (2 classes)"),
        ),
        shown_when=_FEATURES,
    ),
    ParameterSpec(
        "n_layers",
        "Layers",
        "choice",
        choices=((1, "one"), (2, "two: classes on a circle")),
        help="Two: a map of many classes to a plane, from leave-one-out codes of the first layer.",
    ),
    ParameterSpec(
        "head", "Second layer", "choice", choices=choices("ridge", "mix"), help="How it maps.", shown_when=_TWO_LAYERS
    ),
    ParameterSpec(
        "latent_reference",
        "Rows shown",
        "choice",
        choices=choices(("loo", "as if left out"), ("train", "as fitted")),
        help="Left out: comparable with new rows.",
        shown_when=_TWO_LAYERS,
    ),
    ParameterSpec(
        "mapping",
        "Mapping",
        "choice",
        choices=choices(("rbf", "Gaussians"), "linear", "perceptron"),
        help="What F is; a perceptron has two layers of 32 units and keeps μ.",
        shown_when=_ONE_LAYER,
    ),
    ParameterSpec(
        "centers",
        "Centres",
        "choice",
        choices=choices(("kmeans", "k-means"), ("random", "random rows"), ("all", "all rows")),
        help="Where the Gaussians sit.",
        shown_when=_GAUSSIANS,
    ),
    scale(
        "gamma", "Kernel sharpness", 1e-3, 1e3, "1/(2σ²); auto: by leave-one-out.", symbol="γ", shown_when=_GAUSSIANS
    ),
    ParameterSpec(
        "scheme",
        "Classifiers",
        "choice",
        choices=choices(("ova", "one against the rest"), ("ovo", "one against one")),
        help="With more than two classes.",
        shown_when=_ONE_LAYER,
    ),
    ParameterSpec(
        "init",
        "Start",
        "choice",
        choices=choices("simplex", ("blobs", "random blobs"), "random", ("pca", "the data")),
        help="First targets. Random rarely works with one against the rest.",
        shown_when=_ONE_LAYER,
    ),
    scale(
        "init_noise",
        "Noise of the start",
        1e-3,
        1,
        "Without it dimensions beyond K − 1 stay 0.",
        zero=True,
        shown_when={"init": ("simplex",), **_ONE_LAYER},
    ),
    scale("mu", "First penalty", 1e-2, 1e4, "Ties targets to images.", symbol="μ", shown_when=_PASSES),
    ParameterSpec(
        "mu_factor", "Growth of μ", "float", 1, 10, 0.05, help="1 keeps it: descent of Q.", shown_when=_MU_GROWS
    ),
    count("max_inner", "Passes per μ", 1, 50, "At most.", shown_when=_MU_GROWS),
    scale("inner_tol", "Share per pass", 1e-6, 1, "μ grows below this decrease.", zero=True, shown_when=_MU_GROWS),
    replace(PREPROCESSING, choices=(("loo", "by leave-one-out"), *PREPROCESSING.choices)),
    ParameterSpec(
        "early_stopping",
        "Early stopping",
        "choice",
        choices=choices(("loo", "left-out error"), (True, "held-out rows"), (False, "no")),
        default=False,  # the explorer shows the passes
        help="What is watched: the closed-form left-out error of F, or rows whose labels are hidden.",
        shown_when=_ONE_LAYER,
    ),
    ParameterSpec(
        "calibrate",
        "Calibrate",
        "bool",
        default=False,  # the explorer shows the classifiers that decide
        help="Decide by a softmax on left-out images.",
        shown_when={**_PASSES, **_FEATURES},
    ),
    *(
        replace(spec, shown_when={**spec.shown_when, **_ONE_LAYER})
        for spec in SHELL
        if spec.name in ("validation_fraction", "max_iter", "tol")
    ),
    count(
        "n_iter_no_change",
        "Patience",
        1,
        100,
        "Steps without improvement.",
        shown_when={"early_stopping": ("loo", True), **_ONE_LAYER},
    ),
)

_AUTO, _FAST = {"recon_weight": ("auto",)}, {"solver": ("fast",)}
SDRGLM_KNOBS = (
    replace(PLANE, symbol="L"),
    scale(
        "recon_ratio",
        "Reconstruction ratio",
        1e-3,
        1e2,
        "Of X beside targets.",
        symbol="κ",
        main=True,
        shown_when=_AUTO,
    ),
    scale("recon_weight", "Reconstruction weight", 1e-7, 1e2, "auto: κ H_Y / H_X.", symbol="λ", main=True),
    ParameterSpec(
        "family_x",
        "Features are",
        "choice",
        choices=choices(
            "auto",
            ("bernoulli", "bits"),
            ("gaussian", "real numbers"),
            ("poisson", "counts"),
            ("negative_binomial", "counts that vary more"),
            ("gamma", "positive numbers"),
        ),
        main=True,
        help="auto: bits if there is nothing but 0 and 1.",
    ),
    ParameterSpec(
        "solver",
        "Solver",
        "choice",
        choices=choices("fast", ("literal", "the paper's sweep")),
        main=True,
        help="The same ascent, in fewer and cheaper sweeps.",
    ),
    ParameterSpec(
        "reg_scaling",
        "Ridges times λ",
        "choice",
        choices=choices(("lam", "yes"), ("none", "no (the paper's)")),
        help="Else they are a threshold below which components vanish.",
    ),
    *FACTORISATION,
    scale("reg_w", "Ridge on the predictor", 1e-6, 1e2, "Keeps its weights small.", symbol="λW"),
    scale("gaussian_c", "Gaussian weight", 1e-2, 1e2, "Of a squared error.", symbol="c"),
    scale(
        "negative_binomial_size",
        "Size of counts",
        1e-1,
        1e2,
        "Variance m + m² / r of a mean m.",
        symbol="r",
        shown_when={"family_x": ("negative_binomial",)},
    ),
    ParameterSpec(
        "bound",
        "Bound",
        "choice",
        choices=choices(("jj", "Jaakkola–Jordan"), ("bohning", "Böhning")),
        help="Parabola below the likelihood of a bit.",
    ),
    count("inner", "Inner steps", 1, 10, "U and W per V.", shown_when=_FAST),
    ParameterSpec("nonnegative", "Nonnegative factors", "bool", help="U and V ≥ 0: parts that add up."),
    ParameterSpec("gauge", "Gauge step", "bool", help="Equal factors with smaller ridges.", shown_when=_FAST),
    *(
        replace(spec, choices=choices(("svd", "singular vectors"), "random")) if spec.name == "init" else spec
        for spec in SHELL
        if spec.name not in ("row_bias", "init_scale", "lr_reconstruction", "lr_classification")
    ),
)

_SLDR = (
    count("n_components", "Local dimensions", 1, 10, "Of every local projection.", symbol="R", main=True, default=2),
    replace(count("n_gating", "Gating dimensions", 1, 20, "Of the space the gate sees.", symbol="R_G"), main=True),
    count("n_models", "Local models", 1, 10, "On data of one view; else one per view.", symbol="P", main=True),
    replace(HINGE_WEIGHT, help="Weight of the hinge."),
    CLASS_WEIGHT,
    replace(KERNEL, help="Kernel between projected rows."),
    replace(DEGREE, shown_when=POLY),
    replace(GAMMA, shown_when=RBF),
    replace(
        SOLVER,
        choices=choices(
            ("lbfgs", "L-BFGS on the gate"), ("alternating", "alternating (the paper's)"), ("joint", "joint L-BFGS")
        ),
        help="L-BFGS on the gate: projections in closed form, if the kernel is linear.",
    ),
    scale(
        "step_size",
        "Step size",
        1e-6,
        1,
        "Constant, of all blocks; auto: line searches.",
        shown_when={"solver": ("alternating",)},
    ),
    count("n_init", "Starts", 1, 10, "Run side by side; the best is shown."),
    ParameterSpec(
        "starts",
        "Who decides",
        "choice",
        choices=choices(("average", "mean of all starts"), ("best", "the best start")),
        default="best",
        help="Gate, projections and losses are those of the best start, either way.",
    ),
    ParameterSpec(
        "init",
        "First projections",
        "choice",
        choices=choices(("closed_form", "closed form"), "random"),
        help="Those that suit the first gate, or the paper's random ones.",
    ),
    scale(
        "init_scale",
        "Start scale",
        1e-2,
        10,
        "Deviation of the first gate weights; small ones suit several views only.",
    ),
    replace(COEF0, shown_when=POLY),
    scale("svm_tol", "SVM tolerance", 1e-6, 1e-1, "Of the support vector machines.", step=0.5),
    *(
        replace(spec, choices=tuple(choice for choice in spec.choices if choice[0] != "whiten"))
        if spec.name == "preprocessing"
        else spec
        for spec in SHELL
        if spec.name
        in ("preprocessing", "early_stopping", "validation_fraction", "n_iter_no_change", "max_iter", "tol")
    ),
)

_SNF_SHELL = tuple(
    {
        "lr_reconstruction": replace(spec, help="Step size of SGD on X.", symbol="η_X"),
        "lr_classification": replace(
            spec, name="lr_target", label="Step, target", help="auto: as the target weight says.", symbol="η_Y"
        ),
    }.get(spec.name, spec)
    for spec in SHELL
    if spec.name != "row_bias"
)

PAPER_FORMS: dict[str, Entry] = {
    "NSDR": (
        "NSDR",
        "Latent rows that reconstruct the data and feed a kernel machine.",
        (
            PLANE,
            KERNEL,
            replace(DEGREE, shown_when=POLY),
            replace(GAMMA, shown_when=RBF),
            HINGE_WEIGHT,
            CLASS_WEIGHT,
            BETA,
            replace(SOLVER, main=False),
            replace(COEF0, shown_when=POLY),
        )
        + FACTORISATION
        + SHELL,
    ),
    "LSDR": (
        "LSDR",
        "Latent rows that reconstruct the data and feed a linear classifier.",
        (
            PLANE,
            ParameterSpec(
                "loss",
                "Loss",
                "choice",
                choices=choices(("smooth_hinge", "smooth hinge"), "hinge", "logistic", "squared"),
                main=True,
                help="Loss of the labels.",
                shown_when={TASK: ("classification",)},  # regression has the squared loss
            ),
            replace(CLASS_WEIGHT, shown_when={TASK: ("classification",)}),
            BETA,
            scale("reg_w", "Ridge on the classifier", 1e-4, 1e3, "Keeps weights small.", symbol="λW", main=True),
            SOLVER,
            *FACTORISATION,
            *SHELL,
        ),
    ),
    "MAC": ("MAC", "A nonlinear map into few dimensions and linear SVMs there, learnt together.", MAC_KNOBS),
    "SDRGLM": (
        "SDR-GLM",
        "One latent row explains features and targets, each by a generalised linear model.",
        SDRGLM_KNOBS,
    ),
    "SLDR": (
        "SLDR",
        "A gate chooses, row by row, which view and which local projection feed the margin.",
        _SLDR,
    ),
    "SNF": (
        "SNF",
        "Latent rows from which every column and the target are regressions; a few labels suffice.",
        (
            replace(PLANE, symbol="D"),
            replace(KERNEL, help="Kernel between latent rows."),
            replace(DEGREE, high=6, symbol="d", shown_when=POLY),
            replace(GAMMA, shown_when=RBF),
            scale("target_weight", "Target weight", 1e-3, 1e3, "Of labels beside X.", symbol="μ", zero=True, main=True),
            scale("reg_v", "Ridge on reconstruction", 1e-3, 1e2, "Of X on latent rows.", symbol="λV", main=True),
            scale("reg_z", "Ridge on latent rows", 1e-3, 1e2, "Keeps the latent rows small.", symbol="λZ", main=True),
            scale("reg_w", "Ridge on prediction", 1e-3, 1e2, "Of the target on latent rows.", symbol="λW", main=True),
            replace(SOLVER, choices=choices(("lbfgs", "L-BFGS"), ("sgd", "SGD (the paper's)")), main=False),
            replace(COEF0, shown_when=POLY),
            replace(CLASS_WEIGHT, shown_when={TASK: ("classification",)}),
            count("n_init", "Starts", 1, 10, "The first step goes to the most promising one."),
            *_SNF_SHELL,
        ),
    ),
}
"""Name of a method -> its label, a sentence about it, its knobs."""
