"""Room for the charts: what it costs a picture that its charts are specks, far from each other.

    E_room = rho log(1 + max(0, u F^(1/d) - 1)^2),   u^d = (mean_k |c_k - c|^2 / r^2)^(d/2) / K
    rho = max(0, 1 - e / e_0)
    log r^2 = mean_k log r_k^2,   r_k^2 = mean over rows of class k of |A_k phi_k|^2 = tr(A_k M_k A_k')

c is the mean of the centres.  u^-d is the share of its ball, in the plane of its area, that a layout fills: K balls
of spread r in a ball that has the spread of the centres.  Two balls that touch, and seven in a hexagon, have u = 1.
A layout that fills F of its ball or more costs nothing.  u has no unit: a larger picture has no more room.

e is the share of rows that the gate classifies wrongly without their labels.  Where it is e_0 or more, classes have
neighbours in each other: these hold the charts together, and nearer charts would only mix them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# e_0: with so many errors of the gate, charts get no room from this term.
UNSURE = 0.1

# F: charts that fill this share of their layout have room.
FILLED = 0.5

# A chart that is a point has this spread r_k.
POINT = 0.1


def second_moments(coordinates: Array, members: NDArray, owners: NDArray) -> Array:
    """Return the mean of phi_k phi_k' over the rows of each class, (a, a); 0 between coordinates of two classes."""
    moments = np.zeros((len(owners), len(owners)))
    for k in np.unique(owners):
        chart = np.flatnonzero(owners == k)
        phi = coordinates[np.ix_(members == k, chart)]
        moments[np.ix_(chart, chart)] = phi.T @ phi / len(phi)
    return moments


def room(centres: Array, maps: Array, moments: Array, owners: NDArray, gate_error: float) -> tuple[float, Array]:
    """Return E_room and its slopes (K + a, d), by the `centres` (K, d), then by the `maps` A' (a, d).  O(a^2 d)."""
    (n_classes, d), slopes = centres.shape, np.zeros((len(centres) + len(maps), centres.shape[1]))
    weight = 1.0 - gate_error / UNSURE
    if n_classes < 2 or not len(maps) or weight <= 0.0:
        return 0.0, slopes
    by_maps = moments @ maps
    charted = np.bincount(owners, minlength=n_classes) > 0
    squares = POINT**2 + np.bincount(owners, (maps * by_maps).sum(axis=1), n_classes)
    from_middle = centres - centres.mean(axis=0)
    spread = float((from_middle**2).sum())
    u = math.sqrt(spread / n_classes / math.exp(np.log(squares[charted]).mean())) / n_classes ** (1.0 / d)
    excess = u * FILLED ** (1.0 / d) - 1.0
    if excess <= 0.0:
        return 0.0, slopes
    by_log_u = weight * 2.0 * excess * (1.0 + excess) / (1.0 + excess**2)
    slopes[:n_classes] = by_log_u / spread * from_middle
    slopes[n_classes:] = -by_log_u / charted.sum() / squares[owners][:, None] * by_maps
    return weight * math.log1p(excess**2), slopes
