"""How the places of new rows move with the columns of ClassAtlas.

    z = s sum_k q_k (c_k + A_k phi_k) + (1 - s) g
    dz = s sum_k (q_k A_k dphi_k + (c_k + A_k phi_k) dq_k) + (1 - s) dg
    dq_k = tau q_k (da_k - sum_l q_l da_l),   a: the gate's scores, p = softmax(a)

phi_k of an embedded class, and g among all landmarks, is a mean of the places z_j of those landmarks r_j that are near
x, with weights v_j of their squared distances s_j: v_j = exp(-s_j / s_1), and then, over and over,
w_j = v_j / (1 + spread^2 |phi - z_j|^2).  Its derivative follows these steps; which landmarks are nearest does not
change with x but at places of measure 0.  At a landmark the mean stays where it is.  What is derived is
`supdr.methods.class_atlas.model.Atlas.image`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.methods.class_atlas.affinities import squared_distances
from supdr.methods.class_atlas.charts import CARRYING_STEPS, Charts, SharedClass, distances_by_class
from supdr.methods.class_atlas.foreign_gate import ForeignGate
from supdr.methods.class_atlas.gate import Gate
from supdr.methods.class_atlas.model import Atlas, sharpened
from supdr.solvers.span import Span

Array = NDArray[np.float64]


def image_derivative(atlas: Atlas, X: Array, theta: Array, tau: float, separation: float) -> Array | None:
    """Return dz / dx (n, d, D) at preprocessed rows (n, D) by the map `theta` (p, d); None for a given classifier."""
    if isinstance(atlas.gate, ForeignGate):
        return None
    rows, charts = atlas.seen(X), atlas.charts
    q, phi = sharpened(atlas.gate.probabilities(rows), tau), charts.coordinates(rows)
    scores = _score_slopes(atlas.gate, rows)
    d_q = tau * q[:, :, None] * (scores - np.einsum("nk,nkr->nr", q, scores)[:, None, :])
    centres, maps = theta[: q.shape[1]], theta[q.shape[1] :]
    placed = np.tile(centres, (len(X), 1, 1))  # c_k + A_k phi_k, (n, K, d)
    np.add.at(placed.transpose(1, 0, 2), charts.classes, (phi[:, :, None] * maps).transpose(1, 0, 2))
    derivative = np.einsum("nkd,nkr->ndr", placed, d_q)
    derivative += np.einsum("na,ad,nar->ndr", q[:, charts.classes], maps, _chart_slopes(charts, rows), optimize=True)
    if atlas.neighbours is not None:
        slopes = _carried_slopes(atlas.neighbours, 0, rows, atlas.shared_class(q, separation), d_q)
        derivative = separation * derivative + (1.0 - separation) * slopes
    return derivative if atlas.span is None else _in_columns(derivative, atlas.span, X)


def _score_slopes(gate: Gate, rows: Array) -> Array:
    """Return da / dx (n, K, r) of the gate's scores."""
    codes = gate.mapping.derivative(rows, gate.coef)
    return np.einsum("kl,nkr->nlr", gate.calibration, codes) + gate.linear.T


def _chart_slopes(charts: Charts, rows: Array) -> Array:
    """Return dphi / dx (n, a + e d, r) of all coordinates."""
    linear = np.tile(charts.axes.T, (len(rows), 1, 1))
    carried = [_carried_slopes(charts, number, rows) for number in range(len(charts.embedded))]
    return np.concatenate([linear, *carried], axis=1)


def _carried_slopes(
    charts: Charts, number: int, rows: Array, shared: SharedClass | None = None, d_q: Array | None = None
) -> Array:
    """Return dphi_k / dx (n, d, r) of one embedded class; `d_q` (n, K, r): dq / dx, needed with `shared`."""
    own = np.flatnonzero(charts.members == charts.embedded[number])
    squares, count = squared_distances(rows, charts.rows[own]), charts.n_neighbors
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :count]
    if shared is None or d_q is None:
        slopes = 2.0 * (rows[:, None, :] - charts.rows[own][nearest])
    else:
        share, unit = shared.of(slice(None)), np.take_along_axis(squares, nearest, axis=1).mean(axis=1)
        d_unit = 2.0 * (rows - charts.rows[own][nearest].mean(axis=1))
        squares = distances_by_class(squares, share, count)
        nearest = np.argsort(squares, axis=1, kind="stable")[:, :count]
        share = np.take_along_axis(share, nearest, axis=1)[:, :, None]
        d_share = (1.0 - shared.other_class) * shared.landmarks[nearest] @ d_q
        slopes = 2.0 * (rows[:, None, :] - charts.rows[own][nearest])
        slopes -= np.log(share) * d_unit[:, None, :] + unit[:, None, None] / share * d_share
    s, places = np.take_along_axis(squares, nearest, axis=1), charts.places[own][nearest]
    return _mean_slopes(s, places, charts.spreads[number]) @ slopes


def _mean_slopes(s: Array, places: Array, spread: float) -> Array:
    """Return dphi / ds (n, d, m) of the mean of places (n, m, d), from squared distances s (n, m), nearest first."""
    v, d_v = _weight_slopes(s)
    mean, d_mean = _weighted_mean(v, d_v, places)
    for _ in range(CARRYING_STEPS - 1):
        offset = mean[:, None, :] - places
        closeness = 1.0 / (1.0 + spread**2 * (offset**2).sum(axis=2))
        d_closeness = (-2.0 * spread**2 * closeness[:, :, None] ** 2 * offset) @ d_mean
        d_w = d_v * closeness[:, :, None] + v[:, :, None] * d_closeness
        mean, d_mean = _weighted_mean(v * closeness, d_w, places)
    return d_mean


def _weight_slopes(s: Array) -> tuple[Array, Array]:
    """Return v (n, m) and dv / ds (n, m, m)."""
    at_landmark = s[:, :1] == 0.0
    first = np.where(at_landmark, 1.0, s[:, :1])
    v = np.where(at_landmark, s == 0.0, np.exp(-s / first))
    slopes = -(v / first)[:, :, None] * np.eye(s.shape[1])
    slopes[:, :, 0] += v * s / first**2
    return v, np.where(at_landmark[:, :, None], 0.0, slopes)


def _weighted_mean(w: Array, slopes: Array, places: Array) -> tuple[Array, Array]:
    """Return the mean (n, d) of places and its derivative (n, d, m), from weights (n, m) and theirs (n, m, m)."""
    total = w.sum(axis=1)[:, None]
    mean = (w[:, None, :] @ places)[:, 0] / total
    return mean, (places - mean[:, None, :]).transpose(0, 2, 1) @ slopes / total[:, :, None]


def _in_columns(derivative: Array, span: Span, X: Array) -> Array:
    """Return derivatives (n, d, D) of derivatives (n, d, r + 1) in the coordinates of the rows' span."""
    centred, in_span = X - span.shift, span.apply(X)
    beyond = in_span[:, -1:]
    outwards = (centred - in_span[:, :-1] @ span.directions.T) / np.where(beyond > 0.0, beyond, np.inf)
    return derivative[:, :, :-1] @ span.directions.T + derivative[:, :, -1:] * outwards[:, None, :]
