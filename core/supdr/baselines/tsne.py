"""t-SNE without labels, then a classifier on its latent rows; iteration by iteration.

P holds the probability that two rows are neighbours, from Gaussians whose width gives every row the same perplexity;
Q the same for latent rows, from a Student distribution.  The divergence KL(P | Q) falls by gradient descent with
momentum and a gain per coordinate; in the first steps P is exaggerated, which lets clusters form.  For many rows in a
plane the sums over all pairs come from a grid, see `supdr.solvers.pair_sums`.

t-SNE embeds training rows only.  A new row gets the weighted mean of the latent rows of its nearest training rows
(weights 1 / distance), so that it can be classified and drawn: an addition to the paper.

Source: L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9 (2008); P of the 3 x perplexity nearest
rows only, after L. van der Maaten, "Accelerating t-SNE using tree-based algorithms", JMLR 15 (2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors

from supdr.baselines._parameters import HEAD, SEEDED
from supdr.baselines.projections import ClassifierHead, Projection, head_scores
from supdr.engine.common_parameters import COMPONENTS, LIMITS
from supdr.engine.docstrings import with_entries_of
from supdr.engine.fitted import once_per_snapshot
from supdr.engine.interruption import checkpoint
from supdr.engine.iterate import Problem
from supdr.engine.parameters import NONNEGATIVE, POSITIVE, count, scale
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted
from supdr.solvers.pair_sums import pair_sums

EXAGGERATION = 12.0
SMALL = np.finfo(float).tiny
START_DEVIATION = 1e-4
# Training rows whose latent rows are averaged for a new row.
GUIDES = 5

# Rows at most: in one or two dimensions, where sums over pairs come from a grid, and in more, where a step on so many
# takes half a second.
MOST_ROWS, MOST_PAIRED = 100_000, 20_000


class State(NamedTuple):
    """Latent rows, their velocities and gains, and the sum over their pairs.

    `latent`, `velocity`, `gains` (n, d); `total`: U, sum of near_ij = 1 / (1 + |z_i - z_j|^2) over all ordered pairs;
    `slopes` (n, d): dU/dz_i = -4 sum_j near_ij^2 (z_i - z_j).
    """

    latent: NDArray
    velocity: NDArray
    gains: NDArray
    total: float
    slopes: NDArray
    seed: int
    iteration: int


def neighbour_probabilities(X: NDArray, perplexity: float) -> sparse.csr_array:
    """Return P (n, n), symmetric and of sum 1, with entries for the nearest 3 x perplexity of the rows X (n, m)."""
    n = len(X)
    perplexity = min(perplexity, max((n - 1) / 3.0, 1.0))
    count = max(min(n - 1, int(3 * perplexity) + 1), 1)
    distance, index = NearestNeighbors(n_neighbors=count).fit(X).kneighbors()
    squared = distance**2 - distance[:, :1] ** 2
    low, high = np.full(n, -60.0), np.full(n, 60.0)  # of log gamma
    for _ in range(60):
        checkpoint()
        middle = (low + high) / 2.0
        share = np.exp(-np.exp(middle)[:, None] * squared)
        share /= share.sum(axis=1, keepdims=True)
        entropy = -np.sum(share * np.log(np.maximum(share, SMALL)), axis=1)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    P = sparse.csr_array((share.ravel(), index.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    P = (P + P.T).tocsr()
    P.sort_indices()
    return P / P.sum()


def between_neighbours(X: NDArray, latent: NDArray) -> KNeighborsRegressor:
    """Return a fitted regressor of latent rows (n, d): the weighted mean over the nearest training rows (n, m)."""
    return KNeighborsRegressor(min(GUIDES, len(X)), weights="distance").fit(X, latent)


@njit(cache=True, nogil=True)
def _pulls(latent: NDArray, bounds: NDArray, others: NDArray, P: NDArray) -> tuple[NDArray, float]:
    """Return sum_j P_ij near_ij (z_i - z_j), (n, d), and sum_ij P_ij log(P_ij / near_ij), over the entries of P."""
    n, d = latent.shape
    pull, divergence = np.zeros((n, d)), 0.0
    for i in range(n):
        for entry in range(bounds[i], bounds[i + 1]):
            j, far = others[entry], 1.0
            for k in range(d):
                far += (latent[i, k] - latent[j, k]) ** 2
            for k in range(d):
                pull[i, k] += P[entry] / far * (latent[i, k] - latent[j, k])
            if P[entry] > 0.0:
                divergence += P[entry] * np.log(P[entry] * far)
    return pull, divergence


class TSNEProblem(Problem):
    """The divergence of the latent rows' neighbourhoods from those of X (n, m), for some steps with P times 12."""

    def __init__(self, X: NDArray, n_components: int, perplexity: float, n_exaggerated: int) -> None:
        self.X, self.n_components, self.n_exaggerated = X, n_components, n_exaggerated
        self.P = neighbour_probabilities(X, perplexity)
        self.rate = max(len(X) / EXAGGERATION / 4.0, 50.0)

    def start(self, seed: int) -> State:
        """Return principal components, scaled to a tiny deviation; random columns where there are too few."""
        n = len(self.X)
        latent = START_DEVIATION * np.random.default_rng(seed).standard_normal((n, self.n_components))
        k = min(self.n_components, *self.X.shape)
        scores = PCA(k, svd_solver="full").fit_transform(self.X)
        deviation = scores[:, 0].std()
        if deviation > 0.0:
            latent[:, :k] = scores * (START_DEVIATION / deviation)
        return self._at(latent, np.zeros_like(latent), np.ones_like(latent), seed, 0)

    def step(self, state: State) -> State:
        """Take one step of gradient descent with momentum."""
        early = state.iteration < self.n_exaggerated
        gradient = self.gradient(state, EXAGGERATION if early else 1.0)
        turned = state.velocity * gradient < 0.0
        gains = np.maximum(np.where(turned, state.gains + 0.2, state.gains * 0.8), 0.01)
        velocity = (0.5 if early else 0.8) * state.velocity - self.rate * gains * gradient
        latent = state.latent + velocity
        return self._at(latent - latent.mean(axis=0), velocity, gains, state.seed, state.iteration + 1)

    def gradient(self, state: State, exaggeration: float = 1.0) -> NDArray:
        """Return the derivative (n, d) of KL(P | Q) in the latent rows, P times `exaggeration`."""
        pull, _ = self._pulled(state)
        return 4.0 * exaggeration * pull + state.slopes / state.total

    def terms(self, state: State) -> dict[str, float]:
        """Return KL(P | Q), without exaggeration."""
        return {"divergence": self._pulled(state)[1] + float(np.log(state.total))}

    def stage(self, state: State) -> int:
        """Return 0 while P is exaggerated, then 1."""
        return int(state.iteration >= self.n_exaggerated)

    def may_converge(self, previous: State, state: State) -> bool:
        """Return False while P is exaggerated: the divergence may be constant for some steps."""
        return previous.iteration > self.n_exaggerated

    def _pulled(self, state: State) -> tuple[NDArray, float]:
        checkpoint()
        return _pulls(state.latent, self.P.indptr, self.P.indices, self.P.data)

    def _at(self, latent: NDArray, velocity: NDArray, gains: NDArray, seed: int, iteration: int) -> State:
        """Return the state at `latent`, with the sums over all pairs of rows that a step needs."""
        total, slopes = pair_sums(latent)
        return State(latent, velocity, gains, max(total, SMALL), slopes, seed, iteration)


