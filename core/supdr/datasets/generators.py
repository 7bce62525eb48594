"""Toy data with a known shape. Every generator takes `random_state` and returns a `Dataset`.

The shape is drawn first, then the jitter, then the noise features one by one: with one seed, changing the amount of
noise moves the same points, and adding a noise feature leaves the other columns as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supdr.datasets.dataset import Dataset

ZIGZAG_KNOTS = (-3.0, -1.0, 1.0, 3.0)
ZIGZAG_HEIGHTS = (-1.5, 1.5, -1.5, 1.5)
ZIGZAG_GAP = 0.2
ZIGZAG_MEAN_DISTANCE = 0.6

GAUSS4_MEANS = ((-3.0, 1.0), (1.0, 1.0), (-1.0, -2.2), (3.0, -2.2))
GAUSS4_VARIANCES = ((0.8, 2.0), (0.8, 2.0), (0.8, 4.0), (0.8, 4.0))

# Strength of the quadratic part of the sheet beside the linear part.
BEND = 0.7

Shape = tuple[np.ndarray, tuple[str, str], str]


def _linear(y: np.ndarray, rng: np.random.Generator) -> Shape:
    first = rng.uniform(-1, 1, len(y))
    second = np.where(y == 1, 1, -1) * rng.uniform(0.15, 0.5, len(y))
    return np.column_stack([first, second]), ("below", "above"), "Two bands on either side of a line"


def _disc(y: np.ndarray, rng: np.random.Generator) -> Shape:
    inner, outer = np.where(y == 0, 0.0, 0.7), np.where(y == 0, 0.4, 1.0)
    # the root makes the density uniform over the area
    radius = np.sqrt(rng.uniform(inner**2, outer**2))
    angle = rng.uniform(0, 2 * np.pi, len(y))
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), ("disc", "ring"), "A disc inside a ring"


def _xor(y: np.ndarray, rng: np.random.Generator) -> Shape:
    size = rng.uniform(0.15, 1, (len(y), 2))
    first_sign = rng.choice([-1, 1], len(y))
    signs = np.column_stack([first_sign, np.where(y == 0, first_sign, -first_sign)])
    return signs * size, ("same sign", "opposite signs"), "Four squares, opposite ones of the same class"


def _moons(y: np.ndarray, rng: np.random.Generator) -> Shape:
    angle = rng.uniform(0, np.pi, len(y))
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.where((y == 0)[:, None], upper, [1, 0.5] - upper)
    # two interleaved half circles fill [-1, 2] x [-0.5, 1]
    return (points - [0.5, 0.25]) / 1.5, ("upper", "lower"), "Two interleaved half circles"


PLANE_KINDS: dict[str, Callable[[np.ndarray, np.random.Generator], Shape]] = {
    "linear": _linear,
    "disc": _disc,
    "xor": _xor,
    "moons": _moons,
}


def make_noisy_plane(
    kind: str = "linear",
    n_samples: int = 200,
    n_noise_features: int = 1,
    noise: float = 0.05,
    *,
    random_state: Any = None,
) -> Dataset:
    """Two classes that differ in a plane, hidden among features of pure noise.

    With noise=0, kind "linear" with 10 points and kind "disc" with 40 are like the data of Figures 1 and 2 of the paper
    on nonlinear supervised dimensionality reduction (NSDR).

    Parameters
    ----------
    kind : {"linear", "disc", "xor", "moons"}
        "linear": x1 ~ U(−1, 1), x2 = ± U(0.15, 0.5). "disc": radius below 0.4 against radius 0.7 to 1, uniform over
        the area. "xor": both coordinates at 0.15 to 1 from the axes, classes by the sign of their product. "moons":
        two interleaved half circles.
    n_samples : int ≥ 2
        Rows; the classes take turns, so both have half of them.
    n_noise_features : int ≥ 0
        Further columns drawn from U(−1, 1).
    noise : float ≥ 0
        Standard deviation of Gaussian jitter on the first two columns; without it they lie in [−1, 1].
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, 2 + n_noise_features columns, 2 classes.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    if kind not in PLANE_KINDS:
        raise ValueError(f"kind must be one of {', '.join(PLANE_KINDS)}, got {kind!r}")
    _at_least("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    y = np.arange(n_samples) % 2
    shape, target_names, words = PLANE_KINDS[kind](y, rng)
    X = _with_noise(shape, noise, n_noise_features, rng)
    return Dataset(
        X,
        y,
        target_names=target_names,
        name=f"noisy plane: {kind}",
        description=f"{words} in the first two features{_scatter_words(noise)}.{_noise_words(n_noise_features)}",
    )


def make_spirals(
    n_classes: int = 2,
    n_per_class: int = 500,
    turns: float = 1.5,
    noise: float = 0.02,
    n_noise_features: int = 0,
    *,
    random_state: Any = None,
) -> Dataset:
    """Spiral arms wound around each other, one class each.

    Arm k holds the points of radius 0.15 + 0.85 t and angle 2π (turns · t + k / n_classes) with t = √u, u ~ U(0, 1).

    Parameters
    ----------
    n_classes : int ≥ 2
        Number of arms.
    n_per_class : int ≥ 1
        Points on each arm.
    turns : float > 0
        How often an arm winds around the centre.
    noise : float ≥ 0
        Standard deviation of Gaussian jitter on both coordinates.
    n_noise_features : int ≥ 0
        Further columns drawn from U(−1, 1).
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_classes · n_per_class rows, 2 + n_noise_features columns.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    _at_least("n_classes", n_classes, 2)
    _at_least("n_per_class", n_per_class, 1)
    if not (np.isfinite(turns) and turns > 0):
        raise ValueError(f"turns must be greater than 0, got {turns!r}")
    rng = np.random.default_rng(random_state)
    y = np.arange(n_classes * n_per_class) % n_classes
    along = np.sqrt(rng.uniform(size=len(y)))
    radius = 0.15 + 0.85 * along
    angle = 2 * np.pi * (turns * along + y / n_classes)
    shape = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X = _with_noise(shape, noise, n_noise_features, rng)
    return Dataset(
        X,
        y,
        target_names=[f"arm {k + 1}" for k in range(n_classes)],
        name="spirals",
        description=(
            f"{n_classes} spiral arms, {turns:g} {'turn' if turns == 1 else 'turns'} each{_scatter_words(noise)}."
            f"{_noise_words(n_noise_features)}"
        ),
    )


def make_blobs(
    n_classes: int = 3,
    n_samples: int = 300,
    n_features: int = 2,
    noise: float = 0.15,
    n_noise_features: int = 0,
    *,
    random_state: Any = None,
) -> Dataset:
    """Round Gaussian clouds, one class each, around centres drawn from U(−1, 1).

    Parameters
    ----------
    n_classes : int ≥ 2
        Number of clouds.
    n_samples : int ≥ n_classes
        Rows, shared out evenly.
    n_features : int ≥ 1
        Dimension of the clouds.
    noise : float ≥ 0
        Standard deviation of every cloud along each axis.
    n_noise_features : int ≥ 0
        Further columns drawn from U(−1, 1).
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, n_features + n_noise_features columns.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    from sklearn import datasets

    _at_least("n_classes", n_classes, 2)
    _at_least("n_samples", n_samples, n_classes)
    _at_least("n_features", n_features, 1)
    rng = np.random.default_rng(random_state)
    centres = rng.uniform(-1, 1, (n_classes, n_features))
    seed = int(rng.integers(2**31))
    clouds, y = datasets.make_blobs(n_samples, centers=centres, cluster_std=_checked_noise(noise), random_state=seed)
    X = _with_noise(clouds, 0, n_noise_features, rng)
    return Dataset(
        X,
        y,
        name="blobs",
        target_names=[f"blob {k + 1}" for k in range(n_classes)],
        description=f"{n_classes} Gaussian clouds of standard deviation {noise:g}.{_noise_words(n_noise_features)}",
    )


def make_noise(n_samples: int = 200, n_features: int = 200, n_classes: int = 3, *, random_state: Any = None) -> Dataset:
    """Rows from N(0, 1) in every column, with classes that have nothing to do with them.

    No classifier has an error below 1 - 1 / n_classes on new rows.

    Parameters
    ----------
    n_samples : int ≥ n_classes
        Rows, shared out evenly among the classes.
    n_features : int ≥ 1
        Columns.
    n_classes : int ≥ 2
        Number of classes.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, n_features columns.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    _at_least("n_classes", n_classes, 2)
    _at_least("n_samples", n_samples, n_classes)
    _at_least("n_features", n_features, 1)
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples) % n_classes)
    return Dataset(
        rng.standard_normal((n_samples, n_features)),
        y,
        name="noise",
        target_names=[f"class {k + 1}" for k in range(n_classes)],
        description=f"Noise in {n_features} features; the {n_classes} classes have nothing to do with it.",
    )


def make_zigzag(n_samples: int = 600, *, random_state: Any = None) -> Dataset:
    """Two classes on either side of a zigzag line of three straight pieces.

    x1 ~ U(−3, 3); h(x1) interpolates (−3, −1.5), (−1, 1.5), (1, −1.5), (3, 1.5); s = ±1 equiprobable;
    x2 = h + s (0.2 + Exp(mean 0.6)).  The class is the sign s.  No straight line separates them, three local ones do.

    Parameters
    ----------
    n_samples : int ≥ 2
        Rows.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, 2 columns, 2 classes.

    Raises
    ------
    ValueError
        If `n_samples` is out of its range.
    """
    _at_least("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_state)
    first = rng.uniform(-3.0, 3.0, n_samples)
    side = rng.choice([-1.0, 1.0], n_samples)
    side[:2] = -1.0, 1.0  # both classes, however few rows
    height = np.interp(first, ZIGZAG_KNOTS, ZIGZAG_HEIGHTS)
    second = height + side * (ZIGZAG_GAP + rng.exponential(ZIGZAG_MEAN_DISTANCE, n_samples))
    return Dataset(
        np.column_stack([first, second]),
        (side > 0).astype(int),
        target_names=("below", "above"),
        name="zigzag",
        description="Two classes on either side of a zigzag line of three straight pieces.",
    )


def make_gauss4(n_samples: int = 1200, *, random_state: Any = None) -> Dataset:
    """Two overlapping classes of two Gaussian clouds each; a line per region comes close to the best boundary.

    Means (−3, 1), (1, 1) against (−1, −2.2), (3, −2.2); variances (0.8, 2) against (0.8, 4); equal priors.  No
    classifier has an error below about 10.4 % on new rows.

    Parameters
    ----------
    n_samples : int ≥ 4
        Rows, shared out evenly among the four clouds.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        n_samples rows, 2 columns, 2 classes.

    Raises
    ------
    ValueError
        If `n_samples` is out of its range.
    """
    _at_least("n_samples", n_samples, 4)
    rng = np.random.default_rng(random_state)
    cloud = rng.permutation(np.arange(n_samples) % 4)
    spread = np.sqrt(GAUSS4_VARIANCES)[cloud]
    return Dataset(
        np.array(GAUSS4_MEANS)[cloud] + spread * rng.standard_normal((n_samples, 2)),
        cloud // 2,
        target_names=("upper clouds", "lower clouds"),
        name="four Gaussians",
        description="Two overlapping classes of two Gaussian clouds each, shifted against each other.",
    )


def make_curved_sheet(
    n_samples: int = 400,
    n_features: int = 40,
    noise: float = 1.0,
    label_share: float = 0.05,
    *,
    random_state: Any = None,
) -> Dataset:
    """Bend a square sheet into many dimensions, under noise; few rows are labelled.

    u1, u2 ~ U(-1, 1) become u1, u2, u1² - 1/3, u1 u2, u2² - 1/3, each of standard deviation 1, mixed into `n_features`
    columns by Gaussian weights (those of the quadratic ones times 0.7); the columns are scaled to standard deviation 1
    and noise is added.  The target is u1 / 2 + u1 u2.  An illustration built in favour of SNF of degree 2: sheet and
    target are exactly of that degree.

    Parameters
    ----------
    n_samples : int ≥ 4
        Rows.
    n_features : int ≥ 1
        Columns.
    noise : float ≥ 0
        Standard deviation of the Gaussian noise on every column.
    label_share : float in (0, 1]
        Share of the rows that keeps its label, at least one; the others are NaN in `y` and known in `truth`.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset
        For regression; `truth` holds all targets.

    Raises
    ------
    ValueError
        If a parameter is out of its range.
    """
    _at_least("n_samples", n_samples, 4)
    _at_least("n_features", n_features, 1)
    noise = _checked_noise(noise)
    if not 0 < label_share <= 1:
        raise ValueError(f"label_share must be in (0, 1], got {label_share!r}")
    rng = np.random.default_rng(random_state)
    u = sheet_coordinates(n_samples, rng)
    first, second = u.T
    bent = np.column_stack([first, second, first**2 - 1 / 3, first * second, second**2 - 1 / 3])
    weights = rng.standard_normal((5, n_features))
    weights[2:] *= BEND
    X = (bent / bent.std(axis=0)) @ weights
    X = X / X.std(axis=0) + noise * rng.standard_normal((n_samples, n_features))
    truth = 0.5 * first + first * second
    y = np.full(n_samples, np.nan)
    labelled = rng.permutation(n_samples)[: max(1, round(label_share * n_samples))]
    y[labelled] = truth[labelled]
    return Dataset(
        X,
        y,
        target_names=("t",),
        task="regression",
        name="curved sheet",
        description=(
            f"A square sheet, bent quadratically into {n_features} features, "
            f"plus noise of standard deviation {noise:g}."
        ),
        truth=truth,
    )


def sheet_coordinates(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the flat coordinates u (n_samples, 2): the first numbers that `make_curved_sheet` draws from a seed."""
    return rng.uniform(-1, 1, (n_samples, 2))


def _with_noise(shape: np.ndarray, noise: float, n_noise_features: int, rng: np.random.Generator) -> np.ndarray:
    """Add jitter to the (n, d) shape and append noise features: (n, d + n_noise_features)."""
    _at_least("n_noise_features", n_noise_features, 0)
    jitter = _checked_noise(noise) * rng.standard_normal(shape.shape)
    extra = rng.uniform(-1, 1, (n_noise_features, len(shape))).T
    return np.column_stack([shape + jitter, extra])


def _checked_noise(noise: float) -> float:
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a number of at least 0, got {noise!r}")
    return noise


def _scatter_words(noise: float) -> str:
    """Say how far points are scattered, if they are."""
    return f", scattered with standard deviation {noise:g}" if noise else ""


def _noise_words(n_noise_features: int) -> str:
    """Say in a sentence how many features are noise, if there are any."""
    if n_noise_features == 0:
        return ""
    features = "One more feature holds" if n_noise_features == 1 else f"{n_noise_features} more features hold"
    return f" {features} noise between −1 and 1."


def _at_least(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
