"""MAC's hyper-parameters, and what they allow beside the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine import common_parameters as shared
from supdr.engine.checks import numbers_in
from supdr.engine.parameters import POSITIVE, Interval, Whole, choice, count, scale, share, without
from supdr.methods.mac.regressor import FEATURES, PERCEPTRON, check_mapping
from supdr.solvers.leave_one_out import FEWEST

# First targets that have a name.
STARTS = ("simplex", "blobs", "random", "pca")


_ONE_LAYER, _TWO_LAYERS = {"n_layers": (1,)}, {"n_layers": (2,)}
_FEATURES = {"mapping": FEATURES, **_ONE_LAYER}
_GAUSSIANS = {"mapping": ("rbf",), **_ONE_LAYER}
_PASSES = {"solver": ("mac", "admm"), **_ONE_LAYER}
_MU_GROWS = {"solver": ("mac",), **_FEATURES}

PARAMETERS = (
    count(
        "n_centers",
        "Basis functions",
        5,
        2000,
        "Number of Gaussians that make up the mapping F, at most one per row.",
        log=True,
        step=0.1,
        symbol="M",
        main=True,
        shown_when={"centers": ("kmeans", "random"), "mapping": ("rbf",)},
        accepts=(Whole(), None),
    ),
    replace(shared.HINGE_WEIGHT, help="Weight of the hinge loss.", shown_when=_ONE_LAYER),
    replace(shared.CLASS_WEIGHT, shown_when=_ONE_LAYER),
    scale(
        "reg_w",
        "Ridge",
        1e-6,
        10,
        "Ridge penalty on the mapping. Auto picks it by leave-one-out.",
        symbol="λ",
        main=True,
        shown_when=_FEATURES,
        accepts=("loo", POSITIVE),
    ),
    replace(shared.COMPONENTS, high=10, help="Auto: K − 1, enough for a simplex.", symbol="L", accepts=(Whole(), None)),
    choice(
        "solver",
        "Solver",
        ("mac", "MAC (the paper's)"),
        ("lbfgs", "joint L-BFGS"),
        ("admm", "ADMM"),
        ("fixed_point", "fixed point (2 classes)"),
        main=True,
        help="How the objective is minimised.",
        shown_when=_FEATURES,
    ),
    choice(
        "n_layers",
        "Layers",
        (1, "one"),
        (2, "two: classes on a circle"),
        help="With two layers, a second map takes the first layer's leave-one-out codes to a plane: for many classes.",
        restart=True,
    ),
    choice(
        "head",
        "Second layer",
        "ridge",
        "mix",
        help="Which model the second layer uses.",
        shown_when=_TWO_LAYERS,
        restart=True,
    ),
    choice(
        "latent_reference",
        "Rows shown",
        ("loo", "as if left out"),
        ("train", "as fitted"),
        help="Which positions the plot shows. Left-out rows are comparable with new rows.",
        shown_when=_TWO_LAYERS,
    ),
    choice(
        "mapping",
        "Mapping",
        ("rbf", "Gaussians"),
        "linear",
        PERCEPTRON,
        help="The model behind F. A perceptron has two layers of 32 units and keeps μ constant.",
        shown_when=_ONE_LAYER,
        accepts=(),  # may be a regressor
    ),
    choice(
        "centers",
        "Centres",
        ("kmeans", "k-means"),
        ("random", "random rows"),
        ("all", "all rows"),
        help="How the centres of the Gaussians are chosen.",
        shown_when=_GAUSSIANS,
        accepts=(),  # may be an array
    ),
    scale(
        "gamma",
        "Kernel sharpness",
        1e-3,
        1e3,
        "Width of the Gaussians, as 1/(2σ²). Auto picks it by leave-one-out.",
        symbol="γ",
        shown_when=_GAUSSIANS,
        accepts=("loo", "median", POSITIVE),
    ),
    choice(
        "scheme",
        "Classifiers",
        ("ova", "one against the rest"),
        ("ovo", "one against one"),
        help="How binary classifiers are combined with more than two classes.",
        shown_when=_ONE_LAYER,
        restart=True,
    ),
    choice(
        "init",
        "Start",
        "simplex",
        ("blobs", "random blobs"),
        "random",
        ("pca", "the data"),
        help="How the targets are initialised. A random start rarely works with one-against-rest.",
        shown_when=_ONE_LAYER,
        accepts=(),  # may be an array
        restart=True,
    ),
    scale(
        "init_noise",
        "Noise of the start",
        1e-3,
        1,
        "Noise added to the start. Without it, dimensions beyond K − 1 stay 0.",
        zero=True,
        shown_when={"init": ("simplex",), **_ONE_LAYER},
        restart=True,
    ),
    scale(
        "mu", "First penalty", 1e-2, 1e4, "Weight that ties targets to their images.", symbol="μ", shown_when=_PASSES
    ),
    share(
        "mu_factor",
        "Growth of μ",
        1,
        10,
        0.05,
        "Factor by which μ grows. With 1, μ is constant and Q falls at every pass.",
        shown_when=_MU_GROWS,
        accepts=(Interval(1.0),),
    ),
    count("max_inner", "Passes per μ", 1, 50, "Largest number of passes at one μ.", shown_when=_MU_GROWS),
    scale(
        "inner_tol",
        "Share per pass",
        1e-6,
        1,
        "μ grows once a pass lowers the objective by less than this share.",
        zero=True,
        shown_when=_MU_GROWS,
    ),
    shared.CHOSEN_SCALING,
    choice(
        "early_stopping",
        "Early stopping",
        ("loo", "left-out error"),
        (True, "held-out rows"),
        (False, "no"),
        default=False,  # the explorer shows the passes
        help="What decides when to stop: the left-out error of F in closed form, or rows with hidden labels.",
        shown_when=_ONE_LAYER,
    ),
    replace(
        shared.CALIBRATE,
        default=False,  # the explorer shows the classifiers that decide
        help="Predict with a softmax that is fitted to left-out images.",
        shown_when={**_PASSES, **_FEATURES},
    ),
    replace(shared.VALIDATION_FRACTION, shown_when={**shared.VALIDATION_FRACTION.shown_when, **_ONE_LAYER}),
    replace(shared.MAX_ITER, shown_when=_ONE_LAYER),
    replace(shared.TOL, shown_when=_ONE_LAYER),
    replace(shared.N_ITER_NO_CHANGE, shown_when={"early_stopping": ("loo", True), **_ONE_LAYER}),
    *without(shared.HOUSEKEEPING, "missing_label"),
    replace(shared.MISSING_LABEL, restart=False),
)


def check_beside_data(model: Any, X: NDArray, n_labelled: int, n_classes: int) -> None:
    """Raise ValueError for a hyper-parameter of `model` that does not suit the rows `X` (N, D), or the others."""
    check_mapping(model)
    if model.n_layers == 2 and n_labelled < FEWEST * n_classes:
        raise ValueError(
            f"n_layers=2 fits its second layer to left-out codes: it needs {FEWEST} labelled rows a class; y has "
            f"{n_labelled} for {n_classes} classes (n_layers=1 does with one)"
        )
    if model.solver == "fixed_point" and n_classes != 2:
        raise ValueError(f"solver='fixed_point' is for two classes; y has {n_classes}")
    _check_arrays(model, X, n_labelled, n_classes)


def _check_arrays(model: Any, X: NDArray, n_labelled: int, n_classes: int) -> None:
    if isinstance(model.centers, str):
        if model.centers not in ("kmeans", "random", "all"):
            raise ValueError(f"centers must be 'kmeans', 'random', 'all' or an array; got {model.centers!r}")
        if model.n_centers is not None and model.n_centers > len(X):
            raise ValueError(f"n_centers must be at most n_samples={len(X)}; got {model.n_centers}")
    else:
        centers = numbers_in("centers", model.centers)
        if centers.ndim != 2 or not len(centers) or not np.isfinite(centers).all():
            raise ValueError(f"centers must be a finite array of shape (M, D); got shape {centers.shape}")
        if model.n_layers == 2:
            raise ValueError("centers must be 'kmeans', 'random' or 'all' with n_layers=2; got an array")
    if isinstance(model.init, str):
        if model.init not in STARTS:
            raise ValueError(f"init must be one of {', '.join(STARTS)} or an array; got {model.init!r}")
        return
    if not isinstance(model.early_stopping, str) and model.early_stopping:
        raise ValueError(f"init must be one of {', '.join(STARTS)} with early_stopping=True, which holds rows back")
    init = numbers_in("init", model.init)
    shape = (n_labelled, model._latent_dimension(n_classes))
    if init.shape != shape or not np.isfinite(init).all():
        raise ValueError(f"init must be finite and of shape {shape}, one row per labelled row; got {init.shape}")
