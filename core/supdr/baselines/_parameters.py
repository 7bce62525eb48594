"""Declarations of the hyper-parameters that several comparison methods have."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine import common_parameters as shared
from supdr.engine.parameters import POSITIVE, Whole, choice, count, scale

# Parameters that no form shows, of methods without `n_jobs`.
SEEDED = (shared.RANDOM_STATE, shared.VERBOSE, shared.MISSING_LABEL)

SHELL = (shared.PREPROCESSING, *SEEDED)
AUTOMATIC_COMPONENTS = replace(shared.COMPONENTS, accepts=(Whole(), None))
MEDIAN_GAMMA = replace(shared.GAMMA, accepts=("median", POSITIVE))
SCALED_GAMMA = replace(shared.GAMMA, accepts=("scale", POSITIVE))

NEIGHBOURS = count("n_neighbors", "Neighbours", 1, 50, "Number of neighbours that vote.", symbol="k", main=True)
HEAD = (
    choice(
        "head",
        "Classifier",
        ("knn", "nearest neighbours"),
        ("svm", "linear SVM"),
        ("rbf", "Gaussian SVM"),
        main=True,
        help="Classifier that is fitted to the projected rows.",
    ),
    replace(NEIGHBOURS, main=False, shown_when={"head": ("knn",)}),
    replace(shared.SVM_WEIGHT, main=False, shown_when={"head": ("svm", "rbf")}),
    replace(
        SCALED_GAMMA,
        name="head_gamma",
        label="Classifier's sharpness",
        symbol="",
        main=False,
        help="γ of exp(−γ‖z − z'‖²) between projected rows. Auto: 1/(d var z).",
        shown_when={"head": ("rbf",)},
    ),
    shared.PREPROCESSING,
)
STEPS = count("n_steps", "Steps", 1, 200, "Largest number of L-BFGS steps.")

GRAPH = count(
    "n_neighbors", "Neighbours", 1, 50, "Number of neighbours of each row in the graph.", symbol="k", main=True
)
TANGENT = count(
    "dimension",
    "Tangent dimensions",
    1,
    3,
    "Number of dimensions of the sheet on which the rows lie.",
    symbol="d",
    main=True,
)
SMOOTHNESS = scale("reg", "Smoothness", 1e-6, 1e3, "Weight of a smooth prediction.", symbol="λ", main=True)
DIRECT = (shared.PREPROCESSING, shared.TASK_KIND, *SEEDED)
