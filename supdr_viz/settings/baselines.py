"""The knobs of the methods that the papers compare with, in the order of the menu."""

from __future__ import annotations

from dataclasses import replace

from supdr_viz.settings.knobs import ParameterSpec, choices, count, scale
from supdr_viz.settings.methods import MAC_KNOBS, SDRGLM_KNOBS
from supdr_viz.settings.shared_knobs import (
    COEF0,
    COMPONENTS,
    DEGREE,
    GAMMA,
    HINGE_WEIGHT,
    KERNEL,
    PLANE,
    POLY,
    PREPROCESSING,
    RBF,
    SHELL,
    SVM_WEIGHT,
    Entry,
)


def _pick(knobs: tuple[ParameterSpec, ...], *names: str) -> tuple[ParameterSpec, ...]:
    """Knobs of these names, without conditions on knobs that are not among them."""
    return tuple(
        replace(spec, shown_when={name: values for name, values in spec.shown_when.items() if name in names})
        for spec in knobs
        if spec.name in names
    )


_SCALING = replace(PREPROCESSING, choices=tuple(choice for choice in PREPROCESSING.choices if choice[0] != "whiten"))
_RUN = _pick(SHELL, "max_iter", "tol")
_SVM_TOL = scale("svm_tol", "SVM tolerance", 1e-6, 1e-1, "Of the support vector machines.", step=0.5)

_NEIGHBOURS = count("n_neighbors", "Neighbours", 1, 50, "How many rows vote.", symbol="k", main=True)
_FEATURES = replace(
    next(spec for spec in MAC_KNOBS if spec.name == "mapping"),
    choices=choices(("rbf", "Gaussians"), "linear"),
    help="What F is made of.",
)

_HEAD = (
    ParameterSpec(
        "head",
        "Classifier",
        "choice",
        choices=choices(("knn", "nearest neighbours"), ("svm", "linear SVM"), ("rbf", "Gaussian SVM")),
        main=True,
        help="It sees the projected rows.",
    ),
    replace(_NEIGHBOURS, main=False, shown_when={"head": ("knn",)}),
    replace(SVM_WEIGHT, main=False, shown_when={"head": ("svm", "rbf")}),
    replace(
        GAMMA,
        name="head_gamma",
        label="Classifier's sharpness",
        symbol="",
        main=False,
        help="Of the kernel exp(−γ‖z − z'‖²) on the projected rows.",
        shown_when={"head": ("rbf",)},
    ),
    PREPROCESSING,
)

_GRAPH = count("n_neighbors", "Neighbours", 1, 50, "Of each row in the graph.", symbol="k", main=True)
_TANGENT = count("dimension", "Tangent dimensions", 1, 3, "Of the sheet on which the rows lie.", symbol="d", main=True)
_SMOOTHNESS = scale("reg", "Smoothness", 1e-6, 1e3, "Weight of a smooth prediction.", symbol="λ", main=True)

_UDR_KNOBS = _pick(SDRGLM_KNOBS, "n_components", "reg_u", "reg_v", "family_x", "solver", "preprocessing", "init")

