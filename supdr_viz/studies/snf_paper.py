"""What tables 1 and 2 of SNF's paper report: mean squared errors with 5 and 10 per cent of the labels.

J. Grabocka, E. Bedalli, L. Schmidt-Thieme, "Supervised Nonlinear Factorizations Excel In Semi-supervised Regression".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

METHODS = ("LS-SVM", "Laplacian", "Hessian", "PFR", "LLR", "SNF")


class Signature(NamedTuple):
    """What tells a set: its size, constant columns left out, and its target, scaled to [-1, 1]."""

    rows: int
    columns: int
    mean: float
    deviation: float


TOLERANCE = 1e-3
"""Of the mean and the deviation of a target."""

# Set -> per cent of labels -> errors in the order of METHODS
_TABLES: dict[Signature, dict[int, tuple[float, ...]]] = {
    Signature(159, 15, -0.5773, 0.3914): {
        5: (0.075, 0.156, 0.102, 0.067, 0.09, 0.049),
        10: (0.051, 0.115, 0.084, 0.048, 0.062, 0.037),
    },  # autoprice
    Signature(337, 16, -0.6196, 0.4133): {
        5: (0.093, 0.131, 0.072, 0.082, 0.086, 0.073),
        10: (0.127, 0.092, 0.068, 0.08, 0.084, 0.072),
    },  # baseball
    Signature(54, 8, -0.357, 0.4945): {
        5: (0.205, 0.407, 0.399, 0.38, 0.292, 0.13),
        10: (0.16, 0.182, 0.202, 0.156, 0.067, 0.071),
    },  # bears
    Signature(252, 14, -0.1937, 0.3517): {
        5: (0.013, 0.081, 0.039, 0.019, 0.017, 0.008),
        10: (0.006, 0.058, 0.015, 0.008, 0.011, 0.003),
    },  # bodyfat
    Signature(517, 12, -0.9764, 0.1166): {
        5: (0.02, 0.014, 0.014, 0.014, 0.018, 0.014),
        10: (0.018, 0.015, 0.014, 0.014, 0.016, 0.014),
    },  # forestfires
    Signature(506, 13, -0.2208, 0.4084): {
        5: (0.087, 0.123, 0.104, 0.071, 0.11, 0.069),
        10: (0.067, 0.115, 0.095, 0.067, 0.071, 0.061),
    },  # boston_housing
    Signature(209, 6, -0.8258, 0.2805): {
        5: (0.061, 0.053, 0.027, 0.018, 0.03, 0.015),
        10: (0.03, 0.039, 0.041, 0.02, 0.024, 0.012),
    },  # machine_cpu
    Signature(392, 7, -0.2316, 0.4146): {
        5: (0.044, 0.074, 0.055, 0.052, 0.062, 0.041),
        10: (0.071, 0.062, 0.048, 0.038, 0.066, 0.04),
    },  # mpg
    Signature(74, 26, 0.3983, 0.3185): {
        5: (0.131, 0.106, 0.097, 0.101, 0.152, 0.102),
        10: (0.076, 0.086, 0.076, 0.069, 0.107, 0.076),
    },  # pyrimidines
    Signature(186, 58, 0.3797, 0.3932): {
        5: (0.191, 0.16, 0.165, 0.166, 0.196, 0.175),
        10: (0.265, 0.173, 0.162, 0.163, 0.169, 0.175),
    },  # triazines
    Signature(194, 32, -0.2591, 0.5554): {
        5: (0.608, 0.356, 0.356, 0.35, 0.429, 0.35),
        10: (0.624, 0.283, 0.287, 0.284, 0.344, 0.307),
    },  # wisconsin
}


def reported(X: NDArray, y: NDArray, share: float) -> dict[str, float]:
    """Return the errors that the paper reports.

    Parameters
    ----------
    X, y : arrays of shape (n, m), (n,)
        A set: columns that vary, a target scaled to [-1, 1].
    share : float
        Share of labels.

    Returns
    -------
    dict of str to float
        By method; empty for other sets and shares.
    """
    found = (y.mean(), y.std())
    for known, table in _TABLES.items():
        if X.shape == known[:2] and np.allclose(found, known[2:], rtol=0.0, atol=TOLERANCE):
            near = next((per_cent for per_cent in table if abs(100 * share - per_cent) < 1), None)
            return dict(zip(METHODS, table[near])) if near is not None else {}
    return {}
