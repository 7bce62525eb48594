"""Exponential families of a cell s given its natural parameter t: log-likelihood and quadratic minorant.

    family     l(s; t)               derivative r      curvature a of the minorant at the current t
    bernoulli  s t - log(1 + e^t)    s - sigma(t)      T(t) / 2 ("jj") or 1/4 ("bohning"),  T(t) = tanh(t / 2) / t
    gaussian   -c (s - t)^2          2 c (s - t)       2 c, exact
    poisson    s t - e^t             s - e^t           2 (e - 2) e^t, where the parameter rises by at most 1
    gamma      -t - s e^-t           s e^-t - 1        2 (e - 2) s e^-t, where the parameter falls by at most 1
    negative_binomial, of size r: s t - (s + r) log(1 + e^t), s - (s + r) sigma(t), (s + r) times that of bernoulli
    softmax    t_y - logsumexp(t)    y - p (a row)     (I - 1 1' / K) / 2 for the whole row (Böhning)

The minorant l(s; t0) + r (t - t0) - a / 2 (t - t0)^2 touches l at t0 and lies below it.  Methods need g = a t0 + r, the
linear part about 0.  A cell that is NaN is not observed: its a, g and l are 0.

The mean is sigma(t), t, e^t, e^t and r e^t.  Gamma cells have shape 1, exponential ones; a weight of the column is its
shape.  With their canonical parameters, which must be negative, gamma and negative binomial cells would need
constraints on products of factors; with logarithms of means, or of means over sizes, any parameter will do.

Source: I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised Dimensionality Reduction with
Generalized Linear Models", eq. 6-9.  Errata: eq. 6 needs -log 2, not + log 2; T is tanh(t / 2) / t, with the division;
eq. 8 needs -log cosh and -log 2.  As they read, these are not bounds.  Bouchard's bound of the softmax is not tight at
its expansion point; Böhning's is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from supdr.engine.sparse_rows import SparseRows, dense
from supdr.functions.family_kernels import (
    BERNOULLI,
    GAMMA,
    GAUSSIAN,
    NEGATIVE_BINOMIAL,
    POISSON,
    SMALL,
    expand_bits,
    expand_cells,
    first_impossible,
    null_bits,
    null_numbers,
    sum_cells,
    sum_log_likelihood,
)

# Of columns of features.
FAMILIES = ("bernoulli", "gaussian", "poisson", "gamma", "negative_binomial")

# Of targets.
TARGET_FAMILIES = FAMILIES[:3]

# Families whose parameter may rise (1) or fall (-1) by at most 1 in a step.
LIMITED = {POISSON: 1.0, GAMMA: -1.0}

BOUNDS = ("jj", "bohning")

# Added to the mean of a column of counts before its logarithm is taken: all may be 0.
SMALLEST_MEAN = 1e-9


def family_codes(
    families: str | Sequence[str], n_columns: int, name: str, accepted: Sequence[str] = FAMILIES
) -> NDArray:
    """Return the integers (n_columns,) that stand for families in kernels; ValueError if a name is not accepted."""
    if not isinstance(families, str) and not isinstance(families, Iterable):
        raise ValueError(f"{name} must be a family, or one per column, of {', '.join(accepted)}; got {families!r}")
    names = [families] * n_columns if isinstance(families, str) else list(families)
    if len(names) != n_columns:
        raise ValueError(f"{name} must be one family or one per column ({n_columns}); got {len(names)} names")
    for each in names:
        if each not in accepted:
            raise ValueError(f"{name} must be made of {', '.join(accepted)}; got {each!r}")
    return np.array([FAMILIES.index(each) for each in names], dtype=np.int64)


def check_values(codes: NDArray, values: NDArray, name: str) -> None:
    """Raise ValueError if a value (n, D) is outside of the range of its column's family, `codes` (D,)."""
    if isinstance(values, SparseRows):
        row, column = _first_impossible(codes, values)
    else:
        row, column = first_impossible(codes, values)
    if row < 0:
        return
    counts = "the counts 0, 1, 2, ... up to 2^53"
    accepted = {BERNOULLI: "0 and 1", GAMMA: "numbers > 0"}.get(int(codes[column]), counts)
    raise ValueError(
        f"{name}: a {FAMILIES[codes[column]]} column holds {accepted} only; "
        f"column {column} has {dense(values[row : row + 1])[0, column]:g} in row {row}"
    )


