"""Ridge regression on class codes, judged by its exact leave-one-out codes: widths, ridges and scalings are chosen so.

With a basis B (n, r) of the features, B'B = diag(e), the fit at ridge rho is H = B diag(1 / (e + rho)) B'T.  With
q_n = sum_j B_nj^2 / (e_j + rho) the prediction of row n by the other rows is exactly (H_n - q_n T_n) / (1 - q_n), the
centres being fixed: one eigendecomposition serves all ridges.

The penalty is that of the weights of the features ("weights", |W|^2) or that of the function in the kernel's own space
("kernel").  A choice minimises

    share of rows whose left-out code is not clearly nearest to the own corner  +  `SQUARE_WEIGHT` mean square error

A code near 0 counts as wrong: narrow Gaussians give such codes, and without this their error would hang on rounding and
on the order of the classes.  Nothing here depends on that order, since the corners are a regular simplex.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import LARGEST
from supdr.engine.context import current_context
from supdr.engine.interruption import abandonable, checkpoint
from supdr.engine.preprocessing import Preprocessing, fit_preprocessing
from supdr.engine.reuse import fingerprint, reused
from supdr.engine.sparse_rows import SparseRows
from supdr.solvers.distances import median_of_squares, squares_among
from supdr.solvers.gaussians import BLOCK_FLOPS, Mapping, rows_in_memory

Array = NDArray[np.float64]

# Multiples of the median distance that are tried.
WIDTHS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0)

RIDGES = np.logspace(-6, 2, 17)

SCALINGS = ("zscore", "none", "minmax")
# Widths at which scalings are compared.
SCALING_WIDTHS = (0.3, 0.7, 1.5)

# Weight of the mean squared distance to the own corner beside the error; corners have length 1.
SQUARE_WEIGHT = 0.3

# A row counts as right when the product with its own corner exceeds all others by this much.
CLEAR = 1e-3

# Labelled rows a class, on average, below which a left-out error is too uncertain.
FEWEST = 3

SMALLEST_EIGENVALUE = 1e-12

# Ridges below this share of the sum of the eigenvalues are lost in rounding.
SMALLEST_RIDGE = 1e-13

# Scalings are compared on at most this many random rows.
SCALING_ROWS = 400

# Of a basis that runs with other labels of the same rows share: rows times centres.
SHARED_SIZE = 1_000_000

# Sparse rows at most on which a ridge is chosen.
MOST_ROWS = 1500

# Two numbers that differ by less than this share count as one.
SAME = 1e-9


class Spectrum(NamedTuple):
    """A basis of features.

    `e` (r,): its squared lengths. `back` (M, r): features times `back` are the basis; weights in the basis times it are
    weights of the features.
    """

    e: Array
    back: Array


class Basis(NamedTuple):
    """A basis of features on all rows, with what its left-out fits need; labels have no influence on it.

    `e` (r,): its squared lengths. `rows` (n, r): B. `ridges` (R,): those that are tried. `leverages` (R, n): q.
    """

    e: Array
    rows: Array
    ridges: Array
    leverages: Array


class Choice(NamedTuple):
    """A width and a ridge, and how they did on left-out rows.

    `score`, `error`, `square`: what was minimised, and its two parts; `width`, `gamma`, `ridge`: multiple of the median
    distance, 1 / (2 sigma^2), and rho.
    """

    score: float
    error: float
    square: float
    width: float
    gamma: float
    ridge: float


def weight_spectrum(features: Array, *, symmetric: bool) -> Spectrum:
    """Return the basis for the penalty |W|^2 on the weights of features (n, M), which may be a symmetric matrix."""
    if symmetric:
        s, Q = abandonable(lambda: np.linalg.eigh(features))
        return Spectrum(s**2, Q)
    e, V = abandonable(lambda: np.linalg.eigh(features.T @ features))
    return Spectrum(np.maximum(e, 0.0), V)


def kernel_spectrum(kernel: Array) -> Spectrum:
    """Return the basis for the penalty in the kernel's space, without rounding, from its values (n, n) of all rows."""
    e, Q = abandonable(lambda: np.linalg.eigh(kernel))
    significant = e > SMALLEST_EIGENVALUE * e[-1]
    return Spectrum(e[significant], np.ascontiguousarray(Q[:, significant] / np.sqrt(e[significant])))


