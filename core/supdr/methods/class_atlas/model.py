"""What an atlas consists of: gate, charts, a neighbour map, and the features in which the map is linear.

z(x) = s sum_k q_k(x) (c_k + A_k phi_k(x)) + (1 - s) g(x),   q_k = p_k^tau / sum_l p_l^tau
Psi_i = [q_i1, .., q_iK, q_ik phi_ik ..],   Z = s Psi Theta + (1 - s) G,   Theta = [c_1; ..; c_K; A_k']

s is the separation: with 1 classes are parted and g is not computed, with 0 the map is g, a neighbour embedding of all
rows that knows no classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from supdr.methods.class_atlas.affinities import OTHER_CLASS
from supdr.methods.class_atlas.charts import Charts, SharedClass, fit_charts
from supdr.methods.class_atlas.foreign_gate import ForeignGate, fit_foreign_gate, rows_of
from supdr.methods.class_atlas.gate import RAREST, Gate, fit_gate
from supdr.methods.class_atlas.landmarks import stratified_rows
from supdr.solvers.span import Span, span_of

Array = NDArray[np.float64]


class Atlas(NamedTuple):
    """What is fitted before the map is learnt.

    proba (n, K): p of all training rows; labelled ones without their own label.
    rows (s,): training rows that are landmarks.
    believed (n, K): the same with their own labels, as far as these are believed, see `believed`.
    members (s,): class of the chart of each: its label, or the most probable class.
    gate_error: share of labelled rows whose most probable class is not theirs.
    span: of wide data: gate and charts see rows in their own span.
    neighbours: g; None where the separation is 1.
    """

    gate: Gate | ForeignGate
    charts: Charts
    proba: Array
    believed: Array
    rows: NDArray
    members: NDArray
    gate_error: float
    span: Span | None
    neighbours: Charts | None = None

    @property
    def n_columns(self) -> int:
        """D, columns of the rows."""
        return self.charts.rows.shape[1] if self.span is None else len(self.span.shift)

    def probabilities(self, X: Array) -> Array:
        """Return p (n, K) of new rows (n, D)."""
        return self.gate.probabilities(X if isinstance(self.gate, ForeignGate) else self.seen(X))

    def seen(self, X: Array) -> Array:
        """Return rows (n, D) as gate and charts see them."""
        return X if self.span is None else self.span.apply(X)

    def image(self, X: Array, theta: Array, tau: float, separation: float, proba: Array | None = None) -> Array:
        """Return z (n, d) of rows (n, D), by their own probabilities (n, K) unless others are given."""
        proba, rows = self.probabilities(X) if proba is None else proba, self.seen(X)
        by_class = self.features(self.charts.coordinates(rows), proba, tau) @ theta
        if self.neighbours is None:
            return by_class
        shared = self.shared_class(sharpened(proba, tau), separation)
        return separation * by_class + (1.0 - separation) * self.neighbours.coordinates(rows, shared=shared)

    def class_image(self, X: Array, theta: Array, tau: float) -> Array:
        """Return the part of z (n, d) that the charts of the classes make, Psi Theta."""
        return self.features(self.charts.coordinates(self.seen(X)), self.probabilities(X), tau) @ theta

    def shared_class(self, q: Array, separation: float) -> SharedClass | None:
        """Return how far rows have the class of a landmark, by weights of charts (n, K); None at separation 0."""
        if separation == 0.0:
            return None
        return SharedClass(q, self.believed[self.rows], OTHER_CLASS**separation)

    def features(self, coordinates: Array, proba: Array, tau: float) -> Array:
        """Return Psi (n, p) of rows with these coordinates in all charts (n, a) and these probabilities (n, K)."""
        q = sharpened(proba, tau)
        return np.hstack([q, q[:, self.charts.classes] * coordinates])


def sharpened(proba: Array, tau: float) -> Array:
    """Return q (n, K) of p (n, K)."""
    return softmax(tau * np.log(np.maximum(proba, np.finfo(float).tiny)), axis=1)


def believed(proba: Array, codes: NDArray, error: float) -> Array:
    """Return class probabilities of rows with their own labels: p_k P(label | k) / sum_l p_l P(label | l).

    A label is that of the row's class with probability 1 - `error`, the share of labels that the gate does not expect:
    where labels are noise they say nothing, where the gate is right they say all.
    """
    n_classes, rows = proba.shape[1], np.flatnonzero(codes >= 0)
    if n_classes == 1:
        return proba
    other = max(error / (n_classes - 1), RAREST)
    posterior = proba.copy()
    posterior[rows] *= other
    posterior[rows, codes[rows]] *= max((1.0 - error) / other, 1.0)
    return posterior / posterior.sum(axis=1, keepdims=True)


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
    gate_metadata: Mapping[str, NDArray] | None = None,
) -> Atlas:
    """Fit gate and charts to all training rows X (n, D) with classes `codes` (n,), -1 where unlabelled."""
    labelled = codes >= 0
    span, columns = span_of(X) or (None, X)
    inputs = X if gate is not None else columns  # a classifier that was given sees the columns
    fitted_gate: Gate | ForeignGate
    if gate is None:
        fitted_gate, left_out = fit_gate(part_of(inputs, labelled), codes[labelled], n_classes, n_landmarks, seed)
    else:
        metadata = rows_of(gate_metadata or {}, labelled)
        rows_in = part_of(inputs, labelled)
        fitted_gate, left_out = fit_foreign_gate(rows_in, codes[labelled], n_classes, gate, seed, metadata)
    proba = np.empty((len(X), n_classes))
    proba[labelled] = left_out
    if not labelled.all():
        proba[~labelled] = fitted_gate.probabilities(inputs[~labelled])
    members = np.where(labelled, codes, proba.argmax(axis=1))
    rows = stratified_rows(members, n_landmarks, np.random.default_rng([seed, 4]))
    landmarks = columns if len(rows) == len(X) else np.ascontiguousarray(columns[rows])
    fitted = fit_charts(landmarks, members[rows], n_classes, n_components, charts, n_pcs, n_neighbors)
    error = float((left_out.argmax(axis=1) != codes[labelled]).mean())
    with_labels = believed(proba, codes, error)
    return Atlas(fitted_gate, fitted, proba, with_labels, rows, members[rows], error, span)


def part_of(X: Array, rows: NDArray) -> Array:
    """Return these rows (bool) of X, X itself if these are all."""
    return X if rows.all() else np.ascontiguousarray(X[rows])
