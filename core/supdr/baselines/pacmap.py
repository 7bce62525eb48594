"""PaCMAP without labels, then a classifier on its latent rows.

A new row gets the weighted mean of the latent rows of its nearest training rows, as with t-SNE.

Source: Y. Wang, H. Huang, C. Rudin, Y. Shaposhnik, "Understanding how dimension reduction tools work: an empirical
approach to deciphering t-SNE, UMAP, TriMap, and PaCMAP for data visualization", JMLR 22 (2021), through the package
pacmap.
"""

from __future__ import annotations

import importlib.util
import logging
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
from supdr.engine.parameters import POSITIVE, count, share

# Whether the package pacmap is installed.
INSTALLED = importlib.util.find_spec("pacmap") is not None

# The message where it is not.
NEEDS = install("PaCMAP", "pacmap", "pacmap")

# Smallest number of rows that the package accepts.
MIN_ROWS = 4


def pacmap_places(X: NDArray, y: NDArray | None, settings: dict[str, Any]) -> NDArray:
    """Return PaCMAP's latent rows (n, d) of rows `X` (n, m); `settings` are those of ``pacmap.PaCMAP``."""
    # It logs that a seed is set and that few rows change its settings; neither makes the result invalid.
    logging.getLogger("pacmap").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pacmap import PaCMAP as Peer

        start = "pca" if X.shape[1] >= settings["n_components"] else "random"
        return np.asarray(Peer(**settings).fit_transform(X, init=start), dtype=float)


@dataclass(eq=False, repr=False)
class PaCMAP(Projection):
    """PaCMAP (the package's) of the labelled rows, then k nearest neighbours or an SVM.

    Needs the package pacmap (``pip install "supdr-viz[pacmap]"``).

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    n_graph_neighbors : int, default=10
        Neighbours of a row that attract it, >= 1; fewer for few rows.
    mid_near : float, default=0.5
        Pairs at middle distance, which attract at first, by neighbours, > 0.
    further : float, default=2.0
        Far pairs, which repel, by neighbours, > 0; at least one pair a row is taken.

    Raises
    ------
    PackageMissing
        On fitting, if pacmap is not installed.
    ValueError
        If fewer than four rows are labelled.
    """

    parameters = (
        COMPONENTS,
        count("n_graph_neighbors", "Graph neighbours", 1, 100, "Rows that attract a row.", main=True),
        share(
            "mid_near",
            "Middle pairs",
            0.1,
            5.0,
            0.1,
            "Pairs at middle distance, which attract each other, as a multiple of the neighbours.",
            accepts=(POSITIVE,),
        ),
        share(
            "further",
            "Far pairs",
            0.1,
            10.0,
            0.1,
            "Far pairs, which repel each other, as a multiple of the neighbours.",
            accepts=(POSITIVE,),
        ),
        *HEAD,
        *SEEDED,
    )

    _: KW_ONLY
    n_graph_neighbors: int = 10
    mid_near: float = 0.5
    further: float = 2.0

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        if len(X) < MIN_ROWS:
            raise ValueError(f"PaCMAP needs at least {MIN_ROWS} labelled rows; got {len(X)}")
        if not INSTALLED:
            raise PackageMissing(NEEDS)
        # The package refuses a share of further pairs that is less than one pair a row.
        fewest_further = 1.0 / self.n_graph_neighbors
        settings = {
            "n_components": n_components,
            "n_neighbors": int(self.n_graph_neighbors),
            "MN_ratio": float(self.mid_near),
            "FP_ratio": max(float(self.further), fewest_further),
            "random_state": self._seed(),
        }
        return FixedEmbedding(pacmap_places, False, settings)