def nystroem_spectrum(gram: Array, inner: Array) -> Spectrum:
    """Return the basis for the penalty in the kernel's space, by centres.

    `gram` (M, M): K_nc'K_nc of the kernel values between rows and centres. `inner` (M, M): kernel values between
    centres.  With K_cc = R'R and P = K_nc R^-1, P'P = V diag(e) V', the basis is PV.
    """
    shifted = inner.copy()
    shifted.ravel()[:: len(inner) + 1] += 1e-8 * len(inner)  # keeps close centres from making the factor singular

    def decomposed() -> Spectrum:
        """Return the basis."""
        whiten = np.linalg.inv(np.linalg.cholesky(shifted)).T  # R^-1
        e, V = np.linalg.eigh(whiten.T @ gram @ whiten)
        return Spectrum(np.maximum(e, 0.0), np.ascontiguousarray(whiten @ V))

    return abandonable(decomposed)


def feature_blocks(X: Array, mapping: Mapping, *, brief: bool = True) -> Iterator[tuple[slice, Array]]:
    """Yield slices of rows with their kernel values (p, M): little memory, and if `brief` products of some 30 ms."""
    M = mapping.n_features
    step = max(64, min(rows_in_memory(M) // 3, BLOCK_FLOPS // M**2 if brief else len(X)))
    for start in range(0, len(X), step):
        checkpoint()
        part = slice(start, min(start + step, len(X)))
        yield part, mapping.features(X[part])


def mapped_spectrum(X: Array, mapping: Mapping, *, exact: bool) -> Spectrum:
    """Return the basis of the kernel's space by all rows (`exact`) or centres.  O(M^3), and O(n M^2) unless exact."""
    if exact:
        return kernel_spectrum(mapping.features(X))
    gram = np.zeros((mapping.n_features,) * 2)
    for _, block in feature_blocks(X, mapping):
        gram += block.T @ block
    return nystroem_spectrum(gram, mapping.features(mapping.centers))


def leave_one_out(
    basis: Array, pulled: Array, e: Array, ridges: Array, codes: Array, leverages: Array | None = None
) -> tuple[Array, Array]:
    """Return fits and left-out fits (R, n, q) of rows at R ridges; their `basis` (n, r) may be a block of B."""
    inverse = 1.0 / (e[:, None] + ridges)  # (r, R)
    weights = (inverse[:, :, None] * pulled[:, None]).reshape(len(e), -1)
    fit = (basis @ weights).reshape(len(basis), len(ridges), -1).transpose(1, 0, 2)
    q = (_leverages(basis, e, ridges) if leverages is None else leverages)[:, :, None]
    return fit, (fit - q * codes) / (1.0 - q)


def _leverages(basis: Array, e: Array, ridges: Array) -> Array:
    """Return q (R, n) of rows at R ridges, below 1."""
    return np.minimum((basis**2 @ (1.0 / (e[:, None] + ridges))).T, 1.0 - 1e-10)


def judged(left_out: Array, classes: NDArray, corners: Array) -> tuple[float, float]:
    """Return the share of left-out codes (n, q) not clearly nearest to their corner, and their mean square."""
    wrong, squares = judged_sums(left_out, classes, corners)
    return wrong / len(classes), squares / len(classes)


def judged_sums(left_out: Array, classes: NDArray, corners: Array) -> tuple[float, float]:
    """Return the number of wrong codes and the sum of the squared distances, see `judged`."""
    wrong, squares = _sums(left_out[None], classes, corners)
    return float(wrong[0]), float(squares[0])


def _sums(left_out: Array, classes: NDArray, corners: Array) -> tuple[Array, Array]:
    """Return the sums of `judged_sums` of left-out codes (R, n, q), (R,) each."""
    nearness, rows = left_out @ corners.T, np.arange(len(classes))
    own = nearness[:, rows, classes]
    nearness[:, rows, classes] = -np.inf
    wrong = (own - nearness.max(axis=2) <= CLEAR).sum(axis=1)
    return wrong, ((left_out - corners[classes]) ** 2).sum(axis=2).sum(axis=1)


def lowest_nearby(score: Callable[[int], float], most: int = 4) -> int:
    """Return the number of steps from 0, at most `most` either way, down to which a score falls from step to step."""
    best, lowest = 0, score(0)
    for way in (-1, 1):
        while abs(best) < most and (value := score(best + way)) < lowest:
            best, lowest = best + way, value
        if best:
            break
    return best


def enough_labels(classes: NDArray) -> bool:
    """Whether labels suffice for a left-out error: `FEWEST` rows a class, on average."""
    return len(classes) >= FEWEST * len(np.unique(classes))


def best_ridge(features: Array, classes: NDArray, corners: Array, ridges: Array, *, symmetric: bool) -> Choice:
    """Return the best ridge for features (n, M), penalty |W|^2; its width and gamma are 0."""
    return _best_ridge(_basis_of(features, ridges, symmetric), classes, corners)


def best_ridge_of_rows(features: SparseRows, classes: NDArray, corners: Array, rng: np.random.Generator) -> Choice:
    """Return the best ridge, of `RIDGES` times the mean squared length, for sparse rows as features (n, M)."""
    share = min(1.0, MOST_ROWS / len(features))
    if share < 1.0:
        some = np.sort(rng.choice(len(features), MOST_ROWS, replace=False))
        features, classes = features[some], classes[some]
    size = features.square / len(features) or 1.0
    e, Q = abandonable(lambda: np.linalg.eigh(features.row_gram()))
    e = np.maximum(e, 0.0)
    choice = _best_ridge(_basis(e, Q * np.sqrt(e), RIDGES * size), classes, corners)
    return choice._replace(ridge=choice.ridge / share)


def _basis_of(features: Array, ridges: Array, symmetric: bool) -> Basis:
    """Return the basis of features (n, M) for the penalty |W|^2."""
    e, back = weight_spectrum(features, symmetric=symmetric)
    checkpoint()
    return _basis(e, features @ back, ridges)


def _basis(e: Array, basis: Array, ridges: Array) -> Basis:
    """Return B (n, r) with B'B = diag(e) and what its left-out fits at some ridges need."""
    ridges = np.maximum(ridges, SMALLEST_RIDGE * max(float(e.sum()), np.finfo(float).tiny))
    return Basis(e, basis, ridges, _leverages(basis, e, ridges))


def _best_ridge(basis: Basis, classes: NDArray, corners: Array, some: NDArray[np.intp] | None = None) -> Choice:
    """Return the best ridge for a basis, judged on all or some rows; its width and gamma are 0."""
    codes = corners[classes]
    e, rows, ridges, leverages = basis
    pulled = rows.T @ codes
    if some is not None:
        rows, codes, classes, leverages = rows[some], codes[some], classes[some], leverages[:, some]
    _, left_out = leave_one_out(rows, pulled, e, ridges, codes, leverages)
    errors, squares = (sums / len(classes) for sums in _sums(left_out, classes, corners))
    scores = errors + SQUARE_WEIGHT * squares
    best = min(zip(scores.tolist(), errors.tolist(), squares.tolist(), ridges.tolist()))
    return Choice(*best[:3], 0.0, 0.0, best[3])


def best_width(
    X: Array,
    classes: NDArray,
    corners: Array,
    centers: Array,
    unit: float,
    *,
    widths: tuple[float, ...] = WIDTHS,
    ridges: Array = RIDGES,
    some: NDArray[np.intp] | None = None,
) -> Choice:
    """Return the best of all widths and ridges, penalty |W|^2, centres kept.  O(n M^2 + M^3) a width."""
    shared = len(X) * len(centers) <= SHARED_SIZE
    exponents = functools.cache(lambda: Mapping("rbf", centers, 1.0).exponents(X))
    key = _key((X, centers)) if shared else None
    return _best_width(exponents, key, classes, corners, unit, widths, ridges, some, symmetric=centers is X)


def _key(inputs: Any) -> str | None:
    """Return what results for these inputs are kept under; None: this run keeps none."""
    return None if current_context().cache is None else fingerprint(inputs)


def _basis_of_width(
    exponents: Callable[[], Array], key: str | None, gamma: float, ridges: Array, symmetric: bool
) -> Basis:
    """Return the basis of a width, kept under the key of the exponents where there is one."""

    def compute() -> Basis:
        """Return the basis."""
        return _basis_of(np.exp(gamma * exponents()), ridges, symmetric)

    return compute() if key is None else reused("left-out basis", lambda: (key, gamma, ridges, symmetric), compute)


def _best_width(
    exponents: Callable[[], Array],
    key: str | None,
    classes: NDArray,
    corners: Array,
    unit: float,
    widths: tuple[float, ...],
    ridges: Array,
    some: NDArray[np.intp] | None = None,
    *,
    symmetric: bool,
) -> Choice:
    """Return the best width with its ridge; `exponents` is not called if all bases are kept under `key`."""
    choices = []
    for width in widths:
        gamma = 0.5 / (width * unit) ** 2
        basis = _basis_of_width(exponents, key, gamma, ridges, symmetric)
        choices.append(_best_ridge(basis, classes, corners, some)._replace(width=width, gamma=gamma))
    return min(choices)


def best_scaling(
    X: Array, rows: NDArray, classes: NDArray, corners: Array, scalings: tuple[str, ...] = SCALINGS
) -> str:
    """Return the scaling of the columns with the best left-out score, over a few widths and all ridges.

    It is fitted on all rows X (N, D) and scored on the labelled `rows`; the first of equals wins, and the first where
    labels are too few.
    """
    if not enough_labels(classes):
        return scalings[0]
    rng = np.random.default_rng(0)
    some = np.arange(len(classes))
    if len(some) > SCALING_ROWS:
        some = np.sort(rng.choice(some, SCALING_ROWS, replace=False))
    distinct: dict[str, Preprocessing] = {}
    for kind in scalings:
        checkpoint()
        fitted = fit_preprocessing(X, kind)
        if kind == "none" and max(-fitted.low.min(), fitted.high.max()) > LARGEST:
            continue  # distances would not be finite
        if not any(_differ_by_unit(fitted, other) for other in distinct.values()):
            distinct[kind] = fitted
    if len(distinct) == 1:
        return next(iter(distinct))
    chosen = X[rows][some]
    scores = []
    for fitted in distinct.values():
        checkpoint()
        scores.append(_best_of_scaled(fitted.transform(chosen), classes[some], corners).score)
    return list(distinct)[int(np.argmin(scores))]


def _best_of_scaled(X: Array, classes: NDArray, corners: Array) -> Choice:
    """Return the best of a few widths with all ridges; all rows (n, D) are centres."""
    key, exponents = _key(X), functools.cache(lambda: -squares_among(X))  # once: rows may be wide
    unit = reused("median of squares", lambda: key, lambda: median_of_squares(-exponents()))
    return _best_width(exponents, key, classes, corners, unit, SCALING_WIDTHS, RIDGES, symmetric=True)


def _differ_by_unit(first: Preprocessing, second: Preprocessing) -> bool:
    """Whether two scalings of the columns are one but for a common factor: widths are measured by distances."""
    ratio = first.scale / second.scale
    return bool(np.ptp(ratio) <= SAME * ratio.max())


def search_share(n_rows: int, n_centers: int, work: float) -> float:
    """Return the share of rows, and of centres, on which n M^2 is at most `work`."""
    return min(1.0, math.cbrt(work / (n_rows * n_centers**2)))
