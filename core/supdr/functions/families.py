"""Exponential families of a cell s given its natural parameter t: log-likelihood and quadratic minorant.

    family     l(s; t)               derivative r      curvature a of the minorant at the current t
    bernoulli  s t - log(1 + e^t)    s - sigma(t)      T(t) / 2 ("jj") or 1/4 ("bohning"),  T(t) = tanh(t / 2) / t
    gaussian   -c (s - t)^2          2 c (s - t)       2 c, exact
    poisson    s t - e^t             s - e^t           2 (e - 2) e^t, where the parameter rises by at most 1
    softmax    t_y - logsumexp(t)    y - p (a row)     (I - 1 1' / K) / 2 for the whole row (Böhning)

The minorant l(s; t0) + r (t - t0) - a / 2 (t - t0)^2 touches l at t0 and lies below it.  Methods need g = a t0 + r, the
linear part about 0.  A cell that is NaN is not observed: its a, g and l are 0.

Source: I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised Dimensionality Reduction with
Generalized Linear Models", eq. 6-9.  Errata: eq. 6 needs -log 2, not + log 2; T is tanh(t / 2) / t, with the division;
eq. 8 needs -log cosh and -log 2.  As they read, these are not bounds.  Bouchard's bound of the softmax is not tight at
its expansion point; Böhning's is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

FAMILIES = ("bernoulli", "gaussian", "poisson")
BERNOULLI, GAUSSIAN, POISSON = range(3)

BOUNDS = ("jj", "bohning")

POISSON_FACTOR = 2.0 * (math.e - 2.0)
"""kappa: (e^x - 1 - x) / x^2 rises with x, so a parabola of curvature kappa e^t0 lies below l wherever t <= t0 + 1."""

SMALL = 1e-4
"""Below this |t| the ratio T is its series, 1/2 - t^2 / 24."""

LARGEST_PRODUCT = 1e200


def family_codes(families: str | Sequence[str], n_columns: int, name: str) -> NDArray:
    """Return the integers by which kernels know the families of the columns.

    Parameters
    ----------
    families : str or sequence of str
        One of `FAMILIES` for all columns, or one name per column.
    n_columns : int
        Number of columns.
    name : str
        The argument's name, for messages.

    Returns
    -------
    int array of shape (n_columns,)

    Raises
    ------
    ValueError
        If a name is unknown or their number is wrong.
    """
    names = [families] * n_columns if isinstance(families, str) else list(families)
    if len(names) != n_columns:
        raise ValueError(f"{name} must be one family or one per column ({n_columns}); got {len(names)} names")
    for each in names:
        if each not in FAMILIES:
            raise ValueError(f"{name} must be made of {', '.join(FAMILIES)}; got {each!r}")
    return np.array([FAMILIES.index(each) for each in names], dtype=np.int64)


def check_values(codes: NDArray, values: NDArray, name: str) -> None:
    """Raise ValueError if a column of `values` holds what its family cannot produce.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column.
    values : array of shape (n, D)
        NaN where not observed.
    name : str
        The argument's name, for messages.

    Raises
    ------
    ValueError
        If a Bernoulli column holds anything but 0 and 1, or a Poisson column anything but 0, 1, 2, ...
    """
    row, column = _first_impossible(codes, values)
    if row < 0:
        return
    accepted = "0 and 1" if codes[column] == BERNOULLI else "the counts 0, 1, 2, ..."
    raise ValueError(
        f"{name}: a {FAMILIES[codes[column]]} column holds {accepted} only; "
        f"column {column} has {values[row, column]:g} in row {row}"
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _first_impossible(codes, values):  # noqa: ANN001
    """Return row and column of the first cell (n, D) that its family cannot produce, or (-1, -1)."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            s = values[i, j]
            if codes[j] == GAUSSIAN or s != s:
                continue
            if s < 0.0 or s != math.floor(s) or (codes[j] == BERNOULLI and s > 1.0):
                return i, j
    return -1, -1


