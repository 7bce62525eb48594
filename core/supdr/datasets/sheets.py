"""A curved sheet in noise: data that lie near a bent two-dimensional surface."""

from __future__ import annotations

from typing import Any

import numpy as np

from supdr.datasets.dataset import Dataset
from supdr.datasets.generators import _at_least, _checked_noise

# Strength of the quadratic part of the sheet beside the linear part.
BEND = 0.7


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
            f"A square sheet, bent quadratically into {n_features} columns, noise {noise:g}; "
            f"{len(labelled)} of {n_samples} rows are labelled."
        ),
        truth=truth,
    )


def sheet_coordinates(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the flat coordinates u (n_samples, 2): the first numbers that `make_curved_sheet` draws from a seed."""
    return rng.uniform(-1, 1, (n_samples, 2))
