"""MAC's Z step: the target of a point, between its image and the margins of the classifiers.

    min over z, xi >= 0    |z - f|^2 + c sum_k xi_k    with    Y_k (u_k'z + b_k) >= 1 - xi_k,     c = 2 C / mu

With one classifier the solution is closed.  With several, the dual

    max over 0 <= lambda <= c    sum_k lambda_k r_k - 1/2 lambda' YGY lambda,    G = U U' / 2,   r = 1 - Y (U f + b)

is solved point by point: coordinate sweeps find which multipliers are free, Newton steps on that face finish; then
z = f + 1/2 sum_k lambda_k Y_k u_k.  z is unique, lambda need not be.

Source: W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear classification", eq. 4-5 and
algorithm 2.  Errata: the algorithm takes c from the SVM step and the multiclass problem prints C; both need 2 C / mu.
Algorithm 2 divides by |u|^2, which is 0 for a trivial classifier: such a classifier moves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.interruption import checkpoint
from supdr.engine.threads import map_threads
from supdr.solvers.positive_definite import solve_in_place

Array = NDArray[np.float64]

# Points per call of the kernel: milliseconds.
CHUNK = 4096

MAX_SWEEPS = 200
# Sweeps end when no margin moves by more than this.
SMALLEST_MOVE = 1e-10


def moved_rows(
    images: Array,
    coef: Array,
    intercept: Array,
    signs: Array,
    costs: Array,
    mu: float,
    multiplier: NDArray,
    n_jobs: int | None = None,
) -> tuple[Array, NDArray]:
    """Return targets (n, L) and multipliers (n, P) of rows with hinges of these costs (n,), see `move_points`."""
    start = multiplier.astype(np.float64)
    # What has travelled cannot be written to, and a kernel is compiled once more for such arrays.
    coef, intercept = coef.copy(), intercept.copy()
    targets, multiplier_after = move_points(images, coef, intercept, signs, 2.0 * costs / mu, start, n_jobs=n_jobs)
    return targets, multiplier_after.astype(multiplier.dtype, copy=False)


def move_points(
    images: Array,
    coef: Array,
    intercept: Array,
    signs: Array,
    cost: Array | float,
    multiplier: Array | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Solve the Z step of all points: targets z (n, L) and multipliers lambda (n, P) of `images` (n, L)."""
    cost = np.full(len(images), cost, dtype=float)
    if coef.shape[0] == 1:
        return _move_binary(images, coef[0], intercept[0], signs[:, 0], cost)
    gram = 0.5 * coef @ coef.T
    targets = images.copy()
    multiplier = np.zeros_like(signs) if multiplier is None else np.clip(multiplier, 0.0, cost[:, None])

    def move(start: int) -> None:
        """Minimise over one chunk of points."""
        checkpoint()
        part = slice(start, start + CHUNK)
        _move(images[part], coef, intercept, signs[part], gram, cost[part], multiplier[part], targets[part])

    map_threads(move, range(0, len(images), CHUNK), n_jobs)
    return targets, multiplier


def cases(multiplier: Array, cost: Array | float) -> NDArray[np.int8]:
    """Tell the three cases of the Z step apart, (n,).

    1: the target stays on the image, which satisfies every margin; 2: it lies where the margins are met; 3: a pull is
    at its limit c, and that margin is not reached.
    """
    limit = np.full(len(multiplier), cost, dtype=float)[:, None]
    limited = (multiplier >= limit * (1.0 - 1e-12)).any(axis=1)
    return np.where(limited, 3, np.where(multiplier.any(axis=1), 2, 1)).astype(np.int8)


def _move_binary(images: Array, coef: Array, intercept: float, signs: Array, cost: Array) -> tuple[Array, Array]:
    """Use the closed form for one classifier: t = min(2 (1 - m) / |u|^2, c) where m < 1, z = f + t / 2 y u."""
    squared = float(coef @ coef)
    missing = np.where(signs != 0.0, 1.0 - signs * (images @ coef + intercept), 0.0)
    if squared <= 0.0:
        return images.copy(), np.zeros((len(images), 1))
    multiplier = np.clip(2.0 * missing / squared, 0.0, cost)
    return images + (0.5 * multiplier * signs)[:, None] * coef, multiplier[:, None]


