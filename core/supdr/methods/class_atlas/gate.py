"""The gate: class probabilities of every row, for training rows without their own label, and without a refit.

    T = onehot - 1/K      H = V diag(f) V'T,  f = w / (w + rho)      left out: (H_i - q_i T_i) / (1 - q_i),  q = V^2 f
    p = softmax(omega (A kappa h + a) + (1 - omega) d)

V diag(w) V' is a Gaussian kernel; beyond so many rows that of its Nystroem approximation.  Width, rho and kappa
minimise the log loss of softmax(kappa h) over left-out h.  Columns count in distances alike, or by how steep such a
first h is along them, if that lowers the loss by more than Akaike's price of as many numbers.  A and a are a
multinomial logistic regression: K^2 numbers that would flatter the rows they have seen, so that training rows get the
probability of one fitted on other folds.
d are linear discriminants, a second opinion that few rows of many classes need; omega has the least left-out log loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from supdr.engine.interruption import checkpoint
from supdr.methods.class_atlas.discriminants import ROWS_A_COLUMN, Discriminants, fit_discriminants
from supdr.methods.class_atlas.landmarks import stratified_rows
from supdr.methods.class_atlas.opinions import RAREST, log_loss, second_opinion
from supdr.methods.class_atlas.relevance import relevance
from supdr.methods.class_atlas.symmetric import Symmetric
from supdr.solvers.distances import median_distance
from supdr.solvers.gaussians import Mapping
from supdr.solvers.left_out import feature_blocks, kernel_spectrum, leave_one_out, mapped_spectrum
from supdr.solvers.softmax_head import fitted_head

Array = NDArray[np.float64]

WIDTHS = (0.5, 1.0, 2.0)
"""Multiples of the median distance; at the last one the kernel is nearly linear."""

RIDGES = 10.0 ** np.arange(-6.0, 0.75, 0.5)
SHARPNESS = 2.0 ** np.arange(-1.0, 7.75, 0.5)
"""Every second one is twice as large: its exponentials are squares."""

COSTS = (0.03, 0.3, 1.0)

FOLDS = 5

TOLERANCE = 1e-3
"""Largest entry of the gradient of the mean log loss at which a calibration is done."""

SEARCH_ROWS = 1000
"""Width and C are chosen on at most this many rows."""

MOST_CENTRES = 2000
"""Of the Gaussians: time grows with their cube."""


class Gate(NamedTuple):
    """x -> p.

    Attributes
    ----------
    mapping : Mapping
        Gaussians around the centres.
    coef : array of shape (M, K)
        kappa h(x) = k(x, centres) coef.
    calibration : array of shape (K, K)
        omega A'.
    linear : array of shape (D, K)
        1 - omega times the weights of the columns in d.
    offset : array of shape (K,)
        omega a + (1 - omega) d(0).
    width, ridge, sharpness, cost, share : float
        Chosen multiple of the median distance, rho, kappa, C and omega.
    evened : Evened or None
        A second gate, which sees symmetric columns.
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
    evened: Evened | None = None

    def probabilities(self, X: Array) -> Array:
        """Return p (n, K) of new rows (n, D)."""
        codes = self.mapping.apply(X, self.coef)
        logits = codes @ self.calibration + X @ self.linear + self.offset
        if self.evened is None:
            return softmax(logits, axis=1)
        columns, other = self.evened
        second = np.maximum(other.probabilities(columns.apply(X)), RAREST)
        return softmax(0.5 * (log_softmax(logits, axis=1) + np.log(second)), axis=1)

    def joined(self, other: Discriminants, share: float) -> Gate:
        """Return the gate with a second opinion."""
        return self._replace(
            calibration=share * self.calibration,
            linear=(1.0 - share) * other.coef,
            offset=share * self.offset + (1.0 - share) * other.offset,
            share=share,
        )


class Evened(NamedTuple):
    """A gate that sees columns made symmetric; it counts as much as the one that sees them as they are."""

    columns: Symmetric
    gate: Gate


class Choice(NamedTuple):
    """A fitted kernel ridge regression: coef (M, K) of the kernel values, left-out codes (n, K), and how they do."""

    loss: float
    ridge: float
    sharpness: float
    coef: Array
    left_out: Array


