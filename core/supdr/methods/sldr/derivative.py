"""How the latent rows of SLDR move with the columns.

z_m = eta_m(x) W_m'x^m,   dz_m / dx = eta_m W_m' + W_m'x^m (d eta_m / dx)'
d eta_m / dx = eta_m (s_m - sum_p eta_p s_p),   s_m = T V_m: the slope of gate m
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supdr.engine.view_layout import Layout
from supdr.methods.sldr.model import Point


def gated_derivative(X: NDArray, point: Point, projections: Sequence[NDArray], layout: Layout) -> NDArray:
    """Return dz / dx (n, sum of R_m, r) at preprocessed rows (n, r).

    `point`: the gate; `projections` (D_m, R_m): W_m; `layout`: which columns each view and the gate see.
    """
    gating, n_columns = layout.gating_columns(X), X.shape[1]
    eta = point.gate(gating)
    steep = np.zeros((eta.shape[1], n_columns))
    weights = point.gate_weights if point.gate_projection is None else point.gate_weights @ point.gate_projection.T
    steep[:, layout.gating] = weights * layout.gating_scale
    d_eta = eta[:, :, None] * (steep - (eta @ steep)[:, None, :])  # (n, P, r)
    parts = []
    for m, (view, W) in enumerate(zip(layout.views(X), projections)):
        own = np.zeros((W.shape[1], n_columns))
        own[:, layout.groups[layout.which[m]]] = W.T * layout.scales[layout.which[m]]
        parts.append(eta[:, m, None, None] * own + (view @ W)[:, :, None] * d_eta[:, m, None, :])
    return np.concatenate(parts, axis=1)
