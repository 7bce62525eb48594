"""The knobs of the library's own method."""

from __future__ import annotations

from dataclasses import replace

from supdr_viz.settings.knobs import ParameterSpec, choices, count, scale
from supdr_viz.settings.shared_knobs import PREPROCESSING, SHELL, Entry

_PCS, _EMBEDDED = {"charts": ("pca+embed", "pca")}, {"charts": ("pca+embed", "embed")}

_CLASS_ATLAS = (
    count("n_components", "Latent dimensions", 1, 10, "Size of the map.", symbol="d", main=True),
    scale("tau", "Sharpness of the gate", 0.5, 32, "Power of probabilities that mix charts.", symbol="τ", main=True),
    scale("lam", "Weight of the gate", 0.1, 100, "Auto: 1, 3, 10, until the plane obeys.", symbol="λ", main=True),
    scale("perplexity", "Perplexity", 2, 100, "Neighbours that a row counts.", main=True),
    ParameterSpec(
        "charts",
        "Charts",
        "choice",
        choices=choices(("pca+embed", "both"), ("pca", "principal components"), ("embed", "neighbour embedding")),
        main=True,
        help="Coordinates of a class.",
    ),
    count("n_pcs", "Components of a class", 1, 30, "Principal components at most.", shown_when=_PCS),
    count("n_neighbors", "Carriers", 1, 20, "Rows of a class that carry a new row.", shown_when=_EMBEDDED),
    replace(scale("n_landmarks", "Landmarks", 50, 20_000, "Rows that the map is learnt from, at most."), kind="int"),
    replace(PREPROCESSING, choices=(("loo", "by leave-one-out"), *PREPROCESSING.choices)),
    *(
        spec
        for spec in SHELL
        if spec.name in ("early_stopping", "validation_fraction", "n_iter_no_change", "max_iter", "tol")
    ),
)

OWN_FORMS: dict[str, Entry] = {
    "ClassAtlas": (
        "ClassAtlas",
        "A map of one chart per class; a gate decides between them, and doubt becomes position.",
        _CLASS_ATLAS,
    ),
}
"""Name of a method -> its label, a sentence about it, its knobs."""
