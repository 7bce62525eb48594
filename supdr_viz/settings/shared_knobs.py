"""The knobs that several methods share, as each form takes them up or alters them."""

from __future__ import annotations

from dataclasses import replace

from supdr_viz.settings.knobs import ParameterSpec, choices, count, scale

Entry = tuple[str, str, tuple[ParameterSpec, ...]]
"""Label, a sentence, knobs: a form."""

POLY, RBF = {"kernel": ("poly",)}, {"kernel": ("rbf",)}
_SGD, _RANDOM, _STOPPING = {"solver": ("sgd",)}, {"init": ("random",)}, {"early_stopping": (True,)}

HINGE_WEIGHT = scale("C", "Margin weight", 1e-3, 1e3, "Weight of margin violations.", symbol="C", main=True)
SVM_WEIGHT = replace(HINGE_WEIGHT, high=100.0)  # beyond, libsvm may take minutes and cannot be stopped
CLASS_WEIGHT = ParameterSpec(
    "class_weight",
    "Class weights",
    "choice",
    choices=choices((None, "none"), ("balanced", "balanced")),
    help="Balanced: every class weighs the same in the label term, however many rows it has.",
)
DEGREE = count("degree", "Degree", 1, 4, "Power of the polynomial kernel.", symbol="p", main=True)
COEF0 = ParameterSpec("coef0", "Kernel constant", "float", 0, 2, 0.1, help="Added to ⟨z, z'⟩ before the power.")
GAMMA = scale("gamma", "Kernel sharpness", 1e-3, 1e2, "Of the kernel exp(−γ‖z − z'‖²).", symbol="γ", main=True)
KERNEL = ParameterSpec(
    "kernel", "Kernel", "choice", choices=choices("linear", "poly", "rbf"), main=True, help="Kernel of the classifier."
)
COMPONENTS = count("n_components", "Latent dimensions", 1, 64, "Size of the latent space.", symbol="d", main=True)
PLANE = replace(COMPONENTS, default=2, help="Size of the latent space; auto: as many as suit predictions, no picture.")
"""For methods that take more dimensions by themselves: the explorer begins with a picture."""

PREPROCESSING = ParameterSpec(
    "preprocessing",
    "Preprocessing",
    "choice",
    choices=choices("none", ("zscore", "z-score"), ("minmax", "min–max"), "whiten"),
    help="Fitted on the training rows, inside the method.",
)
BETA = ParameterSpec(
    "beta",
    "Reconstruction share",
    "float",
    0.01,
    1,
    0.01,
    symbol="β",
    main=True,
    help="β weighs the reconstruction, 1 − β the labels.",
)
SOLVER = ParameterSpec(
    "solver",
    "Solver",
    "choice",
    choices=choices(("bcd", "block descent"), ("lbfgs", "L-BFGS"), ("sgd", "SGD (the paper's)")),
    main=True,
    help="How the objective is minimised.",
)
FACTORISATION = (
    scale("reg_u", "Ridge on latent rows", 1e-6, 1e2, "Keeps the latent rows small.", symbol="λU"),
    scale("reg_v", "Ridge on loadings", 1e-6, 1e2, "Keeps the loadings small.", symbol="λV"),
)
SHELL = (
    PREPROCESSING,
    ParameterSpec("row_bias", "Row bias", "bool", symbol="B_U", help="One more latent coordinate that is not shown."),
    ParameterSpec("calibrate", "Calibrate", "bool", help="Refit the classifier on rows embedded without labels."),
    ParameterSpec(
        "init", "Start", "choice", choices=choices(("pca", "principal components"), "random"), help="First latent rows."
    ),
    scale("init_scale", "Start scale", 1e-3, 1, "Deviation of the random start.", shown_when=_RANDOM),
    scale(
        "lr_reconstruction",
        "Step, reconstruction",
        1e-6,
        1,
        "Step size of SGD on cells.",
        symbol="η_R",
        shown_when=_SGD,
    ),
    scale("lr_classification", "Step, labels", 1e-6, 1, "Step size of SGD on labels.", symbol="η_CA", shown_when=_SGD),
    ParameterSpec("early_stopping", "Early stopping", "bool", help="Stop when held-out rows get worse."),
    ParameterSpec(
        "validation_fraction",
        "Held-out share",
        "float",
        0.05,
        0.5,
        0.05,
        help="Share of the labels hidden to watch.",
        shown_when=_STOPPING,
    ),
    count("n_iter_no_change", "Patience", 1, 100, "Steps without improvement.", shown_when=_STOPPING),
    count("max_iter", "Steps at most", 1, 100_000, "The run pauses there.", log=True, step=0.05),
    scale("tol", "Tolerance", 1e-10, 1e-1, "Stop when the objective changes by less.", step=0.5, zero=True),
)
