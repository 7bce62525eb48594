"""Charts: coordinates of every class of its own, that any row can be given.

    phi_k(x) = principal coordinates of class k, divided by one length, and, if it has rows enough, places in a
               neighbour embedding of class k: a mean of those of the row's nearest rows of class k, the place z with
               z = sum_j w_j z_j / sum_j w_j,   w_j = exp(-d_j^2 / d_1^2) / (1 + |z - z_j|^2)

Where an embedding is torn a row's neighbours lie apart.  Their plain mean would be among strangers; this one is where
most of them are, by the affinities of the embedding itself.
A training row of class k is not among its own neighbours: training rows and new ones are placed by the same rule.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import abandonable, checkpoint
from supdr.methods.class_atlas.affinities import squared_distances
from supdr.methods.class_atlas.neighbours import Embedding, embedded, embedding_of, turn
from supdr.solvers.gaussians import rows_in_memory

Array = NDArray[np.float64]

CHARTS = ("pca+embed", "pca", "embed")

# Rows that a class needs for a neighbour embedding.
FEWEST_EMBEDDED = 12

EMBED_PERPLEXITY = 20.0

# Of the mean among a row's neighbours; the first is the plain one.
CARRYING_STEPS = 20

# Principal axes shorter than this share of the longest one are rounding.
SMALLEST_AXIS = 1e-9


class SharedClass(NamedTuple):
    """How far rows have the class of a landmark: s = e + (1 - e) sum_k q_k t_k.

    q (p, K): weights of the charts of the rows.
    landmarks (n, K): t, class probabilities of the landmarks, by their own labels too.
    other_class: e, s of two rows that certainly differ in class, in (0, 1]; with 1 classes have no part.
    """

    q: Array
    landmarks: Array
    other_class: float

    def of(self, rows: slice) -> Array:
        """Return s of some rows and all landmarks, (p, n)."""
        return self.other_class + (1.0 - self.other_class) * np.minimum(self.q[rows] @ self.landmarks.T, 1.0)


class Charts(NamedTuple):
    """x -> (phi_1, ..., phi_K).

    axes (D, a): principal axes of all classes, divided by the length of the class.
    origins (a,): means of the classes on these axes.
    owners (a,): class of each axis.
    rows (n, D): landmarks.
    members (n,): class of the chart that a landmark belongs to, -1 where that class is not embedded.
    places (n, d): its place in the embedding of its class, divided by.
    spreads (e,): the root mean square of those of its class.
    embedded (e,): classes that are embedded.
    n_neighbors: landmarks that carry a new row.
    """

    axes: Array
    origins: Array
    owners: NDArray
    rows: Array
    members: NDArray
    places: Array
    spreads: Array
    embedded: NDArray
    n_neighbors: int

    @property
    def classes(self) -> NDArray:
        """Class of every coordinate (a + e d,), principal ones first."""
        return np.concatenate([self.owners, np.repeat(self.embedded, self.places.shape[1])])

    def coordinates(self, X: Array, *, own: bool = False, shared: SharedClass | None = None) -> Array:
        """Return all coordinates (p, a + e d) of rows X (p, D), which may be the landmarks, each without itself."""
        linear = X @ self.axes - self.origins
        if not len(self.embedded):
            return linear
        d = self.places.shape[1]
        carried = np.empty((len(X), len(self.embedded), d))
        number = np.full(int(max(self.members.max(), self.embedded.max())) + 1, -1)
        number[self.embedded] = np.arange(len(self.embedded))
        members = np.where(self.members >= 0, number[self.members], -1)
        step = rows_in_memory(8 * len(self.rows))  # beside the rows themselves distances need little room
        for start in range(0, len(X), step):
            checkpoint()
            part = slice(start, start + step)
            squares = squared_distances(X[part], self.rows)
            first = start if own else -1
            if shared is not None:
                squares = distances_by_class(squares, shared.of(part), self.n_neighbors, first)
            _carry(squares, members, self.places, self.spreads, first, self.n_neighbors, carried[part])
        return np.hstack([linear, carried.reshape(len(X), -1)])


def fit_charts(
    X: Array, members: NDArray, n_classes: int, n_components: int, kind: str, n_pcs: int, n_neighbors: int
) -> Charts:
    """Fit the charts of all classes to landmarks X (n, D) with classes `members` (n,); few rows are not embedded."""
    axes, origins, owners, chosen = [np.zeros((X.shape[1], 0))], [np.zeros(0)], [], []
    belongs, places, spreads = np.full(len(X), -1), np.zeros((len(X), n_components)), []
    for k in range(n_classes):
        checkpoint()
        rows = np.flatnonzero(members == k)
        mean, directions = _principal_axes(X[rows], n_pcs, n_components)
        embeds = kind != "pca" and len(rows) >= FEWEST_EMBEDDED and directions.shape[1] > 0
        if embeds:
            embedding = embedded(X[rows], EMBED_PERPLEXITY, _along_axes(X[rows], mean, directions, n_components))
            spreads.append(math.sqrt(max(float((embedding**2).sum(axis=1).mean()), np.finfo(float).tiny)))
            belongs[rows], places[rows] = k, embedding / spreads[-1]
            chosen.append(k)
        if kind != "embed" or not embeds:
            axes.append(directions)
            origins.append(mean @ directions)
            owners += [k] * directions.shape[1]
    return Charts(
        np.ascontiguousarray(np.hstack(axes)),
        np.concatenate(origins),
        np.array(owners, dtype=int),
        X,
        belongs,
        places,
        np.array(spreads),
        np.array(chosen, dtype=int),
        n_neighbors,
    )


def start_of_neighbour_map(X: Array, n_components: int, perplexity: float, target: Array | None) -> Embedding | None:
    """Return the beginning of a neighbour embedding of rows X (n, D), turned onto `target`; None if all are alike."""
    mean, directions = _principal_axes(X, n_components, n_components)
    if len(X) < 2 or not directions.shape[1]:
        return None
    start = _along_axes(X, mean, directions, n_components)
    return embedding_of(X, perplexity, start if target is None else start @ turn(start, target))


def neighbour_map(X: Array, places: Array, n_neighbors: int) -> Charts:
    """Return one chart of all landmarks X (n, D), without classes, from places (n, d), in its own unit."""
    none, one = np.zeros(0), np.zeros(1, dtype=int)
    members = np.zeros(len(X), dtype=int)
    return Charts(np.zeros((X.shape[1], 0)), none, one[:0], X, members, places, np.ones(1), one, n_neighbors)


def _principal_axes(X: Array, n_pcs: int, n_components: int) -> tuple[Array, Array]:
    """Return the mean (D,) of a class and its axes (D, a), divided by the root of the first variances' sum."""
    mean = X.mean(axis=0)
    _, singular, directions = abandonable(lambda: np.linalg.svd(X - mean, full_matrices=False))
    scale = np.abs(X).max() + np.finfo(float).tiny
    real = singular > max(SMALLEST_AXIS * singular[0], 1e-12 * scale * math.sqrt(len(X)))
    count = min(n_pcs, int(real.sum()), max(2, len(X) // 5))
    if not count:
        return mean, np.zeros((X.shape[1], 0))
    directions = directions[:count]
    # The sign of an axis is arbitrary: its largest entry is positive.
    largest = np.abs(directions).argmax(axis=1)
    directions = directions * np.sign(directions[np.arange(count), largest])[:, None]
    length = math.sqrt(float((singular[:n_components] ** 2).sum()) / len(X))
    return mean, np.ascontiguousarray(directions.T / length)


def _along_axes(X: Array, mean: Array, directions: Array, n_components: int) -> Array:
    """Return where an embedding of rows begins (n, d): their principal coordinates."""
    start = np.zeros((len(X), n_components))
    leading = directions[:, :n_components]
    start[:, : leading.shape[1]] = (X - mean) @ leading
    if leading.shape[1] < n_components:  # a line: without a second coordinate there would be no way around others
        start += 1e-3 * np.cos(np.arange(start.size)).reshape(start.shape)
    return start


def distances_by_class(squares: Array, share: Array, n_neighbors: int, first: int = -1) -> Array:
    """Return squared distances (p, n), those to other classes larger: d_j^2 - u log s_j.

    exp(-d_j^2 / u) then has the factor s_j, as P has; u is the mean d^2 of the `n_neighbors` nearest.  `first`:
    landmark of the first row, which is left out of u, as every next one is; -1: rows are new.
    """
    near = squares
    if first >= 0:
        near = squares.copy()
        near[np.arange(len(near)), first + np.arange(len(near))] = np.inf
    count = min(n_neighbors, near.shape[1] - (first >= 0))
    if count < 1:
        return squares
    unit = np.partition(near, count - 1, axis=1)[:, :count].mean(axis=1)
    return np.maximum(squares - unit[:, None] * np.log(share), 0.0)


@njit(cache=True, nogil=True)
def _carry(
    squares: Array, members: NDArray, places: Array, spreads: Array, own: int, n_neighbors: int, out: Array
) -> None:
    """Write the mean place among the nearest landmarks of every embedded class into out (p, e, d).

    squares (p, n); members (n,) number of the class, -1: none; spreads (e,); own: landmark of the first row, -1: rows
    are new.
    """
    count, n = squares.shape
    e, d = out.shape[1], out.shape[2]
    nearest = np.empty((e, n_neighbors))
    which = np.empty((e, n_neighbors), dtype=np.int64)
    mean = np.empty(d)
    for i in range(count):
        nearest[:] = np.inf
        which[:] = 0
        for j in range(n):
            k = members[j]
            if k < 0 or (own >= 0 and j == own + i) or squares[i, j] >= nearest[k, n_neighbors - 1]:
                continue
            place = n_neighbors - 1
            while place > 0 and nearest[k, place - 1] > squares[i, j]:
                nearest[k, place], which[k, place] = nearest[k, place - 1], which[k, place - 1]
                place -= 1
            nearest[k, place], which[k, place] = squares[i, j], j
        for k in range(e):
            first = max(nearest[k, 0], 1e-300)
            for step in range(CARRYING_STEPS):
                mean[:] = 0.0
                total = 0.0
                for m in range(n_neighbors):
                    square = nearest[k, m]
                    if square == np.inf:
                        break
                    # At a landmark itself the others have no weight.
                    weight = 1.0 if square == 0.0 else math.exp(-square / first)
                    if step > 0:
                        apart = 0.0
                        for c in range(d):
                            apart += (out[i, k, c] - places[which[k, m], c]) ** 2
                        weight /= 1.0 + spreads[k] ** 2 * apart
                    total += weight
                    for c in range(d):
                        mean[c] += weight * places[which[k, m], c]
                for c in range(d):
                    out[i, k, c] = mean[c] / total
