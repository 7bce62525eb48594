"""SLDR's model without its training: gate, local projections, decisions; and the projections in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from supdr.engine.column_groups import Views
from supdr.engine.interruption import checkpoint
from supdr.engine.view_layout import Layout
from supdr.functions.kernels import Kernel

# New rows scored at a time.
PORTION = 2048


class Point(NamedTuple):
    """What is learnt beside the multipliers.

    gate_projection (D_G, R_G): T; None: the gate sees its columns as they are.
    gate_weights (P, R_G): V.
    gate_offset (P,): v0.
    projections (D_m, R_m): W_m; empty where they follow from the multipliers (`closed_form_projections`).
    """

    gate_projection: NDArray | None
    gate_weights: NDArray
    gate_offset: NDArray
    projections: tuple[NDArray, ...]

    def gating(self, X: NDArray) -> NDArray:
        """Return Z_G = X T (n, R_G) of gating columns X (n, D_G)."""
        return X if self.gate_projection is None else X @ self.gate_projection

    def logits(self, X: NDArray) -> NDArray:
        """Return V Z_G + v0 (n, P) of gating columns X (n, D_G)."""
        return self.gating(X) @ self.gate_weights.T + self.gate_offset

    def gate(self, X: NDArray) -> NDArray:
        """Return eta (n, P), rows that sum to 1, of gating columns X (n, D_G)."""
        logits = self.logits(X)
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        return logits

    def local(self, views: Views) -> Views:
        """Return Z_m = X_m W_m, (n, R_m) each; X_m itself where W_m follows from the multipliers."""
        if not self.projections:
            return views
        return tuple(X @ W for X, W in zip(views, self.projections))


@dataclass(frozen=True)
class GatedModel:
    """f_k(x) = sum_m eta_m(x) sum_i a_imk k(z_i^m, z^m) + b_k,  a_imk = alpha_ik y_ik eta_im; z_i support vectors."""

    kernel: Kernel
    point: Point
    support: Views
    weights: tuple[NDArray, ...]
    bias: NDArray

    def normals(self) -> tuple[NDArray, ...]:
        """Return w_m = Z_m'a_m, (R_m, K) each: the local hyperplanes of the linear kernel.

        No support vector has to be kept for it; the paper's count of stored ones does not apply to that kernel.
        """
        return tuple(Z.T @ a for Z, a in zip(self.support, self.weights))

    def lengths(self) -> NDArray:
        """Return |w_m| (P,) over all heads; |g_m| where W_m follows from the multipliers."""
        if self.kernel.name == "linear":
            return np.array([np.linalg.norm(normal) for normal in self.normals()])
        squares = [float((a * (self.kernel.matrix(Z) @ a)).sum()) for Z, a in zip(self.support, self.weights)]
        return np.sqrt(np.maximum(squares, 0.0))

    def scores(self, views: Views, gating: NDArray) -> NDArray:
        """Return f (n, K) of rows given by their views and gating columns."""
        scores = np.tile(self.bias, (len(gating), 1))
        normals = self.normals() if self.kernel.name == "linear" else ()
        for start in range(0, len(gating), PORTION):
            checkpoint()
            rows = slice(start, start + PORTION)
            gate = self.point.gate(gating[rows])
            for m, Z in enumerate(self.point.local(tuple(X[rows] for X in views))):
                response = Z @ normals[m] if normals else self.kernel.matrix(Z, self.support[m]) @ self.weights[m]
                scores[rows] += gate[:, m, None] * response
        return scores

    def scores_of_winners(self, local: Views) -> NDArray:
        """Return f (n, K) of projected rows (n, R_m), each read by the local model in which it is longest, alone."""
        winner = np.argmax([np.einsum("ij,ij->i", Z, Z) for Z in local], axis=0)
        scores = np.tile(self.bias, (len(winner), 1))
        for m, Z in enumerate(local):
            rows = np.flatnonzero(winner == m)
            scores[rows] += self.kernel.matrix(Z[rows], self.support[m]) @ self.weights[m]
        return scores


def closed_form_projections(pulls: tuple[NDArray, ...], views: Views, gate: NDArray, sizes: tuple[int, ...]) -> Views:
    """Return the W_m (D_m, R_m) that minimise J for the linear kernel and given gate (n, P) and pulls g_m (D_m, K).

    J depends on W_m only through the share of g_m = X_m'a_m that its columns span: the first is g_m / |g_m|, of several
    heads they are the leading left singular vectors of all g_mk.  Columns left over are principal directions of the
    rows weighted by eta_m, orthogonal to these.
    """
    projections = []
    for m, (pull, X, size) in enumerate(zip(pulls, views, sizes)):
        checkpoint()
        left, singular, _ = np.linalg.svd(pull, full_matrices=False)
        rank = int((singular > 1e-12 * max(singular[0], 1e-300)).sum()) if singular[0] > 0.0 else 0
        first = left[:, : min(rank, size)]
        # The sign of a singular vector is arbitrary: each points the way its heads pull.
        turn = np.sign((first.T @ pull).sum(axis=1))
        first = first * np.where(turn < 0.0, -1.0, 1.0)
        if first.shape[1] < size:
            rest = _gated_directions(X, gate[:, m], first, size - first.shape[1])
            first = np.column_stack([first, rest])
        projections.append(np.ascontiguousarray(first))
    return tuple(projections)


def _gated_directions(X: NDArray, weight: NDArray, basis: NDArray, n_directions: int) -> NDArray:
    """Return the leading principal directions of rows weighted by `weight`, orthogonal to the columns of `basis`."""
    mean = weight @ X / weight.sum() if weight.sum() > 0.0 else X.mean(axis=0)
    rows = (X - mean) * np.sqrt(weight)[:, None]
    rows -= (rows @ basis) @ basis.T
    n_rows, n_columns = rows.shape
    if n_columns > n_rows:
        vectors = np.linalg.svd(rows, full_matrices=False)[2][:n_directions].T
    else:
        vectors = eigh(rows.T @ rows, subset_by_index=(n_columns - n_directions, n_columns - 1))[1][:, ::-1]
    if vectors.shape[1] < n_directions:
        vectors = np.column_stack([vectors, np.eye(n_columns, n_directions - vectors.shape[1])])
    # The factor Q is orthonormal whatever the rest is worth: rows of a view that is not used may all weigh nothing.
    vectors = np.linalg.qr(np.column_stack([basis, vectors]))[0][:, basis.shape[1] :]
    peak = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None, :], axis=0)
    return vectors * np.where(peak < 0.0, -1.0, 1.0)


def gated_derivative(X: NDArray, point: Point, projections: Sequence[NDArray], layout: Layout) -> NDArray:
    """Return dz / dx (n, sum of R_m, r) at preprocessed rows (n, r), where z_m = eta_m(x) W_m'x^m.

    dz_m / dx = eta_m W_m' + W_m'x^m (d eta_m / dx)', d eta_m / dx = eta_m (s_m - sum_p eta_p s_p), s_m = T V_m: the
    slope of gate m.
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