BASELINE_FORMS: dict[str, Entry] = {
    "LinearSVM": ("Linear SVM", "A maximum-margin plane in the input space.", (SVM_WEIGHT, PREPROCESSING)),
    "PolySVM": ("Polynomial SVM", "A kernel machine on the inputs.", (SVM_WEIGHT, DEGREE, COEF0, PREPROCESSING)),
    "RBFSVM": ("RBF SVM", "A kernel machine on the inputs.", (SVM_WEIGHT, GAMMA, PREPROCESSING)),
    "PCASVM": (
        "PCA, then SVM",
        "Principal components, which see no labels, then a kernel machine.",
        (
            COMPONENTS,
            KERNEL,
            replace(DEGREE, shown_when=POLY),
            SVM_WEIGHT,
            replace(COEF0, shown_when=POLY),
            PREPROCESSING,
        ),
    ),
    "LDA": ("LDA", "Directions that separate the class means.", (COMPONENTS, PREPROCESSING)),
    "KNN": (
        "k nearest neighbours",
        "The vote of the nearest training rows.",
        (_NEIGHBOURS, PREPROCESSING),
    ),
    "PCAProjection": ("PCA", "Principal components, which see no labels.", (COMPONENTS, *_HEAD)),
    "KernelPCAProjection": (
        "Kernel PCA",
        "Principal components of a Gaussian kernel, which see no labels.",
        (COMPONENTS, GAMMA, *_HEAD),
    ),
    "LDAProjection": ("LDA, then a classifier", "Directions that separate the class means.", (COMPONENTS, *_HEAD)),
    "PLSProjection": (
        "PLS, then a classifier",
        "Directions of the inputs that covary with the classes.",
        (COMPONENTS, *_HEAD),
    ),
    "KLDA": (
        "Kernel LDA",
        "Discriminant directions in the space of a Gaussian kernel.",
        (
            COMPONENTS,
            GAMMA,
            scale("reg", "Ridge", 1e-6, 1e2, "Added to the scatter within classes.", main=True),
            *_HEAD,
        ),
    ),
    "NCA": (
        "NCA",
        "A linear map in which the nearest neighbours vote well.",
        (COMPONENTS, count("n_steps", "Steps", 1, 200, "Of L-BFGS, at most.", main=True), *_HEAD),
    ),
    "LMNN": (
        "LMNN",
        "A linear map that draws neighbours of the same class near and pushes the others away.",
        (
            COMPONENTS,
            count("n_targets", "Targets", 1, 10, "Neighbours of its class that a row is drawn to.", main=True),
            ParameterSpec(
                "push", "Push", "float", 0.05, 0.95, 0.05, main=True, help="Share of the push, against pull."
            ),
            count("n_steps", "Steps", 1, 200, "Of L-BFGS, at most."),
            *_HEAD,
        ),
    ),
    "TSNE": (
        "t-SNE",
        "Near rows stay near; sees no labels. New rows go between their nearest training rows: it cannot place them.",
        (
            COMPONENTS,
            scale("perplexity", "Perplexity", 2, 200, "Effective number of neighbours of each row.", main=True),
            count("n_exaggerated", "Exaggerated steps", 0, 500, "First steps, in which neighbours attract twelvefold."),
            *_HEAD,
            *_RUN,
        ),
    ),
    "UMAP": (
        "UMAP",
        "Near rows stay near, classes apart. Its first run takes longer: the package umap-learn compiles itself.",
        (
            COMPONENTS,
            ParameterSpec("supervised", "Uses labels", "bool", main=True, help="Whether UMAP sees the labels."),
            count("n_graph_neighbors", "Graph neighbours", 2, 100, "Neighbours of a row in UMAP's graph.", main=True),
            ParameterSpec(
                "min_dist", "Least distance", "float", 0.0, 1.0, 0.05, help="Between latent rows: small packs tightly."
            ),
            *_HEAD,
        ),
    ),
    "PaCMAP": (
        "PaCMAP",
        "Near rows stay near, and so does what is farther; sees no labels. Its first run takes longer.",
        (
            COMPONENTS,
            count("n_graph_neighbors", "Graph neighbours", 1, 100, "Rows that attract a row.", main=True),
            ParameterSpec(
                "mid_near",
                "Middle pairs",
                "float",
                0.1,
                5.0,
                0.1,
                help="At middle distance, which attract, by neighbours.",
            ),
            ParameterSpec("further", "Far pairs", "float", 0.1, 10.0, 0.1, help="Which repel, by neighbours."),
            *_HEAD,
        ),
    ),
    "TwoStep": (
        "Two steps",
        "MAC's model, learnt by turns without auxiliary coordinates.",
        _pick(
            tuple(_FEATURES if spec.name == "mapping" else spec for spec in MAC_KNOBS),
            *("n_components", "mapping", "n_centers", "centers", "gamma", "reg_w", "C", "scheme", "init", "init_noise"),
            *("early_stopping", "validation_fraction", "n_iter_no_change", "max_iter", "tol", "preprocessing"),
        ),
    ),
    "AllViewsSVM": ("SVM on all views", "A linear SVM on all views side by side.", (SVM_WEIGHT, _SCALING)),
    "BestViewSVM": (
        "SVM on the best view",
        "A linear SVM on the view that does best in cross-validation.",
        (SVM_WEIGHT, count("n_folds", "Folds", 2, 10, "Of the cross-validation."), _SCALING),
    ),
    "MKL": (
        "MKL",
        "A linear SVM on a weighted sum of the views' kernels; the weights are learnt.",
        (SVM_WEIGHT, _SCALING, *_RUN, _SVM_TOL),
    ),
    "LMKL": (
        "Localised MKL",
        "Weights of the kernels that depend on the row, by a gate.",
        (
            SVM_WEIGHT,
            count("n_models", "Local models", 1, 10, "On data of one view.", symbol="P", main=True),
            count("n_init", "Starts", 1, 10, "Run side by side; the best is shown."),
            scale("init_scale", "Start scale", 1e-2, 10, "Deviation of the first gate weights."),
            _SCALING,
            *_RUN,
            _SVM_TOL,
        ),
    ),
    "SVDM": (
        "SVDM",
        "Latent rows that reconstruct the data and feed large-margin classifiers.",
        (
            COMPONENTS,
            *_pick(SDRGLM_KNOBS, "recon_weight", "reg_scaling", "reg_u", "reg_v", "reg_w"),
            *_pick(SHELL, "preprocessing", "calibrate", "max_iter", "tol"),
        ),
    ),
    "LogisticUDR": (
        "Unsupervised, then logistic",
        "Latent rows under a generalised linear model of the data, then logistic regression.",
        (*_UDR_KNOBS, *_RUN),
    ),
    "SVMUDR": (
        "Unsupervised, then SVM",
        "Latent rows under a generalised linear model of the data, then a linear SVM.",
        (replace(SVM_WEIGHT, main=True), *_UDR_KNOBS, *_RUN),
    ),
    "LogisticPCA": (
        "Logistic PCA",
        "Principal components of bits, then logistic regression; for columns of 0 and 1 only.",
        (*_pick(_UDR_KNOBS, "n_components", "reg_u", "reg_v", "solver", "init"), *_RUN),
    ),
    "ElasticNet": (
        "Elastic Net",
        "Linear regression with few and small weights.",
        (
            scale("alpha", "Penalty", 1e-4, 10, "auto: by cross-validation.", symbol="α", main=True),
            ParameterSpec("l1_ratio", "Share of ℓ1", "float", 0.05, 1, 0.05, main=True, help="More: fewer columns."),
            PREPROCESSING,
        ),
    ),
    "PLS": (
        "PLS regression",
        "Directions of the inputs that covary with the target, and a regression on them.",
        (COMPONENTS, PREPROCESSING),
    ),
    "LSSVM": (
        "LS-SVM",
        "Kernel ridge regression with a bias.",
        (
            replace(HINGE_WEIGHT, label="Error weight", high=1e4, help="Weight of squared errors."),
            replace(KERNEL, help="Kernel on the inputs."),
            replace(DEGREE, shown_when=POLY),
            replace(GAMMA, shown_when=RBF),
            replace(COEF0, shown_when=POLY),
            PREPROCESSING,
        ),
    ),
    "LLR": (
        "LLR",
        "Linear latent rows from which every column and the target are regressions.",
        (
            replace(PLANE, symbol="D"),
            scale("target_weight", "Target weight", 1e-3, 1e3, "Of labels beside X.", symbol="μ", zero=True, main=True),
            scale("reg_v", "Ridge on reconstruction", 1e-3, 1e2, "Of X on latent rows.", symbol="λV", main=True),
            scale("reg_z", "Ridge on latent rows", 1e-3, 1e2, "Keeps the latent rows small.", symbol="λZ", main=True),
            scale("reg_w", "Ridge on prediction", 1e-3, 1e2, "Of the target on latent rows.", symbol="λW", main=True),
            *_pick(SHELL, "preprocessing", "calibrate", "init", "max_iter", "tol"),
        ),
    ),
    "GraphLaplacian": (
        "Graph Laplacian",
        "Predictions that change little between neighbours.",
        (_SMOOTHNESS, _GRAPH, PREPROCESSING),
    ),
    "LapRLS": (
        "LapRLS",
        "Kernel ridge regression that changes little between neighbours.",
        (
            scale("reg_ambient", "Ridge", 1e-6, 1e2, "Of the kernel expansion.", symbol="λA", main=True),
            scale("reg_intrinsic", "Smoothness", 1e-6, 1e3, "Weight of a smooth prediction.", symbol="λI", main=True),
            _GRAPH,
            replace(GAMMA, main=False),
            PREPROCESSING,
        ),
    ),
    "HessianEnergy": (
        "Hessian energy",
        "Predictions that are close to linear along the sheet of the rows.",
        # Quadratics on three tangent dimensions have nine coefficients: fewer neighbours do not determine them.
        (_SMOOTHNESS, replace(_GRAPH, low=9), _TANGENT, PREPROCESSING),
    ),
    "PFR": (
        "Parallel field regression",
        "Predictions whose gradient is a parallel vector field along the sheet of the rows.",
        (
            scale("reg_field", "Field weight", 1e-6, 1e3, "Ties gradient to field.", symbol="λ1", main=True),
            scale("reg_parallel", "Parallelism", 1e-6, 1e3, "Keeps the field parallel.", symbol="λ2", main=True),
            replace(_GRAPH, low=3),
            _TANGENT,
            PREPROCESSING,
        ),
    ),
    "Constant": ("Constant", "The mean, or the most frequent class.", ()),
}
"""Name of a baseline -> its label, a sentence about it, its knobs."""