def fit_gate(X: Array, codes: NDArray, n_classes: int, n_landmarks: int, seed: int) -> tuple[Gate, Array]:
    """Fit the gate to labelled rows.  O(min(n, M)^3 + n M^2), M the number of centres.

    Parameters
    ----------
    X : array of shape (n, D)
        Labelled rows.
    codes : int array of shape (n,)
        Their classes.
    n_classes : int
        K; 1: every probability is 1.
    n_landmarks : int
        Most centres of the Gaussians, no more than `MOST_CENTRES`.
    seed : int
        Decides subsets and folds.

    Returns
    -------
    gate : Gate
    proba : array of shape (n, K)
        Probabilities of these rows, in which their own labels have no part.
    """
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
    kernel, proba = _chosen_kernel(np.ascontiguousarray(X[few]), codes[few], n_classes, fold[few], unit, opinions)
    best, rows = kernel.regression, X if len(centers) == len(X) else np.ascontiguousarray(X[centers])
    mapping = Mapping("rbf", rows, kernel.gamma, kernel.scale)
    if len(few) < len(X) or len(rows) < len(X):
        if len(rows) == len(X):
            best = _fitted_exactly(mapping.features(X), codes, n_classes)
        else:
            best = _fitted_by_landmarks(X, codes, n_classes, mapping)
        proba = crossfitted(best.sharpness * best.left_out, codes, n_classes, fold, kernel.cost)
        opinions = fit_discriminants(X, codes, n_classes, unit)
    ((coef, offset),) = _regressions(best.sharpness * best.left_out, codes, n_classes, (kernel.cost,))
    chosen = (kernel.width, best.ridge, best.sharpness, kernel.cost, 1.0)
    gate = Gate(mapping, best.sharpness * best.coef, coef, np.zeros((X.shape[1], n_classes)), offset, *chosen)
    second = second_opinion(proba, codes, opinions)
    return gate if second.other is None else gate.joined(second.other, second.share), second.proba


class Kernel(NamedTuple):
    """A kernel and the regression with it: multiple of the median distance, gamma, scale of the columns, and C."""

    width: float
    gamma: float
    scale: Array | None
    regression: Choice
    cost: float


def _chosen_kernel(
    X: Array, codes: NDArray, n_classes: int, fold: NDArray, unit: float, opinions: Sequence[Discriminants]
) -> tuple[Kernel, Array]:
    """Return the kernel of rows (n, D) whose gate has the least log loss, and p: columns alike, or by their relevance.

    Relevance is learnt from the labels of the same rows, left-out codes are too good by it: D numbers lower the mean
    log loss by some D / n where they say nothing (H. Akaike, 1973).
    """

    def judged(scale: Array | None, unit: float) -> tuple[float, Kernel, Array]:
        """Return the log loss of the whole gate with this scale, the kernel and its probabilities."""
        kernel = _best_width(X, codes, n_classes, unit, scale)
        proba, cost = _best_calibration(
            kernel.regression.sharpness * kernel.regression.left_out, codes, n_classes, fold
        )
        return second_opinion(proba, codes, opinions).loss, kernel._replace(cost=cost), proba

    price = X.shape[1] / len(X)
    loss, kernel, proba = judged(None, unit)
    if len(X) < ROWS_A_COLUMN * X.shape[1] or loss <= price:
        return kernel, proba
    scale = relevance(X, Mapping("rbf", X, kernel.gamma), kernel.regression.coef)
    if scale is None:
        return kernel, proba
    by_relevance = judged(scale, median_distance(X * scale, np.random.default_rng(0)))
    return by_relevance[1:] if by_relevance[0] + price < loss else (kernel, proba)


def _best_width(X: Array, codes: NDArray, n_classes: int, unit: float, scale: Array | None) -> Kernel:
    """Return the kernel of the width with the least log loss; `unit` is the length of a usual distance."""
    exponents = Mapping("rbf", X, 1.0, scale).exponents(X)  # once for all widths
    tried = []
    for width in WIDTHS:
        gamma = 0.5 / (width * unit) ** 2
        regression = _fitted_exactly(np.exp(gamma * exponents), codes, n_classes)
        tried.append(Kernel(width, gamma, scale, regression, COSTS[0]))
    return min(tried, key=lambda each: each.regression.loss)


def dealt_folds(codes: NDArray, rng: np.random.Generator) -> NDArray:
    """Return the fold (n,) of every row: each class is dealt out evenly."""
    fold = np.empty(len(codes), dtype=int)
    for code in np.unique(codes):
        members = rng.permutation(np.flatnonzero(codes == code))
        fold[members] = (np.arange(len(members)) + rng.integers(FOLDS)) % FOLDS
    return fold