def tanh_ratio(t: NDArray) -> NDArray:
    """Return T(t) = tanh(t / 2) / t, 1/2 at 0.

    Parameters
    ----------
    t : array
        Natural parameters.

    Returns
    -------
    array
    """
    t = np.asarray(t, dtype=float)
    small = np.abs(t) < SMALL
    return np.where(small, 0.5 - t * t / 24.0, np.tanh(0.5 * t) / np.where(small, 1.0, t))


@njit(cache=True, nogil=True, error_model="numpy")
def _expand_bits(s, t, e, a, g):  # noqa: ANN001
    """Write a and g (n, D) of Bernoulli cells, given e = exp(-|t|); no branches, for the vector units."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, small, size = s[i, j], e[i, j], abs(t[i, j])
            ratio = (1.0 - small) / ((1.0 + small) * size) if size >= SMALL else 0.5 - size * size / 24.0
            a[i, j] = 0.5 * ratio if cell == cell else 0.0
            g[i, j] = cell - 0.5 if cell == cell else 0.0  # a t + s - sigma(t) = s - 1/2


@njit(cache=True, nogil=True, error_model="numpy")
def _expand(codes, s, t, e, c, fixed, a, g):  # noqa: ANN001
    """Write a and g (n, D), given e = exp(-|t|)."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, theta, small = s[i, j], t[i, j], e[i, j]
            if cell != cell:
                a[i, j] = 0.0
                g[i, j] = 0.0
            elif codes[j] == BERNOULLI:
                size = abs(theta)
                if fixed:
                    a[i, j] = 0.25
                    g[i, j] = 0.25 * theta + cell - (1.0 if theta >= 0.0 else small) / (1.0 + small)
                else:
                    ratio = (1.0 - small) / ((1.0 + small) * size) if size >= SMALL else 0.5 - size * size / 24.0
                    a[i, j] = 0.5 * ratio
                    g[i, j] = cell - 0.5
            elif codes[j] == GAUSSIAN:
                a[i, j] = 2.0 * c
                g[i, j] = 2.0 * c * cell
            else:
                mean = small if theta < 0.0 else 1.0 / small
                a[i, j] = POISSON_FACTOR * mean
                g[i, j] = POISSON_FACTOR * mean * theta + cell - mean


@njit(cache=True, nogil=True, error_model="numpy")
def _log_likelihood(codes, s, t, e, c):  # noqa: ANN001
    """Return the log-likelihood of the cells (n, D), given e = exp(-|t|)."""
    total, product = 0.0, 1.0
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell, theta, small = s[i, j], t[i, j], e[i, j]
            if cell != cell:
                continue
            if codes[j] == BERNOULLI:
                # log(1 + e^t) = max(t, 0) + log(1 + e^-|t|); one logarithm for many factors
                total += cell * theta - max(theta, 0.0)
                product *= 1.0 + small
                if product > LARGEST_PRODUCT:
                    total -= math.log(product)
                    product = 1.0
            elif codes[j] == GAUSSIAN:
                total -= c * (cell - theta) * (cell - theta)
            else:
                total += cell * theta - (small if theta < 0.0 else 1.0 / small)
    return total - math.log(product)


def expand(
    codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0, bound: str = "jj"
) -> tuple[NDArray, NDArray]:
    """Return the minorant of every cell at `theta`.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column, see `family_codes`.
    values, theta : arrays of shape (n, D)
        Cells, NaN where not observed, and their natural parameters; C-contiguous.
    c : float
        Weight of the Gaussian cells.
    bound : {"jj", "bohning"}
        Curvature of the Bernoulli cells.

    Returns
    -------
    curvature : array of shape (n, D)
        a.
    linear : array of shape (n, D)
        g = a theta + r.
    """
    curvature, linear = np.empty_like(theta), np.empty_like(theta)
    if bound == "jj" and not codes.any():  # all Bernoulli
        _expand_bits(values, theta, _small(theta), curvature, linear)
    else:
        _expand(codes, values, theta, _small(theta), c, bound == "bohning", curvature, linear)
    return curvature, linear


