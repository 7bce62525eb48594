"""Toys in the plane whose classes are separated by a different line in every region."""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr.datasets.dataset import Dataset
from supdr.datasets.generators import _at_least

ZIGZAG_KNOTS = (-3.0, -1.0, 1.0, 3.0)
ZIGZAG_HEIGHTS = (-1.5, 1.5, -1.5, 1.5)
ZIGZAG_GAP = 0.2
ZIGZAG_MEAN_DISTANCE = 0.6

GAUSS4_MEANS = ((-3.0, 1.0), (1.0, 1.0), (-1.0, -2.2), (3.0, -2.2))
GAUSS4_VARIANCES = ((0.8, 2.0), (0.8, 2.0), (0.8, 4.0), (0.8, 4.0))


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
