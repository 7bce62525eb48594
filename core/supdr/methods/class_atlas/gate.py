"""The gate: class probabilities of every row, for training rows without their own label, and without a refit.

    T = onehot - 1/K      H = V diag(f) V'T,  f = w / (w + rho)      left out: (H_i - q_i T_i) / (1 - q_i),  q = V^2 f
    p = softmax(omega (A kappa h + a) + (1 - omega) d)

V diag(w) V' is a kernel, beyond so many rows that of its Nystroem approximation: Gaussian, or exp(-|x - x'| / sigma) if
that is better by more than a standard error.  Width, rho and kappa minimise the log loss of softmax(kappa h) over
left-out h.  Columns count in distances alike, or by how steep such a first h is along them, if that lowers the loss by
more than Akaike's price of as many numbers.  A and a are a multinomial logistic regression: K^2 numbers that would
flatter the rows they have seen, so that training rows get the probability of one fitted on other folds.
d are linear discriminants, a second opinion that few rows of many classes need; omega has the least left-out log loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from supdr.engine.interruption import checkpoint
from supdr.methods.class_atlas.discriminants import ROWS_A_COLUMN, Discriminants, fit_discriminants
from supdr.methods.class_atlas.landmarks import stratified_rows
from supdr.methods.class_atlas.regression import Choice, fitted_by_landmarks, fitted_exactly
from supdr.methods.class_atlas.relevance import relevance
from supdr.solvers.distances import median_distance
from supdr.solvers.gaussians import Mapping
from supdr.solvers.softmax_head import fitted_head

Array = NDArray[np.float64]

COSTS = (0.03, 0.3, 1.0)

FOLDS = 5

# Largest entry of the gradient of the mean log loss at which a calibration is done.
TOLERANCE = 1e-3

# Width and C are chosen on at most this many rows.
SEARCH_ROWS = 1000

# Of the kernel: time grows with their cube.
MOST_CENTRES = 2000

# Probability of a class that a fold's calibration has not seen.
RAREST = 1e-9


class Choices(NamedTuple):
    """What a gate is chosen from.

    widths: of every kind of kernel, as multiples of the median distance; at the last one the Gaussian is nearly linear.
    shares: omega, if not 1.
    relevance: whether columns may count by their relevance.
    """

    widths: tuple[tuple[str, tuple[float, ...]], ...] = (("rbf", (0.5, 1.0, 2.0)), ("exponential", (2.0,)))
    shares: tuple[float, ...] = (0.75, 0.5, 0.25, 0.0)
    relevance: bool = True


class Gate(NamedTuple):
    """x -> p.

    mapping: gaussians around the centres, or exponentials.
    coef (M, K): kappa h(x) = k(x, centres) coef.
    calibration (K, K): omega A'.
    linear (D, K): 1 - omega times the weights of the columns in d.
    offset (K,): omega a + (1 - omega) d(0).
    width, ridge, sharpness, cost, share: chosen multiple of the median distance, rho, kappa, C and omega.
    """

    mapping: Mapping
    coef: Array
    calibration: Array
    linear: Array
    offset: Array
    width: float
    ridge: float
    sharpness: float
    cost: float
    share: float

    def probabilities(self, X: Array) -> Array:
        """Return p (n, K) of new rows (n, D)."""
        codes = self.mapping.apply(X, self.coef)
        return softmax(codes @ self.calibration + X @ self.linear + self.offset, axis=1)

    def joined(self, other: Discriminants, share: float) -> Gate:
        """Return the gate with a second opinion."""
        return self._replace(
            calibration=share * self.calibration,
            linear=(1.0 - share) * other.coef,
            offset=share * self.offset + (1.0 - share) * other.offset,
            share=share,
        )


def fit_gate(
    X: Array, codes: NDArray, n_classes: int, n_landmarks: int, seed: int, choices: Choices | None = None
) -> tuple[Gate, Array]:
    """Return the gate of labelled rows (n, D), and their left-out p (n, K).  O(min(n, M)^3 + n M^2) for M centres.

    `choices`: what it is chosen from; None: those of `Choices`.
    """
    choices = choices or Choices()
    rng, most = np.random.default_rng([seed, 1]), min(n_landmarks, MOST_CENTRES)
    few, centers = stratified_rows(codes, SEARCH_ROWS, rng), stratified_rows(codes, most, rng)
    unit = median_distance(X, np.random.default_rng([seed, 2]))
    fold = dealt_folds(codes, np.random.default_rng([seed, 3]))
    if n_classes == 1:
        mapping, one = Mapping("rbf", np.ascontiguousarray(X[centers]), 0.5 / unit**2), np.zeros((1, 1))
        none = np.zeros((X.shape[1], 1))
        gate = Gate(mapping, np.zeros((len(centers), 1)), one, none, np.zeros(1), 1.0, 1.0, 1.0, 1.0, 1.0)
        return gate, np.ones((len(X), 1))
    opinions = fit_discriminants(X[few], codes[few], n_classes, unit)
    searched = np.ascontiguousarray(X[few]), codes[few], n_classes, fold[few], unit, opinions
    kernel, proba = _chosen_kernel(*searched, choices)
    best, rows = kernel.regression, X if len(centers) == len(X) else np.ascontiguousarray(X[centers])
    mapping = Mapping(kernel.kind, rows, kernel.gamma, kernel.scale)
    if len(few) < len(X) or len(rows) < len(X):
        if len(rows) == len(X):
            best = fitted_exactly(mapping.features(X), codes, n_classes)
        else:
            best = fitted_by_landmarks(X, codes, n_classes, mapping)
        proba = crossfitted(best.sharpness * best.left_out, codes, n_classes, fold, kernel.cost)
        opinions = fit_discriminants(X, codes, n_classes, unit)
    ((coef, offset),) = _regressions(best.sharpness * best.left_out, codes, n_classes, (kernel.cost,))
    chosen = (kernel.width, best.ridge, best.sharpness, kernel.cost, 1.0)
    gate = Gate(mapping, best.sharpness * best.coef, coef, np.zeros((X.shape[1], n_classes)), offset, *chosen)
    second = second_opinion(proba, codes, opinions, choices.shares)
    return gate if second.other is None else gate.joined(second.other, second.share), second.proba


class Kernel(NamedTuple):
    """A kernel and the regression with it: kind, multiple of the median distance, gamma, scale of columns, and C."""

    kind: str
    width: float
    gamma: float
    scale: Array | None
    regression: Choice
    cost: float


def _chosen_kernel(
    X: Array,
    codes: NDArray,
    n_classes: int,
    fold: NDArray,
    unit: float,
    opinions: Sequence[Discriminants],
    choices: Choices,
) -> tuple[Kernel, Array]:
    """Return the kernel of rows (n, D) whose gate has the least log loss, and p: columns alike, or by their relevance.

    Relevance is learnt from the labels of the same rows, left-out codes are too good by it: D numbers lower the mean
    log loss by some D / n where they say nothing (H. Akaike, 1973).
    """

    def judged(kernel: Kernel) -> tuple[float, Kernel, Array]:
        """Return the log loss of the whole gate with this kernel, the kernel and its probabilities."""
        proba, cost = _best_calibration(
            kernel.regression.sharpness * kernel.regression.left_out, codes, n_classes, fold
        )
        return second_opinion(proba, codes, opinions, choices.shares).loss, kernel._replace(cost=cost), proba

    price = X.shape[1] / len(X)
    loss, kernel, proba = judged(_best_kind(X, codes, n_classes, unit, choices))
    if not choices.relevance or len(X) < ROWS_A_COLUMN * X.shape[1] or loss <= price:
        return kernel, proba
    scale = relevance(X, Mapping(kernel.kind, X, kernel.gamma), kernel.regression.coef)
    if scale is None:
        return kernel, proba
    unit = median_distance(X * scale, np.random.default_rng(0))
    by_relevance = judged(_best_width(kernel.kind, X, codes, n_classes, unit, choices, scale))
    return by_relevance[1:] if by_relevance[0] + price < loss else (kernel, proba)


def _best_kind(X: Array, codes: NDArray, n_classes: int, unit: float, choices: Choices) -> Kernel:
    """Return the Gaussian, or the exponential if its log loss over the rows is lower by more than a standard error."""
    gaussian, exponential = (_best_width(kind, X, codes, n_classes, unit, choices) for kind, _ in choices.widths)
    gains = gaussian.regression.losses(codes) - exponential.regression.losses(codes)
    return exponential if gains.mean() > gains.std() / np.sqrt(len(gains)) else gaussian


def _best_width(
    kind: str,
    X: Array,
    codes: NDArray,
    n_classes: int,
    unit: float,
    choices: Choices,
    scale: Array | None = None,
) -> Kernel:
    """Return the kernel of the width with the least log loss; `unit` is the length of a usual distance."""
    exponents = Mapping(kind, X, 1.0, scale).exponents(X)  # once for all widths
    tried = []
    for width in dict(choices.widths)[kind]:
        sigma = width * unit
        gamma = 0.5 / sigma**2 if kind == "rbf" else 1.0 / sigma
        regression = fitted_exactly(np.exp(gamma * exponents), codes, n_classes)
        tried.append(Kernel(kind, width, gamma, scale, regression, COSTS[0]))
    return min(tried, key=lambda each: each.regression.loss)


def dealt_folds(codes: NDArray, rng: np.random.Generator) -> NDArray:
    """Return the fold (n,) of every row: each class is dealt out evenly."""
    fold = np.empty(len(codes), dtype=int)
    for code in np.unique(codes):
        members = rng.permutation(np.flatnonzero(codes == code))
        fold[members] = (np.arange(len(members)) + rng.integers(FOLDS)) % FOLDS
    return fold


def crossfitted(features: Array, codes: NDArray, n_classes: int, fold: NDArray, cost: float) -> Array:
    """Return probabilities (n, K), those of each fold by a regression of features kappa h (n, K) on the others."""
    return _crossfitted(features, codes, n_classes, fold, (cost,))[0]


def _crossfitted(features: Array, codes: NDArray, n_classes: int, fold: NDArray, costs: tuple[float, ...]) -> Array:
    """Return the same for several C, (C, n, K); in a fold each begins where the one before ended."""
    proba = np.full((len(costs), len(codes), n_classes), RAREST)
    for each in range(FOLDS):
        rows, others = np.flatnonzero(fold == each), fold != each
        if not len(rows):
            continue
        if len(np.unique(codes[others])) < 2:  # nothing to fit: the codes speak for themselves
            proba[:, rows] = softmax(features[rows], axis=1)
            continue
        for number, (coef, offset) in enumerate(_regressions(features[others], codes[others], n_classes, costs)):
            finite = np.flatnonzero(np.isfinite(offset))
            proba[number, rows[:, None], finite] = softmax(features[rows] @ coef[:, finite] + offset[finite], axis=1)
    proba = np.maximum(proba, RAREST)
    return proba / proba.sum(axis=2, keepdims=True)


class SecondOpinion(NamedTuple):
    """Log loss and probabilities (n, K) of two opinions, whose second one may be none, and the share of the first."""

    loss: float
    proba: Array
    other: Discriminants | None
    share: float


def second_opinion(
    proba: Array, codes: NDArray, opinions: Sequence[Discriminants], shares: tuple[float, ...]
) -> SecondOpinion:
    """Return left-out probabilities joined with those of linear discriminants, if that lowers the log loss.

    `shares`: omegas to try.
    """
    best = SecondOpinion(log_loss(proba, codes), proba, None, 1.0)
    own = np.log(proba)
    for other in opinions:
        logs = log_softmax(other.left_out, axis=1)
        for share in shares:
            checkpoint()
            tried = np.maximum(softmax(share * own + (1.0 - share) * logs, axis=1), RAREST)
            loss = log_loss(tried, codes)
            if loss < best.loss:
                best = SecondOpinion(loss, tried / tried.sum(axis=1, keepdims=True), other, share)
    return best


def log_loss(proba: Array, codes: NDArray) -> float:
    """Return the mean of -log p of the own class."""
    return -float(np.log(proba[np.arange(len(codes)), codes]).mean())


def _best_calibration(features: Array, codes: NDArray, n_classes: int, fold: NDArray) -> tuple[Array, float]:
    """Return cross-fitted probabilities and C with the least log loss."""
    tried = _crossfitted(features, codes, n_classes, fold, COSTS)
    best = int(np.argmin([log_loss(proba, codes) for proba in tried]))
    return tried[best], COSTS[best]


def _regressions(
    features: Array, codes: NDArray, n_classes: int, costs: tuple[float, ...]
) -> Iterator[tuple[Array, Array]]:
    """Yield A' (K, K) and a (K,) of multinomial logistic regressions; a is -inf for classes without a row."""
    classes, own = np.unique(codes, return_inverse=True)
    scored = classes[1:] if len(classes) == 2 else classes
    head, alike = np.zeros((features.shape[1] + 1, len(scored))), np.ones(len(codes))
    for cost in costs:
        head = fitted_head(features, own, alike, head, 1.0 / cost, TOLERANCE)
        coef, offset = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -np.inf)
        offset[classes] = 0.0
        coef[:, scored], offset[scored] = head[:-1], head[-1]
        yield coef, offset