@njit(cache=True, nogil=True)
def _sweep(heads: NDArray, count: int, sign: Array, gram: Array, cost: float, pull: Array, rest: Array) -> float:
    """Write pull and rest (count,) in place: one exact coordinate step each; return the largest move of a margin."""
    moved = 0.0
    for p in range(count):
        diagonal = gram[heads[p], heads[p]]
        value = min(max(pull[p] + rest[p] / diagonal, 0.0), cost)
        change = value - pull[p]
        if change != 0.0:
            pull[p] = value
            moved = max(moved, abs(change) * diagonal)
            for q in range(count):
                rest[q] -= change * sign[p] * sign[q] * gram[heads[p], heads[q]]
    return moved


@njit(cache=True, nogil=True)
def _face_steps(
    heads: NDArray,
    count: int,
    sign: Array,
    gram: Array,
    cost: float,
    pull: Array,
    rest: Array,
    system: Array,
    step: Array,
    free: NDArray,
) -> None:
    """Write pull and rest (count,) in place: Newton on the multipliers inside (0, cost), cut at the first bound.

    system (P, P), step (P,) and free (P,) are work space.  At most `count` bounds can be met, one by one.
    """
    shift = 0.0
    for p in range(count):
        shift = max(shift, 1e-10 * gram[heads[p], heads[p]])
    for _ in range(count + 1):
        size: Any = np.int64(0)  # a literal 0 would compile the solver for literals as well
        for p in range(count):
            if 0.0 < pull[p] < cost:
                free[size] = p
                size += 1
        if size == 0:
            return
        for i in range(size):
            p = free[i]
            step[i] = rest[p]
            for j in range(i + 1):
                q = free[j]
                system[i, j] = sign[p] * sign[q] * gram[heads[p], heads[q]]
            system[i, i] += shift
        solve_in_place(system, step, size)
        length, blocking = 1.0, -1
        for i in range(size):
            p = free[i]
            room = (cost - pull[p]) if step[i] > 0.0 else pull[p]
            if length * abs(step[i]) > room:
                length, blocking = room / abs(step[i]), i
        for i in range(size):
            p = free[i]
            value = pull[p] + length * step[i]
            if i == blocking:
                value = cost if step[i] > 0.0 else 0.0
            change = min(max(value, 0.0), cost) - pull[p]
            pull[p] += change
            for q in range(count):
                rest[q] -= change * sign[p] * sign[q] * gram[heads[p], heads[q]]
        if blocking < 0:
            return


@njit(cache=True, nogil=True)
def _move(
    images: Array,
    coef: Array,
    intercept: Array,
    signs: Array,
    gram: Array,
    cost: Array,
    multiplier: Array,
    targets: Array,
) -> None:
    """Write multiplier (n, P), from which it starts, and targets (n, L) in place.

    images (n, L), coef (P, L), intercept (P,), signs (n, P), gram (P, P), cost (n,).
    """
    n, L = images.shape
    P = coef.shape[0]
    heads, free = np.empty(P, np.int64), np.empty(P, np.int64)
    sign, pull, rest, step = np.empty(P), np.empty(P), np.empty(P), np.empty(P)
    system = np.empty((P, P))
    for i in range(n):
        count: Any = np.int64(0)  # see `size` of `_face_steps`
        violated = False
        for k in range(P):
            if signs[i, k] != 0.0 and gram[k, k] > 0.0:
                score = intercept[k]
                for j in range(L):
                    score += coef[k, j] * images[i, j]
                heads[count], sign[count] = k, signs[i, k]
                rest[count], pull[count] = 1.0 - signs[i, k] * score, multiplier[i, k]
                violated = violated or rest[count] > 0.0
                count += 1
            multiplier[i, k] = 0.0
        if not violated:
            continue
        for p in range(count):
            if pull[p] > 0.0:
                for q in range(count):
                    rest[q] -= pull[p] * sign[p] * sign[q] * gram[heads[p], heads[q]]
        for _ in range(MAX_SWEEPS):
            if _sweep(heads, count, sign, gram, cost[i], pull, rest) <= SMALLEST_MOVE:
                break
            _face_steps(heads, count, sign, gram, cost[i], pull, rest, system, step, free)
        for p in range(count):
            multiplier[i, heads[p]] = pull[p]
            half = 0.5 * pull[p] * sign[p]
            for j in range(L):
                targets[i, j] += half * coef[heads[p], j]
