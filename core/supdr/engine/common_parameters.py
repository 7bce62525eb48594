"""Declarations of the hyper-parameters that several methods have; a method may replace fields of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supdr.engine.parameters import (
    NONNEGATIVE,
    POSITIVE_SHARE,
    Interval,
    Whole,
    choice,
    count,
    flag,
    of_run,
    scale,
    share,
)

POLY, RBF = {"kernel": ("poly",)}, {"kernel": ("rbf",)}
SGD, RANDOM, STOPPING = {"solver": ("sgd",)}, {"init": ("random",)}, {"early_stopping": (True,)}

# --- the run ----------------------------------------------------------------------------------------------------------

MAX_ITER = count("max_iter", "Steps at most", 1, 100_000, "The run pauses after this many steps.", log=True, step=0.05)
TOL = scale(
    "tol",
    "Tolerance",
    1e-10,
    1e-1,
    "The run stops when the objective changes by less than this share.",
    step=0.5,
    zero=True,
    accepts=(Interval(),),  # negative: never converged
)
EARLY_STOPPING = flag("early_stopping", "Early stopping", "Stop when held-out rows get worse.")
VALIDATION_FRACTION = share(
    "validation_fraction",
    "Held-out share",
    0.05,
    0.5,
    0.05,
    "Share of the labels that are held out to decide when to stop.",
    shown_when=STOPPING,
    accepts=(),  # checked with the labels at hand
)
N_ITER_NO_CHANGE = count(
    "n_iter_no_change",
    "Steps without improvement",
    1,
    100,
    "Number of steps without improvement before the run stops.",
    shown_when=STOPPING,
)
RANDOM_STATE = of_run("random_state", None, Whole(0, 2**32 - 1), np.random.RandomState, restart=True)
N_JOBS = of_run("n_jobs", None, Whole(-(2**31), -1), Whole())
VERBOSE = of_run("verbose", NONNEGATIVE, True, False)
MISSING_LABEL = of_run("missing_label", restart=True)

STOPPING_RULE = (EARLY_STOPPING, VALIDATION_FRACTION, N_ITER_NO_CHANGE)
LIMITS = (MAX_ITER, TOL)
# Parameters that decide when a run ends.
RUN = (*STOPPING_RULE, *LIMITS)

# Parameters that no form shows.
HOUSEKEEPING = (RANDOM_STATE, N_JOBS, VERBOSE, MISSING_LABEL)

# --- the data ---------------------------------------------------------------------------------------------------------

TASK_KIND = of_run("task", "classification", "regression", restart=True)
CLASS_WEIGHT = choice(
    "class_weight",
    "Class weights",
    (None, "none"),
    ("balanced", "balanced"),
    help="Balanced: every class weighs the same in the label term, however many rows it has.",
    accepts=(),  # checked with the classes at hand
)
PREPROCESSING = choice(
    "preprocessing",
    "Preprocessing",
    "none",
    ("zscore", "z-score"),
    ("minmax", "min–max"),
    "whiten",
    help="Fitted on the training rows, inside the method.",
    restart=True,
)
UNWHITENED = replace(PREPROCESSING, choices=PREPROCESSING.choices[:-1], accepts=PREPROCESSING.accepts[:-1])
CHOSEN_SCALING = replace(
    PREPROCESSING,
    choices=(("loo", "by leave-one-out"), *PREPROCESSING.choices),
    accepts=("loo", *PREPROCESSING.accepts),
)

# --- latent spaces ----------------------------------------------------------------------------------------------------

COMPONENTS = count(
    "n_components", "Latent dimensions", 1, 64, "Size of the latent space.", symbol="d", main=True, restart=True
)
PLANE = replace(
    COMPONENTS,
    default=2,  # the explorer begins with a picture
    help="Size of the latent space. Auto chooses it for prediction, not for a picture.",
    accepts=(Whole(), None),
)
INIT = choice(
    "init",
    "Start",
    ("pca", "principal components"),
    "random",
    help="How the latent rows are initialised.",
    accepts=(),  # may be an array, checked with the rows at hand
    restart=True,
)
INIT_SCALE = scale(
    "init_scale", "Start scale", 1e-3, 1, "Standard deviation of the random start.", shown_when=RANDOM, restart=True
)
ROW_BIAS = flag("row_bias", "Row bias", "One more latent coordinate that is not shown.", symbol="B_U", restart=True)
EXTRAPOLATE = flag(
    "extrapolate",
    "Extrapolate",
    "Use new rows as they are; off: cells far outside the range of the training rows are clipped.",
)
CALIBRATE = flag("calibrate", "Calibrate", "Refit the classifier on rows embedded without labels.")
REG_U = scale(
    "reg_u", "Ridge on latent rows", 1e-6, 1e2, "Keeps the latent rows small.", symbol="λ_U", accepts=(NONNEGATIVE,)
)
REG_V = scale(
    "reg_v", "Ridge on loadings", 1e-6, 1e2, "Keeps the loadings small.", symbol="λ_V", accepts=(NONNEGATIVE,)
)
BETA = share(
    "beta",
    "Reconstruction share",
    0.01,
    1,
    0.01,
    "β weighs the reconstruction, 1 − β the labels.",
    symbol="β",
    main=True,
    accepts=(POSITIVE_SHARE,),
)
LR_RECONSTRUCTION = scale(
    "lr_reconstruction",
    "Step, reconstruction",
    1e-6,
    1,
    "Step size of stochastic gradient descent on cells of X.",
    symbol="η_R",
    shown_when=SGD,
)
LR_CLASSIFICATION = scale(
    "lr_classification",
    "Step, labels",
    1e-6,
    1,
    "Step size of stochastic gradient descent on labels.",
    symbol="η_CA",
    shown_when=SGD,
)
SOLVER = choice(
    "solver",
    "Solver",
    ("bcd", "block descent"),
    ("lbfgs", "L-BFGS"),
    ("sgd", "SGD (the paper's)"),
    main=True,
    help="How the objective is minimised.",
)

# --- kernels and machines ---------------------------------------------------------------------------------------------

KERNEL = choice("kernel", "Kernel", "linear", "poly", "rbf", main=True, help="Kernel of the classifier.")
DEGREE = count("degree", "Degree", 1, 4, "Power of the polynomial kernel.", symbol="p", main=True)
GAMMA = scale(
    "gamma",
    "Kernel sharpness",
    1e-3,
    1e2,
    "γ of the kernel exp(−γ‖z − z'‖²). Larger values give a more flexible boundary.",
    symbol="γ",
    main=True,
    accepts=(),
)
COEF0 = share("coef0", "Kernel constant", 0, 2, 0.1, "Constant added to ⟨z, z'⟩ before taking the power.", accepts=())
HINGE_WEIGHT = scale("C", "Margin weight", 1e-3, 1e3, "Weight of margin violations.", symbol="C", main=True)
SVM_WEIGHT = replace(HINGE_WEIGHT, high=100.0)  # beyond, libsvm may take minutes and cannot be stopped
SVM_TOL = scale(
    "svm_tol",
    "SVM tolerance",
    1e-6,
    1e-1,
    "Accuracy to which the SVMs are solved.",
    step=0.5,
    accepts=(Interval(1e-8, 0.1),),
)
