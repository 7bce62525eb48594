"""ClassAtlas's hyper-parameters."""

from __future__ import annotations

from dataclasses import replace

from supdr.engine.common_parameters import CHOSEN_SCALING, COMPONENTS, HOUSEKEEPING, MISSING_LABEL, RUN
from supdr.engine.parameters import Interval, choice, count, of_run, scale, share, without

# Of the gate.
LARGEST_WEIGHT = 1e6

_PCS, _EMBEDDED = {"charts": ("pca+embed", "pca")}, {"charts": ("pca+embed", "embed")}

PARAMETERS = (
    replace(COMPONENTS, high=10, help="Size of the map."),
    scale(
        "tau",
        "Sharpness of the gate",
        0.5,
        32,
        "Power of the class probabilities that mix the charts.",
        symbol="τ",
        main=True,
    ),
    scale(
        "lam",
        "Weight of the gate",
        0.1,
        100,
        "Weight of the gate's term. Auto raises it, 1, 3, 10, until the map follows the gate.",
        symbol="λ",
        main=True,
        accepts=("path", Interval(0.0, LARGEST_WEIGHT)),
    ),
    scale("perplexity", "Perplexity", 2, 100, "Effective number of neighbours of each row.", main=True),
    share(
        "separation",
        "Separation",
        0.0,
        1.0,
        0.05,
        "How far classes are moved apart. 0 draws neighbours only, without labels.",
        main=True,
        accepts=(Interval(0.0, 1.0),),
    ),
    choice(
        "charts",
        "Charts",
        ("pca+embed", "both"),
        ("pca", "principal components"),
        ("embed", "neighbour embedding"),
        main=True,
        help="How the coordinates within a class are computed.",
        restart=True,
    ),
    count(
        "n_pcs",
        "Components of a class",
        1,
        30,
        "Largest number of principal components of each class.",
        shown_when=_PCS,
        restart=True,
    ),
    count(
        "n_neighbors",
        "Carriers",
        1,
        20,
        "Number of rows of a class that determine where a new row is placed.",
        shown_when=_EMBEDDED,
        restart=True,
    ),
    count(
        "n_landmarks",
        "Landmarks",
        50,
        20_000,
        "Largest number of rows that the map is learnt from.",
        log=True,
        step=0.1,
        restart=True,
    ),
    of_run("gate"),
    CHOSEN_SCALING,
    *RUN,
    *without(HOUSEKEEPING, "missing_label"),
    replace(MISSING_LABEL, restart=False),
)
