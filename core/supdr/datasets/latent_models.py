"""Data drawn from latent factors: what SDR-GLM assumes, and what it is hard for other methods to see.

Stand-ins for sets that are not public: the simulated sets, a wide set of few rows whose class is one factor among
louder ones, and a wide regression over time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr.datasets.dataset import Dataset
from supdr.datasets.generators import _at_least, _checked_noise

NOISES = ("bernoulli", "gaussian", "poisson")
# Of counts: a few columns with large loadings would have rates beyond all numbers.
MOST_LOG_RATE = 8.0
WIDE_FACTORS, WIDE_CLASS_NOISE = 6, 0.3
TIME_FACTORS, TIME_COEFFICIENT = 12, 0.9
RESPONSE_FACTORS = slice(5, 9)
# Share of the signal's deviation: the best possible correlation is 1 / sqrt(1.25) = 0.894.
RESPONSE_NOISE = 0.5


def make_latent_glm(
    n_samples: int = 100,
    n_features: int = 200,
    scale: float = 3.0,
    noise: str = "bernoulli",
    *,
    random_state: Any = None,
) -> Dataset:
    """Draw two classes that differ in one of two latent factors, which many weak features share.

    In the plane, the first coordinate is ±(1 + |z| / 2), its sign the class, the second z / 2, with z ~ N(0, 1), all
    turned by a random angle.  Loadings are scale · N(0, 1) / √n_features, so that the signal of a whole row does not
    depend on the number of features.  The product gives the natural parameters.

    Parameters
    ----------
    n_samples : int ≥ 2
        Rows; the classes take turns.
    n_features : int ≥ 1
        Columns.
    scale : float > 0
        Size of the loadings: 3 is hard, 6 is easy with Bernoulli features.
    noise : {"bernoulli", "gaussian", "poisson"}
        Bits with these log-odds, unit Gaussian noise around the parameters, or counts with these logarithms of rates,
        which are at most 8.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, n_features columns, 2 classes.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    if noise not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}")
    _at_least("n_samples", n_samples, 2)
    _at_least("n_features", n_features, 1)
    _positive("scale", scale)
    rng = np.random.default_rng(random_state)
    angle = rng.uniform(0, 2 * np.pi)
    loadings = scale / np.sqrt(n_features) * rng.standard_normal((2, n_features))
    y = np.arange(n_samples) % 2
    along = np.where(y == 1, 1.0, -1.0) * (1.0 + 0.5 * np.abs(rng.standard_normal(n_samples)))
    plane = np.column_stack([along, 0.5 * rng.standard_normal(n_samples)])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    theta = plane @ turn.T @ loadings
    if noise == "bernoulli":
        X = (rng.uniform(size=theta.shape) < 1.0 / (1.0 + np.exp(-theta))).astype(float)
    elif noise == "poisson":
        X = rng.poisson(np.exp(np.minimum(theta, MOST_LOG_RATE))).astype(float)
    else:
        X = theta + rng.standard_normal(theta.shape)
    return Dataset(
        X,
        y,
        name=f"latent factors, {noise}",
        description=f"{n_features} {noise.capitalize()} features of two latent factors, loadings of size {scale:g}; "
        "the class is the sign of one factor.",
    )


def make_wide_factors(
    n_samples: int = 84,
    n_features: int = 2000,
    amplitude: float = 14.0,
    noise: float = 1.0,
    *,
    random_state: Any = None,
) -> Dataset:
    """Draw few rows and many columns: the class is one of six latent factors, and the quietest.

    The class factor is ±1 plus 0.3 N(0, 1); the five others are Gaussian with deviations 1.6 down to 1.2.  Loadings are
    amplitude · N(0, 1) / √n_features.

    Parameters
    ----------
    n_samples : int ≥ 2
        Rows; the classes take turns.
    n_features : int ≥ 1
        Columns.
    amplitude : float > 0
        Size of the loadings; 60 and 14 stand in for expression data with 38,573 and 14,043 columns.
    noise : float ≥ 0
        Standard deviation of the features' own noise.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, n_features columns, 2 classes.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    _at_least("n_samples", n_samples, 2)
    _at_least("n_features", n_features, 1)
    _positive("amplitude", amplitude)
    rng = np.random.default_rng(random_state)
    loadings = amplitude / np.sqrt(n_features) * rng.standard_normal((WIDE_FACTORS, n_features))
    y = np.arange(n_samples) % 2
    factors = rng.standard_normal((n_samples, WIDE_FACTORS))
    factors[:, 0] = np.where(y == 1, 1.0, -1.0) + WIDE_CLASS_NOISE * factors[:, 0]
    factors[:, 1:] *= np.linspace(1.6, 1.2, WIDE_FACTORS - 1)
    X = factors @ loadings + _checked_noise(noise) * rng.standard_normal((n_samples, n_features))
    return Dataset(
        X,
        y,
        name="wide, six factors",
        description=f"{n_features} features of six latent factors, the quietest of which is the class; "
        f"noise {noise:g}.",
    )


def make_wide_regression(
    n_samples: int = 704,
    n_features: int = 2000,
    amplitude: float = 14.0,
    noise: float = 1.0,
    *,
    random_state: Any = None,
) -> Dataset:
    """Draw a wide regression over time: twelve slow factors, the target is the sum of four of them.

    The factors are autoregressive, f_t = 0.9 f_(t-1) + N(0, 1); the target is the sum of factors 6 to 9 plus noise of
    half its deviation, so that no prediction correlates with it by more than 0.894.  Rows are consecutive: split them
    in the middle to test on later ones.

    Parameters
    ----------
    n_samples : int ≥ 2
        Rows, in the order of time.
    n_features : int ≥ 1
        Columns.
    amplitude : float > 0
        Size of the loadings, amplitude · N(0, 1) / √n_features.
    noise : float ≥ 0
        Standard deviation of the features' own noise.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, n_features columns, a regression target.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    _at_least("n_samples", n_samples, 2)
    _at_least("n_features", n_features, 1)
    _positive("amplitude", amplitude)
    rng = np.random.default_rng(random_state)
    loadings = amplitude / np.sqrt(n_features) * rng.standard_normal((TIME_FACTORS, n_features))
    factors = rng.standard_normal((n_samples, TIME_FACTORS))
    factors[0] /= np.sqrt(1.0 - TIME_COEFFICIENT**2)  # stationary from the start
    for t in range(1, n_samples):
        factors[t] += TIME_COEFFICIENT * factors[t - 1]
    signal = factors[:, RESPONSE_FACTORS].sum(axis=1)
    y = signal + RESPONSE_NOISE * signal.std() * rng.standard_normal(n_samples)
    X = factors @ loadings + _checked_noise(noise) * rng.standard_normal((n_samples, n_features))
    return Dataset(
        X,
        y,
        task="regression",
        target_names=("response",),
        name="wide regression",
        description=f"{n_features} features of twelve slow factors, four of which make up the response; "
        f"noise {noise:g}.",
    )


def _positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be greater than 0, got {value!r}")