def crossfitted(features: Array, codes: NDArray, n_classes: int, fold: NDArray, cost: float) -> Array:
    """Return probabilities (n, K), those of each fold by a regression on the others.

    Parameters
    ----------
    features : array of shape (n, K)
        kappa h of left-out rows.
    codes : int array of shape (n,)
        Classes.
    n_classes : int
    fold : int array of shape (n,)
    cost : float
        C.
    """
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
            known = np.flatnonzero(np.isfinite(offset))
            proba[number, rows[:, None], known] = softmax(features[rows] @ coef[:, known] + offset[known], axis=1)
    proba = np.maximum(proba, RAREST)
    return proba / proba.sum(axis=2, keepdims=True)


def _best_calibration(features: Array, codes: NDArray, n_classes: int, fold: NDArray) -> tuple[Array, float]:
    """Return cross-fitted probabilities and C with the least log loss."""
    tried = _crossfitted(features, codes, n_classes, fold, COSTS)
    best = int(np.argmin([log_loss(proba, codes) for proba in tried]))
    return tried[best], COSTS[best]


def _regressions(
    features: Array, codes: NDArray, n_classes: int, costs: tuple[float, ...]
) -> Iterator[tuple[Array, Array]]:
    """Yield A' (K, K) and a (K,) of multinomial logistic regressions; a is -inf for classes without a row."""
    known, own = np.unique(codes, return_inverse=True)
    scored = known[1:] if len(known) == 2 else known
    head, alike = np.zeros((features.shape[1] + 1, len(scored))), np.ones(len(codes))
    for cost in costs:
        head = fitted_head(features, own, alike, head, 1.0 / cost, TOLERANCE)
        coef, offset = np.zeros((features.shape[1], n_classes)), np.full(n_classes, -np.inf)
        offset[known] = 0.0
        coef[:, scored], offset[scored] = head[:-1], head[-1]
        yield coef, offset


def _fitted_exactly(kernel: Array, codes: NDArray, n_classes: int) -> Choice:
    """Return the kernel ridge regression, from the kernel (n, n), whose left-out codes have the least log loss."""
    wanted = np.eye(n_classes)[codes] - 1.0 / n_classes
    e, back = kernel_spectrum(kernel)
    basis = back * e
    pulled = basis.T @ wanted
    _, left = leave_one_out(basis, pulled, e, RIDGES, wanted)
    return _chosen(left, codes, back, pulled, e)


def _fitted_by_landmarks(X: Array, codes: NDArray, n_classes: int, mapping: Mapping) -> Choice:
    """Return the same by Nystroem's approximation, in blocks of rows."""
    wanted = np.eye(n_classes)[codes] - 1.0 / n_classes
    e, back = mapped_spectrum(X, mapping, exact=False)
    by_centers = np.zeros((mapping.n_features, n_classes))
    for part, block in feature_blocks(X, mapping):
        by_centers += block.T @ wanted[part]
    pulled = back.T @ by_centers
    left = np.empty((len(RIDGES), len(X), n_classes))
    for part, block in feature_blocks(X, mapping):
        _, left[:, part] = leave_one_out(block @ back, pulled, e, RIDGES, wanted[part])
    return _chosen(left, codes, back, pulled, e)


def _chosen(left: Array, codes: NDArray, back: Array, pulled: Array, e: Array) -> Choice:
    """Return the best of all ridges and kappas, by left-out codes (R, n, K)."""
    losses = np.empty((len(RIDGES), len(SHARPNESS)))
    for number in range(len(RIDGES)):
        checkpoint()
        _log_losses(left[number], codes, SHARPNESS, losses[number])
    ridge, kappa = np.unravel_index(losses.argmin(), losses.shape)
    coef = back @ (pulled / (e + RIDGES[ridge])[:, None])
    return Choice(float(losses[ridge, kappa]), float(RIDGES[ridge]), float(SHARPNESS[kappa]), coef, left[ridge])


@njit(cache=True, nogil=True)
def _log_losses(left: Array, codes: NDArray, sharpness: Array, out: Array) -> None:
    """Write the mean of -log softmax(kappa h) of the own class for every kappa into out (S,).

    left (n, K) = h.  sharpness (S,) = kappa, each twice the last but one.
    """
    n, n_classes = left.shape
    powers = np.empty((2, n_classes))
    out[:] = 0.0
    for i in range(n):
        top = left[i].max()
        for s in range(len(sharpness)):
            power, total = powers[s % 2], 0.0
            for k in range(n_classes):
                power[k] = power[k] ** 2 if s > 1 else math.exp(sharpness[s] * (left[i, k] - top))
                total += power[k]
            out[s] += (math.log(total) - sharpness[s] * (left[i, codes[i]] - top)) / n
