"""Compiled kernels of the kernel SVM solver in `smo.py`: pure functions on float64 arrays.

The problem is kept in the signed variables beta_i = y_i alpha_i:

    min 1/2 beta'K beta - target'beta,   lower <= beta <= upper,   sum beta = 0,   gradient g = K beta - target.

Two additive masks mark the directions in which a variable can move, so that selections vectorise without branches:
`rise` is 0 where beta < upper, else +BLOCKED; `fall` is 0 where beta > lower, else -BLOCKED.

Shapes: K (n, n); diagonal, gradient, beta, lower, upper, rise, fall (n,).
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCKED = 1e300
LANES = 128  # running extrema kept side by side: an elementwise minimum vectorises, a scalar one does not
MIN_CURVATURE = 1e-12  # duplicates have K_ii + K_jj - 2 K_ij = 0
MIN_BURST = 64

# Candidates this near to the best, as a share of the tolerance and of the gain, tie: a pair step leaves its two
# variables with equal gradients, and rounding, which differs between libraries, must not choose between them.
TIED_GRADIENT, TIED_GAIN = 1e-6, 1e-9


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(K, rows, coef, out):  # noqa: ANN001
    """Add sum_r coef[r] K[r] over the listed rows (m,) to `out` (n,) in place; four rows share one sweep."""
    n = out.shape[0]
    m = rows.shape[0]
    whole = m - m % 4
    for start in range(0, whole, 4):
        a, b, c, d = rows[start], rows[start + 1], rows[start + 2], rows[start + 3]
        row_a, row_b, row_c, row_d = K[a], K[b], K[c], K[d]
        u, v, w, x = coef[a], coef[b], coef[c], coef[d]
        for k in range(n):
            out[k] += (u * row_a[k] + v * row_b[k]) + (w * row_c[k] + x * row_d[k])
    for r in rows[whole:]:
        row = K[r]
        u = coef[r]
        for k in range(n):
            out[k] += u * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def gather(K, rows, start, stop, out):  # noqa: ANN001
    """Write rows start..stop of the submatrix K[rows, rows] into `out` (m, m) in place."""
    m = rows.shape[0]
    for a in range(start, stop):
        source = K[rows[a]]
        target = out[a]
        for b in range(m):
            target[b] = source[rows[b]]


@njit(cache=True, nogil=True, error_model="numpy")
def _shift_and_find_riser(gradient, row_i, row_j, step, rise, lowest, tol):  # noqa: ANN001
    """Add step (row_i - row_j) to `gradient` in place; return i, the variable that may rise with the least one.

    The first of those that tie by `TIED_GRADIENT`, in the order of the lanes.
    """
    n = gradient.shape[0]
    lowest[:] = 2.0 * BLOCKED
    for start in range(0, n, LANES):
        stop = min(start + LANES, n)
        g = gradient[start:stop]
        a = row_i[start:stop]
        b = row_j[start:stop]
        blocked = rise[start:stop]
        for k in range(g.shape[0]):
            g[k] += step * (a[k] - b[k])
        for k in range(g.shape[0]):
            lowest[k] = min(lowest[k], g[k] + blocked[k])
    lane = 0
    for k in range(1, LANES):
        if lowest[k] < lowest[lane]:
            lane = k
    least = lowest[lane] + TIED_GRADIENT * tol
    lane = 0
    while lowest[lane] > least:
        lane += 1
    for k in range(lane, n, LANES):
        if gradient[k] + rise[k] <= least:
            return k
    return min(lane, n - 1)


@njit(cache=True, nogil=True, error_model="numpy")
def _find_faller(row, diagonal_i, diagonal, gradient, fall, least, gain, widest):  # noqa: ANN001
    """Return j with the largest second-order gain (g_j - g_i)^2 / (K_ii + K_jj - 2 K_ij), and max g_j - g_i.

    The first of those that tie by `TIED_GAIN`, in the order of the lanes.
    """
    n = gradient.shape[0]
    gain[:] = 0.0
    widest[:] = -BLOCKED
    for start in range(0, n, LANES):
        stop = min(start + LANES, n)
        g = gradient[start:stop]
        blocked = fall[start:stop]
        k_jj = diagonal[start:stop]
        k_ij = row[start:stop]
        for k in range(g.shape[0]):
            violation = g[k] + blocked[k] - least
            widest[k] = max(widest[k], violation)
            violation = max(violation, 0.0)
            curvature = max(diagonal_i + k_jj[k] - 2.0 * k_ij[k], MIN_CURVATURE)
            gain[k] = max(gain[k], violation * violation / curvature)
    lane = 0
    spread = -BLOCKED
    for k in range(LANES):
        spread = max(spread, widest[k])
        if gain[k] > gain[lane]:
            lane = k
    best = (1.0 - TIED_GAIN) * gain[lane]
    lane = 0
    while gain[lane] < best:
        lane += 1
    for k in range(lane, n, LANES):
        violation = max(gradient[k] + fall[k] - least, 0.0)
        if violation * violation / max(diagonal_i + diagonal[k] - 2.0 * row[k], MIN_CURVATURE) >= best:
            return k, spread
    return min(lane, n - 1), spread


@njit(cache=True, nogil=True, error_model="numpy")
def pair_steps(K, diagonal, gradient, beta, lower, upper, rise, fall, tol, max_steps):  # noqa: ANN001
    """Write `gradient`, `beta`, `rise` and `fall` in place: at most `max_steps` SMO steps on the best pair.

    Return the steps made and the spread max g_fall - min g_rise, below `tol` at an optimum (Fan, Chen and Lin 2005,
    second-order working sets).  The spread is the one before the last step when the steps ran out.
    """
    lanes = np.empty((2, LANES))
    i = _shift_and_find_riser(gradient, diagonal, diagonal, 0.0, rise, lanes[0], tol)
    spread = BLOCKED
    for done in range(max_steps):
        row_i = K[i]
        j, spread = _find_faller(row_i, diagonal[i], diagonal, gradient, fall, gradient[i], lanes[0], lanes[1])
        spread += TIED_GRADIENT * tol  # a variable that ties with i may have a smaller gradient
        if not spread >= tol:
            return done, spread
        room_i = upper[i] - beta[i]
        room_j = beta[j] - lower[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], MIN_CURVATURE)
        step = min((gradient[j] - gradient[i]) / curvature, min(room_i, room_j))
        beta[i] = upper[i] if step >= room_i else beta[i] + step
        beta[j] = lower[j] if step >= room_j else beta[j] - step
        rise[i] = 0.0 if beta[i] < upper[i] else BLOCKED
        fall[i] = 0.0
        fall[j] = 0.0 if beta[j] > lower[j] else -BLOCKED
        rise[j] = 0.0
        i = _shift_and_find_riser(gradient, row_i, K[j], step, rise, lanes[0], tol)
    return max_steps, spread


@njit(cache=True, nogil=True, error_model="numpy")
def _project_descent(gradient, active, residual):  # noqa: ANN001
    """Write -gradient, projected on sum = 0 over the `active` variables, into their entries of `residual`.

    Return its square norm and its largest modulus.
    """
    mean = 0.0
    for k in active:
        mean += gradient[k]
    mean /= active.shape[0]
    rest = 0.0  # of the sum, which rounds like the mean: a long step along it would leave sum beta = 0
    for k in active:
        residual[k] = mean - gradient[k]
        rest += residual[k]
    rest /= active.shape[0]
    square = 0.0
    largest = 0.0
    for k in active:
        residual[k] -= rest
        square += residual[k] * residual[k]
        largest = max(largest, abs(residual[k]))
    return square, largest


@njit(cache=True, nogil=True, error_model="numpy")
def _room_along(direction, beta, lower, upper, active):  # noqa: ANN001
    """Return the longest step along `direction` within the bounds, and the variable that stops it."""
    longest = BLOCKED
    blocking = -1
    for k in active:
        bound = upper[k] if direction[k] > 0.0 else lower[k]
        room = (bound - beta[k]) / direction[k] if direction[k] != 0.0 else BLOCKED
        if room < longest:
            longest = room
            blocking = k
    return longest, blocking


@njit(cache=True, nogil=True, error_model="numpy")
def _drop_bound(beta, lower, upper, active):  # noqa: ANN001
    """Move the variables strictly between their bounds to the front of `active` in place; return their number."""
    size = 0
    for k in active:
        if lower[k] < beta[k] < upper[k]:
            active[size] = k
            size += 1
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _descend_face(K, gradient, beta, lower, upper, tol, max_products):  # noqa: ANN001
    """Write `gradient` and `beta` in place: conjugate gradients on sum beta = const, all variables free at the start.

    A variable that meets its bound stays there; flat and singular directions are followed to a bound, which makes
    low-rank kernels easy.  Return the products K p used, and whether they ran out on a face that had settled.
    """
    m = gradient.shape[0]
    active = np.arange(m)
    residual, direction, product = np.empty(m), np.zeros(m), np.empty(m)
    used = settled = 0
    restart = True
    square = 1.0
    while active.shape[0] > 1:
        previous = square
        square, largest = _project_descent(gradient, active, residual)
        if largest < tol:
            return used, False
        if used >= max_products:
            return used, 2 * settled > max_products
        memory = 0.0 if restart else square / previous
        slope = 0.0
        for k in active:
            direction[k] = residual[k] + memory * direction[k]
            slope += direction[k] * residual[k]
        product[:] = 0.0
        add_rows(K, active, direction, product)
        used += 1
        settled += 1
        curvature = 0.0
        for k in active:
            curvature += direction[k] * product[k]
        longest, blocking = _room_along(direction, beta, lower, upper, active)
        step = slope / curvature if curvature > 0.0 else BLOCKED
        restart = step >= longest
        step = min(step, longest)
        for k in range(m):
            gradient[k] += step * product[k]
        for k in active:
            beta[k] = min(max(beta[k] + step * direction[k], lower[k]), upper[k])
        if restart:
            settled = 0
            beta[blocking] = upper[blocking] if direction[blocking] > 0.0 else lower[blocking]
            active = active[: _drop_bound(beta, lower, upper, active)]
    return used, False


@njit(cache=True, nogil=True, error_model="numpy")
def polish(K, gradient, beta, lower, upper, rise, fall, tol, max_products, work):  # noqa: ANN001
    """Write `gradient`, `beta`, `rise` and `fall` in place: solve for the variables strictly between their bounds.

    Spends at most about `work` multiply-adds and `max_products` products; kept only if the objective falls.
    Return the products used, and whether more of them would have helped.
    """
    n = gradient.shape[0]
    free = np.arange(n)
    m = _drop_bound(beta, lower, upper, free)
    free = free[:m]
    if m < 2:
        return 0, False
    products = min(max_products, int((work - m * n) / (m * m)) - 1)
    if products < 2:
        return 0, True
    block = np.empty((m, m))
    gather(K, free, 0, m, block)
    local = np.empty((4, m))  # gradient, beta, lower, upper
    for a in range(m):
        k = free[a]
        local[0, a], local[1, a], local[2, a], local[3, a] = gradient[k], beta[k], lower[k], upper[k]
    used, short = _descend_face(block, local[0], local[1], local[2], local[3], tol, products)
    change = np.zeros(n)
    twice_the_fall = 0.0
    for a in range(m):
        k = free[a]
        change[k] = local[1, a] - beta[k]
        twice_the_fall -= change[k] * (gradient[k] + local[0, a])
    if twice_the_fall > 0.0:
        add_rows(K, free, change, gradient)
        for a in range(m):
            k = free[a]
            beta[k] = local[1, a]
            rise[k] = 0.0 if beta[k] < upper[k] else BLOCKED
            fall[k] = 0.0 if beta[k] > lower[k] else -BLOCKED
    return used, short


@njit(cache=True, nogil=True, error_model="numpy")
def descend(K, diagonal, gradient, beta, lower, upper, rise, fall, tol, burst, max_iter, work):  # noqa: ANN001
    """Write `gradient`, `beta`, `rise` and `fall` in place: bursts of SMO steps, each followed by a `polish`.

    Both get equal shares of the work; a burst doubles when the polish needed more.  Return the iterations, the spread
    and the next burst once the spread is below `tol`, or `max_iter` or `work` is spent.
    """
    n = gradient.shape[0]
    iterations = 0
    spent = 0.0
    spread = BLOCKED
    while iterations < max_iter and spent < work:
        burst = max(1, min(burst, int(work / (n + LANES))))
        planned = min(burst, max_iter - iterations)
        steps, spread = pair_steps(K, diagonal, gradient, beta, lower, upper, rise, fall, tol, planned)
        iterations += steps
        if steps < burst:
            break
        share = 2.0 * steps * (n + LANES)
        left = max_iter - iterations
        products, short = polish(K, gradient, beta, lower, upper, rise, fall, 0.3 * tol, left, share)
        iterations += products
        spent += 2.0 * share
        burst = 2 * burst if short else max(n // 4, MIN_BURST)
    return iterations, spread, burst
