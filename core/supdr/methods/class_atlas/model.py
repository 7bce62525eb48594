"""What an atlas consists of: gate, charts, and the features in which the map is linear.

z(x) = sum_k q_k(x) (c_k + A_k phi_k(x)),   q_k = p_k^tau / sum_l p_l^tau
Psi_i = [q_i1, .., q_iK, q_ik phi_ik ..],   Z = Psi Theta,   Theta = [c_1; ..; c_K; A_k']
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from supdr.methods.class_atlas.charts import Charts, fit_charts
from supdr.methods.class_atlas.foreign_gate import ForeignGate, fit_foreign_gate
from supdr.methods.class_atlas.gate import Gate, fit_gate
from supdr.methods.class_atlas.landmarks import stratified_rows

Array = NDArray[np.float64]


class Atlas(NamedTuple):
    """What is fitted before the map is learnt.

    Attributes
    ----------
    gate : Gate or ForeignGate
    charts : Charts
    proba : array of shape (n, K)
        p of all training rows; labelled ones without their own label.
    rows : int array of shape (s,)
        Training rows that are landmarks.
    members : int array of shape (s,)
        Class of the chart of each: its label, or the most probable class.
    gate_error : float
        Share of labelled rows whose most probable class is not theirs.
    """

    gate: Gate | ForeignGate
    charts: Charts
    proba: Array
    rows: NDArray
    members: NDArray
    gate_error: float

    def features(self, X: Array, proba: Array, tau: float, *, own: bool = False) -> Array:
        """Return Psi (n, p) of rows (n, D) with probabilities (n, K); see `Charts.coordinates` for `own`."""
        q = sharpened(proba, tau)
        return np.hstack([q, q[:, self.charts.classes] * self.charts.coordinates(X, own=own)])


def sharpened(proba: Array, tau: float) -> Array:
    """Return q (n, K) of p (n, K)."""
    return softmax(tau * np.log(np.maximum(proba, np.finfo(float).tiny)), axis=1)


def fit_atlas(
    X: Array,
    codes: NDArray,
    n_classes: int,
    n_components: int,
    *,
    charts: str,
    n_pcs: int,
    n_neighbors: int,
    n_landmarks: int,
    seed: int,
    gate: Any = None,
) -> Atlas:
    """Fit gate and charts.

    Parameters
    ----------
    X : array of shape (n, D)
        All training rows.
    codes : int array of shape (n,)
        Their classes, -1 where unlabelled.
    n_classes, n_components : int
        K and d.
    charts, n_pcs, n_neighbors
        See `fit_charts`.
    n_landmarks : int
        Most centres of the gate, and most rows of charts and map.
    seed : int
    gate : classifier, optional
        Instead of our own.
    """
    labelled = codes >= 0
    known = X if labelled.all() else np.ascontiguousarray(X[labelled])
    fitted_gate: Gate | ForeignGate
    if gate is None:
        fitted_gate, left_out = fit_gate(known, codes[labelled], n_classes, n_landmarks, seed)
    else:
        fitted_gate, left_out = fit_foreign_gate(known, codes[labelled], n_classes, gate, seed)
    proba = np.empty((len(X), n_classes))
    proba[labelled] = left_out
    if not labelled.all():
        proba[~labelled] = fitted_gate.probabilities(X[~labelled])
    members = np.where(labelled, codes, proba.argmax(axis=1))
    rows = stratified_rows(members, n_landmarks, np.random.default_rng([seed, 4]))
    landmarks = X if len(rows) == len(X) else np.ascontiguousarray(X[rows])
    fitted = fit_charts(landmarks, members[rows], n_classes, n_components, charts, n_pcs, n_neighbors)
    error = float((left_out.argmax(axis=1) != codes[labelled]).mean())
    return Atlas(fitted_gate, fitted, proba, rows, members[rows], error)
