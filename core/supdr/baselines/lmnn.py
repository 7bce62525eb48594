"""Large margin nearest neighbours: a linear map in which rows of another class keep a distance.

    min over L   (1 - push) / n sum_{i, j -> i} |L(x_i - x_j)|^2
                 + push / n sum_{i, j -> i} sum_{l of another class} [1 + |L(x_i - x_j)|^2 - |L(x_i - x_l)|^2]_+

j -> i: j is one of the k nearest rows of i's own class, in the input space.  The sum over triples is evaluated with
the distances of some rows i to all others at a time, and minimised over the rectangular L itself by L-BFGS.

Source: K. Q. Weinberger, L. K. Saul, "Distance metric learning for large margin nearest neighbor classification",
JMLR 10 (2009), eq. 11-13; L instead of L'L as in section 3.7 there, which allows few dimensions.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from supdr.baselines._parameters import HEAD, SEEDED, STEPS
from supdr.baselines.projections import Projection
from supdr.engine.common_parameters import COMPONENTS
from supdr.engine.parameters import count, share
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step

# Relative decrease at which the optimisation ends.
TOL = 1e-6

# Number of distances in memory at a time, which fit into the processor's cache.
BLOCK = 1 << 18


@dataclass(eq=False)
class LargeMarginMap(BaseEstimator):
    """The linear map of large margin nearest neighbours.

    `n_components`: rows of L; `n_neighbors`: k, target neighbours; `push`: weight of the hinge, in (0, 1); `n_steps`:
    steps of L-BFGS. `components_` (d, m): L; `values_`: objective before the first and after every step.
    """

    n_components: int
    n_neighbors: int
    push: float
    n_steps: int

    def fit(self, X: NDArray, y: NDArray) -> LargeMarginMap:
        """Minimise from principal components, for rows (n, m) and class codes (n,).  O(n^2 (d + k)) per step."""
        self.mean_ = X.mean(axis=0)
        X = X - self.mean_
        neighbours, exists = _target_neighbours(X, y, self.n_neighbors)

        def evaluate(point: NDArray) -> tuple[float, NDArray, None]:
            """Return the objective and its gradient at a flat L."""
            components = point.reshape(self.n_components, -1)
            value, gradient = triplet_loss(components, X, y, neighbours, exists, self.push)
            return value, gradient.ravel(), None

        start = PCA(self.n_components, svd_solver="full").fit(X).components_
        state = lbfgs_start(np.ascontiguousarray(start).ravel(), evaluate)
        self.values_ = [state.value]
        for _ in range(self.n_steps):
            state = lbfgs_step(state, evaluate)
            self.values_.append(state.value)
            if self.values_[-2] - state.value <= TOL * self.values_[-2]:
                break
        self.components_ = state.point.reshape(self.n_components, -1)
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return L(x - mean) of rows (n, m)."""
        return (X - self.mean_) @ self.components_.T


def triplet_loss(
    components: NDArray,
    X: NDArray,
    y: NDArray,
    neighbours: NDArray,
    exists: NDArray,
    push: float,
    block_cells: int = BLOCK,
) -> tuple[float, NDArray]:
    """Return the objective and its gradient (d, m) in L; `exists` (n, k) marks the target `neighbours` (n, k)."""
    n = len(X)
    latent = X @ components.T
    squares = np.einsum("ij,ij->i", latent, latent)
    pulled, value, step = np.zeros_like(latent), 0.0, max(1, block_cells // n)
    for start in range(0, n, step):
        block = slice(start, start + step)
        distance = np.maximum(squares[block, None] + squares - 2.0 * latent[block] @ latent.T, 0.0)
        other = y[block, None] != y
        weights = np.zeros_like(distance)  # derivative of the objective in |L(x_i - x_l)|^2, times n
        rows = np.arange(len(distance))
        for j, used in zip(neighbours[block].T, exists[block].T):
            own = distance[rows, j]
            missing = (1.0 + own)[:, None] - distance
            active = other & (missing > 0.0) & used[:, None]
            value += (1.0 - push) * own[used].sum() + push * missing[active].sum()
            weights -= push * active
            weights[rows, j] += np.where(used, 1.0 - push, 0.0) + push * active.sum(axis=1)
        pulled[block] += weights.sum(axis=1)[:, None] * latent[block] - weights @ latent
        pulled += weights.sum(axis=0)[:, None] * latent - weights.T @ latent[block]
    return value / n, 2.0 / n * pulled.T @ X


def _target_neighbours(X: NDArray, y: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Return the k nearest rows of the own class, (n, k), and which of them exist."""
    neighbours = np.zeros((len(X), k), dtype=np.intp)
    exists = np.zeros((len(X), k), dtype=bool)
    for code in np.unique(y):
        members = np.flatnonzero(y == code)
        count = min(k, len(members) - 1)
        if count:
            search = NearestNeighbors(n_neighbors=count).fit(X[members])
            neighbours[members, :count] = members[search.kneighbors(return_distance=False)]
            exists[members, :count] = True
    return neighbours, exists


@dataclass(eq=False, repr=False)
class LMNN(Projection):
    """Large margin nearest neighbours in few dimensions, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    n_targets : int, default=3
        Neighbours of the own class that attract a row, >= 1.
    push : float, default=0.5
        Weight of the distance to other classes, in (0, 1).
    n_steps : int, default=100
        Steps of the optimisation, >= 1.
    """

    parameters = (
        COMPONENTS,
        count("n_targets", "Targets", 1, 10, "Number of neighbours of the same class that attract a row.", main=True),
        share(
            "push",
            "Push",
            0.05,
            0.95,
            0.05,
            "Weight of pushing other classes away, relative to pulling neighbours closer.",
            main=True,
        ),
        STEPS,
        *HEAD,
        *SEEDED,
    )

    _: KW_ONLY
    n_targets: int = 3
    push: float = 0.5
    n_steps: int = 100

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return LargeMarginMap(n_components, int(self.n_targets), float(self.push), int(self.n_steps))
