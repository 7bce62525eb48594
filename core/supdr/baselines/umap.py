"""UMAP with or without labels, then a classifier on its latent rows.

A new row gets the weighted mean of the latent rows of its nearest training rows, as with t-SNE: UMAP's own
`transform` takes seconds for the points of a decision boundary.

Source: L. McInnes, J. Healy, J. Melville, "UMAP: uniform manifold approximation and projection for dimension
reduction", arXiv 1802.03426 (2018), through the package umap-learn.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.baselines._parameters import HEAD, SEEDED
from supdr.baselines.fixed_embedding import FixedEmbedding
from supdr.baselines.projections import Projection
from supdr.engine.common_parameters import COMPONENTS
from supdr.engine.optional import PackageMissing, install
from supdr.engine.parameters import Interval, count, flag, share

# Whether the package umap-learn is installed.
INSTALLED = importlib.util.find_spec("umap") is not None

# The message where it is not.
NEEDS = install("UMAP", "umap-learn", "umap")


def umap_places(X: NDArray, y: NDArray | None, settings: dict[str, Any]) -> NDArray:
    """Return UMAP's latent rows (n, d) of rows `X` (n, m); `settings` are those of ``umap.UMAP``."""
    with warnings.catch_warnings():
        # Warnings of parts that are not installed, of few rows, of rows without neighbours: the result is still valid.
        warnings.simplefilter("ignore")
        from umap import UMAP as Peer

        return np.asarray(Peer(**settings).fit_transform(X, y), dtype=float)


@dataclass(eq=False, repr=False)
class UMAP(Projection):
    """UMAP (umap-learn's) of the labelled rows, then k nearest neighbours or an SVM.

    Needs the package umap-learn (``pip install "supdr-viz[umap]"``).

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    supervised : bool, default=True
        Whether UMAP uses the labels.
    n_graph_neighbors : int, default=15
        Neighbours of a row in UMAP's graph, >= 2; no more than there are rows.
    min_dist : float, default=0.1
        Least distance between latent rows, in [0, 1].

    Raises
    ------
    PackageMissing
        On fitting, if umap-learn is not installed.
    """

    parameters = (
        COMPONENTS,
        flag("supervised", "Uses labels", "Whether UMAP sees the labels.", main=True),
        count(
            "n_graph_neighbors",
            "Graph neighbours",
            2,
            100,
            "Neighbours of a row in UMAP's graph.",
            main=True,
            accepts=(Interval(2.0),),
        ),
        share(
            "min_dist",
            "Least distance",
            0.0,
            1.0,
            0.05,
            "Least distance between latent rows. Small values pack them tightly.",
            accepts=(Interval(0.0, 1.0),),
        ),
        *HEAD,
        *SEEDED,
    )

    _: KW_ONLY
    supervised: bool = True
    n_graph_neighbors: int = 15
    min_dist: float = 0.1

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        if not INSTALLED:
            raise PackageMissing(NEEDS)
        settings = {
            "n_components": n_components,
            "n_neighbors": max(min(self.n_graph_neighbors, len(X) - 1), 2),
            "min_dist": self.min_dist,
            # The spectral start needs more rows than components.
            "init": "spectral" if len(X) > n_components + 3 else "random",
            "random_state": self._seed(),
            "n_jobs": 1,
        }
        return FixedEmbedding(umap_places, self.supervised, settings)
