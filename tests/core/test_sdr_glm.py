"""SDR-GLM's steps: parity with the paper's sweep written plainly, ascent, gauge, threshold, forms of the features."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from supdr.engine.context import RunContext
from supdr.engine.iterate import iterate, run
from supdr.functions.families import FAMILIES, LIMITED, TARGET_FAMILIES, means, residuals, tanh_ratio
from supdr.functions.family_kernels import BERNOULLI, GAMMA, GAUSSIAN, NEGATIVE_BINOMIAL, POISSON, POISSON_FACTOR
from supdr.methods.sdr_glm.features import GramFeatures, SharedFeatures, WeightedFeatures
from supdr.methods.sdr_glm.prediction import embed
from supdr.methods.sdr_glm.solvers import SOLVERS, Fast
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers import low_rank as algebra

FAMILIES_X = (*FAMILIES, "mixed")
FAMILIES_Y = (*TARGET_FAMILIES, "softmax")
PAIRS = list(itertools.product(FAMILIES_X, FAMILIES_Y))


def draw(codes, theta, rng):
    mean = means(np.where(codes == GAUSSIAN, BERNOULLI, codes), np.minimum(theta, 3.0))
    cells = np.where(codes == BERNOULLI, rng.random(theta.shape) < mean, rng.poisson(mean)).astype(float)
    if (codes > POISSON).any():
        cells[:, codes == GAMMA] = rng.exponential(mean[:, codes == GAMMA])
        cells[:, codes == NEGATIVE_BINOMIAL] = rng.poisson(rng.exponential(mean[:, codes == NEGATIVE_BINOMIAL]))
    return np.where(codes == GAUSSIAN, theta + rng.standard_normal(theta.shape), cells)


def problem(
    family_x="bernoulli", family_y="bernoulli", *, shape=(40, 15), n_targets=3, missing=0.0, seed=0, **settings
):
    """A small problem with two true factors."""
    rng = np.random.default_rng(0)
    n_rows, n_columns = shape
    names = FAMILIES if family_x == "mixed" else (family_x,)
    codes = np.array([FAMILIES.index(names[d % len(names)]) for d in range(n_columns)])
    factors = rng.standard_normal((n_rows, 2))
    X = draw(codes, factors @ rng.standard_normal((2, n_columns)), rng)
    if family_y == "softmax":
        y_codes, Y = None, np.eye(n_targets)[rng.integers(0, n_targets, n_rows)]
        Y[rng.random(n_rows) < missing] = np.nan
    else:
        y_codes = np.full(n_targets, FAMILIES.index(family_y))
        Y = draw(y_codes, factors @ rng.standard_normal((2, n_targets)), rng)
        Y[rng.random(Y.shape) < missing] = np.nan
    X[rng.random(X.shape) < missing] = np.nan
    bound = settings.get("bound", "jj")
    defaults = {"n_components": 3, "weight": 0.1, "reg_u": 0.01, "reg_v": 0.01, "reg_w": 0.01}
    kind = SOLVERS[settings.pop("solver", "fast")]
    return kind(X=X, codes=codes, targets=TargetSide(Y, y_codes, 1.0, bound), **{**defaults, **settings})


def states(problem, n_steps, seed=0):
    state = problem.start(seed)
    found = [state]
    for _ in range(n_steps):
        found.append(problem.step(found[-1]))
    return found


def objectives(problem, n_steps):
    return np.array([problem.losses(state)["objective"] for state in states(problem, n_steps)])


# --- the paper's sweep, plainly ---------------------------------------------------------------------------------------


def minorant(code, s, t):
    """Curvature and derivative of one cell."""
    if np.isnan(s):
        return 0.0, 0.0
    if code == BERNOULLI:
        return tanh_ratio(t) / 2.0, s - 1.0 / (1.0 + np.exp(-t))
    if code == NEGATIVE_BINOMIAL:
        return (s + 1.0) * tanh_ratio(t) / 2.0, s - (s + 1.0) / (1.0 + np.exp(-t))
    if code == GAMMA:
        return POISSON_FACTOR * s * np.exp(-t), s * np.exp(-t) - 1.0
    return (2.0, 2.0 * (s - t)) if code == GAUSSIAN else (POISSON_FACTOR * np.exp(t), s - np.exp(t))


def minorants(codes, S, theta):
    """a, g, from cell to cell."""
    a, r = np.zeros(S.shape), np.zeros(S.shape)
    for n, d in np.ndindex(*S.shape):
        a[n, d], r[n, d] = minorant(codes[d], S[n, d], theta[n, d])
    return a, a * theta + r


def sign(code):
    return LIMITED.get(int(code), 0.0)


def shortened(old, new, rises):
    return old + (new - old) / max(1.0, *rises) if len(rises) else new


def plain_sweep(p, U, Vt, Wt, *, once=False):
    """U-, W- and V-step with one solve per row and column; `once`: V's minorant is the one U had."""
    X, Y, lam, L = p.X, p.targets.Y, p.weight, p.n_components
    softmax = p.targets.codes is None
    y_codes = np.full(Y.shape[1], GAUSSIAN) if softmax else p.targets.codes

    def ones(U):
        return np.concatenate([U, np.ones((len(U), 1))], axis=1)

    def target_parts(U, Wt):
        theta = ones(U) @ Wt
        if not softmax:
            return minorants(y_codes, Y, theta)
        P = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
        return theta, np.where(np.isnan(Y), 0.0, Y - P)

    V, bx, W, by = Vt[:L], Vt[L], Wt[:L], Wt[L]
    theta = ones(U) @ Vt
    a, g = minorants(p.codes, X, theta)
    first, second = target_parts(U, Wt)
    new = np.empty_like(U)
    for n in range(len(X)):
        H = lam * (V * a[n]) @ V.T + p.reg_u * np.eye(L)
        right = lam * V @ (g[n] - a[n] * bx)
        if not softmax:
            H += (W * first[n]) @ W.T
            right += W @ (second[n] - first[n] * by)
        elif not np.isnan(Y[n]).any():
            B = (np.eye(len(by)) - 1.0 / len(by)) / 2.0
            H += W @ B @ W.T
            right += W @ (second[n] + B @ (first[n] - by))
        u = np.linalg.solve(H, right)
        rises = [sign(p.codes[d]) * (u - U[n]) @ V[:, d] for d in np.flatnonzero(~np.isnan(X[n]))]
        rises += [(u - U[n]) @ W[:, k] for k in np.flatnonzero((y_codes == POISSON) & ~np.isnan(Y[n]))]
        new[n] = shortened(U[n], u, rises)
    Ua = ones(new)
    first, second = target_parts(new, Wt)
    head = np.empty_like(Wt)
    for k in range(Wt.shape[1]):
        if softmax:
            seen = Ua[~np.isnan(Y[:, 0])]
            head[:, k] = Wt[:, k] + np.linalg.solve(
                seen.T @ seen / 2.0 + p.reg_w * np.eye(L + 1), Ua.T @ second[:, k] - p.reg_w * Wt[:, k]
            )
            continue
        w = np.linalg.solve((Ua.T * first[:, k]) @ Ua + p.reg_w * np.eye(L + 1), Ua.T @ second[:, k])
        rises = [Ua[n] @ (w - Wt[:, k]) for n in range(len(X)) if y_codes[k] == POISSON and not np.isnan(Y[n, k])]
        head[:, k] = shortened(Wt[:, k], w, rises)
    if not once:
        a, g = minorants(p.codes, X, Ua @ Vt)
    loadings = np.empty_like(Vt)
    for d in range(Vt.shape[1]):
        v = np.linalg.solve(lam * (Ua.T * a[:, d]) @ Ua + p.reg_v * np.eye(L + 1), lam * Ua.T @ g[:, d])
        rises = [sign(p.codes[d]) * Ua[n] @ (v - Vt[:, d]) for n in range(len(X)) if not np.isnan(X[n, d])]
        loadings[:, d] = shortened(Vt[:, d], v, rises)
    return new, loadings, head