def _first_impossible(codes: NDArray, rows: SparseRows) -> tuple[int, int]:
    """Return row and column of the first impossible cell of sparse rows, or (-1, -1)."""
    start = 0
    for block in rows.blocks() if (codes != GAUSSIAN).any() else ():
        row, column = first_impossible(codes, block)
        if row >= 0:
            return start + row, column
        start += len(block)
    return -1, -1


def tanh_ratio(t: NDArray) -> NDArray:
    """Return T(t) = tanh(t / 2) / t of natural parameters, 1/2 at 0."""
    t = np.asarray(t, dtype=float)
    small = np.abs(t) < SMALL
    return np.where(small, 0.5 - t * t / 24.0, np.tanh(0.5 * t) / np.where(small, 1.0, t))


def expand(
    codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, bound: str = "jj", size: float = 1.0
) -> tuple[NDArray, NDArray]:
    """Return the minorant at `theta` (n, D): curvature a (n, D) and g = a theta + r (n, D); see `residuals`."""
    curvature, linear = np.empty_like(theta), np.empty_like(theta)
    if bound == "jj" and not codes.any():  # all Bernoulli
        expand_bits(values, theta, _small(theta), curvature, linear)
    else:
        expand_cells(codes, values, theta, _small(theta), c, size, bound == "bohning", curvature, linear)
    return curvature, linear


def log_likelihood(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, size: float = 1.0) -> float:
    """Return the sum of l over the observed cells; arguments as for `residuals`."""
    return sum_log_likelihood(codes, values, theta, _small(theta), c, size)


def log_likelihoods(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, size: float = 1.0) -> NDArray:
    """Return l of every cell, (n, D), 0 where not observed; arguments as for `residuals`."""
    likelihoods = -c * (values - theta) ** 2
    for code in set(codes.tolist()) - {GAUSSIAN}:
        columns = codes == code
        s, t = values[:, columns], theta[:, columns]
        if code == GAMMA:
            likelihoods[:, columns] = -t - s * np.exp(-t)
        elif code == POISSON:
            likelihoods[:, columns] = s * t - np.exp(t)
        else:
            likelihoods[:, columns] = s * t - (1.0 if code == BERNOULLI else s + size) * np.logaddexp(0.0, t)
    return np.where(np.isnan(values), 0.0, likelihoods)


def _small(theta: NDArray) -> NDArray:
    """Return exp(-|theta|): NumPy's exponential is several times as fast as a compiled loop's."""
    e = np.copysign(theta, -1.0)
    return np.exp(e, out=e)


def means(codes: NDArray, theta: NDArray, size: float = 1.0) -> NDArray:
    """Return the expected cells: sigma(t), t, e^t, or r e^t.

    `codes` (D,): family of every column; `theta` (n, D): natural parameters; `size`: r of the negative binomial cells.
    Returns (n, D).
    """
    expected = theta.copy()
    for code in set(codes.tolist()) - {GAUSSIAN}:
        columns = codes == code
        t = theta[:, columns]
        if code == BERNOULLI:
            expected[:, columns] = _sigma(t)
        else:
            expected[:, columns] = np.exp(t) if code != NEGATIVE_BINOMIAL else size * np.exp(t)
    return expected


def _sigma(t: NDArray) -> NDArray:
    return 0.5 * (1.0 + np.tanh(0.5 * t))


def residuals(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, size: float = 1.0) -> NDArray:
    """Return r = dl / dt of every cell, 0 where not observed.

    `codes` (D,): family of every column; `values`, `theta` (n, D): cells and natural parameters; `c`: weight of the
    Gaussian cells; `size`: r of the negative binomial cells. Returns (n, D).
    """
    derivatives = (values - means(codes, theta, size)) * np.where(codes == GAUSSIAN, 2.0 * c, 1.0)
    gamma, counts = codes == GAMMA, codes == NEGATIVE_BINOMIAL
    if gamma.any():
        derivatives[:, gamma] = values[:, gamma] * np.exp(-theta[:, gamma]) - 1.0
    if counts.any():
        derivatives[:, counts] = values[:, counts] - (values[:, counts] + size) * _sigma(theta[:, counts])
    return np.where(np.isnan(values), 0.0, derivatives)