def log_likelihood(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0) -> float:
    """Return the sum of l over the observed cells.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column.
    values, theta : arrays of shape (n, D)
        Cells and natural parameters; C-contiguous.
    c : float
        Weight of the Gaussian cells.

    Returns
    -------
    float
    """
    return _log_likelihood(codes, values, theta, _small(theta), c)


def _small(theta: NDArray) -> NDArray:
    """Return exp(-|theta|): NumPy's exponential is several times as fast as a compiled loop's."""
    e = np.copysign(theta, -1.0)
    return np.exp(e, out=e)


def means(codes: NDArray, theta: NDArray) -> NDArray:
    """Return the expected cells: sigma(t), t, or e^t.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column.
    theta : array of shape (n, D)
        Natural parameters.

    Returns
    -------
    array of shape (n, D)
    """
    expected = theta.copy()
    for code in (BERNOULLI, POISSON):
        columns = codes == code
        if columns.any():
            t = theta[:, columns]
            expected[:, columns] = 0.5 * (1.0 + np.tanh(0.5 * t)) if code == BERNOULLI else np.exp(t)
    return expected


def residuals(codes: NDArray, values: NDArray, theta: NDArray, c: float = 1.0) -> NDArray:
    """Return r = dl / dt of every cell, 0 where not observed.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column.
    values, theta : arrays of shape (n, D)
        Cells and natural parameters.
    c : float
        Weight of the Gaussian cells.

    Returns
    -------
    array of shape (n, D)
    """
    return np.where(np.isnan(values), 0.0, (values - means(codes, theta)) * np.where(codes == GAUSSIAN, 2.0 * c, 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _null_losses(codes, s, c, centre, loss):  # noqa: ANN001
    """Write each column's mean into centre and its null loss into loss, both (D,)."""
    count = np.zeros(s.shape[1])
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            if s[i, j] == s[i, j]:
                count[j] += 1.0
                centre[j] += s[i, j]
    for j in range(s.shape[1]):
        centre[j] /= max(count[j], 1.0)
        m = centre[j]
        if codes[j] == BERNOULLI and 0.0 < m < 1.0:
            loss[j] = -count[j] * (m * math.log(m) + (1.0 - m) * math.log(1.0 - m))
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            cell = s[i, j]
            if cell != cell:
                continue
            if codes[j] == GAUSSIAN:
                loss[j] += c * (cell - centre[j]) * (cell - centre[j])
            elif codes[j] == POISSON and cell > 0.0:
                loss[j] += cell * math.log(cell / centre[j])


def null_loss(codes: NDArray, values: NDArray, c: float = 1.0) -> tuple[float, NDArray]:
    """Return H, how much likelihood the column means leave to be explained, and these means.

    H is the log-likelihood of the cells as their own means minus that of the column means: c |centred|^2 for Gaussian
    columns, n times the entropy for Bernoulli ones, sum s log(s / mean) for Poisson ones.

    Parameters
    ----------
    codes : int array of shape (D,)
        Family of every column.
    values : array of shape (n, D)
        Cells, NaN where not observed.
    c : float
        Weight of the Gaussian cells.

    Returns
    -------
    loss : float
        H >= 0.
    centre : array of shape (D,)
        Column means, 0 for a column without observed cells.
    """
    centre, loss = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    _null_losses(codes, values, c, centre, loss)
    return float(loss.sum()), centre


def softmax(theta: NDArray) -> tuple[NDArray, NDArray]:
    """Return class probabilities and the logarithm of their denominator.

    Parameters
    ----------
    theta : array of shape (n, K)
        Natural parameters.

    Returns
    -------
    probability : array of shape (n, K)
    log_sum : array of shape (n,)
        logsumexp of every row.
    """
    peak = theta.max(axis=1, keepdims=True)
    probability = np.exp(theta - peak)
    total = probability.sum(axis=1, keepdims=True)
    return probability / total, (peak + np.log(total))[:, 0]
