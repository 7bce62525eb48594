"""Two layers of MAC: an explicit map of many classes to a plane.

    x -> h = F1(x) in K - 1 dimensions -> z = F2(h) in L (2) dimensions

Both maps are kernel ridge regressions; the auxiliary coordinates are simplex codes for h, K points on a circle for z.
What makes it work: the second layer is trained on *leave-one-out* codes of the first.  Fitted codes lie far closer to
the corners than codes of new points do, and cover no gap between classes, where doubtful points fall.

Layer 1.  With a basis B (n, r) of the kernel's features, B'B = diag(e), the fit at ridge rho is
h = B diag(1 / (e + rho)) B'T; with q_n = sum_j B_nj^2 / (e_j + rho) the fit without row n is exactly
(h_n - q_n T_n) / (1 - q_n).  All rows as centres: K = Q diag(e) Q', B = Q sqrt(e).  Fewer centres c (Nystroem): with
K_cc = R'R, P = K_nc R^-1 and P'P = V diag(e) V' it is B = PV; q is what triangular solves with one factor per ridge
would give, for all ridges at once.

Not in the paper; an extension of W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear
classification", 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from supdr.engine.iterate import Problem
from supdr.methods.mac.classes import class_codes, simplex_codes, simplex_shape
from supdr.methods.mac.labelled_rows import LabelledInMemory
from supdr.methods.mac.ridge_path import RidgePath
from supdr.solvers.distances import median_distance
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import RIDGES, SQUARE_WEIGHT, WIDTHS, judged_sums

Array = NDArray[np.float64]

SECOND_WIDTHS = (0.15, 0.25, 0.35, 0.5)
SECOND_RIDGES = np.array([0.01, 0.1, 1.0])
SHARPNESS = 2.0 ** np.arange(8)

# The first width is chosen on at most this many random rows; the first ridge on all.
SEARCH_ROWS = 1000

# Up to this many rows all are centres of the first layer; beyond, that many random ones.
EXACT_ROWS = 2000

SECOND_CENTERS = 300


class FirstLayer(NamedTuple):
    """x -> h.

    mapping: centres and gamma.
    coef (M, K - 1): h(x) = k(x, centres) coef.
    hidden (n, K - 1): fitted codes.
    left_out (n, K - 1): codes predicted by the other rows.
    error, square: of the left-out codes: share nearest to a wrong corner, mean square.
    width, ridge: chosen multiple of the median distance, and rho.
    """

    mapping: Mapping
    coef: Array
    hidden: Array
    left_out: Array
    error: float
    square: float
    width: float
    ridge: float


class SecondLayer(NamedTuple):
    """h -> z: ridge regression, or corners mixed by probabilities.

    mapping: centres and gamma; None for "mix".
    coef (c, L): z = k(h, centres) coef; for "mix" the corners (K, L), weighed by softmax(sharpness S h).
    sharpness: 0 for "ridge".
    plane, left_out (n, L): images of the fitted codes, and images of left-out codes by a second layer without the row.
    error: share of left-out images nearest to a wrong corner.
    """

    mapping: Mapping | None
    coef: Array
    sharpness: float
    plane: Array
    left_out: Array
    error: float

    def apply(self, hidden: Array) -> Array:
        """Return z (n, L) of codes h (n, K - 1)."""
        if self.mapping is not None:
            return self.mapping.apply(hidden, self.coef)
        return mixed(hidden, self.sharpness) @ self.coef

    def derivative(self, hidden: Array) -> Array:
        """Return dz / dh (n, L, K - 1) at codes h (n, K - 1).

        "mix": sum_k c_k dp_k, dp = p (da - p'da), a = kappa S h.
        """
        if self.mapping is not None:
            return self.mapping.derivative(hidden, self.coef)
        p, steep = mixed(hidden, self.sharpness), self.sharpness * simplex_codes(hidden.shape[1] + 1)
        return np.einsum("kl,nk,nkh->nlh", self.coef, p, steep - (p @ steep)[:, None, :])


class TwoLayerState(NamedTuple):
    """Where the search for the widths stands.  Nothing in it is ever written to.

    first: best so far.
    tried: widths tried.
    complete: whether the first layer uses all rows.
    codes (n,): classes that both layers were fitted to.
    scaling: of the columns.
    """

    first: FirstLayer
    second: SecondLayer
    tried: int
    complete: bool
    codes: NDArray
    scaling: str
    seed: int
    iteration: int

    @property
    def n_components(self) -> int:
        """Return L."""
        return self.second.coef.shape[1]

    def image(self, X: Array) -> Array:
        """Return z (n, L) of preprocessed rows (n, D)."""
        return self.second.apply(self.first.mapping.apply(X, self.first.coef))

    def derivative(self, X: Array) -> Array:
        """Return dz / dx (n, L, D) at preprocessed rows (n, D): that of the second layer times that of the first."""
        hidden = self.first.mapping.apply(X, self.first.coef)
        return self.second.derivative(hidden) @ self.first.mapping.derivative(X, self.first.coef)

    def without_rows(self) -> TwoLayerState:
        """Return the map alone: what belongs to the rows that it was fitted to is empty."""
        none = np.empty((0, 0))
        first = self.first._replace(hidden=none, left_out=none)
        second = self.second._replace(plane=none, left_out=none)
        return self._replace(first=first, second=second, codes=np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class TwoLayerProblem(Problem):
    """Each step tries one width of the first layer and refits the second; the last uses all rows.

    X (n, D): preprocessed labelled rows.
    codes (n,): classes.
    n_classes, n_components: K and L.
    n_centers: centres of the first layer; None: all rows up to `EXACT_ROWS`.
    head: one of "ridge", "mix".
    scaling: what was applied to the columns.
    all_rows: all labelled rows, in partitions, where X and codes are those of the sample; None: X in memory.
    """

    X: Array
    codes: NDArray
    n_classes: int
    n_components: int
    n_centers: int | None
    head: str
    scaling: str
    all_rows: Any = None

    def __post_init__(self) -> None:
        if self.all_rows is None:
            object.__setattr__(self, "all_rows", LabelledInMemory(self.X, self.codes))

    def start(self, seed: int) -> TwoLayerState:
        """Return both layers at the first width."""
        first, complete = self._tried(0, seed)
        return TwoLayerState(first, self._second(first, seed), 1, complete, self.codes, self.scaling, seed, 0)

    def step(self, state: TwoLayerState) -> TwoLayerState:
        """Try the next width, or finish.  O(s^3) for s search rows; the last step O(n M^2 + M^3)."""
        iteration, seed = state.iteration + 1, state.seed
        if state.tried < len(WIDTHS):
            first, complete = self._tried(state.tried, seed)
            state = state._replace(tried=state.tried + 1, iteration=iteration)
            if _score(first) >= _score(state.first):
                return state
        elif not state.complete:
            first, complete = self._complete(state.first.width, seed), True
        else:
            return state._replace(iteration=iteration)
        return state._replace(first=first, second=self._second(first, seed), complete=complete, iteration=iteration)

    def terms(self, state: TwoLayerState) -> dict[str, float]:
        """Return what the choice of the first layer minimises, on left-out codes."""
        return {"label": state.first.error, "square": SQUARE_WEIGHT * state.first.square}

    def diagnostics(self, state: TwoLayerState) -> dict[str, float]:
        """Return the chosen widths and how the classes lie in the plane."""
        second = state.second
        gamma = second.mapping.gamma if second.mapping is not None else 0.0
        return {
            "plane_error": second.error,
            "width": state.first.width,
            "ridge": state.first.ridge,
            "gamma": state.first.mapping.gamma,
            "plane_gamma": gamma,
            "sharpness": second.sharpness,
            **self._shape(second.left_out),
        }

    def stage(self, state: TwoLayerState) -> int:
        """Return 1 once all rows are used: the score then is that of other rows."""
        return int(state.complete and state.tried >= len(WIDTHS) and self.n_rows > SEARCH_ROWS)

    def may_converge(self, previous: TwoLayerState, state: TwoLayerState) -> bool:
        """Whether nothing is left to try."""
        return previous.complete and previous.tried >= len(WIDTHS)

    def adopt(self, state: TwoLayerState) -> TwoLayerState:
        """Return `state` with both layers fitted to these labels at its width; ValueError if its shapes are others."""
        n_columns = state.first.mapping.centers.shape[1]
        if (n_columns, state.n_components) != (self.X.shape[1], self.n_components):
            raise ValueError(
                f"the snapshot to start from maps {n_columns} columns to n_components={state.n_components}; "
                f"these data and parameters need {self.X.shape[1]} and {self.n_components}"
            )
        if np.array_equal(state.codes, self.codes) and state.first.coef.shape[1] == self.n_classes - 1:
            return state
        first, complete = self._tried(WIDTHS.index(state.first.width), state.seed)
        if state.complete and not complete:
            first, complete = self._complete(state.first.width, state.seed), True
        second = self._second(first, state.seed)
        return state._replace(first=first, second=second, complete=complete, codes=self.codes)

    # --- the layers ---------------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of labelled rows."""
        return self.all_rows.n_rows

    def _tried(self, number: int, seed: int) -> tuple[FirstLayer, bool]:
        """Return the first layer of one width on the search rows, and whether these are all rows."""
        n = len(self.X)
        few = n == self.n_rows and n <= SEARCH_ROWS and (self.n_centers is None or self.n_centers >= n)
        rows = np.arange(n) if few else self._random_rows(min(n, SEARCH_ROWS), seed)
        return self._around_all(rows, WIDTHS[number], seed), few

    def _complete(self, width: float, seed: int) -> FirstLayer:
        """Return the first layer of one width on all rows."""
        centers = self._centers(seed)
        if len(centers) == self.n_rows:
            return self._around_all(centers, width, seed)
        mapping = self._around(centers, width, seed)
        path = RidgePath(self.all_rows, mapping, self.all_rows.X, simplex_codes(self.n_classes), RIDGES)
        return _first_layer(path, width)

    def _centers(self, seed: int) -> NDArray:
        """Return the numbers of the rows around which the Gaussians of the complete first layer sit."""
        n = len(self.X)
        count = min(n, EXACT_ROWS if self.n_centers is None else self.n_centers)
        return np.arange(n) if count == n else self._random_rows(count, seed)

    def _random_rows(self, count: int, seed: int) -> NDArray:
        return np.sort(np.random.default_rng([seed, 1]).choice(len(self.X), count, replace=False))

    def _around(self, centers: NDArray, width: float, seed: int) -> Mapping:
        """Return Gaussians around the rows of these numbers."""
        unit = median_distance(self.X, np.random.default_rng([seed, 2]))
        return Mapping("rbf", np.ascontiguousarray(self.X[centers]), 0.5 / (width * unit) ** 2)

    def _around_all(self, rows: NDArray, width: float, seed: int) -> FirstLayer:
        """Return the first layer fitted to rows of the sample that are all centres, with codes of all rows."""
        mapping, part = self._around(rows, width, seed), LabelledInMemory(self.X[rows], self.codes[rows])
        path = RidgePath(part, mapping, part.X, simplex_codes(self.n_classes), RIDGES, exact=True)
        return self._among_all(_first_layer(path, width), rows)

    def _second(self, first: FirstLayer, seed: int) -> SecondLayer:
        corners = class_codes(self.n_classes, self.n_components)
        if self.head == "mix":
            losses = self._log_losses(first.left_out)
            return self._mixture(first, corners, float(SHARPNESS[int(np.argmin(losses))]))
        rng = np.random.default_rng([seed, 3])
        codes = self.all_rows.take(first.left_out, self.all_rows.sampled)
        unit = median_distance(codes, rng)
        centers = codes[np.sort(rng.choice(len(codes), min(SECOND_CENTERS, len(codes)), replace=False))]
        paths = []
        for width in SECOND_WIDTHS:
            mapping = Mapping("rbf", centers, 0.5 / (width * unit) ** 2)
            paths.append(RidgePath(self.all_rows, mapping, first.left_out, corners, SECOND_RIDGES))
        path = min(paths, key=lambda each: each.best()[0])
        _, number = path.best()
        coef = path.coef(number)
        plane = self.all_rows.each(Mapping.apply, path.mapping, first.hidden, coef)
        return SecondLayer(path.mapping, coef, 0.0, plane, path.left_out_codes(number), path.scores[number][0])

    # --- the work on all rows ----------------------------------------------------------------------------------------

    def _among_all(self, first: FirstLayer, rows: NDArray) -> FirstLayer:
        """Return a first layer fitted to `rows` of the sample with codes of all rows."""
        if len(rows) == self.n_rows:
            fitted, left_out = self.all_rows.split(first.hidden), self.all_rows.split(first.left_out)
            return first._replace(hidden=fitted, left_out=left_out)
        hidden = self.all_rows.each(Mapping.apply, first.mapping, self.all_rows.X, first.coef)
        left_out = self.all_rows.replaced(hidden, self.all_rows.sampled[rows], first.left_out)
        if len(rows) == len(self.X):
            hidden = self.all_rows.replaced(hidden, self.all_rows.sampled, first.hidden)
        return first._replace(hidden=hidden, left_out=left_out)

    def _log_losses(self, hidden: Array) -> Array:
        """Return the mean log loss of "mix" at every sharpness."""
        return self.all_rows.total(log_losses, hidden, self.all_rows.codes) / self.n_rows

    def _mixture(self, first: FirstLayer, corners: Array, sharpness: float) -> SecondLayer:
        left, plane = (self.all_rows.each(mixture, each, sharpness, corners) for each in (first.left_out, first.hidden))
        wrong, _ = self.all_rows.total(judged_sums, left, self.all_rows.codes, corners)
        return SecondLayer(None, corners, sharpness, plane, left, wrong / self.n_rows)

    def _shape(self, latent: Array) -> dict[str, float]:
        """Return how the classes lie to each other."""
        sums = self.all_rows.total(class_sums, latent, self.all_rows.codes, self.n_classes)
        means = sums[:, 1:] / np.maximum(sums[:, :1], 1.0)
        squares = self.all_rows.total(squared_distances, latent, self.all_rows.codes, means)
        return simplex_shape(means, float(np.sqrt(squares / self.n_rows)))


def _first_layer(path: RidgePath, width: float) -> FirstLayer:
    """Return the first layer of one width at its best ridge."""
    _, number = path.best()
    hidden, left_out = path.codes(number)
    ridge = float(path.ridges[number])
    return FirstLayer(path.mapping, path.coef(number), hidden, left_out, *path.scores[number], width, ridge)


def _score(first: FirstLayer) -> float:
    return first.error + SQUARE_WEIGHT * first.square


def mixed(hidden: Array, sharpness: float) -> Array:
    """Return the class probabilities (n, K) of "mix" at codes (n, K - 1)."""
    return softmax(sharpness * hidden @ simplex_codes(hidden.shape[1] + 1).T, axis=1)


def log_losses(hidden: Array, codes: NDArray) -> Array:
    """Return the summed log losses of `mixed` at every sharpness, from codes (n, K - 1) and classes (n,)."""
    nearness, rows = simplex_codes(hidden.shape[1] + 1).T, np.arange(len(codes))
    return np.array([-float(log_softmax(kappa * hidden @ nearness, axis=1)[rows, codes].sum()) for kappa in SHARPNESS])


def mixture(hidden: Array, sharpness: float, corners: Array) -> Array:
    """Return corners (K, L) mixed by the probabilities of codes (n, K - 1)."""
    return mixed(hidden, sharpness) @ corners


def class_sums(latent: Array, codes: NDArray, n_classes: int) -> Array:
    """Return the number of rows and the sum of the latent rows of every class (K, 1 + L)."""
    columns = [np.ones(len(codes)), *latent.T]
    return np.column_stack([np.bincount(codes, weights=column, minlength=n_classes) for column in columns])


def squared_distances(latent: Array, codes: NDArray, means: Array) -> float:
    """Return the sum of the squared distances of latent rows to the means (K, L) of their classes."""
    return float(((latent - means[codes]) ** 2).sum())