def curvatures(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, size: float = 1.0) -> NDArray:
    """Return - d2l / dt2 of every cell, (n, D), 0 where not observed; arguments as for `residuals`."""
    curvature = np.full(theta.shape, 2.0 * c)
    for code in set(codes.tolist()) - {GAUSSIAN}:
        columns = codes == code
        s, t = values[:, columns], theta[:, columns]
        if code == GAMMA:
            curvature[:, columns] = s * np.exp(-t)
        elif code == POISSON:
            curvature[:, columns] = np.exp(t)
        else:
            mean = _sigma(t)
            curvature[:, columns] = (1.0 if code == BERNOULLI else s + size) * mean * (1.0 - mean)
    return np.where(np.isnan(values), 0.0, curvature)


def cell_sums(values: NDArray, weights: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Return the weighted number of observed cells of every column, (D,), and their weighted sum, (D,)."""
    if isinstance(values, SparseRows):
        return np.full(values.shape[1], float(len(values))), values.total
    count, total = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    sum_cells(values, np.ones(len(values)) if weights is None else weights, count, total)
    return count, total


def number_losses(
    codes: NDArray,
    values: NDArray,
    centre: NDArray,
    c: float = 1.0,
    weights: NDArray | None = None,
    size: float = 1.0,
) -> NDArray:
    """Return the contribution of the rows to H by column, 0 for Bernoulli columns, given the means.

    H is the log-likelihood of the cells as their own means minus that of the column means: c |centred|^2 for Gaussian
    columns, n times the entropy for Bernoulli ones, sum s log(s / m) for Poisson ones of mean m, sum log(m / s) for
    gamma ones, sum s log(s / m) - (s + r) log((s + r) / (m + r)) for negative binomial ones.

    `codes` (D,): families; `values` (n, D): cells, NaN where not observed; `centre` (D,): column means; `c`: weight of
    Gaussian cells; `weights` (n,): of the rows, > 0; `size`: r of negative binomial cells. Returns (D,).
    """
    if isinstance(values, SparseRows):
        if (codes == GAUSSIAN).all():
            return c * (values - centre).squares()
        return np.sum([number_losses(codes, block, centre, c, size=size) for block in values.blocks()], axis=0)
    losses = np.zeros(values.shape[1])
    null_numbers(codes, values, c, size, np.ones(len(values)) if weights is None else weights, centre, losses)
    return losses


def null_loss_about(
    codes: NDArray, count: NDArray, centre: NDArray, losses: NDArray, column_weight: NDArray | None = None
) -> float:
    """Return H from counts, means, the sum of `number_losses` and weights of the columns; all (D,)."""
    by_column = losses.copy()
    null_bits(codes, count, centre, by_column)
    return float(by_column.sum() if column_weight is None else by_column @ column_weight)


def null_parameters(codes: NDArray, centre: NDArray, n_components: int, size: float = 1.0) -> NDArray:
    """Return starting loadings (L + 1, D): 0, with the parameter of the mean as bias of counts and gamma columns."""
    loadings = np.zeros((n_components + 1, len(codes)))
    logarithmic = np.flatnonzero((codes != BERNOULLI) & (codes != GAUSSIAN))
    loadings[-1, logarithmic] = np.log(centre[logarithmic] + SMALLEST_MEAN)
    loadings[-1, codes == NEGATIVE_BINOMIAL] -= np.log(size)
    return loadings


def softmax(theta: NDArray) -> tuple[NDArray, NDArray]:
    """Return class probabilities of natural parameters (n, K), and the logarithm of their denominator, (n,)."""
    peak = theta.max(axis=1, keepdims=True)
    probability = np.exp(theta - peak)
    total = probability.sum(axis=1, keepdims=True)
    return probability / total, (peak + np.log(total))[:, 0]