@with_entries_of(Projection)
@dataclass(eq=False, repr=False)
class TSNE(Unweighted, ClassifierHead):
    """t-SNE of all training rows, then k nearest neighbours or an SVM on the labelled ones.

    t-SNE has no map for new rows: `transform` returns the weighted mean of the latent rows of the five nearest training
    rows, weights 1 / distance; of a training row its own latent row.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension.
    head, n_neighbors, C, head_gamma
        As in `Projection`.
    perplexity : float, default=30.0
        Effective number of neighbours, >= 1; at most a third of the rows is used.
    n_exaggerated : int, default=250
        First steps, in which neighbours attract each other twelvefold, >= 0.
    max_iter : int, default=1000
        Number of steps.
    tol : float, default=1e-6
        Stop when the divergence changes by less, relatively.
    preprocessing, random_state, verbose, missing_label
        As in `Projection`.

    Notes
    -----
    A step on a line or in a plane costs O(n perplexity) time, and 0.1 s at most for the grid; otherwise, and for 2,000
    rows or fewer, O(n^2 n_components).  Memory O(n perplexity).  At most 100,000 rows are accepted, 20,000 for more
    than two components.
    """

    parameters = (
        COMPONENTS,
        scale(
            "perplexity",
            "Perplexity",
            2,
            200,
            "Effective number of neighbours of each row.",
            main=True,
            accepts=(POSITIVE,),
            restart=True,
        ),
        count(
            "n_exaggerated",
            "Exaggerated steps",
            0,
            500,
            "First steps, in which neighbours attract twelvefold.",
            accepts=(NONNEGATIVE,),
        ),
        *HEAD,
        *LIMITS,
        *(replace(parameter, restart=False) for parameter in SEEDED),
    )

    embedding_note: ClassVar[str] = "placed without labels"

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    n_exaggerated: int = 250
    max_iter: int = 1000
    tol: float = 1e-6
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        # Not in the declaration: scikit-learn's checks hand .5 to all that is called TSNE, with a single row.
        if self.perplexity < 1.0:
            raise ValueError(f"perplexity must be a number >= 1; got {self.perplexity!r}")
        most = MOST_ROWS if self.n_components <= 2 else MOST_PAIRED
        if len(X) > most:
            raise ValueError(
                f"X has {len(X)} rows; t-SNE with n_components={self.n_components} takes at most {most}: draw some "
                "rows, or take UMAP"
            )

    def _problem(self, X: NDArray, targets: Targets) -> TSNEProblem:
        return TSNEProblem(X, self.n_components, self.perplexity, self.n_exaggerated)

    def _expose(self, state: State) -> None:
        """Set nothing: the classifier is fitted when it is needed."""

    @property
    def support_(self) -> NDArray:
        """Training rows that are support vectors of the classifier; not with ``head="knn"``."""
        if self.head == "knn":
            raise AttributeError("nearest neighbours have no support vectors; the heads 'svm' and 'rbf' do")
        return np.flatnonzero(self._training[1].labelled)[self._classifier().support_]

    def _own_latent(self) -> NDArray:
        return self._state.latent

    def _latent(self, X: NDArray) -> NDArray:
        return self._guides().predict(X)

    @once_per_snapshot
    def _guides(self) -> Any:
        return between_neighbours(self._training[0], self._state.latent)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return head_scores(self._classifier(), latent)

    @once_per_snapshot
    def _classifier(self) -> Any:
        targets = self._training[1]
        labelled = targets.labelled
        head = self._new_head(int(labelled.sum()))
        return head.fit(self._state.latent[labelled], targets.codes[labelled])

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2}