def blocks(problem, state):
    loadings = np.concatenate([state.components, state.intercept_x[None]])
    if state.in_rows:
        loadings = loadings @ problem.X
    return state.latent, loadings, np.concatenate([state.coef, state.intercept[None]])


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("family_x", "family_y"), PAIRS)
def test_literal_solver_is_the_papers_sweep(family_x, family_y, missing):
    p = problem(family_x, family_y, missing=missing, shape=(25, 9), solver="literal")
    for before, after in itertools.pairwise(states(p, 5)):
        for found, expected in zip(blocks(p, after), plain_sweep(p, *blocks(p, before))):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("family_y", FAMILIES_Y)
@pytest.mark.parametrize(("shape", "form"), [((40, 9), SharedFeatures), ((9, 40), GramFeatures)])
def test_fast_gaussian_forms_take_the_same_steps(shape, form, family_y):
    p = problem("gaussian", family_y, shape=shape, inner=1, gauge=False)
    assert isinstance(p.features, form)
    literal = problem("gaussian", family_y, shape=shape, solver="literal")
    for before, after in itertools.pairwise(states(p, 8)):
        for found, expected in zip(blocks(p, after), plain_sweep(p, *blocks(p, before))):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        same = literal.adopt(after)
        assert literal.losses(same) == pytest.approx(p.losses(after), rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(objectives(p, 40), objectives(literal, 40), rtol=1e-9)


@pytest.mark.parametrize(("family_x", "missing"), [("bernoulli", 0.0), ("bernoulli", 0.3), ("gaussian", 0.3)])
def test_fast_weighted_form_expands_once(family_x, missing):
    p = problem(family_x, missing=missing, gauge=False)
    assert isinstance(p.features, WeightedFeatures)
    for before, after in itertools.pairwise(states(p, 4)):
        for found, expected in zip(blocks(p, after), plain_sweep(p, *blocks(p, before), once=True)):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_blocks_of_rows_change_nothing():
    """Of more rows than a block has, the order does not matter."""
    whole = problem("mixed", missing=0.2, shape=(9_000, 15))
    assert whole.X.size > algebra.BLOCK
    order = np.random.default_rng(0).permutation(9_000)
    targets = replace(whole.targets, Y=whole.targets.Y[order])
    other = replace(whole, X=whole.X[order], targets=targets)
    latent, *expected = states(whole, 3)[-1][:5]
    for found, each in zip(states(other, 3)[-1][:5], (latent[order], *expected)):
        np.testing.assert_allclose(found, each, rtol=1e-9, atol=1e-9)


# --- ascent -----------------------------------------------------------------------------------------------------------


RUNS = [(1e-4, "svd", "fast"), (0.1, "random", "literal"), (10.0, "svd", "literal"), (10.0, "random", "fast")]
"""Weight of the reconstruction, start, solver."""


@pytest.mark.parametrize("missing", [pytest.param(0.0, marks=pytest.mark.slow), 0.3])
@pytest.mark.parametrize(("family_x", "family_y"), PAIRS)
def test_the_objective_never_rises(family_x, family_y, missing):
    for weight, init, solver in RUNS:
        for bound in ("jj", "bohning") if "bernoulli" in (family_x, family_y) else ("jj",):
            p = problem(family_x, family_y, missing=missing, weight=weight, init=init, solver=solver, bound=bound)
            values = objectives(p, 25)
            assert np.isfinite(values).all()
            assert (np.diff(values) / (1.0 + np.abs(values[:-1]))).max() < 1e-10


@pytest.mark.parametrize("family_x", ["gaussian", "bernoulli"])
def test_it_ends_at_a_stationary_point(family_x):
    """Numerical derivatives of -J along random directions vanish there, and did not at the start."""
    p = problem(family_x, family_y="softmax", weight=1.0, reg_u=0.1, reg_v=0.1, reg_w=0.1)
    last, _ = run(p, max_iter=4000, tol=1e-15)
    rng = np.random.default_rng(0)

    def slope(state):
        size, slopes = 1e-6, []
        for field in ("latent", "components", "intercept_x", "coef", "intercept"):
            block = getattr(state, field)
            direction = rng.standard_normal(block.shape) / np.sqrt(block.size)
            ends = [state._replace(**{field: block + sign * size * direction}) for sign in (1, -1)]
            up, down = (p.losses(end)["objective"] for end in ends)
            slopes.append(abs(up - down) / (2 * size))
        return max(slopes)

    assert slope(last.state) < 1e-3 * slope(states(p, 1)[-1])


def turned_by_gauge(p, point):
    """Return the point as a sweep leaves it, its latent rows turned with its loadings."""
    wide = np.column_stack([point.latent, np.ones(len(point.latent))])
    found, turn = p._turned(point, wide.T @ wide)
    return found._replace(latent=(point.latent + turn.shift) @ turn.matrix)


def test_gauge_keeps_theta_and_cannot_be_improved_upon():
    p = problem("gaussian", weight=1.0, gauge=False)
    state = states(p, 3)[-1]
    turned = turned_by_gauge(p, p._point(state))
    found = p._state(turned, 0, 0, 0.0)
    for fields in (("components", "intercept_x"), ("coef", "intercept")):
        theta = [each.latent @ getattr(each, fields[0]) + getattr(each, fields[1]) for each in (state, found)]
        np.testing.assert_allclose(theta[0], theta[1], atol=1e-11)
    before, after = p.losses(state), p.losses(found)
    assert after["regularisation"] < before["regularisation"]
    again = p.losses(p._state(turned_by_gauge(p, turned), 0, 0, 0.0))
    assert 0.999 * after["regularisation"] < again["regularisation"] <= after["regularisation"]
    for _ in range(20):  # no other change of basis has smaller ridges
        rng = np.random.default_rng(_)
        A = np.eye(3) + 0.05 * rng.standard_normal((3, 3))
        other = turned._replace(latent=turned.latent @ A, loadings=turned.loadings.copy(), head=turned.head.copy())
        other.loadings[:-1] = np.linalg.solve(A, turned.loadings[:-1])
        other.head[:-1] = np.linalg.solve(A, turned.head[:-1])
        assert p.losses(p._state(other, 0, 0, 0.0))["regularisation"] > after["regularisation"]


@pytest.mark.parametrize(("family_x", "weight"), [("gaussian", 1e-3), ("bernoulli", 0.01)])
def test_inner_steps_and_gauge_save_sweeps(family_x, weight):
    """After 60 sweeps with them J is better than after 300 without."""
    settings = {"shape": (60, 30), "n_targets": 2, "weight": weight}
    fast = objectives(problem(family_x, inner=3, **settings), 60)
    plain = objectives(problem(family_x, inner=1, gauge=False, **settings), 300)
    assert fast[-1] < plain[-1]


# --- the ridges' threshold --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "c"), [((40, 12), 1.0), ((12, 40), 0.5)])
def test_ridges_shrink_singular_values_by_the_nuclear_norm_threshold(shape, c):
    """Without targets: s becomes s - sqrt(reg_u reg_v) / (2 c lam), or 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    X -= X.mean(axis=0)
    singular = np.linalg.svd(X, compute_uv=False)
    threshold = float(singular[1:3].mean())  # two components live, the third dies
    p = Fast(
        X=X,
        codes=np.full(shape[1], GAUSSIAN),
        targets=TargetSide(np.zeros((shape[0], 0)), np.zeros(0, dtype=int), c, "jj"),
        n_components=3,
        weight=0.05,
        reg_u=2.0 * c * 0.05 * threshold * 2.0,
        reg_v=2.0 * c * 0.05 * threshold / 2.0,
        reg_w=1.0,
        c=c,
    )
    assert p.rank_threshold == pytest.approx(threshold)
    last, _ = run(p, max_iter=3000, tol=1e-15)
    expected = np.maximum(singular[:3] - threshold, 0.0)
    np.testing.assert_allclose(p.singular_values(last.state), expected, atol=2e-3 * singular[0])
    assert last.diagnostics["singular_value_1"] == pytest.approx(expected[0], rel=1e-3)
    assert not p.all_components_die()


@pytest.mark.parametrize("family_x", ["gaussian", "bernoulli"])
def test_all_components_die_above_the_threshold(family_x):
    rng = np.random.default_rng(1)
    p = problem(family_x)
    X = p.X - p.X.mean(axis=0)
    largest = np.linalg.svd(X, compute_uv=False)[0] * (2.0 if family_x == "gaussian" else 1.0)
    for factor, dies in ((0.9, False), (1.1, True)):
        ridge = factor * largest * p.weight
        settled = problem(family_x, reg_u=ridge, reg_v=ridge)
        assert settled.all_components_die() == dies
    targets = TargetSide(np.zeros((40, 0)), np.zeros(0, dtype=int), 1.0, "jj")
    alone = problem(family_x, reg_u=ridge, reg_v=ridge, init=rng.standard_normal((40, 3)))
    alone = Fast(**{**alone.__dict__, "targets": targets})
    last, _ = run(alone, max_iter=3000, tol=1e-14)
    assert last.diagnostics["singular_value_1"] < 0.05 * largest


# --- starting, resuming, stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_svd_start(shape):
    p = problem("gaussian", shape=shape)
    X = p.X - p.X.mean(axis=0)
    left = np.linalg.svd(X, full_matrices=False)[0][:, :3]
    U = p.start(0).latent
    np.testing.assert_allclose(np.abs((U / np.sqrt(shape[0])).T @ left), np.eye(3), atol=1e-8)
    assert (U[np.abs(U).argmax(axis=0), range(3)] > 0).all()


def test_svd_start_of_large_data_is_close():
    rng, side = np.random.default_rng(0), algebra.SMALL_SIDE + 10
    left, right = (np.linalg.qr(np.column_stack([np.ones(side), rng.normal(size=(side, 2))]))[0][:, 1:] for _ in "lr")
    X = 1e3 * (left * [9.0, 3.0]) @ right.T + rng.normal(size=(side, side))
    close = algebra.leading_rows(X, X.mean(axis=0), 2, rng) / np.sqrt(side)
    np.testing.assert_allclose(np.abs(close.T @ left), np.eye(2), atol=1e-2)


def test_svd_start_fills_directions_that_the_data_lack():
    X = np.outer(np.arange(30.0), np.ones(5))
    U = algebra.leading_rows(X, X.mean(axis=0), 3, np.random.default_rng(0))
    assert np.linalg.matrix_rank(U) == 3


@pytest.mark.parametrize("family_x", FAMILIES_X)
@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_resuming_is_exact(family_x, shape):
    p, other = (problem(family_x, shape=shape) for _ in range(2))
    *_, whole = iterate(p, max_iter=20, tol=-1.0)
    *_, half = iterate(other, max_iter=10, tol=-1.0)
    *_, rest = iterate(problem(family_x, shape=shape), max_iter=10, tol=-1.0, start=half)
    assert dict(rest.losses) == dict(whole.losses)
    for found, expected in zip(rest.state, whole.state):
        np.testing.assert_array_equal(found, expected)


def test_the_solver_may_change_within_a_run():
    """Loadings kept in the rows of X become plain ones at the same J, and back at a better one."""
    fast, literal = (problem("gaussian", shape=(8, 30), solver=solver) for solver in ("fast", "literal"))
    state = states(fast, 5)[-1]
    assert state.in_rows
    plain = literal.adopt(state)
    assert not plain.in_rows
    assert literal.losses(plain)["objective"] == pytest.approx(fast.losses(state)["objective"], rel=1e-11)
    back = fast.adopt(literal.step(plain))
    assert fast.losses(back)["objective"] <= fast.losses(state)["objective"] * (1 + 1e-12)


def test_stop_requests_are_heard_within_a_sweep(monkeypatch):
    monkeypatch.setattr(algebra, "BLOCK", 15)
    monkeypatch.setattr(algebra, "LEAST_ROWS", 1)
    p, asked = problem("bernoulli"), itertools.count()
    *_, last = iterate(p, max_iter=100, context=RunContext(stop_requested=lambda: next(asked) > 400))
    assert last.stop == "interrupted"
    assert last.iteration < 5


# --- new rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family_x", FAMILIES_X)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_embedding_is_the_maximum_for_every_row(family_x, missing):
    p = problem(family_x, missing=missing)
    loadings = blocks(p, states(problem(family_x), 20)[-1])[1]
    features = WeightedFeatures(p.X, p.codes, 1.0, "jj")
    latent = embed(features, loadings, 0.3, 0.02)
    theta = latent @ loadings[:-1] + loadings[-1]
    r = residuals(p.codes, p.X, theta)
    assert np.abs(0.3 * r @ loadings[:-1].T - 0.02 * latent).max() < 1e-4
    few = embed(WeightedFeatures(p.X[3:7], p.codes, 1.0, "jj"), loadings, 0.3, 0.02)
    np.testing.assert_allclose(few, latent[3:7], atol=1e-9)


def test_a_row_without_cells_is_at_the_origin():
    loadings = np.random.default_rng(0).standard_normal((3, 5))
    for code in range(len(FAMILIES)):
        features = WeightedFeatures(np.full((2, 5), np.nan), np.full(5, code), 1.0, "jj")
        assert not embed(features, loadings, 1.0, 0.1).any()
