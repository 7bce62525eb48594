"""How well a picture keeps the neighbours of its rows.

    E(Z) = sum_ij P_ij log(P_ij / Q_ij),   Q_ij = u_ij / U,   u_ij = 1 / (1 + |z_i - z_j|^2),   U = sum_{i != j} u_ij
    dE/dz_i = 4 sum_j P_ij u_ij (z_i - z_j) + (1 / U) dU/dz_i

Source: L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", 2008.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import cKDTree

from supdr.methods.class_atlas.affinities import Affinities, affinities
from supdr.solvers.lbfgs import Evaluate, LBFGSState, lbfgs_start, lbfgs_step
from supdr.solvers.logs import write_logs
from supdr.solvers.pair_sums import pair_sums

Array = NDArray[np.float64]

EMBED_STEPS, EMBED_TOLERANCE = 150, 1e-5

# What P is multiplied by at first, and for how long.
EXAGGERATION, EXAGGERATED_STEPS = 4.0, 50

# Fewer rows would fall onto one place.
EXAGGERATED_ROWS = 200


def neighbour_loss(P: Affinities, Z: Array, n_jobs: int | None = None) -> tuple[float, Array]:
    """Return E and its gradient (n, d) at a picture Z (n, d).  See `pair_sums` for the cost and for threads."""
    U, slopes = pair_sums(Z, n_jobs)
    forces = np.zeros(Z.shape[::-1])
    logs = _attraction(P.starts, P.partners, P.values, np.ascontiguousarray(Z.T), forces)
    return P.constant + logs + math.log(U), 2.0 * forces.T + slopes / U


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"}, error_model="numpy")
def _attraction(starts: NDArray, partners: NDArray, values: Array, columns: Array, forces: Array) -> float:
    """Add 2 sum_j P_ij u_ij (z_i - z_j) to forces (d, n) in place; return sum_ij P_ij log(1 + |z_i - z_j|^2).

    columns (d, n) holds Z across.  Where most rows that follow are partners all of them are looked at, in order.
    """
    d, n = columns.shape
    squares, logs, room, apart, share = np.empty(n), np.empty(n), np.empty(n), np.empty((d, n)), np.zeros(n)
    total = 0.0
    for i in range(n - 1):
        partner, value = partners[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]]
        whole = 2 * len(value) > n - i - 1
        if whole:
            share[i + 1 :] = 0.0
            for j in range(len(value)):
                share[partner[j]] = value[j]
            value = share[i + 1 :]
        count = len(value)
        square, log = squares[:count], logs[:count]
        square[:] = 1.0
        for k in range(d):
            own, column, following, difference = columns[k, i], columns[k], columns[k, i + 1 :], apart[k]
            if whole:
                for j in range(count):
                    difference[j] = own - following[j]
            else:
                for j in range(count):
                    difference[j] = own - column[partner[j]]
            for j in range(count):
                square[j] += difference[j] ** 2
        write_logs(square, log, room[:count])
        for j in range(count):
            total += value[j] * log[j]
            square[j] = value[j] / square[j]
        for k in range(d):
            difference, force, later, sum_of_pulls = apart[k], forces[k], forces[k, i + 1 :], 0.0
            for j in range(count):
                difference[j] *= square[j]
                sum_of_pulls += difference[j]
            force[i] += sum_of_pulls
            if whole:
                for j in range(count):
                    later[j] -= difference[j]
            else:
                for j in range(count):
                    force[partner[j]] -= difference[j]
    return total


class Search(NamedTuple):
    """A search for a low E: its state, the steps taken, whether P is exaggerated now, and whether it has ended."""

    state: LBFGSState
    steps: int
    exaggerated: bool
    ended: bool


class Embedding(NamedTuple):
    """Where the way to a neighbour embedding stands: one search, of many rows two, and the lower one counts.

    The second search exaggerates P at first, so that clumps that belong together find each other before others are in
    the way.

    affinities: P, without labels.
    shape: (n, d).
    searches: steps of L-BFGS from the same start.
    """

    affinities: Affinities
    shape: tuple[int, ...]
    searches: tuple[Search, ...]

    @property
    def best(self) -> LBFGSState:
        """The lowest of the searches whose P is not exaggerated now."""
        return min((each.state for each in self.searches if not each.exaggerated), key=lambda state: state.value)

    @property
    def places(self) -> Array:
        """Places (n, d), centred."""
        places = self.best.point.reshape(self.shape)
        return places - places.mean(axis=0)

    @property
    def complete(self) -> bool:
        """Whether all searches have ended."""
        return all(each.ended for each in self.searches)

    def after(self) -> Embedding:
        """Return where a step of every search leads."""
        return self._replace(searches=tuple(each if each.ended else self._stepped(each) for each in self.searches))

    def _stepped(self, search: Search) -> Search:
        evaluate = _loss(self.affinities, self.shape, search.exaggerated)
        state, steps = lbfgs_step(search.state, evaluate), search.steps + 1
        most = EXAGGERATED_STEPS if search.exaggerated else EMBED_STEPS
        if steps < most and search.state.value - state.value > EMBED_TOLERANCE * abs(state.value):
            return Search(state, steps, search.exaggerated, False)
        if search.exaggerated:
            return Search(lbfgs_start(state.point, _loss(self.affinities, self.shape, False)), 0, False, False)
        return Search(state, steps, False, True)


def embedding_of(X: Array, perplexity: float, start: Array) -> Embedding:
    """Return the beginning of a neighbour embedding of rows X (n, D), at `start` (n, d)."""
    P = affinities(X, None, perplexity)
    kinds = (False, True) if len(X) >= EXAGGERATED_ROWS else (False,)
    begun = (lbfgs_start(start.ravel(), _loss(P, start.shape, each)) for each in kinds)
    return Embedding(P, start.shape, tuple(Search(state, 0, each, False) for each, state in zip(kinds, begun)))


def embedded(X: Array, perplexity: float, start: Array) -> Array:
    """Return a neighbour embedding (n, d) of rows X (n, D), without labels, centred, from `start` (n, d)."""
    embedding = embedding_of(X, perplexity, start)
    while not embedding.complete:
        embedding = embedding.after()
    return embedding.places


def _loss(P: Affinities, shape: tuple[int, ...], exaggerated: bool) -> Evaluate:
    """Return E of a flat picture, its gradient, and no payload."""
    exaggerated_P = P._replace(values=EXAGGERATION * P.values) if exaggerated else P

    def evaluate(flat: Array) -> tuple[float, Array, None]:
        """Value and gradient of E."""
        value, gradient = neighbour_loss(exaggerated_P, flat.reshape(shape))
        return value, gradient.ravel(), None

    return evaluate


def others_nearby(Z: Array, voters: Array, count: int) -> NDArray:
    """Return which rows of `voters` (n, d) are nearest to each row of Z (n, d), (n, count), row i itself left out."""
    _, index = cKDTree(voters).query(Z, count + 1)
    others = index != np.arange(len(Z))[:, None]
    others[others.all(axis=1), -1] = False  # it was not among them: the farthest goes
    return index[others].reshape(len(Z), count)


def turn(places: Array, target: Array) -> Array:
    """Return the rotation (d, d), possibly with a reflection, that brings places (n, d) nearest to a target (n, d)."""
    rotation: Array = orthogonal_procrustes(places - places.mean(axis=0), target - target.mean(axis=0))[0]
    return rotation
